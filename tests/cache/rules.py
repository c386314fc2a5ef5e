# SPDX-License-Identifier: Apache-2.0
"""Pipelines with a cache, and what MindSpore 2.10 makes of them: run by its Python, this writes rules.json, test_rules.py compares.

An answer is the number of rows, or the exception with the first sentence of its message."""
import importlib
import json
import os
import re
import subprocess
import sys
import tempfile


def cases(framework, folder, lines, cache, missing):
    """By name, a function that makes a dataset. cache(**settings) has a session of its own; missing: settings of no server."""
    ds, vision, transforms = (importlib.import_module(framework + name) for name in ('.dataset', '.dataset.vision', '.dataset.transforms'))
    decode, same = vision.Decode(), []

    def pictures(**k):
        k.setdefault('shuffle', False)
        return ds.ImageFolderDataset(folder, **k)

    def keep(x):
        return x

    def shared():
        if not same:
            same.append(cache())
        return same[0]
    return {
        'source': lambda: pictures(cache=cache()),
        'map': lambda: pictures().map(decode, 'image', cache=cache()),
        'random map': lambda: pictures().map([decode, vision.RandomHorizontalFlip()], 'image', cache=cache()),
        'function': lambda: pictures().map([decode, keep], 'image', cache=cache()),
        'batch': lambda: pictures(decode=True).batch(2).map(vision.HorizontalFlip(), 'image', cache=cache()),
        'take': lambda: pictures().take(3).map(decode, 'image', cache=cache()),
        'skip': lambda: pictures().skip(3).map(decode, 'image', cache=cache()),
        'filter': lambda: pictures().filter(lambda x: True, ['label']).map(decode, 'image', cache=cache()),
        'concat': lambda: (pictures() + pictures()).map(decode, 'image', cache=cache()),
        'zip': lambda: ds.zip((pictures(), pictures().rename(['image', 'label'], ['i', 'l']))).map(decode, 'image', cache=cache()),
        'repeat below': lambda: pictures().repeat(2).map(decode, 'image', cache=cache()),
        'repeat behind': lambda: pictures().map(decode, 'image', cache=cache()).repeat(2),
        'shuffle below': lambda: pictures().shuffle(4).map(decode, 'image', cache=cache()),
        'generator': lambda: ds.GeneratorDataset([(1,), (2,)], ['n']).map(transforms.Fill(1), 'n', cache=cache()),
        'numpy': lambda: ds.NumpySlicesDataset([1, 2], ['n']).map(transforms.Fill(1), 'n', cache=cache()),
        'nested': lambda: pictures(cache=cache()).map(decode, 'image', cache=cache()),
        'lines': lambda: ds.TextFileDataset(lines, shuffle=False, cache=cache()),
        'lines, repeat below': lambda: ds.TextFileDataset(lines, shuffle=False).repeat(2).map(transforms.Duplicate(), ['text'], ['a', 'b'], cache=cache()),
        'lines, a shard': lambda: ds.TextFileDataset(lines, shuffle=False, num_shards=3, shard_id=1, cache=cache()),
        'lines, some': lambda: ds.TextFileDataset(lines, shuffle=False, num_samples=4, cache=cache()),
        'split': lambda: pictures().split([3, 5])[0].map(decode, 'image', cache=cache()),
        'same object': lambda: pictures(cache=shared()),
        'same object, another tree': lambda: pictures().map(decode, 'image', cache=shared()),
        'no spill': lambda: pictures(cache=cache(spilling=True)),
        'too much': lambda: pictures(cache=cache(size=1 << 40)),
        'no server': lambda: pictures(cache=ds.DatasetCache(1, **missing)),
        'another host': lambda: pictures(cache=ds.DatasetCache(1, hostname='localhost', **missing)),
        **{f'argument {name}={value!r}': lambda name=name, value=value: ds.DatasetCache(**{'session_id': 1, name: value})
           for name, value in (('hostname', 5), ('port', '1'), ('port', 80), ('port', 70000), ('num_connections', 0), ('num_connections', 'a'), ('prefetch_size', 0), ('spilling', 1),
                               ('size', 'a'), ('size', 1 << 65), ('session_id', 0), ('session_id', 1 << 32), ('session_id', 'a'))},
        'figures of an unused one': lambda: cache().get_stat(),
    }


def answer(make):
    """Rows, or what is raised."""
    try:
        data = make()
        return {'rows': sum(1 for _ in data.create_tuple_iterator(num_epochs=1, output_numpy=True))}
    except Exception as error:  # noqa: BLE001
        text = str(error)
        found = re.search(r'\[ERROR\] (.*)', text)
        text = found[1] if found else text.split('\n')[0]
        return {'raises': type(error).__name__, 'text': re.sub(r'\b50\d\d\d\b', 'PORT', text)}


def files(folder, vision):
    """Eight pictures in two folders, ten lines."""
    import numpy as np
    for name in 'ab':
        os.makedirs(f'{folder}/pictures/{name}')
        for i in range(4):
            vision.write_png(f'{folder}/pictures/{name}/{i}.png', np.full((8, 8, 3), i * 20, np.uint8))
    with open(f'{folder}/lines.txt', 'w', encoding='utf-8') as file:
        file.write('\n'.join(f'line {i}' for i in range(10)))
    return f'{folder}/pictures', f'{folder}/lines.txt'


def main():
    """Runs under MindSpore's Python."""
    import mindspore.dataset as ds
    import mindspore.dataset.vision as vision
    port = 50776
    exe, env = os.path.join(os.path.dirname(sys.executable), 'dataset-cache'), {**os.environ, 'LD_LIBRARY_PATH': os.environ.get('LD_LIBRARY_PATH', '')}

    def admin(word):
        return subprocess.run([exe, word, '-p', str(port)], capture_output=True, text=True, env=env, check=True).stdout

    def cache(**settings):
        return ds.DatasetCache(int(admin('-g').split()[-1]), port=port, **settings)
    admin('--start')
    with tempfile.TemporaryDirectory() as folder:
        made = cases('mindspore', *files(folder, vision), cache, {'port': 50990})
        found = {name: answer(make) for name, make in made.items()}
    admin('--stop')
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), 'rules.json'), 'w', encoding='utf-8') as file:
        json.dump(found, file, indent=1)
        file.write('\n')


if __name__ == '__main__':
    main()
