# SPDX-License-Identifier: Apache-2.0
"""A seed gives MindSpore's order of rows (orders.py has recorded it), for any number of workers, and from any position on."""
import json
import sys
from pathlib import Path

import pytest

import spore
import spore.dataset as ds
import spore.mindrecord

sys.path.insert(0, str(Path(__file__).parent))
from orders import DATA, numbers, orders, rows        # noqa: E402

RECORDED = json.loads(DATA.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    before = dict(ds.config._values)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("orders"))
        yield dict(orders(spore))
    ds.config._values.update(before)


def test_all_were_recorded(found):
    assert list(found) == list(RECORDED)


@pytest.mark.parametrize("name", RECORDED)
def test_order(name, found):
    assert found[name] == RECORDED[name]


def test_without_a_seed_sources_differ(monkeypatch):
    monkeypatch.setitem(ds.config._values, "seed", None)
    monkeypatch.setattr("spore.dataset.config._process_seed", lambda: None)
    first, second = (rows(numbers(ds, 50, shuffle=True)) for _ in range(2))
    assert first != second and first[0] != first[1]
    pairs = ds.zip((numbers(ds, 50, shuffle=True), ds.NumpySlicesDataset(list(range(50)), ["m"], shuffle=True)))
    assert rows(pairs, 1) != rows(pairs, 1, column=1)


def test_epochs_can_be_gone_to_in_any_order():
    """The order of an epoch is made from those before it, and does not depend on which were read."""
    spore.set_seed(4)
    for data in (numbers(ds, 31, shuffle=True), numbers(ds, 31, shuffle=False).shuffle(5),
                 numbers(ds, 31, shuffle=False).filter(lambda n: n % 3 != 0, ["n"]).shuffle(5),
                 numbers(ds, 31, sampler=ds.SubsetRandomSampler(list(range(20))))):
        wanted = rows(data, 6)
        iterator = data.create_tuple_iterator(num_epochs=100, output_numpy=True)
        state = iterator.get_state()
        for epoch in (4, 2, 5, 0, 3):
            iterator.set_state({**state, "epoch": epoch, "row": 0})
            assert [int(row[0]) for row in iterator] == wanted[epoch]
