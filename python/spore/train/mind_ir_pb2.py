# SPDX-License-Identifier: Apache-2.0
"""The messages of MindIR files have no Python classes here: the engine reads and writes these files. The names can be imported; making
a message says so."""
__all__ = ['ModelProto', 'GraphProto', 'NodeProto', 'TensorProto', 'AttributeProto', 'ValueInfoProto']


def _refuse(self, *args, **kwargs):
    raise NotImplementedError(f"{type(self).__name__}: messages of MindIR are not offered; spore.load reads such a file as a network, "
                              "spore.export writes one")


ModelProto, GraphProto, NodeProto, TensorProto, AttributeProto, ValueInfoProto = (
    type(_name, (), {"__init__": _refuse, "__module__": __name__, "__doc__": "A message of MindIR; cannot be made."}) for _name in __all__)
