# SPDX-License-Identifier: Apache-2.0
"""Records for a viewer: accepted, not written."""
from spore.train.callback._summary import SummaryRecord

__all__ = ['SummaryRecord']
