# SPDX-License-Identifier: Apache-2.0
"""Training: Model, callbacks, metrics, checkpoints."""
from spore.train import _convert, _mindir, callback, metrics, serialization, summary
from spore.train._convert import convert_parameters
from spore.train._mindir import export, export_split_mindir, load, load_mindir, save_mindir
from spore.train.serialization import *  # noqa: F401,F403
from spore.train.metrics import *  # noqa: F401,F403
from spore.train.callback import *  # noqa: F401,F403
from spore.train.summary import *  # noqa: F401,F403
from spore.train.loss_scale_manager import DynamicLossScaleManager, FixedLossScaleManager, LossScaleManager
from spore.train import amp
from spore.train.amp import build_train_network
from spore.train.data_sink import data_sink
from spore.train.dataset_helper import DatasetHelper, connect_network_with_dataset
from spore.train.curves import plot
from spore.train.model import Model
from spore.train.progress import get_progress, set_progress
from spore.train.train_thor import ConvertModelUtils, ConvertNetUtils

__all__ = ['Model', 'plot', 'set_progress', 'get_progress', 'ConvertModelUtils', 'ConvertNetUtils', 'data_sink', 'DatasetHelper', 'connect_network_with_dataset', 'build_train_network',
           'LossScaleManager', 'FixedLossScaleManager', 'DynamicLossScaleManager', *serialization.__all__, *_convert.__all__, *_mindir.__all__,
           *callback.__all__, *summary.__all__, *metrics.__all__]

from spore import _docstrings  # noqa: E402
_docstrings.attach('train', globals())


def __getattr__(name):
    if name in ('build_searched_strategy', 'get_ckpt_path_with_strategy', 'load_distributed_checkpoint', 'merge_sliced_parameter',
                'restore_group_info_list'):
        from spore import parallel                         # where they live, loaded when asked for
        return getattr(parallel, name)
    raise AttributeError(f"module 'spore.train' has no attribute '{name}'")
