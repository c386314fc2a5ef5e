# SPDX-License-Identifier: Apache-2.0
"""Model and its callbacks."""
import os

import numpy as np
import pytest

import spore as ms
from spore import Tensor, dataset, nn, train


def make_data(n=16, batch=4):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((n, 3)).astype("f4")
    y = x @ np.array([[1.], [2], [3]], "f4")
    return dataset.NumpySlicesDataset((x, y), ["x", "y"], shuffle=False).batch(batch)


def make_model(rate=0.1, **kwargs):
    net = nn.Dense(3, 1, weight_init="zeros", bias_init="zeros")
    return train.Model(net, nn.MSELoss(), nn.Momentum(net.trainable_params(), rate, 0.5), **kwargs)


class Record(train.Callback):
    """Writes down what is called, and when."""

    def __init__(self):
        self.seen = []

    def __enter__(self):
        self.seen.append("enter")
        return self

    def __exit__(self, *error):
        self.seen.append("exit")


for _mode in ("train", "eval"):
    for _part in ("begin", "epoch_begin", "step_begin", "step_end", "epoch_end", "end"):
        setattr(Record, f"on_{_mode}_{_part}", lambda self, run, name=f"{_mode}_{_part}": self.seen.append(name))


# --- training --------------------------------------------------------------------------------------------------------

def test_train_lowers_the_loss_and_eval_sees_it():
    model = make_model(metrics={"mse", "loss"})
    before = model.eval(make_data())
    model.train(10, make_data())
    after = model.eval(make_data())
    assert after["mse"] < 0.01 * before["mse"] and after["loss"] == pytest.approx(after["mse"])


def test_loss_monitor_prints_as_mindspore_does(capsys):
    model = make_model(rate=0.0)
    x = make_data()
    model.train(2, x, callbacks=train.LossMonitor())
    losses = [float(((y.asnumpy()) ** 2).mean()) for _, y in x.create_tuple_iterator()]
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(", loss is ")[0] for line in lines] == [f"epoch: {e} step: {s}" for e in (1, 2)
                                                               for s in (1, 2, 3, 4)]
    for line, loss in zip(lines, losses * 2):
        assert float(line.split("loss is ")[1]) == pytest.approx(loss, rel=1e-6)


def test_loss_monitor_prints_every_so_often(capsys):
    make_model().train(1, make_data(), callbacks=train.LossMonitor(3))
    assert [line.split(",")[0] for line in capsys.readouterr().out.splitlines()] == ["epoch: 1 step: 3"]
    make_model().train(1, make_data(), callbacks=train.LossMonitor(0))
    assert capsys.readouterr().out == ""


def test_loss_that_is_no_number_ends_training():
    model = make_model(rate=1e30)
    with pytest.raises(ValueError, match="In epoch: 1 step: 2, loss is NAN or INF"):
        model.train(3, make_data(), callbacks=train.LossMonitor(0))


def test_fit_evaluates_between_epochs(capsys):
    model = make_model(metrics={"mse"})
    model.fit(4, make_data(), make_data(), valid_frequency=2, callbacks=train.LossMonitor(100))
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(", metrics: {'mse': ")[0] for line in lines] == ["Eval result: epoch 2", "Eval result: epoch 4"]


def test_callbacks_are_called_in_order():
    record = Record()
    make_model(metrics={"mse"}).fit(1, make_data(8), make_data(4), callbacks=[record])
    step, check = ["train_step_begin", "train_step_end"], ["eval_step_begin", "eval_step_end"]
    assert record.seen == (["enter", "train_begin", "train_epoch_begin"] + step * 2
                           + ["enter", "eval_begin", "eval_epoch_begin"] + check
                           + ["eval_epoch_end", "eval_end", "exit", "train_epoch_end", "train_end", "exit"])


def test_old_method_names_serve_training_and_evaluation_but_not_fit():
    class Old(train.Callback):
        def __init__(self):
            self.steps = 0

        def step_end(self, run_context):
            self.steps += 1
    model, old = make_model(metrics={"mse"}), Old()
    model.train(1, make_data(), callbacks=old)
    model.eval(make_data(), callbacks=[old])
    assert old.steps == 8
    with pytest.raises(ValueError, match="step_end"):
        model.fit(1, make_data(), make_data(), callbacks=old)


def test_callbacks_learn_about_the_run():
    seen = []
    model = make_model()
    show = train.LambdaCallback(on_train_step_end=lambda run: seen.append(dict(run.original_args())))
    model.train(2, make_data(8), callbacks=[show])
    last = seen[-1]
    names = ("cur_epoch_num", "cur_step_num", "batch_num", "epoch_num", "mode")
    assert [last[name] for name in names] == [2, 4, 2, 2, "train"]
    assert last["train_network"] is model.train_network and last["net_outputs"].shape == ()
    assert len(last["train_dataset_element"]) == 2 and last["network"] is model.predict_network


def test_a_callback_can_stop_the_run():
    steps = []

    def stop(run):
        steps.append(run.original_args().cur_step_num)
        if len(steps) == 3:
            run.request_stop()
    make_model().train(5, make_data(), callbacks=train.LambdaCallback(on_train_step_end=stop))
    assert steps == [1, 2, 3]


def test_time_monitor(capsys):
    make_model().train(1, make_data(), callbacks=train.TimeMonitor(data_time=True))
    line = capsys.readouterr().out
    assert line.startswith("Train epoch time: ") and " ms, per step time: " in line and "(data time: " in line


def test_history_keeps_outputs_and_metrics():
    history = train.History()
    make_model(metrics={"mse"}).fit(3, make_data(), make_data(), callbacks=history)
    assert history.epoch == {"epoch": [1, 2, 3]}
    assert len(history.history["net_output"]) == 3 and len(history.history["mse"]) == 3


def test_learning_rate_scheduler_changes_the_rate():
    model = make_model(rate=0.5)
    model.train(1, make_data(), callbacks=train.LearningRateScheduler(lambda rate, step: rate / 2))
    assert float(model._optimizer.learning_rate) == pytest.approx(0.5 / 16)


def test_early_stopping_waits_then_restores_the_best():
    model = make_model(rate=0.0, metrics={"mse"})
    epochs = []
    count = train.LambdaCallback(on_train_epoch_end=lambda run: epochs.append(run.original_args().cur_epoch_num))
    stop = train.EarlyStopping("mse", patience=2, restore_best_weights=True)
    model.fit(10, make_data(), make_data(), callbacks=[count, stop])
    assert epochs == [1, 2, 3]


def test_reduce_lr_on_plateau():
    model = make_model(rate=0.0, metrics={"mse"})
    model._optimizer.learning_rate.set_data(Tensor(1e-30))
    model.fit(4, make_data(), make_data(), callbacks=train.ReduceLROnPlateau("mse", factor=0.5, patience=1))
    assert float(model._optimizer.learning_rate) == pytest.approx(1e-30 / 8)


def test_a_watched_result_that_is_missing_warns():
    with pytest.warns(UserWarning, match="eval_loss"):
        make_model().train(1, make_data(), callbacks=train.EarlyStopping())


def test_initial_epoch_and_sink_size():
    steps = []
    count = train.LambdaCallback(on_train_step_end=lambda run: steps.append(run.original_args().cur_epoch_num))
    make_model().train(3, make_data(), callbacks=count, dataset_sink_mode=True, sink_size=3, initial_epoch=1)
    assert steps == [2, 2, 2, 3, 3, 3]


def test_predict_runs_in_evaluation_mode():
    net = nn.SequentialCell([nn.Dropout(p=0.9)])
    model = train.Model(net)
    x = Tensor(np.ones((4, 100), "f4"))
    net.set_train()
    np.testing.assert_array_equal(model.predict(x).asnumpy(), x.asnumpy())
    assert model.eval_network is None


def test_network_with_a_loss_of_its_own():
    class WithLoss(nn.Cell):
        def __init__(self):
            super().__init__()
            self.fc = nn.Dense(3, 1)

        def construct(self, x, y):
            return ((self.fc(x) - y) ** 2).mean()
    net = WithLoss()
    losses = []
    keep = train.LambdaCallback(on_train_step_end=lambda run: losses.append(float(run.original_args().net_outputs)))
    train.Model(net, optimizer=nn.SGD(net.trainable_params(), 0.1)).train(10, make_data(), callbacks=keep)
    assert losses[-1] < losses[0] / 10


@pytest.mark.parametrize("run, error, text", [
    (lambda m: m.train(0, make_data()), ValueError, "epoch"), (lambda m: m.train("1", make_data()), TypeError, "epoch"),
    (lambda m: m.train(1, make_data(), initial_epoch=1), ValueError, "initial_epoch"),
                                              (lambda m: m.train(1, [1, 2]), TypeError, "Dataset"),
    (lambda m: m.train(1, make_data(), callbacks=[1]), TypeError, "Callback"),
    (lambda m: m.train(1, make_data(), sink_size=0), ValueError, "sink_size"),
    (lambda m: m.eval(make_data()), ValueError, "metrics"), (lambda m: m.fit(1, make_data(), make_data()), ValueError,
                                                             "metrics"),
    (lambda m: m.train(1, make_data().project("x")), ValueError, "two columns"),
    (lambda m: m.predict(object()), TypeError, "object")])
def test_run_refuses_with_a_reason(run, error, text):
    with pytest.raises(error, match=text):
        run(make_model())


@pytest.mark.parametrize("make, error, text", [
    (lambda: train.Model(1), TypeError, "Cell"), (lambda: make_model(speed=1), ValueError, "speed"),
                                               (lambda: make_model(metrics=["mse"]), TypeError, "set"),
    (lambda: train.Model(nn.Dense(1, 1), amp_level="O2"), ValueError, "optimizer"),
                                               (lambda: make_model(metrics={"luck"}), KeyError, "luck"),
    (lambda: train.Model(nn.Dense(1, 1), metrics={"mse"}), ValueError, "loss_fn"),
    (lambda: train.LossMonitor(-1), ValueError, "negative"),
    (lambda: train.RunContext(1), TypeError, "dict")])
def test_making_refuses_with_a_reason(make, error, text):
    with pytest.raises(error, match=text):
        make()


def _events_of(folder):
    """The messages of the one event file in a folder, its checksums compared."""
    from spore.train.summary import _events
    (file,) = folder.glob("*_MS")
    data, found = file.read_bytes(), []
    while data:
        size = int.from_bytes(data[:8], "little")
        message = data[12:12 + size]
        assert data[:16 + size] == _events.record(message)
        found.append(message)
        data = data[16 + size:]
    return found


def test_summary_record_writes_what_mindspore_writes(tmp_path):
    # the bytes behind the time are those of MindSpore 2.10
    wanted = {"tensor": (np.array([[1, 0]], np.float16), "10072a190a170a03746167421008010802100a1a080000803f00000000"),
              "scalar": (np.array([2.5], np.float32), "10072a0c0a0a0a037461671d00002040"),
              "histogram": (np.array([1, np.nan, np.inf, -np.inf, 2], np.float32),
                            "10072a580a560a037461674a4f0a1409000000000000f03f11000000000000e03f18010a1409000000000000f83f11000000000000e03f"
                            "180110011801200129000000000000004031000000000000f03f3900000000000008404005")}
    for plugin, (array, answer) in wanted.items():
        folder = tmp_path / plugin
        with train.SummaryRecord(str(folder)) as record:
            record.add_value(plugin, "tag", ms.Tensor(array))
            assert record.record(7)
            with pytest.raises(RuntimeError, match="only one instance"):
                train.SummaryRecord(str(folder))
        version, event = _events_of(folder)
        assert version[9:] == b"\x1a\x11MindSpore.Event:1" and event[9:].hex() == answer


def test_summary_collector_follows_the_loss(tmp_path):
    net = nn.Dense(2, 1)
    data = ms.dataset.NumpySlicesDataset((np.ones((6, 2), np.float32), np.ones((6, 1), np.float32)), ["x", "y"]).batch(2)
    model = train.Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.1))
    model.train(2, data, callbacks=[train.SummaryCollector(str(tmp_path), collect_freq=2)], dataset_sink_mode=False)
    events = _events_of(tmp_path)
    assert len(events) == 1 + 4 and all(b"loss/auto" in e and b"weight/auto" in e for e in events[1:])   # steps 1, 2, 4, 6


# --- checkpoints -----------------------------------------------------------------------------------------------------

def test_checkpoints_are_named_and_rotated(tmp_path):
    config = train.CheckpointConfig(save_checkpoint_steps=2, keep_checkpoint_max=2,
                                    append_info=["epoch_num", "step_num", {"note": 7}])
    saver = train.ModelCheckpoint("net", str(tmp_path), config)
    model = make_model()
    model.train(2, make_data(20), callbacks=[saver])
    assert sorted(os.listdir(tmp_path)) == ["net-2_3.ckpt", "net-2_5.ckpt"]
    assert saver.latest_ckpt_file_name == str(tmp_path / "net-2_5.ckpt")
    values = ms.load_checkpoint(saver.latest_ckpt_file_name)
    assert [int(values[k]) for k in ("epoch_num", "step_num", "note")] == [2, 10, 7]
    for parameter in model.train_network.get_parameters():
        np.testing.assert_array_equal(values[parameter.name].asnumpy(), parameter.asnumpy())


def test_a_second_run_gets_another_prefix(tmp_path):
    for _ in range(3):
        make_model().train(1, make_data(), callbacks=train.ModelCheckpoint("net", str(tmp_path),
                                                                           train.CheckpointConfig(4)))
    assert sorted(os.listdir(tmp_path)) == ["net-1_4.ckpt", "net_1-1_4.ckpt", "net_2-1_4.ckpt"]


def test_the_last_step_is_saved_in_any_case(tmp_path):
    make_model().train(1, make_data(), callbacks=train.ModelCheckpoint("net", str(tmp_path), train.CheckpointConfig(3)))
    assert sorted(os.listdir(tmp_path)) == ["net-1_3.ckpt", "net-1_4.ckpt"]


def test_names_and_folders_by_function(tmp_path):
    saver = train.ModelCheckpoint(lambda run: f"at{run.cur_step_num}", lambda run: str(tmp_path / "deep"),
                                  train.CheckpointConfig(2))
    make_model().train(1, make_data(), callbacks=saver)
    assert sorted(os.listdir(tmp_path / "deep")) == ["at2.ckpt", "at4.ckpt"]


def test_saved_when_training_fails(tmp_path):
    def fail(run):
        if run.original_args().cur_step_num == 3:
            raise RuntimeError("stop here")
    saver = train.ModelCheckpoint("net", str(tmp_path), train.CheckpointConfig(100, exception_save=True))
    with pytest.raises(RuntimeError, match="stop here"):
        make_model().train(1, make_data(), callbacks=[saver, train.LambdaCallback(on_train_step_end=fail)])
    assert os.listdir(tmp_path) == ["net-1_3_breakpoint.ckpt"]


def test_training_goes_on_from_a_checkpoint_as_if_it_had_not_stopped(tmp_path):
    whole = make_model()
    whole.train(4, make_data())
    half = make_model()
    half.train(2, make_data(), callbacks=train.ModelCheckpoint("net", str(tmp_path), train.CheckpointConfig(8)))
    rest = make_model()
    ms.load_param_into_net(rest.train_network, ms.load_checkpoint(str(tmp_path / "net-2_4.ckpt")))
    rest.train(4, make_data(), initial_epoch=2)
    for a, b in zip(whole.train_network.get_parameters(), rest.train_network.get_parameters()):
        np.testing.assert_array_equal(a.asnumpy(), b.asnumpy())


@pytest.mark.parametrize("make, error", [
    (lambda: train.CheckpointConfig(0, 0, 0, 0), ValueError), (lambda: train.CheckpointConfig(-1), ValueError),
    (lambda: train.CheckpointConfig(append_info=["luck"]), ValueError),
                                         (lambda: train.CheckpointConfig(append_info="epoch_num"), TypeError),
    (lambda: train.CheckpointConfig(saved_network=1), TypeError), (lambda: train.ModelCheckpoint("a/b"), ValueError),
    (lambda: train.CheckpointConfig(async_save="x"), ValueError), (lambda: train.CheckpointConfig(enc_key="a"), ValueError),
    (lambda: train.CheckpointConfig(enc_mode=3), ValueError), (lambda: train.CheckpointConfig(crc_check=3), ValueError),
    (lambda: train.CheckpointConfig(format=3), ValueError), (lambda: train.CheckpointConfig(remove_redundancy=3), ValueError),
    (lambda: ms.save_checkpoint(nn.Dense(2, 2), "b.ckpt", remove_redundancy=3), ValueError),
    (lambda: train.ModelCheckpoint(config=1), TypeError),
    (lambda: train.CheckpointConfig(format="safetensors", crc_check=True), ValueError)])
def test_checkpoint_arguments_are_checked(make, error):
    with pytest.raises(error):
        make()


def test_boost_says_that_it_does_nothing(monkeypatch):
    said, net = [], nn.Dense(2, 1)
    monkeypatch.setattr(ms.log, "warning", said.append)
    for level in ("O0", "O1"):
        train.Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.1), boost_level=level)
    assert len(said) == 1 and "boost_level 'O1' is without effect" in said[0]
