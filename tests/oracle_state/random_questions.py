# SPDX-License-Identifier: Apache-2.0
"""Random operators with seeds: which of several calls give the same numbers. An answer is one letter a call, equal letters for equal numbers."""

_X = "t(*[0.5] * 64)"
_SHAPE = "(64,)"
_INT = "Tensor({}, ms.int32)"
# name: (class with {seeds}, arguments of the call)
PRIMITIVES = {
    "Dropout": ("ops.Dropout(0.5, Seed0={s}, Seed1={s2})", _X),
    "Dropout2D": ("ops.Dropout2D(0.5)", "Tensor(np.ones((4, 32, 2, 2), np.float32))"),
    "StandardNormal": ("ops.StandardNormal({s}, {s2})", _SHAPE),
    "StandardLaplace": ("ops.StandardLaplace({s}, {s2})", _SHAPE),
    "UniformReal": ("ops.UniformReal({s}, {s2})", _SHAPE),
    "UniformInt": ("ops.UniformInt({s}, {s2})", "(64,), " + _INT.format(0) + ", " + _INT.format(1000000)),
    "Gamma": ("ops.Gamma({s}, {s2})", "(64,), Tensor(2.0, ms.float32), Tensor(1.0, ms.float32)"),
    "Poisson": ("ops.Poisson({s}, {s2})", "(64,), Tensor(100.0, ms.float32)"),
    "RandomShuffle": ("ops.RandomShuffle({s}, {s2})", "Tensor(np.arange(64).astype(np.float32))"),
    "Bernoulli": ("ops.Bernoulli({s})", "t(*[0.5] * 64), t(0.5)"),
    "Multinomial": ("ops.Multinomial({s}, {s2})", "t(*[0.1] * 64), 32"),
    "RandomGamma": ("ops.RandomGamma({s}, {s2})", "Tensor(np.array([64], np.int32)), t(2.0)"),
    "RandomPoisson": ("ops.RandomPoisson({s}, {s2})", "Tensor(np.array([64], np.int32)), t(100.0)"),
    "ParameterizedTruncatedNormal": ("ops.ParameterizedTruncatedNormal({s}, {s2})",
                                     "Tensor(np.array([1, 64], np.int32)), t(0.0), t(1.0), t(-2.0), t(2.0)"),
    "TruncatedNormal": ("ops.TruncatedNormal(ms.float32, {s}, {s2})", "Tensor(np.array([64], np.int32))"),
    "RandomChoiceWithMask": ("ops.RandomChoiceWithMask(32, {s}, {s2})", "Tensor(np.ones((64,), bool))"),
    "RandomCategorical": ("ops.RandomCategorical()", "Tensor(np.ones((1, 50), np.float32)), 32, {s1}"),
    "LogUniformCandidateSampler": ("ops.LogUniformCandidateSampler(2, 8, True, 1000, seed={s})", "Tensor(np.array([[1, 7]], np.int64))"),
    "UniformCandidateSampler": ("ops.UniformCandidateSampler(1, 8, True, 1000, seed={s})", "Tensor(np.array([[1], [3]], np.int64))"),
    "RandpermV2": ("ops.RandpermV2({s}, {s2})", "Tensor([64], ms.int64)"),
    "MultinomialWithReplacement": ("ops.MultinomialWithReplacement(32)", "t(*[0.1] * 64), Tensor({s}, ms.int64), Tensor({s2}, ms.int64)"),
    "FractionalMaxPool": ("ops.FractionalMaxPoolWithFixedKsize((2, 2), (5, 5))", None),
}
FUNCTIONS = {
    "dropout": "ops.dropout(" + _X + ", 0.5, True{,seed})",
    "standard_normal": "ops.standard_normal((64,){,seed})",
    "standard_laplace": "ops.standard_laplace((64,){,seed})",
    "uniform": "ops.uniform((64,), Tensor(0.0, ms.float32), Tensor(1.0, ms.float32){,seed})",
    "uniform_int": "ops.uniform((64,), Tensor(0, ms.int32), Tensor(1000000, ms.int32){,seed}, dtype=ms.int32)",
    "normal": "ops.normal((64,), Tensor(0.0, ms.float32), Tensor(1.0, ms.float32){,seed})",
    "laplace": "ops.laplace((64,), Tensor(0.0, ms.float32), Tensor(1.0, ms.float32){,seed})",
    "gamma": "ops.gamma((64,), Tensor(2.0, ms.float32), Tensor(1.0, ms.float32){,seed})",
    "random_gamma": "ops.random_gamma(Tensor(np.array([64], np.int32)), t(2.0){,seed})",
    "random_poisson": "ops.random_poisson(Tensor(np.array([64], np.int32)), t(100.0){,seed})",
    "poisson": "ops.poisson((64,), Tensor(100.0, ms.float32){,seed})",
    "shuffle": "ops.shuffle(Tensor(np.arange(64).astype(np.float32)){,seed})",
    "bernoulli": "ops.bernoulli(t(*[0.5] * 64), 0.5{,seed})",
    "multinomial": "ops.multinomial(t(*[0.1] * 64), 32{,seed})",
    "multinomial_with_replacement": "ops.multinomial_with_replacement(t(*[0.1] * 64), {seed}, 0, 32)",
    "random_categorical": "ops.random_categorical(Tensor(np.ones((1, 50), np.float32)), 32{,seed})",
    "choice_with_mask": "ops.choice_with_mask(Tensor(np.ones((64,), bool)), 32{,seed})",
    "randperm": "ops.randperm(64{,seed})",
    "rand": "ops.rand(64{,seed})",
    "rand_like": "ops.rand_like(" + _X + "{,seed})",
    "randn": "ops.randn(64{,seed})",
    "randn_like": "ops.randn_like(" + _X + "{,seed})",
    "randint": "ops.randint(0, 1000000, (64,){,seed})",
    "randint_like": "ops.randint_like(Tensor(np.ones(64, np.int32)), 0, 1000000{,seed})",
    "log_uniform_candidate_sampler": "ops.log_uniform_candidate_sampler(Tensor(np.array([[1, 7]], np.int64)), 2, 8, True, 1000{,seed})",
    "uniform_candidate_sampler": "ops.uniform_candidate_sampler(Tensor(np.array([[1], [3]], np.int64)), 1, 8, True, 1000{,seed})",
}
_LETTERS = """
def first(value):
    while isinstance(value, (tuple, list)):
        value = value[0]
    return value.asnumpy().astype(np.float64).tobytes()
def letters(values):
    seen = []
    text = ""
    for value in values:
        seen.append(value) if value not in seen else None
        text += "abcdefghijklmnop"[seen.index(value)]
    return text
"""
_CELL = """
class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.op = {op}
    def construct(self):
        return {call}
"""
_ASK = {
    "calls": "{start}\na = Net()\nb = Net()\nanswer = letters([first(n()) for n in (a, a, a, b, b, b)])\n",
    "again": "{start}\na = Net()\nv = [first(a()) for _ in range(2)]\n{start}\nb = Net()\nv += [first(b()) for _ in range(2)]\nanswer = letters(v)\n",
}
_STARTS = {"free": "", "set": "ms.set_seed(3)"}
_SEEDS = {"none": (0, 0), "one": (5, 0), "two": (5, 7)}


def _questions(name, op, call, found, seeds):
    for start, text in _STARTS.items():
        for ask, program in _ASK.items():
            if (start == "free") == (ask == "again"):
                continue
            net = _CELL.format(op=op, call=call)
            found[f"{name}.{seeds}.{start}.{ask}"] = _LETTERS + net + program.format(start=text)


def randoms():
    found = {}
    for name, (op, arguments) in PRIMITIVES.items():
        if arguments is None:
            continue
        for seeds, (s, s2) in _SEEDS.items():
            if seeds != "none" and "{s" not in op + arguments or seeds == "two" and "{s2}" not in op + arguments:
                continue
            put = [part.replace("{s}", str(s)).replace("{s2}", str(s2)).replace("{s1}", str(s)) for part in (op, arguments)]
            _questions(name, put[0], f"self.op({put[1]})", found, seeds)
    for name, call in FUNCTIONS.items():
        if "seed}" in call:
            text = call.replace("{,seed}", ", seed=5").replace("{seed}", "5")
            found[f"f.{name}.one.free.calls"] = _LETTERS + _CELL.format(op="None", call=text) + _ASK["calls"].format(start="")
    return found
