# SPDX-License-Identifier: Apache-2.0
"""SummaryRecord under another address of MindSpore's."""
from spore.train.callback._summary import SummaryRecord

__all__ = ['SummaryRecord']
