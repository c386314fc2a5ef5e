# SPDX-License-Identifier: Apache-2.0
"""Loss curves of the five models in models/: nothing compiled, the step compiled, Cells compiled."""
import bilstm_crf
import gan
import lenet
import resnet
import transformer
from common import losses

from graphtest import program

MODES = ("pynative", "jit", "graph")


@program(rtol=2e-4)
def train_lenet():
    return {mode: losses(lenet.make_step, lenet.BATCHES, mode) for mode in MODES}


@program(rtol=2e-4)
def train_resnet():
    return {mode: losses(resnet.make_step, resnet.BATCHES, mode) for mode in MODES}


@program(rtol=2e-4)
def train_bilstm_crf():
    return {mode: losses(bilstm_crf.make_step, bilstm_crf.BATCHES, mode) for mode in MODES}


@program(rtol=2e-4)
def train_transformer():
    return {mode: losses(transformer.make_step, transformer.BATCHES, mode) for mode in MODES}


@program(rtol=2e-4)
def train_gan():
    return {mode: losses(gan.make_step, gan.BATCHES, mode) for mode in MODES}
