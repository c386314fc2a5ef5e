# SPDX-License-Identifier: Apache-2.0
"""What may still change."""


def __getattr__(name):
    if name != "optim":
        raise AttributeError(f"module 'spore.experimental' has no attribute '{name}'")
    from importlib import import_module
    return import_module("spore.experimental.optim")


def __dir__():
    return ["optim"]
