# SPDX-License-Identifier: Apache-2.0
# Making tensors and parameters; their members that are not operators.
for code in ("Tensor(3)", "Tensor(2.5)", "Tensor(True)", "Tensor([1, 2, 3])", "Tensor([1.0, 2.0])",
        "Tensor([[1, 2], [3, 4]], ms.float16)", "Tensor((1, 2.5))",
             "Tensor(np.arange(6).reshape(2, 3))", "Tensor(np.ones((2, 2)))",
             "Tensor(np.ones((2, 2), np.float32), ms.int32)", "Tensor(1 + 2j)", "Tensor(np.float32(1.5))",
             "Tensor(input_data=[1, 2], dtype=ms.int64)", "Tensor([])", "Tensor([[], []])", "Tensor([True, False])",
             "Tensor(np.array([1, 2], np.uint16))", "Tensor(-1, ms.uint8)",
             "Tensor(300, ms.int8)", "Tensor(1e10, ms.float16)", "Tensor(Tensor([1, 2]), ms.float32)",
             "Tensor(shape=(2, 3), dtype=ms.float32, init=initializer.One())",
             "Tensor(np.array(3.0))", "Tensor([Tensor(1.0), Tensor(2.0)])", "Tensor(range(3))",
             "Tensor([1, 2], 'float32')", "Tensor([1, 2], float)", "Tensor(np.zeros((0, 3), np.float32))",
             "Tensor('a')", "Tensor([[1, 2], [3]])", "Tensor(None)", "Tensor({1: 2})", "Tensor([1, 2], ms.bool_)",
             "Tensor(np.ones(2), ms.bfloat16)", "Tensor(2 ** 40)", "Tensor(2 ** 70)",
             "Tensor(np.asfortranarray(np.arange(6).reshape(2, 3)))", "Tensor(np.arange(10)[::2])",
             "Tensor(np.arange(6).reshape(2, 3).T)"):
    case("Tensor", code, kind="either")
for code in ("ms.tensor([1, 2])", "ms.tensor(1.5)", "ms.tensor([1, 2], ms.float32)",
        "ms.tensor(np.ones((2, 2)), dtype=ms.float16)", "ms.tensor(True)"):
    case("tensor", code, kind="either")
case("Tensor.from_numpy", "Tensor.from_numpy(a)", a="np:f32[2,3]")
case("Tensor.from_numpy", "Tensor.from_numpy(a)", a="np:i32[]", kind="either")
case("Tensor.from_numpy", "t = Tensor.from_numpy(a); a[0] = 5; t", a="np:f32[3]")
case("Tensor.from_numpy", "ms.from_numpy(a)", a="np:f16[3]", kind="either")
case("Tensor.from_numpy", "Tensor.from_numpy([1, 2])", kind="error")
for spec in ("f32[2,3]", "i64[]", "bool[2]", "f16[0,2]", "c64[2]", "u8[3]", "f64[1,1]"):
    for member in ("shape", "dtype", "ndim", "size", "itemsize", "nbytes", "strides"):
        case(f"Tensor.{member}", f"x.{member}", x=spec)
    case("Tensor.asnumpy", "a = x.asnumpy(); (type(a).__name__, a)", x=spec)
case("Tensor.asnumpy", "(x * 2).asnumpy()", x="f32[2,3]")
case("Tensor.asnumpy", "x.T.asnumpy().shape", x="f32[2,3]")
case("Tensor.shape", "p.shape", p="param:f32[2,3]")
case("Tensor.shape", "x.shape[0] * x.shape[-1]", x="f32[2,3]")
case("Tensor.dtype", "x.dtype == ms.float32", x="f32[2]")
case("Tensor.strides", "x.T.strides", x="f32[2,3]", kind="either")
case("Tensor.item", "x.item()", x="f32[1]")
case("Tensor.item", "x.item()", x="i32[]")
case("Tensor.item", "x.item(1)", x="f32[3]", kind="either")
case("Tensor.item", "x.item()", x="f32[3]", kind="either")
case("Tensor.tolist", "x.tolist()", x="i32[2,3]")
case("Tensor.tolist", "x.tolist()", x="bool[]")
case("Tensor.copy", "y = x.copy(); y[0] = 9; (x, y)", x="f32[3]")
case("Tensor.copy", "x.copy() * 2", x="f32[2,3]", grad="x")
case("Tensor.copy", "x.copy()", x="i32[2]")
case("Tensor.value", "p.value()", p="param:f32[2]", kind="either")
case("Tensor.value", "type(p.value()).__name__", p="param:f32[2]")
case("Tensor.value", "x.value()", x="f32[2]", kind="either")
case("Tensor.value", "p.value() + 1", p="param:i32[2]")
case("Tensor.data", "p.data", p="param:f32[2]")
case("Tensor.data", "type(p.data).__name__", p="param:f32[2]")
case("Tensor.data", "x.data", x="f32[2]", kind="either")
case("Tensor.data", "p.data = Tensor([5.0, 6.0]); p", p="param:f32[2]", kind="either")
case("Tensor.init_data", "Tensor(shape=(2, 3), dtype=ms.float32, init=initializer.One()).init_data()")
case("Tensor.init_data", "Parameter(initializer.initializer('ones', (2,), ms.float16), name='a').init_data()",
    kind="either")
case("Tensor.init_data", "p.init_data()", p="param:f32[2]", kind="either")
case("Tensor.init_data", "Tensor(shape=(2,), dtype=ms.int32, init=initializer.Zero()).init_data().dtype")
case("Tensor.flush_from_cache", "x.flush_from_cache()", x="f32[2]", kind="either")
case("Tensor.flush_from_cache", "p.flush_from_cache()", p="param:f32[2]", kind="either")
case("Tensor.flush_from_cache", "x.flush_from_cache(); x", x="i32[2]", kind="either")
for bounds in ("-0.5, 1.0", "xmin=0.0, xmax=None", "None, 0.5", "min=-1, max=0"):
    case("Tensor.clip", f"x.clip({bounds})", x="f32[2,3]", grad="x", kind="either")
case("Tensor.clip", "x.clip(0, 2)", x="i32[6]", kind="either")
case("Tensor.clip", "x.clip(lo, hi)", x="f32[2,3]", lo="f32[3](-1,0)", hi="f32[3](0,1)", grad="x", kind="either")
# Parameter
case("Parameter", "p = Parameter(x, name='w'); (p.name, p.requires_grad, p)", x="f32[2,3]")
case("Parameter", "p = Parameter(x); p.name.startswith('Parameter')", x="f32[2]")
case("Parameter", "Parameter(3.0, name='a')")
case("Parameter", "Parameter([1, 2], name='a')", kind="either")
case("Parameter", "Parameter(np.ones((2, 2), np.float32), name='a')", kind="either")
case("Parameter", "Parameter(initializer.initializer('zeros', (2, 3)), name='a')")
case("Parameter", "p = Parameter(x, name='w', requires_grad=False); p.requires_grad", x="f32[2]")
case("Parameter", "isinstance(Parameter(x, name='w'), Tensor)", x="f32[2]")
case("Parameter", "Parameter(x, name=5)", x="f32[2]", kind="error")
case("Parameter", "Parameter('a', name='a')", kind="error")
case("Parameter", "p = Parameter(x, name='w'); q = p.clone(); (q.name, q)", x="f32[2]", kind="either")
case("Parameter", "p.asnumpy()", p="param:f16[2]")
case("Parameter", "p = Parameter(x, name='w', layerwise_parallel=True); p.layerwise_parallel", x="f32[2]")
case("Tensor.name", "p.name", p="param:f32[2]")
case("Tensor.name", "p.name = 'other'; p.name", p="param:f32[2]")
case("Tensor.name", "p.name = 5", p="param:f32[2]", kind="error")
case("Tensor.name", "nn.Dense(2, 3).weight.name")
case("Tensor.requires_grad", "p.requires_grad", p="param:f32[2]")
case("Tensor.requires_grad", "p.requires_grad = False; p.requires_grad", p="param:f32[2]")
case("Tensor.requires_grad", "p.requires_grad = 'no'", p="param:f32[2]", kind="either")
case("Tensor.requires_grad", "net = nn.Dense(2, 3); net.weight.requires_grad = False; [q.name for q in "
    "net.trainable_params()]")
case("Tensor.set_data", "p.set_data(x); p", p="param:f32[2,3]", x="f32[2,3]")
case("Tensor.set_data", "p.set_data(x, slice_shape=True); p", p="param:f32[2]", x="f32[3]", kind="either")
case("Tensor.set_data", "p.set_data(x); p", p="param:f32[2]", x="f32[3]", kind="either")
case("Tensor.set_data", "p.set_data(x); p", p="param:f32[2]", x="f16[2]", kind="either")
case("Tensor.set_data", "p.set_data(x); p", p="param:f16[2]", x="f32[2]", kind="either")
case("Tensor.set_data", "p.set_data(x); p", p="param:f32[2]", x="i32[2]", kind="either")
case("Tensor.set_data", "p.set_data(initializer.initializer('ones', (2,), ms.float32)); p", p="param:f32[2]")
case("Tensor.set_data", "p.set_data([1.0, 2.0])", p="param:f32[2]", kind="error")
case("Tensor.param_info", "p.param_info.name", p="param:f32[2]", kind="either")
case("Tensor.param_info", "p.param_info.requires_grad", p="param:f32[2]", kind="either")
case("Tensor.param_info", "x.param_info", x="f32[2]", kind="either")
for attribute in ("cache_enable", "cache_shape", "comm_fusion"):
    case(f"Tensor.{attribute}", f"p.{attribute}", p="param:f32[2]", kind="either")
    case(f"Tensor.{attribute}", f"p.{attribute}", p="param:i32[1]", kind="either")
case("Tensor.comm_fusion", "p.comm_fusion = 2; p.comm_fusion", p="param:f32[2]", kind="either")
case("Tensor.comm_fusion", "p.comm_fusion = -1", p="param:f32[2]", kind="either")
case("Tensor.cache_enable", "p.cache_enable = True; p.cache_enable", p="param:f32[2]", kind="either")
case("Tensor.cache_shape", "p.cache_shape = (2,); p.cache_shape", p="param:f32[2]", kind="either")
case("ParameterTuple", "t = ms.ParameterTuple([p, q]); (len(t), t[1], isinstance(t, tuple))", p="param:f32[2]",
    q="param:i32[1]")
case("ParameterTuple", "[c.name for c in ms.ParameterTuple([p, q]).clone(prefix='m')]", p="param:f32[2]",
    q="param:i32[1]")
case("ParameterTuple", "ms.ParameterTuple([p, q]).clone(prefix='m', init='zeros')", p="param:f32[2]", q="param:f32[1]")
case("ParameterTuple", "ms.ParameterTuple([p, p])", p="param:f32[2]", kind="either")
case("ParameterTuple", "ms.ParameterTuple([x])", x="f32[2]", kind="error")
# Dtypes
for t in ("float32", "float16", "float64", "bfloat16", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32",
        "uint64", "bool_", "complex64", "complex128"):
    case(f"dtype.{t}", f"str(ms.{t})")
    case(f"dtype.{t}", f"repr(ms.{t})")
    case(f"dtype.{t}", f"(ms.{t} == ms.{t}, ms.{t} == ms.float32, ms.{t} != ms.int32, hash(ms.{t}) == hash(ms.{t}))")
    case(f"dtype.{t}", f"Tensor([1, 0, 2], ms.{t})")
    case(f"dtype.{t}", f"Tensor(np.zeros(2), ms.{t}).dtype == ms.{t}")
    case(f"dtype.{t}", f"Tensor(1, ms.{t}).itemsize")
    if t != "bfloat16":
        case("dtype.dtype_to_nptype", f"np.dtype(ms.dtype_to_nptype(ms.{t})).name")
for code in ("ms.QuantDtype.INT8", "str(ms.QuantDtype.INT4)", "ms.QuantDtype.INT8.value()",
        "ms.QuantDtype.INT8.num_bits"):
    case("dtype.QuantDtype", code, kind="either")
for code in ("ms.dtype_to_pytype(ms.float32)", "ms.pytype_to_dtype(float)", "ms.float_", "ms.int_",
        "ms.common.dtype.float32", "ms.bool_ == ms.common.dtype.bool_", "isinstance(ms.float32, ms.Type)",
             "ms.number", "ms.tensor_type", "ms.string", "ms.half", "ms.double", "ms.long", "ms.short"):
    case("dtype", code, kind="either")
