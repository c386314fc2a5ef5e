# SPDX-License-Identifier: Apache-2.0
"""The process that runs programs for graphtest.Runner: python server.py spore|mindspore. A file of its own, because capture
by trace reads the source of every frame on the stack."""
import sys

import graphtest

graphtest.serve(sys.argv[1])
