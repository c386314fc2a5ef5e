# SPDX-License-Identifier: Apache-2.0
"""Event files for a viewer: `summary_record.py` takes values, `_events.py` is the format."""
from spore.train.summary.summary_record import SummaryRecord

__all__ = ['SummaryRecord']
