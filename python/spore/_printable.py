# SPDX-License-Identifier: Apache-2.0
"""Texts of the user's in messages. A lone surrogate, which names of files and data may hold, cannot be printed: it is shown as \\udcff."""


def printable(text):
    """The text as any terminal takes it."""
    return str(text).encode("utf-8", "backslashreplace").decode("utf-8")
