# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The supersteps of the kernels: examples counted by hand, and sums that do not depend on the ranks."""

from __future__ import annotations

import math

import pytest

from hockney.core.case import Case
from hockney.suites.bsp.models.programs import PROGRAMS, Superstep, grid_of, square_grid, supersteps

RANKS = (2, 3, 4, 8, 16, 36, 64)
POWERS = (2, 4, 8, 16, 64)


def matrix(ranks: int, n: int, style: str = "bsp", grid: str = "auto") -> tuple[Superstep, ...]:
    case = Case.of("matrix_multiplication", ranks, n=n, type="double", style=style, grid=grid)
    return supersteps("matrix multiplication", case)


def bitonic(ranks: int, keys: int, style: str = "bsp") -> tuple[Superstep, ...]:
    case = Case.of("b", ranks, keys=keys, type="uint32", style=style, distribution="uniform")
    return supersteps("bitonic sort", case)


def sample(ranks: int, keys: int, style: str = "bsp", route: str = "direct") -> tuple[Superstep, ...]:
    values = {"type": "double", "samples": 0, "distribution": "uniform"}
    case = Case.of("s", ranks, keys=keys, style=style, route=route, **values)
    return supersteps("sample sort", case)


def paths(ranks: int, n: int, style: str = "bsp", block: int = 0) -> tuple[Superstep, ...]:
    return supersteps("shortest paths", Case.of("p", ranks, n=n, style=style, block=block))


def operations(steps: tuple[Superstep, ...], kind: str) -> float:
    return sum(s.count * w.operations for s in steps for w in s.work if w.operation == kind)


def sent(steps: tuple[Superstep, ...]) -> float:
    """Bytes that a rank sends on average."""
    return sum(s.count * s.mean_bytes for s in steps)


def test_grids_of_matrix_multiplication():
    grids = {2: (2, 1, 1), 4: (2, 2, 1), 8: (2, 2, 2), 16: (4, 2, 2), 36: (4, 3, 3), 64: (4, 4, 4)}
    assert {p: grid_of(p) for p in grids} == grids
    assert grid_of(8, "8:1:1") == (8, 1, 1)
    assert [square_grid(p) for p in (1, 2, 8, 12, 36, 100)] == [
        (1, 1),
        (1, 2),
        (2, 4),
        (3, 4),
        (6, 6),
        (10, 10),
    ]


def test_matrix_multiplication_on_two_and_on_eight():
    gather, multiply = matrix(2, 100)
    assert (gather.bytes, gather.packets, gather.sends, gather.work) == (100 * 50 * 8, 1, 1, ())
    assert multiply.work[0].operations == 1e6 and multiply.synchronised and multiply.bytes == 0
    assert dict(multiply.work[0].values) == {"n": 50, "m": 100, "k": 100, "type": "double"}
    gather, multiply, add = matrix(8, 100)
    assert gather.sends == 2 and gather.bytes == 2 * 1250 * 8
    assert multiply.sends == 1 and multiply.bytes == 1250 * 8 and multiply.work[0].operations == 250_000
    assert add.work[0].operations == 1250 and not add.synchronised


@pytest.mark.parametrize("ranks", RANKS)
def test_both_styles_of_matrix_multiplication_move_and_compute_the_same(ranks: int):
    bsp, bpram = (matrix(ranks, 144, style) for style in ("bsp", "bpram"))
    assert sent(bsp) == pytest.approx(sent(bpram))
    assert operations(bsp, "multiplication") == pytest.approx(operations(bpram, "multiplication"))
    assert sum(s.count * s.startups for s in bsp) == sum(s.count * s.startups for s in bpram)
    assert max(s.startups for s in bpram) == 1
    c = grid_of(ranks)[2]
    assert operations(bsp, "multiplication") == pytest.approx((2 * 144**3 + (c - 1) * 144**2) / ranks)


def test_bitonic_sort_has_a_merge_for_each_exchange():
    first, between, last = bitonic(8, 1024)
    assert first.work[0].operations == 1024 * 10 and first.bytes == 4096 and first.startups == 1
    assert between.count == 5 and between.work[0].operations == 1024 and not last.synchronised
    for p in POWERS:
        q = round(math.log2(p))
        steps = bitonic(p, 64)
        assert operations(steps, "merge") == 64 * q * (q + 1) / 2
        assert sent(steps) == 4 * 64 * q * (q + 1) / 2
    assert bitonic(8, 64, "bpram") == bitonic(8, 64), "exchanges are permutations already"
    [alone] = bitonic(1, 64)
    assert not alone.synchronised


def test_sample_sort_by_each_route():
    samples, keys, merge = sample(4, 1000)
    assert samples.bytes == 3 * 4 * 8 and samples.packets == 3
    assert keys.bytes == pytest.approx(1000 * 8 * 3 / 4 + 24) and keys.work[0].operations == 16 * 4
    assert merge.work[0].operations == 2000
    direct, butterfly = sample(64, 6400, "bpram"), sample(64, 6400, "bpram", "butterfly")
    count = [sum(s.count * s.startups for s in steps) for steps in (direct, butterfly)]
    assert count == [6 + 63, 6 + 6], "p - 1 startups against log p"
    assert sent(butterfly) > 2 * sent(direct), "more bytes"
    copied = [sum(s.count * s.copied for s in steps) for steps in (direct, butterfly)]
    assert copied == [6400 * 8, 6400 * 8 * (1 + 6 / 2)]
    for p in RANKS:
        gather = sample(p, 6400, "bpram")[: math.ceil(math.log2(p))]
        assert sum(s.bytes for s in gather) == (p - 1) * p * 8, "all samples of all others"


def test_shortest_paths_on_two():
    """A grid of 1 x 2 and two panels: each closes a block, updates a panel, and then the whole."""
    steps = paths(2, 100)
    assert [s.synchronised for s in steps] == [True] * 4 + [False]
    copy, closure = steps[0].work
    assert copy.operations == 100 * 50 * 4 and closure.operations == 50**3
    assert steps[0].bytes == steps[0].copied == 50 * 50 * 4
    assert steps[0].mean_bytes == steps[0].bytes / 2, "one of two sends"
    assert steps[1].bytes == 100 * 50 * 4, "the columns' panel; rows have one rank"
    assert sum(w.operations for w in steps[1].work) == 50**3, "each rank updates a part of a panel"
    update, closure = steps[2].work
    assert update.operations == 50**3 and closure.operations == 50**3, "all but the rows of the panel"
    assert steps[4].work == (update,)


def test_shortest_paths_on_a_square_has_panels_as_in_the_paper():
    steps = paths(64, 640)
    assert operations(steps, "closure") == 8 * 80**3
    diagonal = steps[:3]
    assert [s.bytes for s in diagonal] == [2 * 4 * 80**2] * 3 and [s.sends for s in diagonal] == [2] * 3
    assert [s.mean_bytes for s in diagonal] == [2 * k * 4 * 80**2 / 64 for k in (1, 2, 4)]
    assert sum(s.synchronised for s in steps) == 8 * (3 + 3)
    blocks = paths(64, 640, "bpram")
    assert sent(blocks) == pytest.approx(sent(steps))
    assert sum(s.startups for s in blocks) == 8 * (3 + 3 + 3 + 3)


def test_shortest_paths_row_by_row_closes_nothing():
    steps = paths(4, 64, block=1)
    assert operations(steps, "closure") == 0 and operations(steps, "min-plus") == 64**3 / 4
    assert sum(s.synchronised for s in steps) == 64
    assert operations(paths(4, 64, block=5), "closure") == 2 * (6 * 5**3 + 2**3), "panels end at blocks"


@pytest.mark.parametrize("ranks", [p for p in RANKS if square_grid(p)[0] > 1])
def test_panels_cover_the_matrix(ranks: int):
    rows, columns = square_grid(ranks)
    n = 12 * rows * columns
    steps = paths(ranks, n)
    updates, panels = n**3 / ranks, columns * (n / columns) ** 2 * (n / rows)
    assert operations(steps, "min-plus") == pytest.approx(updates + panels)
    assert operations(steps, "closure") <= columns * (n / columns) ** 3


def test_other_kernels_and_styles_have_no_supersteps():
    assert supersteps("halo", Case.of("halo", 2, style="bsp")) is None
    assert all(supersteps(name, Case.of("x", 2, style="mpi")) is None for name in PROGRAMS)
