# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Schedules: their data reach the ranks that the operation requires, and their layers are valid for the
simulator."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hockney.core.smpi_algorithms import ALGORITHMS
from hockney.models import schedules
from hockney.models.schedules import SCHEDULES, Mode, NotModelled, Step, Tally, collectives, relation
from hockney.models.schedules.barriers import linear, recursive_doubling_sendrecv
from hockney.models.schedules.smpi import ONLY_ALGORITHMS, SMPI_SCHEDULES, smpi_schedules

FROM_ROOT = ("bcast", "scatter")
TO_ROOT = ("reduce", "gather")
RANKS = [*range(1, 18), 31, 64]


def exists(name: str, ranks: int) -> bool:
    return not (ranks & (ranks - 1) and name == "pairwise_xor")


def everywhere(*counts: int) -> Callable[[Callable[[str, str, int], None]], Callable[[str, str], None]]:
    """A test of every algorithm, on each of these numbers of ranks."""

    def decorate(test: Callable[[str, str, int], None]) -> Callable[[str, str], None]:
        @pytest.mark.parametrize(("operation", "name"), SCHEDULES)
        def on_each_number(operation: str, name: str) -> None:
            for ranks in counts:
                if exists(name, ranks):
                    test(operation, name, ranks)

        return on_each_number

    return decorate


def steps(operation: str, name: str, ranks: int, size: int = 8) -> list[Step]:
    """Of those, the ones with messages."""
    return [each for each in SCHEDULES[operation, name](ranks, size) if each.layers]


def knowledge(steps: list[Step], ranks: int) -> list[set[int]]:
    """Whose data each rank has a part of at the end, if a message carries all of its sender's data."""
    known = [{rank} for rank in range(ranks)]
    for step in steps:
        news = [
            (int(target), set(known[source]))
            for layer in step.layers
            for source, target in zip(layer.source, layer.target, strict=True)
        ]
        for target, data in news:
            known[target] |= data
    return known


def complete(operation: str, known: list[set[int]]) -> bool:
    everyone = set(range(len(known)))
    if operation in TO_ROOT:
        return known[0] == everyone
    if operation in FROM_ROOT:
        return all(0 in data for data in known)
    if operation == "scan":
        return known == [set(range(rank + 1)) for rank in range(len(known))]
    return all(data == everyone for data in known)


@everywhere(*RANKS)
def test_everyone_gets_the_data_of_all_who_send(operation, name, ranks):
    """For a barrier: no rank leaves before the last one has entered."""
    assert complete(operation, knowledge(steps(operation, name, ranks), ranks))


@pytest.mark.parametrize("ranks", [2, 3, 6, 13, 16])
@pytest.mark.parametrize("name", schedules.algorithm_names("barrier"))
def test_no_step_of_a_barrier_is_superfluous(name, ranks):
    every = steps("barrier", name, ranks)
    spared = [complete("barrier", knowledge(every[:k] + every[k + 1 :], ranks)) for k in range(len(every))]
    if not name.startswith("total_exchange_"):  # whose messages carry more than is needed
        assert not any(spared)


@pytest.mark.parametrize("barrier", [linear, recursive_doubling_sendrecv])
@pytest.mark.parametrize("ranks", RANKS)
def test_the_barriers_of_the_simulator_are_barriers(barrier, ranks):
    assert complete("barrier", knowledge(list(barrier(ranks)), ranks))


@everywhere(*range(1, 18))
def test_in_a_layer_a_rank_sends_once_and_receives_once(operation, name, ranks):
    for step in steps(operation, name, ranks):
        sources = np.concatenate([layer.source for layer in step.layers])
        targets = np.concatenate([layer.target for layer in step.layers])
        assert step.mode is not Mode.BLOCKING or not set(sources) & set(targets)
        for layer in step.layers:
            source, target = layer.source, layer.target
            assert len(set(source)) == len(source) == len(target) == len(set(target)) > 0
            assert (source != target).all()
            assert ((source >= 0) & (source < ranks) & (target >= 0) & (target < ranks)).all()
            assert np.broadcast_to(layer.size, source.shape).min() >= 0


@everywhere(2, 3, 7, 8, 13, 16)
def test_all_bytes_that_are_sent_are_received(operation, name, ranks):
    tally = Tally.of(steps(operation, name, ranks), ranks)
    assert tally.sent.sum() == tally.received.sum()
    assert tally.handled.sum() == 2 * tally.messages


SIZE = 100_001
"""Many segments, and parts that are not all of the same length."""
TWICE = [("bcast", "scatter_allgather"), ("allgather", "recursive_doubling")]
"""Parts that a rank passes on come round the ring again; folded ranks get their own block back."""


@pytest.mark.parametrize("ranks", [2, 3, 5, 8, 13, 16])
@pytest.mark.parametrize(
    ("operation", "received"),
    [
        ("gather", lambda p: [(p - 1) * SIZE] + [0] * (p - 1)),
        ("scatter", lambda p: [0] + [SIZE] * (p - 1)),
        ("allgather", lambda p: [(p - 1) * SIZE] * p),
        ("bcast", lambda p: [0] + [SIZE] * (p - 1)),
    ],
)
def test_nothing_is_received_twice(operation, received, ranks):
    """What reaches a rank that passes nothing on; inner ranks of a gather or scatter receive for others."""
    for name in schedules.algorithm_names(operation):
        if not exists(name, ranks) or (operation, name) in TWICE:
            continue
        tally = Tally.of(steps(operation, name, ranks, SIZE), ranks)
        inner = np.arange(ranks) > 0 if operation in ("gather", "scatter") else np.zeros(ranks)
        passed_on = inner * (tally.sent - (SIZE if operation == "gather" else 0))
        assert (tally.received - passed_on).tolist() == received(ranks), name


@pytest.mark.parametrize("ranks", [3, 8, 13])
def test_what_is_received_twice(ranks):
    """The sums are those of the phases."""
    tally = Tally.of(steps("bcast", "scatter_allgather", ranks, SIZE), ranks)
    ring = (ranks - 1) * SIZE
    levels = sum(int(rank).bit_count() for rank in range(ranks))  # on each part's way down
    assert ring < tally.sent.sum() <= ring + levels * -(-SIZE // ranks)
    assert (tally.received[1:] >= SIZE - -(-SIZE // ranks)).all()
    pairs = ranks - (1 << (ranks.bit_length() - 1))
    tally = Tally.of(steps("allgather", "recursive_doubling", ranks, SIZE), ranks)
    even = np.isin(np.arange(ranks), 2 * np.arange(pairs))
    assert tally.received.tolist() == ((ranks - 1 + even) * SIZE).tolist()


@pytest.mark.parametrize("ranks", [2, 3, 5, 8, 13, 16])
@pytest.mark.parametrize("size", [8, 8000])
def test_what_a_reduction_receives_and_combines(ranks, size):
    """Each of P vectors but one is combined once, for each result that is not copied."""
    combined = {key: 0.0 for key in SCHEDULES if key[0] in ("reduce", "allreduce", "reduce_scatter_block")}
    for key in combined:
        for each in steps(*key, ranks, size):
            if each.combine:
                combined[key] += sum(
                    float(np.broadcast_to(x.size, x.source.shape).sum()) for x in each.layers
                )
    for (operation, name), found in combined.items():
        if name == "recursive_doubling":
            continue  # adds the same everywhere
        whole = size * (ranks if operation == "reduce_scatter_block" else 1)
        assert found == (ranks - 1) * whole, (operation, name)


def test_pairwise_exchange_and_the_simulators_recursive_doubling_need_powers_of_two():
    for schedule in [SCHEDULES["alltoall", "pairwise_xor"], *SMPI_SCHEDULES["allgather", "rdb"]]:
        with pytest.raises(NotModelled):
            list(schedule(6, 8))


def test_the_simulators_names_are_known_to_it():
    assert all(name in ALGORITHMS[operation] for operation, name in SMPI_SCHEDULES)
    assert smpi_schedules({}, "gatherv")[0] == smpi_schedules({}, "iallreduce")[0] == "default"
    assert smpi_schedules({"reduce_scatter": "mpich"}, "reduce_scatter_block") is None
    assert smpi_schedules({"barrier": "ompi_tree"}, "barrier of a window") is None


@pytest.mark.parametrize("ranks", [4, 6, 8])
def test_the_simulators_reduce_scatter_exchanges_halves_of_the_vector_with_the_farthest_rank_first(ranks):
    power = 8 if ranks == 8 else 4
    (schedule,) = smpi_schedules({}, "reduce_scatter_block")[1]
    layers = [layer for each in schedule(ranks, 8) for layer in each.layers]
    exchanges = [layer for layer in layers if len(layer.source) == power]
    assert exchanges[0].size.sum() == power * ranks * 8 / 2, "each sends a half, on average"
    distances = [np.abs(layer.source - layer.target).max() for layer in exchanges]
    assert distances == sorted(distances, reverse=True)
    folds = 2 if ranks > power else 0
    assert len(layers) == power.bit_length() - 1 + folds


def test_each_rank_gets_all_blocks_in_the_simulators_only_algorithms():
    """Of a rank's block or vector of 8 bytes; the root gets, or sends, all of them."""
    for operation, phases in ONLY_ALGORITHMS.items():
        received = np.zeros(5)
        for layer in (layer for phase in phases for each in phase(5, 8) for layer in each.layers):
            np.add.at(received, layer.target, np.broadcast_to(layer.size, layer.target.shape))
        expected = {
            "gather": [32, 0, 0, 0, 0], "scatter": [0, 8, 8, 8, 8], "scan": [0, 8, 16, 24, 32],
            "barrier": [0] * 5,
        }  # fmt: skip
        name = operation.removeprefix("i").removesuffix("v").replace("exscan", "scan")
        name = {"bcast": "scatter", "reduce": "gather"}.get(name, name)
        assert received.tolist() == expected.get(name, [32] * 5), operation


PAIRS = st.integers(1, 9).flatmap(
    lambda p: st.lists(st.tuples(st.integers(0, p - 1), st.integers(0, p - 1), st.integers(0, 100)))
)


@given(PAIRS)
def test_a_relation_keeps_every_message_once_and_each_senders_order(messages):
    source, target, size = (np.array([m[part] for m in messages], dtype=int) for part in range(3))
    step = relation(source, target, size)
    cut = [
        (int(s), int(t), int(x))
        for layer in step.layers
        for s, t, x in zip(layer.source, layer.target, layer.size, strict=True)
    ]
    for rank in range(9):
        assert [m for m in cut if m[0] == rank] == [m for m in messages if m[0] == rank != m[1]]
    for layer in step.layers:
        assert len(set(layer.source)) == len(layer.source) == len(set(layer.target)) > 0
    tally = Tally.of([step], 9)
    assert tally.messages == len(cut)
    assert tally.max_bytes(shared=False) == max(
        [0, *(sum(m[2] for m in cut if m[end] == rank) for rank in range(9) for end in (0, 1))]
    ), "the h of an h-relation"


def test_an_alltoallv_of_smpi_sends_to_rank_0_first():
    (step, _) = collectives.linear_alltoall_in_order(5, 8)
    pairs = [
        pair
        for layer in step.layers
        for pair in zip(layer.source.tolist(), layer.target.tolist(), strict=True)
    ]
    for rank in range(5):
        others = [other for other in range(5) if other != rank]
        assert [target for source, target in pairs if source == rank] == others
        assert sorted(source for source, target in pairs if target == rank) == others
    for layer in step.layers:
        assert len(set(layer.target.tolist())) == len(layer.target)
