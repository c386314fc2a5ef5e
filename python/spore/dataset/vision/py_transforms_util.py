# SPDX-License-Identifier: Apache-2.0
"""Transforms of Pillow images, and those that MindSpore does with numpy.

Pillow is needed only where a Pillow image is made or given; it is imported then.
"""
import colorsys
import io
import math
import random

import numpy as np

from spore.dataset.transforms.transforms import is_pil


def _pillow():
    try:
        from PIL import Image, ImageEnhance, ImageOps
    except ImportError:
        raise ImportError("Pillow images need the package 'pillow'; install it with pip") from None
    return Image, ImageEnhance, ImageOps


def need_pil(img):
    """The image, if it is Pillow's."""
    if not is_pil(img):
        raise TypeError(f"img should be PIL image. Got {type(img)}. Use Decode() for encoded data or ToPIL() for "
                        "decoded data.")
    return img


def is_numpy(img):
    """Is it an array?"""
    return isinstance(img, np.ndarray)


def hwc_to_chw(img):
    """An array [height, width, channels] as [channels, height, width]."""
    return need_numpy(img).transpose(2, 0, 1).copy()


def need_numpy(img):
    """The image, if it is an array."""
    if not isinstance(img, np.ndarray):
        raise TypeError(f"img should be NumPy array. Got {type(img)}.")
    return img


def _two(size):
    return (size, size) if isinstance(size, int) else tuple(size)


# --- in and out -------------------------------------------------------------------------------------------------------

def decode(data):
    """A picture file's bytes as an RGB image."""
    image, _, _ = _pillow()
    try:
        return image.open(io.BytesIO(data)).convert('RGB')
    except OSError as error:
        raise ValueError(f"{error}\n: Failed to decode given image.") from None


def to_pil(img):
    """An array as a Pillow image."""
    if is_pil(img):
        return img
    if not isinstance(img, np.ndarray):
        raise TypeError("The input image should be of type numpy.ndarray or PIL.Image.Image. Got "
                        f"{type(img)}.")
    if img.ndim not in (2, 3):
        raise ValueError(f"The dimension of input image should be 2 or 3. Got {img.ndim}.")
    channels = 1 if img.ndim == 2 else img.shape[2]
    if channels > 4:
        raise ValueError(f"The channel of input image should not exceed 4. Got {channels}.")
    if channels == 1:
        if img.dtype.kind not in 'buif' or img.dtype in (np.int64, np.uint64, np.float16):
            raise TypeError(f"The input image type {img.dtype} is not supported when image shape is [H, W] or [H, W, 1].")
        img = img.reshape(img.shape[:2])
    elif img.dtype != np.uint8:
        raise TypeError(f"The input image type {img.dtype} is not supported when image shape is [H, W, 2], [H, W, 3] or "
                        "[H, W, 4].")
    return _pillow()[0].fromarray(img)


def to_tensor(img, output_type):
    """Channels first, from 0 to 1."""
    array = np.asarray(img)
    if array.ndim not in (2, 3):
        raise TypeError(f"The dimension of input image should be 2 or 3. Got {array.ndim}.")
    array = array[:, :, None] if array.ndim == 2 else array
    return (array.transpose(2, 0, 1) / 255.0).astype(output_type)


# --- geometry ---------------------------------------------------------------------------------------------------------

def flip(img, vertical=False):
    """Upside down, or left and right exchanged."""
    image, _, _ = _pillow()
    way = image.Transpose.FLIP_TOP_BOTTOM if vertical else image.Transpose.FLIP_LEFT_RIGHT
    return need_pil(img).transpose(way)


def random_flip(img, prob, vertical):
    """The same with a probability."""
    need_pil(img)
    return flip(img, vertical) if random.random() < prob else img


def crop(img, top, left, height, width):
    """A rectangle."""
    return need_pil(img).crop((left, top, left + width, top + height))


def resize(img, size, interpolation):
    """Another size; of one number, for the shorter side."""
    width, height = need_pil(img).size
    if not isinstance(size, int):
        return img.resize(tuple(size)[::-1], interpolation)
    if min(width, height) == size:
        return img
    ratio = width / height
    if width < height:
        return img.resize((size, int(size / ratio)), interpolation)
    return img.resize((int(size * ratio), size), interpolation)


def center_crop(img, size):
    """The middle."""
    width, height = need_pil(img).size
    h, w = _two(size)
    return crop(img, int(round((height - h) / 2.0)), int(round((width - w) / 2.0)), h, w)


def five_crop(img, size):
    """The four corners and the middle."""
    width, height = need_pil(img).size
    h, w = _two(size)
    if h > height or w > width:
        raise ValueError(f"Crop size {(h, w)} is larger than input image size {(height, width)}.")
    return (crop(img, 0, 0, h, w), crop(img, 0, width - w, h, w), crop(img, height - h, 0, h, w),
            crop(img, height - h, width - w, h, w), center_crop(img, (h, w)))


def ten_crop(img, size, use_vertical_flip=False):
    """Five crops of the image and of its mirror image."""
    return five_crop(img, size) + five_crop(flip(img, use_vertical_flip), size)


def draw_resized_crop(width, height, scale, ratio, max_attempts):
    """(top, left, height, width) of a random part."""
    for _ in range(max_attempts):
        area = random.uniform(*scale) * width * height
        aspect = math.exp(random.uniform(math.log(ratio[0]), math.log(ratio[1])))
        w = int(round(math.sqrt(area * aspect)))
        h = int(round(w / aspect))
        if 0 < w <= width and 0 < h <= height:
            return random.randint(0, height - h), random.randint(0, width - w), h, w
    h, w, aspect = height, width, width / height
    if aspect < ratio[0]:
        h = int(round(width / ratio[0]))
    elif aspect > ratio[1]:
        w = int(round(height * ratio[1]))
    return int(round((height - h) / 2.0)), int(round((width - w) / 2.0)), h, w


def random_resize_crop(img, size, scale, ratio, interpolation, max_attempts):
    """A random part, resized."""
    part = crop(img, *draw_resized_crop(*need_pil(img).size, scale, ratio, max_attempts))
    return resize(part, _two(size), interpolation)


def pad(img, padding, fill_value, padding_mode):
    """Something around the image."""
    image, _, ops = _pillow()
    need_pil(img)
    left, top, right, bottom = padding if len(padding) == 4 else (padding[0], padding[1]) * 2
    palette = img.getpalette() if img.mode == 'P' else None
    if padding_mode == 'constant':
        if isinstance(fill_value, tuple) and img.mode in ('L', '1'):
            fill_value = fill_value[:1]
        img = ops.expand(img, border=(left, top, right, bottom), fill=fill_value)
    else:
        array = np.asarray(img)
        around = ((top, bottom), (left, right)) + ((0, 0),) * (array.ndim - 2)
        img = image.fromarray(np.pad(array, around, padding_mode))
    if palette is not None:
        img.putpalette(palette)
    return img


def random_crop(img, size, padding, pad_if_needed, fill_value, padding_mode):
    """A random part of the padded image."""
    need_pil(img)
    h, w = _two(size)
    if padding is not None:
        img = pad(img, padding, fill_value, padding_mode)
    if pad_if_needed and img.size[0] < w:
        img = pad(img, (w - img.size[0], 0), fill_value, padding_mode)
    if pad_if_needed and img.size[1] < h:
        img = pad(img, (0, h - img.size[1]), fill_value, padding_mode)
    width, height = img.size
    if h > height or w > width:
        raise ValueError(f"Crop size {(h, w)} is larger than input image size {(height, width)}.")
    return crop(img, random.randint(0, height - h), random.randint(0, width - w), h, w)


def rotate(img, angle, resample, expand, center, fill_value):
    """Turned about its middle or another point."""
    if img.mode == 'L' and isinstance(fill_value, tuple):
        fill_value = fill_value[0]
    return need_pil(img).rotate(angle % 360.0, resample, expand, center, fillcolor=fill_value)


def random_affine(img, degrees, translate, scale, shear, resample, fill_value):
    """A random rotation, scale and shear about the middle, and a translation."""
    image, _, _ = _pillow()
    if not is_pil(img):
        raise ValueError("Input image should be a Pillow image.")
    width, height = img.size
    angle = math.radians(random.uniform(*degrees))
    dx, dy = translate[0] * width, translate[1] * height
    dx, dy = round(random.uniform(-dx, dx)), round(random.uniform(-dy, dy))
    inverse = 1.0 / random.uniform(*scale)
    sx, sy = (math.radians(random.uniform(shear[i], shear[i + 1])) for i in (0, 2))
    cx, cy = width * 0.5 + 0.5, height * 0.5 + 0.5
    k = inverse / (math.cos(angle + sx) * math.cos(angle + sy) + math.sin(angle + sx) * math.sin(angle + sy))
    a, b = k * math.cos(angle + sx), k * math.sin(angle + sx)
    d, e = -k * math.sin(angle + sy), k * math.cos(angle + sy)
    matrix = (a, b, cx - a * (cx + dx) - b * (cy + dy), d, e, cy - d * (cx + dx) - e * (cy + dy))
    return img.transform(img.size, image.Transform.AFFINE, matrix, resample,
                         fillcolor=tuple(fill_value)[:len(img.getbands())] if len(img.getbands()) > 1 else fill_value[0])


def draw_perspective(width, height, distortion_scale):
    """Corners, and where they go."""
    half_w, half_h = int(width / 2 * distortion_scale), int(height / 2 * distortion_scale)

    def near(x, y):
        left = (0, half_w) if x == 0 else (width - half_w - 1, width - 1)
        top = (0, half_h) if y == 0 else (height - half_h - 1, height - 1)
        return random.randint(*left), random.randint(*top)

    corners = [(0, 0), (width - 1, 0), (width - 1, height - 1), (0, height - 1)]
    return corners, [near(x, y) for x, y in corners]


def perspective(img, start_points, end_points, interpolation):
    """Points moved to other points."""
    image, _, _ = _pillow()
    rows = []
    for (u, v), (x, y) in zip(start_points, end_points):
        rows.append([x, y, 1, 0, 0, 0, -u * x, -u * y])
        rows.append([0, 0, 0, x, y, 1, -v * x, -v * y])
    wanted = np.array(start_points, float).reshape(8)
    found = np.linalg.lstsq(np.array(rows, float), wanted, rcond=None)[0]
    return need_pil(img).transform(img.size, image.Transform.PERSPECTIVE, found.tolist(), interpolation)


# --- colour -----------------------------------------------------------------------------------------------------------

def enhance(img, kind, factor):
    """Pillow's enhancer of a kind: Brightness, Contrast, Color, Sharpness."""
    return getattr(_pillow()[1], kind)(need_pil(img)).enhance(factor)


def adjust_hue(img, hue_factor):
    """Hues turned."""
    image, _, _ = _pillow()
    if need_pil(img).mode in ('L', '1', 'I', 'F'):
        return img
    mode = img.mode
    hue, saturation, value = img.convert('HSV').split()
    turned = (np.array(hue, np.int16) + int(hue_factor * 255)) % 256
    hue = image.fromarray(turned.astype(np.uint8))
    return image.merge('HSV', (hue, saturation, value)).convert(mode)


def random_color_adjust(img, brightness, contrast, saturation, hue):
    """All four in any order."""
    need_pil(img)
    steps = [lambda m, f=random.uniform(*brightness): enhance(m, 'Brightness', f),
             lambda m, f=random.uniform(*contrast): enhance(m, 'Contrast', f),
             lambda m, f=random.uniform(*saturation): enhance(m, 'Color', f),
             lambda m, f=random.uniform(*hue): adjust_hue(m, f)]
    random.shuffle(steps)
    for step in steps:
        img = step(img)
    return img


_EIGEN = np.array([[-0.5675, 0.7192, 0.4009], [-0.5808, -0.0045, -0.8140], [-0.5836, -0.6948, 0.4203]]) \
    * np.array([55.46, 4.794, 1.148])


def random_lighting(img, alpha):
    """Noise along the principal components of ImageNet's colours."""
    image, _, _ = _pillow()
    array = np.array(need_pil(img).convert('RGB'), np.float64) + _EIGEN @ np.random.normal(0.0, alpha, 3)
    return image.fromarray(np.clip(array, 0, 255).astype(np.uint8))


def adjust_gamma(img, gamma, gain):
    """A power of the values."""
    table = [int((255 + 1 - 0.001) * gain * pow(x / 255.0, gamma)) for x in range(256)]
    bands = len(need_pil(img).getbands())
    return img.point(table * bands) if bands in (1, 3) else img


def auto_contrast(img, cutoff, ignore):
    """Levels stretched."""
    return _pillow()[2].autocontrast(need_pil(img), cutoff, ignore)


def invert(img):
    """Levels upside down."""
    return _pillow()[2].invert(need_pil(img))


def equalize(img):
    """Levels spread evenly."""
    return _pillow()[2].equalize(need_pil(img))


def grayscale(img, num_output_channels):
    """Gray, in one channel or three."""
    gray = need_pil(img).convert('L')
    return gray if num_output_channels == 1 else _pillow()[0].merge('RGB', (gray, gray, gray))


def uniform_augment(img, transforms, num_ops):
    """Some of the transforms, each with a probability of its own."""
    for i in np.random.choice(len(transforms), size=num_ops, replace=False):
        if random.random() < random.random():
            img = transforms[i](img.copy())
    return img


# --- with numpy -------------------------------------------------------------------------------------------------------

def draw_erase(shape, scale, ratio, value, max_attempts):
    """(top, left, height, width, values) of a rectangle of an image of channels, height, width; None if none fits."""
    c, h, w = shape
    for _ in range(max_attempts):
        area = random.uniform(*scale) * h * w
        aspect = random.uniform(*ratio)
        ew = int(round(math.sqrt(area * aspect)))
        eh = int(round(ew / aspect))
        if eh < h and ew < w:
            top, left = random.randint(0, h - eh), random.randint(0, w - ew)
            if isinstance(value, str):
                value = np.random.normal(size=(c, eh, ew))
            elif isinstance(value, (tuple, list)):
                value = np.array(value).reshape(-1, 1, 1)
            return top, left, eh, ew, value
    return None


def linear_transform(img, matrix, mean):
    """The image as one vector, less the mean, times a matrix."""
    need_numpy(img)
    if img.size != matrix.shape[0]:
        raise ValueError(f"transformation_matrix shape {matrix.shape} not compatible with Numpy image shape {img.shape}.")
    return np.dot(img.reshape(1, -1) - mean, matrix).reshape(img.shape)


def mix_up_single(batch_size, img, label, alpha):
    """A batch mixed with itself, moved by one."""
    lam = np.random.beta(alpha, alpha, batch_size)
    lam_img, lam_label = lam.reshape(-1, 1, 1, 1), lam.reshape(-1, 1)
    return (lam_img * img + (1 - lam_img) * np.roll(img, -1, axis=0),
            lam_label * label + (1 - lam_label) * np.roll(label, -1, axis=0))


def mix_up_multi(state, batch_size, img, label, alpha):
    """A batch mixed with what came of the last one; the first stays as it is."""
    lam = np.ones(batch_size) if state.is_first else np.random.beta(alpha, alpha, batch_size)
    state.is_first = False
    lam_img, lam_label = lam.reshape(-1, 1, 1, 1), lam.reshape(-1, 1)
    state.image = lam_img * img + (1 - lam_img) * state.image
    state.label = lam_label * label + (1 - lam_label) * state.label
    return state.image, state.label


def _convert(images, is_hwc, function):
    need_numpy(images)
    if images.ndim not in (3, 4):
        raise TypeError(f"img shape should be (H, W, C)/(N, H, W, C)/(C, H, W)/(N, C, H, W). Got {images.shape}.")
    axis = images.ndim - 1 if is_hwc else images.ndim - 3
    if images.shape[axis] != 3:
        raise TypeError(f"img should be 3 channels RGB img. Got {images.shape[axis]} channels.")
    return np.stack(np.vectorize(function, [np.float64] * 3)(*np.moveaxis(images, axis, 0)), axis=axis)


def rgb_to_hsvs(images, is_hwc):
    """Hue, saturation and value of red, green and blue from 0 to 1."""
    return _convert(images, is_hwc, colorsys.rgb_to_hsv)


def hsv_to_rgbs(images, is_hwc):
    """And back."""
    return _convert(images, is_hwc, colorsys.hsv_to_rgb)
