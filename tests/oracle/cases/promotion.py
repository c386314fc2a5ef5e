# SPDX-License-Identifier: Apache-2.0
# Result dtype and value of every pair of dtypes under every operator, and of tensors with Python scalars.
SPECS = {"f16": "(0.5,3)", "f32": "(0.5,3)", "f64": "(0.5,3)", "bf16": "(0.5,3)", "c64": "(0.5,2)", "c128": "(0.5,2)",
    "bool": "",
         **{t: "(1,4)" for t in ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64")}}
OPERATORS = ("+", "*", "/", "//", "%", "**", "==", "<", "&")
for a, span_a in SPECS.items():
    for b, span_b in SPECS.items():
        for op in OPERATORS:
            if op in ("//", "%") and b == "bool":          # division by False: undefined
                continue
            case("promotion", f"x {op} y", x=f"{a}[3]{span_a}", y=f"{b}[3]{span_b}", kind="either",
                rtol=1e-2 if "bf16" in (a, b) else 2e-3 if "f16" in (a, b) else None)
    for op in (*OPERATORS, "-"):
        for scalar in ("2", "2.5", "True"):
            case("promotion scalar", f"x {op} {scalar}", x=f"{a}[3]{span_a}", kind="either",
                rtol=1e-2 if a == "bf16" else 2e-3 if a == "f16" else None)
            if not (op in ("//", "%") and a == "bool"):
                case("promotion scalar", f"{scalar} {op} x", x=f"{a}[3]{span_a}", kind="either",
                rtol=1e-2 if a == "bf16" else 2e-3 if a == "f16" else None)
for op in ("+", "*", "/", "<"):                # a tensor of rank 0 is a tensor, not a scalar
    for a, b in (("f16", "f32"), ("f32", "f64"), ("i32", "f16"), ("i32", "i64"), ("u8", "i8")):
        case("promotion rank 0", f"x {op} y", x=f"{a}[2](1,4)", y=f"{b}[](1,4)", kind="either", rtol=2e-3)
        case("promotion rank 0", f"x {op} y", x=f"{a}[](1,4)", y=f"{b}[2](1,4)", kind="either", rtol=2e-3)
for scalar in ("np.float32(2)", "np.int32(2)", "np.float64(2)", "np.array([1.0, 2.0], np.float32)", "[1, 2]",
        "(1.0, 2.0)", "None", "'a'", "1 + 2j"):
    for a in ("f32", "i32"):
        case("promotion other", f"x + {scalar}", x=f"{a}[2]", kind="either")
        case("promotion other", f"x == {scalar}", x=f"{a}[2]", kind="either")
