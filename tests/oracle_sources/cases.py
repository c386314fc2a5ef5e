# SPDX-License-Identifier: Apache-2.0
"""Sources to compare: name, class and arguments ({root}: the folder of the data sets), and what a library makes of them."""
import hashlib

import numpy as np

CASES = [line.split(' ', 2) for line in '''
mnist MnistDataset '{root}/mnist'
mnist_test MnistDataset '{root}/mnist', 'test'
fashion FashionMnistDataset '{root}/fashion', 'train'
kmnist KMnistDataset '{root}/kmnist', 'all'
emnist EMnistDataset '{root}/emnist', 'letters', 'train'
emnist_all EMnistDataset '{root}/emnist', 'letters'
emnist_test EMnistDataset '{root}/emnist', 'letters', 'test'
qmnist QMnistDataset '{root}/qmnist', 'train'
qmnist_all_eight QMnistDataset '{root}/qmnist', 'train', False
qmnist_nist QMnistDataset '{root}/qmnist', 'nist', compat=True
qmnist_50k QMnistDataset '{root}/qmnist', 'test50k', False, num_samples=4
qmnist_10k QMnistDataset '{root}/qmnist', 'test10k', num_samples=2
qmnist_all QMnistDataset '{root}/qmnist', num_samples=5
qmnist_test QMnistDataset '{root}/qmnist', 'test', num_shards=10000, shard_id=1
cifar10 Cifar10Dataset '{root}/cifar10', num_shards=10000, shard_id=1
cifar10_train Cifar10Dataset '{root}/cifar10', 'train', num_samples=3
cifar10_test Cifar10Dataset '{root}/cifar10', 'test', num_samples=2
cifar100 Cifar100Dataset '{root}/cifar100', 'all', num_shards=10000, shard_id=0
cifar100_train Cifar100Dataset '{root}/cifar100', 'train', num_samples=4
cifar100_test Cifar100Dataset '{root}/cifar100', 'test', num_samples=3
svhn SVHNDataset '{root}/svhn', 'train'
svhn_all SVHNDataset '{root}/svhn'
flowers Flowers102Dataset '{root}/flowers'
flowers_train Flowers102Dataset '{root}/flowers', 'Classification', 'train', decode=True
flowers_segments Flowers102Dataset '{root}/flowers', 'Segmentation', 'test'
folders ImageFolderDataset '{root}/folders'
folders_decoded ImageFolderDataset '{root}/folders', decode=True, extensions=['.png']
folders_indexed ImageFolderDataset '{root}/folders', class_indexing={'dog': 7, 'cat': 2}
caltech101 Caltech101Dataset '{root}/caltech101'
caltech256 Caltech256Dataset '{root}/caltech256'
caltech256_decoded Caltech256Dataset '{root}/caltech256', decode=True
celeba CelebADataset '{root}/celeba'
celeba_train CelebADataset '{root}/celeba', usage='train', decode=True
celeba_endings CelebADataset '{root}/celeba', extensions=['.jpg']
cityscapes CityscapesDataset '{root}/cityscapes'
cityscapes_all CityscapesDataset '{root}/cityscapes', usage='all', task='semantic', decode=True
cityscapes_polygon CityscapesDataset '{root}/cityscapes', usage='val', task='polygon'
div2k DIV2KDataset '{root}/div2k'
div2k_unknown DIV2KDataset '{root}/div2k', 'all', 'unknown', 3
div2k_mild DIV2KDataset '{root}/div2k', 'valid', 'mild', 4, decode=True
div2k_difficult DIV2KDataset '{root}/div2k', 'valid', 'difficult', 4
div2k_wild DIV2KDataset '{root}/div2k', 'valid', 'wild', 4
div2k_8 DIV2KDataset '{root}/div2k', 'valid', 'bicubic', 8
flickr FlickrDataset '{root}/flickr/images', '{root}/flickr/tokens.txt'
food101 Food101Dataset '{root}/food101'
food101_test Food101Dataset '{root}/food101', 'test', decode=True
kitti KITTIDataset '{root}/kitti'
kitti_test KITTIDataset '{root}/kitti', 'test', decode=True
lfw LFWDataset '{root}/lfw'
lfw_train LFWDataset '{root}/lfw', 'people', 'train', 'original'
lfw_10fold LFWDataset '{root}/lfw', 'people', '10fold'
lfw_pairs LFWDataset '{root}/lfw', 'pairs', 'test', 'deepfunneled'
lfw_pairs_all LFWDataset '{root}/lfw', 'pairs', decode=True
lfw_pairs_10fold LFWDataset '{root}/lfw', 'pairs', '10fold'
lsun LSUNDataset '{root}/lsun'
lsun_train LSUNDataset '{root}/lsun', 'train'
lsun_valid LSUNDataset '{root}/lsun', 'valid', ['classroom']
lsun_two LSUNDataset '{root}/lsun', 'train', ['classroom', 'bedroom']
lsun_test LSUNDataset '{root}/lsun', 'test'
manifest ManifestDataset '{root}/manifest/list.manifest'
manifest_eval ManifestDataset '{root}/manifest/list.manifest', 'eval', decode=True
manifest_indexed ManifestDataset '{root}/manifest/list.manifest', class_indexing={'dog': 11}
omniglot OmniglotDataset '{root}/omniglot'
omniglot_evaluation OmniglotDataset '{root}/omniglot', False
phototour PhotoTourDataset '{root}/phototour', 'liberty', num_samples=3
phototour_test PhotoTourDataset '{root}/phototour', 'liberty', 'test'
places365 Places365Dataset '{root}/places365'
places365_challenge Places365Dataset '{root}/places365', 'train-challenge', False
places365_val Places365Dataset '{root}/places365', 'val', decode=True
sst2pictures RenderedSST2Dataset '{root}/sst2pictures'
sst2pictures_val RenderedSST2Dataset '{root}/sst2pictures', 'val'
boundaries SBDataset '{root}/boundaries'
boundaries_decoded SBDataset '{root}/boundaries', 'Segmentation', 'val', decode=True
boundaries_segments SBDataset '{root}/boundaries', task='Segmentation', usage='train_noval'
boundaries_train SBDataset '{root}/boundaries', usage='train', num_samples=1
sbu SBUDataset '{root}/sbu'
semeion SemeionDataset '{root}/semeion'
stl10 STL10Dataset '{root}/stl10'
stl10_train STL10Dataset '{root}/stl10', 'train'
stl10_both STL10Dataset '{root}/stl10', 'train+unlabeled'
sun397 SUN397Dataset '{root}/sun397'
usps USPSDataset '{root}/usps'
usps_test USPSDataset '{root}/usps', 'test'
voc VOCDataset '{root}/voc'
voc_val VOCDataset '{root}/voc', 'Segmentation', 'val', decode=True
voc_boxes VOCDataset '{root}/voc', 'Detection'
voc_indexed VOCDataset '{root}/voc', 'Detection', 'train', {'cat': 5}
coco CocoDataset '{root}/coco/train', '{root}/coco/boxes.json'
coco_stuff CocoDataset '{root}/coco/train', '{root}/coco/boxes.json', 'Stuff'
coco_keypoint CocoDataset '{root}/coco/train', '{root}/coco/boxes.json', 'Keypoint'
coco_panoptic CocoDataset '{root}/coco/train', '{root}/coco/panoptic.json', 'Panoptic', decode=True
coco_captions CocoDataset '{root}/coco/train', '{root}/coco/captions.json', 'Captioning'
wider WIDERFaceDataset '{root}/wider'
wider_valid WIDERFaceDataset '{root}/wider', 'valid', decode=True
agnews AGNewsDataset '{root}/agnews'
agnews_test AGNewsDataset '{root}/agnews', 'test'
amazon AmazonReviewDataset '{root}/amazon'
dbpedia DBpediaDataset '{root}/dbpedia'
sogou SogouNewsDataset '{root}/sogou', 'train'
yahoo YahooAnswersDataset '{root}/yahoo', 'test'
yelp YelpReviewDataset '{root}/yelp', 'test'
wikitext WikiTextDataset '{root}/wikitext', 'train'
wikitext_all WikiTextDataset '{root}/wikitext'
ptb PennTreebankDataset '{root}/ptb', 'valid'
enwik9 EnWik9Dataset '{root}/enwik9'
conll CoNLL2000Dataset '{root}/conll'
conll_test CoNLL2000Dataset '{root}/conll', 'test'
imdb IMDBDataset '{root}/imdb'
imdb_test IMDBDataset '{root}/imdb', 'test'
udpos UDPOSDataset '{root}/udpos', 'train'
udpos_valid UDPOSDataset '{root}/udpos', 'valid'
multi30k Multi30kDataset '{root}/multi30k', 'train'
multi30k_reverse Multi30kDataset '{root}/multi30k', 'valid', ['de', 'en']
multi30k_test Multi30kDataset '{root}/multi30k', 'test'
iwslt2016 IWSLT2016Dataset '{root}/iwslt2016', 'train'
iwslt2016_valid IWSLT2016Dataset '{root}/iwslt2016', 'valid'
iwslt2016_test IWSLT2016Dataset '{root}/iwslt2016', 'test'
iwslt2017 IWSLT2017Dataset '{root}/iwslt2017', 'train'
iwslt2017_valid IWSLT2017Dataset '{root}/iwslt2017', 'valid', ('de', 'en')
iwslt2017_test IWSLT2017Dataset '{root}/iwslt2017', 'test'
squad1 SQuADDataset '{root}/squad1'
squad2 SQuADDataset '{root}/squad2', 'dev'
sst2 SST2Dataset '{root}/sst2'
sst2_test SST2Dataset '{root}/sst2', 'test'
sst2_dev SST2Dataset '{root}/sst2', 'dev'
clue_afqmc CLUEDataset '{root}/clue/afqmc/train.json'
clue_tnews CLUEDataset '{root}/clue/tnews/train.json', 'TNEWS'
clue_iflytek CLUEDataset '{root}/clue/iflytek/train.json', 'IFLYTEK', 'eval'
clue_cmnli CLUEDataset '{root}/clue/cmnli/train.json', 'CMNLI'
clue_wsc CLUEDataset '{root}/clue/wsc/train.json', 'WSC'
clue_csl CLUEDataset '{root}/clue/csl/train.json', 'CSL'
clue_afqmc_test CLUEDataset '{root}/clue/afqmc/test.json', 'AFQMC', 'test'
clue_tnews_test CLUEDataset '{root}/clue/tnews/test.json', 'TNEWS', 'test'
clue_iflytek_test CLUEDataset '{root}/clue/iflytek/test.json', 'IFLYTEK', 'test'
clue_cmnli_test CLUEDataset '{root}/clue/cmnli/test.json', 'CMNLI', 'test'
clue_wsc_test CLUEDataset '{root}/clue/wsc/test.json', 'WSC', 'test'
clue_csl_test CLUEDataset '{root}/clue/csl/test.json', 'CSL', 'test'
csv CSVDataset '{root}/csv/a.csv', column_defaults=[1, 1.5, 'none']
csv_names CSVDataset '{root}/csv/b.csv', column_names=['a', 'b', 'c'], column_defaults=[1, 2.0, '']
csv_texts CSVDataset '{root}/csv/a.csv'
csv_empty_text CSVDataset '{root}/csv/texts.csv', column_defaults=['d', 'e']
csv_empty CSVDataset '{root}/csv/empty.csv', column_defaults=[7, 'd']
lines TextFileDataset ['{root}/lines/b.txt', '{root}/lines/a.txt']
arctic CMUArcticDataset '{root}/arctic'
gtzan GTZANDataset '{root}/gtzan'
libritts LibriTTSDataset '{root}/libritts'
libritts_dev LibriTTSDataset '{root}/libritts', 'dev-clean'
ljspeech LJSpeechDataset '{root}/ljspeech'
speech SpeechCommandsDataset '{root}/speech'
speech_train SpeechCommandsDataset '{root}/speech', 'train'
speech_test SpeechCommandsDataset '{root}/speech', 'test'
speech_valid SpeechCommandsDataset '{root}/speech', 'valid'
tedlium TedliumDataset '{root}/tedlium/release1', 'release1'
tedlium_test TedliumDataset '{root}/tedlium/release1', 'release1', 'test'
tedlium_3 TedliumDataset '{root}/tedlium/release3', 'release3'
yesno YesNoDataset '{root}/yesno'
'''.strip().split('\n')]


def cell(value):
    """A value as something JSON can hold: small ones as they are, large ones by a digest."""
    value = np.asarray(value)
    kind = 'str' if value.dtype.kind in 'US' else value.dtype.name
    if kind == 'str':
        shown = value.astype(str).tolist()
    elif value.size <= 24:
        shown = value.tolist()
    else:
        shown = hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()[:16]
    return [kind, list(value.shape), shown]


def answer(ds, name, arguments, root):
    """Columns, number of rows and of classes, and the rows in order."""
    data = eval(f'ds.{name}({arguments.replace("{root}", root)}, shuffle=False, num_parallel_workers=1)', {'ds': ds})
    rows = [{key: cell(value) for key, value in row.items()} for row in data.create_dict_iterator(num_epochs=1, output_numpy=True)]
    return {'columns': data.get_col_names(), 'size': data.get_dataset_size(), 'classes': data.num_classes(), 'rows': rows}
