# SPDX-License-Identifier: Apache-2.0
"""Every transform of images, sound, text and arrays with arguments of all kinds, right ones and wrong ones: what comes out of it (types
and shapes), or the exception with the words that its message begins with. `python calls.py` with an interpreter that has MindSpore 2.10 asks
it, and writes answers.json.gz beside itself."""
import gzip
import importlib
import inspect
import json
import random
import re
import signal
from pathlib import Path

import numpy as np

ANSWERS = Path(__file__).with_name('answers.json.gz')
VALUES = ['None', "'a'", 'True', '-1', '0', '0.5', '3', '10 ** 10', '[]', '(1, 2)', '(1.5, -1, 2)', "float('nan')"]

# Arguments that a call needs, by module; a class alone needs none.
VISION = """AdjustBrightness 1.5; AdjustContrast 1.5; AdjustGamma 1.5; AdjustHue 0.1; AdjustSaturation 1.5; AdjustSharpness 1.5;
Affine 10, (0.1, 0.1), 1.0, 5; AutoAugment; AutoContrast; BoundingBoxAugment vision.HorizontalFlip(); CenterCrop 4;
ConvertColor vision.ConvertMode.COLOR_RGB2BGR; Crop (0, 0), 4; CutMixBatch vision.ImageBatchFormat.NHWC; CutOut 2; Equalize; Erase 0, 0, 2, 2; FiveCrop 3;
GaussianBlur 3; Grayscale; HWC2CHW; HorizontalFlip; HsvToRgb True; Invert; MixUp 2, 0.5; MixUpBatch; Normalize [1.0, 2.0, 3.0], [1.0, 2.0, 3.0];
NormalizePad [1.0, 2.0, 3.0], [1.0, 2.0, 3.0]; Pad 1; PadToSize 12; Perspective [[0, 0], [5, 0], [5, 5], [0, 5]], [[0, 0], [5, 1], [4, 5], [0, 5]];
Posterize 4; RandAugment; RandomAdjustSharpness 1.5; RandomAffine 10; RandomAutoContrast; RandomColor; RandomColorAdjust; RandomCrop 4;
RandomCropWithBBox 4; RandomEqualize; RandomErasing; RandomGrayscale; RandomHorizontalFlip; RandomHorizontalFlipWithBBox; RandomInvert; RandomLighting;
RandomPerspective; RandomPosterize; RandomResize 4; RandomResizeWithBBox 4; RandomResizedCrop 4; RandomResizedCropWithBBox 4; RandomRotation 10;
RandomSelectSubpolicy [[(vision.HorizontalFlip(), 0.5)]]; RandomSharpness; RandomSolarize; RandomVerticalFlip; RandomVerticalFlipWithBBox;
Rescale 0.5, 1.0; Resize 4; ResizeWithBBox 4; ResizedCrop 0, 0, 4, 4, 3; RgbToHsv True; Rotate 10; SlicePatches; Solarize 100; TenCrop 3; ToTensor; ToType np.float32;
TrivialAugmentWide; UniformAugment [vision.HorizontalFlip(), vision.VerticalFlip()]; VerticalFlip; Decode; RandomCropDecodeResize 4"""
TR = """Compose [vision.HorizontalFlip()]; Concatenate; Duplicate; Fill 3; Mask transforms.Relational.EQ, 3; OneHot 300; PadEnd [8, 8, 3]; RandomApply [vision.HorizontalFlip()];
RandomChoice [vision.HorizontalFlip()]; RandomOrder [vision.HorizontalFlip()]; Slice 1; TypeCast np.float32; Unique"""
TEXT = """AddToken 'x'; BasicTokenizer; CaseFold; FilterWikipediaXML; Lookup VOCAB, '<unk>'; Ngram 2; NormalizeUTF8; PythonTokenizer lambda s: s.split(); RegexReplace 'a', 'b'; RegexTokenizer ' ';
SlidingWindow 2; ToNumber np.int32; Truncate 2; TruncateSequencePair 3; UnicodeCharTokenizer; UnicodeScriptTokenizer; WhitespaceTokenizer; WordpieceTokenizer VOCAB; BertTokenizer VOCAB"""
AUDIO = """AllpassBiquad 44100, 200.0; AmplitudeToDB; Angle; BandBiquad 44100, 200.0; BandpassBiquad 44100, 200.0; BandrejectBiquad 44100, 200.0; BassBiquad 44100, 10.0;
Biquad 0.01, 0.02, 0.13, 1.0, 0.12, 0.3; ComplexNorm; ComputeDeltas; Contrast; DBToAmplitude 0.5, 0.5; DCShift 0.5; DeemphBiquad 44100; DetectPitchFrequency 3000; Dither;
EqualizerBiquad 44100, 1500.0, 5.5; Fade; Filtfilt [0.1, 0.2, 0.3], [0.1, 0.2, 0.3]; Flanger 44100; FrequencyMasking; Gain; HighpassBiquad 44100, 1500.0; LFilter [0.1, 0.2], [0.3, 0.4];
LowpassBiquad 44100, 4000.0; Magphase; MaskAlongAxis 0, 2, 0.5, 1; MaskAlongAxisIID 2, 0.5, 1; MelScale 8, 16000, 0.0, None, 40; MuLawDecoding; MuLawEncoding; Overdrive; PhaseVocoder 1.3, np.zeros((4, 1), np.float32);
Phaser 44100; Resample 48000, 24000; RiaaBiquad 44100; SlidingWindowCmn; SpectralCentroid 44100, 40; Spectrogram 40; TimeMasking; TimeStretch; TrebleBiquad 44100, 5.5; Vol 0.5; Vad 16000"""
SLOW = """GriffinLim; InverseMelScale 20; InverseSpectrogram; LFCC; MFCC; MelSpectrogram; PitchShift 16000, 4"""
WAVES = {'ComplexNorm', 'Angle', 'Magphase', 'TimeStretch', 'PhaseVocoder'}


def table():
    """(module, class, the arguments it needs, whether it is called too)."""
    for module, text, called in (('vision', VISION, True), ('transforms', TR, True), ('text', TEXT, True), ('audio', AUDIO, True), ('audio', SLOW, False)):
        for entry in text.replace('\n', ' ').split(';'):
            name, _, given = entry.strip().partition(' ')
            yield module, name, given.strip(), called


def scope(framework):
    """What questions are evaluated with."""
    names = {part: importlib.import_module(f'{framework}.dataset.{part}') for part in ('vision', 'transforms', 'text', 'audio')}
    names.update(np=np, ds=importlib.import_module(f'{framework}.dataset'), VOCAB=names['text'].Vocab.from_list(['a', 'b', '##c', '<unk>', '[UNK]', 'hello']))
    return names


def split(arguments):
    """Arguments of a call, those inside brackets together."""
    found, depth, start = [], 0, 0
    for i, c in enumerate(arguments):
        depth += (c in '([{') - (c in ')]}')
        if c == ',' and not depth:
            found.append(arguments[start:i].strip())
            start = i + 1
    return [one for one in (*found, arguments[start:].strip()) if one]


def every(names):
    """All questions: each argument with each value in turn, by the signatures of MindSpore; and calls with other inputs."""
    for module, name, given, called in table():
        parameters = [p for p in list(inspect.signature(getattr(names[module], name).__init__).parameters.values())[1:] if p.kind == p.POSITIONAL_OR_KEYWORD]
        base = split(given)
        suffix = '()' if called else ''
        yield f'{module}.{name}({given}){suffix}'
        for kind in ('u1', 'f4', 'i4', 'f8', 'i8', 'b1', 'f2', 'flat', 'deep', 'empty', 'text', 'list', 'none') if called else ():
            yield f'{module}.{name}({given})({kind})'
        for at, parameter in enumerate(parameters):
            for value in VALUES[:-1] if module == 'audio' else VALUES:       # MindSpore's filters do not end with it
                arguments = [*base[:at], value, *base[at + 1:]] if at < len(base) else [*base, f'{parameter.name}={value}']
                yield f"{module}.{name}({', '.join(arguments)}){suffix}"
        yield f"{module}.{name}({', '.join([*base, 'nonsense=1'])}){suffix}"


def inputs(module, name, kind):
    """What it is called with."""
    image = np.arange(8 * 7 * 3).reshape(8, 7, 3)
    if module == 'text':
        plain = 'a b <unk> hello, World  12'
        tokens = np.array(plain.split())
        plain = tokens if name in ('AddToken', 'Lookup', 'Ngram', 'SlidingWindow', 'Truncate', 'WordpieceTokenizer') else plain
        plain = (tokens, tokens) if name == 'TruncateSequencePair' else np.array(['1', '2']) if name == 'ToNumber' else plain
        numbers = {'': plain, 'text': np.array('12'), 'flat': tokens, 'deep': tokens.reshape(2, -1) if len(tokens) % 2 == 0 else tokens[:, None], 'empty': np.array('')}
    elif module == 'audio':
        wave = np.sin(np.arange(80).reshape(2, 40) / 5).astype(np.float32)
        plain = np.stack([wave, wave], -1) if name in WAVES else wave
        plain = np.ones((2, 40, 6), np.float32) if name == 'MelScale' else plain
        plain = (plain * 100).astype(np.int64) if name == 'MuLawDecoding' else plain
        numbers = {'': plain, 'flat': plain.reshape(-1), 'deep': plain[None, None], 'empty': plain[:0], 'text': np.array('x')}
    else:
        plain = image.astype(np.uint8)
        plain = np.stack([plain, plain]) if name in ('CutMixBatch', 'MixUpBatch') else plain
        plain = plain / np.float32(255) if name in ('HsvToRgb', 'RgbToHsv') else plain
        plain = plain.reshape(-1) if name in ('Concatenate', 'Unique', 'OneHot') else plain
        numbers = {'': plain, 'flat': plain.reshape(-1), 'deep': plain[None], 'empty': plain[:0], 'text': np.array('x')}
    if kind in numbers:
        value = numbers[kind]
    elif kind in ('list', 'none'):
        value = [1, 2] if kind == 'list' else None
    else:
        value = np.asarray(numbers[''] if not isinstance(numbers[''], (str, tuple)) and np.asarray(numbers['']).dtype.kind not in 'US' else image).astype(kind)
    more = {'CutMixBatch': np.eye(2, 3, dtype=np.int32), 'MixUpBatch': np.eye(2, 3, dtype=np.int32)}
    if name in more:
        return value, more[name]
    if 'BBox' in name or 'BoundingBox' in name:
        return value, np.array([[1, 1, 3, 3, 0, 0, 0]], np.float32)
    return value if isinstance(value, tuple) else (value,)


def shown(value):
    """Types and shapes."""
    if isinstance(value, (tuple, list)):
        return f"{type(value).__name__}[{', '.join(map(shown, value))}]"
    if isinstance(value, np.ndarray):
        return f"{'U' if value.dtype.kind == 'U' else value.dtype}{value.shape}"
    return type(value).__name__


def words_of(message):
    """What the message begins with, up to what is a matter of taste."""
    at = message.find('[ERROR]')
    message = (message[at + 8:] if at >= 0 else message).removeprefix('[Internal ERROR] ')
    return re.split(r"[\n']|mindspore|0x|<class|object at|/home", message)[0][:45].rstrip()


def ask(question, names, whole=False):
    """What a library answers; of an exception its kinds and all of its words, if ``whole``."""
    call = re.fullmatch(r'(\w+)\.(\w+)(\(.*\))\((\w*)\)', question)
    module, name, given, kind = call.groups() if call else (*re.match(r'(\w+)\.(\w+)', question).groups(), question.split('.', 1)[1][len(question.split('(')[0].split('.')[1]):], None)
    names['ds'].config.set_seed(1)
    random.seed(1)
    np.random.seed(1)
    try:
        made = eval(f'{module}.{name}{given}', names)
        return type(made).__name__ if kind is None else shown(made(*inputs(module, name, kind)))
    except Exception as error:      # its type and words are the answer
        kinds = ' '.join(k.__name__ for k in type(error).__mro__[:-2]) if whole else type(error).__name__
        return f"{kinds}: {str(error) if whole else words_of(str(error))}"


def agrees(found, wanted):
    """Whether an answer, with the whole message, is the one recorded."""
    kind, _, words = wanted.partition(': ')
    if not re.fullmatch(r'\w*(Error|Exception)', kind):
        return found == wanted
    kinds, _, said = found.partition(': ')
    return kind in kinds.split(' ') and words in said


def late(*_):
    raise TimeoutError


if __name__ == '__main__':
    signal.signal(signal.SIGALRM, late)
    scoped, log = scope('mindspore'), Path('asked.txt')
    found = dict(json.loads(line) for line in log.read_text(encoding='utf-8').splitlines()) if log.exists() else {}
    with log.open('a', encoding='utf-8') as asked:      # if a question ends the process, start again: it goes on behind it
        for question in dict.fromkeys(every(scoped)):
            if question in found:
                continue
            print(json.dumps([question, None]), file=asked, flush=True)
            signal.alarm(5)
            try:
                found[question] = ask(question, scoped)
            finally:
                signal.alarm(0)
            print(json.dumps([question, found[question]]), file=asked, flush=True)
    found = {question: answer for question, answer in found.items() if answer is not None and not answer.startswith('TimeoutError')}
    ANSWERS.write_bytes(gzip.compress(json.dumps(found).encode(), 9, mtime=0))
    print(len(found))
