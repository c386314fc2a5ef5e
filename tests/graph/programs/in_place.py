# SPDX-License-Identifier: Apache-2.0
"""Lists and dicts that are changed inside: who sees the change, which object comes back, and what stands in them."""
import numpy as np

import mindspore as ms
from mindspore import Tensor, mutable, nn, ops

from graphtest import program, raised

plain_list = [1, 2, 3, 4]
float_list = [1.0, 2.5]
array_list = [np.array([1, 2]), np.array([3])]
nested_list = [1, 2, [3, 4], None]
tuple_with_list = (4, [3, 4])
list_for_reverse = [1, 2, 3]
tensors_for_reverse = [Tensor([1, 2, 3]), Tensor([1, 2])]
mixed_for_reverse = ["1", [1, 2], 2.5]
lists_for_reverse = [[1, 2], [3, 4]]
list_for_pop = [1, [2, 3], "4"]
list_for_extend = [1, 2]
list_for_insert = [1, 2]
list_for_append = [1, 2]
list_for_clear = [1, 2]
list_for_item = [1, 2]
list_for_aug = [1, 2]
list_in_loop = []
plain_dict = {"a": 1, "b": [2, 3]}
dict_for_update = {"a": 1}
dict_for_clear = {"a": 1}
dict_for_item = {"a": 1, "b": 2}


@program
def global_list_comes_back_itself():
    @ms.jit
    def f():
        return plain_list

    @ms.jit
    def g():
        return float_list

    @ms.jit
    def h():
        return array_list
    return f() is plain_list, g() is float_list, h() is array_list, f()


@program
def element_of_global_list_comes_back_itself():
    @ms.jit
    def f():
        return nested_list, nested_list[2]

    @ms.jit
    def g():
        return tuple_with_list[1]
    a, b = f()
    return a is nested_list, b is nested_list[2], g() is tuple_with_list[1]


@program
def global_list_inside_local_list():
    @ms.jit
    def f(x):
        return [1, x, plain_list]
    out = f(Tensor([1]))
    return out, out[2] is plain_list


@program
def list_argument_comes_back_itself():
    @ms.jit
    def f(a, x):
        return a, x
    given = [1, 2, 3]
    out = f(given, Tensor([1]))
    return out[0] is given, out


@program
def list_reverse_of_global():
    @ms.jit
    def f():
        list_for_reverse.reverse()
        return list_for_reverse
    out = f()
    return out is list_for_reverse, out, list_for_reverse


@program
def list_reverse_of_tensors():
    @ms.jit
    def f():
        tensors_for_reverse.reverse()
        return tensors_for_reverse
    out = f()
    return out is tensors_for_reverse, out[0], out[1]


@program
def list_reverse_of_mixed():
    @ms.jit
    def f():
        mixed_for_reverse.reverse()
        return mixed_for_reverse
    return f(), mixed_for_reverse


@program
def list_reverse_of_element():
    @ms.jit
    def f():
        x = lists_for_reverse[0]
        x.reverse()
        return x
    out = f()
    return out is lists_for_reverse[0], out, lists_for_reverse


@program
def list_reverse_of_local_element():
    @ms.jit
    def f():
        x = [[1, 2, 3], [4, 5]]
        y = x[0]
        y.reverse()
        return x, y

    @ms.jit
    def g():
        x = ([1, 2, 3], 4)
        y = x[0]
        y.reverse()
        return x
    return f(), g()


@program
def list_pop_of_global():
    @ms.jit
    def f():
        x = list_for_pop.pop()
        y = list_for_pop.pop(0)
        return x, y, list_for_pop
    out = f()
    return out, out[2] is list_for_pop


@program
def list_pop_of_local_element():
    @ms.jit
    def f():
        x = [[1, 2, 3], 4, 5]
        y = x[0]
        z = y.pop()
        return x, y, z

    @ms.jit
    def g():
        x = [[1, 2, 3], 4, 5]
        x[0].pop(1)
        return x
    return f(), g()


@program
def list_pop_of_tensor():
    @ms.jit
    def f(x):
        a = [x, x + 1, x + 2]
        b = a.pop(1)
        return a, b
    return f(Tensor([1, 2]))


@program
def list_pop_negative_and_out_of_range():
    @ms.jit
    def f():
        a = [1, 2, 3]
        return a.pop(-2), a

    @ms.jit
    def g():
        a = [1, 2, 3]
        return a.pop(5)

    @ms.jit
    def h():
        a = []
        return a.pop()
    return f(), raised(g), raised(h)


@program
def list_extend_of_global():
    @ms.jit
    def f():
        list_for_extend.extend([3, 4])
        list_for_extend.extend((5,))
        return list_for_extend
    out = f()
    return out is list_for_extend, out


@program
def list_extend_without_result():
    @ms.jit
    def f():
        list_for_extend.extend([3, 4])
    return f(), list_for_extend


@program
def list_extend_local():
    @ms.jit
    def f(x):
        a = [1, x]
        a.extend([x, "s"])
        a.extend(range(2))
        a.extend({"k": 1})
        return a
    return f(Tensor([1]))


@program
def list_insert_of_global():
    @ms.jit
    def f():
        list_for_insert.insert(1, 9)
        list_for_insert.insert(-10, 8)
        list_for_insert.insert(10, 7)
        return list_for_insert
    out = f()
    return out is list_for_insert, out


@program
def list_append_of_global():
    @ms.jit
    def f(x):
        list_for_append.append(x)
        return list_for_append
    out = f(5)
    return out, list_for_append


@program
def list_clear_of_global():
    @ms.jit
    def f():
        list_for_clear.clear()
        return list_for_clear
    return f(), list_for_clear


@program
def list_set_item_of_global():
    @ms.jit
    def f():
        list_for_item[0] = 7
        return list_for_item
    return f(), list_for_item


@program
def list_augmented_add_of_global():
    @ms.jit
    def f(x):
        y = list_for_aug
        y += [x]
        return y
    return f(3), list_for_aug


@program
def list_filled_in_loop():
    @ms.jit
    def f(x):
        out = []
        for i in range(3):
            out.append(x * i)
        return out
    return f(Tensor([1., 2.]))


@program
def list_filled_in_loop_under_condition():
    @ms.jit
    def f(x):
        out = []
        for i in range(5):
            if i % 2 == 0:
                out.append(x + i)
            else:
                out.insert(0, i)
        return out
    return f(Tensor([1.]))


@program
def list_changed_in_called_function():
    def add_two(a, x):
        a.append(x)
        a.extend([x, x])

    @ms.jit
    def f(x):
        a = [1]
        add_two(a, x)
        return a
    return f(Tensor([2]))


@program
def list_alias_sees_append():
    @ms.jit
    def f(x):
        a = [1]
        b = a
        b.append(x)
        return a, b
    return f(2)


@program
def list_alias_sees_extend():
    @ms.jit
    def f(x):
        a = [1]
        b = a
        b.extend([x, 3])
        return a, b
    return f(2)


@program
def list_alias_sees_item():
    @ms.jit
    def f(x):
        a = [1, 2]
        b = a
        b[0] = x
        return a, b
    return f(Tensor([2]))


@program
def list_self_attribute_changed():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.items = [1, 2]

        def construct(self, x):
            self.items.extend([x])
            return self.items
    ms.set_context(mode=ms.GRAPH_MODE)
    net = Net()
    return net(3), net.items


@program
def list_self_attribute_appended():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.items = [1, 2]

        def construct(self, x):
            self.items.append(x)
            return self.items
    ms.set_context(mode=ms.GRAPH_MODE)
    net = Net()
    return net(3), net.items


@program
def list_tensor_attribute_item_set():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.items = [Tensor([1]), Tensor([2])]

        def construct(self, x):
            self.items[0] = x
            return self.items[0] + self.items[1]
    ms.set_context(mode=ms.GRAPH_MODE)
    net = Net()
    return net(Tensor([5])), net(Tensor([6]))


@program
def list_of_different_kinds_returned():
    @ms.jit
    def f(x):
        return [1, 2.5, "a", True, None, x, (1, x), [x, [2]], {"k": x}]
    return f(Tensor([1, 2]))


@program
def list_sliced_and_added():
    @ms.jit
    def f(x):
        a = [x, x + 1, x + 2, x + 3]
        return a[1:3] + a[::-2], a[-1:], 2 * a[:1], len(a[5:])
    return f(Tensor([1]))


@program
def list_set_slice():
    @ms.jit
    def f():
        a = [1, 2, 3, 4]
        a[1:3] = [7, 8, 9]
        return a
    return f()


@program
def list_del_item():
    @ms.jit
    def f():
        a = [1, 2, 3]
        del a[1]
        return a
    return f()


@program
def list_count_and_index():
    @ms.jit
    def f():
        a = [1, 2, 2, 3]
        return a.count(2), a.index(3)
    return f()


@program
def list_compared():
    @ms.jit
    def f():
        return [1, 2] == [1, 2], [1, 2] != [1, 3], (1, 2) == [1, 2], [1] < [2], (1, 2) >= (1, 1)
    return f()


@program
def list_of_mutable_changed():
    @ms.jit
    def f(a):
        b = a + [5]
        b.append(6)
        return b, len(b)
    return f(mutable([1, 2, 3]))


@program
def list_of_tensors_zipped_and_changed():
    @ms.jit
    def f(x, y):
        out = []
        for a, b in zip([x, y], [y, x]):
            out.append(a - b)
        out.reverse()
        return out
    return f(Tensor([3]), Tensor([1]))


@program
def dict_global_comes_back():
    @ms.jit
    def f():
        return plain_dict, plain_dict["b"]
    out = f()
    return out, out[0] is plain_dict, out[1] is plain_dict["b"]


@program
def dict_update_of_global():
    @ms.jit
    def f(x):
        dict_for_update.update({"b": x})
        return dict_for_update
    out = f(2)
    return out, out is dict_for_update, dict_for_update


@program
def dict_clear_of_global():
    @ms.jit
    def f():
        dict_for_clear.clear()
        return dict_for_clear
    return f(), dict_for_clear


@program
def dict_set_item_of_global():
    @ms.jit
    def f(x):
        dict_for_item["a"] = x
        dict_for_item["c"] = 3
        return dict_for_item
    out = f(7)
    return out, out is dict_for_item, dict_for_item


@program
def dict_alias_sees_item():
    @ms.jit
    def f(x):
        a = {"k": 1}
        b = a
        b["j"] = x
        return a, b
    return f(Tensor([1]))


@program
def dict_nested_returned():
    @ms.jit
    def f(x):
        return {"a": None, "b": {"c": {"d": x}}, "e": [1, {"f": 2}], "g": (x, None)}
    return f(Tensor([1]))


@program
def dict_filled_in_loop():
    @ms.jit
    def f(x):
        out = {}
        for k in ("a", "b", "c"):
            out[k] = x
            x = x + 1
        return out
    return f(Tensor([1]))


@program
def dict_from_sequences():
    @ms.jit
    def f(x):
        return dict([("a", 1), ("b", x)]), dict((("c", 2),)), dict(d=x, e="f"), dict({"g": 1}, h=2)
    return f(Tensor([1]))


@program
def dict_from_zip():
    @ms.jit
    def f(x):
        return dict(zip(("a", "b"), (x, x + 1)))
    return f(Tensor([1]))


@program
def dict_fromkeys():
    @ms.jit
    def f(x):
        return {}.fromkeys(["a", "b"], 1), {"z": 1}.fromkeys(("a",), x)
    return f(Tensor([1]))


@program
def dict_pop_and_setdefault():
    @ms.jit
    def f(x):
        a = {"a": 1, "b": x}
        b = a.pop("a")
        return a, b
    return f(Tensor([1]))


@program
def dict_get_with_default():
    @ms.jit
    def f(x):
        a = {"a": 1, "b": x}
        return a.get("b"), a.get("z"), a.get("z", 5), a.get("z", x)
    return f(Tensor([1]))


@program
def dict_items_in_loop():
    @ms.jit
    def f(x):
        total = x
        names = []
        for k, v in {"a": x, "b": 2}.items():
            total = total + v
            names.append(k)
        return total, names
    return f(Tensor([1]))


@program
def dict_values_summed():
    @ms.jit
    def f(d):
        total = 0
        for v in d.values():
            total = total + v
        return total, list(d.keys()), len(d)
    return f({"a": Tensor([1]), "b": Tensor([2])})


@program
def dict_argument_of_tensors_mutable():
    @ms.jit
    def f(d):
        return d["a"] + d["b"]
    out = [f(mutable({"a": Tensor([1]), "b": Tensor([2])})), f(mutable({"a": Tensor([3]), "b": Tensor([4])}))]
    return out


@program
def dict_gradient_of_values():
    def f(d):
        return d["a"] * d["b"]

    @ms.jit
    def g(d):
        return ms.grad(f)(d)
    return g(mutable({"a": Tensor([2.]), "b": Tensor([3.])}))


@program
def dict_gradient_of_result():
    def f(x):
        out = {}
        out["a"] = x * 2
        out["b"] = x * x
        return out

    @ms.jit
    def g(x):
        return ms.grad(f)(x)
    return g(Tensor([3.]))


@program
def dict_in_and_not_in():
    @ms.jit
    def f(x):
        d = {"a": x, 3: 1}
        return "a" in d, "b" in d, 3 in d, "a" not in d
    return f(Tensor([1]))


@program
def dict_of_functions():
    @ms.jit
    def f(x, name):
        table = {"double": lambda v: v * 2, "negate": lambda v: -v}
        return table[name](x)
    return f(Tensor([3]), "double"), f(Tensor([3]), "negate")


@program
def dict_of_cells():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.table = nn.CellDict({"relu": nn.ReLU(), "neg": nn.LeakyReLU(2.0)})

        def construct(self, x):
            total = x
            for name in self.table.keys():
                total = total + self.table[name](x)
            return total, len(self.table)
    ms.set_context(mode=ms.GRAPH_MODE)
    return Net()(Tensor([-1., 2.]))


@program
def tuple_from_changed_list():
    @ms.jit
    def f(x):
        a = [x]
        a.append(x + 1)
        b = tuple(a)
        a.append(x + 2)
        return b, a, ops.stack(a)
    return f(Tensor([1., 2.]))
