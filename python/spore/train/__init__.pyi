# SPDX-License-Identifier: Apache-2.0
# Written by scripts/make-stubs.
"""Training: Model, callbacks, metrics, checkpoints."""
from collections.abc import Sequence
from types import ModuleType
from typing import Any

from spore._core import DType as _DType, Tensor as Tensor, TensorLike
from spore.nn.cell import Cell
from spore.ops.primitive import Primitive
from . import amp as amp
from . import callback as callback
from . import metrics as metrics
from . import serialization as serialization
from . import summary as summary
from spore.train._convert import convert_parameters as convert_parameters
from spore.train._mindir import export as export
from spore.train._mindir import load as load
from spore.train._mindir import load_mindir as load_mindir
from spore.train._mindir import save_mindir as save_mindir
from spore.train.callback._callback import Callback as Callback
from spore.train.callback._callback import RunContext as RunContext
from spore.train.callback._checkpoint import CheckpointConfig as _CheckpointConfig
from spore.train.callback._checkpoint import ModelCheckpoint as _ModelCheckpoint
from spore.train.callback._control import History as History
from spore.train.callback._control import LambdaCallback as LambdaCallback
from spore.train.callback._control import LearningRateScheduler as LearningRateScheduler
from spore.train.callback._control import EarlyStopping as _EarlyStopping
from spore.train.callback._control import ReduceLROnPlateau as _ReduceLROnPlateau
from spore.train.callback._exit import TrainFaultTolerance as TrainFaultTolerance
from spore.train.callback._exit import BackupAndRestore as _BackupAndRestore
from spore.train.callback._exit import OnRequestExit as _OnRequestExit
from spore.train.callback._monitor import LossMonitor as _LossMonitor
from spore.train.callback._monitor import TimeMonitor as _TimeMonitor
from spore.train.callback._summary import SummaryLandscape as SummaryLandscape
from spore.train.callback._summary import SummaryCollector as _SummaryCollector
from spore.train.curves import plot as plot
from spore.train.dataset_helper import DatasetHelper as _DatasetHelper
from spore.train.dataset_helper import connect_network_with_dataset as connect_network_with_dataset
from spore.train.loss_scale_manager import LossScaleManager as LossScaleManager
from spore.train.loss_scale_manager import DynamicLossScaleManager as _DynamicLossScaleManager
from spore.train.loss_scale_manager import FixedLossScaleManager as _FixedLossScaleManager
from spore.train.metrics.classification import F1 as F1
from spore.train.metrics.classification import Fbeta as Fbeta
from spore.train.metrics.classification import ROC as ROC
from spore.train.metrics.classification import Top1CategoricalAccuracy as Top1CategoricalAccuracy
from spore.train.metrics.classification import Top5CategoricalAccuracy as Top5CategoricalAccuracy
from spore.train.metrics.classification import TopKCategoricalAccuracy as TopKCategoricalAccuracy
from spore.train.metrics.classification import Accuracy as _Accuracy
from spore.train.metrics.classification import ConfusionMatrix as _ConfusionMatrix
from spore.train.metrics.classification import Precision as _Precision
from spore.train.metrics.classification import Recall as _Recall
from spore.train.metrics.error import Loss as Loss
from spore.train.metrics.error import MAE as MAE
from spore.train.metrics.error import MSE as MSE
from spore.train.metrics.metric import Metric as Metric
from spore.train.metrics.metric import rearrange_inputs as rearrange_inputs
from spore.train.metrics.segmentation import ConfusionMatrixMetric as _ConfusionMatrixMetric
from spore.train.metrics.segmentation import Dice as _Dice
from spore.train.metrics.segmentation import HausdorffDistance as _HausdorffDistance
from spore.train.metrics.segmentation import MeanSurfaceDistance as _MeanSurfaceDistance
from spore.train.metrics.segmentation import OcclusionSensitivity as _OcclusionSensitivity
from spore.train.metrics.segmentation import RootMeanSquareDistance as _RootMeanSquareDistance
from spore.train.metrics.sequence import Perplexity as Perplexity
from spore.train.metrics.sequence import BleuScore as _BleuScore
from spore.train.metrics.sequence import CosineSimilarity as _CosineSimilarity
from spore.train.model import Model as _Model
from spore.train.progress import get_progress as get_progress
from spore.train.progress import set_progress as set_progress
from spore.train.serialization import async_ckpt_thread_status as async_ckpt_thread_status
from spore.train.summary.reader import SummaryValue as SummaryValue
from spore.train.summary.reader import read_summary as read_summary
from spore.train.summary.summary_record import SummaryRecord as _SummaryRecord
from spore.train.train_thor.convert_utils import ConvertModelUtils as ConvertModelUtils
from spore.train.train_thor.convert_utils import ConvertNetUtils as ConvertNetUtils

__all__: list[str]

class Accuracy(_Accuracy):
    """Share of right predictions."""
    def __init__(self, eval_type: Any = 'classification') -> None: ...
class BackupAndRestore(_BackupAndRestore):
    """Keeps a copy of the Parameters in a folder while training, and takes it back when a training begins."""
    def __init__(self, backup_dir, save_freq: Any = 'epoch', delete_checkpoint: Any = True) -> None: ...
class BleuScore(_BleuScore):
    """BLEU: how many of the word sequences of a translation stand in its references."""
    def __init__(self, n_gram: Any = 4, smooth: Any = False) -> None: ...
class CheckpointConfig(_CheckpointConfig):
    """When ModelCheckpoint saves and how many files it keeps."""
    def __init__(self, save_checkpoint_steps: Any = 1, save_checkpoint_seconds: Any = 0, keep_checkpoint_max: Any = 5, keep_checkpoint_per_n_minutes: Any = 0, integrated_save: Any = True, async_save: Any = False, saved_network=None, append_info=None, enc_key=None, enc_mode: Any = 'AES-GCM', exception_save: Any = False, crc_check: Any = False, remove_redundancy: Any = False, format: Any = 'ckpt', **kwargs) -> None: ...
class ConfusionMatrix(_ConfusionMatrix):
    """How often each class (row) was taken for each class (column)."""
    def __init__(self, num_classes, normalize: Any = 'no_norm', threshold: Any = 0.5) -> None: ...
class ConfusionMatrixMetric(_ConfusionMatrixMetric):
    """A measure made of true and false positives and negatives, over samples and channels of binary masks."""
    def __init__(self, skip_channel: Any = True, metric_name: Any = 'sensitivity', calculation_method: Any = False, decrease: Any = 'mean') -> None: ...
class CosineSimilarity(_CosineSimilarity):
    """How much each row of a matrix points the way of each other row."""
    def __init__(self, similarity: Any = 'cosine', reduction: Any = 'none', zero_diagonal: Any = True) -> None: ...
class DatasetHelper(_DatasetHelper):
    """Goes over a dataset, epoch after epoch: each iteration is one epoch of tuples of Tensors."""
    def __init__(self, dataset, dataset_sink_mode: Any = True, sink_size: Any = -1, epoch_num: Any = 1) -> None: ...
class Dice(_Dice):
    """Overlap: twice the common part over the sum of both."""
    def __init__(self, smooth: Any = 1e-05) -> None: ...
class DynamicLossScaleManager(_DynamicLossScaleManager):
    """A loss scale that falls with an overflow and grows after a run of steps without."""
    def __init__(self, init_loss_scale: Any = 16777216, scale_factor: Any = 2, scale_window: Any = 2000) -> None: ...
class EarlyStopping(_EarlyStopping):
    """Ends training when a result has not become better for some epochs."""
    def __init__(self, monitor: Any = 'eval_loss', min_delta: Any = 0, patience: Any = 0, verbose: Any = False, mode: Any = 'auto', baseline=None, restore_best_weights: Any = False) -> None: ...
class FixedLossScaleManager(_FixedLossScaleManager):
    """One loss scale for the whole run."""
    def __init__(self, loss_scale: Any = 128.0, drop_overflow_update: Any = True) -> None: ...
class HausdorffDistance(_HausdorffDistance):
    """The largest distance from a point of one surface to the other."""
    def __init__(self, distance_metric: Any = 'euclidean', percentile=None, directed: Any = False, crop: Any = True) -> None: ...
class LossMonitor(_LossMonitor):
    """Prints the loss of training, and the metrics of evaluations in ``Model.fit``. A loss that is no number ends training."""
    def __init__(self, per_print_times: Any = 1) -> None: ...
class MeanSurfaceDistance(_MeanSurfaceDistance):
    """The mean distance from the predicted surface to the true one."""
    def __init__(self, symmetric: Any = False, distance_metric: Any = 'euclidean') -> None: ...
class Model(_Model):
    """Brings a network, a loss function and an optimizer together."""
    def __init__(self, network, loss_fn=None, optimizer=None, metrics=None, eval_network=None, eval_indexes=None, amp_level: Any = 'O0', boost_level: Any = 'O0', **kwargs) -> None: ...
class ModelCheckpoint(_ModelCheckpoint):
    """Saves the trained network as ``prefix-epoch_step.ckpt``, at the times its config says and at the end."""
    def __init__(self, prefix: Any = 'CKP', directory=None, config=None) -> None: ...
class OcclusionSensitivity(_OcclusionSensitivity):
    """How much the score of a class falls when a patch around each point of the input is covered."""
    def __init__(self, pad_val: Any = 0.0, margin: Any = 2, n_batch: Any = 128, b_box=None) -> None: ...
class OnRequestExit(_OnRequestExit):
    """Ends a training after the step it is in when the process gets a signal, or a JSON file says ``{"GracefulExit": 1}``; the state is saved before."""
    def __init__(self, save_ckpt: Any = True, save_mindir: Any = True, file_name: Any = 'Net', directory: Any = './', config_file=None, sig: Any = ...) -> None: ...
class Precision(_Precision):
    """Share of the predictions of a class that are right."""
    def __init__(self, eval_type: Any = 'classification') -> None: ...
class Recall(_Recall):
    """Share of the samples of a class that are predicted."""
    def __init__(self, eval_type: Any = 'classification') -> None: ...
class ReduceLROnPlateau(_ReduceLROnPlateau):
    """Lowers the learning rate when a result has not become better for some epochs."""
    def __init__(self, monitor: Any = 'eval_loss', factor: Any = 0.1, patience: Any = 10, verbose: Any = False, mode: Any = 'auto', min_delta: Any = 0.0001, cooldown: Any = 0, min_lr: Any = 0) -> None: ...
class RootMeanSquareDistance(_RootMeanSquareDistance):
    """The mean squared distance from the predicted surface to the true one; if symmetric, the root of the mean of both directions."""
    def __init__(self, symmetric: Any = False, distance_metric: Any = 'euclidean') -> None: ...
class SummaryCollector(_SummaryCollector):
    """Writes the loss, histograms of Parameters, pictures among the inputs and what summary operators record to event files, every ``collect_freq`` steps; see SummaryRecord. The file for TensorBoard has, besides, the time of steps and the memory in use, results of evaluations in ``Model.fit``, the network's graph and the settings of the training."""
    def __init__(self, summary_dir, collect_freq: Any = 10, num_process: Any = 32, collect_specified_data=None, keep_default_action: Any = True, custom_lineage_data=None, collect_tensor_freq=None, max_file_size=None, export_options=None, form=None) -> None: ...
class SummaryRecord(_SummaryRecord):
    """Writes values of a training to event files, which TensorBoard, MindInsight and `spore board` show: those given to ``add_value``, and those that summary operators in the network recorded. One can be open at a time; use it in a with statement."""
    def __init__(self, log_dir, file_prefix: Any = 'events', file_suffix: Any = '_MS', num_process: Any = 32, network=None, max_file_size=None, raise_exception: Any = False, export_options=None, form=None) -> None: ...
class TimeMonitor(_TimeMonitor):
    """Prints how long an epoch and its steps took."""
    def __init__(self, data_size=None, data_time: Any = False) -> None: ...
def auc(x, y, reorder: Any = False):
    """The area under a curve."""
def build_train_network(network, optimizer, loss_fn=None, level: Any = 'O0', boost_level: Any = 'O0', **kwargs):
    """A Cell that does one step of training: network, loss, gradients, optimizer."""
def ckpt_to_safetensors(file_path, save_path=None, name_map=None, file_name_regex=None, processes_num: Any = 1):
    """Write the parameters of checkpoints into safetensors files."""
def data_sink(fn, dataset, sink_size: Any = 1, jit_config=None, input_signature=None):
    """A function without arguments: each call runs ``fn`` on the next ``sink_size`` rows and gives the last result."""
def export_split_mindir(file_name, device_num: Any = 8, rank_id: Any = 0, dynamic: Any = True, sapp: Any = True):
    """Parts of a model for several devices: not made here, this is one process. Arguments are checked as MindSpore does."""
def get_metric_fn(name, *args, **kwargs):
    """A metric by its name."""
def load_checkpoint(ckpt_file_name, net=None, strict_load: Any = False, filter_prefix=None, dec_key=None, dec_mode: Any = 'AES-GCM', specify_prefix=None, choice_func=None, crc_check: Any = False, remove_redundancy: Any = False, format: Any = 'ckpt'):
    """Load parameters from a file: a MindSpore checkpoint, or one of the other formats that `spore inspect` knows (safetensors, PyTorch, TensorFlow, numpy), told by the contents."""
def load_checkpoint_async(ckpt_file_name, net=None, strict_load: Any = False, filter_prefix=None, dec_key=None, dec_mode: Any = 'AES-GCM', specify_prefix=None, choice_func=None):
    """Load parameters in the background. The arguments are those of :func:`load_checkpoint`."""
def load_param_into_net(net, parameter_dict, strict_load: Any = False, remove_redundancy: Any = False):
    """Put values into the parameters of a net, by name. Nothing is changed unless all of them fit."""
def load_segmented_checkpoints(ckpt_file_dir, net=None, strict_load: Any = False, filter_prefix=None, dec_key=None, dec_mode: Any = 'AES-GCM', specify_prefix=None, choice_func=None):
    """Load all ``.ckpt`` files of a folder, which together hold one model. See :func:`load_checkpoint`."""
def names():
    """The names a metric can be asked for by, sorted."""
def safetensors_to_ckpt(file_path, save_path=None, name_map=None, file_name_regex=None, processes_num: Any = 1):
    """Write the parameters of safetensors files into checkpoints. Arguments as of :func:`ckpt_to_safetensors`."""
def save_checkpoint(save_obj, ckpt_file_name, integrated_save: Any = True, async_save: Any = False, append_dict=None, enc_key=None, enc_mode: Any = 'AES-GCM', choice_func=None, crc_check: Any = False, format: Any = 'ckpt', **kwargs):
    """Save parameters into a file, which is replaced in one step, when everything is on disk."""
