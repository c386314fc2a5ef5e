# SPDX-License-Identifier: Apache-2.0
"""Training in graph mode: optimizers in compiled steps, loss scaling, the step Cells, Model, amp."""
import mindspore as ms
import numpy as np
from mindspore import Parameter, ParameterTuple, Tensor, amp, nn, ops
from mindspore.train import Model

from graphtest import program

X = [[1., 2.], [3., -4.], [0.5, 1.], [-2., 1.]]
Y = [[1.], [0.], [2.], [1.]]


def small_net():
    net = nn.SequentialCell(nn.Dense(2, 3), nn.Tanh(), nn.Dense(3, 1))
    for i, p in enumerate(net.get_parameters()):
        values = np.sin(np.arange(p.size) + i).reshape(p.shape).astype(np.float32)
        p.set_data(Tensor(values))
    return net


def data():
    return Tensor(X), Tensor(Y)


def compiled_step(make_optimizer, steps=3):
    """Losses of a compiled training step with a given optimizer, and the first weights after it."""
    net, loss_fn = small_net(), nn.MSELoss()
    optimizer = make_optimizer(net.trainable_params())

    def forward(x, y):
        return loss_fn(net(x), y)
    value_and_grad = ms.value_and_grad(forward, None, optimizer.parameters)

    @ms.jit
    def step(x, y):
        loss, grads = value_and_grad(x, y)
        optimizer(grads)
        return loss
    x, y = data()
    losses = [step(x, y) for _ in range(steps)]
    return losses, net[0].weight


@program(rtol=1e-4)
def step_with_sgd():
    return compiled_step(lambda ps: nn.SGD(ps, 0.1))


@program(rtol=1e-4)
def step_with_momentum():
    return compiled_step(lambda ps: nn.Momentum(ps, 0.1, 0.9))


@program(rtol=1e-4)
def step_with_adam():
    return compiled_step(lambda ps: nn.Adam(ps, 0.05))


@program(rtol=1e-4)
def step_with_adam_weight_decay():
    return compiled_step(lambda ps: nn.AdamWeightDecay(ps, 0.05, weight_decay=0.01))


@program(rtol=1e-4)
def step_with_rmsprop():
    return compiled_step(lambda ps: nn.RMSProp(ps, 0.05))


@program(rtol=1e-4)
def step_with_adagrad():
    return compiled_step(lambda ps: nn.Adagrad(ps, learning_rate=0.05))


@program(rtol=1e-4)
def step_with_learning_rate_schedule():
    return compiled_step(lambda ps: nn.Momentum(ps, nn.exponential_decay_lr(0.1, 0.5, 6, 1, 1), 0.9), 4)


@program(rtol=1e-4)
def step_with_learning_rate_cell():
    return compiled_step(lambda ps: nn.SGD(ps, nn.PolynomialDecayLR(0.1, 0.01, 4, 0.5)), 4)


@program(rtol=1e-4)
def step_with_parameter_groups():
    def make(ps):
        return nn.Momentum([{"params": ps[:2], "lr": 0.05}, {"params": ps[2:], "weight_decay": 0.1}], 0.1, 0.9)
    return compiled_step(make)


@program(rtol=1e-4)
def step_returning_from_depend():
    net, loss_fn = small_net(), nn.MSELoss()
    optimizer = nn.SGD(net.trainable_params(), 0.1)

    def forward(x, y):
        return loss_fn(net(x), y)
    value_and_grad = ms.value_and_grad(forward, None, optimizer.parameters)

    @ms.jit
    def step(x, y):
        loss, grads = value_and_grad(x, y)
        return ops.depend(loss, optimizer(grads))
    x, y = data()
    return [step(x, y) for _ in range(3)]


@program(rtol=1e-4)
def step_with_clipping():
    net, loss_fn = small_net(), nn.MSELoss()
    optimizer = nn.SGD(net.trainable_params(), 0.1)

    def forward(x, y):
        return loss_fn(net(x), y)
    value_and_grad = ms.value_and_grad(forward, None, optimizer.parameters)

    @ms.jit
    def step(x, y):
        loss, grads = value_and_grad(x, y)
        grads = ops.clip_by_global_norm(grads, 0.1)
        optimizer(grads)
        return loss, grads[0]
    x, y = data()
    return [step(x, y) for _ in range(2)]


@program(rtol=1e-4)
def step_with_loss_scaling():
    net, loss_fn = small_net(), nn.MSELoss()
    optimizer = nn.SGD(net.trainable_params(), 0.1)
    scaler = amp.DynamicLossScaler(scale_value=2 ** 10, scale_factor=2, scale_window=2)

    def forward(x, y):
        return scaler.scale(loss_fn(net(x), y))
    value_and_grad = ms.value_and_grad(forward, None, optimizer.parameters)

    @ms.jit
    def step(x, y):
        loss, grads = value_and_grad(x, y)
        loss = scaler.unscale(loss)
        is_finite = amp.all_finite(grads)
        if is_finite:
            grads = scaler.unscale(grads)
            optimizer(grads)
        scaler.adjust(is_finite)
        return loss, is_finite, scaler.scale_value + 0
    x, y = data()
    outs = [step(x, y) for _ in range(3)]
    before = net[0].weight.asnumpy().copy()
    bad = step(Tensor([[float("inf"), 1.]] * 4), y)
    return outs, bad[1], bad[2], bool((before == net[0].weight.asnumpy()).all())


@program(rtol=1e-4)
def step_with_condition_on_loss():
    net, loss_fn = small_net(), nn.MSELoss()
    optimizer = nn.SGD(net.trainable_params(), 0.1)

    def forward(x, y):
        return loss_fn(net(x), y)
    value_and_grad = ms.value_and_grad(forward, None, optimizer.parameters)

    @ms.jit
    def step(x, y):
        loss, grads = value_and_grad(x, y)
        if loss > 0.5:
            optimizer(grads)
        return loss
    x, y = data()
    return [step(x, y) for _ in range(4)]


@program(rtol=1e-4)
def several_steps_in_one_compiled_loop():
    net, loss_fn = small_net(), nn.MSELoss()
    optimizer = nn.SGD(net.trainable_params(), 0.1)

    def forward(x, y):
        return loss_fn(net(x), y)
    value_and_grad = ms.value_and_grad(forward, None, optimizer.parameters)

    @ms.jit
    def train(x, y):
        losses = []
        for _ in range(3):
            loss, grads = value_and_grad(x, y)
            optimizer(grads)
            losses.append(loss)
        return losses
    x, y = data()
    return train(x, y), net[0].weight


@program(rtol=1e-4)
def gradient_accumulation():
    net, loss_fn = small_net(), nn.MSELoss()
    optimizer = nn.SGD(net.trainable_params(), 0.1)
    sums = ParameterTuple([Parameter(ops.zeros_like(p), name="sum." + p.name) for p in net.trainable_params()])

    def forward(x, y):
        return loss_fn(net(x), y)
    value_and_grad = ms.value_and_grad(forward, None, optimizer.parameters)
    counter = Parameter(Tensor(0, ms.int32), name="counter")

    @ms.jit
    def step(x, y):
        loss, grads = value_and_grad(x, y)
        for s, g in zip(sums, grads):
            ops.assign_add(s, g)
        ops.assign_add(counter, Tensor(1, ms.int32))
        if counter % 2 == 0:
            optimizer(sums)
            for s in sums:
                ops.assign(s, ops.zeros_like(s))
        return loss
    x, y = data()
    return [step(x, y) for _ in range(4)], counter


@program(rtol=1e-4)
def two_optimizers_in_one_step():
    a, b = small_net(), nn.Dense(1, 1, weight_init="ones", bias_init="zeros")
    opt_a, opt_b = nn.SGD(a.trainable_params(), 0.1), nn.Adam(b.trainable_params(), 0.05)
    loss_fn = nn.MSELoss()

    def forward(x, y):
        return loss_fn(b(a(x)), y)
    grad_a = ms.value_and_grad(forward, None, opt_a.parameters)
    grad_b = ms.value_and_grad(forward, None, opt_b.parameters)

    @ms.jit
    def step(x, y):
        loss_a, ga = grad_a(x, y)
        opt_a(ga)
        loss_b, gb = grad_b(x, y)
        opt_b(gb)
        return loss_a, loss_b
    x, y = data()
    return [step(x, y) for _ in range(3)]


@program(rtol=1e-4)
def two_optimizers_with_names_made_unique():
    a, b = small_net(), nn.Dense(1, 1, weight_init="ones", bias_init="zeros")
    opt_a, opt_b = nn.SGD(a.trainable_params(), 0.1), nn.SGD(b.trainable_params(), 0.05)
    for prefix, optimizer in (("a.", opt_a), ("b.", opt_b)):
        for p in optimizer.get_parameters():
            if not any(p is q for q in optimizer.parameters):
                p.name = prefix + p.name
    loss_fn = nn.MSELoss()

    def forward(x, y):
        return loss_fn(b(a(x)), y)
    grad_a = ms.value_and_grad(forward, None, opt_a.parameters)
    grad_b = ms.value_and_grad(forward, None, opt_b.parameters)

    @ms.jit
    def step(x, y):
        loss_a, ga = grad_a(x, y)
        opt_a(ga)
        loss_b, gb = grad_b(x, y)
        opt_b(gb)
        return loss_a, loss_b
    x, y = data()
    return [step(x, y) for _ in range(3)]


@program(rtol=1e-4)
def two_compiled_steps_that_share_nets():
    a, b = small_net(), nn.Dense(1, 1, weight_init="ones", bias_init="zeros")
    opt_a, opt_b = nn.SGD(a.trainable_params(), 0.1), nn.Adam(b.trainable_params(), 0.05)
    loss_fn = nn.MSELoss()

    def forward(x, y):
        return loss_fn(b(a(x)), y)
    grad_a = ms.value_and_grad(forward, None, opt_a.parameters)
    grad_b = ms.value_and_grad(forward, None, opt_b.parameters)

    @ms.jit
    def step_a(x, y):
        loss, grads = grad_a(x, y)
        opt_a(grads)
        return loss

    @ms.jit
    def step_b(x, y):
        loss, grads = grad_b(x, y)
        opt_b(grads)
        return loss
    x, y = data()
    return [(step_a(x, y), step_b(x, y)) for _ in range(3)]


@program(rtol=1e-4)
def hand_written_sgd():
    net, loss_fn = small_net(), nn.MSELoss()
    weights = net.trainable_params()

    def forward(x, y):
        return loss_fn(net(x), y)
    value_and_grad = ms.value_and_grad(forward, None, weights)

    @ms.jit
    def step(x, y):
        loss, grads = value_and_grad(x, y)
        for w, g in zip(weights, grads):
            ops.assign_sub(w, g * 0.1)
        return loss
    x, y = data()
    return [step(x, y) for _ in range(3)]


@program(rtol=1e-4)
def train_one_step_cell():
    ms.set_context(mode=ms.GRAPH_MODE)
    net = small_net()
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.Momentum(net.trainable_params(), 0.1, 0.9))
    step.set_train()
    return [step(*data()) for _ in range(3)], net[0].weight


@program(rtol=1e-4)
def own_train_cell():
    ms.set_context(mode=ms.GRAPH_MODE)

    class Step(nn.Cell):
        def __init__(self, net, optimizer):
            super().__init__(auto_prefix=False)
            self.net, self.optimizer = net, optimizer
            self.weights = optimizer.parameters
            self.grad = ops.GradOperation(get_by_list=True, sens_param=True)

        def construct(self, x, y):
            loss = self.net(x, y)
            sens = ops.fill(loss.dtype, loss.shape, 1.0)
            grads = self.grad(self.net, self.weights)(x, y, sens)
            return ops.depend(loss, self.optimizer(grads))
    net = small_net()
    step = Step(nn.WithLossCell(net, nn.MSELoss()), nn.Adam(net.trainable_params(), 0.05))
    return [step(*data()) for _ in range(3)]


@program(rtol=1e-4)
def train_one_step_with_loss_scale_cell():
    ms.set_context(mode=ms.GRAPH_MODE)
    net = small_net()
    scale = nn.DynamicLossScaleUpdateCell(loss_scale_value=2 ** 8, scale_factor=2, scale_window=2)
    step = nn.TrainOneStepWithLossScaleCell(nn.WithLossCell(net, nn.MSELoss()), nn.SGD(net.trainable_params(), 0.1), scale)
    step.set_train()
    return [step(*data()) for _ in range(3)]


@program(rtol=1e-4, stdout=False)
def model_train_in_graph_mode():
    ms.set_context(mode=ms.GRAPH_MODE)
    x, y = np.array(X, np.float32), np.array(Y, np.float32)
    dataset = ms.dataset.NumpySlicesDataset((x, y), ["x", "y"], shuffle=False).batch(2)
    net = small_net()
    model = Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.1), metrics={"mse"})
    model.train(2, dataset, dataset_sink_mode=False)
    return net[0].weight, net[2].bias, model.eval(dataset, dataset_sink_mode=False), model.predict(Tensor(X))


@program(rtol=1e-4)
def model_with_train_and_eval_modes():
    ms.set_context(mode=ms.GRAPH_MODE)
    net = nn.SequentialCell(nn.Dense(2, 2, weight_init="ones", bias_init="zeros"), nn.BatchNorm1d(2))
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.SGD(net.trainable_params(), 0.1))
    step.set_train()
    x, y = Tensor(X), Tensor(np.ones((4, 2), np.float32))
    losses = [step(x, y) for _ in range(2)]
    net.set_train(False)
    return losses, net[1].moving_mean


@program(rtol=1e-3, atol=1e-3)
def mixed_precision_o2():
    ms.set_context(mode=ms.GRAPH_MODE)
    net = small_net()
    net = amp.auto_mixed_precision(net, "O2")
    y = net(Tensor(X))
    return y.dtype, y


@program(rtol=1e-4)
def forward_in_jit_backward_eager():
    net, loss_fn = small_net(), nn.MSELoss()
    optimizer = nn.SGD(net.trainable_params(), 0.1)

    @ms.jit
    def forward(x, y):
        return loss_fn(net(x), y)
    value_and_grad = ms.value_and_grad(forward, None, optimizer.parameters)
    losses = []
    for _ in range(3):
        loss, grads = value_and_grad(*data())
        optimizer(grads)
        losses.append(loss)
    return losses


@program(rtol=1e-4)
def jit_and_eager_give_the_same_curve():
    def curve(wrap):
        net, loss_fn = small_net(), nn.MSELoss()
        optimizer = nn.Adam(net.trainable_params(), 0.05)

        def forward(x, y):
            return loss_fn(net(x), y)
        value_and_grad = ms.value_and_grad(forward, None, optimizer.parameters)

        def step(x, y):
            loss, grads = value_and_grad(x, y)
            optimizer(grads)
            return loss
        step = wrap(step)
        return [step(*data()) for _ in range(3)]
    return curve(ms.jit), curve(lambda f: f)


@program(rtol=1e-4)
def global_step_and_lr():
    net = small_net()
    optimizer = nn.SGD(net.trainable_params(), nn.piecewise_constant_lr([2, 4], [0.1, 0.01]))
    loss_fn = nn.MSELoss()

    def forward(x, y):
        return loss_fn(net(x), y)
    value_and_grad = ms.value_and_grad(forward, None, optimizer.parameters)

    @ms.jit
    def step(x, y):
        loss, grads = value_and_grad(x, y)
        optimizer(grads)
        return loss
    losses = [step(*data()) for _ in range(3)]
    return losses, optimizer.global_step


@program(rtol=1e-4)
def lstm_in_graph_mode():
    ms.set_context(mode=ms.GRAPH_MODE)
    net = nn.LSTM(2, 3, batch_first=True)
    for i, p in enumerate(net.get_parameters()):
        p.set_data(Tensor(np.sin(np.arange(p.size) + i).reshape(p.shape).astype(np.float32)))
    x = Tensor(np.cos(np.arange(8)).reshape(2, 2, 2).astype(np.float32))
    h = ops.zeros((1, 2, 3))
    out, (hn, cn) = net(x, (h, h))
    return out, hn, cn


@program(rtol=1e-4)
def attention_in_graph_mode():
    ms.set_context(mode=ms.GRAPH_MODE)

    class Attention(nn.Cell):
        def __init__(self):
            super().__init__()
            self.q = nn.Dense(2, 2, weight_init="ones", bias_init="zeros")

        def construct(self, x, mask=None):
            q = self.q(x)
            scores = ops.matmul(q, x.swapaxes(-1, -2)) / (x.shape[-1] ** 0.5)
            if mask is not None:
                scores = ops.masked_fill(scores, mask == 0, -1e9)
            return ops.matmul(ops.softmax(scores, -1), x)
    x = Tensor([X])
    net = Attention()
    return net(x), net(x, Tensor(np.tril(np.ones((4, 4), np.float32))))


@program(rtol=1e-4)
def exponential_moving_average():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.mean = Parameter(Tensor([0.]), name="mean", requires_grad=False)
            self.steps = Parameter(Tensor(0, ms.int32), name="steps", requires_grad=False)

        @ms.jit
        def construct(self, x):
            self.steps += 1
            self.mean = self.mean * 0.9 + x * 0.1
            return self.mean / (1 - 0.9 ** self.steps.astype(ms.float32))
    net = Net()
    return net(Tensor([1.])), net(Tensor([3.])), net.steps, net.mean
