# SPDX-License-Identifier: Apache-2.0
"""Transforms from Python: names, seeds, chance, threads, damaged pictures, Pillow images."""
import copy
import pickle
import threading
from pathlib import Path

import numpy as np
import pytest

import spore
from spore import _core, dataset
from spore.dataset import audio, config, transforms, vision

PICTURES = Path(__file__).parents[1] / "oracle_vision" / "images"
MISSING = {}    # names of mindspore.dataset.vision 2.10 that are missing, with the reason
NAMES = """AdjustBrightness AdjustContrast AdjustGamma AdjustHue AdjustSaturation AdjustSharpness Affine AutoAugment
AutoAugmentPolicy AutoContrast Border BoundingBoxAugment CenterCrop ConvertColor ConvertMode Crop CutMixBatch CutOut Decode
DecodeVideo Equalize Erase FiveCrop GaussianBlur Grayscale HWC2CHW HorizontalFlip HsvToRgb ImageBatchFormat ImageReadMode
Inter Invert LinearTransformation MixUp MixUpBatch Normalize NormalizePad Pad PadToSize Perspective Posterize RandAugment
RandomAdjustSharpness RandomAffine RandomAutoContrast RandomColor RandomColorAdjust RandomCrop RandomCropDecodeResize
RandomCropWithBBox RandomEqualize RandomErasing RandomGrayscale RandomHorizontalFlip RandomHorizontalFlipWithBBox
RandomInvert RandomLighting RandomPerspective RandomPosterize RandomResize RandomResizeWithBBox RandomResizedCrop
RandomResizedCropWithBBox RandomRotation RandomSelectSubpolicy RandomSharpness RandomSolarize RandomVerticalFlip
RandomVerticalFlipWithBBox Rescale Resize ResizeWithBBox ResizedCrop RgbToHsv Rotate SliceMode SlicePatches Solarize TenCrop
ToNumpy ToPIL ToTensor ToType TrivialAugmentWide UniformAugment VerticalFlip VideoDecoder encode_jpeg encode_png
get_image_num_channels get_image_size not_random read_file read_image read_video read_video_timestamps write_file write_jpeg
write_png""".split()


@pytest.fixture
def image():
    return vision.read_image(str(PICTURES / "astronaut.png"))


@pytest.fixture
def seeded(monkeypatch):
    monkeypatch.setitem(config._values, "seed", 11)
    dataset._stream.restart()


def test_names(capsys):
    missing = [name for name in NAMES if not hasattr(vision, name)]
    with capsys.disabled():
        print(f"\ndataset.vision: {len(NAMES) - len(missing)} of {len(NAMES)} names; missing: {', '.join(missing)}")
    assert set(missing) == set(MISSING)
    # every transform of the engine is reachable from Python
    here = {name for module in (vision, transforms, audio) for name in dir(module)}
    assert set(_core.transform_names()) <= here


def test_a_seed_repeats_the_calls(image, monkeypatch):
    crop = vision.RandomResizedCrop(16)
    runs = []
    for _ in range(2):
        monkeypatch.setitem(config._values, "seed", None)
        config.set_seed(3)
        runs.append([crop(image) for _ in range(4)])
    monkeypatch.setitem(config._values, "seed", None)
    assert all(np.array_equal(a, b) for a, b in zip(*runs))
    assert not all(np.array_equal(runs[0][0], other) for other in runs[0][1:])


def test_a_row_follows_from_seed_and_number(image):
    op = transforms.Compose([vision.RandomCrop(40), vision.RandomColorAdjust(0.4, 0.4, 0.4, 0.1)]).parse()
    first = [op.run((image,), 5, row)[0] for row in range(6)]
    again = [op.run((image,), 5, row)[0] for row in reversed(range(6))][::-1]
    assert all(np.array_equal(a, b) for a, b in zip(first, again))
    assert len({a.tobytes() for a in first}) == 6
    assert not np.array_equal(first[0], op.run((image,), 6, 0)[0])


@pytest.mark.parametrize("op, hit", [
    (vision.RandomHorizontalFlip(0.3), lambda a, b: np.array_equal(b, a[:, ::-1])),
    (vision.RandomVerticalFlip(0.3), lambda a, b: np.array_equal(b, a[::-1])),
    (vision.RandomInvert(0.3), lambda a, b: np.array_equal(b, 255 - a)),
    (transforms.RandomApply([vision.Invert()], 0.3), lambda a, b: np.array_equal(b, 255 - a)),
    (vision.RandomEqualize(0.3), lambda a, b: not np.array_equal(a, b)),
    (vision.RandomSelectSubpolicy([[(vision.Invert(), 0.3)]]), lambda a, b: not np.array_equal(a, b)),
])
def test_probabilities(op, hit, image, seeded):
    hits = sum(hit(image, op(image)) for _ in range(600))
    assert abs(hits / 600 - 0.3) < 0.075  # four standard deviations


def test_crops_reach_everywhere_evenly(seeded):
    image = np.arange(9 * 12, dtype=np.uint8).reshape(9, 12, 1)
    corners = np.bincount([int(vision.RandomCrop((7, 9))(image)[0, 0, 0]) for _ in range(1200)], minlength=108)
    used = np.flatnonzero(corners)
    assert set(used) == {12 * y + x for y in range(3) for x in range(4)}
    assert np.all(np.abs(corners[used] - 100) < 40)


def test_resized_crops_keep_scale_and_ratio(seeded):
    """Positions tell how large the crop was: the image holds its own coordinates."""
    y, x = np.mgrid[0:200, 0:300].astype(np.float32)
    image = np.stack([y, x], axis=2)
    areas, ratios = [], []
    for _ in range(300):
        out = vision.RandomResizedCrop((50, 50), (0.2, 0.6), (0.5, 2.0))(image)
        h, w = (out[-1, -1, k] - out[0, 0, k] for k in (0, 1))
        h, w = h * 50 / 49, w * 50 / 49  # centres of the first and last pixel are one less apart
        areas.append(h * w / 60000)
        ratios.append(w / h)
    assert 0.19 < min(areas) < 0.25 and 0.5 < max(areas) < 0.61
    assert 0.49 < min(ratios) < 0.6 and 1.6 < max(ratios) < 2.05


def test_beta_of_mixup(seeded):
    images, labels = np.zeros((8, 4, 4, 3), np.float32), np.eye(8, dtype=np.int32)
    images[:] = np.arange(8).reshape(8, 1, 1, 1)
    mixed, shares = vision.MixUpBatch(1.0)(images, labels)
    np.testing.assert_allclose(shares.sum(axis=1), 1, rtol=1e-6)
    np.testing.assert_allclose(mixed[:, 0, 0, 0], shares @ np.arange(8), rtol=1e-4, atol=1e-4)
    cut, areas = vision.CutMixBatch(vision.ImageBatchFormat.NHWC, 1.0, 1.0)(images, labels)
    np.testing.assert_allclose(areas.sum(axis=1), 1, rtol=1e-6)
    np.testing.assert_allclose(cut.mean(axis=(1, 2, 3)), areas @ np.arange(8), rtol=1e-4, atol=1e-4)


def test_threads_share_a_transform(image):
    op = transforms.Compose([vision.Resize(50), vision.RandomCrop(40), vision.Normalize([1.0] * 3, [2.0] * 3),
                             vision.HWC2CHW()]).parse()
    want = [op.run((image,), 1, row)[0] for row in range(40)]
    got = [None] * 40

    def work(part):
        for row in range(part, 40, 4):
            got[row] = op.run((image,), 1, row)[0]

    threads = [threading.Thread(target=work, args=(part,)) for part in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.array_equal(a, b) for a, b in zip(want, got))


def test_the_given_array_stays_as_it_is(image):
    kept = image.copy()
    for op in (vision.Erase(0, 0, 9, 9, 7), vision.CutOut(20), vision.RandomHorizontalFlip(0.0), vision.Crop((0, 0), 5),
               vision.HWC2CHW(), vision.AdjustGamma(2.0), vision.RandomLighting()):
        made = op(image)
        made[...] = 0
        assert np.array_equal(image, kept), type(op).__name__


def test_strided_and_read_only_arrays(image):
    flipped = image[::-1, ::-1]
    assert np.array_equal(vision.Invert()(flipped), 255 - flipped)
    assert np.array_equal(vision.Resize((20, 20))(flipped), vision.Resize((20, 20))(flipped.copy()))
    image.flags.writeable = False
    assert np.array_equal(vision.Crop((1, 2), (3, 4))(image), image[1:4, 2:6])


def test_batches_of_images(image):
    batch = np.stack([image, image[::-1]])
    for op in (vision.Resize((20, 30)), vision.CenterCrop(50), vision.HorizontalFlip(), vision.Rotate(20)):
        made = op(batch)
        assert np.array_equal(made[0], op(batch[0])) and np.array_equal(made[1], op(batch[1]))
    crops = vision.RandomCrop(20)(np.stack([image, image]))
    assert np.array_equal(crops[0], crops[1])


def test_copies_and_pickles(image):
    for op in (vision.Resize(20), transforms.Compose([vision.Resize(20), vision.Invert()]), vision.Pad(1)):
        want = op(image)
        for twin in (copy.deepcopy(op), pickle.loads(pickle.dumps(op))):
            assert np.array_equal(twin(image), want)


@pytest.mark.parametrize("name", ["china.jpg", "china_progressive.jpg", "astronaut.png", "flower.gif", "flower.webp",
                                  "flower.bmp"])
def test_damaged_pictures_are_refused(name):
    data = np.fromfile(PICTURES / name, np.uint8)
    for cut in (0, 1, 5, 20, len(data) // 2):
        with pytest.raises(RuntimeError, match="."):
            vision.Decode()(data[:cut])
    with pytest.raises(RuntimeError, match="no image of a known format"):
        vision.Decode()(np.roll(data, 7))


def test_a_picture_too_large_is_refused_at_once():
    png = np.fromfile(PICTURES / "astronaut.png", np.uint8)
    jpeg = np.fromfile(PICTURES / "china.jpg", np.uint8)
    bmp = np.fromfile(PICTURES / "flower.bmp", np.uint8)
    png[16:24] = [0, 0, 255, 255, 0, 0, 255, 255]
    at = int(np.flatnonzero((jpeg[:-1] == 0xFF) & (jpeg[1:] == 0xC0))[0])
    jpeg[at + 5:at + 9] = [255, 220, 255, 220]
    bmp[18:26] = [255, 255, 0, 0, 255, 255, 0, 0]
    for data in (png, jpeg, bmp):
        with pytest.raises(RuntimeError):
            vision.Decode()(data)


def test_only_a_part_of_a_jpeg_is_decoded(seeded):
    """A crop without resizing holds pixels that the whole picture has."""
    data = np.fromfile(PICTURES / "china.jpg", np.uint8)
    whole = vision.Decode()(data)
    op = vision.RandomCropDecodeResize((40, 40), (40 * 40 / (120 * 160),) * 2, (1.0, 1.0)).parse()
    twin = vision.RandomResizedCrop((40, 40), (40 * 40 / (120 * 160),) * 2, (1.0, 1.0)).parse()
    for row in range(20):
        assert np.array_equal(op.run((data,), 3, row)[0], twin.run((whole,), 3, row)[0])


def test_files(tmp_path, image):
    path = str(tmp_path / "x")
    vision.write_png(path + ".png", image)
    assert np.array_equal(vision.read_image(path + ".png"), image)
    vision.write_jpeg(path + ".jpg", image, 95)
    assert np.abs(vision.read_image(path + ".jpg").astype(int) - image).mean() < 3
    vision.write_file(path, np.arange(5, dtype=np.uint8))
    assert vision.read_file(path).tolist() == [0, 1, 2, 3, 4]
    assert vision.read_image(path + ".png", vision.ImageReadMode.GRAYSCALE).shape == image.shape[:2] + (1,)
    gray = vision.encode_png(image[:, :, 0])
    assert vision.Decode()(gray).shape == image.shape


@pytest.mark.parametrize("orientation, corners", list(enumerate(
    # levels of the corners (left, right, left, right) that MindSpore 2.10 gives for a picture with corners 1, 2, 3, 4
    [(1, 2, 3, 4), (2, 1, 4, 3), (4, 3, 2, 1), (3, 4, 1, 2), (1, 3, 2, 4), (3, 1, 4, 2), (4, 2, 3, 1), (2, 4, 1, 3)], 1)))
def test_photographs_are_turned_upright(orientation, corners, tmp_path):
    picture = np.repeat(np.repeat(np.array([[50, 100], [150, 200]], np.uint8), 8, 0), 16, 1)
    jpeg = vision.encode_jpeg(picture, 95).tobytes()
    exif = b"Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0" + bytes([orientation]) + b"\0\0\0\0\0\0"
    path = tmp_path / "photograph.jpg"
    path.write_bytes(jpeg[:2] + b"\xff\xe1" + (len(exif) + 2).to_bytes(2, "big") + exif + jpeg[2:])
    read = vision.read_image(str(path), vision.ImageReadMode.GRAYSCALE)[:, :, 0]
    assert [round(int(read[y, x]) / 50) for y in (2, -3) for x in (2, -3)] == list(corners)
    assert read.shape == ((16, 32) if orientation < 5 else (32, 16))
    assert vision.read_image(str(path)).shape == vision.Decode()(np.fromfile(path, np.uint8)).shape[:2] + (1,)
    for cut in range(2, 60):  # a damaged tag is no tag, or the picture is refused
        path.write_bytes(path.read_bytes()[:cut] + jpeg[2:])
        try:
            vision.read_image(str(path), vision.ImageReadMode.COLOR)
        except RuntimeError:
            pass


def test_functions_among_transforms(image):
    both = transforms.Compose([vision.Invert(), lambda a: a[:2, :2], vision.HWC2CHW()])
    assert both(image).shape == (3, 2, 2)
    assert transforms.RandomChoice([lambda a: a * 0])(image).max() == 0
    data = dataset.NumpySlicesDataset({"image": [image, image]}, shuffle=False)
    data = data.map([vision.Resize((8, 8)), vision.Rescale(1 / 255, 0), vision.HWC2CHW()], "image")
    assert [row[0].shape for row in data.create_tuple_iterator(output_numpy=True)] == [(3, 8, 8)] * 2


def test_a_tensor_is_taken_where_arrays_are():
    assert transforms.TypeCast(spore.float32)(spore.Tensor([1, 2])).dtype == np.float32
    assert transforms.OneHot(3)(1).tolist() == [0, 1, 0]


def test_older_addresses(image):
    from spore.dataset.transforms import c_transforms, py_transforms
    from spore.dataset.vision import c_transforms as vision_c
    from spore.dataset.vision import py_transforms as vision_py
    assert np.array_equal(vision_c.Invert()(image), 255 - image)
    assert c_transforms.OneHot(3)(np.array(1)).tolist() == [0, 1, 0]
    assert py_transforms.OneHotOp(3)(np.array(1)).tolist() == [0, 1, 0]
    assert vision_py.Normalize([0.5], [0.5])(np.ones((3, 2, 2), np.float32)).tolist() == np.ones((3, 2, 2)).tolist()


def test_pillow_images(image):
    image_module = pytest.importorskip("PIL.Image", reason="Pillow is optional, and not installed here")
    picture = vision.ToPIL()(image)
    assert isinstance(picture, image_module.Image)
    assert isinstance(vision.Resize(20)(picture), image_module.Image)
    assert np.array_equal(np.asarray(vision.Invert()(picture)), 255 - image)
    assert np.array_equal(vision.ToNumpy()(picture), image)
    assert vision.ToTensor()(picture).shape == (3, 96, 128)
    assert len(vision.FiveCrop(20)(picture)) == 5
    with pytest.raises(TypeError):
        vision.Resize(20, vision.Inter.AREA)(picture)


def test_transforms_in_a_pipeline_give_what_they_give_alone(image):
    """Among them those of which the engine does only a part."""
    sound = np.sin(np.arange(50.0)) / 2
    words = np.array(["a", "b"])
    for op, value in ((audio.Filtfilt([1.0, 0.3], [0.5, 0.2]), sound), (audio.LowpassBiquad(4000, 500.0), sound),
                      (transforms.Duplicate(), words), (transforms.PadEnd([4]), words), (transforms.PadEnd([4], "z"), words),
                      (transforms.Fill("q"), words), (transforms.Mask(transforms.Relational.EQ, "a"), words),
                      (transforms.TypeCast(np.str_), words), (vision.SlicePatches(2, 2), image),
                      (transforms.Compose([vision.Resize((9, 8)), vision.ToTensor()]), image)):
        want = op(value)
        want = want if isinstance(want, tuple) else (want,)
        names = [f"c{i}" for i in range(len(want))]
        data = dataset.NumpySlicesDataset({"x": [value]}, shuffle=False).map(op, ["x"], names)
        data = data.project(names)
        row = next(iter(data.create_tuple_iterator(num_epochs=1, output_numpy=True)))
        for got, wanted in zip(row, want, strict=True):
            np.testing.assert_array_equal(got, wanted, err_msg=type(op).__name__)
