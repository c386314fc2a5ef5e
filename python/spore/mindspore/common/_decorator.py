# SPDX-License-Identifier: Apache-2.0
"""What to tell those who use names that will go."""
import functools

__all__ = ["deprecated"]


def deprecated(version, substitute, use_substitute_name=False, module_prefix=""):
    """Decorate a function or class: its use warns that it is deprecated since a version, and names the substitute."""
    def decorate(function):
        @functools.wraps(function)
        def call(*args, **kwargs):
            from spore import log
            log.warning(f"'{module_prefix}{function.__name__}' is deprecated from version {version} and will be removed in a future version, "
                        f"use '{substitute}' instead.")
            return function(*args, **kwargs)
        if use_substitute_name:
            call.__name__ = substitute
        return call
    return decorate
