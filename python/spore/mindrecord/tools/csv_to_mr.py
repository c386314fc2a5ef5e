# SPDX-License-Identifier: Apache-2.0
"""CSV to MindRecord."""
import csv
import os
import re

from spore.mindrecord.filewriter import FileWriter
from spore.mindrecord.core.shardutils import check_filename
from spore.mindrecord.tools.convert import check_partitions, run_aside, write_rows

__all__ = ['CsvToMR']

_INT = re.compile(r'\s*[-+]?\d+\s*')
_MISSING = {'', 'NA', 'N/A', 'NaN', 'nan', 'NULL', 'null', 'None', '#N/A', '<NA>'}
_TRUTH = {'True': 1, 'False': 0, 'TRUE': 1, 'FALSE': 0, 'true': 1, 'false': 0}


def _is_float(text):
    try:
        float(text)
    except ValueError:
        return False
    return True


def _column_type(values):
    """The narrowest of int64, float64, bool and string that holds all texts. A missing number is a float's NaN."""
    present = {value for value in values if value not in _MISSING}
    if not present:
        return 'float64' if values else 'string'
    whole = len(present) == len(set(values))
    if whole and all(value in _TRUTH for value in present):
        return 'bool'
    if whole and all(_INT.fullmatch(value) and -2**63 <= int(value) < 2**63 for value in present):
        return 'int64'
    return 'float64' if all(_is_float(value) for value in present) else 'string'


_CONVERT = {'int64': int, 'bool': _TRUTH.__getitem__, 'string': str,
            'float64': lambda text: float('nan') if text in _MISSING else float(text)}


class CsvToMR:
    """Converts a CSV file, whose first line names the columns, to MindRecord.

    `source` is the file, `destination` what to write, in `partition_number` files; `columns_list` are the columns wanted
    (None: all). A column of integers becomes int64, of numbers float64, of True and False int32, any other a string.

    >>> import os, tempfile
    >>> from spore.mindrecord import CsvToMR, FileReader
    >>> folder = tempfile.mkdtemp()
    >>> with open(os.path.join(folder, "a.csv"), "w") as file:
    ...     print("name,age\\nAnn,31\\nBob,28", file=file)
    >>> CsvToMR(file.name, os.path.join(folder, "a.mindrecord")).transform()
    >>> list(FileReader(os.path.join(folder, "a.mindrecord")).get_next())
    [{'age': 31, 'name': 'Ann'}, {'age': 28, 'name': 'Bob'}]
    """

    def __init__(self, source, destination, columns_list=None, partition_number=1):
        if not isinstance(source, str):
            raise ValueError("The parameter source must be str.")
        check_filename(source)
        if columns_list and not (isinstance(columns_list, list) and all(isinstance(name, str) for name in columns_list)):
            raise ValueError("The parameter columns_list must be list of str.")
        if not isinstance(destination, str):
            raise ValueError("The parameter destination must be str.")
        check_filename(destination)
        self.source, self.destination, self.columns_list = source, destination, columns_list
        self.partition_number = check_partitions(partition_number)
        self.writer = FileWriter(destination, self.partition_number)

    def _read(self):
        """(names of the columns, rows of texts)"""
        if not os.path.exists(self.source):
            raise IOError(f"Csv file {self.source} do not exist.")
        with open(self.source, newline='', encoding='utf-8-sig') as file:
            lines = csv.reader(file)
            header = next(lines, [])
            rows = [line for line in lines if line]
        for number, row in enumerate(rows, 2):
            if len(row) > len(header):
                raise RuntimeError(f"{self.source}: line {number} has {len(row)} values, the first names {len(header)}.")
            row.extend([''] * (len(header) - len(row)))
        return header, rows

    def run(self):
        """What `transform` does, in this thread."""
        header, rows = self._read()
        names = self.columns_list or header
        for name in names:
            if name not in header:
                raise RuntimeError(f"The parameter columns_list is illegal, column {name} does not exist.")
            if name.isdigit():
                raise ValueError(f"The first line content: {name} of the CSV file is used as a column name and does not "
                                 f"allow starting with a number.")
        if not names:
            raise RuntimeError("Failed to generate schema from csv file.")
        places = [header.index(name) for name in names]
        kinds = [_column_type([row[place] for row in rows]) for place in places]
        self.writer.set_page_size(1 << 26)
        self.writer.add_schema({name: {'type': 'int32' if kind == 'bool' else kind} for name, kind in zip(names, kinds)},
                               'csv_schema')
        self.writer.add_index(list(names))
        columns = list(zip(names, places, [_CONVERT[kind] for kind in kinds]))
        write_rows(self.writer, ({name: convert(row[place]) for name, place, convert in columns} for row in rows))
        return 0

    def transform(self):
        """Write the files."""
        run_aside(self.run)
