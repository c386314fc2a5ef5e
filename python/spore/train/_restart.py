# SPDX-License-Identifier: Apache-2.0
"""Trainings that a launcher begins again (``msrun --restarts N``): checkpoints hold what is needed to go on as if nothing had happened, and Model.train goes
on from the last one that all processes have.

The launcher sets SPORE_RESTARTS (how often it begins again), SPORE_RESTART (how often it has) and SPORE_JOB_BEGAN (seconds since the epoch; older files belong to
other jobs)."""
import os
import re

from spore import _core, context

__all__ = []

STEP, RANDOM = "spore_restart_step", "spore_restart_random"


def enabled():
    """Whether checkpoints are made to be gone on from."""
    return os.environ.get("SPORE_RESTARTS", "0") not in ("", "0")


def attempt():
    """How often the job has been begun again."""
    return int(os.environ.get("SPORE_RESTART", "0") or 0) if enabled() else 0


def _began():
    return float(os.environ.get("SPORE_JOB_BEGAN", "0"))


def _everybody(value):
    """The values of all processes, in their order."""
    found = [value]
    if context._ranks() > 1:
        from spore.mint import distributed
        found = [None] * context._ranks()
        distributed.all_gather_object(found, value)
    return found


def wait_for_all():
    """No process goes on before the others have come here."""
    if context._ranks() > 1:
        _core.comm_barrier("mccl_world_group")


def notes(step):
    """What a checkpoint holds besides Parameters: the step, and the random numbers of all processes. All of them call it."""
    from spore import Tensor
    from spore.common.generator import get_rng_state
    import numpy as np
    states = _everybody(get_rng_state().asnumpy())
    return {STEP: step, RANDOM: Tensor(np.stack(states))}


def _files(directory, prefix, form):
    """{(epoch, step in it): path} of the checkpoints of this job."""
    found = {}
    for name in os.listdir(directory) if os.path.isdir(directory) else ():
        match = re.fullmatch(re.escape(prefix) + r"-(\d+)_(\d+)\." + re.escape(form), name)
        path = os.path.join(directory, name)
        if match and os.path.getmtime(path) >= _began():
            found[int(match[1]), int(match[2])] = path
    return found


def prefix_of(directory, prefix, form, unused):
    """The prefix that this job has been using; `unused` when it has saved nothing."""
    number = re.fullmatch(re.escape(prefix) + r"_(\d+)", unused)
    before = [prefix] if number is None or int(number[1]) <= 1 else [f"{prefix}_{int(number[1]) - 1}", prefix]
    for one in before:
        if _files(directory, one, form):
            return one
    return unused


def begin(saver, network, batches):
    """Load the last checkpoint that all processes have; the number of steps that were done, 0 if there is none."""
    if saver is None or saver._prefix_func or saver._directory_func:
        raise RuntimeError("msrun --restarts: Model.train was begun again, but has no ModelCheckpoint with a prefix and a directory to go on from")
    if saver._config.saved_network is not None:
        raise RuntimeError("msrun --restarts: the checkpoints hold saved_network alone, not the optimizer; leave it out of CheckpointConfig to go on from them")
    files = {(epoch - 1) * batches + step: path for (epoch, step), path in _files(saver._directory, saver._prefix, saver._config.format).items()}
    common = set.intersection(*[set(steps) for steps in _everybody(list(files))])
    if not common:
        return 0
    from spore import log
    from spore.common.generator import set_rng_state
    from spore.train.serialization import load_checkpoint, load_param_into_net
    done = max(common)
    kept = load_checkpoint(files[done], dec_key=saver._config.enc_key, dec_mode=saver._config.enc_mode, format=saver._config.format)
    random, step = kept.pop(RANDOM, None), kept.pop(STEP, None)
    if random is None or step is None:
        raise RuntimeError(f"msrun --restarts: {files[done]} was not written by a job that may be begun again")
    missing, _ = load_param_into_net(network, kept)
    if missing:
        raise RuntimeError(f"msrun --restarts: {files[done]} has no {missing[0]!r}, hence training cannot go on from it")
    rank = _core.comm_info("mccl_world_group")[0] if context._ranks() > 1 else 0
    set_rng_state(random[rank])
    saver._last_triggered_step = done
    log.warning("the job goes on after step %d, from %s", done, files[done])
    return done
