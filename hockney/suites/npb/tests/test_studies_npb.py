# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The study of the NAS benchmarks in a world with known costs: its ratios, shares,
predictions and sentences."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from fake_study import planned, studied

from hockney import measurement, studies
from hockney.core.case import MPI
from hockney.core.errors import UsageError
from hockney.core.fit import Estimate, ExactValue
from hockney.draw.page import Page, Table
from hockney.launch.fake import FakeLauncher, Fault
from hockney.launch.fake_world import World
from hockney.machines import simulated
from hockney.studies import Evidence, Options
from hockney.suites.npb.fakes.npb import PHASES, FakeNpb
from hockney.suites.npb.programs import PROGRAMS
from hockney.suites.npb.programs.program import uniform_rates
from hockney.suites.npb.studies.npb.columns import answer
from hockney.suites.npb.studies.npb.headline import headline
from hockney.suites.npb.studies.npb.plan import PAPER_CLASSES, WORKLOADS
from hockney.suites.npb.studies.npb.results import PARTS, NpbResults, possible_saving, predictions

STUDY = studies.find_study("npb")
TRUTH = FakeNpb()
CLOSE_ERROR = 0.02
BOTH = {"barrier_at": ("iteration", "step")}


def run(
    folder: Path,
    ranks: tuple[int, ...] = (2, 4),
    launches: int = 4,
    world: World | None = None,
    faults: tuple[Fault, ...] = (),
    **parameters: object,
) -> Evidence:
    launcher = FakeLauncher(world or World(noise=0.01, tail=0.0), faults)
    return studied(
        folder, STUDY, launcher, cores=4, launches=launches, budget_s=600.0,
        ranks=ranks, parameters={"predict": "no"} | parameters,
    )  # fmt: skip


@pytest.fixture(scope="module")
def evidence(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    return run(tmp_path_factory.mktemp("npb") / "r", kernels=("cg", "ep", "ft"), predict="yes", **BOTH)


@pytest.fixture(scope="module")
def results(evidence: Evidence) -> NpbResults:
    return NpbResults.of(evidence)


def parts(kernel: str, ranks: int, place: str = "none", barrier: str = MPI) -> dict[str, float]:
    catalog = measurement.fake_bench("fake", workloads=WORKLOADS).catalog
    line = f"{kernel} class=S barrier={barrier} barrier_at={place} ranks={ranks}"
    return TRUTH.parts(catalog.case(line))


def seconds(kernel: str, ranks: int, place: str = "none", barrier: str = MPI) -> float:
    return sum(parts(kernel, ranks, place, barrier).values())


def test_speedups_and_efficiencies_are_those_of_the_world(results: NpbResults):
    assert results.kernels == ("cg", "ep", "ft") and results.rank_counts == (1, 2, 4)
    assert len(results.barrier_free_points) == 9
    for p in results.barrier_free_points:
        truth = seconds(p.kernel, 1) / seconds(p.kernel, p.ranks)
        found = results.speedup(p)
        assert isinstance(found, ExactValue) == (p.ranks == 1)
        assert found.value == pytest.approx(truth, rel=CLOSE_ERROR)
        assert results.efficiency(p).value == pytest.approx(found.value / p.ranks)
        assert results.efficiency(p).low == pytest.approx(found.low / p.ranks)
        assert p.rate.value == pytest.approx(TRUTH.operations[p.kernel] / p.time.value)
        assert p.rate.low == pytest.approx(TRUTH.operations[p.kernel] / p.time.high)


def test_shares_of_the_time_and_phases_are_those_of_the_world(results: NpbResults):
    for p in results.points:
        truth = parts(p.kernel, p.ranks, p.barrier_at, p.barrier or MPI)
        whole = sum(truth.values())
        for part in PARTS:
            assert p.share(part) == pytest.approx(truth[part] / whole, abs=1e-3), (p.kernel, part)
        assert p.share(*PARTS) == pytest.approx(1)
        assert [phase.name for phase in p.phases] == list(PHASES)
        for phase, share in zip(p.phases, PHASES.values(), strict=True):
            assert phase.waiting == pytest.approx(share * truth["waiting"])
            assert phase.total == pytest.approx(share * whole)


def test_what_a_barrier_costs_and_what_another_wins_back(results: NpbResults):
    assert len(results.effects) == 3 * 2 * 3 * 2
    for each in results.effects:
        p = each.point
        truth = seconds(p.kernel, p.ranks, p.barrier_at, p.barrier) / seconds(p.kernel, p.ranks)
        assert each.cost.value == pytest.approx(truth, rel=CLOSE_ERROR)
        if p.barrier == MPI:
            assert each.gain is None and each.saving is None
            continue
        mpi = seconds(p.kernel, p.ranks, p.barrier_at)
        won = 1 - seconds(p.kernel, p.ranks, p.barrier_at, p.barrier) / mpi
        assert each.saving.value == pytest.approx(won, abs=CLOSE_ERROR)
        assert each.saving.low <= each.saving.value <= each.saving.high


def test_means_are_geometric_and_the_best_barrier_is_not_mpis(results: NpbResults):
    mean = results.mean_effect(4, "step", MPI)
    truth = 1.0
    for kernel in results.kernels:
        truth *= seconds(kernel, 4, "step") / seconds(kernel, 4)
    assert mean.cost.value == pytest.approx(truth ** (1 / 3), rel=CLOSE_ERROR)
    assert mean.cost.low <= mean.cost.value <= mean.cost.high and mean.gain is None
    best = results.best_effect(4, "step")
    assert best.barrier == "hierarchical" and best.saving.low > 0
    shares = [parts(kernel, 4, "step")["barriers"] / seconds(kernel, 4, "step") for kernel in results.kernels]
    assert mean.barrier_share == pytest.approx(sum(shares) / 3, abs=1e-3)


def test_the_headline_answers_for_the_largest_number_of_ranks_with_a_core_each(
    results: NpbResults, tmp_path: Path
):
    assert results.headline_ranks == 4
    sentences = headline(results)
    assert len(sentences) == 6 and "4" in sentences[0]
    more = NpbResults.of(run(tmp_path / "r", ranks=(2, 8), launches=2, kernels=("ep",), barrier_at=("none",)))
    assert more.headline_ranks == 2, "there are 4 cores"
    assert len(headline(more)) == 2


def test_one_rank_alone_has_rates_and_the_bars_come_first(tmp_path: Path):
    evidence = run(tmp_path / "r", ranks=(1,), launches=2, kernels=("ep", "is"))
    page = STUDY.page(evidence)
    assert page.lead.name == "npb-time" and "npb-speedup" not in {f.name for f in page.figures}
    assert len(page.headline) == 1 and "Mop/s" in page.headline[0]
    assert NpbResults.of(evidence).mean_effects == ()


def test_two_numbers_of_ranks_are_rows_and_more_are_a_curve(evidence: Evidence, tmp_path: Path):
    curve = STUDY.page(evidence).lead
    assert curve.x.names == () and [s.name for s in curve.series] == ["cg", "ep", "ft", "ideal"]
    assert curve.series[0].x == (1.0, 2.0, 4.0) == curve.series[3].y
    rows = STUDY.page(run(tmp_path / "r", ranks=(2,), launches=2, kernels=("ep", "is"))).lead
    assert rows.x.names == ("ep", "is") and {at for at, _ in rows.marks} == {1.0, 2.0}


def test_the_page_has_every_number(evidence: Evidence, results: NpbResults):
    page = STUDY.page(evidence)
    tables = tables_of(page)
    assert len(tables["npb"].rows) == len(tables["npb-times"].rows) == 9
    assert len(tables["npb-barriers"].rows) == 12 and len(tables["npb-effects"].rows) == 36
    assert len(tables["npb-phases"].rows) == 9 * len(PHASES)
    assert "verified" not in tables["npb"].columns and "npb-wrong" not in tables
    assert {row[-1] for row in tables["npb-effects"].rows} == {"yes"}
    closed = {table.name for section in page.sections if section.closed for table in section.tables}
    assert {"npb-phases", "npb-effects", "npb-times"} <= closed
    bars = next(figure for figure in page.figures if figure.name == "npb-time")
    assert len(bars.x.names) == 9 and {series.kind for series in bars.series} == {"bars"}
    for k in range(9):
        assert sum(s.y[k] for s in bars.series) == pytest.approx(1)
    shown = {figure.name for figure in page.figures if figure.name.startswith("npb-barriers")}
    assert shown == {f"npb-barriers-{p}-{place}" for p in (2, 4) for place in ("iteration", "step")}
    assert [table.name for table in STUDY.summary(evidence)] == ["npb", "npb-barriers", "npb-predicted"]


def test_the_answer_has_intervals_and_phases(evidence: Evidence, results: NpbResults):
    document = answer(evidence)
    assert document["verified"] is True and len(document["benchmarks"]) == len(results.points)
    first = next(
        b for b in document["benchmarks"] if (b["benchmark"], b["ranks"], b["barrier"]) == ("cg", 4, "")
    )
    assert first["cost"] is None and first["speedup"].low < first["speedup"].value < first["speedup"].high
    assert [phase["phase"] for phase in first["phases"]] == list(PHASES)
    assert set(first["parts_s"]) == set(PARTS)
    late = [b for b in document["benchmarks"] if b["barrier"] == "dissemination"]
    assert len(late) == 12 and all(b["speedup"] is None and b["gain"].value > 1 for b in late)
    assert len(document["barriers"]) == 12


def test_wrong_answers_are_named(tmp_path: Path):
    fault = Fault("corrupt", "cg barrier_at=none ranks=2")
    evidence = run(tmp_path / "r", (2,), 3, faults=(fault,), kernels=("cg", "ep"))
    results = NpbResults.of(evidence)
    [wrong] = results.wrong_points
    assert (wrong.kernel, wrong.ranks, wrong.barrier_at) == ("cg", 2, "none")
    document, page = answer(evidence), STUDY.page(evidence)
    assert document["verified"] is False
    assert {b["case"] for b in document["benchmarks"] if b["verified"] is False} == {
        wrong.measurement.case.line
    }
    assert "cg" in page.headline[0] and "ep" not in page.headline[0], "the first sentence is about it"
    assert [row[1] for row in tables_of(page)["npb-wrong"].rows] == ["no"]
    table = tables_of(page)["npb"]
    verified = table.columns.index("verified")
    assert [row[:2] for row in table.rows if row[verified] == "no"] == [("cg", "2")]


def test_barriers_that_are_alike_are_not_said_to_win_anything(tmp_path: Path):
    alike = FakeNpb(barrier_factors={})
    evidence = run(
        tmp_path / "r", (2,), 4, World(noise=0.02, tail=0.0).with_workloads(alike), kernels=("cg", "ep")
    )
    best = NpbResults.of(evidence).best_effect(2, "step")
    assert best.saving.low <= 0 <= best.saving.high
    assert predictions(NpbResults.of(evidence)).predictions == (), "the costs of messages were not measured"
    assert "npb-predicted" not in tables_of(STUDY.page(evidence)) and answer(evidence)["median_error"] is None


@pytest.mark.parametrize(
    ("won", "spent", "possible"),
    [
        (Estimate(0.41, 0.067, 0.66), 0.047, None),
        (Estimate(0.41, 0.03, 0.66), 0.047, Estimate(0.047, 0.03, 0.047)),
        (Estimate(0.04, 0.03, 0.05), 0.2, Estimate(0.04, 0.03, 0.05)),
        (Estimate(-0.1, -0.2, -0.05), 0.2, Estimate(-0.1, -0.2, -0.05)),
        (Estimate(0.1, None, None), 0.05, Estimate(0.1, None, None)),
    ],
)
def test_a_barrier_wins_back_no_more_than_the_time_in_barriers(won, spent, possible):
    assert possible_saving(won, spent) == possible


def test_each_benchmark_on_several_ranks_is_predicted_from_one(evidence: Evidence):
    """The world's benchmarks take what the model does not expect: shares of one rank's time for messages,
    collectives and waiting."""
    found = predictions(NpbResults.of(evidence))
    assert [(each.point.kernel, each.point.ranks) for each in found.predictions] == [
        (kernel, ranks) for kernel in ("cg", "ep", "ft") for ranks in (2, 4)
    ]
    for each in found.predictions:
        one = TRUTH.operation_count(each.point.measurement.case) / TRUTH.rate
        assert each.predicted_time.total("computation") == pytest.approx(one / each.point.ranks, rel=0.03)
        measured = each.point.time.value
        assert each.diagnosis.error == pytest.approx(each.predicted_time.seconds / measured - 1)
        assert each.ratio.low <= each.ratio.value <= each.ratio.high
    assert found.median_error == pytest.approx(
        sorted(abs(each.diagnosis.error) for each in found.predictions)[2], abs=0.1
    )


def test_what_the_world_adds_is_what_fails(evidence: Evidence):
    fails = {
        (each.point.kernel, each.point.ranks): each.diagnosis.failed_assumption
        for each in predictions(NpbResults.of(evidence)).predictions
    }
    assert fails["ft", 4] == "collectives"
    assert fails["cg", 4] == "messages"
    assert fails["ep", 4] == "balance"


def test_no_assumption_fails_on_a_busy_machine(evidence: Evidence):
    run = evidence.run
    closes = tuple(msgspec.structs.replace(close, outside_cores=3.0) for close in run.closes)
    busy = predictions(NpbResults.of(replace(evidence, run=replace(run, closes=closes))))
    assert busy.predictions and all(each.diagnosis.failed_assumption is None for each in busy.predictions)


def test_the_page_the_headline_and_the_answer_have_the_errors(evidence: Evidence):
    run = NpbResults.of(evidence)
    found = predictions(run)
    page = STUDY.page(evidence)
    table = next(t for s in page.sections for t in s.tables if t.name == "npb-predicted")
    assert [row[6] for row in table.rows] == [
        each.diagnosis.failed_assumption or "" for each in found.predictions
    ]
    figure = next(f for f in page.figures if f.name == "npb-predicted")
    assert figure.series[0].y == tuple(each.ratio.value for each in found.predictions)
    assert found.worst_prediction.point.kernel in headline(run)[-1]
    document = answer(evidence)
    assert [each["error"] for each in document["predictions"]] == [
        e.diagnosis.error for e in found.predictions
    ]
    assert document["median_error"] == found.median_error


def test_the_plan_has_the_messages_and_collectives_of_the_programs():
    cases = planned(STUDY, 2, 4, parameters={"kernels": ("cg", "ft")})
    pings = [case.bytes for case in cases if case.workload == "pingpong"]
    longest = PROGRAMS["cg"]("S", 2).iteration(uniform_rates(1.0)).longest_message
    assert pings[0] == 0 and pings[-2] < longest <= pings[-1]
    blocks = {(case.ranks, case.bytes) for case in cases if case.workload == "alltoall"}
    for ranks in (2, 4):
        iteration = PROGRAMS["ft"]("S", ranks).iteration(uniform_rates(1.0))
        sizes = {part.size for part in iteration.parts if part.name == "transposition"}
        assert {(ranks, size) for size in sizes} <= blocks
    assert {case.ranks for case in cases if case.workload == "allreduce"} == {2, 4}
    assert not [case for case in cases if case.workload == "allgather"], "only mg gathers"


def test_costs_are_measured_only_where_they_are_needed():
    def workloads(ranks: int, **parameters: object) -> set[str]:
        return {
            case.workload for case in planned(STUDY, ranks, parameters={"kernels": ("cg",), **parameters})
        }

    assert workloads(1, barrier_at=("none",)) == workloads(1) == workloads(2, predict="no") == {"cg"}
    assert "pingpong" in workloads(2)


def plan(*ranks: int, budget_s: float = 60.0, sizes: tuple[int, ...] = (), **parameters: object) -> list:
    given = {"predict": "no"} | parameters
    return planned(STUDY, *ranks, parameters=given, budget_s=budget_s, sizes=sizes)


def test_the_plan_has_one_rank_and_barriers_only_on_several():
    cases = plan(2, 4)
    assert {c.workload for c in cases} == set(WORKLOADS)
    assert {c.ranks for c in cases} == {1, 2, 4}
    assert {c["barrier_at"] for c in cases if c.ranks == 1} == {"none"}
    barriers = {c["barrier"] for c in cases if c["barrier_at"] == "step"}
    assert MPI in barriers and len(barriers) == 3
    assert len(cases) == 8 * (1 + 2 * (1 + 3))
    assert len(plan(2, barrier_at=("none",))) == 16
    assert {c["barrier_at"] for c in plan(2, barrier_at=("none", "iteration"))} == {"none", "iteration"}


def test_the_class_fits_the_budget_unless_it_is_given():
    assert {c["class"] for c in plan(2)} == {"S"}
    assert {c["class"] for c in plan(2, budget_s=1800.0)} == {"W"}
    assert {c["class"] for c in plan(2, budget_s=1800.0, **{"class": "A"})} == {"A"}


def test_the_papers_benchmarks_and_sizes_are_selected_by_a_word():
    cases = plan(2, **{"class": "paper"})
    assert {c.workload: c["class"] for c in cases} == PAPER_CLASSES
    small = plan(2, kernels=("paper", "is"))
    assert {c.workload for c in small} == {*PAPER_CLASSES, "is"} and {c["class"] for c in small} == {"S"}
    assert {c["class"] for c in plan(2, kernels=("sp",), **{"class": "paper"})} == {"W"}


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        ({"kernels": ("dg",)}, "unknown-nas-benchmark"),
        ({"barrier": ("tournment",)}, "unknown-value"),
        ({"rate": 1e8}, "only-simulated"),
        ({"arithmetic": "none"}, "only-simulated"),
        ({"sizes": (8,)}, "benchmarks-have-no-sizes"),
    ],
)
def test_mistakes_are_errors(wrong: dict, code: str):
    with pytest.raises(UsageError) as caught:
        plan(2, **wrong)
    assert caught.value.code == code


def tables_of(page: Page) -> dict[str, Table]:
    return {table.name: table for section in page.sections for table in section.tables}


def test_on_a_described_machine_each_benchmark_computes_at_its_rate():
    bench = measurement.fake_bench(FakeLauncher(World()), cores=4, workloads=STUDY.WORKLOADS)
    platform = msgspec.structs.replace(simulated.platform("switched-ethernet"), flops=3e8, rates={"ep": 1e6})
    traits = msgspec.structs.replace(bench.machine.traits, origin="simulated")
    machine = msgspec.structs.replace(bench.machine, platform=platform, traits=traits)
    options = Options(ranks=(2,), parameters={"kernels": ("ep", "cg"), "predict": "no"})
    cases = STUDY.plan(options, bench.catalog, machine)
    assert {(case.workload, case["rate"]) for case in cases} == {("ep", 1e6), ("cg", 3e8)}
