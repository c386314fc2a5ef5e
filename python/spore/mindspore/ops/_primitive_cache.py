# SPDX-License-Identifier: Apache-2.0
"""One instance per primitive and arguments, for code that asks for it with every call."""
_CACHE = {}


def _get_cache_prim(cls):
    """A function that makes `cls(*args, **kwargs)`, or gives back the one made before with these arguments."""
    def make(*args, **kwargs):
        try:
            key = (cls, args, tuple(sorted(kwargs.items())))
            found = _CACHE.get(key)
        except TypeError:  # an argument that cannot be a key
            return cls(*args, **kwargs)
        if found is None:
            found = _CACHE[key] = cls(*args, **kwargs)
        return found
    return make
