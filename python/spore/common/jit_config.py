# SPDX-License-Identifier: Apache-2.0
"""JitConfig: options of compilation as an object."""

__all__ = ["JitConfig"]


class JitConfig:
    """Options for compiled networks.

    Args:
        jit_level: "", "O0", "O1" or "O2".
        exc_mode: "auto", "sink" or "no_sink".
        jit_syntax_level: "", "STRICT" or "LAX".
        debug_level: "RELEASE" or "DEBUG".
        infer_boost: "on" or "off".

    Examples:
        >>> import spore as ms
        >>> print(ms.JitConfig(jit_level="O1").jit_config_dict["jit_level"])
        O1
    """

    def __init__(self, jit_level="", exc_mode="auto", jit_syntax_level="", debug_level="RELEASE", infer_boost="off", **kwargs):
        for name, value, choices in (("jit_level", jit_level, ("", "O0", "O1", "O2")),
                                     ("exc_mode", exc_mode, ("auto", "sink", "no_sink")),
                                     ("jit_syntax_level", jit_syntax_level, ("", "STRICT", "LAX", "COMPATIBLE")),
                                     ("debug_level", debug_level, ("RELEASE", "DEBUG")),
                                     ("infer_boost", infer_boost, ("on", "off"))):
            if value not in choices:
                raise ValueError(f"JitConfig: {name} must be one of {', '.join(map(repr, choices))}, but got {value!r}")
        self.jit_config_dict = dict(kwargs, jit_level=jit_level, exc_mode=exc_mode, jit_syntax_level=jit_syntax_level,
                                    debug_level=debug_level, infer_boost=infer_boost)
