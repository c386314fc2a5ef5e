# SPDX-License-Identifier: Apache-2.0
# Written by scripts/make-stubs.
"""Data pipelines: sources, and what is made of their rows."""
from collections.abc import Sequence
from types import ModuleType
from typing import Any

from spore._core import DType as _DType, Tensor as Tensor, TensorLike
from spore.nn.cell import Cell
from spore.ops.primitive import Primitive
from . import audio as audio
from . import config as config
from . import text as text
from . import transforms as transforms
from . import vision as vision
from spore.dataset.audio_files import CMUArcticDataset as CMUArcticDataset
from spore.dataset.audio_files import GTZANDataset as GTZANDataset
from spore.dataset.audio_files import LJSpeechDataset as LJSpeechDataset
from spore.dataset.audio_files import LibriTTSDataset as LibriTTSDataset
from spore.dataset.audio_files import SpeechCommandsDataset as SpeechCommandsDataset
from spore.dataset.audio_files import TedliumDataset as TedliumDataset
from spore.dataset.audio_files import YesNoDataset as YesNoDataset
from spore.dataset.cache import DatasetCache as _DatasetCache
from spore.dataset.callback import DSCallback as _DSCallback
from spore.dataset.callback import WaitedDSCallback as _WaitedDSCallback
from spore.dataset.column_files import ColumnsDataset as ColumnsDataset
from spore.dataset.column_files import RandomDataset as RandomDataset
from spore.dataset.column_files import TFRecordDataset as _TFRecordDataset
from spore.dataset.column_files import WebDataset as _WebDataset
from spore.dataset.detection_files import CocoDataset as _CocoDataset
from spore.dataset.detection_files import KITTIDataset as _KITTIDataset
from spore.dataset.detection_files import VOCDataset as _VOCDataset
from spore.dataset.detection_files import WIDERFaceDataset as _WIDERFaceDataset
from spore.dataset.files import Cifar100Dataset as Cifar100Dataset
from spore.dataset.files import Cifar10Dataset as Cifar10Dataset
from spore.dataset.files import EMnistDataset as EMnistDataset
from spore.dataset.files import FashionMnistDataset as FashionMnistDataset
from spore.dataset.files import KMnistDataset as KMnistDataset
from spore.dataset.files import MindDataset as MindDataset
from spore.dataset.files import MnistDataset as MnistDataset
from spore.dataset.files import ImageFolderDataset as _ImageFolderDataset
from spore.dataset.files import OBSMindDataset as _OBSMindDataset
from spore.dataset.files import QMnistDataset as _QMnistDataset
from spore.dataset.operations import BatchInfo as BatchInfo
from spore.dataset.operations import BucketBatchByLengthDataset as BucketBatchByLengthDataset
from spore.dataset.operations import ConcatDataset as ConcatDataset
from spore.dataset.operations import FilterDataset as FilterDataset
from spore.dataset.operations import FlatMapDataset as FlatMapDataset
from spore.dataset.operations import ProjectDataset as ProjectDataset
from spore.dataset.operations import RenameDataset as RenameDataset
from spore.dataset.operations import RepeatDataset as RepeatDataset
from spore.dataset.operations import ShuffleDataset as ShuffleDataset
from spore.dataset.operations import SkipDataset as SkipDataset
from spore.dataset.operations import SyncWaitDataset as SyncWaitDataset
from spore.dataset.operations import ZipDataset as ZipDataset
from spore.dataset.operations import BatchDataset as _BatchDataset
from spore.dataset.operations import MapDataset as _MapDataset
from spore.dataset.operations import PaddedBatchDataset as _PaddedBatchDataset
from spore.dataset.operations import TakeDataset as _TakeDataset
from spore.dataset.operations import TransferDataset as _TransferDataset
from spore.dataset.pipeline import Dataset as Dataset
from spore.dataset.pipeline import zip as zip
from spore.dataset.samplers import BuiltinSampler as BuiltinSampler
from spore.dataset.samplers import IterSampler as IterSampler
from spore.dataset.samplers import Sampler as Sampler
from spore.dataset.samplers import SequentialSampler as SequentialSampler
from spore.dataset.samplers import Shuffle as Shuffle
from spore.dataset.samplers import SubsetRandomSampler as SubsetRandomSampler
from spore.dataset.samplers import SubsetSampler as SubsetSampler
from spore.dataset.samplers import DistributedSampler as _DistributedSampler
from spore.dataset.samplers import PKSampler as _PKSampler
from spore.dataset.samplers import RandomSampler as _RandomSampler
from spore.dataset.samplers import WeightedRandomSampler as _WeightedRandomSampler
from spore.dataset.schema import Schema as Schema
from spore.dataset.serial import compare as compare
from spore.dataset.serial import deserialize as deserialize
from spore.dataset.sources import PaddedDataset as PaddedDataset
from spore.dataset.sources import GeneratorDataset as _GeneratorDataset
from spore.dataset.sources import NumpySlicesDataset as _NumpySlicesDataset
from spore.dataset.text_files import IMDBDataset as IMDBDataset
from spore.dataset.text_files import Multi30kDataset as Multi30kDataset
from spore.dataset.text_files import AGNewsDataset as _AGNewsDataset
from spore.dataset.text_files import AmazonReviewDataset as _AmazonReviewDataset
from spore.dataset.text_files import CLUEDataset as _CLUEDataset
from spore.dataset.text_files import CSVDataset as _CSVDataset
from spore.dataset.text_files import CoNLL2000Dataset as _CoNLL2000Dataset
from spore.dataset.text_files import DBpediaDataset as _DBpediaDataset
from spore.dataset.text_files import EnWik9Dataset as _EnWik9Dataset
from spore.dataset.text_files import IWSLT2016Dataset as _IWSLT2016Dataset
from spore.dataset.text_files import IWSLT2017Dataset as _IWSLT2017Dataset
from spore.dataset.text_files import JsonLinesDataset as _JsonLinesDataset
from spore.dataset.text_files import PennTreebankDataset as _PennTreebankDataset
from spore.dataset.text_files import SQuADDataset as _SQuADDataset
from spore.dataset.text_files import SST2Dataset as _SST2Dataset
from spore.dataset.text_files import SogouNewsDataset as _SogouNewsDataset
from spore.dataset.text_files import TextFileDataset as _TextFileDataset
from spore.dataset.text_files import UDPOSDataset as _UDPOSDataset
from spore.dataset.text_files import USPSDataset as _USPSDataset
from spore.dataset.text_files import WikiTextDataset as _WikiTextDataset
from spore.dataset.text_files import YahooAnswersDataset as _YahooAnswersDataset
from spore.dataset.text_files import YelpReviewDataset as _YelpReviewDataset
from spore.dataset.vision_files import FlickrDataset as FlickrDataset
from spore.dataset.vision_files import PhotoTourDataset as PhotoTourDataset
from spore.dataset.vision_files import STL10Dataset as STL10Dataset
from spore.dataset.vision_files import SemeionDataset as SemeionDataset
from spore.dataset.vision_files import Caltech101Dataset as _Caltech101Dataset
from spore.dataset.vision_files import Caltech256Dataset as _Caltech256Dataset
from spore.dataset.vision_files import CelebADataset as _CelebADataset
from spore.dataset.vision_files import CityscapesDataset as _CityscapesDataset
from spore.dataset.vision_files import DIV2KDataset as _DIV2KDataset
from spore.dataset.vision_files import FakeImageDataset as _FakeImageDataset
from spore.dataset.vision_files import Flowers102Dataset as _Flowers102Dataset
from spore.dataset.vision_files import Food101Dataset as _Food101Dataset
from spore.dataset.vision_files import LFWDataset as _LFWDataset
from spore.dataset.vision_files import LSUNDataset as _LSUNDataset
from spore.dataset.vision_files import ManifestDataset as _ManifestDataset
from spore.dataset.vision_files import OmniglotDataset as _OmniglotDataset
from spore.dataset.vision_files import Places365Dataset as _Places365Dataset
from spore.dataset.vision_files import RenderedSST2Dataset as _RenderedSST2Dataset
from spore.dataset.vision_files import SBDataset as _SBDataset
from spore.dataset.vision_files import SBUDataset as _SBUDataset
from spore.dataset.vision_files import SUN397Dataset as _SUN397Dataset
from spore.dataset.vision_files import SVHNDataset as _SVHNDataset

__all__: list[str]

class AGNewsDataset(_AGNewsDataset):
    """News of four kinds: index, title and description, all texts."""
    def __init__(self, dataset_dir, usage=None, num_samples=None, num_parallel_workers=None, shuffle: Any = ..., num_shards=None, shard_id=None, cache=None) -> None: ...
class AmazonReviewDataset(_AmazonReviewDataset):
    """Reviews of goods: label, title and content, all texts."""
    def __init__(self, dataset_dir, usage=None, num_samples=None, num_parallel_workers=None, shuffle: Any = ..., num_shards=None, shard_id=None, cache=None) -> None: ...
class BatchDataset(_BatchDataset):
    """Rows put together."""
    def __init__(self, parent, batch_size, drop_remainder: Any = False, num_parallel_workers=None, per_batch_map=None, input_columns=None, output_columns=None, python_multiprocessing: Any = False, max_rowsize=None) -> None: ...
class CLUEDataset(_CLUEDataset):
    """Tasks of the CLUE benchmark, from their JSON files."""
    def __init__(self, dataset_files, task: Any = 'AFQMC', usage: Any = 'train', num_samples=None, num_parallel_workers=None, shuffle: Any = ..., num_shards=None, shard_id=None, cache=None) -> None: ...
class CSVDataset(_CSVDataset):
    """Rows of CSV files."""
    def __init__(self, dataset_files, field_delim: Any = ',', column_defaults=None, column_names=None, num_samples=None, num_parallel_workers=None, shuffle: Any = ..., num_shards=None, shard_id=None, cache=None) -> None: ...
class Caltech101Dataset(_Caltech101Dataset):
    """Pictures of 101 kinds of things, with outlines."""
    def __init__(self, dataset_dir, target_type=None, num_samples=None, num_parallel_workers: Any = 1, shuffle=None, decode: Any = False, sampler=None, num_shards=None, shard_id=None) -> None: ...
class Caltech256Dataset(_Caltech256Dataset):
    """Pictures of 256 kinds of things: image and label (int32)."""
    def __init__(self, dataset_dir, num_samples=None, num_parallel_workers=None, shuffle=None, decode: Any = False, sampler=None, num_shards=None, shard_id=None, cache=None) -> None: ...
class CelebADataset(_CelebADataset):
    """Faces with attributes: image, and attr, 40 numbers (uint32) that are 1 where an attribute holds."""
    def __init__(self, dataset_dir, num_parallel_workers=None, shuffle=None, usage: Any = 'all', sampler=None, decode: Any = False, extensions=None, num_samples=None, num_shards=None, shard_id=None, cache=None, decrypt=None) -> None: ...
class CityscapesDataset(_CityscapesDataset):
    """Streets with what is where in them: image and task (a picture, or JSON text for "polygon")."""
    def __init__(self, dataset_dir, usage: Any = 'train', quality_mode: Any = 'fine', task: Any = 'instance', num_samples=None, num_parallel_workers=None, shuffle=None, decode=None, sampler=None, num_shards=None, shard_id=None, cache=None) -> None: ...
class CoNLL2000Dataset(_CoNLL2000Dataset):
    """Sentences in pieces: word, pos_tag and chunk_tag, texts of one length."""
    def __init__(self, dataset_dir, usage=None, num_samples=None, shuffle: Any = ..., num_shards=None, shard_id=None, num_parallel_workers=None, cache=None) -> None: ...
class CocoDataset(_CocoDataset):
    """Pictures with boxes, key points, segments or captions."""
    def __init__(self, dataset_dir, annotation_file, task: Any = 'Detection', num_samples=None, num_parallel_workers=None, shuffle=None, decode: Any = False, sampler=None, num_shards=None, shard_id=None, cache=None, extra_metadata: Any = False, decrypt=None) -> None: ...
class DBpediaDataset(_DBpediaDataset):
    """Encyclopedia articles of 14 kinds: class, title and content, all texts."""
    def __init__(self, dataset_dir, usage=None, num_samples=None, num_parallel_workers=None, shuffle: Any = ..., num_shards=None, shard_id=None, cache=None) -> None: ...
class DIV2KDataset(_DIV2KDataset):
    """Pictures in high and low resolution: hr_image and lr_image."""
    def __init__(self, dataset_dir, usage: Any = 'train', downgrade: Any = 'bicubic', scale: Any = 2, num_samples=None, num_parallel_workers=None, shuffle=None, decode=None, sampler=None, num_shards=None, shard_id=None, cache=None) -> None: ...
class DSCallback(_DSCallback):
    """Base of callbacks of ``map``; override what is wanted. A step is a row."""
    def __init__(self, step_size: Any = 1) -> None: ...
class DatasetCache(_DatasetCache):
    """A cache of rows, for sources and ``map``: rows are made once, then read from the memory of a server that other epochs and other jobs of the same user share. Start one with ``spore cache start``, make a session with ``spore cache session``."""
    def __init__(self, session_id=None, size: Any = 0, spilling: Any = False, hostname=None, port=None, num_connections=None, prefetch_size=None, *, auto: Any = False, on_lost: Any = 'continue') -> None: ...
class DistributedSampler(_DistributedSampler):
    """One of ``num_shards`` parts of equal size; the last rows are filled up from the front."""
    def __init__(self, num_shards, shard_id, shuffle: Any = True, num_samples=None, offset: Any = -1) -> None: ...
class EnWik9Dataset(_EnWik9Dataset):
    """The first 10**9 bytes of the English Wikipedia, line by line, empty ones included: text."""
    def __init__(self, dataset_dir, num_samples=None, num_parallel_workers=None, shuffle: Any = True, num_shards=None, shard_id=None, cache=None) -> None: ...
class FakeImageDataset(_FakeImageDataset):
    """Random pictures: image (uint8) and label (uint32)."""
    def __init__(self, num_images: Any = 1000, image_size: Any = (224, 224, 3), num_classes: Any = 10, base_seed: Any = 0, num_samples=None, num_parallel_workers=None, shuffle=None, sampler=None, num_shards=None, shard_id=None, cache=None) -> None: ...
class Flowers102Dataset(_Flowers102Dataset):
    """Pictures of flowers: image, label (uint32), and segmentation for the task "Segmentation"."""
    def __init__(self, dataset_dir, task: Any = 'Classification', usage: Any = 'all', num_samples=None, num_parallel_workers: Any = 1, shuffle=None, decode: Any = False, sampler=None, num_shards=None, shard_id=None) -> None: ...
class Food101Dataset(_Food101Dataset):
    """Pictures of food: image, and label, the name of the dish."""
    def __init__(self, dataset_dir, usage=None, num_samples=None, num_parallel_workers=None, shuffle=None, decode: Any = False, sampler=None, num_shards=None, shard_id=None, cache=None) -> None: ...
class GeneratorDataset(_GeneratorDataset):
    """Rows from a Python object: one with ``__getitem__`` and ``__len__``, an iterable, or a function that returns an iterator."""
    def __init__(self, source, column_names=None, column_types=None, schema=None, num_samples=None, num_parallel_workers: Any = 1, shuffle=None, sampler=None, num_shards=None, shard_id=None, python_multiprocessing: Any = True, max_rowsize=None, batch_sampler=None, collate_fn=None) -> None: ...
class IWSLT2016Dataset(_IWSLT2016Dataset):
    """Talks: text and translation."""
    def __init__(self, dataset_dir, usage=None, language_pair=None, valid_set=None, test_set=None, num_samples=None, shuffle: Any = ..., num_shards=None, shard_id=None, num_parallel_workers=None, cache=None) -> None: ...
class IWSLT2017Dataset(_IWSLT2017Dataset):
    """Talks: text and translation. ``language_pair`` is two of "en", "nl", "de", "it", "ro"; ("de", "en") if None."""
    def __init__(self, dataset_dir, usage=None, language_pair=None, num_samples=None, shuffle: Any = ..., num_shards=None, shard_id=None, num_parallel_workers=None, cache=None) -> None: ...
class ImageFolderDataset(_ImageFolderDataset):
    """Pictures in folders, a folder a class."""
    def __init__(self, dataset_dir, num_samples=None, num_parallel_workers=None, shuffle=None, sampler=None, extensions=None, class_indexing=None, decode: Any = False, num_shards=None, shard_id=None, cache=None, decrypt=None) -> None: ...
class JsonLinesDataset(_JsonLinesDataset):
    """Rows of files with a JSON object in each line; a column for each key."""
    def __init__(self, dataset_files, columns_list=None, num_samples=None, num_parallel_workers=None, shuffle: Any = ..., num_shards=None, shard_id=None, cache=None) -> None: ...
class KITTIDataset(_KITTIDataset):
    """Streets with boxes around things: image; for "train" also label, truncated, occluded, alpha, bbox, dimensions, location and rotation_y, one row for each thing."""
    def __init__(self, dataset_dir, usage=None, num_samples=None, num_parallel_workers=None, shuffle=None, decode: Any = False, sampler=None, num_shards=None, shard_id=None, cache=None) -> None: ...
class LFWDataset(_LFWDataset):
    """Faces: image and label (uint32) for the task "people"; image1, image2 and label for "pairs"."""
    def __init__(self, dataset_dir, task=None, usage=None, image_set=None, num_samples=None, num_parallel_workers=None, shuffle=None, decode: Any = False, sampler=None, num_shards=None, shard_id=None, cache=None) -> None: ...
class LSUNDataset(_LSUNDataset):
    """Scenes: image and label (uint32), which counts the folders that are read: one for each class and part."""
    def __init__(self, dataset_dir, usage=None, classes=None, num_samples=None, num_parallel_workers=None, shuffle=None, decode: Any = False, sampler=None, num_shards=None, shard_id=None, cache=None) -> None: ...
class ManifestDataset(_ManifestDataset):
    """Pictures named by the lines of a file, each a JSON object: image and label (int32)."""
    def __init__(self, dataset_file, usage: Any = 'train', num_samples=None, num_parallel_workers=None, shuffle=None, sampler=None, class_indexing=None, decode: Any = False, num_shards=None, shard_id=None, cache=None) -> None: ...
class MapDataset(_MapDataset):
    """Rows with columns changed."""
    def __init__(self, parent, operations, input_columns=None, output_columns=None, num_parallel_workers=None, python_multiprocessing: Any = False, cache=None, callbacks=None, max_rowsize=None, offload=None) -> None: ...
class NumpySlicesDataset(_NumpySlicesDataset):
    """Rows are slices of arrays along their first dimension."""
    def __init__(self, data, column_names=None, num_samples=None, num_parallel_workers: Any = 1, shuffle=None, sampler=None, num_shards=None, shard_id=None) -> None: ...
class OBSMindDataset(_OBSMindDataset):
    """MindRecord files in object storage. There is no client for it here: copy the files, and read them with MindDataset."""
    def __init__(self, dataset_files, server, ak, sk, sync_obs_path, columns_list=None, shuffle: Any = ..., num_shards=None, shard_id=None, shard_equal_rows: Any = True) -> None: ...
class OmniglotDataset(_OmniglotDataset):
    """Letters of many alphabets: image and label (int32). ``background`` (True if None): that part, or the one for evaluation."""
    def __init__(self, dataset_dir, background=None, num_samples=None, num_parallel_workers=None, shuffle=None, decode: Any = False, sampler=None, num_shards=None, shard_id=None, cache=None) -> None: ...
class PKSampler(_PKSampler):
    """``num_val`` rows of each of ``num_class`` classes (all, if None), by the column of labels."""
    def __init__(self, num_val, num_class=None, shuffle: Any = False, class_column: Any = 'label', num_samples=None) -> None: ...
class PaddedBatchDataset(_PaddedBatchDataset):
    """Rows filled up to one shape and put together."""
    def __init__(self, parent, batch_size, drop_remainder: Any = False, num_parallel_workers=None, pad_info=None) -> None: ...
class PennTreebankDataset(_PennTreebankDataset):
    """Sentences of the Penn Treebank: text."""
    def __init__(self, dataset_dir, usage=None, num_samples=None, num_parallel_workers=None, shuffle: Any = ..., num_shards=None, shard_id=None, cache=None) -> None: ...
class Places365Dataset(_Places365Dataset):
    """Places: image and label (uint32)."""
    def __init__(self, dataset_dir, usage=None, small: Any = True, decode: Any = False, num_samples=None, num_parallel_workers=None, shuffle=None, sampler=None, num_shards=None, shard_id=None, cache=None) -> None: ...
class QMnistDataset(_QMnistDataset):
    """MNIST with its history, from the IDX files of QMNIST."""
    def __init__(self, dataset_dir, usage=None, compat: Any = True, num_samples=None, num_parallel_workers=None, shuffle=None, sampler=None, num_shards=None, shard_id=None, cache=None) -> None: ...
class RandomSampler(_RandomSampler):
    """Rows in random order, or drawn with ``replacement``."""
    def __init__(self, replacement: Any = False, num_samples=None, shuffle: Any = ...) -> None: ...
class RenderedSST2Dataset(_RenderedSST2Dataset):
    """Sentences as pictures: image and label (uint32), 0 for negative, 1 for positive."""
    def __init__(self, dataset_dir, usage=None, num_samples=None, num_parallel_workers=None, shuffle=None, decode: Any = False, sampler=None, num_shards=None, shard_id=None, cache=None) -> None: ...
class SBDataset(_SBDataset):
    """Pictures with boundaries of things: image, and task: 20 masks of boundaries, or one of classes for "Segmentation"."""
    def __init__(self, dataset_dir, task: Any = 'Boundaries', usage: Any = 'all', num_samples=None, num_parallel_workers: Any = 1, shuffle=None, decode=None, sampler=None, num_shards=None, shard_id=None) -> None: ...
class SBUDataset(_SBUDataset):
    """Photographs with captions: image and caption."""
    def __init__(self, dataset_dir, num_samples=None, num_parallel_workers=None, shuffle=None, decode: Any = False, sampler=None, num_shards=None, shard_id=None, cache=None) -> None: ...
class SQuADDataset(_SQuADDataset):
    """Questions about texts: context, question, text (the answers) and answer_start (uint32)."""
    def __init__(self, dataset_dir, usage=None, num_samples=None, num_parallel_workers=None, shuffle: Any = ..., num_shards=None, shard_id=None, cache=None) -> None: ...
class SST2Dataset(_SST2Dataset):
    """Sentences of film reviews: sentence and label, both texts; only sentence for "test"."""
    def __init__(self, dataset_dir, usage=None, num_samples=None, num_parallel_workers=None, shuffle: Any = ..., num_shards=None, shard_id=None, cache=None) -> None: ...
class SUN397Dataset(_SUN397Dataset):
    """Scenes: image and label (uint32), the class's place in ClassName.txt."""
    def __init__(self, dataset_dir, num_samples=None, num_parallel_workers=None, shuffle=None, decode: Any = False, sampler=None, num_shards=None, shard_id=None, cache=None) -> None: ...
class SVHNDataset(_SVHNDataset):
    """House numbers: image (uint8, 32 x 32) and label (uint32)."""
    def __init__(self, dataset_dir, usage=None, num_samples=None, num_parallel_workers: Any = 1, shuffle=None, sampler=None, num_shards=None, shard_id=None) -> None: ...
class SogouNewsDataset(_SogouNewsDataset):
    """News in Chinese: index, title and content, all texts."""
    def __init__(self, dataset_dir, usage=None, num_samples=None, shuffle: Any = ..., num_shards=None, shard_id=None, num_parallel_workers=None, cache=None) -> None: ...
class TFRecordDataset(_TFRecordDataset):
    """Rows of TFRecord files. Features of numbers come as arrays, features of bytes as uint8 unless a schema says string. Rows are read from the files when they are wanted."""
    def __init__(self, dataset_files, schema=None, columns_list=None, num_samples=None, num_parallel_workers=None, shuffle: Any = ..., num_shards=None, shard_id=None, shard_equal_rows: Any = False, cache=None, compression_type=None) -> None: ...
class TakeDataset(_TakeDataset):
    """The first rows."""
    def __init__(self, parent, count: Any = -1) -> None: ...
class TextFileDataset(_TextFileDataset):
    """Lines of text files that are not empty, as column text."""
    def __init__(self, dataset_files, num_samples=None, num_parallel_workers=None, shuffle: Any = ..., num_shards=None, shard_id=None, cache=None) -> None: ...
class TransferDataset(_TransferDataset):
    """A dataset on its way to a device: it is sent, not iterated over. Rows are made ahead in their queue, as they are for an iterator; a CPU has no operator that takes them out of it, here as in MindSpore."""
    def __init__(self, parent, send_epoch_end: Any = True, create_data_info_queue: Any = False, queue_name: Any = '') -> None: ...
class UDPOSDataset(_UDPOSDataset):
    """Sentences with parts of speech: word, universal and stanford, texts of one length."""
    def __init__(self, dataset_dir, usage=None, num_samples=None, shuffle: Any = ..., num_shards=None, shard_id=None, num_parallel_workers=None, cache=None) -> None: ...
class USPSDataset(_USPSDataset):
    """Digits from envelopes: image (uint8, 16 x 16) and label (uint32)."""
    def __init__(self, dataset_dir, usage=None, num_samples=None, num_parallel_workers=None, shuffle: Any = ..., num_shards=None, shard_id=None, cache=None) -> None: ...
class VOCDataset(_VOCDataset):
    """Pictures with boxes or masks of things."""
    def __init__(self, dataset_dir, task: Any = 'Segmentation', usage: Any = 'train', class_indexing=None, num_samples=None, num_parallel_workers=None, shuffle=None, decode: Any = False, sampler=None, num_shards=None, shard_id=None, cache=None, extra_metadata: Any = False, decrypt=None) -> None: ...
class WIDERFaceDataset(_WIDERFaceDataset):
    """Faces in crowds: image; except for "test" bbox, blur, expression, illumination, occlusion, pose and invalid (int32), an element for each face."""
    def __init__(self, dataset_dir, usage=None, num_samples=None, num_parallel_workers=None, shuffle=None, decode: Any = False, sampler=None, num_shards=None, shard_id=None, cache=None) -> None: ...
class WaitedDSCallback(_WaitedDSCallback):
    """Base of callbacks that keep a map and the training in step: give it to ``map`` and to ``Model.train``. A step of the map waits for the end of the training step before it, if there is one. Override sync_step_begin and sync_epoch_begin."""
    def __init__(self, step_size: Any = 1) -> None: ...
class WebDataset(_WebDataset):
    """Samples in tar archives: files whose names differ only in their endings are the columns of one row."""
    def __init__(self, dataset_files, columns_list=None, num_samples=None, num_parallel_workers=None, shuffle: Any = ..., num_shards=None, shard_id=None, cache=None) -> None: ...
class WeightedRandomSampler(_WeightedRandomSampler):
    """Rows drawn with the given weights, one for each row."""
    def __init__(self, weights, num_samples=None, replacement: Any = True) -> None: ...
class WikiTextDataset(_WikiTextDataset):
    """Articles of Wikipedia, line by line: text."""
    def __init__(self, dataset_dir, usage=None, num_samples=None, num_parallel_workers=None, shuffle: Any = ..., num_shards=None, shard_id=None, cache=None) -> None: ...
class YahooAnswersDataset(_YahooAnswersDataset):
    """Questions with answers: class, title, content and answer, all texts."""
    def __init__(self, dataset_dir, usage=None, num_samples=None, num_parallel_workers=None, shuffle: Any = ..., num_shards=None, shard_id=None, cache=None) -> None: ...
class YelpReviewDataset(_YelpReviewDataset):
    """Reviews of places: label and text, both texts."""
    def __init__(self, dataset_dir, usage=None, num_samples=None, shuffle: Any = ..., num_shards=None, shard_id=None, num_parallel_workers=None, cache=None) -> None: ...
def serialize(dataset, json_filepath: Any = ''):
    """A dataset as a dict, also written to a JSON file if one is named."""
def show(dataset, indentation: Any = 2):
    """Log the dataset as JSON."""
