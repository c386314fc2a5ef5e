# SPDX-License-Identifier: Apache-2.0
"""What trees are made of: see namespace.py."""
from spore.rewrite.common import namespace
