# SPDX-License-Identifier: Apache-2.0
"""MindRecord: data sets in files that MindSpore reads and writes as well.

    writer = FileWriter("train.mindrecord", overwrite=True)
    writer.add_schema({"label": {"type": "int32"}, "image": {"type": "bytes"}})
    writer.write_raw_data([{"label": 3, "image": b"..."}])
    writer.commit()
    for row in FileReader("train.mindrecord").get_next():
        print(row["label"])

The files are written and read by the engine (src/data/mindrecord*.c); here are MindSpore's names around it.
"""
from spore.mindrecord.common.exceptions import *  # noqa: F401,F403
from spore.mindrecord.config import set_dec_mode, set_enc_key, set_enc_mode, set_hash_mode
from spore.mindrecord.filereader import FileReader
from spore.mindrecord.filewriter import FileWriter
from spore.mindrecord.mindpage import MindPage
from spore.mindrecord.core.shardutils import FAILED, SUCCESS
from spore.mindrecord.tools.cifar100_to_mr import Cifar100ToMR
from spore.mindrecord.tools.cifar10_to_mr import Cifar10ToMR
from spore.mindrecord.tools.csv_to_mr import CsvToMR
from spore.mindrecord.tools.imagenet_to_mr import ImageNetToMR
from spore.mindrecord.tools.mnist_to_mr import MnistToMR
from spore.mindrecord.tools.tfrecord_to_mr import TFRecordToMR

__all__ = ['FileWriter', 'FileReader', 'MindPage', 'Cifar10ToMR', 'Cifar100ToMR', 'CsvToMR', 'ImageNetToMR', 'MnistToMR',
           'TFRecordToMR', 'set_enc_key', 'set_enc_mode', 'set_dec_mode', 'set_hash_mode', 'SUCCESS', 'FAILED']
