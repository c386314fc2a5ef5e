# SPDX-License-Identifier: Apache-2.0
"""Keywords of jit, capture modes, what is baked in, what compiles anew, declared inputs. Compilations are counted by a
constant function that is run once per compilation."""
import mindspore as ms
from mindspore import Parameter, Tensor, mutable, nn, ops

from graphtest import program, raised

GLOBAL = 1
compiled = []


@ops.constexpr(reuse_result=False)
def note(word):
    """Runs while compiling, once per compilation."""
    compiled.append(word)
    return 0


class Scale(nn.Cell):
    def __init__(self, k):
        super().__init__()
        self.k = k

    def construct(self, x):
        return x * self.k


def with_options(**options):
    def f(x, n):
        y = x
        for i in range(n):
            y = y * 2 + i
        if y.sum() > 10:
            y = y - 10
        return y
    jitted = ms.jit(f, **options)
    return [jitted(Tensor([1., 2.]), n) for n in (0, 1, 3)]


@program
def option_none():
    return with_options()


@program
def option_capture_ast():
    return with_options(capture_mode="ast")


@program
def option_capture_bytecode():
    return with_options(capture_mode="bytecode")


@program
def option_levels():
    return with_options(jit_level="O0"), with_options(jit_level="O1")


@program
def option_fullgraph():
    return with_options(fullgraph=True)


@program
def option_dynamic():
    return with_options(dynamic=1), with_options(dynamic=0)


@program
def option_backend():
    return with_options(backend="ms_backend")


@program
def option_old_mode_names():
    return with_options(mode="PSJit"), with_options(mode="PIJit")


@program
def option_old_jit_config():
    return with_options(jit_config=ms.JitConfig(jit_level="O0"))


@program
def option_compile_once_and_hash_args():
    return with_options(compile_once=True), with_options(hash_args=3)


@program
def option_wrong_capture_mode():
    return with_options(capture_mode="wrong")


@program
def option_wrong_level():
    return with_options(jit_level="O9")


@program
def option_wrong_dynamic():
    return with_options(dynamic=7)


@program
def option_wrong_backend():
    return with_options(backend="wrong")


@program
def option_wrong_fullgraph():
    return with_options(fullgraph="yes")


@program
def decorator_with_parentheses():
    @ms.jit()
    def f(x):
        return x * 2

    @ms.jit(jit_level="O0")
    def g(x):
        return x * 3
    return f(Tensor([1.])), g(Tensor([1.]))


@program
def jit_of_cell():
    net = ms.jit(Scale(3))
    return net(Tensor([1.]))


@program
def jit_of_class():
    return ms.jit(Scale)


@program
def jit_of_method():
    class Tool:
        k = 5

        def work(self, x):
            return x * self.k
    return ms.jit(Tool().work)(Tensor([1.]))


@program
def jit_of_builtin_operator():
    return ms.jit(ops.relu)(Tensor([-1., 1.]))


@program
def jit_keeps_name_and_doc():
    @ms.jit
    def wanted_name(x):
        """Wanted text."""
        return x
    return wanted_name.__name__, wanted_name.__doc__


@program
def jit_of_exec_code():
    scope = {"ms": ms}
    exec("def f(x):\n    return x * 2\n", scope)
    return ms.jit(scope["f"])(Tensor([1.]))


@program
def old_names():
    return hasattr(ms, "ms_function"), hasattr(ms, "ms_class"), hasattr(ms, "jit_class")


@program
def signature_of_dtype_and_shape():
    @ms.jit
    def f(x):
        return x * 2 + note("f")
    for v in ([1.], [2.], [1., 2.], [[1.]]):
        f(Tensor(v))
    f(Tensor([1], ms.int32))
    f(Tensor([9.]))
    return len(compiled)


@program
def signature_of_number():
    @ms.jit
    def f(x, n):
        return x * n + note("f")
    out = [f(Tensor([1.]), n) for n in (1, 2, 1, 2, 1.0, True)]
    return out, len(compiled)


@program
def signature_of_string_and_none():
    @ms.jit
    def f(x, s):
        if s == "a":
            x = x + 1
        return x + note("f")
    out = [f(Tensor([1.]), s) for s in ("a", "b", None, "a")]
    return out, len(compiled)


@program
def signature_of_tensor_tuple():
    """A sequence of Tensors is compiled anew for each value."""
    @ms.jit
    def f(t):
        return t[0] + t[1] + note("f")
    out = [f((Tensor([a]), Tensor([b]))) for a, b in ((1., 2.), (3., 4.), (1., 2.))]
    return out, len(compiled) > 1


@program
def signature_of_mutable_tensor_tuple():
    @ms.jit
    def f(t):
        return t[0] + t[1] + note("f")
    out = [f(mutable((Tensor([a]), Tensor([b])))) for a, b in ((1., 2.), (3., 4.))]
    return out, len(compiled)


@program
def signature_of_mutable_number():
    @ms.jit
    def f(x, n):
        return x + n + note("f")
    out = [f(Tensor([1.]), mutable(n)) for n in (1, 2, 3)]
    return out, len(compiled)


@program
def signature_of_list_length():
    @ms.jit
    def f(t):
        return len(t) + note("f")
    return [f([1] * n) for n in (1, 2, 3, 2)], len(compiled)


@program
def signature_of_dict():
    @ms.jit
    def f(d):
        total = 0
        for k in d:
            total = total + d[k]
        return total + note("f")
    return [f(d) for d in ({"a": 1}, {"a": 1}, {"b": 1}, {"a": 2})], len(compiled)


@program
def signature_of_keyword_and_position():
    @ms.jit
    def f(x, n=2):
        return x * n + note("f")
    x = Tensor([1.])
    return f(x), f(x, 2), f(x, n=2), f(x=x, n=2)


@program
def signature_of_parameter_and_tensor():
    @ms.jit
    def f(x):
        return x * 2 + note("f")
    p = Parameter(Tensor([3.]), name="p")
    return f(Tensor([1.])), f(p)


@program
def new_function_object_compiles_anew():
    def make(k):
        @ms.jit
        def f(x):
            return x * k + note("f")
        return f
    return [make(k)(Tensor([1.])) for k in (1, 2, 3)]


@program
def baked_global():
    global GLOBAL

    @ms.jit
    def f(x):
        return x * GLOBAL
    first = f(Tensor([1.]))
    GLOBAL = 10
    return first, f(Tensor([1.])), f(Tensor([1., 2.]))


@program
def baked_closure_value():
    k = 1

    @ms.jit
    def f(x):
        return x * k
    first = f(Tensor([1.]))
    k = 10
    return first, f(Tensor([1.])), f(Tensor([1., 2.]))


@program
def baked_attribute():
    ms.set_context(mode=ms.GRAPH_MODE)
    net = Scale(2)
    first = net(Tensor([1.]))
    net.k = 10
    return first, net(Tensor([1.])), net(Tensor([1., 2.]))


@program
def baked_attribute_of_jit_construct():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.k = 2

        @ms.jit
        def construct(self, x):
            return x * self.k
    net = Net()
    first = net(Tensor([1.]))
    net.k = 10
    return first, net(Tensor([1.]))


@program
def baked_attribute_of_two_instances():
    class Net(nn.Cell):
        def __init__(self, k):
            super().__init__()
            self.k = k

        @ms.jit
        def construct(self, x):
            return x * self.k
    a, b = Net(2), Net(3)
    return a(Tensor([1.])), b(Tensor([1.])), a(Tensor([1.]))


@program
def baked_list_attribute():
    ms.set_context(mode=ms.GRAPH_MODE)

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.items = [1, 2]

        def construct(self, x):
            for i in self.items:
                x = x + i
            return x
    net = Net()
    first = net(Tensor([0.]))
    net.items.append(100)
    return first, net(Tensor([0.]))


@program
def baked_tensor_attribute():
    ms.set_context(mode=ms.GRAPH_MODE)

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.t = Tensor([1.])

        def construct(self, x):
            return x + self.t
    net = Net()
    first = net(Tensor([0.]))
    net.t = Tensor([5.])
    return first, net(Tensor([0.]))


@program
def replaced_layer_after_compilation():
    ms.set_context(mode=ms.GRAPH_MODE)

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.act = nn.ReLU()

        def construct(self, x):
            return self.act(x)
    net = Net()
    first = net(Tensor([-1., 1.]))
    net.act = nn.Tanh()
    return first, net(Tensor([-1., 1.]))


@program
def input_signature_fixed():
    @ms.jit(input_signature=(Tensor([0., 0.]), Tensor([0., 0.])))
    def f(x, y):
        return x + y
    return f(Tensor([1., 2.]), Tensor([3., 4.]))


@program
def input_signature_dynamic():
    @ms.jit(input_signature=Tensor(shape=[None, 2], dtype=ms.float32))
    def f(x):
        return x.sum(axis=0)
    return [f(ops.ones((n, 2))) for n in (1, 2, 5)]


@program
def input_signature_dtype_mismatch():
    @ms.jit(input_signature=Tensor(shape=[None, 2], dtype=ms.float32))
    def f(x):
        return x.sum(axis=0)
    return f(ops.ones((3, 2), ms.int32))


@program
def input_signature_shape_mismatch():
    @ms.jit(input_signature=Tensor(shape=[None, 2], dtype=ms.float32))
    def f(x):
        return x.sum(axis=0)
    return f(ops.ones((3, 4)))


@program
def set_inputs_dynamic_batch():
    ms.set_context(mode=ms.GRAPH_MODE)

    class Net(nn.Cell):
        def construct(self, x):
            return ops.relu(x).sum(axis=0), x.shape, note("f")
    net = Net()
    net.set_inputs(Tensor(shape=[None, 2], dtype=ms.float32))
    out = [net(ops.ones((n, 2)) * n) for n in (1, 2, 5)]
    return out, len(compiled)


@program
def set_inputs_unknown_rank():
    ms.set_context(mode=ms.GRAPH_MODE)

    class Net(nn.Cell):
        def construct(self, x):
            return ops.relu(x) * 2
    net = Net()
    net.set_inputs(Tensor(shape=None, dtype=ms.float32))
    return net(ops.ones((2,))), net(ops.ones((1, 2)))


@program
def set_inputs_rank_mismatch():
    ms.set_context(mode=ms.GRAPH_MODE)
    net = Scale(2)
    net.set_inputs(Tensor(shape=[None, 2], dtype=ms.float32))
    return net(ops.ones((2,)))


@program
def set_inputs_dimension_mismatch():
    ms.set_context(mode=ms.GRAPH_MODE)
    net = Scale(2)
    net.set_inputs(Tensor(shape=[None, 2], dtype=ms.float32))
    return net(ops.ones((2, 3)))


@program
def set_inputs_dtype_mismatch():
    ms.set_context(mode=ms.GRAPH_MODE)
    net = Scale(2)
    net.set_inputs(Tensor(shape=[None, 2], dtype=ms.float32))
    return net(ops.ones((2, 2), ms.float16))


@program
def set_inputs_count_mismatch():
    ms.set_context(mode=ms.GRAPH_MODE)
    net = Scale(2)
    x = Tensor(shape=[None, 2], dtype=ms.float32)
    net.set_inputs(x, x)
    return net(ops.ones((2, 2)))


@program
def dynamic_shape_branches_on_run_time_size():
    @ms.jit(input_signature=Tensor(shape=[None], dtype=ms.float32))
    def f(x):
        if x.shape[0] > 2:
            return x.sum()
        return x.max()
    return f(Tensor([1., 2., 3.])), f(Tensor([1., 2.]))


@program
def dynamic_shape_loop_over_run_time_size():
    @ms.jit(input_signature=Tensor(shape=[None], dtype=ms.float32))
    def f(x):
        total = x.sum() * 0
        i = 0
        while i < x.shape[0]:
            total = total + x[i] * (i + 1)
            i = i + 1
        return total
    return f(Tensor([1., 2., 3.])), f(Tensor([1., 2.]))


@program
def bytecode_runs_what_it_cannot_capture():
    @ms.jit(capture_mode="bytecode")
    def f(x):
        values = set(x.asnumpy().tolist())
        try:
            y = x + len(values)
        except ValueError:
            y = x
        return y * 2
    return f(Tensor([1., 1., 3.]))


@program
def bytecode_print_is_python():
    @ms.jit(capture_mode="bytecode")
    def f(x):
        print("shape", x.shape)
        return x + 1
    return f(Tensor([1., 2.]))


@program
def bytecode_side_effects():
    seen = []

    @ms.jit(capture_mode="bytecode")
    def f(x):
        seen.append(x.shape)
        if x.sum() > 0:
            return x * 2
        return x
    return f(Tensor([1.])), f(Tensor([-1.])), seen


@program
def bytecode_sees_changed_global():
    global GLOBAL
    GLOBAL = 1

    @ms.jit(capture_mode="bytecode")
    def f(x):
        return x * GLOBAL
    first = f(Tensor([1.]))
    GLOBAL = 10
    return first, f(Tensor([1.]))


@program
def bytecode_gradient():
    @ms.jit(capture_mode="bytecode")
    def f(x):
        if x.sum() > 0:
            return x * x
        return x
    return ms.grad(f)(Tensor([3.])), ms.grad(f)(Tensor([-3.]))


@program
def bytecode_of_cell_and_generator():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.layers = nn.CellList([nn.ReLU(), nn.Tanh()])

        @ms.jit(capture_mode="bytecode")
        def construct(self, x):
            for name, layer in zip(("a", "b"), self.layers):
                x = layer(x) + len(name)
            return x, sorted([3, 1]), {"k": x}
    return Net()(Tensor([0.5]))


@program
def bytecode_raises_like_python():
    @ms.jit(capture_mode="bytecode")
    def f(x):
        d = {"a": 1}
        return x + d["z"]
    return f(Tensor([1.]))


@program
def bytecode_fullgraph_with_break():
    @ms.jit(capture_mode="bytecode", fullgraph=True)
    def f(x):
        y = x.asnumpy()
        return x + float(y[0])
    return f(Tensor([1.]))


@program
def trace_replays():
    @ms.jit(capture_mode="trace")
    def f(x):
        return ops.relu(x) * 2 + 1
    return f(Tensor([1., -1.])), f(Tensor([5., -1.]))


@program
def trace_freezes_control_flow():
    @ms.jit(capture_mode="trace")
    def f(x):
        y = x * 2
        for i in range(3):
            y = y + i
        return y
    return f(Tensor([1.])), f(Tensor([2.]))


@program
def trace_prints_once_per_tracing():
    count = []

    @ms.jit(capture_mode="trace")
    def f(x):
        count.append(1)
        return x * 2
    f(Tensor([1.]))
    f(Tensor([2.]))
    return f(Tensor([3.])), len(count)


@program
def trace_of_cell():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = Parameter(Tensor([2.]), name="w")

        @ms.jit(capture_mode="trace")
        def construct(self, x):
            return x * self.w
    return Net()(Tensor([3.]))


@program
def context_graph_mode_and_back():
    net = Scale(3)
    ms.set_context(mode=ms.GRAPH_MODE)
    first = net(Tensor([1.]))
    ms.set_context(mode=ms.PYNATIVE_MODE)
    return first, net(Tensor([1.])), ms.get_context("mode") == ms.PYNATIVE_MODE


@program
def enable_dynamic_decorator():
    @ms.enable_dynamic(x=Tensor(shape=[None], dtype=ms.float32))
    @ms.jit
    def f(x):
        return x.sum() + note("f")
    return [f(ops.ones((n,))) for n in (1, 2, 3)], len(compiled)


@program
def set_jit_config_on_cell():
    ms.set_context(mode=ms.GRAPH_MODE)
    net = Scale(2)
    net.set_jit_config(ms.JitConfig(jit_level="O0"))
    return net(Tensor([1.]))


@program
def compile_method_of_cell():
    ms.set_context(mode=ms.GRAPH_MODE)
    net = Scale(2)
    net.compile(Tensor([1.]))
    return net(Tensor([4.]))


@program
def wrong_input_kinds():
    @ms.jit
    def f(x):
        return x
    return raised(f, object()), raised(f, {1, 2})


@program
def numpy_array_as_input():
    import numpy as np

    @ms.jit
    def f(x):
        return x + 1
    return f(np.array([1., 2.], np.float32))


@program
def function_as_input():
    @ms.jit
    def f(g, x):
        return g(x)
    return f(ops.relu, Tensor([-1.]))


@program
def cell_as_input():
    @ms.jit
    def f(net, x):
        return net(x)
    return f(Scale(3), Tensor([1.]))


@program
def dtype_and_type_as_input():
    @ms.jit
    def f(x, dtype):
        return x.astype(dtype)
    return f(Tensor([1.5]), ms.int32)


@program
def jit_class_object_as_input():
    @ms.jit_class
    class Box:
        def __init__(self):
            self.k = 4

    @ms.jit
    def f(box, x):
        return x * box.k
    return f(Box(), Tensor([1.]))
