# SPDX-License-Identifier: Apache-2.0
"""Python's multiprocessing under MindSpore's address. Tensors travel between processes as their contents; after a fork the child has
threads of its own."""
from multiprocessing import *
from multiprocessing import __all__, pool, reduction
