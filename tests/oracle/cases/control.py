# SPDX-License-Identifier: Apache-2.0
# Effects, higher-order functions, differentiation, jit.
case("ops.assign", "(ops.assign(p, x), p)", p="param:f32[2,3]", x="f32[2,3]")
case("ops.assign", "ops.assign(p, 3.0); p", p="param:f32[2]", kind="either")
case("ops.assign", "ops.assign(p, x); p", p="param:f32[2]", x="i32[2]", kind="either")
case("ops.assign", "ops.assign(p, x); p", p="param:f32[2]", x="f32[3]", kind="either")
case("ops.Assign", "(ops.Assign()(p, x), p)", p="param:f32[2,3]", x="f32[2,3]")
case("ops.Assign", "ops.Assign()(p, x); p", p="param:i32[2]", x="i32[2]")
case("ops.Assign", "ops.Assign()(p, p * 2); p", p="param:f16[2]")
for form, api in (("ops.assign_add", "ops.assign_add"), ("ops.AssignAdd()", "ops.AssignAdd"), ("ops.assign_sub",
        "ops.assign_sub"), ("ops.AssignSub()", "ops.AssignSub")):
    case(api, f"({form}(p, x), p)", p="param:f32[2,3]", x="f32[2,3]")
    case(api, f"{form}(p, x); p", p="param:i32[1]", x="i32[1]")
    case(api, f"{form}(p, 1); p", p="param:i32[]", kind="either")
    case(api, f"{form}(p, x); {form}(p, x); p", p="param:f16[2]", x="f16[2]")
# depend, identity, stop_gradient
for form, api in (("ops.depend", "ops.depend"), ("F.depend", "ops.depend"), ("ops.Depend()", "ops.Depend")):
    case(api, f"{form}(x, y)", x="f32[2,3]", y="f32[1]")
    case(api, f"{form}(x, ops.relu(y)) * 2", x="f32[2,3]", y="f32[1]", grad="x y")
    case(api, f"{form}((x, y), None)" if form == "ops.depend" else f"{form}(x, (x, y))", x="i32[2]", y="f32[1]",
        kind="either")
for form in ("ops.stop_gradient", "F.stop_gradient"):
    case("ops.stop_gradient", f"{form}(x) * x", x="f32[2,3]", grad="x")
    case("ops.stop_gradient", f"x + {form}(x * x)", x="f16[2]", grad="x")
case("ops.stop_gradient", "ops.stop_gradient(x)", x="i32[2]")
case("ops.identity", "F.identity(x) + 1", x="i32[2,3]")
case("ops.Identity", "ops.Identity()(x)", x="bool[2]")
# Printing and summaries give the value they are about, or nothing
case("ops.Print", "ops.Print()(x)", x="f32[2]", kind="either")
case("ops.Print", "ops.Print()('x', x)", x="i32[]", kind="either")
case("ops.Print", "ops.Print()('a', 1, (x, 2.0))", x="f16[1]", kind="either")
case("ops.ScalarSummary", "ops.ScalarSummary()('loss', x)", x="f32[]", kind="either")
case("ops.ScalarSummary", "ops.ScalarSummary()('loss', x)", x="f32[1]", kind="either")
case("ops.ScalarSummary", "ops.ScalarSummary()(1, x)", x="f32[]", kind="either")
case("ops.ImageSummary", "ops.ImageSummary()('image', x)", x="f32[1,3,2,2]", kind="either")
case("ops.ImageSummary", "ops.ImageSummary()('image', x)", x="f32[2,1,4,4]", kind="either")
case("ops.ImageSummary", "ops.ImageSummary()('image', x)", x="f32[2,2]", kind="either")
# Float status
case("ops.FloatStatus", "ops.FloatStatus()(x)", x="f32[2,3]")
case("ops.FloatStatus", "ops.FloatStatus()(Tensor([1.0, np.inf], ms.float32))")
case("ops.FloatStatus", "ops.FloatStatus()(Tensor([np.nan], ms.float16))", kind="either")
for name in ("NPUAllocFloatStatus", "NPUGetFloatStatus", "NPUClearFloatStatus"):
    arg = "" if "Alloc" in name else "Tensor(np.zeros(8, np.float32))"
    for code in (f"ops.{name}()({arg})", f"P.{name}()({arg}).shape", f"P.{name}()({arg}).dtype"):
        case(f"ops.{name}", code)
# Primitive attributes
case("Primitive.add_prim_attr", "p = ops.Add(); p.add_prim_attr('a', 3); p.attrs['a']")
case("Primitive.add_prim_attr", "p = ops.ReLU().add_prim_attr('k', 'v'); p(x)", x="f32[3]")
case("Primitive.add_prim_attr", "p = ops.Add(); p.add_prim_attr('a', True); (p.name, 'a' in p.attrs)")
case("Primitive.shard", "ops.Add().shard(((1, 1), (1, 1)))(x, x)", x="f32[2,2]", kind="either")
case("Primitive.shard", "ops.ReLU().shard(((1,),))(x)", x="f32[2]", kind="either")
case("Primitive.shard", "ops.Add().shard(3)", kind="either")
case("ops.prim_attr_register", """
class Scale(ops.PrimitiveWithInfer):
    @ops.prim_attr_register
    def __init__(self, a, b=2):
        self.c = a + b
p = Scale(3)
(p.attrs['a'], p.attrs['b'], p.c)""")
case("ops.prim_attr_register", """
class Named(ops.PrimitiveWithInfer):
    @ops.prim_attr_register
    def __init__(self, axis=0):
        pass
Named(axis=5).axis""")
case("ops.prim_attr_register", """
class Named(ops.PrimitiveWithInfer):
    @ops.prim_attr_register
    def __init__(self, axis=0):
        pass
Named().name""")
# partial, Map, HyperMap, MultitypeFuncGraph
case("ops.partial", "F.partial(lambda a, b: a * b, x)(y)", x="f32[2]", y="f32[2]", kind="either")
case("ops.partial", "ops.partial(lambda a, b: a - b, 10.0)(y)", y="f32[2]", kind="either")
case("ops.partial", "ops.partial(ops.add, x)(2)", x="f32[2]", kind="either")
case("ops.Partial", "ops.Partial()(lambda a, b: a * b, x)(y)", x="f32[2]", y="f32[2]", kind="either")
case("ops.Partial", "P.Partial()(lambda a, b, c: a + b * c, 1, 2)(3)", kind="either")
case("ops.Partial", "P.Partial()(ops.mul, x)(x)", x="f32[2]", kind="either")
MULTI = """
scale = ops.MultitypeFuncGraph("scale")
@scale.register("Tensor", "Tensor")
def _scale(a, b):
    return a * b
@scale.register("Number", "Tensor")
def _scale_number(a, b):
    return b * a + 1
@scale.register("Number", "Number")
def _scale_two(a, b):
    return a - b
"""
case("ops.MultitypeFuncGraph", "scale(x, y)", setup=MULTI, x="f32[2]", y="f32[2]", kind="either")
case("ops.MultitypeFuncGraph", "scale(2, y)", setup=MULTI, y="f32[2]", kind="either")
case("ops.MultitypeFuncGraph", "scale(7, 4)", setup=MULTI, kind="either")
case("ops.MultitypeFuncGraph", "scale('a', 4)", setup=MULTI, kind="either")
for form in ("ops.HyperMap", "ops.Map"):
    case(form, f"{form}(scale)((x, x), (y, y))", setup=MULTI, x="f32[2]", y="f32[2]", kind="either")
    case(form, f"{form}()(lambda a, b: a + b, (x, 1), (y, 2))", x="f32[2]", y="f32[2]", kind="either")
    case(form, f"{form}()(F.partial(scale, 3), (x, y))", setup=MULTI, x="f32[2]", y="f32[1]", kind="either")
    case(form, f"{form}()(ops.square, [x, y])", x="f32[2]", y="f32[1]", kind="either")
    case(form, f"{form}()(lambda a: a * 2, ((x, y), x))", x="f32[2]", y="f32[1]", kind="either")
case("ops.constexpr", "f = ops.constexpr(lambda a: a + 1); f(3)", kind="either")
case("ops.constexpr", "@ops.constexpr\ndef f(a, b):\n    return (a, b)\nf(3, 4)", kind="either")
case("ops.constexpr", "@ops.constexpr(reuse_result=False)\ndef f(a):\n    return a * 2\nf(3)", kind="either")
case("ops.add_flags", "f = ops.add_flags(lambda v: v * 2, has_effect=True); f(x)", x="f32[2]", kind="either")
case("ops.add_flags", "@ops.add_flags(fp16=True)\ndef f(v):\n    return v + 1\nf(x)", x="f32[2]", kind="either")
case("ops.add_flags", "C.add_flags(nn.ReLU(), has_effect=True)(x)", x="f32[2]", kind="either")
# grad, value_and_grad, GradOperation, vmap
F2 = "f = lambda a, b: a * a * b"
case("grad", "ms.grad(f)(x, y)", setup=F2, x="f32[2,3]", y="f32[2,3]")
case("grad", "ms.grad(f, (0, 1))(x, y)", setup=F2, x="f32[2,3]", y="f32[2,3]")
case("grad", "ms.grad(f, 1)(x, y)", setup=F2, x="f32[2]", y="f32[2]")
case("grad", "ms.grad(lambda a: ms.grad(lambda b: b * b * b)(a))(x)", x="f32[3]")
case("grad", "ms.grad(lambda a: (a * 2, a + 1))(x)", x="f32[3]")
case("grad", "ms.grad(lambda a: (a * 2, a + 1), has_aux=True)(x)", x="f32[3]")
case("grad", "ms.grad(lambda a, b: (a * b).sum(), None, ms.ParameterTuple([p]))(x, p)", x="f32[3]", p="param:f32[3]",
    kind="either")
case("grad", "ms.grad(lambda a: (a * p).sum(), None, [p])(x)", x="f32[3]", p="param:f32[3]", kind="either")
case("grad", "ms.grad(lambda a: (a * p).sum(), 0, [p])(x)", x="f32[3]", p="param:f32[3]", kind="either")
case("grad", "ms.grad(f, 0, return_ids=True)(x, y)[1]", setup=F2, x="f32[2]", y="f32[2]", kind="either")
case("grad", "ms.grad(lambda a: a.sum() if a.sum() > 0 else -a.sum())(x)", x="f32[3]")
case("grad", "ms.grad(lambda a: a[0] * a[1])(x)", x="f32[3]")
case("grad", "ms.grad(lambda a: ops.relu(a).astype(ms.float16).sum())(x)", x="f32[3]")
case("grad", "ms.grad(lambda a, b: a * b, 0)(x, 3.0)", x="f32[3]")
case("grad", "ms.grad(lambda a: a * 2)(x)", x="i32[3]", kind="either")
case("grad", "ms.grad(f, 5)(x, y)", setup=F2, x="f32[2]", y="f32[2]", kind="either")
case("value_and_grad", "ms.value_and_grad(f, (0, 1))(x, y)", setup=F2, x="f32[2,3]", y="f32[2,3]")
case("value_and_grad", "ms.value_and_grad(lambda a: ((a * a).sum(), a + 1), has_aux=True)(x)", x="f32[3]")
case("value_and_grad", "ms.value_and_grad(lambda a: (a * p).sum(), None, [p])(x)", x="f32[3]", p="param:f32[3]")
case("value_and_grad", "ms.value_and_grad(lambda a: (a * p).sum(), 0, ms.ParameterTuple([p]))(x)", x="f32[3]",
    p="param:f32[3]")
case("value_and_grad", "net = fill(nn.Dense(3, 2)); net.weight.set_data(w); ms.value_and_grad(lambda a: net(a).sum(), "
    "None, "
    "net.trainable_params())(x)", x="f32[4,3]", w="f32[2,3]", rtol=1e-4)
case("ops.GradOperation", "ops.GradOperation()(f)(x, y)", setup=F2, x="f32[2,3]", y="f32[2,3]")
case("ops.GradOperation", "ops.GradOperation(get_all=True)(f)(x, y)", setup=F2, x="f32[2]", y="f32[2]")
case("ops.GradOperation", "ops.GradOperation(get_all=True, sens_param=True)(f)(x, y, s)", setup=F2, x="f32[2]",
    y="f32[2]", s="f32[2]")
case("ops.GradOperation", "C.GradOperation(sens_param=True)(f)(x, y, s)", setup=F2, x="f32[2]", y="f32[2]", s="f32[2]")
NET = """
class Net(nn.Cell):
    def __init__(self, w):
        super().__init__()
        self.w = Parameter(w, name='w')
    def construct(self, x):
        return ops.matmul(x, self.w)
net = Net(w)
"""
case("ops.GradOperation", "ops.GradOperation(get_by_list=True)(net, ms.ParameterTuple(net.trainable_params()))(x)",
    setup=NET, x="f32[2,3]", w="f32[3,2]")
case("ops.GradOperation", "ops.GradOperation(get_all=True, get_by_list=True, sens_param=True)(net, "
    "net.trainable_params())(x, s)", setup=NET, x="f32[2,3]", w="f32[3,2]", s="f32[2,2]", kind="either")
VMAP = """
def f(a, b):
    return a + b * b
def g(a, b):
    return ops.matmul(a, b)
def h(a):
    return ops.reduce_sum(a)
"""
case("vmap", "ms.vmap(f)(x, y)", setup=VMAP, x="f32[3,2]", y="f32[3,2]", kind="either")
case("vmap", "ms.vmap(f, in_axes=(0, None))(x, y)", setup=VMAP, x="f32[3,2]", y="f32[2]", kind="either")
case("vmap", "ms.vmap(g, in_axes=(0, None))(x, y)", setup=VMAP, x="f32[3,2,2]", y="f32[2,2]", kind="either")
case("vmap", "ms.vmap(h, in_axes=1, out_axes=0)(x)", setup=VMAP, x="f32[3,2]", kind="either")
case("vmap", "ms.vmap(f, in_axes=(0, 0))(x, y)", setup=VMAP, x="f32[3,2]", y="f32[2,2]", kind="either")
case("mutable", "ms.mutable((x, 1))", x="f32[2]", kind="either")
case("mutable", "ms.mutable([1, 2, 3])", kind="either")
case("mutable", "ms.mutable({'a': x})", x="f32[2]", kind="either")
JIT = "@ms.jit\ndef f(a, b):\n    if a.sum() > 0:\n        return a * b\n    return a - b\n"
case("jit", "f(x, y)", setup=JIT, x="f32[2](0.5,1)", y="f32[2]", kind="either")
case("jit", "f(x, y)", setup=JIT, x="f32[2](-1,-0.5)", y="f32[2]", kind="either")
case("jit", "@ms.jit\ndef g(a):\n    s = a\n    for i in range(3):\n        s = s + a * i\n    return s, s.shape\ng(x)",
    x="f32[2,2]", kind="either")
case("jit", "ms.grad(f)(x, y)", setup=JIT, x="f32[2](0.5,1)", y="f32[2]", kind="either")
case("jit_class", "@ms.jit_class\nclass A:\n    def __init__(self):\n        self.k = 3\n    def f(self, v):\n        "
    "return v * self.k\nA().f(x)", x="f32[2]", kind="either")
case("jit_class", "@ms.jit_class\nclass B:\n    k = 5\nb = B()\nb.k", kind="either")
case("jit_class", "ms.jit_class(3)", kind="either")
case("lazy_inline", """
class Net(nn.Cell):
    @ms.lazy_inline
    def __init__(self):
        super().__init__()
        self.relu = nn.ReLU()
    def construct(self, x):
        return self.relu(x)
Net()(x)""", x="f32[3]", grad="x")
case("lazy_inline", "ms.lazy_inline(lambda self: None)", kind="error")
case("lazy_inline", """
class Net(nn.Cell):
    @ms.lazy_inline
    def __init__(self, k, b=1):
        super().__init__()
        self.k, self.b = k, b
    def construct(self, x):
        return x * self.k + self.b
Net(2, b=3)(x)""", x="f32[3]", grad="x")
case("JitConfig", "ms.JitConfig().jit_config_dict['jit_level']", kind="either")
case("JitConfig", "ms.JitConfig(jit_level='O1').jit_config_dict['jit_level']", kind="either")
case("JitConfig", "ms.JitConfig(jit_level='O9')", kind="either")
# Context
case("set_context", "ms.set_context(mode=ms.PYNATIVE_MODE)")
case("set_context", "ms.set_context(device_target='CPU'); ms.get_context('device_target')")
case("set_context", "ms.set_context(mode=7)", kind="error")
case("set_context", "ms.set_context(no_such_option=1)", kind="error")
case("get_context", "ms.get_context('mode') == ms.PYNATIVE_MODE")
case("get_context", "ms.get_context('device_target')")
case("get_context", "ms.get_context('no_such_option')", kind="error")
case("GRAPH_MODE", "ms.GRAPH_MODE")
case("GRAPH_MODE", "ms.context.GRAPH_MODE")
case("GRAPH_MODE", "ms.set_context(mode=ms.GRAPH_MODE); m = ms.get_context('mode'); "
    "ms.set_context(mode=ms.PYNATIVE_MODE); m")
case("PYNATIVE_MODE", "ms.PYNATIVE_MODE")
case("PYNATIVE_MODE", "ms.context.PYNATIVE_MODE")
case("PYNATIVE_MODE", "ms.set_context(mode=1); ms.get_context('mode')")
case("set_device", "ms.set_device('CPU')", kind="either")
case("set_device", "ms.set_device('NoSuchDevice')", kind="error")
case("set_device", "ms.set_device(3)", kind="error")
case("STRICT", "ms.STRICT")
case("STRICT", "ms.LAX")
case("STRICT", "ms.STRICT == 0")
