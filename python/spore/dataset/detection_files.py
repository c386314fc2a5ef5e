# SPDX-License-Identifier: Apache-2.0
"""Data sets of pictures with things marked in them: boxes, masks, key points, captions."""
import json
import os
import xml.etree.ElementTree

import numpy as np

from spore.dataset import _check
from spore.dataset._table import Table, check_file, read_lines, sorted_files
from spore.dataset.vision_files import ENDINGS, PICTURES

__all__ = ['CocoDataset', 'KITTIDataset', 'VOCDataset', 'WIDERFaceDataset']


class KITTIDataset(Table):
    """Streets with boxes around things: image; for "train" also label, truncated, occluded, alpha, bbox, dimensions, location
    and rotation_y, one row for each thing."""

    ARGUMENTS = f'dataset_dir, usage=None, {PICTURES}'
    USAGE = ['test', 'train']
    _COLUMNS = [('label', np.uint32, None), ('truncated', np.float32, slice(0, 1)), ('occluded', np.uint32, slice(1, 2)),
                ('alpha', np.float32, slice(2, 3)), ('bbox', np.float32, slice(3, 7)), ('dimensions', np.float32, slice(7, 10)),
                ('location', np.float32, slice(10, 13)), ('rotation_y', np.float32, slice(13, 14))]

    def find(self):
        folder = os.path.join(self.dataset_dir, 'data_object_image_2', f'{self.usage}ing', 'image_2')
        paths = sorted_files(folder, ENDINGS)
        if self.usage == 'test':
            self.rows(['image'], {'image': paths})
            return
        truth = os.path.join(self.dataset_dir, 'data_object_label_2', 'training', 'label_2')

        found, kinds = [], {}       # kinds of things are numbered as they appear
        for path in paths:
            name = os.path.splitext(os.path.basename(path))[0]
            lines = [line.split() for line in read_lines(os.path.join(truth, f'{name}.txt'), 'KITTIDataset')]
            found.append(([kinds.setdefault(line[0], len(kinds)) for line in lines],
                          np.asarray([[float(word) for word in line[1:15]] for line in lines])))

        def things(i):
            labels, numbers = found[int(i)]
            made = [np.asarray(labels, np.uint32).reshape(-1, 1)]
            made += [numbers[:, part].astype(kind) for _, kind, part in self._COLUMNS[1:]]
            return tuple(made)
        names = [name for name, _, _ in self._COLUMNS]
        self.rows(['image', *names], {'image': paths}, made=(names, things))


class VOCDataset(Table):
    """Pictures with boxes or masks of things.

    Columns: image and target for the task "Segmentation"; image, bbox (float32), label, difficult and truncate (uint32) for
    "Detection". With ``extra_metadata`` the picture's name comes last, as column _meta-filename.

    Args:
        dataset_dir: folder with JPEGImages, Annotations, ImageSets and SegmentationClass.
        task: "Segmentation" or "Detection".
        usage: name of the list in ImageSets.
        class_indexing: numbers of names of classes; in alphabetical order from 0 if None.
    """

    ARGUMENTS = (f"dataset_dir, task='Segmentation', usage='train', class_indexing=None, {PICTURES}, extra_metadata=False, "
                 f"decrypt=None")

    def check(self):
        _check.kind(self.task, str, 'task')
        _check.kind(self.usage, str, 'usage')
        if self.task not in ('Segmentation', 'Detection'):
            raise ValueError(f"Invalid task : {self.task}.")
        lists = 'Segmentation' if self.task == 'Segmentation' else 'Main'
        self._list = os.path.join(self.dataset_dir, 'ImageSets', lists, f'{self.usage}.txt')
        if self.task == 'Segmentation' and self.class_indexing is not None:
            raise ValueError("class_indexing is not supported in Segmentation task.")
        if self.class_indexing is not None:
            _check.kind(self.class_indexing, dict, 'class_indexing')
        check_file(self._list)
        self._classes = None

    def find(self):
        names = [line.split()[0] for line in read_lines(self._list, 'VOCDataset')]
        files = {'image': [os.path.join(self.dataset_dir, 'JPEGImages', f'{name}.jpg') for name in names]}
        extra = {'_meta-filename': names} if self.extra_metadata else {}
        if self.task == 'Segmentation':
            files['target'] = [os.path.join(self.dataset_dir, 'SegmentationClass', f'{name}.png') for name in names]
            self.rows(['image', 'target', *extra], files, extra)
            return
        things = {name: self._things(name) for name in names}
        kinds = sorted({thing[0] for found in things.values() for thing in found})
        self._classes = self.class_indexing or {kind: i for i, kind in enumerate(kinds)}
        if self.class_indexing is not None:
            things = {name: [t for t in found if t[0] in self._classes] for name, found in things.items()}
            names = [name for name in names if things[name]]
            files = {'image': [os.path.join(self.dataset_dir, 'JPEGImages', f'{name}.jpg') for name in names]}
            extra = {key: names for key in extra}

        def row(i):
            found = things[names[int(i)]]
            columns = [[self._classes[t[0]]] for t in found], [[t[2]] for t in found], [[t[3]] for t in found]
            return (np.asarray([t[1] for t in found], np.float32), *(np.asarray(c, np.uint32) for c in columns))
        made = ['bbox', 'label', 'difficult', 'truncate']
        self.rows(['image', *made, *extra], files, extra, (made, row))

    def _things(self, name):
        path = os.path.join(self.dataset_dir, 'Annotations', f'{name}.xml')
        if not os.path.exists(path):
            raise RuntimeError(f"Invalid file, {path} does not exist or permission denied!")
        try:
            found = xml.etree.ElementTree.parse(path).getroot().findall('object')
            rows = []
            for thing in found:
                box = [float(thing.findtext(f'bndbox/{side}', '0')) for side in ('xmin', 'ymin', 'xmax', 'ymax')]
                if box[0] < 1 or box[1] < 1 or box[2] <= box[0] or box[3] <= box[1]:
                    raise RuntimeError(f"Invalid bndbox, {path}: {box} is no box")
                rows.append((thing.findtext('name', ''), [box[0], box[1], box[2] - box[0], box[3] - box[1]],
                             int(thing.findtext('difficult', '0')), int(thing.findtext('truncated', '0'))))
        except (xml.etree.ElementTree.ParseError, ValueError) as error:
            raise RuntimeError(f"Invalid xml, {path}: {error}") from error
        if not rows:
            raise RuntimeError(f"Invalid annotation, {path}: there is no object in it")
        return rows

    def get_class_indexing(self):
        if self.task != 'Detection':
            raise NotImplementedError("Only 'Detection' support get_class_indexing.")
        return dict(self._found()._classes)


class CocoDataset(Table):
    """Pictures with boxes, key points, segments or captions.

    Columns by ``task``: image, and for "Detection" bbox, category_id, iscrowd; for "Stuff" segmentation, iscrowd; for
    "Keypoint" keypoints, num_keypoints; for "Panoptic" bbox, category_id, iscrowd, area; for "Captioning" captions. With
    ``extra_metadata`` the picture's name comes last, as column _meta-filename.
    """

    ARGUMENTS = f"dataset_dir, annotation_file, task='Detection', {PICTURES}, extra_metadata=False, decrypt=None"
    _COLUMNS = {'Detection': ['bbox', 'category_id', 'iscrowd'], 'Stuff': ['segmentation', 'iscrowd'],
                'Keypoint': ['keypoints', 'num_keypoints'], 'Panoptic': ['bbox', 'category_id', 'iscrowd', 'area'],
                'Captioning': ['captions']}

    def check(self):
        check_file(self.annotation_file, 'annotation_file')
        _check.kind(self.task, str, 'task')
        if self.task not in self._COLUMNS:
            raise ValueError(f"Invalid task type: {self.task}.")
        self._content = None

    def _annotations(self):
        if self._content is None:
            try:
                with open(self.annotation_file, encoding='utf-8') as file:
                    self._content = json.load(file)
            except ValueError as error:
                raise RuntimeError(f"Invalid annotation file, {self.annotation_file} is no JSON: {error}") from error
        return self._content

    def _need(self, where, name):
        if name not in where:
            raise RuntimeError(f"Invalid annotation, the attribute of '{name}' is missing in {self.annotation_file}")
        return where[name]

    def find(self):
        content = self._annotations()
        names = {image['id']: image['file_name'] for image in self._need(content, 'images')}
        known = {category['id'] for category in content.get('categories', [])}
        things = {}
        for entry in self._need(content, 'annotations'):
            image = self._need(entry, 'image_id')
            if image not in names:
                raise RuntimeError(f"Invalid image id, {image} of {self.annotation_file} has no picture")
            for part in self._need(entry, 'segments_info') if self.task == 'Panoptic' else [entry]:
                if self.task in ('Detection', 'Panoptic') and self._need(part, 'category_id') not in known:
                    raise RuntimeError(f"Invalid category id, {part['category_id']} of {self.annotation_file} is no category")
                things.setdefault(image, []).append(part)
        made = self._COLUMNS[self.task]
        images = [image for image in names if image in things]
        extra = {'_meta-filename': [names[image] for image in images]} if self.extra_metadata else {}
        self.rows(['image', *made, *extra], {'image': [os.path.join(self.dataset_dir, names[image]) for image in images]}, extra,
                  (made, lambda i: getattr(self, '_' + self.task.lower())(things[images[int(i)]])))

    @staticmethod
    def _column(parts, name, kind=np.uint32):
        return np.asarray([[part.get(name, 0)] for part in parts], kind)

    def _detection(self, parts):
        return (np.asarray([self._need(part, 'bbox') for part in parts], np.float32), self._column(parts, 'category_id'),
                self._column(parts, 'iscrowd'))

    def _panoptic(self, parts):
        return (*self._detection(parts), self._column(parts, 'area'))

    def _stuff(self, parts):
        lists = []
        for part in parts:
            segments = self._need(part, 'segmentation')
            lists += segments if isinstance(segments, list) else [segments['counts']]
        table = np.full((len(lists), max(map(len, lists))), -1, np.float32)
        for line, values in zip(table, lists):
            line[:len(values)] = values
        return table, self._column(parts, 'iscrowd')

    def _keypoint(self, parts):
        return np.asarray([self._need(part, 'keypoints') for part in parts], np.float32), self._column(parts, 'num_keypoints')

    def _captioning(self, parts):
        return np.asarray([[self._need(part, 'caption')] for part in parts])

    def get_class_indexing(self):
        if self.task not in ('Detection', 'Panoptic'):
            raise NotImplementedError("Only 'Detection' and 'Panoptic' support get_class_indexing.")
        return {c['name']: [c['id'], c['isthing']] if self.task == 'Panoptic' else [c['id']]
                for c in self._need(self._annotations(), 'categories')}


class WIDERFaceDataset(Table):
    """Faces in crowds: image; except for "test" bbox, blur, expression, illumination, occlusion, pose and invalid (int32), an
    element for each face."""

    ARGUMENTS = f'dataset_dir, usage=None, {PICTURES}'
    USAGE = ['train', 'test', 'valid', 'all']

    def find(self):
        split = os.path.join(self.dataset_dir, 'wider_face_split')
        if self.usage == 'test':
            names = read_lines(os.path.join(split, 'wider_face_test_filelist.txt'), 'WIDERFaceDataset')
            self.rows(['image'], {'image': [os.path.join(self.dataset_dir, 'WIDER_test', 'images', name) for name in names]})
            return
        paths, faces = [], []
        for part in {'train': ['train'], 'valid': ['val'], 'all': ['train', 'val']}[self.usage]:
            lines = iter(read_lines(os.path.join(split, f'wider_face_{part}_bbx_gt.txt'), 'WIDERFaceDataset'))
            for name in lines:
                paths.append(os.path.join(self.dataset_dir, f'WIDER_{part}', 'images', name))
                count = int(next(lines))
                faces.append(np.asarray([[int(word) for word in next(lines).split()] for _ in range(max(1, count))], np.int32))
        names = ['bbox', 'blur', 'expression', 'illumination', 'occlusion', 'pose', 'invalid']
        order = [slice(0, 4), 4, 5, 6, 7, 8, 9]     # as MindSpore names them; the files have invalid before occlusion
        self.rows(['image', *names], {'image': paths},
                  made=(names, lambda i: tuple(np.ascontiguousarray(faces[int(i)][:, part]) for part in order)))
