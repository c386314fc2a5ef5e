# SPDX-License-Identifier: Apache-2.0
"""What is asked of MindSpore (record.py) and of spore (test_oracle_vision.py): the same expressions on the same inputs.

An expression is evaluated with ``vision``, ``transforms``, ``np`` and ``Inter``, ``Border`` and so on in scope, then called
with the inputs. Random transforms are given ranges that leave nothing to chance, or enough calls to meet every outcome.
"""
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
IMAGES = HERE / "images"

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
               "vision.RandomResizedCrop((30, 30), (1.0, 1.0), (1.3, 1.3), Inter.LINEAR)",
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
               "transforms.Compose([vision.ToPIL(), vision.RandomGrayscale(1.0), vision.ToNumpy()])",
               "transforms.Compose([vision.ToPIL(), vision.RandomGrayscale(0.0), vision.ToNumpy()])",
               "vision.RandomSelectSubpolicy([[(vision.Invert(), 1), (vision.Posterize(3), 1)]])",
               "transforms.Compose([vision.Resize((30, 33)), vision.CenterCrop(24), "
               "vision.Normalize([121.0, 115.0, 100.0], [70.0, 68.0, 71.0]), vision.HWC2CHW()])"])


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
    ("transforms.Unique()", "np.array([4, 1, 4, 0, 1, 1])"), ("transforms.Unique()", "np.array([0.5, 0.25, 0.5], np.float32)"),
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

# so many calls on a part that every outcome occurs; the outcomes are compared as sets
OUTCOMES = [("vision.RandAugment(1, 9)", 600), ("vision.RandAugment(1, 20, 31, Inter.LINEAR, (10, 20, 30))", 400),
            ("vision.TrivialAugmentWide(2)", 1200), ("vision.RandomResize((20, 20))", 60),
            ("vision.UniformAugment([vision.Invert(), vision.Posterize(2), vision.HorizontalFlip()], 2)", 200),
            ("vision.RandomSelectSubpolicy([[(vision.Invert(), 0.5)], [(vision.Posterize(2), 1), (vision.VerticalFlip(), 0.5)]])",
             100), ("vision.RandomCrop((39, 50))", 100), ("vision.RandomPosterize((1, 4))", 60),
            ("transforms.RandomOrder([vision.Invert(), vision.Posterize(2)])", 40)]


def scope(vision, transforms):
    """Names for the expressions."""
    names = {"vision": vision, "transforms": transforms, "np": np}
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


def questions(decode):
    """(key, expression, inputs) of everything but OUTCOMES; decode: a function from bytes to an array."""
    for image in PARTS:
        rgb = part(decode(np.fromfile(IMAGES / image, np.uint8)), image)
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
        for mode in ("UNCHANGED", "GRAYSCALE", "COLOR"):
            yield f"read|{path.name}|{mode}", f"lambda p: vision.read_image(p, vision.ImageReadMode.{mode})", (str(path),)
