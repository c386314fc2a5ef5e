# SPDX-License-Identifier: Apache-2.0
"""Event files for viewers: `summary_record.py` takes values, `_events.py` is MindInsight's format, `_tensorboard.py` TensorBoard's;
`reader.py` reads both."""
from spore.train.summary.reader import SummaryValue, read_summary
from spore.train.summary.summary_record import SummaryRecord

__all__ = ['SummaryRecord', 'SummaryValue', 'read_summary']
