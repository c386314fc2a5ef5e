# SPDX-License-Identifier: Apache-2.0
"""What is asked of MindSpore (record.py) and of spore (test_oracle_vision.py): the same expressions on the same inputs.

An expression is evaluated with ``vision``, ``transforms``, ``np`` and ``Inter``, ``Border`` and so on in scope, then called
with the inputs. Random transforms are given ranges that leave nothing to chance (U8 and so on), or are called often: where there
are few outcomes these are counted (OUTCOMES), otherwise a number is made of each result and the distributions of that number
are compared (SPREADS).
"""
import tempfile
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
IMAGES = HERE / "images"
VIDEOS = HERE / "videos"  # parts of the images that move, and a tone

# (top, left) of the part of 40 x 52 pixels that transforms are tried on
PARTS = {"astronaut.png": (20, 40), "coffee.jpg": (30, 10), "flower.jpg": (15, 30)}
HEIGHT, WIDTH = 40, 52

INTERS = ["NEAREST", "LINEAR", "CUBIC", "AREA", "PILCUBIC"]

# expressions applied to each of the parts, a uint8 image
U8 = []
# applied to a float32 image: levels divided by 255
F32 = []
# applied to a gray image of two dimensions
GRAY = []
# applied to the bytes of the files; {w} and {h} are the width and the height of the picture in them
FILES = []


def _fill():
    for inter in INTERS:
        for size in ("(20, 26)", "(33, 47)", "(64, 50)", "27", "(13, 60)", "(90, 110)", "(10, 13)"):
            U8.append(f"vision.Resize({size}, Inter.{inter})")
        if inter != "PILCUBIC":
            F32.append(f"vision.Resize((23, 61), Inter.{inter})")
            GRAY.append(f"vision.Resize((23, 61), Inter.{inter})")
        U8.append(f"vision.ResizedCrop(3, 5, 30, 41, (24, 24), Inter.{inter})")
    F32.append("vision.Resize((20, 26), Inter.LINEAR)")
    F32.append("vision.Resize((20, 26), Inter.AREA)")
    U8.extend(["vision.Resize((40, 52))", "vision.Resize((1, 1))", "vision.Resize((200, 7))", "vision.Resize(52)"])
    U8.extend(f"vision.CenterCrop({size})" for size in ("20", "(31, 17)", "(64, 70)", "(64, 21)", "(21, 71)", "(41, 52)"))
    U8.extend(["vision.Crop((3, 4), 20)", "vision.Crop((0, 0), (40, 52))", "vision.Crop((10, 11), (7, 31))"])
    U8.extend(f"vision.Pad({pad}, {fill}, Border.{mode})" for pad, fill in (("3", "7"), ("(2, 5)", "(10, 20, 30)"),
              ("(1, 2, 3, 4)", "0")) for mode in ("CONSTANT", "EDGE", "REFLECT", "SYMMETRIC"))
    U8.extend(["vision.PadToSize(60)", "vision.PadToSize((50, 70), (3, 4), (1, 2, 3))",
               "vision.PadToSize((51, 71), None, 9, Border.REFLECT)"])
    U8.extend(["vision.HorizontalFlip()", "vision.VerticalFlip()", "vision.HWC2CHW()"])
    U8.extend(["vision.Rescale(1 / 255, 0)", "vision.Rescale(2.5, -1.5)"])
    U8.extend(["vision.Normalize([121.0, 115.0, 100.0], [70.0, 68.0, 71.0])", "vision.Normalize([100.0], [50.0])",
               "vision.NormalizePad([121.0, 115.0, 100.0], [70.0, 68.0, 71.0])",
               "vision.NormalizePad([121.0, 115.0, 100.0], [70.0, 68.0, 71.0], 'float16')"])
    U8.extend(["vision.ToTensor()", "vision.ToTensor(np.float16)", "vision.ToTensor(np.float64)",
               "vision.ToType(np.float32)", "vision.ToType(np.int32)"])
    U8.extend(f"vision.SlicePatches({args})" for args in ("2, 3", "3, 5", "3, 5, SliceMode.DROP", "7, 5, SliceMode.PAD, 99"))
    for inter in ("NEAREST", "LINEAR", "CUBIC", "AREA"):
        U8.extend([f"vision.Rotate(30, Inter.{inter})", f"vision.Rotate(115.5, Inter.{inter}, True)",
                   f"vision.Rotate(-20, Inter.{inter}, False, (10, 15), (10, 20, 30))",
                   f"vision.Affine(15, (0.1, -0.2), 1.2, (5, 10), Inter.{inter}, (40, 50, 60))",
                   f"vision.Affine(-100.0, (0.3, 0.1), 0.7, 20.0, Inter.{inter})",
                   f"vision.Perspective([[0, 0], [51, 0], [51, 39], [0, 39]], [[5, 3], [44, 7], [50, 35], [2, 38]], "
                   f"Inter.{inter})"])
    U8.extend(["vision.Rotate(90, Inter.NEAREST, True)", "vision.Rotate(180)", "vision.Rotate(45, Inter.LINEAR, True, (3, 7), 200)"])
    F32.extend(["vision.Rotate(30, Inter.LINEAR)", "vision.Affine(15, (0.1, -0.2), 1.2, (5, 10), Inter.LINEAR)"])
    for factor in ("0.0", "0.3", "1.0", "1.7"):
        U8.extend([f"vision.AdjustBrightness({factor})", f"vision.AdjustContrast({factor})",
                   f"vision.AdjustSaturation({factor})", f"vision.AdjustSharpness({factor})"])
    U8.extend(f"vision.AdjustHue({factor})" for factor in ("-0.5", "-0.13", "0.0", "0.2", "0.5"))
    U8.extend(["vision.AdjustGamma(0.5)", "vision.AdjustGamma(2.2, 1.3)", "vision.AdjustGamma(1.0)"])
    F32.extend(["vision.AdjustGamma(0.5)", "vision.AdjustGamma(2.2, 1.3)"])
    U8.extend(["vision.AutoContrast()", "vision.AutoContrast(10.0)", "vision.AutoContrast(5.5, [10, 200])",
               "vision.Equalize()", "vision.Invert()"])
    GRAY.extend(["vision.AutoContrast(2.0)", "vision.Equalize()", "vision.Invert()", "vision.Posterize(3)",
                 "vision.Solarize(100)", "vision.HWC2CHW()", "vision.Normalize([100.0], [50.0])", "vision.ToTensor()",
                 "vision.CenterCrop(20)", "vision.Pad(3, 9)", "vision.Rotate(33, Inter.LINEAR)", "vision.HorizontalFlip()",
                 "vision.AdjustGamma(0.7)", "vision.GaussianBlur(3)", "vision.AdjustSharpness(0.5)",
                 "vision.ConvertColor(ConvertMode.COLOR_GRAY2RGB)", "vision.ConvertColor(ConvertMode.COLOR_GRAY2RGBA)"])
    U8.extend(f"vision.Posterize({bits})" for bits in (0, 1, 4, 7, 8))
    U8.extend(f"vision.Solarize({threshold})" for threshold in ("128", "(30, 160)", "0", "(255, 255)"))
    U8.extend(f"vision.GaussianBlur({args})" for args in ("3", "5", "7, 1.5", "(3, 9), (0.8, 2.5)", "1", "(11, 1), 3.0"))
    F32.append("vision.GaussianBlur(5, 1.2)")
    U8.extend(f"vision.ConvertColor(ConvertMode.{mode})" for mode in
              ("COLOR_RGB2RGBA", "COLOR_RGB2BGRA", "COLOR_RGB2BGR", "COLOR_RGB2GRAY", "COLOR_BGR2GRAY"))
    U8.extend(["vision.Erase(5, 7, 10, 20)", "vision.Erase(30, 40, 30, 30, (10, 20, 30))", "vision.Erase(0, 0, 3, 4, 55)"])
    # nothing left to chance
    U8.extend(["vision.RandomHorizontalFlip(1.0)", "vision.RandomHorizontalFlip(0.0)", "vision.RandomVerticalFlip(1.0)",
               "vision.RandomCrop((40, 52))", "vision.RandomCrop((44, 58), (3, 2))",
               *(f"vision.RandomResizedCrop((30, 30), (1.0, 1.0), (1.3, 1.3), Inter.{inter})" for inter in INTERS),
               "vision.RandomRotation((30, 30), Inter.LINEAR)", "vision.RandomColor((1.5, 1.5))",
               "vision.RandomSharpness((0.4, 0.4))", "vision.RandomAdjustSharpness(1.6, 1.0)",
               "vision.RandomAutoContrast(3.0, 9, 1.0)", "vision.RandomEqualize(1.0)", "vision.RandomInvert(1.0)",
               "vision.RandomPosterize((3, 3))", "vision.RandomPosterize(5)", "vision.RandomSolarize((90, 90))",
               "vision.RandomColorAdjust((1.3, 1.3))", "vision.RandomColorAdjust((1, 1), (0.6, 0.6))",
               "vision.RandomColorAdjust((1, 1), (1, 1), (1.4, 1.4))",
               "vision.RandomColorAdjust((1, 1), (1, 1), (1, 1), (0.25, 0.25))", "vision.RandomLighting(0.0)",
               "vision.RandomAffine((20, 20), (0.1, 0.1, -0.1, -0.1), (0.9, 0.9), (4, 4, 3, 3), Inter.LINEAR, 8)",
               "vision.RandAugment(0)", "transforms.RandomApply([vision.Invert()], 1.0)",
               "transforms.RandomChoice([vision.Equalize()])", "transforms.RandomOrder([vision.Equalize()])", "vision.ToPIL()",
               *(_PILLOW.format(call) for call in _PILLOW_CALLS),
               "vision.RandomSelectSubpolicy([[(vision.Invert(), 1), (vision.Posterize(3), 1)]])",
               "transforms.Compose([vision.Resize((30, 33)), vision.CenterCrop(24), "
               "vision.Normalize([121.0, 115.0, 100.0], [70.0, 68.0, 71.0]), vision.HWC2CHW()])"])
    U8.extend(["transforms.TypeCast(np.float32)", "transforms.Fill(3)", "transforms.Mask(transforms.Relational.GT, 100)",
               "transforms.PadEnd([50, 60, 3], 9)", "transforms.Slice(slice(2, 9), slice(5, 1, -1))", "transforms.Duplicate()",
               "transforms.Slice(None, [0, 5, 7])", "transforms.Unique()",
               "transforms.RandomApply([vision.Invert()], 0.0)", "transforms.Compose([lambda image: image[::2, ::3], vision.Invert()])",
               "lambda image: transforms.Concatenate(0, image[:2, 0, 0], image[:3, 1, 1])(image[:, 0, 0])",
               "lambda image: transforms.OneHot(256)(image[5, :7, 0])",
               "transforms.Compose([lambda image: image.astype(np.int32), transforms.Unique()])"])
    # what comes back from a file must be the picture; how a compressor packs it is its own affair
    U8.extend(["lambda image: vision.Decode()(vision.encode_png(image, 3))", "lambda image: vision.Decode()(vision.encode_jpeg(image, 80))",
               "vision.get_image_num_channels", "lambda image: np.array(vision.get_image_size(image))",
               "lambda image: back(vision.write_png, image, 5)", "lambda image: back(vision.write_jpeg, image, 60)",
               "lambda image: back(vision.write_file, vision.encode_png(image))"])
    F32.extend(["vision.RgbToHsv(True)", "vision.HsvToRgb(True)",
                "transforms.Compose([lambda image: image[:2, :2], vision.LinearTransformation(np.eye(12) * 2, np.ones(12))])"])
    FILES.extend(["vision.RandomCropDecodeResize((20, 30), (1.0, 1.0), ({w} / {h}, {w} / {h}))",
                  *(f"vision.RandomCropDecodeResize((25, 21), (1.0, 1.0), ({{w}} / {{h}}, {{w}} / {{h}}), Inter.{inter})"
                    for inter in ("NEAREST", "CUBIC", "AREA", "PILCUBIC")),
                  "transforms.Compose([vision.Decode(), vision.Resize(24), vision.CenterCrop(20)])"])


# by way of Pillow's images, the path that MindSpore's operations take in Python
_PILLOW = "transforms.Compose([vision.ToPIL(), vision.{}, vision.ToNumpy()])"
_PILLOW_CALLS = ("RandomGrayscale(1.0)", "RandomGrayscale(0.0)", "Grayscale(1)", "Grayscale(3)", "Grayscale()",
                 "RandomPerspective(0.0, 1.0)", "RandomPerspective(0.5, 0.0)", "FiveCrop(20), lambda *five: np.stack(five)",
                 "TenCrop((17, 20), True), lambda *ten: np.stack(ten)",
                 *(f"Resize((20, 26), Inter.{inter})" for inter in ("NEAREST", "BILINEAR", "BICUBIC", "ANTIALIAS")),
                 *(f"RandomResizedCrop(30, (1.0, 1.0), (1.3, 1.3), Inter.{inter})"
                   for inter in ("NEAREST", "BILINEAR", "BICUBIC", "ANTIALIAS")))

_fill()

# transforms of arrays: expression and the inputs, as Python
ARRAYS = [
    ("transforms.TypeCast(np.int32)", "np.array([1.7, -2.5, 300.9], np.float32)"),
    ("transforms.TypeCast(np.uint8)", "np.array([1, 2, 255], np.int64)"),
    ("transforms.TypeCast(np.float16)", "np.array([1.5, 2.25], np.float64)"),
    ("transforms.TypeCast(np.bool_)", "np.array([0, 3], np.int32)"),
    ("transforms.OneHot(5)", "np.array(3, np.int32)"), ("transforms.OneHot(5)", "np.array(3, np.uint8)"),
    ("transforms.OneHot(5)", "np.array([3, 0], np.int64)"),
    ("transforms.OneHot(4, 0.1)", "np.array(2, np.int32)"), ("transforms.OneHot(4, 0.1)", "np.array([2, 1], np.int64)"),
    ("transforms.Fill(3)", "np.array([1, 2], np.int16)"), ("transforms.Fill(3.7)", "np.array([1, 2], np.int16)"),
    ("transforms.Fill('x')", "np.array(['ab', 'cd'])"),
    *((f"transforms.Mask(transforms.Relational.{op}, 3)", "np.array([1, 3, 5], np.int32)")
      for op in ("EQ", "NE", "GT", "GE", "LT", "LE")),
    ("transforms.Mask(transforms.Relational.EQ, 'b')", "np.array(['a', 'b'])"),
    ("transforms.PadEnd([5], 9)", "np.array([1, 2, 3], np.int32)"), ("transforms.PadEnd([2])", "np.array([1, 2, 3])"),
    ("transforms.PadEnd([2, 4], -1)", "np.array([[1, 2, 3]], np.float32)"),
    ("transforms.PadEnd([None, 4])", "np.array([[1, 2, 3]], np.float32)"),
    ("transforms.PadEnd([4], 'zz')", "np.array(['a', 'b'])"), ("transforms.PadEnd([3])", "np.array(['a', 'b'])"),
    ("transforms.Concatenate()", "np.array([1, 2])"),
    ("transforms.Concatenate(0, np.array([7]), np.array([8, 9]))", "np.array([1, 2])"),
    ("transforms.Concatenate(-1, None, np.array(['q']))", "np.array(['a'])"),
    ("transforms.Duplicate()", "np.array([[1, 2]])"),
    ("transforms.Slice(slice(1, 3))", "np.array([1, 2, 3, 4])"), ("transforms.Slice(0)", "np.array([1, 2, 3, 4])"),
    ("transforms.Slice([0, 2])", "np.array([1, 2, 3, 4])"), ("transforms.Slice(None)", "np.array([1, 2, 3, 4])"),
    ("transforms.Slice(...)", "np.array([[1, 2], [3, 4]])"), ("transforms.Slice(-1)", "np.array([[1, 2], [3, 4]])"),
    ("transforms.Slice(slice(None, None, 2))", "np.array([1, 2, 3, 4])"),
    ("transforms.Slice(0, [1])", "np.array([[1, 2], [3, 4]])"), ("transforms.Slice(slice(3, 0, -1))", "np.arange(5)"),
    ("transforms.Unique()", "np.array([4, 1, 4, 0, 1, 1], np.int32)"),
    *(("transforms.Unique()", f"np.array([[7, 7, 1], [0, 7, 1]], np.{t})") for t in (
        "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "float32", "float64", "bool_")),
    ("transforms.Unique()", "np.array([[[np.nan, np.nan, -0.0, 0.0]]], np.float32)"), ("transforms.Unique()", "np.array([['a']])"),
    ("transforms.Unique()", "np.zeros((0, 3), np.int32)"), ("transforms.Unique()", "np.array([4, 1, 4, 0, 1, 1])"), ("transforms.Unique()", "np.array([0.5, 0.25, 0.5], np.float32)"),
    ("vision.Rescale(2, 1)", "np.arange(5, dtype=np.float32)"), ("vision.HWC2CHW()", "np.arange(24).reshape(2, 3, 4)"),
    ("vision.Normalize([1.0, 2.0], [0.5, 0.25], False)", "np.arange(12, dtype=np.float32).reshape(2, 2, 3)"),
    ("vision.ConvertColor(ConvertMode.COLOR_RGBA2BGR)", "np.arange(16, dtype=np.uint8).reshape(2, 2, 4)"),
    ("vision.ConvertColor(ConvertMode.COLOR_RGBA2GRAY)", "np.arange(16, dtype=np.uint8).reshape(2, 2, 4)"),
    ("vision.ConvertColor(ConvertMode.COLOR_BGRA2RGBA)", "np.arange(16, dtype=np.uint8).reshape(2, 2, 4)"),
    ("vision.Resize((5, 4))", "(np.arange(48) * 1000).astype(np.uint16).reshape(4, 4, 3)"),
    ("vision.Resize((5, 4))", "np.arange(48, dtype=np.float64).reshape(4, 4, 3)"),
    ("vision.Resize((5, 4))", "np.arange(80, dtype=np.uint8).reshape(4, 4, 5)"),
    ("vision.RgbToHsv(True)", "np.arange(12).reshape(2, 2, 3) / 12"),
    ("vision.HsvToRgb(False)", "np.arange(12).reshape(3, 2, 2) / 12"),
    ("vision.LinearTransformation(np.eye(12) * 2, np.ones(12))", "np.arange(12.0).reshape(3, 2, 2)"),
]

# with boxes: no chance left
_BOXES = "np.array([[2, 3, 10, 12, 5], [20, 10, 30, 25, 6], [0, 0, 52, 40, 7]], np.float32)"
BOXES = [(f"vision.{call}", _BOXES) for call in (
    "RandomHorizontalFlipWithBBox(1.0)", "RandomVerticalFlipWithBBox(1.0)", "ResizeWithBBox((20, 30))",
    "ResizeWithBBox(33, Inter.NEAREST)", "RandomCropWithBBox((40, 52))", "RandomCropWithBBox((44, 58), (3, 2))",
    "RandomResizedCropWithBBox((30, 30), (1.0, 1.0), (1.3, 1.3))", "BoundingBoxAugment(vision.Invert(), 1.0)",
    "BoundingBoxAugment(vision.Resize((9, 9)), 1.0)", "RandomResizeWithBBox((40, 52))")]  # of that size no interpolation matters

# (expression, calls, inputs): outcomes and how often each occurs
OUTCOMES = [("vision.RandAugment(1, 9)", 600, "part"), ("vision.RandAugment(1, 20, 31, Inter.LINEAR, (10, 20, 30))", 400, "part"),
            ("vision.RandAugment(1, 3, 301, Inter.NEAREST, (1, 2, 3))", 600, "part"),
            ("vision.TrivialAugmentWide(2)", 1200, "part"), ("vision.RandomResize((20, 20))", 60, "part"),
            ("vision.UniformAugment([vision.Invert(), vision.Posterize(2), vision.HorizontalFlip()], 2)", 200, "part"),
            ("vision.RandomSelectSubpolicy([[(vision.Invert(), 0.5)], [(vision.Posterize(2), 1), (vision.VerticalFlip(), 0.5)]])",
             100, "part"), ("vision.RandomCrop((39, 50))", 100, "part"), ("vision.RandomPosterize((1, 4))", 60, "part"),
            ("transforms.RandomOrder([vision.Invert(), vision.Posterize(2)])", 40, "part"),
            ("transforms.RandomChoice([vision.Invert(), vision.Posterize(2), vision.VerticalFlip()])", 300, "small"),
            ("transforms.RandomApply([vision.Invert(), vision.Posterize(2)], 0.3)", 300, "small"),
            *((f"vision.{call}", 300, "small") for call in (
                "RandomHorizontalFlip(0.3)", "RandomVerticalFlip(0.7)", "RandomInvert(0.2)", "RandomEqualize(0.4)",
                "RandomAutoContrast(0.0, None, 0.6)", "RandomAdjustSharpness(0.3, 0.5)", "RandomCrop((5, 8), (1, 0), True)")),
            ("vision.CutOut(2)", 600, "tiny"), ("vision.CutOut(2, 2)", 1500, "tiny"),
            ("lambda image: vision.CutOut(2, 1, False)(image.transpose(2, 0, 1).copy())", 600, "tiny"),
            *((f"transforms.Compose([vision.ToTensor(), vision.RandomErasing({call})])", 800, "tiny") for call in (
                "0.0", "0.5, (0.2, 0.2), (1.0, 1.0)", "1.0", "1.0, (0.3, 0.4), (0.5, 2), (1, 2, 3)")),
            ("vision.MixUpBatch(16777216)", 200, "batch"), ("vision.MixUp(2, 1e15)", 20, "batch"),
            ("vision.MixUp(2, 1e15, False)", 20, "batch"),
            ("vision.CutMixBatch(ImageBatchFormat.NHWC, 16777216, 1.0)", 1000, "batch"),
            ("vision.CutMixBatch(ImageBatchFormat.NHWC, 1.0, 0.4)", 2000, "batch"),
            ("lambda images, labels: vision.CutMixBatch(ImageBatchFormat.NCHW, 0.5, 0.9)(images.transpose(0, 3, 1, 2).copy(), labels)",
             2000, "batch"),
            *((f"vision.AutoAugment(AutoAugmentPolicy.{policy})", 3000, "small") for policy in ("IMAGENET", "CIFAR10", "SVHN")),
            ("vision.AutoAugment(AutoAugmentPolicy.SVHN, Inter.BILINEAR, (9, 8, 7))", 3000, "small"),
            ("vision.RandomCropDecodeResize((20, 30), (({h} - 2) / {h}, ({h} - 2) / {h}), ({w} / ({h} - 2), {w} / ({h} - 2)))",
             100, "file")]

# (expression, calls, inputs): the distribution of a number that is made of every result (measure); n calls are made, every
# fifth of the sorted numbers is kept
SPREADS = [
    *((f"vision.{call}", 1000, "small") for call in (
        "RandomColor((0.2, 1.7))", "RandomSharpness((0.2, 1.7))", "RandomSolarize((20, 200))", "RandomLighting(20.0)",
        "RandomColorAdjust(0.4)", "RandomColorAdjust((0.5, 1.5), (0.3, 2.0), (0.1, 3.0), (-0.2, 0.4))", "RandomRotation(60)",
        "RandomRotation((10, 170), Inter.LINEAR, True, None, (90, 80, 70))", "RandomResizedCrop((5, 6))",
        "RandomAffine((-40, 90), (-0.2, 0.3, -0.4, 0.1), (0.5, 1.5), (-20, 30, -10, 40), Inter.LINEAR, 9)",
        "RandomResizedCrop((6, 5), (0.2, 0.4), (0.3, 3.0), Inter.NEAREST)", "RandomPosterize((2, 7))",
        "RandAugment(2, 9)", "TrivialAugmentWide()", "UniformAugment([vision.RandomSharpness(), vision.RandomColor((0, 2))], 1)")),
    *((f"transforms.Compose([vision.ToTensor(), vision.RandomErasing({call})])", 1000, "small") for call in (
        "", "1.0, (0.05, 0.5), (0.2, 5.0), 'random'", "0.7, (0.1, 0.9), (1.0, 2.0), 1, True, 2")),
    *((f"vision.{call}", 1000, "batch") for call in ("MixUpBatch()", "MixUpBatch(3.0)", "MixUp(2, 0.4)", "MixUp(2, 1.0, False)")),
    *((f"vision.{call}", 1000, "boxed") for call in (
        "RandomCropWithBBox((5, 6))", "RandomResizedCropWithBBox((6, 5))", "BoundingBoxAugment(vision.Invert(), 0.4)",
        "RandomResizeWithBBox((4, 5))", "RandomHorizontalFlipWithBBox(0.3)", "RandomVerticalFlipWithBBox(0.3)",
        "BoundingBoxAugment(vision.RandomRotation(90), 1.0)")),
    *((f"vision.{call}", 300, "file") for call in ("RandomCropDecodeResize(8)",
                                                   "RandomCropDecodeResize((6, 9), (0.1, 0.3), (0.5, 0.7), Inter.NEAREST)")),
    *((_PILLOW.format(call), 1000, "small") for call in ("RandomPerspective(0.5, 1.0)", "RandomPerspective(0.9, 0.5, Inter.NEAREST)",
                                                         "RandomGrayscale(0.3)")),
]

# applied to the names of videos
MOVING = ["lambda path: (lambda video, sound, facts: (video, sound, np.array(str(sorted(facts.items())))))(*vision.read_video(path))",
          "lambda path: vision.read_video(path, 0.1, 0.2, 'sec')[0]", "lambda path: vision.read_video(path, 1, 2)[:2]",
          "lambda path: np.array(str(vision.read_video_timestamps(path)))",
          "lambda path: np.array(str(vision.read_video_timestamps(path, 'sec')))",
          "lambda path: vision.DecodeVideo()(np.fromfile(path, np.uint8))",
          "lambda path: np.array(str(sorted(vision.VideoDecoder(path).metadata.items())))"]


def scope(vision, transforms):
    """Names for the expressions."""
    def back(write, value, *options):
        """The picture in a file that was written."""
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/picture"
            write(path, value, *options)
            return vision.Decode()(vision.read_file(path))
    names = {"vision": vision, "transforms": transforms, "np": np, "back": back}
    for name in ("Inter", "Border", "SliceMode", "ConvertMode", "ImageBatchFormat", "AutoAugmentPolicy"):
        names[name] = getattr(vision, name)
    return names


def call(expression, names, *inputs):
    """A list of arrays, or the name of the exception that was raised."""
    try:
        made = eval(expression, names)(*inputs)
    except Exception as error:  # whatever it is, it is recorded
        return f"{type(error).__name__}: {error}"
    return list(made) if isinstance(made, (tuple, list)) else [made]


def part(decoded, image):
    """The part that transforms are tried on."""
    top, left = PARTS[image]
    return np.ascontiguousarray(decoded[top:top + HEIGHT, left:left + WIDTH])


def inputs(kind, rgb, image):
    """What OUTCOMES and SPREADS are called with: rgb is the part of the image, or something smaller that has few outcomes."""
    tiny = np.ascontiguousarray(rgb[6::13, 6::13][:3, :4])
    return {"part": (rgb,), "small": (np.ascontiguousarray(rgb[2::6, 2::6]),), "tiny": (tiny,),
            "batch": (np.stack([tiny, tiny[::-1, ::-1]]), np.eye(3, dtype=np.float32)[:2]),
            "boxed": (np.ascontiguousarray(rgb[2::6, 2::6]), np.array([[1, 1, 4, 5, 2], [0, 2, 7, 3, 6]], np.float32)),
            "file": (np.fromfile(IMAGES / image, np.uint8),)}[kind]


def flat(made):
    """The results of a call as one list of numbers in which a level of a picture, or 1/1000 of a share, counts one; of large
    pictures every eleventh number."""
    made = map(np.asarray, made if isinstance(made, (tuple, list)) else (made,))
    numbers = np.concatenate([a.ravel() * np.float32(1000 if a.dtype.kind == "f" and np.max(a) <= 4 else 1) for a in made])
    return numbers[::11] if numbers.size > 600 else numbers


def measure(made):
    """One number of the results of a call: their sum, weighted so that places and colours count."""
    numbers = np.concatenate([np.asarray(a, np.float64).ravel() for a in (made if isinstance(made, (tuple, list)) else (made,))])
    return float(np.dot(numbers, 1 + np.sin(np.arange(len(numbers)))))


def near(numbers, kinds):
    """Which rows of kinds differ from the numbers by a level at most."""
    return np.flatnonzero(np.max(np.abs(kinds - numbers), axis=1) <= 1) if len(kinds) else ()


def outcomes(made):
    """(different results as rows, how often each occurred); results that differ by a level at most are the same."""
    kinds, counts, seen = None, [], {}
    for one in made:
        numbers = flat(one)
        mark = numbers.tobytes()
        if mark not in seen:
            kinds = np.empty((0, len(numbers)), np.float32) if kinds is None else kinds
            seen[mark] = next(iter(near(numbers, kinds)), len(kinds))
            if seen[mark] == len(kinds):
                kinds = np.concatenate([kinds, numbers[None]])
                counts.append(0)
        counts[seen[mark]] += 1
    return kinds, counts


def often(expression, names, rgb, image, kind, n):
    """The results of n calls."""
    height, width = names["vision"].Decode()(np.fromfile(IMAGES / image, np.uint8)).shape[:2]
    given = inputs(kind, rgb, image)
    transform = eval(expression.format(h=height, w=width) if kind == "file" else expression, names)
    return (transform(*(value.copy() for value in given)) for _ in range(n))


def questions(decode):
    """(key, expression, inputs) of everything but OUTCOMES and SPREADS; decode: a function from bytes to an array."""
    for image in PARTS:
        raw = np.fromfile(IMAGES / image, np.uint8)
        whole = decode(raw)
        rgb = part(whole, image)
        yield from ((f"file|{image}|{e}", e.format(h=whole.shape[0], w=whole.shape[1]), (raw,)) for e in FILES)
        yield from ((f"u8|{image}|{e}", e, (rgb,)) for e in U8)
        real = (rgb / 255).astype(np.float32)
        yield from ((f"f32|{image}|{e}", e, (real,)) for e in F32)
        gray = np.ascontiguousarray(rgb[:, :, 1])
        yield from ((f"gray|{image}|{e}", e, (gray,)) for e in GRAY)
        for e, boxes in BOXES:
            yield f"box|{image}|{e}", e, (rgb, eval(boxes, {"np": np}))
    for e, value in ARRAYS:
        yield f"array|{value}|{e}", e, (eval(value, {"np": np}),)
    for path in sorted(IMAGES.iterdir()):
        yield f"decode|{path.name}", "vision.Decode()", (np.fromfile(path, np.uint8),)
        yield f"path|{path.name}|vision.read_file", "vision.read_file", (str(path),)
        for mode in ("UNCHANGED", "GRAYSCALE", "COLOR"):
            yield f"read|{path.name}|{mode}", f"lambda p: vision.read_image(p, vision.ImageReadMode.{mode})", (str(path),)
    for path in sorted(VIDEOS.iterdir()):
        yield from ((f"video|{path.name}|{e}", e, (str(path),)) for e in MOVING)
