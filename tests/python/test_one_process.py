# SPDX-License-Identifier: Apache-2.0
"""Settings of jobs with several processes, in the one process there is: refused, told once, or without a meaning and silent."""
import os
import subprocess
import sys

import numpy as np
import pytest

import spore as ms
from spore import _not_done, context, nn, ops
from spore.communication import get_group_size, get_rank, init, release
from spore.parallel import AutoParallel, Layout, set_algo_parameters, set_op_strategy_config, shard


@pytest.fixture(autouse=True)
def as_at_the_start():
    _not_done._said.clear()
    yield
    ms.reset_auto_parallel_context()
    release()


@pytest.fixture
def said(monkeypatch):
    lines = []
    monkeypatch.setattr("spore.log.warning", lambda text, *args, **kw: lines.append(text % args if args else text))
    return lines


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.w = ms.Parameter(ms.Tensor([2.0]), name="w")

    def construct(self, x):
        return (self.w * x).sum()


def weight_after_a_step(**settings):
    ms.reset_auto_parallel_context()
    ms.set_auto_parallel_context(**settings)
    net = Net()
    nn.TrainOneStepCell(net, nn.SGD(net.trainable_params(), 1.0))(ms.Tensor([8.0]))
    return float(net.w.asnumpy()[0])


def test_gradients_are_not_divided_by_processes_that_are_not_there(said):
    alone = weight_after_a_step(parallel_mode="data_parallel", gradients_mean=True)
    assert said == [] and alone == -6.0
    assert weight_after_a_step(parallel_mode="data_parallel", gradients_mean=True, device_num=8) == alone
    assert said == ["set_auto_parallel_context: device_num=8 is not done: one process"]
    assert weight_after_a_step(parallel_mode="data_parallel", gradients_mean=True, device_num=8) == alone
    assert len(said) == 1  # once


def test_a_reducer_divides_by_the_processes_there_are(said):
    net = Net()
    reducer = nn.DistributedGradReducer(net.trainable_params(), mean=True, degree=8)
    assert reducer((ms.Tensor([8.0]),))[0].asnumpy()[0] == 8.0
    assert said == ["DistributedGradReducer: a mean over degree=8 is not done: the group has 1 process"]


@pytest.mark.parametrize("settings, line", [
    (dict(parallel_mode="semi_auto_parallel"), "parallel_mode='semi_auto_parallel'"),
    (dict(parallel_mode="auto_parallel"), "parallel_mode='auto_parallel'"),
    (dict(parallel_mode="hybrid_parallel"), "parallel_mode='hybrid_parallel'"),
    (dict(global_rank=1), "global_rank=1"),
    (dict(pipeline_stages=2), "pipeline_stages=2"),
    (dict(enable_parallel_optimizer=True), "enable_parallel_optimizer=True"),
    (dict(strategy_ckpt_save_file="s.ckpt"), "strategy_ckpt_save_file='s.ckpt'"),
    (dict(dataset_strategy=((2, 1),)), "dataset_strategy=((2, 1),)"),
    (dict(grad_accumulation_step=4), "grad_accumulation_step=4"),
    (dict(auto_pipeline=True), "auto_pipeline=True"),
    (dict(recompute=True), "recompute=True"),
    (dict(dump_local_norm=True), "dump_local_norm=True"),
])
def test_what_needs_several_processes_is_told_once(said, settings, line):
    for _ in range(2):
        ms.set_auto_parallel_context(**settings)
    assert said == [f"set_auto_parallel_context: {line} is not done: one process"]


@pytest.mark.parametrize("settings", [
    dict(parallel_mode="stand_alone"), dict(parallel_mode="data_parallel", device_num=1, gradients_mean=True),
    dict(global_rank=0), dict(full_batch=True), dict(dataset_strategy="full_batch"), dict(pipeline_stages=1),
    dict(parameter_broadcast=True), dict(search_mode="sharding_propagation"), dict(enable_alltoall=True),
    dict(all_reduce_fusion_config=[1, 2]), dict(gradient_fp32_sync=False)])
def test_what_one_process_does_right_is_silent(said, settings):
    ms.set_auto_parallel_context(**settings)
    init()
    assert (get_rank(), get_group_size()) == (0, 1)
    assert said == []


@pytest.mark.parametrize("ask, line", [
    (lambda: set_algo_parameters(algo_approxi_epsilon=0.5), "set_algo_parameters: algo_approxi_epsilon=0.5"),
    (lambda: set_op_strategy_config("SAVE", "/tmp/s.json"), "set_op_strategy_config(mode='SAVE')"),
    (lambda: AutoParallel(nn.ReLU()).load_operator_strategy_file("/tmp/s.json"), "AutoParallel.load_operator_strategy_file"),
    (lambda: AutoParallel(nn.ReLU()).transformer_opt("speed.json"), "AutoParallel.transformer_opt('speed.json')"),
    (lambda: AutoParallel(nn.ReLU()).print_local_norm(), "set_auto_parallel_context: dump_local_norm=True"),
    (lambda: AutoParallel(nn.ReLU()).set_group_ckpt_save_file("g.pb"), "set_auto_parallel_context: group_ckpt_save_file='g.pb'")])
def test_settings_of_the_search_and_of_files_are_told(said, ask, line):
    ask()
    ask()
    assert [text.split(" is not done")[0] for text in said if "parallel_mode" not in text] == [line]
    ms.parallel.reset_algo_parameters()


def test_levels_of_shared_states_come_from_either_option():
    for config, level in (({}, 1), ({"optimizer_level": "level3"}, 3), ({"gradient_accumulation_shard": True}, 2),
                          ({"gradient_accumulation_shard": True, "optimizer_level": "level3"}, 3), ({"gradient_accumulation_shard": False}, 1)):
        ms.set_auto_parallel_context(parallel_optimizer_config=config)
        assert context._optimizer_level() == level, config
    ms.set_auto_parallel_context(optimizer_level="level2", parallel_optimizer_config={})
    assert context._optimizer_level() == 2


@pytest.mark.parametrize("settings, wanted", [
    ({}, ((4, 3, 2, 1), (0,))),      # an eighth of all is less than 1 MB, of which there is one at least
    (dict(comm_fusion={"allreduce": {"mode": "size", "config": 3}}), ((4, 3, 2, 1, 0),)),
    (dict(comm_fusion={"allreduce": {"mode": "auto", "config": None}}), ((4, 3, 2, 1, 0),)),
    (dict(comm_fusion={"allreduce": {"mode": "size", "config": 2}}), ((4, 3, 2, 1), (0,))),
    (dict(comm_fusion={"allreduce": {"mode": "index", "config": [0, 3]}}), ((4,), (3, 2, 1), (0,))),
    (dict(all_reduce_fusion_config=[2]), ((4, 3), (2, 1, 0))),
    (dict(comm_fusion={"openstate": False}), ((4,), (3,), (2,), (1,), (0,)))])
def test_gradients_travel_together_as_the_settings_say(settings, wanted):
    ms.set_auto_parallel_context(**settings)
    sizes = (400000, 200000, 10, 20, 100)   # numbers of float32
    parameters = [ms.Parameter(ms.Tensor(np.zeros(n, np.float32)), name=f"p{i}") for i, n in enumerate(sizes)]
    assert nn.DistributedGradReducer(parameters)._buckets == wanted
    parameters[3].comm_fusion = 2
    assert all((3 in bucket) == (bucket == (3,)) for bucket in nn.DistributedGradReducer(parameters)._buckets)


@pytest.mark.parametrize("value, error", [({"allreduce": 5}, TypeError), ({"allsum": {"mode": "size", "config": 2}}, KeyError),
                                          ({"allgather": {"mode": "index", "config": [1]}}, KeyError),
                                          ({"allreduce": {"mode": "size", "config": 0}}, ValueError), ([], TypeError),
                                          ({"allreduce": {"mode": "index", "config": [1, 1]}}, ValueError)])
def test_wrong_fusion_is_refused(value, error):
    with pytest.raises(error, match="set_auto_parallel_context"):
        ms.set_auto_parallel_context(comm_fusion=value)


def grid(*names):
    return Layout((2, 2), ("dp", "mp"))(*names)


@pytest.mark.parametrize("ask, line", [
    (lambda: ops.MatMul().shard(((2, 1), (1, 4))), "Primitive.shard"),
    (lambda: nn.Dense(2, 2).shard(((2, 1),)), "Cell.shard"),
    (lambda: shard(nn.Dense(2, 2), (grid("dp", "None"),)), "parallel.shard"),
    (lambda: shard(nn.Dense(2, 2), ((1, 1),), parameter_plan={"weight": (2, 1)}), "parallel.shard"),
])
def test_sharding_is_told_once(said, ask, line):
    ask()
    ask()
    assert said == [f"{line} is not done: one process computes the whole"]


@pytest.mark.parametrize("ask", [lambda: ops.MatMul().shard(((1, 1), (1, 1))), lambda: nn.Dense(2, 2).shard(((1, 1),)),
                                 lambda: shard(nn.Dense(2, 2), (grid("None", "None"),))])
def test_strategies_that_split_nothing_are_silent(said, ask):
    ask()
    assert said == []


LAUNCHERS = [{"RANK_SIZE": "4", "RANK_ID": "1"}, {"RANK_SIZE": "4"}, {"RANK_ID": "1"}, {"MS_WORKER_NUM": "2", "MS_ROLE": "MS_WORKER"},
             {"MS_WORKER_NUM": "1", "MS_ROLE": "MS_SCHED"}]


@pytest.mark.parametrize("variables", LAUNCHERS, ids=lambda v: " ".join(f"{k}={t}" for k, t in v.items()))
@pytest.mark.parametrize("join", [init, get_rank, get_group_size, lambda: ms.set_auto_parallel_context(parallel_mode="data_parallel")],
                         ids=["init", "get_rank", "get_group_size", "data_parallel"])
def test_processes_that_no_mpi_connects_are_refused_in_one_line(monkeypatch, variables, join):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(RuntimeError, match="mpirun -n N spore run SCRIPT") as refused:
        join()
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("variables", [{"OMPI_COMM_WORLD_SIZE": "2", "OMPI_COMM_WORLD_RANK": "0"}, {"PMI_SIZE": "2"}],
                         ids=lambda v: " ".join(f"{k}={t}" for k, t in v.items()))
def test_variables_of_an_mpi_launcher_that_is_not_there_are_refused(variables, tmp_path):
    """In a process of its own: MPI may begin there before it finds itself alone."""
    script = "from spore.communication import init, get_group_size\ninit()\nprint('joined a job of', get_group_size())\n"
    run = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=120,
                         env=dict(os.environ, PYTHONPATH=os.path.dirname(os.path.dirname(os.path.abspath(ms.__file__))), **variables))
    assert run.returncode != 0 and "joined" not in run.stdout
    name = next(iter(variables))
    assert f"{name}=2 asks for 2 processes" in run.stderr or f"({name})" in run.stderr  # built without that MPI


@pytest.mark.parametrize("variables", [{"RANK_SIZE": "1", "RANK_ID": "0"}, {"OMPI_COMM_WORLD_SIZE": "1", "OMPI_COMM_WORLD_RANK": "0"},
                                       {"MS_WORKER_NUM": "1", "MS_ROLE": "MS_WORKER"}, {"RANK_SIZE": ""}])
def test_a_job_of_one_process_is_joined(monkeypatch, variables):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    init()
    assert (get_rank(), get_group_size()) == (0, 1)


def test_four_processes_do_not_write_one_checkpoint(tmp_path):
    script = ("import spore as ms\nfrom spore.communication import init\ninit()\n"
              "ms.save_checkpoint({'w': ms.Tensor([1.0])}, 'w.ckpt')\n")
    runs = [subprocess.Popen([sys.executable, "-c", script], cwd=tmp_path, stderr=subprocess.PIPE, text=True,
                             env=dict(os.environ, RANK_SIZE="4", RANK_ID=str(rank),
                                      PYTHONPATH=os.path.dirname(os.path.dirname(os.path.abspath(ms.__file__))))) for rank in range(4)]
    for run in runs:
        _, text = run.communicate(timeout=60)
        assert run.returncode != 0 and "RANK_SIZE=4 asks for 4 processes" in text
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("call, text", [
    (lambda: ms.set_context(memory_offload="ON"), "set_context: memory_offload='ON' is not done: tensors stay in memory"),
    (lambda: ms.set_context(precompile_only=True), "set_context: precompile_only=True is not done: programs run after they are compiled"),
    (lambda: nn.Dense(1, 1).set_boost("O1"), "Cell.set_boost('O1') is not done: networks are computed as they are"),
    (lambda: ms.dataset.config.set_enable_autotune(True), "dataset.config.set_enable_autotune(True) is not done: threads are not tuned; the "
                                                          "file has the settings as they are"),
    (lambda: ms.dataset.config.set_numa_enable(True), "dataset.config.set_numa_enable(True) is not done: threads are not bound to memory"),
    (lambda: ms.dataset.NumpySlicesDataset([1]).map(lambda n: n, offload=True), "map: offload=True is not done: there is no other device"),
    (lambda: ms.runtime.set_cpu_affinity(True, None, {"main": [0]}), "set_cpu_affinity: module_to_cpu_dict is not done: threads of all "
                                                                    "modules share the processors of affinity_cpu_list"),
    (lambda: ms.recompute(nn.ReLU(), ms.Tensor([1.0]), context_fn=lambda: None), "recompute: context_fn is not done: the block is computed "
                                                                                "in no context"),
])
def test_what_would_change_results_or_resources_is_told_once(said, call, text):
    before = {k: ms.get_context(k) for k in ("memory_offload", "precompile_only")}
    for _ in range(2):
        call()
    ms.set_context(**before)
    ms.dataset.config.set_enable_autotune(False)
    ms.dataset.config.set_numa_enable(False)
    assert said == [text]


def test_common_settings_are_silent(said):
    ms.set_context(mode=ms.PYNATIVE_MODE, device_target="CPU", device_id=0, enable_graph_kernel=False, max_call_depth=1000,
                   memory_offload="OFF", inter_op_parallel_num=1)
    assert said == []


@pytest.mark.parametrize("call", [lambda x: ms.communication.comm_func.reduce(x, 3), lambda x: ms.communication.comm_func.broadcast(x, 1),
                                  lambda x: ms.communication.comm_func.gather_into_tensor(x, 1),
                                  lambda x: ms.communication.comm_func.scatter_tensor(x, 2)])
def test_other_processes_are_refused(call):
    with pytest.raises(ValueError, match=r"must be one of the group's processes \[0\]"):
        call(ms.Tensor([1.0]))


def test_causal_attention_sees_the_past_alone():
    x = ms.Tensor(np.random.default_rng(0).standard_normal((3, 2, 4)).astype(np.float32))
    weights = (x, x, x, 4, 2, ops.ones((12, 4)), ops.zeros((12,)), None, None, False, 0.0, ops.ones((4, 4)), ops.zeros((4,)))
    _, seen = ops.multi_head_attention_forward(*weights, is_causal=True)
    assert np.array_equal(np.triu(seen.asnumpy()[0], 1), np.zeros((3, 3))) and seen.asnumpy()[0, 2].all()
    mask = ms.Tensor(np.triu(np.ones((3, 3), bool), 1))
    _, same = ops.multi_head_attention_forward(*weights, attn_mask=mask)
    assert np.array_equal(seen.asnumpy(), same.asnumpy())


def test_multinomial_without_replacement_draws_each_once():
    drawn = ops.multinomial_with_replacement(ms.Tensor([[1.0, 2.0, 3.0, 4.0]]), 2, 5, 4, False).asnumpy()
    assert sorted(drawn[0]) == [0, 1, 2, 3]


@pytest.mark.parametrize("make", [lambda: ops.Conv2D(1, 1, mode=0), lambda: ops.DynamicRNN(cell_clip=3.0), lambda: ops.DynamicRNN(time_major=False),
                                  lambda: ops.DynamicGRUV2(num_proj=2)])
def test_attributes_of_operators_that_are_not_done_are_refused(make):
    with pytest.raises(ValueError, match="must be"):
        make()
