# SPDX-License-Identifier: Apache-2.0
"""Ways to build networks, drawn from a seed: what their Parameters are called is asked of MindSpore and of spore alike.

A case makes a container, puts Cells into it and takes them out in random ways, before or after it becomes part of other Cells.
"""
import importlib
import random
from collections import OrderedDict

COUNT = 600


class Makers:
    """Small Cells of many kinds, made by a framework."""

    def __init__(self, framework):
        self.ms = importlib.import_module(framework)
        self.nn = nn = importlib.import_module(f'{framework}.nn')
        ms = self.ms

        class Block(nn.Cell):
            def __init__(self):
                super().__init__()
                self.conv = nn.Conv2d(1, 1, 1)
                self.norm = nn.BatchNorm2d(1)

        class Holder(nn.Cell):
            def __init__(self, *cells, auto_prefix=True):
                super().__init__(auto_prefix=auto_prefix)
                for i, cell in enumerate(cells):
                    setattr(self, f'part{i}', cell)

        class Own(nn.Cell):
            """Its Parameter has a name of its own."""

            def __init__(self, name=None):
                super().__init__()
                self.scale = ms.Parameter(ms.Tensor([1.0]), name=name or 'gamma')
                self.shift = ms.Parameter(ms.Tensor([1.0]))

        class Growing(nn.Cell):
            """Layers appended one by one to what is empty at first, as model libraries do."""

            def __init__(self, kind, n):
                super().__init__()
                self.stem = nn.Dense(1, 1)
                self.layers = kind()
                for _ in range(n):
                    self.layers.append(Block())
                self.head = nn.SequentialCell(nn.Dense(1, 1), nn.ReLU(), nn.Dense(1, 1))

        class Stages(nn.Cell):
            def __init__(self, kind):
                super().__init__()
                self.stages = kind()
                for depth in (1, 2):
                    blocks = kind()
                    for _ in range(depth):
                        blocks.append(Block())
                    self.stages.append(blocks)
        self.Block, self.Holder, self.Own, self.Growing, self.Stages = Block, Holder, Own, Growing, Stages

    def leaf(self, draw, depth=0):
        """A Cell."""
        nn = self.nn
        kinds = [lambda: nn.Dense(1, 1), lambda: nn.Dense(1, 1, has_bias=False), nn.ReLU, self.Block, self.Own, nn.Flatten,
                 lambda: nn.BatchNorm1d(1), lambda: self.Own('own.0.name'), lambda: nn.LayerNorm((1,)),
                 lambda: self.Holder(nn.Dense(1, 1)), lambda: self.Holder(self.Block(), auto_prefix=False)]
        if depth < 2:
            kinds += [lambda: nn.SequentialCell([self.leaf(draw, depth + 1) for _ in range(draw.randrange(3))]),
                      lambda: nn.CellList([self.leaf(draw, depth + 1) for _ in range(draw.randrange(3))]),
                      lambda: self.Growing(draw.choice([nn.SequentialCell, nn.CellList]), draw.randrange(3)),
                      lambda: self.Stages(draw.choice([nn.SequentialCell, nn.CellList])),
                      lambda: nn.SequentialCell(OrderedDict([('first', self.leaf(draw, depth + 1)), ('1', nn.Dense(1, 1))]))]
        return draw.choice(kinds)()


def start(make, draw):
    """A container to work on."""
    nn = make.nn
    few = [make.leaf(draw) for _ in range(draw.randrange(4))]
    way = draw.randrange(9)
    if way == 0:
        return nn.SequentialCell()
    if way == 1:
        return nn.SequentialCell(*few)
    if way == 2:
        return nn.SequentialCell(few)
    if way == 3:
        return nn.SequentialCell(OrderedDict((f'n{i}', cell) for i, cell in enumerate(few)))
    if way == 4:
        return nn.CellList()
    if way == 5:
        return nn.CellList(few)
    if way == 6:
        return nn.CellList(few, auto_prefix=False)
    if way == 7:
        return nn.CellDict({f'k{i}': cell for i, cell in enumerate(few) if not isinstance(
            cell, (nn.SequentialCell, nn.CellList, nn.CellDict))})
    return make.Holder(*few, auto_prefix=draw.random() < 0.8)


def change(make, draw, box, spare):
    """Do one thing to the container; ``spare`` are Cells that are in other places too."""
    nn = make.nn
    cell = draw.choice(spare) if spare and draw.random() < 0.2 else make.leaf(draw)
    spare.append(cell)
    n = len(box) if isinstance(box, (nn.SequentialCell, nn.CellList, nn.CellDict)) else 0
    if isinstance(box, nn.CellDict):
        way = draw.randrange(4)
        key = f'k{draw.randrange(4)}'
        if way == 0:
            box[key] = cell
        elif way == 1:
            box.update({key: cell, 'more': make.nn.Dense(1, 1)})
        elif way == 2:
            box.pop(key)
        else:
            del box[key]
        return
    if not isinstance(box, (nn.SequentialCell, nn.CellList)):
        way = draw.randrange(4)
        if way == 0:
            setattr(box, f'part{draw.randrange(4)}', cell)
        elif way == 1:
            box.insert_child_to_cell(f'child{draw.randrange(3)}', cell)
        elif way == 2:
            box.insert_param_to_cell('weight', make.ms.Parameter(make.ms.Tensor([1.0]), name=draw.choice([None, 'w', 'a.b'])))
        else:
            delattr(box, f'part{draw.randrange(4)}')
        return
    place = draw.randrange(-n - 1, n + 2)
    way = draw.randrange(8)
    if way < 3:
        box.append(cell)
    elif way == 3:
        (box.insert if isinstance(box, nn.CellList) else box._insert)(place, cell)
    elif way == 4:
        box[place] = cell
    elif way == 5:
        del box[place]
    elif way == 6:
        first = draw.randrange(n + 1)
        del box[first:first + draw.randrange(3)]
    elif isinstance(box, nn.CellList):
        if draw.random() < 0.5:
            box.extend([cell, make.leaf(draw)])
        else:
            box += [cell]
    else:
        setattr(box, f'extra{draw.randrange(2)}', cell)


def wrap(make, draw, box):
    """The container as part of something else."""
    nn = make.nn
    way = draw.randrange(7)
    if way == 0:
        return make.Holder(box, make.leaf(draw))
    if way == 1:
        return nn.SequentialCell(make.leaf(draw), box)
    if way == 2:
        return nn.CellList([box, make.leaf(draw)])
    if way == 3:
        whole = make.Holder()
        whole.insert_child_to_cell('0', box)
        return whole
    if way == 4:
        box.update_parameters_name(draw.choice(['net.', '0.', 'a.b.']))
        return box
    if way == 5:
        return make.Holder(box, box)
    if isinstance(box, (nn.SequentialCell, nn.CellList)) and len(box):
        return box[draw.randrange(len(box)):]
    return make.Holder(make.Holder(box), auto_prefix=False)


def names(cell):
    """What there is to know of it."""
    return {'parameters': [[path, p.name] for path, p in cell.parameters_and_names(name_prefix='net')],
            'cells': [path for path, _ in cell.cells_and_names()], 'dict': list(cell.parameters_dict()),
            'own': [[path, p.name] for path, p in cell.parameters_and_names(expand=False)]}


def ask(seed, framework):
    """The names after every step of a way to build a network; exceptions by their type."""
    make, draw, spare, said = makers(framework), random.Random(seed), [], []

    def step(do, box):
        try:
            made = do()
            said.append('done')
        except Exception as error:      # the type is the answer
            said.append(type(error).__name__)
            made = None
        return box if made is None else made
    box = step(lambda: start(make, draw), None)
    if box is None:
        return {'steps': said}
    whole = box
    for _ in range(draw.randrange(1, 6)):
        before = draw.getstate()
        step(lambda: change(make, draw, box, spare), box)
        draw.setstate(before)
        draw.seed(draw.getrandbits(32))     # an exception leaves the rest of the case the same
        if whole is box and draw.random() < 0.4:
            whole = step(lambda: wrap(make, draw, box), box)
    return {'steps': said, **names(whole)}


_made = {}


def makers(framework):
    if framework not in _made:
        _made[framework] = Makers(framework)
    return _made[framework]
