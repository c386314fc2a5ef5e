# SPDX-License-Identifier: Apache-2.0
"""Communication between the processes of a job."""
from spore.communication import comm_func
from spore.communication.management import *  # noqa: F401,F403
from spore.communication.management import __all__
