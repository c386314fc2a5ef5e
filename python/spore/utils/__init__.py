# SPDX-License-Identifier: Apache-2.0
"""Tools beside the framework: exchange of memory with other libraries; checks of hardware that a CPU does not have."""
from spore.utils import dlpack
from spore.utils.dlpack import from_dlpack, to_dlpack

__all__ = ['dlpack', 'from_dlpack', 'to_dlpack', 'ExitByRequest', 'stress_detect', 'sdc_detect_start', 'sdc_detect_stop',
           'get_sdc_detect_result']


class ExitByRequest:
    """Whether a training was asked to end."""

    def __init__(self):
        self.is_exit = False


def stress_detect(detect_type="aic"):
    """Load tests of Ascend processors."""
    raise NotImplementedError("stress_detect tests Ascend processors; there is none")


def sdc_detect_start():
    """Watch for silent errors of Ascend processors: there is none, hence nothing to watch."""


def sdc_detect_stop():
    """End of sdc_detect_start."""


def get_sdc_detect_result():
    """Whether silent errors were found: no."""
    return False


class TftHandle:
    """Training that outlives the failure of a process, by the package mindio_ttp: one process and no Ascend have none of it."""

    tft = None

    def init(self, **kwargs):
        """Raises ValueError, as MindSpore does where it is not switched on."""
        raise ValueError("MindIO TFT register need custom switch on one of:['TTP:1', 'UCE:1', 'ARF:1', 'TSP:1', 'HCCE:1'], and several Ascend "
                         "processes with the package mindio_ttp, which a CPU does not have")

    def get_tft(self):
        """What `init` has begun: None."""
        return self.tft

    def unregister_tft(self):
        """End what `init` has begun: nothing."""


_tft_handler = TftHandle()


class TFTCommValue:
    """Words of the variable MS_ENABLE_TFT, by what they ask for."""
    NEED_MINDIO = ['TTP:1', 'UCE:1', 'ARF:1', 'TSP:1', 'HCCE:1']
    ENABLE_MINDX = [*NEED_MINDIO, 'RSC:1']
    DISABLE_WATCHDOG = ['ARF:1', 'TSP:1', 'HCCE:1']
