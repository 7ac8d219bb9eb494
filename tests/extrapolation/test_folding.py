# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Loops in sequences, laws, and grids."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hockney.extrapolation.arrangements import rules
from hockney.extrapolation.folding import Folded, Loop, Node, fold
from hockney.extrapolation.grids import balanced, coordinates, rank_at
from hockney.extrapolation.laws import (
    SIZE_PATTERNS,
    count_laws,
    fit_count_law,
    fit_law,
    fit_rough_law,
    has_pattern,
    transferred_law,
)
from hockney.extrapolation.partners import OPEN, PERIODIC, Ranks, labels, partner, partner_rules
from hockney.extrapolation.trees import TREES, children, parent

Nest = int | tuple[int, "list[Nest]"]


def expanded(nodes: tuple[Node, ...]) -> list[int]:
    found: list[int] = []
    for node in nodes:
        if isinstance(node, Loop):
            for iteration in node.iterations:
                found += expanded(iteration)
        else:
            found.append(node)
    return found


@given(st.lists(st.lists(st.integers(0, 3), max_size=60), min_size=1, max_size=4))
def test_folded_sequences_contain_each_call_once_and_in_order(sequences):
    folded = fold([np.array(each, dtype=np.int64) for each in sequences])
    for made, sequence in zip(folded, sequences, strict=True):
        assert expanded(made.nodes) == list(range(len(sequence)))


def program(steps: int, inner: int, neighbors: int) -> np.ndarray:
    """A loop with two inner loops between other calls."""
    body = [0, *[1, 2] * inner, 3, *[4] * neighbors]
    return np.array([9, *body * steps, 8])


@given(st.integers(2, 6), st.integers(1, 5), st.integers(1, 5), st.integers(2, 6), st.integers(2, 5))
def test_sequences_that_differ_in_iterations_fold_alike(steps, inner, neighbors, others, more):
    first, second = fold([program(steps, inner, neighbors), program(others, more, more)])
    assert first.symbols == second.symbols
    assert iterations(first) == [(steps, inner, neighbors)]
    assert iterations(second) == [(others, more, more)]


def iterations(made: Folded) -> list[tuple[int, ...]]:
    found = []
    for node in made.nodes:
        if isinstance(node, Loop):
            inner = [len(each.iterations) for each in node.iterations[0] if isinstance(each, Loop)]
            found.append((len(node.iterations), *inner))
    return found


@given(st.integers(1, 3), st.data())
def test_partners_are_where_their_labels_put_them(dimensions, data):
    dims = tuple(data.draw(st.lists(st.integers(1, 5), min_size=dimensions, max_size=dimensions)))
    ranks = int(np.prod(dims))
    rank, other = (data.draw(st.integers(0, ranks - 1)) for _ in range(2))
    assert rank_at(dims, coordinates(dims, np.array([rank])))[0] == rank
    for relation in (OPEN, PERIODIC, "xor"):
        label = labels(relation, dims, np.array([rank]), np.array([other]))
        assert partner(relation, dims, rank, label)[0] == other
    outside = np.array([dims])
    assert partner(OPEN, dims, rank, outside)[0] == -1


def test_arrangements_follow_rules():
    assert balanced(64, 3) == (4, 4, 4) and balanced(24, 3) == (4, 3, 2) and balanced(16, 3) == (4, 2, 2)
    (rule, *_) = rules({8: (2, 4), 32: (4, 8)})
    assert rule.arrange(128) == (8, 16) and rule.arrange(512) == (16, 32)
    (rule, *_) = rules({4: (2, 2), 8: (2, 4), 16: (2, 8)})
    assert rule.arrange(64) == (2, 32) and rule.arrange(7) is None
    assert not list(rules({4: (2, 2), 8: (8, 1), 16: (2, 8)}))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (lambda ranks, dims: 8, "8"),
        (lambda ranks, dims: ranks - 1, "(P - 1)"),
        (lambda ranks, dims: 3 * np.log2(ranks), "3 * log2(P)"),
        (lambda ranks, dims: 4096 // dims[0], "4096 / x"),
        (lambda ranks, dims: 1024 // dims[1] + 16, "1024 / y + 16"),
        (lambda ranks, dims: 2**20 // ranks**2, "1.04858e+06 / P^2"),
    ],
)
def test_laws_are_found(value, text):
    dims = {ranks: balanced(ranks, 2) for ranks in (2, 4, 8, 16)}
    law = fit_law({ranks: float(value(ranks, each)) for ranks, each in dims.items()}, dims)
    assert law is not None and law.is_exact and law.text == text
    assert law.at(64, (8, 8)) == pytest.approx(float(value(64, (8, 8))), rel=1e-6)


def test_what_has_no_law_gets_none():
    dims = {ranks: (ranks,) for ranks in (2, 4, 8, 16)}
    assert fit_law({2: 7.0, 4: 31.0, 8: 11.0, 16: 90.0}, dims) is None
    assert fit_law({2: 7.0}, dims) is None


def test_numbers_of_iterations_have_whole_coefficients():
    dims = {2: (2, 1), 4: (2, 2), 8: (4, 2), 16: (4, 4)}
    law = fit_count_law({2: 1, 4: 1, 8: 2, 16: 2}, dims)
    assert law is not None and law.text == "log2(x)" and law.at(64, (8, 8)) == 3


def test_remainders_do_not_change_a_size_pattern():
    k = np.arange(15)
    assert has_pattern(np.where(k < 8, 504.0, 496.0))


def test_partners_and_sizes_in_loops():
    k = np.array([0, 0, 1, 0, 1, 2])
    count = np.array([1, 2, 2, 3, 3, 3])
    ranks = 2**count
    of = Ranks.of(np.array([1, 1, 1, 5, 5, 5]), ranks, {2: (2,), 4: (4,), 8: (8,)})
    rule = next(partner_rules(of, k, count, (of.rank + 2**k) % ranks))
    assert rule.text == "r + 2^(k)"
    assert not list(partner_rules(of, k, count, np.array([0, 3, 2, 1, 7, 0])))
    doubled = SIZE_PATTERNS[1].at(of.rank, ranks, k, count)[3:]
    assert has_pattern(np.array([64.0, 128.0, 256.0]) / doubled)
    assert not has_pattern(np.array([64.0, 100.0, 256.0]) / doubled)


def test_few_iterations_are_not_approximated():
    dims = {ranks: (ranks,) for ranks in (4, 8, 12)}
    assert fit_count_law({4: 3, 8: 4, 12: 6}, dims) is None
    assert {law.text for law in count_laws({4: 2, 8: 4, 12: 6}, dims)} >= {"0.5 * P", "2 * ceil(log2(P)) - 2"}


@pytest.mark.parametrize("tree", TREES)
def test_children_in_binomial_trees_are_those_below(tree):
    for ranks in range(1, 40):
        rank = np.arange(ranks)
        counted = np.bincount(parent(tree, rank)[1:], minlength=ranks)
        assert children(tree, rank, np.array(ranks)).tolist() == counted.tolist()


def test_laws_of_rows_are_those_of_columns():
    dims = {2: (2, 1), 4: (2, 2), 8: (2, 4), 16: (4, 4)}
    columns = fit_law({ranks: 960 / each[1] + 40 for ranks, each in dims.items()}, dims)
    assert columns is not None and columns.is_exact
    rows = {ranks: 960 / each[0] + 40 for ranks, each in dims.items()}
    assert fit_law(rows, dims) is None
    law = transferred_law(rows, dims, [columns])
    assert law is not None and law.text == "960 / x + 40"
    assert law.at(64, (8, 8)) == pytest.approx(160)
    assert transferred_law({**rows, 16: 300.0}, dims, [columns]) is None


def test_rough_laws_do_not_grow():
    dims = {ranks: (ranks,) for ranks in (2, 4, 8, 16)}
    law = fit_rough_law({2: 1000.0, 4: 450.0, 8: 270.0, 16: 120.0}, dims)
    assert law is not None and law.is_rough and law.basis.text == "/ P"
    growing = fit_rough_law({2: 1000.0, 4: 1300.0, 8: 1500.0, 16: 1900.0}, dims)
    assert growing is None or growing.at(256, (256,)) <= growing.at(2, (2,))
    assert fit_rough_law({2: 7.0, 4: 900.0, 8: 11.0, 16: 90.0}, dims) is None
    assert fit_law({2: 0.0, 4: 5.0, 8: 0.0}, dims) is None
