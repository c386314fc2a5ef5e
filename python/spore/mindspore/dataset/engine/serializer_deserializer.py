# SPDX-License-Identifier: Apache-2.0
"""The address that MindSpore has its JSON functions at."""
from spore.dataset.serial import compare, deserialize, serialize, show
