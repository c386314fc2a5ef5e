# SPDX-License-Identifier: Apache-2.0
"""Data pipelines: 2000 JPEGs decoded, resized, cropped, normalised and batched, from a folder and from MindRecord; rows of a
GeneratorDataset, as they are and through a function. Rows per second, time to the first batch, and the ratios to MindSpore's and
to torch's DataLoader; memory over ten epochs.

    make bench BENCH=pipeline

SPORE_BENCH_MINDSPORE and SPORE_BENCH_PEER name Python interpreters that have MindSpore and torch with torchvision; without
them there are no ratios. All sides run in this call, one after the other, and read the same files, kept in SPORE_BENCH_FOLDER if
that is set. `python bench/pipeline.py spore|mindspore|torch FOLDER` measures one side and prints a JSON line.
"""
import importlib
import json
import os
import subprocess
import sys
import tempfile
import time

N_IMAGES, N_ROWS, WORKERS = 2000, 30_000, 2
AIMS = {"mindspore": {"folder": 1.5, "record": 1.5, "generator": 3, "function": 3}, "torch": {"folder": 2, "record": 2}}
FIRST_AIM, FRESH, BUDGET, EPOCHS = 20, 5, 64, 10


def make_files(folder):
    """Smooth pictures of 400 x 300: as hard to decode as photographs."""
    import numpy as np
    from spore.dataset import vision
    from spore.mindrecord import FileWriter
    os.makedirs(os.path.join(folder, "images", "class"))
    rng = np.random.default_rng(0)
    writer = FileWriter(os.path.join(folder, "images.mindrecord"))
    writer.add_schema({"label": {"type": "int32"}, "image": {"type": "bytes"}})
    resize = vision.Resize((300, 400))
    for i in range(N_IMAGES):
        image = resize(rng.integers(0, 255, (40, 50, 3)).astype(np.uint8))
        path = os.path.join(folder, "images", "class", f"{i:05}.jpg")
        vision.write_jpeg(path, image, 90)
        with open(path, "rb") as file:
            writer.write_raw_data([{"label": 0, "image": file.read()}])
    writer.commit()


class Rows:
    """A trivial source."""

    def __init__(self, np):
        self.row = (np.zeros(4, np.float32), np.int32(1))

    def __getitem__(self, index):
        return self.row

    def __len__(self):
        return N_ROWS


def read(data):
    """Rows per second and milliseconds to the first row."""
    start = time.perf_counter()
    first, count = None, 0
    for row in data.create_tuple_iterator(num_epochs=1, output_numpy=True):
        first = first or time.perf_counter() - start
        count += len(row[0])
    return {"rows/s": count / (time.perf_counter() - start), "first ms": first * 1e3}


def sources(framework, folder):
    """The pictures of the folder and of the record, as batches, in a dict."""
    ds = importlib.import_module(framework + ".dataset")
    vision = importlib.import_module(framework + ".dataset.vision")

    def pictures(data):
        steps = [vision.Decode(), vision.Resize(256), vision.CenterCrop(224), vision.Normalize([120.0] * 3, [60.0] * 3),
                 vision.HWC2CHW()]
        return data.map(steps, "image", num_parallel_workers=WORKERS).batch(32)
    images = os.path.join(folder, "images")
    record = ds.MindDataset(images + ".mindrecord", ["image", "label"], num_parallel_workers=WORKERS, shuffle=False)
    return {"folder": pictures(ds.ImageFolderDataset(images, num_parallel_workers=WORKERS, shuffle=False)), "record": pictures(record),
            "some": pictures(ds.ImageFolderDataset(images, num_parallel_workers=WORKERS, num_samples=600))}


def first_batch(case, folder):
    """Milliseconds from making the iterator to its first batch, in a fresh process."""
    data = sources("spore", folder)[case]
    start = time.perf_counter()
    next(data.create_tuple_iterator(num_epochs=1, output_numpy=True))
    return (time.perf_counter() - start) * 1e3


def measure(framework, folder):
    import numpy as np
    ds = importlib.import_module(framework + ".dataset")
    made = sources(framework, folder)
    rows = ds.GeneratorDataset(Rows(np), ["a", "b"], shuffle=False, num_parallel_workers=1)
    function = ds.GeneratorDataset(Rows(np), ["a", "b"], shuffle=False, num_parallel_workers=1)
    function = function.map(lambda a: a + 1, "a", num_parallel_workers=1)
    figures = {"folder": read(made["folder"]), "record": read(made["record"]), "generator": read(rows.batch(10)),
               "function": read(function.batch(10))}
    if framework == "spore":
        ds.config.set_memory_budget(BUDGET)
        figures["memory"] = memory(made["some"])
    return figures


def memory(data):
    """Megabytes that wait at most, and what the process has after each epoch."""
    iterator = data.create_tuple_iterator(num_epochs=EPOCHS, output_numpy=True)
    waiting, resident = 0, []
    for _ in range(EPOCHS):
        for _ in iterator:
            waiting = max(waiting, iterator._source.stats()[2]) if not iterator._closed else waiting
        with open("/proc/self/statm", encoding="ascii") as file:
            resident.append(int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20)
    return {"waiting": waiting / 2**20, "resident": resident}


def measure_torch(folder):
    """DataLoader with torchvision, from the folder; it has nothing like MindRecord, so that stands for both."""
    from torch.utils.data import DataLoader
    from torchvision import datasets, transforms
    steps = transforms.Compose([transforms.Resize(256), transforms.CenterCrop(224), transforms.ToTensor(),
                                transforms.Normalize([120 / 255] * 3, [60 / 255] * 3)])
    loader = DataLoader(datasets.ImageFolder(os.path.join(folder, "images"), steps), 32, num_workers=WORKERS)
    start = time.perf_counter()
    first, count = None, 0
    for images, _ in loader:
        first = first or time.perf_counter() - start
        count += len(images)
    figures = {"rows/s": count / (time.perf_counter() - start), "first ms": first * 1e3}
    return {"folder": figures, "record": figures}


def side(framework, python, folder):
    out = subprocess.run([python, __file__, framework, folder], capture_output=True, text=True, check=True).stdout
    return json.loads(out.splitlines()[-1])


def main():
    if len(sys.argv) == 3:
        what, folder = sys.argv[1:]
        print(json.dumps(measure_torch(folder) if what == "torch" else first_batch(what, folder) if what in ("folder", "record") else
                         measure(what, folder)))
        return
    with tempfile.TemporaryDirectory() as own_folder:
        folder = os.environ.get("SPORE_BENCH_FOLDER") or own_folder
        if not os.path.exists(os.path.join(folder, "images")):
            make_files(folder)
        own = side("spore", sys.executable, folder)
        for case in ("folder", "record"):       # the least of some fresh processes: what others do on the machine is not the pipeline's
            own[case]["first ms"] = min(side(case, sys.executable, folder) for _ in range(FRESH))
        peers = {"mindspore": os.environ.get("SPORE_BENCH_MINDSPORE"), "torch": os.environ.get("SPORE_BENCH_PEER")}
        others = {name: side(name, python, folder) for name, python in peers.items() if python}
    found = own.pop("memory")
    for case, figures in own.items():
        aim = f" (aim {FIRST_AIM})" if case in ("folder", "record") else ""
        line = f"{case:<10} {figures['rows/s']:>10,.0f} rows/s  first batch {figures['first ms']:>6.1f} ms{aim}"
        for name, other in others.items():
            if case in other:
                ratio = figures["rows/s"] / other[case]["rows/s"]
                line += f"  {name} {other[case]['rows/s']:>9,.0f} {ratio:5.2f}x (aim {AIMS[name][case]}x)"
        print(line)
    print(f"memory     {found['waiting']:.0f} MiB of rows waiting at most (budget {BUDGET}); resident after epoch 2: "
          f"{found['resident'][1]:.0f} MiB, after epoch {EPOCHS}: {found['resident'][-1]:.0f} MiB")


if __name__ == "__main__":
    main()
