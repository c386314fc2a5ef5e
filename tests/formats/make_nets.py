# SPDX-License-Identifier: Apache-2.0
"""Small networks of other frameworks: their weights as files, inputs and outputs beside (tests/formats/data/nets).

    python make_nets.py torch FOLDER           under PyTorch
    python make_nets.py tensorflow FOLDER      under TensorFlow
    python make_nets.py keras3 FOLDER          under TensorFlow with Keras 3: checkpoints of the networks in FOLDER/*.keras

test_convert.py builds the same networks in spore, loads the files and compares the outputs.
"""
import sys

import numpy as np


def with_torch(folder):
    import torch
    from torch import nn

    class Vision(nn.Module):
        def __init__(self):
            super().__init__()
            self.features = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1, bias=False), nn.BatchNorm2d(8), nn.PReLU(),
                                          nn.Conv2d(8, 8, 3, groups=8), nn.GroupNorm(2, 8), nn.ReLU(),
                                          nn.ConvTranspose2d(8, 4, 2, stride=2))
            self.head = nn.Linear(4, 5)

        def forward(self, x):
            return self.head(self.features(x).mean((2, 3)))

    class Text(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed = nn.Embedding(11, 6)
            self.conv = nn.Conv1d(6, 6, 3, padding=1)
            self.lstm = nn.LSTM(6, 5, num_layers=2, batch_first=True, bidirectional=True)
            self.gru = nn.GRU(10, 4, batch_first=True)
            self.norm = nn.LayerNorm(4)
            self.out = nn.Linear(4, 3)

        def forward(self, x):
            y = self.conv(self.embed(x).transpose(1, 2)).transpose(1, 2)
            y, _ = self.lstm(y)
            y, _ = self.gru(y)
            return self.out(self.norm(y))

    torch.manual_seed(5)
    for name, net, x in (("vision", Vision(), torch.randn(2, 3, 6, 6)), ("text", Text(), torch.randint(0, 11, (2, 7)))):
        net.train()
        if name == "vision":
            net(torch.randn(8, 3, 6, 6))  # moves the running statistics
        net.eval()
        torch.save({"epoch": 1, "state_dict": net.state_dict()}, f"{folder}/{name}.pth")
        np.savez_compressed(f"{folder}/{name}.npz", x=x.numpy(), y=net(x).detach().numpy())


def with_tensorflow(folder):
    import tensorflow as tf
    import keras

    keras.utils.set_random_seed(6)
    net = keras.Sequential([
        keras.Input((8, 8, 3)), keras.layers.Conv2D(6, 3), keras.layers.BatchNormalization(epsilon=1e-5),
        keras.layers.DepthwiseConv2D(3), keras.layers.ReLU(), keras.layers.Flatten(), keras.layers.Dense(5)])
    x = np.random.default_rng(7).standard_normal((2, 8, 8, 3)).astype("f4")
    for variable in net.layers[1].weights:
        variable.assign(np.abs(np.random.default_rng(8).standard_normal(variable.shape)) + 0.5)
    layers = tf.train.Checkpoint(layers=[tf.train.Checkpoint(**{v.name: tf.Variable(v.numpy()) for v in layer.weights})
                                         for layer in net.layers if layer.weights])
    layers.write(folder + "/keras_vision")
    net.save_weights(folder + "/keras_vision.weights.h5")
    np.savez_compressed(folder + "/keras_vision.npz", x=x.transpose(0, 3, 1, 2), y=net(x).numpy())

    net = keras.Sequential([keras.Input((7, 4)), keras.layers.LSTM(5, return_sequences=True), keras.layers.Dense(3)])
    x = np.random.default_rng(9).standard_normal((2, 7, 4)).astype("f4")
    layers = tf.train.Checkpoint(layers=[tf.train.Checkpoint(**{v.name: tf.Variable(v.numpy()) for v in layer.weights})
                                         for layer in net.layers if layer.weights])
    layers.write(folder + "/keras_lstm")
    np.savez_compressed(folder + "/keras_lstm.npz", x=x, y=net(x).numpy())

    more_keras(folder, keras)


def more_keras(folder, keras):
    layers = keras.layers
    words = keras.Sequential([
        keras.Input((7,)), layers.Embedding(11, 4), layers.Bidirectional(layers.LSTM(5, return_sequences=True)),
        layers.Bidirectional(layers.GRU(3, return_sequences=True)), layers.LayerNormalization(epsilon=1e-5), layers.Dense(3)])
    pictures = keras.Sequential([
        keras.Input((8, 8, 3)), layers.Conv2D(6, 3, use_bias=False), layers.Conv2DTranspose(4, 2, strides=2),
        layers.SeparableConv2D(5, 3), layers.GlobalAveragePooling2D(), layers.Dense(3)])
    random = np.random.default_rng(10)
    for name, net, x in (("keras_words", words, random.integers(0, 11, (2, 7))),
                         ("keras_pictures", pictures, random.standard_normal((2, 8, 8, 3)).astype("f4"))):
        for variable in net.weights:
            if variable.dtype == "float32":
                variable.assign(random.standard_normal(variable.shape) * 0.3)
        net.save(folder + f"/{name}.keras")
        net.save(folder + f"/{name}.h5", include_optimizer=False)
        np.savez_compressed(folder + f"/{name}.npz", x=x.transpose(0, 3, 1, 2) if x.ndim == 4 else x, y=np.asarray(net(x)))


def with_keras3(folder):
    """The same networks as TensorFlow's checkpoints, alone and with an optimizer, and as SavedModels, of which the variables are kept."""
    import shutil
    import tempfile

    import keras
    import tensorflow as tf
    for name in ("keras_words", "keras_pictures"):
        net = keras.models.load_model(f"{folder}/{name}.keras", compile=False)
        tf.train.Checkpoint(net).write(f"{folder}/{name}_checkpoint")
        with tempfile.TemporaryDirectory() as saved:
            net.export(saved, verbose=False)
            shutil.copytree(saved + "/variables", f"{folder}/{name}_saved/variables", dirs_exist_ok=True)
        net.compile("sgd", "mse")
        net.optimizer.build(net.trainable_variables)
        tf.train.Checkpoint(net).write(f"{folder}/{name}_trained")


if __name__ == "__main__":
    {"torch": with_torch, "tensorflow": with_tensorflow, "keras3": with_keras3}[sys.argv[1]](sys.argv[2])
