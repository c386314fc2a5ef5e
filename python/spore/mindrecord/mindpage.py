# SPDX-License-Identifier: Apache-2.0
"""Reading MindRecord files by category, page by page."""
import json

from spore.mindrecord import config
from spore.mindrecord.common.exceptions import MRMDefineCategoryError, ParamTypeError, ParamValueError
from spore.mindrecord.core.shardutils import Unset, check_consumers, check_filenames, engine_errors

__all__ = ['MindPage']


def _category(value):
    """The text of a value, as the index of MindSpore has it."""
    if isinstance(value, float):
        text = f'{value:.15g}'
        return text if any(c in text for c in '.en') else text + '.0'
    return str(value)


def _check_page(page, num_row):
    if not isinstance(page, int) or page < 0:
        raise ParamValueError("Page should be int and greater than or equal to 0.")
    if not isinstance(num_row, int) or num_row <= 0:
        raise ParamValueError("num_row should be int and greater than 0.")


class MindPage:
    """Groups the rows of MindRecord files by the values of an index field.

    `file_name` is one file, whose data set is read, or a list of files.

    >>> import os, tempfile
    >>> from spore.mindrecord import FileWriter, MindPage
    >>> path = os.path.join(tempfile.mkdtemp(), "animals.mindrecord")
    >>> writer = FileWriter(path)
    >>> writer.add_schema({"kind": {"type": "string"}, "n": {"type": "int32"}})
    >>> writer.write_raw_data([{"kind": kind, "n": n} for n, kind in enumerate(["cat", "dog", "cat"])])
    >>> writer.commit()
    >>> pages = MindPage(path)
    >>> pages.candidate_fields
    ['kind', 'n']
    >>> pages.category_field = "kind"
    >>> print(pages.read_category_info())
    {"categories":[{"count":2,"id":0,"name":"cat"},{"count":1,"id":1,"name":"dog"}],"key":"kind_0"}
    >>> pages.read_at_page_by_name("cat", 0, 10)
    [{'kind': 'cat', 'n': 0}, {'kind': 'cat', 'n': 2}]
    """

    def __init__(self, file_name, num_consumer=Unset(4)):
        check_filenames(file_name)
        check_consumers(num_consumer)
        self._file_name = file_name
        self._reader = config.open_files(file_name)
        self._candidate_fields = self._reader.index_fields()
        self._category_field, self._groups = None, {}

    @property
    def candidate_fields(self):
        """The fields that rows can be grouped by: those in the index."""
        return self._candidate_fields

    @property
    def category_field(self):
        """The field that rows are grouped by; set it before reading."""
        return self._category_field

    @category_field.setter
    def category_field(self, category_field):
        if not category_field or not isinstance(category_field, str):
            raise ParamTypeError("category_fields", "str")
        if category_field not in self._candidate_fields:
            raise MRMDefineCategoryError(f"Field '{category_field}' is not a candidate category field.")
        groups = {}
        column = config.open_files(self._file_name, [category_field])
        with engine_errors():
            for i in range(len(column)):
                groups.setdefault(_category(column[i][category_field]), []).append(i)
        self._category_field, self._groups = category_field, dict(sorted(groups.items()))

    def _check_field(self):
        if self._category_field is None:
            raise RuntimeError("Invalid data, field: is invalid. Set category_field first.")

    def read_category_info(self):
        """The groups as JSON text: for each its number, the value its rows share, and their count."""
        self._check_field()
        categories = [{"count": len(rows), "id": i, "name": name} for i, (name, rows) in enumerate(self._groups.items())]
        return json.dumps({"categories": categories, "key": self._category_field + "_0"}, separators=(',', ':'),
                          ensure_ascii=False)

    def _read(self, rows, page, num_row):
        if page * num_row >= len(rows):
            raise RuntimeError(f"Invalid data, page no: {page} or page size: {num_row}; the category has {len(rows)} rows.")
        with engine_errors():
            return [self._reader[i] for i in rows[page * num_row:(page + 1) * num_row]]

    def read_at_page_by_id(self, category_id, page, num_row):
        """Rows of group number `category_id`: page number `page` of `num_row` rows each."""
        if not isinstance(category_id, int) or category_id < 0:
            raise ParamValueError("Category id should be int and greater than or equal to 0.")
        _check_page(page, num_row)
        self._check_field()
        if category_id >= len(self._groups):
            raise RuntimeError(f"Invalid data, category_id: {category_id} must be in the range [0, {len(self._groups)}].")
        return self._read(list(self._groups.values())[category_id], page, num_row)

    def read_at_page_by_name(self, category_name, page, num_row):
        """Rows whose category field has this value, as text: page number `page` of `num_row` rows each."""
        if not isinstance(category_name, str):
            raise ParamValueError("Category name should be str.")
        _check_page(page, num_row)
        self._check_field()
        if category_name not in self._groups:
            raise RuntimeError(f"category_name: {category_name} could not found.")
        return self._read(self._groups[category_name], page, num_row)
