# SPDX-License-Identifier: Apache-2.0
# Three updates from fixed parameters and gradients; the parameters after each, and the names of the state.
def setup(optimizer):
    return SETUP.replace("OPTIMIZER", optimizer)


SETUP = """
params = [Parameter(a, name='fc.weight'), Parameter(b, name='fc.bias')]
groups = [{'params': params[:1], 'weight_decay': 0.05}, {'params': params[1:], 'lr': 0.02}]
class Rate(nn.learning_rate_schedule.LearningRateSchedule):
    def construct(self, step):
        return 0.1 / (ops.cast(step, ms.float32) + 1.0)
opt = OPTIMIZER
"""
RUN = """
out = []
for k in range(3):
    opt((g * (k + 1), h * (1 - 2 * k)))
    out.append([p.copy() for p in params])
out"""
INPUTS = dict(a="f32[2,3]", b="f32[3]", g="f32[2,3](-1,1)", h="f32[3](-1,1)")
CASES = {
    "SGD": ["params, 0.1", "params, 0.1, momentum=0.9", "params, learning_rate=0.1, momentum=0.9, nesterov=True",
    "params, 0.1, momentum=0.9, dampening=0.1, weight_decay=0.01", "params, 0.1, weight_decay=0.01",
    "groups, 0.1, momentum=0.9",
            "params, [0.1, 0.05, 0.01]", "params, Rate()", "params, Tensor([0.1, 0.2, 0.3], ms.float32)",
            "params, 0.1, loss_scale=4.0", "params, nn.ExponentialDecayLR(0.1, 0.9, 2)"],
    "Momentum": ["params, 0.1, 0.9", "params, learning_rate=0.1, momentum=0.9, weight_decay=0.01",
    "params, 0.1, 0.9, use_nesterov=True", "params, 0.1, 0.9, loss_scale=8.0", "groups, 0.1, 0.9",
    "params, [0.1, 0.05, 0.01], 0.9", "params, Rate(), 0.9", "groups, 0.1, 0.9, use_nesterov=True", "params, 0.1, 0.0"],
    "Adam": ["params", "params, 0.1", "params, learning_rate=0.1, beta1=0.8, beta2=0.9, eps=1e-6",
    "params, 0.1, weight_decay=0.01", "params, 0.1, use_nesterov=True", "params, 0.1, loss_scale=4.0", "groups, 0.1",
    "params, [0.1, 0.05, 0.01]", "params, Rate()", "params, 0.1, use_amsgrad=True", "params, 0.1, use_lazy=True"],
    "AdamWeightDecay": ["params", "params, 0.1",
    "params, learning_rate=0.1, beta1=0.8, beta2=0.9, eps=1e-4, weight_decay=0.1", "groups, 0.1",
    "params, [0.1, 0.05, 0.01]", "params, Rate(), weight_decay=0.01"],
    "RMSProp": ["params", "params, 0.1", "params, learning_rate=0.1, decay=0.8, momentum=0.5, epsilon=1e-3",
    "params, 0.1, centered=True", "params, 0.1, weight_decay=0.01, loss_scale=2.0", "groups, 0.1",
    "params, [0.1, 0.05, 0.01]", "params, 0.1, centered=True, momentum=0.9"],
    "Lamb": ["params, 0.1", "params, learning_rate=0.1, beta1=0.8, beta2=0.9, eps=1e-4, weight_decay=0.1",
    "groups, 0.1", "params, [0.1, 0.05, 0.01]", "params, Rate()"],
    "Adagrad": ["params", "params, accum=0.5, learning_rate=0.1",
    "params, 0.1, 0.1, update_slots=True, weight_decay=0.01", "groups, 0.1, 0.1", "params, 0.1, [0.1, 0.05, 0.01]",
    "params, 0.1, 0.1, loss_scale=4.0"],
    "FTRL": ["params", "params, initial_accum=0.5, learning_rate=0.1, lr_power=-0.5",
    "params, 0.1, 0.1, l1=0.01, l2=0.02", "params, 0.1, 0.1, weight_decay=0.01",
    "[{'params': params[:1], 'weight_decay': 0.05}, {'params': params[1:]}], 0.1, 0.1"],
    "ProximalAdagrad": ["params, 0.1, 0.1"], "AdaMax": ["params, 0.1"], "Adadelta": ["params, 0.1"],
    "ASGD": ["params, 0.1"], "Rprop": ["params, 0.1"], "AdamOffload": ["params, 0.1"], "LazyAdam": ["params, 0.1"],
}
for name, all_args in CASES.items():
    for args in all_args:
        case(f"nn.{name}", RUN, setup=setup(f"nn.{name}({args})"), rtol=1e-4, atol=1e-5, **INPUTS)
    case(f"nn.{name}", "[(p.name, p.shape) for p in opt.get_parameters()]", setup=setup(f"nn.{name}({all_args[0]})"),
        **INPUTS)
for inner in ("nn.Momentum(params, 0.1, 0.9, weight_decay=0.01)", "nn.SGD(params, 0.1, weight_decay=0.1)",
        "nn.Momentum(params, [0.1, 0.05, 0.01], 0.9)"):
    for args in ("", ", epsilon=1e-4, coefficient=0.02", ", use_clip=True",
            ", lars_filter=lambda p: 'bias' not in p.name"):
        case("nn.LARS", RUN, setup=setup(f"nn.LARS({inner}{args})"), rtol=1e-4, atol=1e-5, **INPUTS)
for code in ("opt.get_lr()", "opt.global_step", "opt((g, h)); opt.global_step", "opt.is_group",
        "opt.get_weight_decay()", "[p.name for p in opt.parameters]", "opt.get_lr_parameter(params[0])", "opt.target",
        "opt.loss_scale", "opt((g, h))", "opt((g,))", "len(opt.moments)",
        "opt.parameters_dict().keys() and list(opt.parameters_dict())"):
    for args in ("params, 0.1, 0.9, weight_decay=0.01", "groups, 0.1, 0.9", "params, [0.1, 0.05], 0.9",
            "params, Rate(), 0.9"):
        case("nn.Optimizer", code, setup=setup(f"nn.Momentum({args})"), kind="either", **INPUTS)
for code in ("nn.SGD([], 0.1)", "nn.SGD(params, -1.0)", "nn.SGD(params, 'a')", "nn.SGD([a], 0.1)",
        "nn.Adam(params, 0.1, beta1=1.5)", "nn.Momentum(params, 0.1, -0.5)", "nn.SGD(params, 0.1, weight_decay=-1.0)",
        "nn.SGD(params, 0.1, nesterov=True)", "nn.Momentum(params, 0.1)", "nn.Adam(params + params, 0.1)",
             "nn.SGD([{'params': params}, {'params': params}], 0.1)", "nn.SGD([{'lr': 0.1}], 0.1)",
             "nn.SGD([{'params': params, 'no': 1}], 0.1)", "nn.SGD(params, 0.1, loss_scale=0.0)",
             "nn.Adam(params, 0.1, eps=0.0)"):
    case("nn.Optimizer", code, setup=setup("None"), kind="either", **INPUTS)
case("nn.Optimizer", RUN, setup=setup("nn.SGD([{'params': params[:1], 'lr': 0.2, 'weight_decay': 0.1}, {'params': "
    "params[1:]}, {'order_params': params}], 0.1, weight_decay=0.01)"), rtol=1e-4, atol=1e-5, **INPUTS)
case("nn.Optimizer", RUN, setup=setup("nn.Momentum([{'params': params[:1], 'lr': [0.2, 0.1, 0.05]}, {'params': "
    "params[1:], 'lr': [0.1, 0.1, 0.1]}], 0.1, 0.9)"), rtol=1e-4, atol=1e-5, **INPUTS)
case("nn.Optimizer", RUN, setup=setup("nn.Momentum([{'params': params[:1], 'grad_centralization': True}, {'params': "
    "params[1:]}], 0.1, 0.9)"), rtol=1e-4, atol=1e-5, **INPUTS)
case("nn.Optimizer", "out = []\nfor k in range(3):\n    opt((g.astype(ms.float16), h.astype(ms.float16)))\n    "
    "out.append(params[0].copy())\nout", setup=setup("nn.Momentum(params, 0.1, 0.9)"), rtol=1e-3, atol=1e-4,
    kind="either", **INPUTS)
# Learning rates
for code in ("nn.cosine_decay_lr(0.01, 0.1, 6, 2, 2)",
        "nn.cosine_decay_lr(min_lr=0.0, max_lr=1.0, total_step=5, step_per_epoch=1, decay_epoch=3)",
        "nn.cosine_decay_lr(0.1, 0.1, 6, 2, 2)", "nn.piecewise_constant_lr([2, 5, 10], [0.1, 0.05, 0.01])",
        "nn.piecewise_constant_lr([2, 1], [0.1, 0.05])",
             "nn.piecewise_constant_lr([2], [0.1, 0.05])", "nn.piecewise_constant_lr([1, 3], [1.0, 0.5])",
             "nn.exponential_decay_lr(0.1, 0.9, 6, 2, 1)", "nn.exponential_decay_lr(0.1, 0.9, 6, 2, 2, is_stair=True)",
             "nn.exponential_decay_lr(0.1, -0.9, 6, 2, 1)",
             "nn.natural_exp_decay_lr(0.1, 0.9, 6, 2, 2, True)", "nn.inverse_decay_lr(0.1, 0.5, 6, 1, 1, True)",
             "nn.polynomial_decay_lr(0.1, 0.01, 6, 2, 2, 0.5)",
             "nn.polynomial_decay_lr(0.1, 0.01, 6, 2, 2, 0.5, update_decay_epoch=True)", "nn.warmup_lr(0.1, 6, 2, 2)",
             "nn.cosine_decay_lr(0.01, 0.1, 0, 2, 2)", "nn.cosine_decay_lr(1, 0.1, 6, 2, 2)",
             "nn.exponential_decay_lr(0.1, 0.5, 4, 4, 1)"):
    case(code.split("(")[0], code, kind="either")
for schedule in ("nn.CosineDecayLR(0.01, 0.1, 4)", "nn.CosineDecayLR(min_lr=0.0, max_lr=1.0, decay_steps=3)",
        "nn.PolynomialDecayLR(0.1, 0.01, 4, 0.5)", "nn.PolynomialDecayLR(0.1, 0.01, 2, 2.0, update_decay_steps=True)",
        "nn.PolynomialDecayLR(learning_rate=0.5, end_learning_rate=0.1, decay_steps=5, power=1.0)",
                 "nn.WarmUpLR(0.1, 3)", "nn.WarmUpLR(1.0, 10)", "nn.WarmUpLR(learning_rate=0.01, warmup_steps=2)",
                 "nn.ExponentialDecayLR(0.1, 0.9, 2, is_stair=True)", "nn.ExponentialDecayLR(0.1, 0.9, 4)",
                 "nn.NaturalExpDecayLR(0.1, 0.9, 4, True)", "nn.InverseDecayLR(0.1, 0.9, 4, True)",
                 "nn.CosineDecayLR(0.0, 0.5, 1)"):
    case(schedule.split("(")[0], f"s = {schedule}; [s(Tensor(k, ms.int32)) for k in range(6)]", rtol=1e-4)
for code in ("nn.CosineDecayLR(0.1, 0.01, 4)", "nn.WarmUpLR(0.1, 0)", "nn.PolynomialDecayLR(0.1, 0.01, 4, -1.0)",
        "nn.WarmUpLR(-0.1, 3)"):
    case(code.split("(")[0], code, kind="error")
case("nn.LearningRateSchedule", "class Own(S):\n    def __init__(self):\n        super().__init__()\n        self.k = "
    "2.0\n    def construct(self, step):\n        return self.k / (step + 1)\n[Own()(Tensor(k, ms.float32)) for k in "
    "range(3)]", setup="S = nn.learning_rate_schedule.LearningRateSchedule")
case("nn.LearningRateSchedule", "issubclass(nn.WarmUpLR, nn.learning_rate_schedule.LearningRateSchedule)")
case("nn.LearningRateSchedule", "isinstance(nn.CosineDecayLR(0.1, 0.2, 3), nn.Cell)")
# The decorator that remembers how an optimizer was made
OWN = """
from importlib import import_module
register = import_module(ms.__name__ + '.nn.optim.optimizer').opt_init_args_register
class Own:
    @register
    def __init__(self, params, rate=0.1, *, k=2):
        self.rate = rate
"""
case("nn.opt_init_args_register", "Own([1], 0.5).init_args", setup=OWN)
case("nn.opt_init_args_register", "sorted(Own([1], k=3).init_args)", setup=OWN)
case("nn.opt_init_args_register", "Own([1]).rate", setup=OWN)
