# SPDX-License-Identifier: Apache-2.0
"""Checkpoint files as messages."""
from spore.train._messages import classes

__all__ = ["Checkpoint", "TensorProto"]

_FIELDS = {
    "Checkpoint": "1 value Value*",
    "Value": "1 tag s, 2 tensor TensorProto|value",
    "TensorProto": "1 dims i*, 2 tensor_type s, 3 tensor_content b",
}
_classes = classes(_FIELDS, __name__, "of a checkpoint")
Checkpoint, TensorProto = _classes["Checkpoint"], _classes["TensorProto"]
Checkpoint.Value = _classes["Value"]
