# SPDX-License-Identifier: Apache-2.0
"""Three steps of every optimizer: in plain Python, in a @jit function, in a Cell that takes gradients, in TrainOneStepCell; with weight decay,
groups, schedules of the learning rate."""

_NET = """
class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.w = Parameter(Tensor(np.array([[0.5, -0.25, 1.0], [0.125, 0.75, -0.5]], np.float32)), name="w")
        self.b = Parameter(t(0.1, -0.2), name="b")
    def construct(self, x):
        y = ops.matmul(x, self.w.T) + self.b
        return ops.reduce_sum(y * y * 0.5)
net = Net()
x = Tensor(np.array([[1.0, 2.0, -1.0], [0.5, -1.5, 2.0]], np.float32))
params = net.trainable_params()
opt = {optimizer}
"""
_PLACES = {
    "plain": """
grad = ms.value_and_grad(net, None, opt.parameters)
def step(x):
    loss, grads = grad(x)
    opt(grads)
    return loss
""",
    "jit": """
grad = ms.value_and_grad(net, None, opt.parameters)
@ms.jit
def step(x):
    loss, grads = grad(x)
    opt(grads)
    return loss
""",
    "cell": """
class Step(nn.Cell):
    def __init__(self):
        super().__init__(auto_prefix=False)
        self.net, self.opt, self.weights = net, opt, opt.parameters
        self.grad = ops.GradOperation(get_by_list=True)
    def construct(self, x):
        loss = self.net(x)
        grads = self.grad(self.net, self.weights)(x)
        self.opt(grads)
        return loss
step = Step()
""",
    "train": """
step = nn.TrainOneStepCell(net, opt)
step.set_train()
""",
}
_END = """
answer = []
for i in range(3):
    {before}
    loss = step(x)
    {after}
    answer.append([loss, net.w.copy(), net.b.copy()])
"""

_GROUPS = "[{'params': [net.w], 'lr': 0.05, 'weight_decay': 0.1}, {'params': [net.b]}]"
_ORDERED = "[{'params': [net.w], 'weight_decay': 0.1}, {'params': [net.b], 'lr': 0.02}, {'order_params': params}]"
_RATES = {"list": "[0.1, 0.05, 0.01]", "decay": "nn.ExponentialDecayLR(0.1, 0.5, 2)", "warm": "nn.WarmUpLR(0.1, 2)", "cosine": "nn.CosineDecayLR(0.01, 0.1, 4)",
          "polynomial": "nn.PolynomialDecayLR(0.1, 0.01, 3, 0.5)", "tensor": "Tensor(np.array([0.1, 0.05, 0.01], np.float32))"}
_NN = {
    "SGD": "", "SGD momentum": "momentum=0.9, dampening=0.1", "SGD nesterov": "momentum=0.9, nesterov=True", "Momentum": "momentum=0.9",
    "Momentum nesterov": "momentum=0.9, use_nesterov=True", "Adam": "", "Adam nesterov": "use_nesterov=True", "Adam amsgrad": "use_amsgrad=True",
    "Adam lazy": "use_lazy=True", "Adam offload": "use_offload=True", "AdamWeightDecay": "", "AdamOffload": "", "Adagrad": "", "Adadelta": "", "AdaMax": "",
    "ASGD": "", "FTRL": "", "Lamb": "", "LazyAdam": "", "ProximalAdagrad": "", "RMSProp": "", "RMSProp centered": "centered=True, momentum=0.5", "Rprop": "",
}


def _nn_questions():
    """{name: optimizer}"""
    made = {}
    for name, more in _NN.items():
        kind, more = name.partition(" ")[0], ", " + more if more else ""
        first = "weight_decay=0.1" if kind != "FTRL" else "weight_decay=0.1, l1=0.01"
        made[f"nn.{name}.default"] = f"nn.{kind}(params, learning_rate=0.1{more})"
        made[f"nn.{name}.decay"] = f"nn.{kind}(params, learning_rate=0.1{more}, {first})"
        made[f"nn.{name}.groups"] = f"nn.{kind}({_GROUPS}, learning_rate=0.1{more})"
        made[f"nn.{name}.list"] = f"nn.{kind}(params, learning_rate={_RATES['list']}{more})"
        made[f"nn.{name}.warm"] = f"nn.{kind}(params, learning_rate={_RATES['warm']}{more})"
    for kind in ("SGD", "Momentum", "Adam", "AdamWeightDecay", "RMSProp", "Lamb", "FTRL", "Adagrad"):
        more = ", momentum=0.9" if kind == "Momentum" else ""
        for rate in ("decay", "cosine", "polynomial", "tensor"):
            made[f"nn.{kind}.{rate}"] = f"nn.{kind}(params, learning_rate={_RATES[rate]}{more})"
        made[f"nn.{kind}.ordered"] = f"nn.{kind}({_ORDERED}, learning_rate=0.1{more})"
        made[f"nn.{kind}.group rates"] = (f"nn.{kind}([{{'params': [net.w], 'lr': {_RATES['cosine']}}}, {{'params': [net.b], 'lr': {_RATES['warm']}}}], "
                                          f"learning_rate=0.1{more})")
        if kind not in ("AdamWeightDecay", "Lamb"):
            made[f"nn.{kind}.scaled"] = f"nn.{kind}(params, learning_rate=0.1{more}, loss_scale=4.0)"
            made[f"nn.{kind}.centralized"] = (f"nn.{kind}([{{'params': [net.w], 'grad_centralization': True}}, {{'params': [net.b]}}], learning_rate=0.1{more})")
    made["nn.LARS.default"] = "nn.LARS(nn.Momentum(params, 0.1, 0.9), epsilon=1e-5, coefficient=0.02)"
    made["nn.AdaFactor.default"] = "nn.AdaFactor(params, learning_rate=0.1, scale_parameter=False, relative_step=False)"
    return made


_TORCH = {"SGD": "", "SGD momentum": "momentum=0.9, nesterov=True", "Adam": "", "Adam amsgrad": "amsgrad=True", "AdamW": "", "AdamW amsgrad": "amsgrad=True", "Adadelta": "",
          "Adagrad": "lr_decay=0.1", "Adamax": "", "ASGD": "lambd=0.01", "NAdam": "", "RAdam": "", "RMSprop": "", "RMSprop centered": "centered=True, momentum=0.5", "Rprop": ""}
_SCHEDULERS = {"StepLR": "2", "MultiStepLR": "[1, 2]", "ExponentialLR": "0.5", "CosineAnnealingLR": "4", "LambdaLR": "[lambda e: 0.5 ** e]", "LinearLR": "",
               "PolynomialLR": "3", "ConstantLR": "", "CyclicLR": "0.01, 0.1, step_size_up=2, cycle_momentum=False", "CosineAnnealingWarmRestarts": "2"}


def _torch_questions():
    made = {}
    for name, more in _TORCH.items():
        kind, more = name.partition(" ")[0], ", " + more if more else ""
        rate = "" if kind == "Adadelta" else "lr=0.1"
        made[f"optim.{name}.default"] = f"ms.experimental.optim.{kind}(params, {rate or 'lr=1.0'}{more})", "", ""
        if kind != "Rprop":
            made[f"optim.{name}.decay"] = f"ms.experimental.optim.{kind}(params, lr=0.1{more}, weight_decay=0.1)", "", ""
            groups = "[{'params': [net.w], 'lr': 0.05, 'weight_decay': 0.1}, {'params': [net.b]}]"
            made[f"optim.{name}.groups"] = f"ms.experimental.optim.{kind}({groups}, lr=0.1{more})", "", ""
        made[f"optim.{name}.maximize"] = f"ms.experimental.optim.{kind}(params, lr=0.01{more}, maximize=True)", "", ""
        made[f"optim.{name}.rate set"] = f"ms.experimental.optim.{kind}(params, lr=0.1{more})", "ms.ops.assign(opt.param_groups[0]['lr'], Tensor(0.1 / (i + 1), ms.float32))", ""
    for name, more in _SCHEDULERS.items():
        made[f"optim.{name}.stepped"] = ("ms.experimental.optim.SGD(params, lr=0.1)\nschedule = ms.experimental.optim.lr_scheduler."
                                         f"{name}(opt{', ' + more if more else ''})"), "", "schedule.step()"
    return made


_MINT = {"SGD": "", "SGD momentum": "momentum=0.9, dampening=0.1", "SGD nesterov": "momentum=0.9, nesterov=True", "Adam": "", "Adam betas": "betas=(0.8, 0.99), eps=1e-3",
         "Adam amsgrad": "amsgrad=True", "AdamW": "", "AdamW amsgrad": "amsgrad=True", "FusedAdamW": "", "FusedAdamW amsgrad": "amsgrad=True"}


def _mint_questions():
    made, kind = {}, "ms.mint.optim."
    for name, more in _MINT.items():
        more = ", " + more if more else ""
        start = kind + name.partition(" ")[0]
        made[f"mint.{name}.default"] = f"{start}(params, lr=0.1{more})", "", ""
        made[f"mint.{name}.decay"] = f"{start}(params, lr=0.1{more}, weight_decay=0.1)", "", ""
        made[f"mint.{name}.groups"] = f"{start}([{{'params': [net.w], 'lr': 0.05, 'weight_decay': 0.1}}, {{'params': [net.b]}}], lr=0.1{more})", "", ""
        made[f"mint.{name}.maximize"] = f"{start}(params, lr=0.01{more}, maximize=True)", "", ""
        made[f"mint.{name}.rate set"] = f"{start}(params, lr=0.1{more})", "opt.param_groups[0]['lr'] = 0.1 / (i + 1)", ""
        made[f"mint.{name}.rate a Tensor"] = f"{start}(params, lr=Tensor(0.1){more})", "", ""
        made[f"mint.{name}.stepped"] = f"{start}(params, lr=0.1{more})\nschedule = ms.experimental.optim.lr_scheduler.StepLR(opt, 2, 0.5)", "", "schedule.step()"
    return made


_THOR = """
class Layers(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(3, 2, weight_init=Tensor(np.array([[0.5, -0.25, 1.0], [0.125, 0.75, -0.5]], np.float32)), bias_init=t(0.1, -0.2))
    w = property(lambda self: self.fc.weight)
    b = property(lambda self: self.fc.bias)
    def construct(self, x):
        y = self.fc(x)
        return ops.reduce_sum(y * y * 0.5)
"""


def optimizers():
    questions = {}
    thor = "nn.thor(net, Tensor([0.1, 0.05, 0.01]), Tensor([0.03, 0.03, 0.03]), 0.9, batch_size=2)"
    for place in ("plain", "train"):
        questions[f"nn.thor.default.{place}"] = (_NET.replace("net = Net()", _THOR + "net = Layers()").replace("{optimizer}", thor) + _PLACES[place]
                                                 + _END.format(before="pass", after="pass"))
    for name, optimizer in _nn_questions().items():
        for place, text in _PLACES.items():
            if place not in ("jit", "train") and not name.endswith("default"):
                continue
            if name.startswith("nn.LARS") and place != "train":
                text = text.replace("opt.parameters", "params")
            questions[f"{name}.{place}"] = _NET.replace("{optimizer}", optimizer) + text + _END.format(before="pass", after="pass")
    for name, (optimizer, before, after) in {**_torch_questions(), **_mint_questions()}.items():
        for place in ("plain", "jit", "cell") if name.endswith("default") else ("plain", "jit"):
            text = _NET.replace("{optimizer}", optimizer) + _PLACES[place] + _END.format(before=before or "pass", after=after or "pass")
            questions[f"{name}.{place}"] = text.replace("opt.parameters", "params")
    return questions
