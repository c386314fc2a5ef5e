# SPDX-License-Identifier: Apache-2.0
"""Tiny data sets in the layouts of the real ones, made the same way every time."""
import json
import os
import struct
import zlib

import numpy as np


def png(seed, height=3, width=4):
    """A small picture as the bytes of a PNG file."""
    pixels = np.random.RandomState(seed).randint(0, 256, (height, width, 3), np.uint8)

    def chunk(name, data):
        return struct.pack('>I', len(data)) + name + data + struct.pack('>I', zlib.crc32(name + data))
    lines = b''.join(b'\0' + line.tobytes() for line in pixels)
    return (b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', struct.pack('>IIBBBBB', width, height, 8, 2, 0, 0, 0)) +
            chunk(b'IDAT', zlib.compress(lines)) + chunk(b'IEND', b''))


def bmp(seed, size):
    """A grey picture as the bytes of a BMP file with a palette."""
    pixels = np.random.RandomState(seed).randint(0, 256, (size, size), np.uint8)
    palette = b''.join(bytes((i, i, i, 0)) for i in range(256))
    head = struct.pack('<2sIHHIIiiHHIIiiII', b'BM', 54 + 1024 + size * size, 0, 0, 54 + 1024, 40, size, size, 1, 8, 0,
                       size * size, 2835, 2835, 256, 0)
    return head + palette + pixels[::-1].tobytes()


def wav(seed, n=40, rate=16000, channels=1):
    """A short sound as the bytes of a WAV file."""
    samples = np.random.RandomState(seed).randint(-3000, 3000, n * channels).astype('<i2').tobytes()
    head = struct.pack('<4sI4s4sIHHIIHH4sI', b'RIFF', 36 + len(samples), b'WAVE', b'fmt ', 16, 1, channels, rate,
                       rate * 2 * channels, 2 * channels, 16, b'data', len(samples))
    return head + samples


class Sparse:
    """What is not zero of a matrix, for mat."""

    def __init__(self, values, logical=False):
        self.values, self.logical = values, logical


def mat_element(kind, data):
    return struct.pack('<II', kind, len(data)) + data + b'\0' * (-len(data) % 8)


def mat_array(name, value):
    """An array of numbers, a struct (a dict), a cell (a list) or a Sparse as an element of a file of MATLAB."""
    def array(flags, shape, content):
        return mat_element(14, mat_element(6, struct.pack('<II', *flags)) + mat_element(5, np.asarray(shape, '<i4').tobytes()) +
                           mat_element(1, name.encode()) + content)
    if isinstance(value, dict):
        names = b''.join(field.encode().ljust(32, b'\0') for field in value)
        return array((2, 0), (1, 1), struct.pack('<HHI', 5, 4, 32) + mat_element(1, names) + b''.join(mat_array('', x) for x in value.values()))
    if isinstance(value, list):
        return array((1, 0), (len(value), 1), b''.join(mat_array('', x) for x in value))
    if isinstance(value, Sparse):
        columns, rows = np.nonzero(value.values.T)
        starts = np.searchsorted(columns, np.arange(value.values.shape[1] + 1))
        numbers = value.values.T[columns, rows]
        kind, numbers = (2, numbers.astype(np.uint8)) if value.logical else (9, numbers.astype('<f8'))
        return array((5 | 0x200 * value.logical, len(rows)), value.values.shape,
                     mat_element(5, rows.astype('<i4').tobytes()) + mat_element(5, starts.astype('<i4').tobytes()) +
                     mat_element(kind, numbers.tobytes()))
    kind, number = {'uint8': (9, 2), 'float64': (6, 9), 'uint16': (11, 4), 'int32': (12, 5)}[value.dtype.name]
    return array((kind, 0), value.shape, mat_element(number, value.tobytes(order='F')))


def mat(**variables):
    """A file of MATLAB, its first variable compressed."""
    whole = b'MATLAB 5.0 MAT-file'.ljust(124) + struct.pack('<HH', 0x0100, 0x4d49)
    for i, (name, value) in enumerate(variables.items()):
        packed = zlib.compress(mat_array(name, value))
        whole += struct.pack('<II', 15, len(packed)) + packed if i == 0 else mat_array(name, value)
    return whole


def idx(values, length=None):
    """An array of uint8 or int32 as an IDX file; its head may tell of more rows."""
    values = values.astype(values.dtype.newbyteorder('>'))
    return struct.pack('>HBB', 0, {'uint8': 8, 'int32': 12}[values.dtype.name], values.ndim) + struct.pack(f'>{values.ndim}I', length or len(values), *values.shape[1:]) + values.tobytes()


class Maker:
    """Writes files below a folder."""

    def __init__(self, root):
        self._root, self._n = root, 0

    def put(self, path, content, size=None):
        """A file of bytes or text; with zeros up to a size."""
        path = os.path.join(self._root, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'wb') as file:
            file.write(content if isinstance(content, bytes) else content.encode('utf-8'))
            file.truncate(size)

    def pictures(self, *paths):
        """A picture of its own at each path."""
        for path in paths:
            self._n += 1
            self.put(path, png(self._n))

    def sounds(self, *paths, rate=16000):
        """A sound of its own at each path."""
        for path in paths:
            self._n += 1
            self.put(path, wav(self._n, rate=rate))


def make_vision(m):
    m.pictures(*(f'caltech101/101_ObjectCategories/{c}/image_{i:04d}.jpg' for c in ('ant', 'Faces', 'beaver') for i in (1, 2)))
    m.pictures(*(f'caltech256/{c}/{c[:3]}_{i:04d}.jpg' for c in ('001.ak47', '002.flag', '257.clutter') for i in (1, 2)))
    m.pictures(*(f'celeba/{i:06d}.jpg' for i in range(1, 5)))
    attributes = [' '.join(['1' if (i * k) % 3 else '-1' for k in range(40)]) for i in range(1, 5)]
    m.put('celeba/list_attr_celeba.txt', '4\n' + ' '.join(f'a{k}' for k in range(40)) + ' \n' +
          ''.join(f'{i + 1:06d}.jpg {line}\n' for i, line in enumerate(attributes)))
    m.put('celeba/list_eval_partition.txt', '000001.jpg 0\n000002.jpg 1\n000003.jpg 2\n000004.jpg 0\n')
    for usage, cities in (('train', ('aachen', 'bochum')), ('val', ('ulm',)), ('test', ('bonn',))):
        for city in cities:
            for i in (0, 1):
                name = f'{city}_00000{i}_000019'
                m.pictures(f'cityscapes/leftImg8bit/{usage}/{city}/{name}_leftImg8bit.png',
                           *(f'cityscapes/gtFine/{usage}/{city}/{name}_gtFine_{k}.png' for k in ('color', 'instanceIds', 'labelIds')))
                m.put(f'cityscapes/gtFine/{usage}/{city}/{name}_gtFine_polygons.json',
                      json.dumps({'imgHeight': 3, 'imgWidth': 4, 'objects': [{'label': 'road', 'polygon': [[0, i], [2, 1]]}]}))
    for usage in ('train', 'valid'):
        for i in ('0001', '0002'):
            base = f'div2k/DIV2K_{usage}_'
            m.pictures(f'{base}HR/{i}.png', f'{base}LR_bicubic/X2/{i}x2.png', f'{base}LR_unknown/X3/{i}x3.png',
                       f'{base}LR_mild/{i}x4m.png', f'{base}LR_x8/{i}x8.png', f'{base}LR_wild/{i}x4w.png',
                       f'{base}LR_difficult/{i}x4d.png')
    m.pictures('flickr/images/b.jpg', 'flickr/images/a.jpg')
    m.put('flickr/tokens.txt', ''.join(f'{n}.jpg#{k}\tpicture {n} says {k} .\n' for n in 'ba' for k in range(5)))
    m.pictures(*(f'food101/images/{c}/{i}.jpg' for c in ('pie', 'soup') for i in (10, 11)))
    m.put('food101/meta/train.txt', 'pie/10\nsoup/11\n')
    m.put('food101/meta/test.txt', 'soup/10\npie/11\n')
    for part in ('training', 'testing'):
        m.pictures(*(f'kitti/data_object_image_2/{part}/image_2/00000{i}.png' for i in (0, 1)))
    m.put('kitti/data_object_label_2/training/label_2/000000.txt',
          'Car 0.00 0 -1.58 587.01 173.33 614.12 200.12 1.65 1.67 3.64 -0.65 1.71 46.70 -1.59\n'
          'Cyclist 0.50 1 -2.46 665.45 160.00 717.93 217.99 1.72 0.47 1.65 2.45 1.35 22.10 -2.35\n')
    m.put('kitti/data_object_label_2/training/label_2/000001.txt',
          'DontCare -1 -1 -10 1.50 2.25 3.125 4.00 -1 -1 -1 -1000 -1000 -1000 -10\n')
    people = {'Ann_Lee': 2, 'Bo_Kim': 1, 'Cy_Ray': 3}
    for folder in ('lfw', 'lfw_funneled', 'lfw-deepfunneled'):
        m.pictures(*(f'lfw/{folder}/{name}/{name}_{i:04d}.jpg' for name, n in people.items() for i in range(1, n + 1)))
    m.put('lfw/lfw-names.txt', ''.join(f'{name}\t{n}\n' for name, n in people.items()))
    m.put('lfw/peopleDevTrain.txt', '2\nAnn_Lee\t2\nCy_Ray\t3\n')
    m.put('lfw/peopleDevTest.txt', '1\nBo_Kim\t1\n')
    m.put('lfw/people.txt', '2\n1\nAnn_Lee\t2\n2\nBo_Kim\t1\nCy_Ray\t3\n')
    m.put('lfw/pairsDevTrain.txt', '1\nAnn_Lee\t1\t2\nAnn_Lee\t2\tBo_Kim\t1\n')
    m.put('lfw/pairsDevTest.txt', '1\nCy_Ray\t1\t3\nCy_Ray\t2\tBo_Kim\t1\n')
    m.put('lfw/pairs.txt', '1\t1\nCy_Ray\t1\t2\nAnn_Lee\t1\tBo_Kim\t1\n')
    m.pictures(*(f'lsun/{c}/{i}.jpg' for c in ('bedroom_train', 'bedroom_val', 'classroom_train', 'classroom_val', 'test')
                 for i in ('1_1', '1_2')))
    m.pictures(*(f'omniglot/{part}/{a}/{c}/0{i}.png' for part in ('images_background', 'images_evaluation')
                 for a in ('Greek', 'Latin') for c in ('character01', 'character02') for i in (1, 2)))
    m.put('phototour/liberty/patches0000.bmp', bmp(1, 1024))
    m.put('phototour/liberty/patches0001.bmp', bmp(2, 1024))
    m.put('phototour/liberty/info.txt', ''.join(f'{i // 2} 0\n' for i in range(300)))
    m.put('phototour/liberty/m50_100000_100000_0.txt', '0 0 0 1 0 0 0\n2 1 0 7 3 0 0\n270 135 0 271 135 0 0\n')
    m.put('places365/categories_places365.txt', '/a/abbey 0\n/b/bar 1\n')
    for kind in ('standard', 'challenge'):
        m.put(f'places365/places365_train_{kind}.txt', '/a/abbey/1.jpg 0\n/b/bar/2.jpg 1\n')
        for size in ('256', 'large'):
            m.pictures(f'places365/data_{size}_{kind}/a/abbey/1.jpg', f'places365/data_{size}_{kind}/b/bar/2.jpg')
    m.put('places365/places365_val.txt', 'v1.jpg 1\nv2.jpg 0\n')
    m.pictures(*(f'places365/val_{size}/v{i}.jpg' for size in ('256', 'large') for i in (1, 2)))
    m.pictures(*(f'sst2pictures/{part}/{c}/{i}.png' for part in ('train', 'test', 'valid') for c in ('negative', 'positive')
                 for i in (0, 1)))
    m.pictures('sbu/sbu_images/m_3326_a.jpg', 'sbu/sbu_images/m_2522_b.jpg')
    m.put('sbu/SBU_captioned_photo_dataset_urls.txt', 'http://static.flickr.com/3326/a.jpg\nhttp://static.flickr.com/1/none.jpg\n'
          'http://static.flickr.com/2522/b.jpg\n')
    m.put('sbu/SBU_captioned_photo_dataset_captions.txt', 'one thing\nanother\na third one \n')
    draws = np.random.RandomState(5)
    rows = [np.concatenate([draws.randint(0, 2, 256), np.eye(10, dtype=int)[k]]) for k in (3, 0, 9)]
    m.put('semeion/semeion.data', ''.join(' '.join([f'{v:.4f}' for v in row[:256]] + [str(v) for v in row[256:]]) + ' \n' for row in rows))
    for part, n in (('train', 2), ('test', 1), ('unlabeled', 2)):
        m.put(f'stl10/{part}_X.bin', draws.randint(0, 256, n * 27648, dtype=np.uint8).tobytes())
        if part != 'unlabeled':
            m.put(f'stl10/{part}_y.bin', bytes([3, 10][:n]))
    m.put('stl10/class_names.txt', 'a\nb\n')
    m.put('sun397/ClassName.txt', '/a/abbey\n/b/balcony/exterior\n')
    m.pictures('sun397/a/abbey/sun_a.jpg', 'sun397/a/abbey/sun_b.jpg', 'sun397/b/balcony/exterior/sun_c.jpg')
    for name, n in (('usps', 3), ('usps.t', 2)):
        m.put(f'usps/{name}', ''.join(f'{k % 10 + 1} ' + ' '.join(f'{i + 1}:{v:.4f}' for i, v in enumerate(draws.rand(256) * 2 - 1)) + ' \n'
                                      for k in range(n)))
    m.pictures('manifest/1.JPEG', 'manifest/2.JPEG', 'manifest/3.JPEG')
    lines = [('1', 'train', ['dog']), ('2', 'train', ['cat', 'dog']), ('3', 'eval', ['cat'])]
    root = m._root
    m.put('manifest/list.manifest', ''.join(json.dumps({'source': f'{root}/manifest/{n}.JPEG', 'usage': u,
                                                        'annotation': [{'name': c} for c in names]}) + '\n' for n, u, names in lines))
    for usage, part in (('train', 'train'), ('val', 'val'), ('test', 'test')):
        m.pictures(*(f'wider/WIDER_{part}/images/0--Parade/{usage}{i}.jpg' for i in (1, 2)))
    face = '78 221 7 8 2 0 1 0 2 1'
    m.put('wider/wider_face_split/wider_face_train_bbx_gt.txt',
          f'0--Parade/train1.jpg\n1\n{face} \n0--Parade/train2.jpg\n2\n{face} \n1 2 3 4 0 1 0 1 0 1 \n')
    m.put('wider/wider_face_split/wider_face_val_bbx_gt.txt', f'0--Parade/val1.jpg\n1\n{face} \n0--Parade/val2.jpg\n0\n0 0 0 0 0 0 0 0 0 0 \n')
    m.put('wider/wider_face_split/wider_face_test_filelist.txt', '0--Parade/test1.jpg\n0--Parade/test2.jpg\n')
    make_voc(m)
    make_coco(m)


def make_voc(m):
    def thing(name, box, difficult, truncated):
        sides = ''.join(f'<{k}>{v}</{k}>' for k, v in zip(('xmin', 'ymin', 'xmax', 'ymax'), box))
        return (f'<object><name>{name}</name><pose>x</pose><truncated>{truncated}</truncated><difficult>{difficult}</difficult>'
                f'<bndbox>{sides}</bndbox></object>')
    for i, things in enumerate([[thing('dog', (1, 1, 3, 2), 0, 1)], [thing('cat', (1, 2, 4, 3), 1, 0), thing('dog', (2, 1, 3, 3), 0, 0)],
                                [thing('car', (1, 1, 2, 2), 0, 0)]]):
        name = f'2007_00000{i}'
        m.pictures(f'voc/JPEGImages/{name}.jpg', f'voc/SegmentationClass/{name}.png')
        m.put(f'voc/Annotations/{name}.xml', f"<annotation><filename>{name}.jpg</filename>{''.join(things)}</annotation>")
    for folder in ('Main', 'Segmentation'):
        m.put(f'voc/ImageSets/{folder}/train.txt', '2007_000000\n2007_000001\n')
        m.put(f'voc/ImageSets/{folder}/val.txt', '2007_000002\n')


def make_coco(m):
    m.pictures(*(f'coco/train/{i:012d}.jpg' for i in (1, 2, 3)))
    images = [{'id': i, 'file_name': f'{i:012d}.jpg', 'height': 3, 'width': 4} for i in (1, 2, 3)]
    categories = [{'id': 1, 'name': 'person', 'supercategory': 'x', 'isthing': 1}, {'id': 7, 'name': 'sky', 'supercategory': 'y',
                                                                                    'isthing': 0}]
    boxes = [{'id': 10, 'image_id': 2, 'category_id': 7, 'bbox': [1.5, 2, 3, 4.25], 'iscrowd': 0, 'area': 4,
              'segmentation': [[1.5, 2.5, 3, 4], [5, 6]], 'keypoints': [1, 2, 1] * 17, 'num_keypoints': 17},
             {'id': 11, 'image_id': 2, 'category_id': 1, 'bbox': [0, 0, 1, 1], 'iscrowd': 1, 'area': 2,
              'segmentation': {'counts': [3, 1, 2], 'size': [3, 4]}, 'keypoints': [0, 0, 0] * 17, 'num_keypoints': 0},
             {'id': 12, 'image_id': 1, 'category_id': 1, 'bbox': [2, 2, 1, 1], 'iscrowd': 0, 'area': 1,
              'segmentation': [[7, 8]], 'keypoints': [3, 4, 2] * 17, 'num_keypoints': 9}]
    m.put('coco/boxes.json', json.dumps({'images': images, 'annotations': boxes, 'categories': categories}))
    panoptic = [{'image_id': 1, 'file_name': '000000000001.jpg', 'segments_info': [
        {'id': 5, 'category_id': 1, 'bbox': [1, 1, 2, 2], 'iscrowd': 0, 'area': 3}, {'id': 6, 'category_id': 7, 'bbox': [0, 0, 4, 3],
                                                                                   'iscrowd': 1, 'area': 9}]}]
    m.put('coco/panoptic.json', json.dumps({'images': images, 'annotations': panoptic, 'categories': categories}))
    captions = [{'id': 1, 'image_id': 3, 'caption': 'A sky .'}, {'id': 2, 'image_id': 3, 'caption': 'The sky, again.'},
                {'id': 3, 'image_id': 1, 'caption': 'A man'}]
    m.put('coco/captions.json', json.dumps({'images': images, 'annotations': captions}))


def make_text(m):
    for name, fields in (('agnews', 3), ('amazon', 3), ('dbpedia', 3), ('sogou', 3), ('yahoo', 4), ('yelp', 2)):
        for usage in ('train', 'test'):
            m.put(f'{name}/{usage}.csv', ''.join(','.join(f'"{k + 1}"' if i == 0 else f'"{usage} {k}, field {i} with ""quotes"""'
                                                          for i in range(fields)) + '\n' for k in range(3)))
    for usage in ('train', 'test', 'valid'):
        m.put(f'wikitext/wiki.{usage}.tokens', f' \n = Title {usage} = \n \n Some words of {usage} . \n')
        m.put(f'ptb/ptb.{usage}.txt', f' no it was {usage} n\n a second <unk> line\n')
    m.put('enwik9/enwik9', '<mediawiki>\n\n  <page> ä\nlast')
    for usage in ('train', 'test'):
        m.put(f'conll/{usage}.txt', f'Confidence NN B-NP\nin IN B-PP\n{usage} DT B-NP\n\nChancellor NNP O\n\n')
        for kind, texts in (('pos', ('Good film.', 'Très bon')), ('neg', ('Bad.', 'Worse <br /> still'))):
            for i, text in enumerate(texts):
                m.put(f'imdb/{usage}/{kind}/{i}_{7 + i}.txt', f'{usage} {text}')
    for usage in ('train', 'test', 'dev'):
        m.put(f'udpos/en-ud-tag.v2.{usage}.txt', f'From\tADP\tIN\nthe\tDET\tDT\n{usage}\tPROPN\tNNP\n\nAP\tPROPN\tNNP\n\n')
    for folder, name in (('training', 'train'), ('validation', 'val'), ('mmt16_task1_test', 'test')):
        for language in ('en', 'de'):
            m.put(f'multi30k/{folder}/{name}.{language}', f'{name} one {language}.\n{name} two {language}.\n')
    make_iwslt(m)
    for usage in ('train', 'dev'):
        questions = [{'question': f'What {usage}?', 'id': '1', 'answers': [{'text': 'a thing', 'answer_start': 5}]},
                     {'question': 'Who?', 'id': '2', 'answers': [{'text': 'X', 'answer_start': 1}, {'text': 'Y', 'answer_start': 12}]}]
        m.put(f'squad1/{usage}-v1.1.json', json.dumps({'version': '1.1', 'data': [{'title': 't', 'paragraphs': [
            {'context': f'This {usage} is', 'qas': questions}]}]}))
        questions = questions + [{'question': 'Never?', 'id': '3', 'is_impossible': True, 'answers': []}]
        m.put(f'squad2/{usage}-v2.0.json', json.dumps({'version': 'v2.0', 'data': [{'title': 't', 'paragraphs': [
            {'context': f'That {usage} is', 'qas': questions}]}]}))
    for usage in ('train', 'dev'):
        m.put(f'sst2/{usage}.tsv', f'sentence\tlabel\nhide new {usage} \t0\ncontains no wit\t1\n')
    m.put('sst2/test.tsv', 'index\tsentence\n0\tuneasy mishmash .\n1\tthis film\n')
    make_clue(m)
    m.put('csv/a.csv', 'a,b,c\n1,2.5,x\n3,4,"y, z"\n')
    m.put('csv/b.csv', '5,6.25,"q""r"\n7,8,\n')
    m.put('csv/texts.csv', 'a,b\n1,\n,y\n')
    m.put('csv/empty.csv', 'a,b\n1,x\n,y\n')
    m.put('lines/a.txt', 'one\n\n  two  \nüml\r\nlast')
    m.put('lines/b.txt', 'b1\nb2\n')


def make_iwslt(m):
    for language in ('de', 'en'):
        head = '<url>http://x</url>\n<keywords>k</keywords>\n<title>T</title>\n'
        train = head + f' First {language} line. \nSecond {language}.\n</doc>\n'
        xml = ('<?xml version="1.0" encoding="UTF-8"?>\n<mteval>\n<srcset setid="x" srclang="de">\n<doc docid="1" genre="l">\n'
               f'<title>T</title>\n<seg id="1"> Hello {language} </seg>\n<seg id="2">Bye {language}</seg>\n</doc>\n</srcset>\n</mteval>\n')
        m.put(f'iwslt2016/texts/de/en/de-en/train.tags.de-en.{language}', train)
        m.put(f'iwslt2016/texts/de/en/de-en/IWSLT16.TED.tst2013.de-en.{language}.xml', xml)
        m.put(f'iwslt2016/texts/de/en/de-en/IWSLT16.TED.tst2014.de-en.{language}.xml', xml.replace('Hello', 'Hi'))
        place = 'iwslt2017/texts/DeEnItNlRo/DeEnItNlRo/DeEnItNlRo-DeEnItNlRo'
        m.put(f'{place}/train.tags.de-en.{language}', train)
        m.put(f'{place}/IWSLT17.TED.dev2010.de-en.{language}.xml', xml)
        m.put(f'{place}/IWSLT17.TED.tst2010.de-en.{language}.xml', xml.replace('Hello', 'Hi'))


def make_clue(m):
    rows = {'afqmc': {'sentence1': '蚂蚁借呗', 'sentence2': '等额还款', 'label': '0'},
            'tnews': {'label': '102', 'label_desc': 'news', 'sentence': '江疏影', 'keywords': '江,疏'},
            'iflytek': {'label': '110', 'label_des': '社区', 'sentence': '朴实'},
            'cmnli': {'sentence1': '从概念', 'sentence2': '产品', 'label': 'neutral'},
            'wsc': {'target': {'span2_index': 37, 'span1_index': 5, 'span1_text': '床', 'span2_text': '它'}, 'idx': 261,
                    'label': 'false', 'text': '这时候'},
            'csl': {'id': 1, 'abst': '为解决', 'keyword': ['水声', '检测'], 'label': '0'}}
    for name, row in rows.items():
        second = dict(row)
        m.put(f'clue/{name}/train.json', json.dumps(row, ensure_ascii=False) + '\n' + json.dumps(second, ensure_ascii=False) + '\n')
        test = {'id': 5, **{k: v for k, v in row.items() if not k.startswith('label')}}
        m.put(f'clue/{name}/test.json', json.dumps(test, ensure_ascii=False) + '\n')


def make_audio(m):
    m.sounds(*(f'arctic/cmu_us_aew_arctic/wav/arctic_a000{i}.wav' for i in (1, 2)))
    m.put('arctic/cmu_us_aew_arctic/etc/txt.done.data', '( arctic_a0001 "Author of the danger trail, etc." )\n( arctic_a0002 "Not at this." )\n')
    m.sounds(*(f'gtzan/{g}/{g}.0000{i}.wav' for g in ('blues', 'disco') for i in (0, 1)), rate=22050)
    for part in ('dev-clean', 'train-clean-100'):
        base = f'libritts/{part}/116/288045/116_288045'
        m.sounds(f'{base}_000003_000000.wav', f'{base}_000003_000001.wav', rate=24000)
        m.put(f'{base}.trans.tsv', '116_288045_000003_000000\tPART THREE\tPart three\n116_288045_000003_000001\tX y\tx Y\n')
    m.sounds('ljspeech/wavs/LJ001-0001.wav', 'ljspeech/wavs/LJ001-0002.wav')
    m.put('ljspeech/metadata.csv', 'LJ001-0001|Printing, in 1455|Printing, in fourteen\nLJ001-0002|in being|in being\n')
    m.sounds('speech/cat/b433eff_nohash_0.wav', 'speech/cat/5a33edf_nohash_1.wav', 'speech/dog/b433w2w_nohash_0.wav',
             'speech/four/aa_nohash_3.wav')
    m.put('speech/testing_list.txt', 'cat/5a33edf_nohash_1.wav\n')
    m.put('speech/validation_list.txt', 'four/aa_nohash_3.wav\n')
    m.sounds('yesno/0_0_1_0_1_1_1_1.wav', 'yesno/1_0_1_0_1_1_0_1.wav')
    head = ('NIST_1A\n   1024\nchannel_count -i 1\nsample_count -i 1600\nsample_rate -i 16000\nsample_n_bytes -i 2\nsample_byte_format -s2 01\n'
            'sample_coding -s3 pcm\nend_head\n').ljust(1024)
    for folder, talk in (('release1/train', 'Al_2009'), ('release1/test', 'Bo_2010'), ('release1/dev', 'Cy_2011'), ('release3/data', 'Di_2012')):
        samples = np.random.RandomState(len(talk)).randint(-9000, 9000, 1600).astype('<i2').tobytes()
        m.put(f'tedlium/{folder}/sph/{talk}.sph', head.encode('ascii') + samples)
        m.put(f'tedlium/{folder}/stm/{talk}.stm', f'{talk} 1 {talk} 0.01 0.05 <o,f0,male> hello you\n{talk} 1 {talk} 0.05 0.09 <NA> bye\n')


def make_numbers(m):
    """Pictures in arrays: IDX and MATLAB files; and folders of classes."""
    draw = np.random.RandomState(4)
    for kind in ('mnist', 'fashion', 'kmnist'):
        for part, n in (('train', 3), ('t10k', 2)):
            m.put(f'{kind}/{part}-images-idx3-ubyte', idx(draw.randint(0, 256, (n, 28, 28)).astype(np.uint8)))
            m.put(f'{kind}/{part}-labels-idx1-ubyte', idx(draw.randint(0, 10, n).astype(np.uint8)))
    for part, n in (('train', 3), ('test', 2)):
        m.put(f'emnist/emnist-letters-{part}-images-idx3-ubyte', idx(draw.randint(0, 256, (n, 28, 28)).astype(np.uint8)))
        m.put(f'emnist/emnist-letters-{part}-labels-idx1-ubyte', idx(draw.randint(1, 27, n).astype(np.uint8)))
    for part, n in (('train', 3), ('test', 2), ('extra', 2)):
        m.put(f'svhn/{part}_32x32.mat', mat(X=draw.randint(0, 256, (32, 32, 3, n)).astype(np.uint8),
                                            y=draw.randint(1, 11, (n, 1)).astype(np.uint8)))
    m.pictures(*(f'flowers/jpg/image_{i:05}.jpg' for i in range(1, 6)), *(f'flowers/segmim/segmim_{i:05}.jpg' for i in range(1, 6)))
    m.put('flowers/imagelabels.mat', mat(labels=np.asarray([[77, 3, 102, 1, 5]], np.uint8)))
    m.put('flowers/setid.mat', mat(trnid=np.asarray([[3, 1]], np.uint16), valid=np.asarray([[2]], np.uint16),
                                   tstid=np.asarray([[5, 4]], np.uint16)))
    m.pictures('folders/dog/b.png', 'folders/dog/a.jpg', 'folders/cat/c.jpeg', 'folders/cat/sub/d.png')
    m.put('folders/cat/notes.txt', 'no picture')


def make_boundaries(m):
    draw = np.random.RandomState(8)
    names = ['2008_000002', '2008_000003', '2008_000007']
    for i, name in enumerate(names):
        m.pictures(f'boundaries/img/{name}.jpg')
        edges = [Sparse((draw.rand(3, 4) > 0.7) * 1.0, logical=i == 1) for _ in range(20)]
        m.put(f'boundaries/cls/{name}.mat', mat(GTcls={'Boundaries': edges, 'Segmentation': draw.randint(0, 21, (3, 4)).astype(np.uint8),
                                                       'CategoriesPresent': np.asarray([[3], [7]], np.uint8)}))
    m.put('boundaries/train.txt', f'{names[0]}\n{names[1]}\n')
    m.put('boundaries/val.txt', f'{names[2]}\n')
    m.put('boundaries/train_noval.txt', f'{names[1]}\n')


def make_large(m):
    """Files that MindSpore takes in their full sizes alone: a few rows with numbers, and zeros (of which a disk holds nothing)."""
    draw = np.random.RandomState(9)
    for name, n, whole in (('qmnist-train', 3, 3), ('qmnist-test', 10003, 60000), ('xnist', 2, 2)):
        m.put(f'qmnist/{name}-images-idx3-ubyte', idx(draw.randint(0, 256, (n, 28, 28)).astype(np.uint8), whole), 16 + whole * 784)
        m.put(f'qmnist/{name}-labels-idx2-int', idx(draw.randint(0, 10, (n, 8)).astype(np.int32), whole), 12 + whole * 32)
    for name, n, width, whole in (('cifar10/data_batch_1', 2, 3073, 10000), ('cifar10/data_batch_2', 1, 3073, 10000),
                                  ('cifar10/test_batch', 2, 3073, 10000), ('cifar100/train', 3, 3074, 50000), ('cifar100/test', 2, 3074, 10000)):
        m.put(f'{name}.bin', draw.randint(0, 10, (n, width)).astype(np.uint8).tobytes(), whole * width)


def make(root):
    """Everything."""
    maker = Maker(root)
    make_vision(maker)
    make_text(maker)
    make_audio(maker)
    make_numbers(maker)
    make_boundaries(maker)
    make_large(maker)
