# SPDX-License-Identifier: Apache-2.0
"""Strings, tuples, lists, dicts, None, named tuples: operators, methods, as arguments and as results."""
from collections import OrderedDict, namedtuple

import mindspore as ms
from mindspore import Tensor, mutable, nn, ops

from graphtest import program, raised

Point = namedtuple("Point", ["x", "y"])
GLOBAL_LIST = [1, 2, 3]
GLOBAL_TENSORS = []


@program
def string_operators():
    @ms.jit
    def f(s):
        return s + "cd", s * 2, s[0], s[-1], s[0:1], s[::-1], "a" in s, len(s), s == "ab", s < "b"
    return f("ab")


@program
def string_formatting():
    @ms.jit
    def f(s, n):
        return "%s-%d" % (s, n), "{}:{}".format(s, n), "{a}".format(a=n), "%.2f" % 1.5
    return f("k", 3)


@program
def string_methods():
    @ms.jit
    def f(s):
        return s.upper(), s.split(","), s.replace("a", "b"), s.startswith("a"), "-".join(["x", "y"]), s.find("c"), \
            s.strip("a"), s.endswith("c")
    return f("a,c")


@program
def string_format_of_tensor():
    @ms.jit
    def f(x):
        return "x={}".format(x)
    return f(Tensor([1., 2.]))


@program
def string_index_out_of_range():
    @ms.jit
    def f(s):
        return s[5]
    return f("ab")


@program
def tuple_operators():
    @ms.jit
    def f(x, t):
        return t + (x,), t * 2, t[0], t[-1], t[1:], t[::-1], len(t), 2 in t, t == (1, 2), (), (x,)
    return f(Tensor([1.]), (1, 2))


@program
def tuple_methods():
    @ms.jit
    def f(t):
        return t.index(2), t.count(1)
    return f((1, 2, 1))


@program
def tuple_index_by_tensor():
    @ms.jit
    def f(x, i):
        t = (x, x * 2, x * 3)
        return t[i]
    return f(Tensor([1.]), Tensor(1, ms.int32)), f(Tensor([1.]), Tensor(-1, ms.int32))


@program
def tuple_index_by_mutable():
    @ms.jit
    def f(x, i):
        t = (x, x * 2, x * 3)
        return t[i]
    return f(Tensor([1.]), mutable(2))


@program
def tuple_of_numbers_indexed_by_tensor():
    @ms.jit
    def f(x, i):
        return x * (10, 20, 30)[i]
    return f(Tensor([1.]), Tensor(1, ms.int32))


@program
def tuple_index_out_of_range():
    @ms.jit
    def f(x):
        return (x, x)[2]
    return f(Tensor([1.]))


@program
def tuple_item_assignment():
    @ms.jit
    def f(x):
        t = (1, 2)
        t[0] = x
        return t
    return f(Tensor([1.]))


@program
def tuple_nested():
    @ms.jit
    def f(x):
        t = ((x, 1), (2, (3, x + 1)))
        (a, b), (c, (d, e)) = t
        return t[1][1][1], a, b, c, d, e
    return f(Tensor([1.]))


@program
def tuple_index_with_float():
    @ms.jit
    def f(x):
        return (x, x)[1.0]
    return f(Tensor([1.]))


@program
def list_methods():
    @ms.jit
    def f(x):
        items = [1, 2, 3]
        items.append(x)
        items.extend([5, 6])
        last = items.pop()
        first = items.pop(0)
        items.insert(1, "new")
        items.reverse()
        return items, last, first
    return f(Tensor([1.]))


@program
def list_append_and_clear():
    @ms.jit
    def f(x):
        a = []
        a.append(x)
        b = [1, 2]
        b.clear()
        return a, b
    return f(Tensor([1.]))


@program
def list_other_methods():
    @ms.jit
    def f(x):
        items = [3, 1, 2, 1]
        return items.index(2), items.count(1)
    return f(Tensor([1.]))


@program
def list_sort():
    @ms.jit
    def f(x):
        items = [3, 1, 2]
        items.sort()
        return items
    return f(Tensor([1.]))


@program
def list_copy():
    @ms.jit
    def f(x):
        items = [3, x]
        other = items.copy()
        other.append(1)
        return items, other
    return f(Tensor([1.]))


@program
def list_remove():
    @ms.jit
    def f(x):
        items = [3, 1, 2]
        items.remove(1)
        return items
    return f(Tensor([1.]))


@program
def list_operators():
    @ms.jit
    def f(x):
        a = [1, x]
        return a + [3], a * 2, a[0], a[-1], a[1:], [1, 2, 3][::-1], len(a), 2 in [1, 2], [1, 2] == [1, 2]
    return f(Tensor([1.]))


@program
def list_plus_equal():
    @ms.jit
    def f(x):
        a = [1]
        a += [x]
        return a
    return f(Tensor([1.]))


@program
def list_plus_equal_tuple():
    @ms.jit
    def f(x):
        a = [1]
        a += (2, 3)
        return a
    return f(Tensor([1.]))


@program
def list_set_item():
    @ms.jit
    def f(x):
        a = [1, 2, 3]
        a[0] = x
        a[-1] = "end"
        b = [[1, 2], [3]]
        b[0][1] = x + 1
        return a, b
    return f(Tensor([1.]))


@program
def list_index_out_of_range():
    @ms.jit
    def f(x):
        return [x][3]
    return f(Tensor([1.]))


@program
def list_pop_out_of_range():
    @ms.jit
    def f(x):
        a = [1, 2]
        a.pop(5)
        return a
    return f(Tensor([1.]))


@program
def list_pop_of_empty():
    @ms.jit
    def f(x):
        a = []
        a.pop()
        return a
    return f(Tensor([1.]))


@program
def list_set_item_out_of_range():
    @ms.jit
    def f(x):
        a = [1, 2]
        a[4] = 1
        return a
    return f(Tensor([1.]))


@program
def list_extend_by_tensor():
    @ms.jit
    def f(x):
        a = [1]
        a.extend(x)
        a.extend((2, 3))
        return a
    return f(Tensor([[1., 2.], [3., 4.]]))


@program
def list_index_by_tensor():
    @ms.jit
    def f(x, i):
        a = [x, x * 2]
        return a[i]
    return f(Tensor([1.]), Tensor(1, ms.int32))


@program
def list_argument_changed_inside():
    @ms.jit
    def f(items):
        items[0] = 100
        items.append(4)
        return items
    data = [1, 2]
    return f(data), data


@program
def list_argument_extended_inside():
    @ms.jit
    def f(items):
        items.extend([4, 5])
        items.reverse()
        items.insert(0, 9)
        return items
    data = [1, 2]
    return f(data), data


@program
def list_global_extended():
    @ms.jit
    def f(x):
        GLOBAL_LIST.extend([4])
        return GLOBAL_LIST
    out = f(Tensor([1.]))
    return out, GLOBAL_LIST, out is GLOBAL_LIST


@program
def list_global_appended():
    @ms.jit
    def f(x):
        GLOBAL_LIST.append(4)
        return GLOBAL_LIST
    out = f(Tensor([1.]))
    return out, GLOBAL_LIST, out is GLOBAL_LIST


@program
def list_global_returned_same_object():
    @ms.jit
    def f():
        return GLOBAL_LIST
    return f() is GLOBAL_LIST


@program
def list_global_collects_tensor():
    @ms.jit
    def f(x):
        GLOBAL_TENSORS.append(x + 1)
        return x
    return f(Tensor([1.])), len(GLOBAL_TENSORS)


@program
def list_attribute_changed_inside():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.items = [1, 2]

        @ms.jit
        def construct(self, x):
            self.items[0] = 5
            return x + self.items[0]
    net = Net()
    return net(Tensor([1.])), net.items


@program
def list_of_tensors_returned():
    @ms.jit
    def f(x):
        return [x, [x + 1, (x, 2)], "s", None, True, 1.5]
    return f(Tensor([1.]))


@program
def list_in_loop_of_tensor_condition():
    @ms.jit
    def f(x, n):
        a = [x, x]
        while n > 0:
            a[0] = a[0] + 1
            n = n - 1
        return a
    return f(Tensor([1.]), Tensor(3))


@program
def dict_basics():
    @ms.jit
    def f(x):
        d = {"a": x, "b": 2}
        d["c"] = x + 1
        d["b"] = "changed"
        return d, d["a"], len(d), "a" in d, "z" not in d
    return f(Tensor([1.]))


@program
def dict_read():
    @ms.jit
    def f(x):
        d = {"a": x, "b": 2}
        return d["a"] + d["b"], len(d), "a" in d, "z" not in d
    return f(Tensor([1.]))


@program
def dict_new_key():
    @ms.jit
    def f(x):
        d = {"a": x}
        d["c"] = x + 1
        d["n"] = 5
        return d
    return f(Tensor([1.]))


@program
def dict_changed_value_type():
    @ms.jit
    def f(x):
        d = {"a": x, "b": 2}
        d["b"] = "changed"
        return d
    return f(Tensor([1.]))


@program
def dict_changed_and_read():
    @ms.jit
    def f(x):
        d = {"a": x, "b": 2}
        d["a"] = x + 1
        y = d["a"] * 2
        return y, d
    return f(Tensor([1.]))


@program
def dict_keys():
    @ms.jit
    def f(x):
        d = {"a": x, "b": 2}
        return d.keys()
    return f(Tensor([1.]))


@program
def dict_values():
    @ms.jit
    def f(x):
        d = {"a": x, "b": x + 1}
        return d.values()
    return f(Tensor([1.]))


@program
def dict_items():
    @ms.jit
    def f(x):
        d = {"a": x, "b": x + 1}
        return d.items()
    return f(Tensor([1.]))


@program
def dict_of_constants_views():
    @ms.jit
    def f(x):
        d = {"a": 1, "b": 2}
        return d.keys(), d.values(), d.items()
    return f(Tensor([1.]))


@program
def dict_views():
    @ms.jit
    def f(x):
        d = {"a": x, "b": 2}
        return d.keys(), d.values(), d.items()
    return f(Tensor([1.]))


@program
def dict_get_and_has_key():
    @ms.jit
    def f(x):
        d = {"a": x}
        return d.get("a"), d.get("b"), d.get("b", 5), d.has_key("a"), d.has_key("b")
    return f(Tensor([1.]))


@program
def dict_update_clear_fromkeys():
    @ms.jit
    def f(x):
        d = {"a": x}
        d.update({"a": 1, "b": x})
        e = {"k": 1}
        e.clear()
        return d, e, dict.fromkeys(("p", "q"), 3), {}.fromkeys(["r"], x)
    return f(Tensor([1.]))


@program
def dict_pop():
    @ms.jit
    def f(x):
        d = {"a": x, "b": 1}
        v = d.pop("a")
        return v, d
    return f(Tensor([1.]))


@program
def dict_setdefault():
    @ms.jit
    def f(x):
        d = {"a": x}
        v = d.setdefault("b", 4)
        return v, d
    return f(Tensor([1.]))


@program
def dict_missing_key():
    @ms.jit
    def f(x):
        d = {"a": x}
        return d["z"]
    return f(Tensor([1.]))


@program
def dict_number_and_tuple_keys():
    @ms.jit
    def f(x):
        d = {1: x, 2.5: "f", (1, 2): "t", True: 3}
        return d[2.5], d[(1, 2)], len(d)
    return f(Tensor([1.]))


@program
def dict_tensor_key():
    @ms.jit
    def f(x):
        key = Tensor([1, 2])
        d = {key: x}
        return d[key]
    return f(Tensor([1.]))


@program
def dict_argument():
    @ms.jit
    def f(d):
        return d["x"] * d["scale"], d
    return f({"x": Tensor([1.]), "scale": 3})


@program
def dict_argument_changed_inside():
    @ms.jit
    def f(d):
        d["new"] = 1
        return len(d)
    data = {"x": Tensor([1.])}
    return f(data), list(data)


@program
def dict_nested():
    @ms.jit
    def f(x):
        d = {"a": {"b": {"c": x}}, "list": [1, {"k": 2}]}
        d["a"]["n"] = 5
        return d["a"]["b"]["c"], d["list"][1]["k"], d["a"]
    return f(Tensor([1.]))


@program
def dict_in_run_time_loop():
    @ms.jit
    def f(x, n):
        d = {"v": x}
        while n > 0:
            d["v"] = d["v"] * 2
            n = n - 1
        return d
    return f(Tensor([1.]), Tensor(3))


@program
def dict_for_and_del():
    @ms.jit
    def f(x):
        d = {"a": 1}
        del d["a"]
        return d
    return f(Tensor([1.]))


@program
def ordered_dict_argument():
    @ms.jit
    def f(d):
        out = 0
        for k in d:
            out = out + d[k]
        return out
    return f(OrderedDict([("b", Tensor([1.])), ("a", Tensor([2.]))]))


@program
def none_everywhere():
    @ms.jit
    def f(x, a=None):
        t = (None, x, [None])
        return a, t, x[None].shape, {"k": None}, x[None:None]
    return f(Tensor([1.]))


@program
def none_in_arithmetic():
    @ms.jit
    def f(x):
        return x + None
    return f(Tensor([1.]))


@program
def named_tuple_inside():
    @ms.jit
    def f(x):
        p = Point(x, 2)
        return p.x + p.y, p[0], len(p)
    return f(Tensor([1.]))


@program
def named_tuple_as_argument():
    @ms.jit
    def f(p):
        return p.x * 2, p.y
    return f(Point(Tensor([1.]), 5))


@program
def named_tuple_returned():
    @ms.jit
    def f(x):
        return Point(x, x + 1)
    out = f(Tensor([1.]))
    return out, type(out).__name__


@program
def sequence_of_tensors_argument():
    @ms.jit
    def f(xs):
        return xs[0] + xs[1], len(xs)
    return f([Tensor([1.]), Tensor([2.])]), f((Tensor([1.]), Tensor([2.])))


@program
def mutable_tuple_argument():
    @ms.jit
    def f(t):
        return t[0] + t[1], t
    return f(mutable((1, 2))), f(mutable((3, 4)))


@program
def mutable_tuple_of_tensors():
    @ms.jit
    def f(t):
        return t[0] + t[1]
    return f(mutable((Tensor([1.]), Tensor([2.])))), f(mutable((Tensor([5.]), Tensor([6.]))))


@program
def mutable_dict_of_tensors():
    @ms.jit
    def f(d):
        return d["a"] * d["b"]
    return f(mutable({"a": Tensor([2.]), "b": Tensor([3.])}))


@program
def mutable_inside():
    @ms.jit
    def f(x):
        n = mutable(3)
        t = mutable((1, 2))
        if n > 2:
            x = x + t[0]
        return x, n
    return f(Tensor([1.]))


@program
def mutable_of_string():
    return mutable("a")


@program
def mutable_dynamic_length():
    @ms.jit
    def f(xs):
        return len(xs), xs[0]
    return f(mutable([4, 5, 6], True)), f(mutable([7, 8], True))


@program
def mutable_dynamic_length_with_mixed_elements():
    @ms.jit
    def f(xs):
        return xs[0]
    return f(mutable([4, 5.5], True))


@program
def cells_indexed_by_tensor():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.layers = nn.CellList([nn.ReLU(), nn.Sigmoid(), nn.Tanh()])

        @ms.jit
        def construct(self, x, i):
            return self.layers[i](x)
    net = Net()
    return [net(Tensor([0.5, -1.]), Tensor(i, ms.int32)) for i in range(3)]


@program
def cells_in_tuple_attribute():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.layers = (nn.ReLU(), nn.Tanh())

        @ms.jit
        def construct(self, x):
            for layer in self.layers:
                x = layer(x)
            return x
    return Net()(Tensor([0.5, -1.]))


@program
def outputs_of_every_kind():
    @ms.jit
    def f(x):
        return x, 1, 2.5, "s", None, True, (1, x), [x], {"k": x}, x.dtype, x.shape
    return f(Tensor([1.]))


@program
def output_is_the_input():
    @ms.jit
    def f(x):
        return x
    x = Tensor([1.])
    return f(x), f(x) is x


@program
def constants_only():
    @ms.jit
    def f():
        return 1 + 2, "a" + "b", (1, 2) + (3,)
    return f()


@program
def tensor_made_inside():
    @ms.jit
    def f(x):
        y = Tensor([1, 2, 3])
        z = ms.Tensor(2.5, ms.float32)
        return y + 1, z * x, Tensor([x.shape[0], 7]), ms.tensor([1.5, 2])
    return f(Tensor([1., 2.]))


@program
def tensor_made_from_run_time_value():
    @ms.jit
    def f(x):
        return ms.tensor([x, x * 2])
    return f(Tensor(1.))


@program
def arrays_made_inside():
    @ms.jit
    def f(x):
        return ops.zeros((2,), ms.float32), ops.ones_like(x), ops.arange(3), ops.full((2,), 7), ops.eye(2), \
            ops.zeros(x.shape, x.dtype), ops.linspace(0, 1, 3)
    return f(Tensor([1., 2.]))


@program
def tensor_methods_inside():
    @ms.jit
    def f(x):
        return (x.sum(), x.mean(0), x.max(), x.argmax(), x.reshape(-1), x.view(4), x.transpose(1, 0), x.astype(ms.int32),
                x.expand_dims(0).shape, x.abs().sqrt(), x.item, x.flatten(), x.swapaxes(0, 1), x.copy(), x.any(), x.all())[:10]
    return f(Tensor([[1., 4.], [9., 16.]]))


@program
def tensor_item_and_tolist():
    @ms.jit
    def f(x):
        return x.item(), x.reshape(1).tolist()
    return f(Tensor(2.5))


@program
def dtype_as_argument():
    @ms.jit
    def f(x, dtype):
        if dtype == ms.float16:
            return x.astype(dtype)
        return ops.cast(x, ms.int32)
    return f(Tensor([1.5]), ms.float16), f(Tensor([1.5]), ms.int64)


# --- identity of lists and dicts from outside --------------------------------------------------------------------------

OUTER = [1, 2, [3, 4], (5, [6, 7]), {"a": [8]}]
TURNED = [[1, 2], [3, 4]]
POPPED = [1, [2, 3], "4"]


@program
def list_from_outside_is_itself():
    @ms.jit
    def f():
        return OUTER, OUTER[2], OUTER[3][1], OUTER[4]["a"]
    out = f()
    return out[0] is OUTER, out[1] is OUTER[2], out[2] is OUTER[3][1], out[3] is OUTER[4]["a"]


@program
def list_from_outside_inside_a_new_one():
    @ms.jit
    def f(x):
        return [1, x, OUTER]
    out = f(Tensor([1.]))
    return out[2] is OUTER, out[:2]


@program
def inner_list_from_outside_reversed():
    @ms.jit
    def f():
        x = TURNED[0]
        x.reverse()
        return x
    out = f()
    return out is TURNED[0], TURNED


@program
def list_from_outside_popped_and_returned():
    @ms.jit
    def f():
        x = POPPED.pop()
        return x, POPPED
    out = f()
    return out[1] is POPPED, out, POPPED


@program
def local_inner_list_changed():
    @ms.jit
    def f():
        x = ([1, 2, 3], 4, 5)
        y = x[0]
        z = y.pop()
        y.reverse()
        return x, y, z
    return f()


@program
def wrong_attribute_by_getattr():
    @ms.jit
    def f(x):
        g = getattr(x, "no_such_thing")
        return g()
    return [raised(f, x) for x in (Tensor([1.]), [1, 2], {"a": 1}, (1, 2))]
