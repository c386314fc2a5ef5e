# SPDX-License-Identifier: Apache-2.0
"""Data sets of pictures, in the folders they are published in."""
import json
import os

import numpy as np

from spore.dataset import _check
from spore.dataset._matlab import load_mat
from spore.dataset._table import Table, check_file, check_folder, one_of, read_lines, sorted_files, sorted_folders
from spore.dataset.vision.transforms import Decode

__all__ = ['Caltech101Dataset', 'Caltech256Dataset', 'CelebADataset', 'CityscapesDataset', 'DIV2KDataset', 'FakeImageDataset',
           'FlickrDataset', 'Flowers102Dataset', 'Food101Dataset', 'LFWDataset', 'LSUNDataset', 'ManifestDataset', 'OmniglotDataset',
           'PhotoTourDataset', 'Places365Dataset', 'RenderedSST2Dataset', 'SBDataset', 'SBUDataset', 'STL10Dataset', 'SUN397Dataset',
           'SVHNDataset', 'SemeionDataset']

ENDINGS = ('.jpg', '.jpeg', '.png', '.bmp')
PICTURES = ('num_samples=None, num_parallel_workers=None, shuffle=None, decode=False, sampler=None, num_shards=None, '
            'shard_id=None, cache=None')
ARRAYS = PICTURES.replace('decode=False, ', '')


class Caltech101Dataset(Table):
    """Pictures of 101 kinds of things, with outlines.

    Columns: image, and by ``target_type`` ("category", "annotation", "all"; None is "category") category and annotation.
    """

    ARGUMENTS = ('dataset_dir, target_type=None, num_samples=None, num_parallel_workers=1, shuffle=None, decode=False, '
                 'sampler=None, num_shards=None, shard_id=None')
    _RENAMED = {'Faces': 'Faces_2', 'Faces_easy': 'Faces_3', 'Motorbikes': 'Motorbikes_16', 'airplanes': 'Airplanes_Side_2'}

    def check(self):
        if self.target_type is None:
            self.target_type = 'category'
        one_of(self.target_type, ['category', 'annotation', 'all'], 'target_type')

    def _names(self):
        return [name for name in sorted(os.listdir(os.path.join(self.dataset_dir, '101_ObjectCategories')))
                if name != 'BACKGROUND_Google']

    def get_class_indexing(self):
        return {name: i for i, name in enumerate(self._names())}

    def find(self):
        paths, labels, outlines = [], [], []
        for label, name in enumerate(self._names()):
            folder = os.path.join(self.dataset_dir, '101_ObjectCategories', name)
            for number in range(1, len(os.listdir(folder)) + 1 if os.path.isdir(folder) else 1):
                paths.append(os.path.join(folder, f'image_{number:04d}.jpg'))
                labels.append(label)
                outlines.append(os.path.join(self.dataset_dir, 'Annotations', self._RENAMED.get(name, name),
                                             f'annotation_{number:04d}.mat'))
        columns = {'category': ['image', 'category'], 'annotation': ['image', 'annotation'],
                   'all': ['image', 'category', 'annotation']}[self.target_type]
        made = (('annotation',), lambda i: load_mat(outlines[int(i)])['obj_contour'])
        self.rows(columns, {'image': paths}, {'category': np.asarray(labels, np.int64)} if 'category' in columns else {},
                  made if 'annotation' in columns else ((), None))


class _Folders(Table):
    """A folder for each class; labels count them by name."""

    def _place(self):
        return self.dataset_dir

    def find(self):
        paths, labels = [], []
        for label, name in enumerate(sorted_folders(self._place())):
            here = sorted_files(os.path.join(self._place(), name), ENDINGS)
            paths += here
            labels += [label] * len(here)
        self.rows(['image', 'label'], {'image': paths}, {'label': np.asarray(labels, np.int32)})


class Caltech256Dataset(_Folders):
    """Pictures of 256 kinds of things: image and label (int32)."""

    ARGUMENTS = f'dataset_dir, {PICTURES}'

    def num_classes(self):
        return len(sorted_folders(self.dataset_dir))


class CelebADataset(Table):
    """Faces with attributes: image, and attr, 40 numbers (uint32) that are 1 where an attribute holds."""

    ARGUMENTS = ("dataset_dir, num_parallel_workers=None, shuffle=None, usage='all', sampler=None, decode=False, "
                 "extensions=None, num_samples=None, num_shards=None, shard_id=None, cache=None, decrypt=None")
    PARTS = ['train', 'valid', 'test']

    def check(self):
        self.usage = 'all' if self.usage is None else self.usage
        if self.usage not in (*self.PARTS, 'all'):
            raise ValueError("usage should be 'all', 'train', 'valid' or 'test'.")
        if self.extensions is not None:
            _check.kinds(self.extensions, str, 'extensions')

    def find(self):
        lines = read_lines(os.path.join(self.dataset_dir, 'list_attr_celeba.txt'), 'CelebADataset')[2:]
        if self.usage != 'all':
            wanted = str(self.PARTS.index(self.usage))
            part = os.path.join(self.dataset_dir, 'list_eval_partition.txt')
            names = {line.split()[0] for line in read_lines(part, 'CelebADataset') if line.split()[1] == wanted}
            lines = [line for line in lines if line.split()[0] in names]
        endings = tuple(self.extensions or ())
        rows = [line.split() for line in lines if not endings or line.split()[0].endswith(endings)]
        attributes = np.asarray([[int(word) > 0 for word in words[1:]] for words in rows], np.uint32)
        self.rows(['image', 'attr'], {'image': [os.path.join(self.dataset_dir, words[0]) for words in rows]},
                  {'attr': attributes})


class CityscapesDataset(Table):
    """Streets with what is where in them: image and task (a picture, or JSON text for "polygon").

    Args:
        dataset_dir: folder with leftImg8bit and gtFine or gtCoarse.
        usage: "train", "test", "val" or "all" ("fine"), or "train", "train_extra", "val" or "all" ("coarse").
        quality_mode: "fine" or "coarse".
        task: "instance", "semantic", "polygon" or "color".
    """

    ARGUMENTS = (f"dataset_dir, usage='train', quality_mode='fine', task='instance', "
                 f"{PICTURES.replace('decode=False', 'decode=None')}")
    _ENDINGS = {'instance': '_instanceIds.png', 'semantic': '_labelIds.png', 'polygon': '_polygons.json', 'color': '_color.png'}

    def check(self):
        one_of(self.task, list(self._ENDINGS), 'task')
        one_of(self.quality_mode, ['fine', 'coarse'], 'quality_mode')
        self._usages = ['train', 'test', 'val'] if self.quality_mode == 'fine' else ['train', 'train_extra', 'val']
        one_of(self.usage, [*self._usages, 'all'], 'usage')

    def find(self):
        images, tasks = [], []
        truth = 'gtFine' if self.quality_mode == 'fine' else 'gtCoarse'
        for usage in self._usages if self.usage == 'all' else [self.usage]:
            root = os.path.join(self.dataset_dir, 'leftImg8bit', usage)
            for city in sorted_folders(root):
                for path in sorted_files(os.path.join(root, city), '.png'):
                    name = os.path.basename(path).removesuffix('_leftImg8bit.png')
                    images.append(path)
                    tasks.append(os.path.join(self.dataset_dir, truth, usage, city, f'{name}_{truth}{self._ENDINGS[self.task]}'))
        if self.task != 'polygon':
            self.rows(['image', 'task'], {'image': images, 'task': tasks})
            return

        def polygons(i):
            with open(tasks[int(i)], encoding='utf-8') as file:
                return json.dumps(json.load(file), separators=(',', ':'), ensure_ascii=False)
        self.rows(['image', 'task'], {'image': images}, made=(('task',), polygons))


class DIV2KDataset(Table):
    """Pictures in high and low resolution: hr_image and lr_image.

    Args:
        dataset_dir: folder with DIV2K_train_HR and its relatives.
        usage: "train", "valid" or "all".
        downgrade: "bicubic", "unknown", "mild", "difficult" or "wild".
        scale: 2, 3, 4 or 8, as far as ``downgrade`` has it.
    """

    ARGUMENTS = (f"dataset_dir, usage='train', downgrade='bicubic', scale=2, {PICTURES.replace('decode=False', 'decode=None')}")
    _SCALES = {'bicubic': (2, 3, 4, 8), 'unknown': (2, 3, 4), 'mild': (4,), 'difficult': (4,), 'wild': (4,)}

    def check(self):
        one_of(self.usage, ['train', 'valid', 'all'], 'usage')
        one_of(self.downgrade, list(self._SCALES), 'downgrade')
        if self.scale not in (2, 3, 4, 8):
            raise ValueError("Input scale is not within the valid set of [2, 3, 4, 8].")
        if self.scale not in self._SCALES[self.downgrade]:
            raise ValueError(f"downgrade '{self.downgrade}' requires scale in {list(self._SCALES[self.downgrade])}, but got "
                             f"{self.scale}.")

    def find(self):
        fine, coarse = [], []
        mark = {'mild': 'm', 'difficult': 'd', 'wild': 'w'}.get(self.downgrade, '')
        for usage in ['train', 'valid'] if self.usage == 'all' else [self.usage]:
            folder = os.path.join(self.dataset_dir, f'DIV2K_{usage}_HR')
            low = f'DIV2K_{usage}_LR_' + ('x8' if self.scale == 8 else self.downgrade if mark else f'{self.downgrade}/X{self.scale}')
            for path in sorted_files(folder, '.png'):
                name = os.path.basename(path).removesuffix('.png')
                fine.append(path)
                coarse.append(os.path.join(self.dataset_dir, low, f'{name}x{self.scale}{mark}.png'))
        self.rows(['hr_image', 'lr_image'], {'hr_image': fine, 'lr_image': coarse})


class FakeImageDataset(Table):
    """Random pictures: image (uint8) and label (uint32).

    Args:
        num_images: how many.
        image_size: height, width and channels.
        num_classes: labels are below this.
        base_seed: the pictures follow from it.
    """

    ARGUMENTS = f'num_images=1000, image_size=(224, 224, 3), num_classes=10, base_seed=0, {ARRAYS}'

    def check(self):
        self._count = self.__dict__.pop('num_classes')     # the method has this name
        for name, value in (('num_images', self.num_images), ('num_classes', self._count)):
            _check.kind(value, int, name)
            _check.within(value, 1, _check.INT32_MAX, name)
        _check.kinds(self.image_size, int, 'image_size')
        if len(self.image_size) != 3:
            raise ValueError("image_size should be a list or tuple of length 3.")
        for i, size in enumerate(self.image_size):
            _check.within(size, 1, _check.INT32_MAX, f"image_size[{i}]")
        _check.kind(self.base_seed, int, 'base_seed')
        _check.within(self.base_seed, 0, _check.INT32_MAX, 'base_seed')

    def num_classes(self):
        return self._count

    def find(self):
        labels = np.random.Generator(np.random.Philox(self.base_seed)).integers(0, self._count, self.num_images)

        def picture(i):
            draws = np.random.Generator(np.random.Philox(key=[self.base_seed, int(i)]))
            return draws.integers(0, 256, self.image_size, np.uint8)
        self.rows(['image', 'label'], {}, {'label': labels.astype(np.uint32)}, (('image',), picture))


class FlickrDataset(Table):
    """Pictures with descriptions: image, and annotation, its texts in the order of the file."""

    ARGUMENTS = f"dataset_dir, annotation_file, {PICTURES.replace('decode=False', 'decode=None')}"

    def check(self):
        check_file(self.annotation_file, 'annotation_file')

    def find(self):
        texts = {}
        for line in read_lines(self.annotation_file, 'FlickrDataset'):
            name, text = line.split('\t', 1)
            texts.setdefault(name.rsplit('#', 1)[0], []).append(text)
        names = [name for name in sorted(texts) if os.path.exists(os.path.join(self.dataset_dir, name))]
        self.rows(['image', 'annotation'], {'image': [os.path.join(self.dataset_dir, name) for name in names]},
                  made=(('annotation',), lambda i: np.asarray(texts[names[int(i)]])))


class Flowers102Dataset(Table):
    """Pictures of flowers: image, label (uint32), and segmentation for the task "Segmentation"."""

    ARGUMENTS = ("dataset_dir, task='Classification', usage='all', num_samples=None, num_parallel_workers=1, shuffle=None, "
                 "decode=False, sampler=None, num_shards=None, shard_id=None")
    USAGE = ['train', 'valid', 'test', 'all']
    CLASSES = 102

    def check(self):
        one_of(self.task, ['Classification', 'Segmentation'], 'task')
        for name in ('imagelabels.mat', 'setid.mat'):
            check_file(os.path.join(self.dataset_dir, name))

    def find(self):
        labels = load_mat(os.path.join(self.dataset_dir, 'imagelabels.mat'))['labels'][0] - 1
        parts = load_mat(os.path.join(self.dataset_dir, 'setid.mat'))
        wanted = {'train': ['trnid'], 'valid': ['valid'], 'test': ['tstid'], 'all': ['trnid', 'tstid', 'valid']}[self.usage]
        ids = np.concatenate([parts[name][0] for name in wanted])
        files = {'image': [os.path.join(self.dataset_dir, 'jpg', f'image_{i:05d}.jpg') for i in ids]}
        columns = ['image', 'label']
        if self.task == 'Segmentation':
            files['segmentation'] = [os.path.join(self.dataset_dir, 'segmim', f'segmim_{i:05d}.jpg') for i in ids]
            columns = ['image', 'segmentation', 'label']
        self.rows(columns, files, {'label': labels[ids - 1].astype(np.uint32)})

    def get_class_indexing(self):
        return {str(i): i for i in range(102)}


class Food101Dataset(Table):
    """Pictures of food: image, and label, the name of the dish."""

    ARGUMENTS = f'dataset_dir, usage=None, {PICTURES}'
    USAGE = ['train', 'test', 'all']

    def find(self):
        names = []
        for usage in ['train', 'test'] if self.usage == 'all' else [self.usage]:
            names += read_lines(os.path.join(self.dataset_dir, 'meta', f'{usage}.txt'), 'Food101Dataset')
        self.rows(['image', 'label'], {'image': [os.path.join(self.dataset_dir, 'images', f'{name}.jpg') for name in names]},
                  {'label': [name.split('/')[0] for name in names]})


class LFWDataset(Table):
    """Faces: image and label (uint32) for the task "people"; image1, image2 and label for "pairs".

    Args:
        dataset_dir: folder with lfw, lfw_funneled or lfw-deepfunneled and the lists.
        task: "people" (None) or "pairs".
        usage: "10fold", "train", "test" or "all" (None).
        image_set: "original", "funneled" (None) or "deepfunneled".
    """

    ARGUMENTS = f'dataset_dir, task=None, usage=None, image_set=None, {PICTURES}'
    USAGE = ['10fold', 'train', 'test', 'all']
    _SETS = {'original': 'lfw', 'funneled': 'lfw_funneled', 'deepfunneled': 'lfw-deepfunneled'}

    def check(self):
        self.task = 'people' if self.task is None else self.task
        self.image_set = 'funneled' if self.image_set is None else self.image_set
        one_of(self.task, ['people', 'pairs'], 'task')
        one_of(self.image_set, list(self._SETS), 'image_set')

    def _path(self, name, number):
        return os.path.join(self.dataset_dir, self._SETS[self.image_set], name, f'{name}_{int(number):04d}.jpg')

    def find(self):
        lists = {'10fold': [''], 'train': ['DevTrain'], 'test': ['DevTest'], 'all': ['DevTrain', 'DevTest']}[self.usage]
        lines = []
        for part in lists:
            lines += read_lines(os.path.join(self.dataset_dir, f'{self.task}{part}.txt'), 'LFWDataset')
        words = [line.split('\t') for line in lines]
        if self.task == 'people':
            people = [(w[0], int(w[1])) for w in words if len(w) == 2 and not w[0].isdigit()]
            names = [line.split()[0] for line in read_lines(os.path.join(self.dataset_dir, 'lfw-names.txt'), 'LFWDataset')]
            classes = {name: i for i, name in enumerate(names)}
            rows = [(name, number) for name, count in people for number in range(1, count + 1)]
            self.rows(['image', 'label'], {'image': [self._path(*row) for row in rows]},
                      {'label': np.asarray([classes[name] for name, _ in rows], np.uint32)})
            return
        pairs = [(w[0], w[1], w[0], w[2], 1) if len(w) == 3 else (*w, 0) for w in words if len(w) in (3, 4)]
        self.rows(['image1', 'image2', 'label'], {'image1': [self._path(*p[:2]) for p in pairs],
                                                  'image2': [self._path(*p[2:4]) for p in pairs]},
                  {'label': np.asarray([p[4] for p in pairs], np.uint32)})


class LSUNDataset(Table):
    """Scenes: image and label (uint32), which counts the folders that are read: one for each class and part.

    Args:
        dataset_dir: folder with bedroom_train, bedroom_val and so on, and test.
        usage: "train", "test", "valid" or "all" (None).
        classes: a list of the classes wanted; all if None.
    """

    ARGUMENTS = f'dataset_dir, usage=None, classes=None, {PICTURES}'
    USAGE = ['train', 'test', 'valid', 'all']
    _CLASSES = ['bedroom', 'bridge', 'church_outdoor', 'classroom', 'conference_room', 'dining_room', 'kitchen', 'living_room',
                'restaurant', 'tower']

    def check(self):
        if self.classes is not None:
            _check.kind(self.classes, list, 'classes')
            _check.kinds(self.classes, str, 'classes')
            for name in self.classes:
                one_of(name, self._CLASSES, 'classes')

    def find(self):
        paths, labels = [], []
        ends = {'train': ['_train'], 'valid': ['_val'], 'all': ['_train', '_val'], 'test': []}[self.usage]
        wanted = [name + end for name in self.classes or self._CLASSES for end in ends]
        folders = ['test'] if self.usage == 'test' else [name for name in sorted_folders(self.dataset_dir) if name in wanted]
        for label, name in enumerate(folders):
            here = sorted_files(os.path.join(self.dataset_dir, name), ENDINGS)
            paths += here
            labels += [label] * len(here)
        self._named = {name.rsplit('_', 1)[0] for name in folders if name != 'test'}
        self.rows(['image', 'label'], {'image': paths}, {'label': np.asarray(labels, np.uint32)})

    def num_classes(self):
        return len(self._found()._named)


class ManifestDataset(Table):
    """Pictures named by the lines of a file, each a JSON object: image and label (int32).

    Args:
        dataset_file: the file.
        usage: which lines: "train", "eval" or "inference".
        class_indexing: numbers of names of classes; in alphabetical order from 0 if None.
    """

    ARGUMENTS = ("dataset_file, usage='train', num_samples=None, num_parallel_workers=None, shuffle=None, sampler=None, "
                 "class_indexing=None, decode=False, num_shards=None, shard_id=None, cache=None")

    def check(self):
        if not isinstance(self.dataset_file, str):
            raise TypeError(f"path: {self.dataset_file} is not string; dataset_file is the name of a file.")
        check_file(self.dataset_file)
        self.usage = 'train' if self.usage is None else self.usage
        _check.kind(self.usage, str, 'usage')
        self._classes = None
        if self.class_indexing is not None:
            _check.kind(self.class_indexing, dict, 'class_indexing')
            for name, number in self.class_indexing.items():
                _check.kind(name, str, 'class_indexing.key')
                _check.kind(number, int, 'class_indexing.value')

    def find(self):
        if self.usage not in ('train', 'eval', 'inference'):
            raise RuntimeError(f"ManifestDataset: {self.usage} does not match any mode in [ inference eval train ]")
        rows = []
        for number, line in enumerate(read_lines(self.dataset_file, 'ManifestDataset')):
            try:
                entry = json.loads(line)
                if entry.get('usage', '').lower() == self.usage:
                    rows.append((entry['source'], [a['name'] for a in entry.get('annotation', []) if 'name' in a]))
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                raise RuntimeError(f"Invalid manifest file, {self.dataset_file}, line {number + 1}: {error!r}") from error
        names = sorted({name for _, names in rows for name in names})
        self._classes = self.class_indexing or {name: i for i, name in enumerate(names)}
        rows = [(path, [self._classes[name] for name in names if name in self._classes]) for path, names in rows]
        rows = [row for row in rows if row[1]]
        self.rows(['image', 'label'], {'image': [path for path, _ in rows]},
                  made=(('label',), lambda i: np.asarray(rows[int(i)][1] if len(rows[int(i)][1]) > 1 else rows[int(i)][1][0],
                                                         np.int32)))

    def num_classes(self):
        return len(self._found()._classes)

    def get_class_indexing(self):
        return dict(self._found()._classes)


class OmniglotDataset(Table):
    """Letters of many alphabets: image and label (int32). ``background`` (True if None): that part, or the one for
    evaluation."""

    ARGUMENTS = f'dataset_dir, background=None, {PICTURES}'

    def check(self):
        self.background = True if self.background is None else self.background
        _check.kind(self.background, bool, 'background')

    def find(self):
        root = os.path.join(self.dataset_dir, 'images_background' if self.background else 'images_evaluation')
        paths, labels, label = [], [], 0
        for alphabet in sorted_folders(root):
            for letter in sorted_folders(os.path.join(root, alphabet)):
                here = sorted_files(os.path.join(root, alphabet, letter), ENDINGS)
                paths += here
                labels += [label] * len(here)
                label += 1
        self.rows(['image', 'label'], {'image': paths}, {'label': np.asarray(labels, np.int32)})

    def num_classes(self):
        return int(self._found()._arrays['label'].max()) + 1


class PhotoTourDataset(Table):
    """Patches of photographs: image for "train"; image1, image2 and matches (uint32) for "test".

    Args:
        dataset_dir: folder with the sets' folders.
        name: "notredame", "yosemite", "liberty", or one of these with "_harris".
        usage: "train" (None) or "test".
    """

    ARGUMENTS = f'dataset_dir, name, usage=None, {ARRAYS}'
    USAGE = ['test', 'train']

    def check(self):
        one_of(self.name, [n + e for e in ('', '_harris') for n in ('notredame', 'yosemite', 'liberty')], 'name')

    def find(self):
        folder = os.path.join(self.dataset_dir, self.name)
        sheets, kept = sorted_files(folder, '.bmp'), {}

        def patch(i):
            sheet, place = divmod(int(i), 256)
            if sheet not in kept:
                kept.clear()
                with open(sheets[sheet], 'rb') as file:
                    kept[sheet] = Decode()(np.frombuffer(file.read(), np.uint8))[..., :1]
            y, x = divmod(place, 16)
            return np.ascontiguousarray(kept[sheet][y * 64:y * 64 + 64, x * 64:x * 64 + 64])
        points = [line.split() for line in read_lines(os.path.join(folder, 'info.txt'), 'PhotoTourDataset')]
        if self.usage == 'train':
            self.rows(['image'], {}, {' patch': np.arange(len(points))}, (('image',), patch))
            return
        lines = read_lines(os.path.join(folder, 'm50_100000_100000_0.txt'), 'PhotoTourDataset')
        pairs = np.asarray([[int(word) for word in line.split()] for line in lines])
        self.rows(['image1', 'image2', 'matches'], {}, {'matches': (pairs[:, 1] == pairs[:, 4]).astype(np.uint32)},
                  (('image1', 'image2'), lambda i: (patch(pairs[int(i), 0]), patch(pairs[int(i), 3]))))


class Places365Dataset(Table):
    """Places: image and label (uint32).

    Args:
        dataset_dir: folder with the lists and pictures.
        usage: "train-standard" (None), "train-challenge" or "val".
        small: whether pictures of 256 x 256 are read.
    """

    ARGUMENTS = ('dataset_dir, usage=None, small=True, decode=False, num_samples=None, num_parallel_workers=None, shuffle=None, '
                 'sampler=None, num_shards=None, shard_id=None, cache=None')
    USAGE = ['train-challenge', 'val', 'train-standard']

    def check(self):
        _check.kind(self.small, bool, 'small')

    def find(self):
        size = '256' if self.small else 'large'
        kind = self.usage.removeprefix('train-')
        folder = f'val_{size}' if self.usage == 'val' else f'data_{size}_{kind}'
        read_lines(os.path.join(self.dataset_dir, 'categories_places365.txt'), 'Places365Dataset')
        listed = 'places365_val.txt' if self.usage == 'val' else f'places365_{self.usage.replace("-", "_")}.txt'
        rows = [line.split() for line in read_lines(os.path.join(self.dataset_dir, listed), 'Places365Dataset')]
        self.rows(['image', 'label'],
                  {'image': [os.path.join(self.dataset_dir, folder, path.lstrip('/')) for path, _ in rows]},
                  {'label': np.asarray([int(label) for _, label in rows], np.uint32)})


class RenderedSST2Dataset(Table):
    """Sentences as pictures: image and label (uint32), 0 for negative, 1 for positive."""

    ARGUMENTS = f'dataset_dir, usage=None, {PICTURES}'
    USAGE = ['val', 'train', 'test', 'all']
    CLASSES = 2

    def find(self):
        paths, labels = [], []
        parts = {'val': ['valid'], 'all': ['test', 'train', 'valid']}.get(self.usage, [self.usage])
        for part in parts:
            for label, name in enumerate(('negative', 'positive')):
                folder = os.path.join(self.dataset_dir, part, name)
                if self.usage == 'all' and not os.path.isdir(folder):
                    continue        # a part that is not kept
                here = sorted_files(folder, ENDINGS)
                paths += here
                labels += [label] * len(here)
        self.rows(['image', 'label'], {'image': paths}, {'label': np.asarray(labels, np.uint32)})


class SBDataset(Table):
    """Pictures with boundaries of things: image, and task: 20 masks of boundaries, or one of classes for "Segmentation"."""

    ARGUMENTS = ("dataset_dir, task='Boundaries', usage='all', num_samples=None, num_parallel_workers=1, shuffle=None, "
                 "decode=None, sampler=None, num_shards=None, shard_id=None")
    USAGE = ['train', 'val', 'train_noval', 'all']

    def check(self):
        one_of(self.task, ['Boundaries', 'Segmentation'], 'task')

    def find(self):
        names = []
        for usage in ['train', 'val'] if self.usage == 'all' else [self.usage]:
            path = os.path.join(self.dataset_dir, f'{usage}.txt')
            if not os.path.exists(path):
                raise FileNotFoundError(f"SBDataset: {path} not found")
            names += read_lines(path, 'SBDataset')

        def truth(i):
            found = load_mat(os.path.join(self.dataset_dir, 'cls', f'{names[int(i)]}.mat'))['GTcls'][0, 0][self.task]
            return found if self.task == 'Segmentation' else np.stack([found[k, 0] for k in range(20)])
        self.rows(['image', 'task'], {'image': [os.path.join(self.dataset_dir, 'img', f'{name}.jpg') for name in names]},
                  made=(('task',), truth))


class SBUDataset(Table):
    """Photographs with captions: image and caption."""

    ARGUMENTS = f'dataset_dir, {PICTURES}'

    def check(self):
        for kind in ('urls', 'captions'):
            check_file(os.path.join(self.dataset_dir, f'SBU_captioned_photo_dataset_{kind}.txt'))
        check_folder(os.path.join(self.dataset_dir, 'sbu_images'))

    _HOST = 'http://static.flickr.com'      # as many characters of an address are not part of the file's name, as in MindSpore

    def find(self):
        lists = [read_lines(os.path.join(self.dataset_dir, f'SBU_captioned_photo_dataset_{kind}.txt'), 'SBUDataset')
                 for kind in ('urls', 'captions')]
        if len(lists[0]) != len(lists[1]):
            raise RuntimeError(f"SBUDataset: there are {len(lists[0])} addresses, but {len(lists[1])} captions")
        found = []
        for url, caption in zip(*lists):
            url = url.strip()
            if len(url) <= len(self._HOST):
                raise RuntimeError(f"Invalid url in {self.dataset_dir}/SBU_captioned_photo_dataset_urls.txt: {url}")
            path = os.path.join(self.dataset_dir, 'sbu_images', 'm' + url[len(self._HOST):].replace('/', '_'))
            if os.path.exists(path):
                found.append((path, caption.strip()))
        self.rows(['image', 'caption'], {'image': [path for path, _ in found]}, {'caption': [text for _, text in found]})


class SemeionDataset(Table):
    """Written digits of 16 x 16 points: image (uint8) and label (uint32)."""

    ARGUMENTS = f'dataset_dir, {ARRAYS}'

    def find(self):
        lines = read_lines(os.path.join(self.dataset_dir, 'semeion.data'), 'SemeionDataset')
        table = np.asarray([[float(word) for word in line.split()] for line in lines])
        if table.ndim != 2 or table.shape[1] != 266:
            raise RuntimeError("SemeionDataset: every line of semeion.data should hold 266 numbers")
        self.rows(['image', 'label'], {}, {'image': (table[:, :256] != 0).astype(np.uint8).reshape(-1, 16, 16),
                                           'label': table[:, 256:].argmax(1).astype(np.uint32)})


class STL10Dataset(Table):
    """Pictures of 96 x 96 points of ten classes: image (uint8) and label (int32, -1 without one)."""

    ARGUMENTS = f'dataset_dir, usage=None, {ARRAYS}'
    USAGE = ['train', 'test', 'unlabeled', 'train+unlabeled', 'all']

    def find(self):
        parts = {'train+unlabeled': ['train', 'unlabeled'], 'all': ['test', 'train', 'unlabeled']}.get(self.usage, [self.usage])
        images, labels = [], []
        for part in parts:
            path = os.path.join(self.dataset_dir, f'{part}_X.bin')
            for what, file in (('data', path), ('label', os.path.join(self.dataset_dir, f'{part}_y.bin'))):
                if not os.path.isfile(file) and (what, part) != ('label', 'unlabeled'):
                    raise RuntimeError(f"Invalid file, failed to find STL10 {self.usage} {what} file: {file}")
            data = np.fromfile(path, np.uint8)
            if data.size % 27648:
                raise RuntimeError(f"STL10Dataset: {path} should hold pictures of 27648 bytes, but holds {data.size} bytes")
            images.append(data.reshape(-1, 3, 96, 96).transpose(0, 3, 2, 1))
            if part == 'unlabeled':
                labels.append(np.full(len(images[-1]), -1, np.int32))
            else:
                labels.append(np.fromfile(os.path.join(self.dataset_dir, f'{part}_y.bin'), np.uint8).astype(np.int32) - 1)
        self.rows(['image', 'label'], {}, {'image': np.ascontiguousarray(np.concatenate(images)), 'label': np.concatenate(labels)})


class SUN397Dataset(Table):
    """Scenes: image and label (uint32), the class's place in ClassName.txt."""

    ARGUMENTS = f'dataset_dir, {PICTURES}'

    def find(self):
        paths, labels = [], []
        for label, name in enumerate(read_lines(os.path.join(self.dataset_dir, 'ClassName.txt'), 'SUN397Dataset')):
            folder = os.path.join(self.dataset_dir, name.strip().lstrip('/'))
            here = sorted_files(folder, ENDINGS) if os.path.isdir(folder) else []
            paths += here
            labels += [label] * len(here)
        self.rows(['image', 'label'], {'image': paths}, {'label': np.asarray(labels, np.uint32)})


class SVHNDataset(Table):
    """House numbers: image (uint8, 32 x 32) and label (uint32)."""

    ARGUMENTS = ('dataset_dir, usage=None, num_samples=None, num_parallel_workers=1, shuffle=None, sampler=None, num_shards=None, '
                 'shard_id=None')
    USAGE = ['train', 'test', 'extra', 'all']
    CLASSES = 10

    def find(self):
        images, labels = [], []
        for part in ['train', 'test', 'extra'] if self.usage == 'all' else [self.usage]:
            path = os.path.join(self.dataset_dir, f'{part}_32x32.mat')
            if not os.path.isfile(path):
                raise FileNotFoundError(f"[Errno 2] No such file or directory: '{path}'")
            found = load_mat(path)
            images.append(found['X'].transpose(3, 0, 1, 2))
            labels.append(found['y'].astype(np.uint32).reshape(-1) % 10)
        self.rows(['image', 'label'], {}, {'image': np.ascontiguousarray(np.concatenate(images)), 'label': np.concatenate(labels)})
