# SPDX-License-Identifier: Apache-2.0
"""Functions of shared libraries, called over the memory of arrays: what ``Custom(func_type="aot")`` runs.

Such a function has the form

    int name(int nparam, void **params, int *ndims, int64_t **shapes, const char **dtypes, void *stream, void *extra)

with the inputs first and then the results, in row-major order; 0 means that all went well. It is given as "path:name"; a source file
of C or C++ is compiled first, with what CC and CXX name, or cc and c++.
"""
import ctypes
import functools
import hashlib
import os
import pathlib
import shlex
import shutil
import subprocess
import tempfile

__all__ = ["load"]

_COMPILERS = {".c": ("CC", "cc"), ".cc": ("CXX", "c++"), ".cpp": ("CXX", "c++"), ".cxx": ("CXX", "c++")}


@functools.lru_cache(maxsize=None)
def _folder():
    """Where libraries made of sources lie as long as the process lives."""
    made = tempfile.TemporaryDirectory(prefix="spore-aot-")
    return made, pathlib.Path(made.name)


def _compiled(path):
    variable, default = _COMPILERS[path.suffix]
    command = shlex.split(os.environ.get(variable) or default)
    if shutil.which(command[0]) is None:
        raise RuntimeError(f"Custom: {path.name} must be compiled, but there is no '{command[0]}'; install a compiler, name it by {variable}, "
                           "or give a shared library")
    out = _folder()[1] / (hashlib.sha256(path.read_bytes()).hexdigest()[:32] + ".so")
    if not out.exists():
        part = out.with_suffix(f".{os.getpid()}.part")
        done = subprocess.run([*command, "-O2", "-shared", "-fPIC", f"-I{path.parent}", "-o", str(part), str(path)], capture_output=True,
                              encoding="utf-8", errors="replace", check=False)
        if done.returncode:
            raise RuntimeError(f"Custom: {path.name} does not compile:\n{done.stderr.strip()}")
        part.replace(out)
    return out


def load(where):
    """The function that "path:name" names, as ``call(inputs, results)`` over lists of arrays; results are written."""
    path, colon, name = where.rpartition(":")
    if not colon or not path or not name:
        raise RuntimeError(f"For 'Custom' on CPU, user defined function path '{where}' is illegal. Proper function path should follow the "
                           "format of 'dir_path/file_name:func_name'")
    path = pathlib.Path(path).resolve()
    if not path.is_file():
        raise RuntimeError(f"For 'Custom' on CPU, couldn't find the AOT binary file: {where.rpartition(':')[0]}")
    try:
        function = getattr(ctypes.CDLL(str(_compiled(path) if path.suffix in _COMPILERS else path)), name)
    except (OSError, AttributeError) as error:
        raise RuntimeError(f"For 'Custom' on CPU, error occurs when fetching function '{name}'. Error info: {error}") from None
    function.restype = ctypes.c_int

    def call(inputs, results):
        arrays = [*inputs, *results]
        n = len(arrays)
        shapes = [(ctypes.c_int64 * max(a.ndim, 1))(*a.shape) for a in arrays]
        code = function(n, (ctypes.c_void_p * n)(*[a.ctypes.data for a in arrays]), (ctypes.c_int * n)(*[a.ndim for a in arrays]),
                        (ctypes.POINTER(ctypes.c_int64) * n)(*shapes), (ctypes.c_char_p * n)(*[a.dtype.name.encode() for a in arrays]),
                        None, None)
        if code:
            raise RuntimeError(f"Return value from CPU AOT kernel({path})'s function({name}) is {code}. Any return value not equal to 0 "
                               "will be treated as user defined error code and we will terminate execution. If termination is not your "
                               "purpose, please set return value to 0.")
        return results
    return call
