# SPDX-License-Identifier: Apache-2.0
"""ImageNet, or any images in one folder a class, to MindRecord."""
import os

from spore import log
from spore.mindrecord.common.exceptions import PathNotExistsError
from spore.mindrecord.filewriter import FileWriter
from spore.mindrecord.core.shardutils import check_filename
from spore.mindrecord.tools.convert import check_partitions, run_aside, write_rows

__all__ = ['ImageNetToMR']


class ImageNetToMR:
    """Converts folders of JPEGs to MindRecord.

    `map_file` has a line for every class: the name of its folder in `image_dir`, a blank, the number of the class.
    `destination` is what to write, in `partition_number` files. Rows have label, image (the file as it is) and file_name.

    >>> from spore.mindrecord import ImageNetToMR
    >>> ImageNetToMR("labels_map.txt", "imagenet/train", "imagenet.mindrecord", 8).transform()  # doctest: +SKIP
    """

    def __init__(self, map_file, image_dir, destination, partition_number=1):
        check_filename(map_file)
        check_filename(image_dir)
        check_filename(destination)
        self.map_file, self.image_dir, self.destination = map_file, image_dir, destination
        self.partition_number = check_partitions(partition_number)
        self.writer = FileWriter(destination, self.partition_number)

    def _folders(self):
        """{number of the class: folder}"""
        if not os.path.exists(self.map_file):
            raise IOError(f"map file {self.map_file} not exists")
        folders = {}
        with open(self.map_file, encoding='utf-8') as file:
            for number, line in enumerate(file, 1):
                words = line.split()
                if not words:
                    continue
                if len(words) < 2 or not words[1].isdigit():
                    raise RuntimeError(f"{self.map_file}: line {number} is not a folder and a number: {line.rstrip()!r}")
                folder = os.path.join(self.image_dir, words[0])
                if os.path.isdir(folder):
                    folders[int(words[1])] = folder
                else:
                    log.warning(f"{folder} dir is not exist")
        if not folders:
            raise PathNotExistsError(f"not valid image dir in {self.image_dir}")
        return folders

    def _rows(self):
        for label, folder in self._folders().items():
            for name in sorted(os.listdir(folder)):
                path = os.path.join(folder, name)
                if not name.endswith(('JPEG', 'jpg')):
                    log.warning(f"{path} file is not suffix with JPEG/jpg, skip it.")
                    continue
                with open(path, 'rb') as file:
                    image = file.read()
                if image:
                    yield {'label': label, 'image': image, 'file_name': path}
                else:
                    log.warning(f"The image file: {path} is invalid.")

    def run(self):
        """What `transform` does, in this thread."""
        self.writer.set_page_size(1 << 26)
        self.writer.add_schema({'label': {'type': 'int32'}, 'image': {'type': 'bytes'}, 'file_name': {'type': 'string'}},
                               'imagenet_schema')
        self.writer.add_index(['label', 'file_name'])
        write_rows(self.writer, self._rows())
        return 0

    def transform(self):
        """Write the files."""
        run_aside(self.run)
