# SPDX-License-Identifier: Apache-2.0
"""What is asked of MindSpore (record.py) and of spore (test_oracle_audio.py) about sound."""
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent


def signals():
    """Three sounds of two channels: a rising tone, noise, and clicks; and spectrograms, plain and complex."""
    t = np.arange(400) / 4000
    rng = np.random.RandomState(7)
    tone = np.stack([np.sin(2 * np.pi * (100 + 1500 * t) * t), 0.3 * np.cos(2 * np.pi * 440 * t)])
    noise = rng.uniform(-1, 1, (2, 400)) * 0.7
    clicks = np.zeros((2, 400))
    clicks[:, ::37] = 0.9
    # spectra of them; with some noise, since where nothing deviates from a mean, rounding errors are all that is compared
    mixed = (("tone", tone + 0.2 * noise), ("clicks", clicks + 0.3 * noise))
    return {"tone": tone.astype(np.float32), "noise": noise.astype(np.float32), "clicks": clicks.astype(np.float32),
            "wide": tone, "spectrum": rng.uniform(0, 3, (2, 9, 12)).astype(np.float32),
            "pairs": rng.uniform(-2, 2, (2, 9, 12, 2)).astype(np.float32),
            "levels": rng.randint(0, 256, (2, 50)).astype(np.int32),
            **{f"pairs_{name}": pairs(sound) for name, sound in mixed},
            **{f"spectrum_{name}": np.sqrt(np.sum(pairs(sound) ** 2, axis=-1)) for name, sound in mixed},
            **{f"levels_{name}": ((sound[:, :50] + 1) * 127).astype(np.int32) for name, sound in mixed}}


def pairs(sound):
    """The spectrogram of a sound, nine frequencies at twelve times: real and imaginary parts."""
    windows = np.stack([sound[:, 30 * i:30 * i + 16] for i in range(12)], axis=-1) * np.hanning(16)[:, None]
    made = np.fft.rfft(windows, axis=1)
    return np.stack([made.real, made.imag], axis=-1).astype(np.float32)


_WINDOW = ("'n_fft': 64, 'win_length': 48, 'hop_length': 20, 'pad': 0, 'window': WindowType.HANN, 'power': 2.0, 'normalized': False, "
           "'center': True, 'pad_mode': BorderType.REFLECT, 'onesided': True")
_MEL = ("{" + _WINDOW + ", 'f_min': 0.0, 'f_max': 2000.0, 'n_mels': 12, 'norm': NormType.NONE, 'mel_scale': MelType.HTK}")
_SOUNDS = ("tone", "noise", "clicks", "wide")
_FILTERS = ["AllpassBiquad(4000, 700.0)", "AllpassBiquad(4000, 300, 0.3)", "BandBiquad(4000, 500.0)",
            "BandBiquad(4000, 500.0, 0.5, True)", "BandpassBiquad(4000, 500.0)", "BandpassBiquad(4000, 500.0, 0.4, True)",
            "BandrejectBiquad(4000, 500.0)", "BassBiquad(4000, 10.0)", "BassBiquad(4000, -6, 200.0, 0.4)",
            "Biquad(0.2, 0.1, 0.05, 1.2, -0.3, 0.1)", "DeemphBiquad(44100)", "DeemphBiquad(48000)",
            "EqualizerBiquad(4000, 600.0, 5.0)", "EqualizerBiquad(4000, 600.0, -5.0, 0.3)", "HighpassBiquad(4000, 900.0)",
            "LowpassBiquad(4000, 900.0)", "LowpassBiquad(4000, 300, 0.2)", "RiaaBiquad(44100)", "RiaaBiquad(48000)",
            "RiaaBiquad(88200)", "RiaaBiquad(96000)", "TrebleBiquad(4000, 8.0)", "TrebleBiquad(4000, -8.0, 1000, 0.5)",
            "LFilter([1.0, 0.2, 0.1], [0.4, 0.3, 0.2])", "LFilter([2.0, 0.2], [3.4, 0.3], False)",
            "Filtfilt([1.0, 0.2, 0.1], [0.4, 0.3, 0.2])"]
_SOUND = ["Gain(3.0)", "Vol(2.5)", "Vol(-4.0, GainType.DB)", "Vol(2.0, GainType.POWER)", "DCShift(0.3, 0.05)", "DCShift(-0.4, 0.1)",
          "DCShift(0.5)", "Contrast()", "Contrast(20.0)", "Overdrive()", "Overdrive(5.0, 60.0)", "Fade(30, 50)",
          *(f"Fade(30, 50, FadeShape.{shape})" for shape in ("QUARTER_SINE", "HALF_SINE", "LOGARITHMIC", "EXPONENTIAL")),
          "MuLawEncoding()", "MuLawEncoding(64)", "Spectrogram(64)", "Spectrogram(64, 40, 10, 5)",
          "Spectrogram(63, None, 16, 0, WindowType.HAMMING, 1.0, True)", "Spectrogram(64, 32, 16, 0, WindowType.BLACKMAN, 0.0)",
          "Spectrogram(32, None, None, 0, WindowType.BARTLETT, 2.0, False, False)",
          "Spectrogram(32, None, None, 0, WindowType.HANN, 2.0, False, True, BorderType.EDGE, False)",
          "MelSpectrogram(4000, 64, n_mels=10)", "MelSpectrogram(4000, 64, norm=NormType.SLANEY, mel_scale=MelType.SLANEY, n_mels=8)",
          f"MFCC(4000, 6, 2, NormMode.ORTHO, False, {_MEL})", f"MFCC(4000, 6, 2, NormMode.NONE, True, {_MEL})",
          "LFCC(4000, 12, 5, speckwargs={" + _WINDOW + "})", "LFCC(4000, 12, 5, log_lf=True, speckwargs={" + _WINDOW + "})",
          "SpectralCentroid(4000, 64)", "Resample(4000, 2000)", "Resample(4000, 3000)", "Resample(3, 5, lowpass_filter_width=9)",
          "Resample(4000, 6000, ResampleMethod.KAISER_WINDOW)", "Resample(7, 7)", "PitchShift(4000, 4, n_fft=64)",
          "PitchShift(4000, -3, 24, 128, 100, 30)", "DetectPitchFrequency(4000, win_length=5)",
          "DetectPitchFrequency(4000, 0.02, 3, 100, 1500)", "Phaser(4000)", "Phaser(4000, 0.6, 0.5, 4.0, 0.7, 2.0, False)",
          "Flanger(4000)", "Flanger(4000, 5.0, 3.0, 40.0, 50.0, 3.0, 60.0, Modulation.TRIANGULAR, Interpolation.QUADRATIC)",
          "Dither()", "Dither(DensityFunction.TPDF, True)"]
_SPECTRUM = ["AmplitudeToDB()", "AmplitudeToDB(ScaleType.MAGNITUDE, 0.5, 1e-3, 10.0)", "DBToAmplitude(2.0, 0.5)",
             "MelScale(5, 4000, n_stft=9)", "MelScale(4, 4000, 100.0, 1500.0, 9, NormType.SLANEY, MelType.SLANEY)",
             "ComputeDeltas()", "ComputeDeltas(7, BorderType.REFLECT)", "ComputeDeltas(3, BorderType.CONSTANT)",
             "SlidingWindowCmn(4, 2)", "SlidingWindowCmn(3, 2, True)", "SlidingWindowCmn(4, 3, True, True)",
             "MaskAlongAxis(2, 3, 7.0, 1)", "MaskAlongAxis(2, 3, 7.0, 2)", "MaskAlongAxis(2, 30, 7.0, 2)",
             "TimeMasking(False, 3, 2, 5.0)", "FrequencyMasking(False, 3, 2, 5.0)", "FrequencyMasking(False, 30, 2, 5.0)",
             "GriffinLim(16, 4, rand_init=False)", "GriffinLim(16, 3, 12, 6, WindowType.HAMMING, 1.0, 0.5, 70, False)"]
_PAIRS = ["InverseSpectrogram(None, 16)", "InverseSpectrogram(50, 16, 12, 4)", "InverseSpectrogram(None, 16, None, 8, 3)",
          "Angle()", "ComplexNorm()", "ComplexNorm(2.0)", "Magphase()", "Magphase(2.0)", "TimeStretch(4, 9, 1.3)",
          "TimeStretch(4, 9, 0.6)", "PhaseVocoder(1.5, np.arange(9.0).reshape(9, 1).astype(np.float32))"]
FUNCTIONS = ["melscale_fbanks(21, 0.0, 2000.0, 5, 4000)", "linear_fbanks(21, 100.0, 1500.0, 4, 4000)", "linear_fbanks(9, 0.0, 8000.0, 6, 16000)",
             "create_dct(13, 40, NormMode.ORTHO)", "melscale_fbanks(33, 0.0, 2000.0, 10, 4000)", "melscale_fbanks(33, 50.0, 1900.0, 7, 4000, NormType.SLANEY, MelType.SLANEY)",
             "linear_fbanks(33, 0.0, 2000.0, 10, 4000)", "create_dct(6, 12)", "create_dct(6, 12, NormMode.ORTHO)"]
# random ones: the distribution of a number made of every result (measure)
SPREADS = ["MaskAlongAxisIID(4, 0.0, 1)", "MaskAlongAxisIID(7, 5.0, 2)", "MaskAlongAxisIID(0, 5.0, 2)", "TimeMasking(True, 5)",
           "FrequencyMasking(True, 4, 0, 3.0)", "InverseMelScale(20, 9, 4000, max_iter=1)", "InverseMelScale(20, 9, 4000, max_iter=20)",
           "InverseMelScale(15, 9, 4000, 100.0, 1900.0, 50, sgdargs={'sgd_lr': 0.3, 'sgd_momentum': 0.5}, norm=NormType.SLANEY, "
           "mel_type=MelType.SLANEY)"]
SPREAD_CALLS = 400
REFUSED = ["LowpassBiquad(0, 1.0)", "LowpassBiquad(4000, 1.0, 0)", "LowpassBiquad(4000, 'a')", "LowpassBiquad(4000.0, 1.0)",
           "BassBiquad(4000, 'a')", "DeemphBiquad(4000)", "RiaaBiquad(1)", "Biquad(1, 1, 1, 0, 1, 1)", "LFilter([1.0], [1.0, 2.0])",
           "LFilter(1.0, 2.0)", "Vol(-1.0)", "Vol(1.0, 'db')", "Fade(-1)", "Fade(1, 1, 'linear')", "Contrast(101)", "Overdrive(-1.0)",
           "MuLawEncoding(0)", "AmplitudeToDB('power')", "AmplitudeToDB(ScaleType.POWER, -1.0)", "Spectrogram(0)",
           "Spectrogram(10, 20)", "Spectrogram(10, power=-1.0)", "ComputeDeltas(2)", "ComputeDeltas(5, 'edge')",
           "MelScale(0)", "MaskAlongAxis(-1, 1, 1.0, 1)", "MaskAlongAxis(1, 1, 1.0, 3)", "TimeMasking(1)",
           "MFCC(4000, 6, 3)", "MFCC(4000, 200)", "DCShift(3.0)", "Gain('a')", "create_dct(0, 3)", "TimeStretch(0)", "Resample(0, 1)", "Resample(1, 2, rolloff=2)",
           "PitchShift(0, 1)", "Phaser(4000, 2)", "Flanger(4000, 50)", "Dither(1)", "InverseSpectrogram(-1)", "GriffinLim(n_iter=0)"]


def scope(audio):
    """Names for the expressions."""
    names = {name: getattr(audio, name) for name in dir(audio) if not name.startswith("_")}
    return {**names, "audio": audio, "np": np}


def questions():
    """(key, expression, inputs) of everything."""
    made = signals()
    for name in _SOUNDS:
        yield from ((f"{name}|{e}", e, (made[name],)) for e in _FILTERS + _SOUND)
    yield from ((f"half|{e}", e, (made["tone"].astype(np.float16),)) for e in _FILTERS[:4] + _SOUND)
    whole = (made["tone"] * 100).astype(np.int16)
    yield from ((f"whole|{e}", e, (whole,)) for e in _FILTERS[:2] + _SOUND)
    yield from ((f"whole_spectrum|{e}", e, (made["spectrum"].astype(np.int32),)) for e in _SPECTRUM)
    yield from ((f"spectrum|{e}", e, (made["spectrum"],)) for e in _SPECTRUM)
    yield from ((f"pairs|{e}", e, (made["pairs"],)) for e in _PAIRS)
    yield from ((f"levels|{e}", e, (made["levels"],)) for e in ("MuLawDecoding()", "MuLawDecoding(64)", "LowpassBiquad(4000, 900.0)"))
    for name in ("tone", "clicks"):
        yield from ((f"spectrum_{name}|{e}", e, (made[f"spectrum_{name}"],)) for e in _SPECTRUM)
        yield from ((f"pairs_{name}|{e}", e, (made[f"pairs_{name}"],)) for e in _PAIRS)
        yield from ((f"levels_{name}|{e}", e, (made[f"levels_{name}"],)) for e in ("MuLawDecoding()", "MuLawDecoding(64)"))
    yield from ((f"function|{e}", f"lambda: {e}", ()) for e in FUNCTIONS)
    yield from ((f"refused|{e}", f"lambda: {e}", ()) for e in REFUSED)


def measure(expression, names, sound):
    """Of every call one number, the sum weighted so that places count; sorted."""
    transform = eval(expression, names)
    made = [transform(sound.copy()).astype(np.float64).ravel() for _ in range(SPREAD_CALLS)]
    return np.sort([np.dot(one, 1 + np.sin(np.arange(len(one)))) for one in made])


def answer(expression, names, inputs):
    """A list of arrays, or the name of the exception."""
    try:
        made = eval(expression, names)(*(i.copy() for i in inputs))
    except Exception as error:  # whatever it is, it is recorded
        return type(error).__name__
    if not isinstance(made, (tuple, np.ndarray)):
        return "fine"
    return list(made) if isinstance(made, tuple) else [made]
