# SPDX-License-Identifier: Apache-2.0
"""The surveys by name: functions that give {question: program}."""
from argument_questions import arguments
from optimizer_questions import optimizers
from random_questions import randoms
from sparse_questions import sparse
from vmap_questions import vmaps
from write_questions import writes

SURVEYS = {"writes": writes, "randoms": randoms, "vmaps": vmaps, "sparse": sparse, "arguments": arguments, "optimizers": optimizers}
