# SPDX-License-Identifier: Apache-2.0
"""SummaryRecord under another address of MindSpore's."""
from spore.train.callback._summary import SummaryRecord

__all__ = ['SummaryRecord']


def _get_summary_tensor_data():
    """What summary operators recorded since the last time: {'tag[:Kind]': value}."""
    from spore.ops.values import take_summaries
    return {f'{tag}[:{kind}]': value for (kind, tag), value in take_summaries().items()}
