# SPDX-License-Identifier: Apache-2.0
"""Which transforms of MindSpore 2.10 have recorded answers: results on three different images, texts or sounds each.

    PYTHONPATH=build/py python tests/oracle_vision/coverage.py [-v]       -v shows every name with its counts

Prints the names that have fewer, with the reason, and the names that spore has not.
"""
import collections
import json
import re
import sys
from pathlib import Path

import numpy as np

TESTS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS))

from oracle_text import cases as text_cases  # noqa: E402  (the path is set above)

WANTED = 3
# every transform and function of the modules; kinds of options (Border, NormalizeForm and so on) are theirs and not counted
NAMES = {
    "vision": """AdjustBrightness AdjustContrast AdjustGamma AdjustHue AdjustSaturation AdjustSharpness Affine AutoAugment AutoContrast
        BoundingBoxAugment CenterCrop ConvertColor Crop CutMixBatch CutOut Decode DecodeVideo Equalize Erase FiveCrop GaussianBlur
        Grayscale HWC2CHW HorizontalFlip HsvToRgb Invert LinearTransformation MixUp MixUpBatch Normalize NormalizePad Pad PadToSize
        Perspective Posterize RandAugment RandomAdjustSharpness RandomAffine RandomAutoContrast RandomColor RandomColorAdjust
        RandomCrop RandomCropDecodeResize RandomCropWithBBox RandomEqualize RandomErasing RandomGrayscale RandomHorizontalFlip
        RandomHorizontalFlipWithBBox RandomInvert RandomLighting RandomPerspective RandomPosterize RandomResize RandomResizeWithBBox
        RandomResizedCrop RandomResizedCropWithBBox RandomRotation RandomSelectSubpolicy RandomSharpness RandomSolarize
        RandomVerticalFlip RandomVerticalFlipWithBBox Rescale Resize ResizeWithBBox ResizedCrop RgbToHsv Rotate SlicePatches Solarize
        TenCrop ToNumpy ToPIL ToTensor ToType TrivialAugmentWide UniformAugment VerticalFlip VideoDecoder encode_jpeg encode_png
        get_image_num_channels get_image_size read_file read_image read_video read_video_timestamps write_file write_jpeg
        write_png""",
    "transforms": """Compose Concatenate Duplicate Fill Mask OneHot PadEnd Plugin PyFunc RandomApply RandomChoice RandomOrder Relational
        Slice TypeCast Unique""",
    "text": """AddToken BasicTokenizer BertTokenizer CaseFold CharNGram FastText FilterWikipediaXML GloVe JiebaTokenizer Lookup Ngram
        NormalizeUTF8 PythonTokenizer RegexReplace RegexTokenizer SentencePieceTokenizer SlidingWindow ToNumber ToVectors Truncate
        TruncateSequencePair UnicodeCharTokenizer UnicodeScriptTokenizer Vectors Vocab WhitespaceTokenizer WordpieceTokenizer to_bytes
        to_str""",
    "audio": """AllpassBiquad AmplitudeToDB Angle BandBiquad BandpassBiquad BandrejectBiquad BassBiquad Biquad ComplexNorm ComputeDeltas
        Contrast DBToAmplitude DCShift DeemphBiquad DetectPitchFrequency Dither EqualizerBiquad Fade Filtfilt Flanger FrequencyMasking
        Gain GriffinLim HighpassBiquad InverseMelScale InverseSpectrogram LFCC LFilter LowpassBiquad MFCC Magphase MaskAlongAxis
        MaskAlongAxisIID MelScale MelSpectrogram MuLawDecoding MuLawEncoding Overdrive PhaseVocoder Phaser PitchShift Resample
        RiaaBiquad SlidingWindowCmn SpectralCentroid Spectrogram TimeMasking TimeStretch TrebleBiquad Vad Vol create_dct linear_fbanks
        melscale_fbanks""",
}
# fewer on purpose
REASONS = {
    "transforms.Plugin": "loads shared libraries of MindSpore's C++ interface",
    "text.JiebaTokenizer": "needs the model files of cppjieba, which no package brings; here it is done by the package jieba",
    "audio.Vad": "MindSpore 2.10 finds no speech in any sound and gives the last part of it; here speech is found",
}
# a name that is part of another's use, as a pattern in the questions
USED_AS = {"transforms.PyFunc": r"Compose\(\[lambda", "transforms.Relational": r"Relational\.", "text.Vocab": r"\bvocab\.|Vocab\.from_"}


def recorded():
    """(module words, expression, subject) of every answer that is a result, not a refusal."""
    facts = json.loads((TESTS / "oracle_vision/answers.json").read_text(encoding="utf-8"))["facts"]
    for key, fact in facts.items():
        if not isinstance(fact, str):
            kind, subject, *rest = key.split("|", 2)
            yield "vision", {"decode": "vision.Decode()", "read": "vision.read_image("}.get(kind) or rest[0], subject
    answers = json.loads((TESTS / "oracle_text/answers.json").read_text(encoding="utf-8"))
    for key, expression, inputs in text_cases.questions():
        if not isinstance(answers.get(key), (str, type(None))):
            yield "text", expression, str(inputs)
    for row in json.loads((TESTS / "oracle_text/pieces.json").read_text(encoding="utf-8")):
        yield "text", "text.SentencePieceTokenizer(", row[0]
    stored = np.load(TESTS / "oracle_audio/answers.npz")
    for key, fact in zip(stored["keys"].tolist(), stored["facts"].tolist()):
        if ":" in fact:
            subject, expression = key.split("|", 1)
            yield "audio", expression, expression if subject == "function" else subject


def count():
    """{module.name: [answers, different subjects]}"""
    names = [f"{module}.{name}" for module, words in NAMES.items() for name in words.split()]
    patterns = {name: re.compile(USED_AS.get(name) or rf"\b{name.split('.')[1]}\b") for name in names}
    answers, subjects = collections.Counter(), collections.defaultdict(set)
    for module, expression, subject in recorded():
        for name in names:
            if name.split(".")[0] in (module, "transforms") and patterns[name].search(expression):
                answers[name] += 1
                subjects[name].add(subject)
    return {name: [answers[name], len(subjects[name])] for name in names}


def main():
    import spore.dataset  # noqa: F401  (the modules below are its parts)
    from spore.dataset import audio, text, transforms, vision
    counts = count()
    for name, (answers, subjects) in counts.items():
        few = f"{subjects} of {WANTED}: {REASONS.get(name, 'NO REASON')}" if subjects < WANTED else ""
        if few or "-v" in sys.argv:
            print(f"{name:36}{answers:5} answers on {subjects:3} subjects  {few}")
    here = {"audio": audio, "text": text, "transforms": transforms, "vision": vision}
    missing = [name for name in counts if name != "transforms.PyFunc" and not hasattr(here[name.split(".")[0]], name.split(".")[1])]
    full = sum(subjects >= WANTED for _, subjects in counts.values())
    print(f"{full} of {len(counts)} names have answers on {WANTED} subjects or more, {sum(n for n, _ in counts.values())} answers in all; "
          f"names still missing: {', '.join(missing) or 'none'}")
    return 1 if any(s < WANTED and name not in REASONS for name, (_, s) in counts.items()) else 0


if __name__ == "__main__":
    sys.exit(main())
