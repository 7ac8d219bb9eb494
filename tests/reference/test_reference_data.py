# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The published numbers: copied completely, with units and cases, consistent with the papers' derived
values."""

from __future__ import annotations

import math
import re

import pytest

from hockney import measurement, reference
from hockney.core.errors import UsageError
from hockney.reference.papers import UNITS

PAPERS = reference.names()


@pytest.fixture(params=PAPERS)
def paper(request):
    return reference.published(request.param)


def test_five_papers_have_their_machines():
    assert PAPERS == ("annealing", "barriers", "granularity", "paragon", "t3e")
    assert set(reference.machine_names()) == {
        "t3e", "paragon", "switched-ethernet", "sun-ethernet", "ibm-sp", "ppro-ethernet", "t3d",
    }  # fmt: skip


def test_every_row_says_what_it_is(paper):
    keys = [row.key for row in paper.rows] + [formula.key for formula in paper.formulas]
    assert len(set(keys)) == len(keys) > 0
    machines = {about.name for about in paper.machines}
    for row in paper.rows:
        assert re.fullmatch(rf"{paper.name}(/[A-Za-z0-9_.-]+)+", row.key)
        assert row.machine in machines and row.workload and row.table and row.quantity
        assert row.unit in UNITS and math.isfinite(row.value) and row.value >= 0
    for formula in paper.formulas:
        assert formula.key.startswith(f"{paper.name}/formula/") and formula.machine in machines
    assert re.search(r"19\d\d|'96", paper.citation)
    assert all(about.text and about.title for about in paper.machines)


def test_every_case_is_one_of_the_engine(paper):
    catalog = measurement.bundled_catalog()
    for row in paper.rows:
        if row.case:
            case = catalog.case(row.case, row.ranks)
            assert row.quantity == "time" and row.unit in ("s", "ms", "us")
            assert (row.ranks, row.workload) == (case.ranks, case.workload)
    for formula in paper.formulas:
        if formula.case:
            assert catalog.case(formula.case, formula.ranks).workload == formula.case.split()[0]


def test_only_empty_shares_are_printed_twice(paper):
    asked = [(row.case, row.ranks) for row in paper.rows if row.case]
    twice = {each for each in asked if asked.count(each) > 1}
    empty = {(f"{name} bytes=0 sync=loop", 256) for name in ("gather", "scatter", "alltoall")}
    assert twice == (empty if paper.name == "t3e" else set())


def times(name: str, prefix: str) -> dict[str, float]:
    return {
        r.key.removeprefix(prefix): r.si for r in reference.published(name).rows if r.key.startswith(prefix)
    }


def test_tables_are_complete():
    barriers = times("barriers", "barriers/table/")
    assert len(barriers) == 6 * 8
    assert sum(barriers.values()) * 1e3 == pytest.approx(1935.79)
    assert sum(times("paragon", "paragon/bsp/g/").values()) * 1e6 == pytest.approx(38.36)
    assert sum(times("paragon", "paragon/bpram/sigma/").values()) * 1e6 == pytest.approx(0.1861)
    assert sum(times("annealing", "annealing/table-1/").values()) == pytest.approx(2071.2)


def test_t3e_agrees_with_what_its_paper_derives():
    paper = reference.published("t3e")
    message = paper.formula("t3e/formula/pingpong")
    assert 1e6 / message.time(10**6) == pytest.approx(paper.row("t3e/text/peak").si, rel=0.02)
    assert 5 * message.time(10**6) == pytest.approx(paper.row("t3e/text/bcast-tree/1MB/32").si, rel=0.002)
    assert message.time(4095) > message.time(4097), "the jump down that the inconsistencies name"
    assert paper.row("t3e/text/alltoall-sends/4KB/32").si == pytest.approx(
        31 * paper.row("t3e/text/latency").si
    )
    steps = [paper.row(f"t3e/table/reduce/1MB/{2**k}").si / k for k in (5, 6, 7, 8)]
    assert max(steps) / min(steps) < 1.02, "a tree of equal steps"


def test_arrays_at_the_root_are_shared_out_in_whole_doubles():
    """The engine's bytes of gather, scatter and alltoall are a rank's block; the paper prints the whole."""
    rows = [
        r for r in reference.published("t3e").rows if re.match(r"(gather|scatter|alltoall) bytes=", r.case)
    ]
    assert len(rows) == 3 * 12 + 1
    for row in rows:
        assert f" bytes={row.bytes // 8 // row.ranks * 8} " in row.case
        assert row.bytes % (8 * row.ranks) == 0 or "without data" in row.note


def test_paragon_agrees_with_what_its_paper_derives():
    paper = reference.published("paragon")
    one = paper.formula("paragon/formula/pingpong").segments[0]
    assert 1 / one.per_byte_s == pytest.approx(paper.row("paragon/text/bandwidth").si, rel=0.001)
    assert one.constant_s / one.per_byte_s == pytest.approx(paper.row("paragon/text/half-size").si, rel=0.001)


def test_barriers_cost_one_medium_per_message():
    messages = {"dissemination": 64, "mcs-tree": 30, "n-way": 30, "total-exchange": 240, "tournament": 16}
    paper = reference.published("barriers")
    each = [paper.row(f"barriers/table/{name}/16").si / count for name, count in messages.items()]
    assert all(1.1e-3 < one < 1.32e-3 for one in each)


def test_granularity_writes_its_equation_out():
    paper = reference.published("granularity")
    start, word = (paper.row(f"granularity/parameter/{name}").si for name in ("t_start", "t_w"))
    for ranks in (2, 4, 8):
        formula = paper.formula(f"granularity/formula/exchange/{ranks}")
        assert formula.ranks == ranks
        for length in (1, 10, 1000, 10000):
            exchange = 2 * (start + word * 4 * ranks / 2 * length)
            assert formula.time(4 * length) == pytest.approx(exchange)


def test_annealing_communicates_as_much_as_it_says():
    paper = reference.published("annealing")
    low, high = (paper.row(f"annealing/text/share/{end}").si for end in ("low", "high"))
    for setup in ("original", "estimated"):
        for who in ("master", "worker"):
            busy, talk = (
                paper.row(f"annealing/table-1/{setup}/{part}/{who}").si
                for part in ("computation", "communication")
            )
            assert low < talk / (busy + talk) < high


def test_a_formula_holds_in_its_ranges_only():
    formula = reference.published("t3e").formula("t3e/formula/pingpong")
    assert formula.time(0) == pytest.approx(17e-6) and formula.time(4097) == pytest.approx(
        69.302e-6, rel=1e-4
    )
    assert formula.sizes()[:3] == (0, 1, 2) and {4095, 4097, 1 << 20} <= set(formula.sizes())
    assert 4096 not in formula.sizes()
    for beyond in (4096, 1 << 21):
        with pytest.raises(UsageError) as caught:
            formula.time(beyond)
        assert (caught.value.code, caught.value.fields["size"]) == ("size-outside-formula", beyond)


def test_names_are_found_or_guessed():
    paper = reference.published("t3e")
    assert paper.knows("t3e/table/bcast/8/32") and paper.knows("t3e/table/") and paper.knows("t3e/formula")
    assert not paper.knows("t3e/table/bcast/8/3") and not paper.knows("t3e/tab")
    for look_up, name, code in (
        (paper.row, "t3e/table/bcst/8/32", "unknown-row"),
        (paper.formula, "t3e/formula/pingpng", "unknown-formula"),
        (reference.published, "paragn", "unknown-paper"),
        (reference.paper_of, "ibm-sb", "unknown-published-machine"),
        (paper.machine, "t3", "unknown-machine-of-paper"),
    ):
        with pytest.raises(UsageError) as caught:
            look_up(name)
        assert caught.value.code == code and caught.value.suggestion
