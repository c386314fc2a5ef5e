# SPDX-License-Identifier: Apache-2.0
"""Scripts that import mindspore, run by `python -m spore.run`, and by as_mindspore()."""
import os
import signal
import subprocess
import sys
import time

import pytest

import spore as ms


def run(*arguments, cwd=None, module="spore.run", **options):
    command = [sys.executable] + (["-m", module] if module else []) + list(arguments)
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, timeout=120, **options)


@pytest.fixture
def script(tmp_path):
    def write(text, name="script.py"):
        path = tmp_path / name
        path.write_text(text)
        return str(path)
    return write


def test_modules_are_the_same_objects(script):
    done = run(script("""
import mindspore, mindspore as ms, spore
import mindspore.common.initializer
from mindspore.common import dtype as mstype
from mindspore import Tensor, context, ops
import mindspore.ops as P
import mindspore.ops.functional as F
assert mindspore is spore and mindspore.common.initializer is spore.common.initializer
assert mstype is spore.common.dtype and Tensor is spore.Tensor and context is spore.context and P is spore.ops
assert mindspore.__name__ == spore.__spec__.name == 'spore'
import spore.common.parameter, sys
import mindspore.common.parameter
assert sys.modules['mindspore.common.parameter'] is sys.modules['spore.common.parameter']
print(Tensor([1.0]) + 1)
"""))
    assert done.returncode == 0, done.stderr
    assert done.stdout == "[2.]\n"


def test_like_python(script, tmp_path):
    path = script("""
import sys, os
print(sys.argv[1:], __name__, __file__ == sys.argv[0], sys.path[0] == os.path.dirname(os.path.realpath(__file__)))
import helper
print(helper.WORD, sys.modules['__main__'].__dict__ is globals())
""")
    script("WORD = 'found'", "helper.py")
    ours, python = run(path, "a", "--b=1"), run(path, "a", "--b=1", module=None)
    assert ours.stdout == python.stdout == "['a', '--b=1'] __main__ True True\nfound True\n"


@pytest.mark.parametrize("ending, status", [("", 0), ("sys.exit(3)", 3), ("sys.exit()", 0), ("sys.exit('bye')", 1),
                                            ("raise SystemExit(7)", 7),
                                            ("1/0", 1)])
def test_exit_status(script, ending, status):
    path = script("import sys\n" + ending)
    ours, python = run(path), run(path, module=None)
    assert ours.returncode == python.returncode == status
    assert ours.stderr == python.stderr  # tracebacks too: none of our frames


def test_traceback_shows_the_script_only(script):
    path = script("def f():\n    raise KeyError('x')\nf()\n")
    assert run(path).stderr == run(path, module=None).stderr


def test_traceback_leaves_out_lines_of_the_package(script):
    path = script("""
from mindspore import Tensor, nn
import numpy as np
net = nn.SequentialCell(nn.Dense(2, 3), nn.SequentialCell(nn.Dense(4, 1)))
try:
    net(Tensor(np.zeros((1, 2), np.float32)))
except ValueError as error:
    raise RuntimeError("the net") from error
""")
    short = run(path).stderr
    assert short.count("File ") == 2 and short.count(path) == 2
    assert "In the Cell '1.0' (Dense) of SequentialCell.\n" in short
    assert "lines inside spore are left out; SPORE_TRACEBACK=full shows them" in short
    full = run(path, env={**os.environ, "SPORE_TRACEBACK": "full"}).stderr
    assert "cell.py" in full and "left out" not in full


def test_module_and_text(tmp_path, script):
    script("import sys, mindspore\nprint(sys.argv[1:], __name__, mindspore.__name__)", "tool.py")
    done = run("-m", "tool", "x", cwd=tmp_path)
    assert done.stdout == "['x'] __main__ spore\n", done.stderr
    assert run("-c", "import mindspore, sys; print(sys.argv)", "y").stdout == "['-c', 'y']\n"
    assert run("-", "z", input="import mindspore, sys; print(sys.argv)").stdout == "['-', 'z']\n"


def test_without_numpy():
    package = os.path.dirname(os.path.dirname(os.path.abspath(ms.__file__)))
    done = subprocess.run([sys.executable, "-S", "-c", "import spore"], capture_output=True, text=True, timeout=60,
                          env={**os.environ, "PYTHONPATH": package})
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("ModuleNotFoundError: spore needs numpy") and done.stderr.count("File ") == 2


def test_what_is_missing_is_named(script):
    done = run(script("import mindspore.no_such_part"))
    assert done.returncode == 1 and "ModuleNotFoundError" in done.stderr and "mindspore.no_such_part" in done.stderr
    done = run("no_such_script.py")
    assert done.returncode == 2 and "no_such_script.py" in done.stderr
    assert run().returncode == 2 and "usage" in run("--help").stdout


def test_the_cpu_stands_in_for_devices_that_are_not_here(script):
    text = """
import mindspore as ms
ms.set_context(mode=ms.GRAPH_MODE, device_target='Ascend', device_id=0)
ms.set_context(device_target='Ascend')
ms.set_device('GPU')
print(ms.get_context('device_target'), ms.ops.relu(ms.Tensor([-1.0, 2.0])))
"""
    done = run(script(text))
    assert done.returncode == 0 and done.stdout == "CPU [0. 2.]\n", done.stderr
    assert done.stderr.count("device target Ascend is not available: the script runs on the CPU instead") == 1
    assert "GPU" in done.stderr
    alone = run("-c", text.replace("mindspore", "spore"), module=None)
    assert alone.returncode == 1 and "RuntimeError" in alone.stderr and "Ascend is not available" in alone.stderr


def test_options_of_earlier_versions_are_left_out(script):
    text = "import mindspore as ms; ms.set_context(mode=1, enable_mem_reuse=True, graph_memory_max_size='5GB'); print(ms.get_context('enable_ge'))"
    done = run(script(text))
    assert done.returncode == 0 and done.stdout == "False\n" and done.stderr.count("earlier versions") == 2, done.stderr
    wrong = run("-c", "import mindspore as ms; ms.set_context(save_graph=1)")
    assert wrong.returncode == 1 and "did you mean 'save_graphs'?" in wrong.stderr


def test_as_mindspore_in_a_program():
    done = run("-c", "import spore; spore.as_mindspore(); spore.as_mindspore(); import mindspore.nn as nn\n"
               "assert nn is spore.nn",
               module=None)
    assert done.returncode == 0, done.stderr


def test_interrupt_ends_a_long_operator(script):
    path = script("""
import time, mindspore as ms
from mindspore import Tensor, ops
import numpy as np
x = Tensor(np.ones((3000, 3000), np.float32))
print('ready', flush=True)
while True:
    x = (ops.matmul(x, x) > 0).astype(ms.float32)
""")
    process = subprocess.Popen([sys.executable, "-m", "spore.run", path], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.5)
        started = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        assert time.monotonic() - started < 20
    finally:
        process.kill()
    assert process.returncode == -signal.SIGINT and "KeyboardInterrupt" in errors and os.path.basename(path) in errors


@pytest.mark.parametrize("name, text", [("moxing", "(moxing is there on Huawei's cloud only"), ("te", "(te is part of Ascend's own software"),
                                        ("no_such_module", "Traceback")])
def test_modules_of_other_places(script, name, text):
    done = run(script(f"import {name}.file\n"))
    assert done.returncode == 1
    assert done.stderr.startswith(text)
    assert done.stderr.rstrip().endswith(f"ModuleNotFoundError: No module named '{name}'")


def test_arrays_of_long_integers_print_as_mindspores(script):
    """MindSpore's int64 arrays are numpy's long long, which repr() writes out; recorded there."""
    text = '''
import mindspore as ms, mindspore.dataset as ds, numpy as np
data = ds.NumpySlicesDataset({"a": [1], "b": np.ones((1, 2), np.uint64)}, shuffle=False).map(lambda x: x + 1, ["a"])
print(next(data.create_dict_iterator(output_numpy=True)))
print(repr(ms.Tensor([1, 2]).asnumpy()), repr((ms.Tensor(2) * 2).asnumpy()), repr(ms.Tensor([1], ms.int32).asnumpy()))
'''
    assert run(script(text)).stdout == '''\
{'a': array(2, dtype=int64), 'b': array([1, 1], dtype=uint64)}
array([1, 2], dtype=int64) array(4, dtype=int64) array([1], dtype=int32)
'''


def test_classes_say_that_they_are_mindspores(script):
    """Programs print types and look at them; MindSpore's own lines are recorded here."""
    text = '''
import mindspore as ms, mindspore.nn as nn, mindspore.dataset as ds, numpy as np
from mindspore import Tensor, ops
data = ds.NumpySlicesDataset(np.array([0.5, 1.0]), ['a'], shuffle=False)
for row in data.batch(2).create_dict_iterator(num_epochs=1):
    print(row, type(row['a']))
for value, in data.create_tuple_iterator(num_epochs=1, do_copy=True):
    print(repr(value))
print(type(data), type(nn.Dense(1, 1)), type(ops.ReLU()), type(ms.float32), ms.Model)
print(repr(Tensor.from_numpy(np.ones((1, 2), np.float32))), repr(Tensor([0.5])))
'''
    assert run(script(text)).stdout == '''\
{'a': Tensor(shape=[2], dtype=Float64, value= [0.5, 1. ])} <class 'mindspore.common.tensor.Tensor'>
Tensor(shape=[], dtype=Float64, value= 0.5)
Tensor(shape=[], dtype=Float64, value= 1)
<class 'mindspore.dataset.engine.datasets_user_defined.NumpySlicesDataset'> <class 'mindspore.nn.layer.basic.Dense'> \
<class 'mindspore.ops.auto_generate.gen_ops_prim.ReLU'> <class 'mindspore._c_expression.typing.Float'> <class 'mindspore.train.model.Model'>
Tensor(shape=[1, 2], dtype=Float32, value=
[[1., 1.]]) Tensor(shape=[1], dtype=Float32, value= [ 5.00000000e-01])
'''


def test_classes_are_found_where_they_say(script):
    """Every line of modules.txt names modules that can be imported, with the class in both: pickle finds it."""
    text = '''
import importlib, os, pickle, mindspore
path = os.path.join(os.path.dirname(mindspore.__file__), 'mindspore', 'modules.txt')
count = 0
for line in open(path):
    here, there, *names = line.split()
    for name in names:
        cls = getattr(importlib.import_module('mindspore.' + there), name)
        assert cls.__module__ == 'mindspore.' + there, (cls, there)
        assert pickle.loads(pickle.dumps(cls)) is cls
        count += 1
print(count > 800)
'''
    assert run(script(text)).stdout == 'True\n'


@pytest.mark.parametrize("first", ["spore.as_mindspore()", "import spore.dataset.vision", "import PIL; spore.as_mindspore()"])
def test_the_image_module_of_pillow_is_there(first, tmp_path):
    """MindSpore loads PIL.Image; programs that only import PIL use it. Nothing of Pillow is loaded before."""
    (tmp_path / "PIL").mkdir()
    (tmp_path / "PIL" / "__init__.py").write_text("")
    (tmp_path / "PIL" / "Image.py").write_text("kind = 'image'")
    code = f"import sys, spore; {first}; before = 'PIL.Image' in sys.modules; import PIL; print(before, PIL.Image.kind, hasattr(PIL, 'Nothing'))"
    paths = os.pathsep.join([str(tmp_path), *sys.path])
    out = subprocess.run([sys.executable, "-c", code], env=dict(os.environ, PYTHONPATH=paths), stdout=subprocess.PIPE, text=True, check=True).stdout
    assert out.split() == ["False", "image", "False"]
