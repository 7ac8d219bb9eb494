# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The study of collectives in worlds with known costs: which algorithm is best where, and by how much; the
time of a message, the eager limit, and the definitions of the paper."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from statistics import NormalDist

import pytest
from msgspec.structs import replace as replace_struct

from hockney import api, measurement, studies
from hockney.core.case import Case
from hockney.core.errors import UsageError
from hockney.core.fit import Estimate, Fits, FittedSegment
from hockney.core.machine import Mpi
from hockney.core.record import SCHEMA, RunRecords
from hockney.core.settings import Settings
from hockney.launch.fake import FakeLauncher
from hockney.launch.fake_world import FakeSegment, World
from hockney.machines import simulated
from hockney.models.significance import widen
from hockney.models.statistics import Verdict, ratio
from hockney.pages import method
from hockney.pages.series import message_fit
from hockney.report.render import render
from hockney.studies import Evidence, Options
from hockney.studies.collectives import (
    answer,
    columns,
    figures,
    headline,
    launch_settings,
    plan,
    results,
    summary,
)
from hockney.studies.collectives.page import _send_time_section
from hockney.studies.collectives.plan import ALGORITHMS, EAGER_LIMITS, OPERATIONS, SYNC, eager_variables
from hockney.studies.collectives.results import (
    ADDITIONAL_DEFINITIONS,
    PAPER,
    PRINTED_SIZES,
    CollectiveResults,
    EagerEffect,
    block_bytes,
    definition,
)
from hockney.studies.needed_budget import suggested_budget

CATALOG = measurement.bundled_catalog()
MACHINE = measurement.fake_bench("fake").machine
SOME = (1 << 10, 64 << 10)


def cases(**given) -> list[Case]:
    values = {
        parameter.name: parameter.value(given.pop(parameter.name))
        for parameter in (OPERATIONS, ALGORITHMS, SYNC, EAGER_LIMITS)
        if parameter.name in given
    }
    return plan(Options(parameters=values, **given), CATALOG, MACHINE)


@dataclass(frozen=True)
class Truth(World):
    """A collective takes `of(operation, algorithm, bytes)`."""

    of: Callable[[str, str, int], float] = lambda operation, algorithm, size: 1e-5

    def time(self, case: Case) -> float:
        if "algorithm" not in case or case.workload.startswith("barrier"):
            return super().time(case)
        return self.of(case.workload, str(case["algorithm"]), case.bytes)


def measured(tmp_path, world: World, planned: list[Case], options: Options | None = None) -> Evidence:
    bench = measurement.fake_bench(FakeLauncher(world))
    settings = tuple(s.line for s in launch_settings(options or Options(), bench.machine))
    named = {case.setting for case in planned}
    lines = tuple(line for line in settings if line.split()[0] in named)
    run = Settings("collectives", 20.0, launches=5, seed=1, launch_settings=lines)
    folder = measurement.create_run(tmp_path / "run", planned, run, bench)
    measurement.measure(folder, bench, lambda event: None)
    return api.load(folder.path).evidence


@pytest.fixture(scope="module")
def alike(tmp_path_factory) -> Evidence:
    """Two operations, of which all algorithms cost the same."""
    planned = cases(operations="allgather,scan", ranks=(2,), sizes=SOME, eager="0")
    return measured(tmp_path_factory.mktemp("alike"), Truth(), planned)


def with_ratios(evidence: Evidence, *ratios: tuple[float, float | None, float | None]) -> Evidence:
    """The evidence with these ratios of its points."""
    copy = replace(evidence)
    run = CollectiveResults.of(copy)
    vars(run)["points"] = tuple(
        replace(point, ratio=Estimate(*ratio)) for point, ratio in zip(run.points, ratios, strict=True)
    )
    return copy


def test_all_operations_and_algorithms_are_planned():
    every = cases(ranks=(2, 4), sizes=SOME)
    for workload in CATALOG.with_role("collective"):
        choices = set(workload.parameter("algorithm").choices)
        for ranks in (2, 4):
            here = [c for c in every if c.workload == workload.name and c.ranks == ranks]
            assert {str(c["algorithm"]) for c in here} == choices
            assert len(here) == len(choices) * len(SOME)
            assert {c.bytes for c in here} == {block_bytes(workload.name, size, ranks) for size in SOME}
    assert {c["sync"] for c in every if "algorithm" in c} == {"barrier"}


def test_parameters_narrow_the_plan():
    some = cases(operations="bcast,scan", algorithms="linear", eager="0", sizes=(1024,), sync="loop")
    assert {(c.workload, c["algorithm"], c["sync"]) for c in some if "algorithm" in c} == {
        (name, algorithm, "loop") for name in ("bcast", "scan") for algorithm in ("mpi", "linear")
    }
    assert not any(c.setting for c in some)


@pytest.mark.parametrize(
    ("code", "given"),
    [
        ("unknown-collective", {"operations": "broadcast"}),
        ("unknown-algorithm", {"operations": "bcast", "algorithms": "bruck"}),
        ("no-collective", {"ranks": (1,)}),
    ],
)
def test_mistakes(code, given):
    with pytest.raises(UsageError) as caught:
        cases(**given)
    assert caught.value.code == code


def test_the_best_algorithm_is_found_with_its_factor(tmp_path):
    """Of two operations, MPI is slower than one algorithm for long buffers of one."""

    def cost(operation: str, algorithm: str, size: int) -> float:
        if operation == "scan" and size >= 1 << 16:
            return {"mpi": 6e-5, "linear": 4e-5}.get(algorithm, 2e-5)
        return 1e-5 if algorithm == "mpi" else 2e-5

    planned = cases(operations="bcast,scan", ranks=(2,), sizes=SOME, eager="0")
    evidence = measured(tmp_path, Truth(of=cost), planned)
    run = CollectiveResults.of(evidence)
    verdicts = {(p.operation, p.buffer): p.verdict for p in run.points}
    assert verdicts == {
        ("bcast", 1024): "faster",
        ("bcast", 65536): "faster",
        ("scan", 1024): "faster",
        ("scan", 65536): "slower",
    }
    (worst,) = run.slowest_points(2).values()
    assert (worst.best, worst.verdict) == ("recursive_doubling", "slower")
    assert worst.ratio.low <= 3 <= worst.ratio.high and worst.ratio.value == pytest.approx(3, rel=0.05)
    document = answer(evidence)
    slow = [p for p in document["collectives"] if p["mpi_is"] == "slower"]
    assert [(p["operation"], p["buffer_bytes"], p["best"]) for p in slow] == [
        ("scan", 65536, "recursive_doubling")
    ]
    assert "MPI_Scan" in studies.find_study("collectives").page(evidence).headline[0]


def test_equal_algorithms_are_alike(alike):
    run = CollectiveResults.of(alike)
    assert {p.verdict for p in run.points} == {"alike"}


def test_undecided_comparisons_are_counted_apart(alike):
    """Of four cases one is slower, one alike, one undecided and one without an interval."""
    evidence = with_ratios(alike, (1.5, 1.4, 1.6), (1.0, 0.98, 1.02), (1.2, 0.8, 1.8), (1.3, None, None))
    run = CollectiveResults.of(evidence)
    document = answer(evidence)
    assert document["counts"] == {"slower": 1, "alike": 1, "undecided": 1, "unknown": 1}
    assert [each["mpi_is"] for each in document["collectives"]] == ["slower", "alike", "undecided", "unknown"]
    (table,) = summary(evidence)
    cells = [cell for row in table.rows for cell in row[1:]]
    assert cells == [
        f"{run.points[0].best} 1.50",
        "MPI",
        "? recursive_doubling 1.20",
        "? recursive_doubling 1.30",
    ]

    page = studies.find_study("collectives").page(evidence)
    needed = run.interval_factor * math.log(1.8 / 1.2) / math.log(1.2)
    assert needed**2 > 2 > 6 / run.points[2].launches, "that of the undecided case, not of the unknown one"
    budgets = re.findall(r"--budget (\d+[sm])\b", " ".join(page.headline))
    assert budgets == [suggested_budget(2 * evidence.settings.budget_s)], "median_low of both"
    hollow = [series for series in page.lead.series if series.hollow]
    assert sum(len(series.x) for series in hollow) == 2
    (shown,) = (t for s in page.sections for t in s.tables if t.name == "compared")
    assert [row[-1] for row in shown.rows] == ["slower", "alike", "undecided", "unknown"]


@pytest.mark.parametrize(
    ("undecided", "numbers"),
    [(2, ["2", "2", "4", "2", "2"]), (3, ["2", "1", "4", "2", "3", "1"]), (4, ["2", "4", "2", "4"])],
)
def test_the_headline_begins_with_what_is_decided_if_that_is_little(alike, undecided, numbers):
    """Of four cases."""
    evidence = with_ratios(alike, *[(1.2, 0.8, 1.8)] * undecided, *[(1.5, 1.4, 1.6)] * (4 - undecided))
    first = studies.find_study("collectives").page(evidence).headline[0].partition(".")[0]
    assert re.findall(r"\d+", first) == numbers


def test_undecided_eager_limits_are_marked(tmp_path):
    planned = cases(operations="scan", ranks=(2,), sizes=(1024,), eager="64KiB")
    evidence = measured(tmp_path, World(), planned, Options(parameters={"eager": (65536,)}))
    effect = EagerEffect.of(evidence)
    (limit,) = effect.limits
    wide, narrow = Estimate(1.0, 0.5, 2.0), Estimate(1.0, 0.99, 1.01)
    by_size = {size: wide if size <= 1024 else narrow for size in limit.by_size}
    vars(effect)["limits"] = (replace(limit, by_size=by_size, mean=wide),)
    (stated,) = answer(evidence)["eager_limits"]
    assert stated["verdict"] == "undecided"
    assert [each["verdict"] for each in stated["by_size"]] == ["undecided"] * 2 + ["alike"] * 8
    page = studies.find_study("collectives").page(evidence)
    (table,) = (t for s in page.sections for t in s.tables if t.name == "eager")
    assert [row[1].endswith("?") for row in table.rows] == [True] * 2 + [False] * 8 + [True]
    assert any("1 of 1 limit is undecided" in text for text in page.headline)


def test_the_sizes_of_an_operation_are_drawn_beside_each_other(alike):
    figure = figures.ratios_figure(CollectiveResults.of(alike), 2)
    places = [x for series in figure.series for x in series.x]
    assert len(set(places)) == len(places) == 4
    assert sorted(round(x) for x in places) == [0, 0, 1, 1]


def test_a_line_that_begins_below_zero_is_given_from_the_change_on():
    per_byte = Estimate(1 / 2.26e9, None, None)
    latency = Estimate(21e-6 - 65536 / 2.26e9, None, None)
    piece = FittedSegment(
        first=65536, beyond=None, latency=latency, per_byte=per_byte, intercept="below zero"
    )
    assert latency.value < 0 and columns.piece_formula(piece) == "21.0 + (x - 65536)/2260"
    above = replace_struct(piece, latency=Estimate(2e-6, None, None), intercept="found")
    assert columns.piece_formula(above) == "2.00 + x/2260"


def test_the_t3e_is_compared_with_the_paper_only(alike):
    def said(name: str) -> str:
        traits = replace_struct(MACHINE.traits, origin="simulated")
        machine = replace_struct(MACHINE, platform=simulated.platform(name), traits=traits)
        return headline.send_time_sentence(replace(alike, machine=machine))

    assert "T3E" in said("t3e") and "T3E" not in said("switched-ethernet")


def test_the_time_of_a_message_is_a_plus_x_over_b(tmp_path):
    world = World(
        segments=(FakeSegment(0, 2e-6, 1 / 1e9), FakeSegment(4096, 5e-6, 1 / 4e9)), noise=0.003, tail=0
    )
    planned = cases(operations="scan", ranks=(2,), sizes=SOME, eager="0")
    evidence = measured(tmp_path, world, planned)
    fit = message_fit(evidence)
    assert len(fit.segments) == 2
    for piece, (a, b) in zip(fit.segments, ((2e-6, 1e9), (5e-6, 4e9)), strict=True):
        assert piece.latency.value == pytest.approx(a, rel=0.1)
        assert 1 / piece.per_byte.value == pytest.approx(b, rel=0.1)
    assert 2048 < fit.segments[1].first <= 4096
    section = _send_time_section(evidence)
    assert section.tables[0].rows[-1][1] == "56.0 + x/308"
    assert section.closed and "Resch" in section.text[0]


def test_the_effect_of_the_eager_limit(tmp_path):
    """In this world a message below the limit costs less: from 4 KiB, where MPI's own limit is, a larger one
    gains, and a smaller one loses below it."""
    world = World(segments=(FakeSegment(0, 1e-6, 1e-10), FakeSegment(4096, 8e-6, 1e-10)))
    planned = cases(operations="scan", ranks=(2,), sizes=(1024,), eager="1KiB,64KiB")
    evidence = measured(tmp_path, world, planned, Options(parameters={"eager": (1024, 65536)}))
    effect = EagerEffect.of(evidence)
    small, large = effect.limits
    assert (small.limit, large.limit) == (1024, 65536) and effect.best is large
    assert large.mean.high < 1 < small.mean.low
    assert effect.sizes_with_verdict(large, "faster") == [
        4096,
        8192,
        16384,
        32768,
    ] and not effect.sizes_with_verdict(large, "slower")
    assert effect.sizes_with_verdict(small, "slower") == [1024, 2048]
    true = (1e-6 + 4096e-10) / (8e-6 + 4096e-10)
    assert large.by_size[4096].low <= true <= large.by_size[4096].high
    assert answer(evidence)["best_eager_limit_bytes"] == 65536


@pytest.mark.parametrize(
    ("family", "version", "name", "value"),
    [
        ("openmpi", "5.0.11", "OMPI_MCA_btl_sm_eager_limit", "4096"),
        ("openmpi", "4.1.4", "OMPI_MCA_btl_vader_eager_limit", "4096"),
        ("openmpi", "4.1.4", "OMPI_MCA_btl_tcp_eager_limit", "4096"),
        ("mpich", "5.0.2", "MPIR_CVAR_CH4_SHM_POSIX_IQUEUE_CELL_SIZE", "8192"),
        ("mpich", "5.0.2", "MPIR_CVAR_CH4_IPC_CMA_P2P_THRESHOLD", "4097"),
        ("mpich", "3.4", "MPIR_CVAR_CH3_EAGER_MAX_MSG_SIZE", "4096"),
    ],
)
def test_the_knobs_of_each_mpi(family, version, name, value):
    mpi = Mpi(family=family, version=version, prefix="/p", mpicxx="", mpiexec="", source="option")
    real = replace_struct(MACHINE, mpi=mpi, traits=replace_struct(MACHINE.traits, origin="measured"))
    assert eager_variables(4096, real)[name] == value
    declared = launch_settings(Options(parameters={"eager": (0, 4096)}), real)
    assert [setting.name for setting in declared] == [results.OWN_LIMIT, "eager-4096"]
    assert not declared[0].variables and dict(declared[1].variables) == eager_variables(4096, real)


def test_a_limit_is_found_in_the_name_of_its_setting():
    assert results.limit_of(results.limit_setting_name(3000)) == 3000, "any size, not only powers of two"
    assert results.limit_of(results.OWN_LIMIT) is None and results.limit_of("large") is None


def test_other_machines_have_no_eager_limit():
    for origin, family in (("simulated", "smpi"), ("measured", "unknown"), ("measured", "intel")):
        mpi = Mpi(family=family, version="1", prefix="/p", mpicxx="", mpiexec="", source="option")
        machine = replace_struct(MACHINE, mpi=mpi, traits=replace_struct(MACHINE.traits, origin=origin))
        assert not launch_settings(Options(), machine)
    assert not launch_settings(Options(ranks=(4,)), MACHINE), "messages need two ranks"


def test_printed_times_become_bandwidths_at_the_papers_sizes():
    times = figures._printed_series("bcast", 256, None)
    rates = figures._printed_series("bcast", 256, definition("bcast").of_buffer)
    assert times.x == rates.x == (8, 1024, 1 << 20)
    assert rates.y == pytest.approx([256 * x / t for x, t in zip(times.x, times.y, strict=True)])
    assert not figures._printed_series("scan", 256, None).x, "not in the paper"


def test_a_block_is_a_share_of_the_buffer():
    """As the paper's cases: one double cannot be shared out."""
    for row in PAPER.rows:
        if row.key.startswith("t3e/table/"):
            words = dict(word.split("=") for word in row.case.split()[1:])
            assert block_bytes(row.workload, row.bytes, row.ranks) == int(words["bytes"]), row.key
    assert {size for _, size in PRINTED_SIZES.values()} == {8, 1024, 1 << 20}
    for name, (like, own) in ADDITIONAL_DEFINITIONS.items():
        assert own.operation == name and own.every_rank == definition(like).every_rank


def test_a_workload_that_is_not_defined_has_the_whole_buffer():
    assert definition("exscan").buffer_bytes(64, 8) == 64


def test_the_page_has_every_figure_of_the_paper(tmp_path):
    planned = cases(ranks=(2, 4), sizes=(8, 1024), eager="4KiB")
    evidence = measured(tmp_path, World(), planned, Options(parameters={"eager": (4096,)}))
    page = studies.find_study("collectives").page(evidence)
    names = {figure.name for figure in page.figures}
    for operation in CollectiveResults.of(evidence).operations:
        assert {f"collective-{operation}-time", f"collective-{operation}-bandwidth"} <= names
    drawn = next(f for f in page.figures if f.name == "collective-bcast-time")
    assert {s.group for s in drawn.series} == {"MPI 2", "MPI 4", "user 2", "user 4"}
    assert any(s.kind == "line" for s in drawn.series), "predictions from messages between two ranks"
    assert page.lead.name == "ratio-4"
    text = render(page)
    assert "MPI_Reduce_scatter_block" in text and "eager" in text
    assert {*method.memory_sentences(evidence)} < {*page.method}


def test_the_headline_is_about_the_most_ranks_with_a_core_each(tmp_path):
    """On more, the scheduler is measured."""
    planned = cases(operations="scan", ranks=(2, 4, 8), sizes=(1024,), eager="0")
    evidence = measured(tmp_path, Truth(), planned)
    assert evidence.machine.cores == 4 and CollectiveResults.of(evidence).default_ranks == 4
    headline = studies.find_study("collectives").page(evidence).headline
    assert headline[0].startswith("4 ranks") and not any(text.startswith("8 ranks") for text in headline)


def test_nothing_measured_is_a_page_too():
    evidence = Evidence(
        fits=Fits(schema=SCHEMA, summaries=[], fits=[]),
        run=RunRecords(),
        machine=MACHINE,
        settings=Settings("collectives"),
        planned_count=0,
    )
    assert studies.find_study("collectives").page(evidence).headline


def test_many_comparisons_need_wider_intervals(alike):
    """An interval that excludes 1 by a little is expected among many."""
    run = CollectiveResults.of(alike)
    comparisons = len([m for m in alike.measured if m.case.get("algorithm", "mpi") != "mpi"])
    normal = NormalDist()
    stricter = normal.inv_cdf(1 - 0.025 / comparisons) / normal.inv_cdf(1 - 0.025)
    assert comparisons > 1 and run.interval_factor == pytest.approx(stricter, rel=0.01)
    for point in run.points:
        alone = ratio(*(run._observations[point.times[name].case.line] for name in ("mpi", point.best)))
        assert point.ratio == widen(alone, run.interval_factor), "what is shown is what is judged"
    point = run.points[0]

    def among_many(value: float, low: float, high: float) -> Verdict:
        return replace(point, ratio=widen(Estimate(value, low, high), run.interval_factor)).verdict

    verdicts = [among_many(1.5, low, 1.5 * 1.5 / low) for low in (0.99, 1.05, 1.25)]
    assert verdicts == ["undecided", "undecided", "slower"]
    assert among_many(1.0, 0.97, 1.03) == "alike"
    assert among_many(1.0, 0.96, 1.04) == "undecided", "too wide among many"
    assert among_many(0.5, 0.45, 0.6) == "faster"
    assert replace(point, ratio=Estimate(1.5, None, None)).verdict == "unknown"
