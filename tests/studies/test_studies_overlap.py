# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The study of overlap in worlds with known costs: where nonblocking communication pays, and with how many
tests."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from msgspec.structs import replace as with_fields

from hockney import api, measurement, studies
from hockney.core.case import Case
from hockney.core.errors import UsageError
from hockney.core.fit import ExactValue
from hockney.core.machine import Mpi
from hockney.core.settings import Settings
from hockney.draw.page import Page
from hockney.launch.fake import FakeLauncher
from hockney.launch.fake_world import FakeOverlap, World
from hockney.machines import simulated
from hockney.models.overlap import OverlapTimes
from hockney.studies import Evidence, Options
from hockney.studies.overlap.columns import answer
from hockney.studies.overlap.headline import _consecutive_sizes, headline
from hockney.studies.overlap.plan import MAX_THREAD_SIZES, SIZES
from hockney.studies.overlap.results import PHASE_METRICS, OverlapResults
from hockney.studies.progress import OWN_PROGRESS, THREAD_PROGRESS

STUDY = studies.find_study("overlap")
LIMIT = 16384
SHORT, LONG = (8, 1024, LIMIT), (65536, 262144, 1 << 20)
FEW, MANY = 4, 64
BEST = {65536: FEW, 262144: MANY, 1 << 20: MANY}


@dataclass(frozen=True)
class OnlyWithTests(FakeOverlap):
    """Nothing of a short message proceeds by itself, and tests do not help it; they cost time."""

    test_s: float = 0.05e-6

    def background_share(self, case: Case) -> float:
        return 0.0 if case.bytes <= self.eager_bytes else super().background_share(case)


@dataclass(frozen=True)
class Sluggish(FakeOverlap):
    """Everything proceeds by itself, but computing then takes twice as long."""

    interrupts: float = 1.0

    def background_share(self, case: Case) -> float:
        return 1.0


def run(
    folder: Path,
    overlap: FakeOverlap,
    sizes: tuple[int, ...] = (*SHORT, *LONG),
    ranks: tuple[int, ...] = (2,),
    launches: int = 4,
    launch_noise: float = 0.004,
    **parameters: object,
) -> Evidence:
    launcher = FakeLauncher(World(overlap=overlap, noise=0.01, launch_noise=launch_noise, tail=0.0))
    bench = measurement.fake_bench(launcher, cores=2, workloads=STUDY.WORKLOADS)
    options = Options(ranks=ranks, sizes=sizes, parameters=parameters)
    cases = STUDY.plan(options, bench.catalog, bench.machine)
    settings = tuple(each.line for each in STUDY.launch_settings(options, bench.machine))
    used = {case.setting for case in cases}
    settings = tuple(line for line in settings if line.split()[0] in used)
    chosen = Settings("overlap", seed=1, launches=launches, budget_s=600.0, launch_settings=settings)
    made = measurement.create_run(folder, cases, chosen, bench)
    measurement.measure(made, bench, lambda event: None)
    return api.load(folder).evidence


@pytest.fixture(scope="module")
def evidence(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    folder = tmp_path_factory.mktemp("overlap") / "r"
    return run(
        folder, OnlyWithTests(), operations=("message",), tests=(0, FEW, MANY), progress=(OWN_PROGRESS,)
    )


def test_it_pays_only_above_the_rendezvous_limit_and_with_tests(evidence: Evidence):
    found = answer(evidence)
    [message] = found["operations"]
    assert found["pays"] is True and found["progress_thread"] == []
    assert (message["operation"], message["ranks"]) == ("message", 2)
    assert message["pays_at"] == list(LONG) and message["undecided_at"] == []
    for best in message["best"]:
        long = best["bytes"] in LONG
        assert best["tests"] == BEST.get(best["bytes"], 0) and best["progress"] == OWN_PROGRESS
        assert (best["verdict"] == "faster") == long
        assert (best["ratio"].high < 1) == long
    for case in found["cases"]:
        if case["bytes"] in SHORT:
            assert case["verdict"] in ("alike", "slower") and case["hidden"].value < 0.05
        elif case["tests"] == 0:
            assert case["verdict"] == "alike" and abs(case["hidden"].value) < 0.05
        else:
            assert case["verdict"] == "faster"
    assert OverlapResults.of(evidence).is_conclusive and STUDY.is_conclusive(evidence)


def test_ratios_and_shares_are_those_of_the_world(evidence: Evidence):
    run = OverlapResults.of(evidence)
    world = World(overlap=OnlyWithTests())
    for p in run.points:
        case = p.measured.case
        pure = world.communication_s(case)
        parts = world.overlap.overlap_parts(case, pure)
        whole = sum(parts.values())
        assert p.ratio.value == pytest.approx(whole / (2 * pure), rel=0.02)
        assert p.ratio.low < p.ratio.value < p.ratio.high
        times = run.times(p)
        assert times.hidden.value == pytest.approx(2 - whole / pure, rel=0.01, abs=0.05)
        assert times.availability.value == pytest.approx(pure / whole, rel=0.02)
        assert times.slowdown.value == pytest.approx(parts["computing"] / pure, rel=0.02)
        assert set(p.phases_s) == set(PHASE_METRICS)
        assert sum(p.phases_s.values()) == pytest.approx(p.total.value, rel=0.02)


def test_both_columns_of_the_overlap_agree(evidence: Evidence):
    for case in answer(evidence)["cases"]:
        assert case["overlap_imb"].value == pytest.approx(case["overlap_reported"], rel=0.05, abs=0.005)
        assert case["availability"].value == pytest.approx(case["availability_reported"], rel=0.05)
        assert 0 <= case["overlap_imb"].low <= case["overlap_imb"].high <= 1


def test_the_page(evidence: Evidence, golden):
    made = STUDY.page(evidence)
    assert isinstance(made, Page) and made.lead is not None
    golden("overlap_headline.txt", "\n".join(made.headline))
    figures = {figure.name for figure in made.figures}
    kinds = ("hidden", "slowdown", "ratio", "parts", "times")
    assert figures == {f"overlap-{kind}-message-2" for kind in kinds}
    tables = {table.name: table for section in made.sections for table in section.tables}
    assert {"overlap-best-message-2", "overlap-definitions", "overlap-times"} <= set(tables)
    assert len(tables["overlap-best-message-2"].rows) == len(SHORT + LONG)
    assert len(tables["overlap-definitions"].rows) == 3 * len(SHORT + LONG)
    assert [table.name for table in STUDY.summary(evidence)] == ["overlap-best-2"]


def test_hidden_below_the_axis_is_drawn_at_its_end(evidence: Evidence):
    lead = STUDY.page(evidence).lead
    lowest = min(value for series in lead.series for value in series.y)
    run = OverlapResults.of(evidence)
    assert min(run.times(p).hidden.value for p in run.points) < -1 == lowest


def test_computing_that_slows_down_is_in_the_headline_and_never_pays(tmp_path: Path):
    evidence = run(
        tmp_path / "r", Sluggish(), LONG, operations=("message",), tests=(0,), progress=(OWN_PROGRESS,)
    )
    results = OverlapResults.of(evidence)
    assert results.pays is False and results.is_conclusive
    for p in results.points:
        assert results.times(p).slowdown.value == pytest.approx(2, rel=0.02)
        assert p.availability == pytest.approx(0.5, rel=0.05)
    assert any("2.0" in sentence for sentence in headline(results))


def test_a_thread_that_hides_everything_pays_without_tests(tmp_path: Path):
    evidence = run(tmp_path / "r", FakeOverlap(), LONG, operations=("iallreduce",), tests=(0,))
    results = OverlapResults.of(evidence)
    assert {(p.progress, p.verdict) for p in results.points} == {
        (OWN_PROGRESS, "alike"),
        (THREAD_PROGRESS, "faster"),
    }
    assert len(results.thread_pairs) == len(LONG)
    for p, plain in results.thread_pairs:
        assert plain.progress == OWN_PROGRESS and p.combination == plain.combination
        slower = results.times(p).step_ratio(results.times(plain))
        assert slower.value == pytest.approx(1 + FakeOverlap().idle_thread, rel=0.02)
    assert {each.best.progress for each in results.all_best_tests} == {THREAD_PROGRESS}
    codes = {caveat.code for caveat in STUDY.page(evidence).warnings}
    assert "progress-thread-shares-core" in codes


def test_a_thread_that_does_not_pay_is_not_the_best(tmp_path: Path):
    """Its long computation makes the ratio nearly 1, closer to it than without the thread."""
    slow = FakeOverlap(idle_thread=3.0, thread=2.0, test_s=1e-6)
    evidence = run(tmp_path / "r", slow, (64, 1024), operations=("iallreduce",), tests=(64,))
    results = OverlapResults.of(evidence)
    assert {p.progress for p in results.points} == {OWN_PROGRESS, THREAD_PROGRESS}
    assert {each.best.progress for each in results.all_best_tests} == {OWN_PROGRESS} and results.pays is False


def test_noise_leaves_it_undecided(tmp_path: Path):
    evidence = run(
        tmp_path / "r",
        FakeOverlap(),
        LONG,
        operations=("iallreduce",),
        tests=(0,),
        progress=(OWN_PROGRESS,),
        launch_noise=0.5,
    )
    results = OverlapResults.of(evidence)
    found = answer(evidence)
    assert results.pays is None and found["pays"] is None
    assert found["operations"][0]["undecided_at"] == list(LONG)
    assert not results.is_conclusive and results.times_to_decide()
    assert "--budget" in headline(results)[-1]


def test_simulated_overlap_is_exact_and_has_a_caveat(tmp_path: Path):
    platform = simulated.platform("switched-ethernet")
    evidence = run(
        tmp_path / "r", FakeOverlap(), (1024,), operations=("message",), progress=(OWN_PROGRESS,), launches=1
    )
    traits = with_fields(evidence.machine.traits, noiseless=True)
    machine = with_fields(evidence.machine, platform=platform, traits=traits)
    exact = replace(evidence, machine=machine)
    results = OverlapResults.of(exact)
    assert all(isinstance(p.ratio, ExactValue) for p in results.points)
    assert "simulated-overlap" in {caveat.code for caveat in STUDY.page(exact).warnings}


def bench(mpi: str = "", version: str = ""):
    made = measurement.fake_bench("fake", cores=4, workloads=STUDY.WORKLOADS)
    if not mpi:
        return made
    found = Mpi(family=mpi, version=version, prefix="", mpicxx="", mpiexec="", source="path")
    traits = with_fields(made.machine.traits, origin="measured")
    return replace(made, machine=with_fields(made.machine, mpi=found, traits=traits))


def lines(made, ranks=(2,), sizes=(), **parameters) -> list[Case]:
    return STUDY.plan(Options(ranks=ranks, sizes=sizes, parameters=parameters), made.catalog, made.machine)


def test_the_plan():
    cases = lines(bench())
    assert {case.get("operation", "message") for case in cases} == {"message", "iallreduce", "ibcast"}
    own = [case for case in cases if not case.setting]
    assert {(case.bytes, case["tests"]) for case in own} == {(s, t) for s in SIZES for t in (0, 4, 64)}
    threaded = [case for case in cases if case.setting]
    assert len(threaded) == 3 * MAX_THREAD_SIZES and {case["tests"] for case in threaded} == {0}
    assert all(case["computing"] == 1 and case["sync"] == "barrier" for case in cases)
    more = lines(bench(), ranks=(2, 4), operations=("message", "ibarrier"), tests=(2,), computing=3.0)
    assert {(c.workload, c.ranks) for c in more} == {
        ("overlap_message", 2), ("overlap_ibarrier", 2), ("overlap_ibarrier", 4),
    }  # fmt: skip
    assert {c["computing"] for c in more} == {3} and {c["tests"] for c in more} == {2}


def test_what_cannot_be_planned():
    with pytest.raises(UsageError) as caught:
        lines(bench(), operations=("iallredcue",))
    assert caught.value.code == "unknown-nonblocking-operation"
    with pytest.raises(UsageError) as caught:
        lines(bench(), ranks=(4,), operations=("message",))
    assert caught.value.code == "only-between-two"
    with pytest.raises(UsageError) as caught:
        lines(bench("unknown", "1"), progress=(THREAD_PROGRESS,))
    assert caught.value.code == "no-progress-thread"


@pytest.mark.parametrize(
    ("mpi", "version", "variable", "by_default"),
    [
        ("mpich", "5.0.2", "MPIR_CVAR_ASYNC_PROGRESS", True),
        ("intel", "2021.18", "I_MPI_ASYNC_PROGRESS", True),
        ("openmpi", "5.0.11", "OMPI_MCA_btl_tcp_progress_thread", False),
        ("openmpi", "6.0.0", "OMPI_MCA_mpi_async_progress", True),
    ],
)
def test_the_variable_of_each_mpis_thread(mpi, version, variable, by_default):
    machine = bench(mpi, version).machine
    [setting] = STUDY.launch_settings(Options(parameters={"progress": (THREAD_PROGRESS,)}), machine)
    assert variable in dict(setting.variables)
    assert bool(STUDY.launch_settings(Options(), machine)) == by_default
    assert not STUDY.launch_settings(Options(parameters={"progress": (OWN_PROGRESS,)}), machine)


def test_sizes_that_follow_each_other_are_one_range():
    every = [8, 64, 512, 4096]
    assert _consecutive_sizes([64, 512], every) == [(64, 512)]
    assert _consecutive_sizes([8, 512, 4096], every) == [(8, 8), (512, 4096)]
    assert _consecutive_sizes([], every) == []


def test_records_of_an_older_engine_are_left_out(evidence: Evidence):
    """They have no ratio."""
    bare = [
        with_fields(s, metrics={n: m for n, m in s.metrics.items() if n != "ratio"})
        for s in evidence.fits.summaries
    ]
    older = replace(evidence, fits=with_fields(evidence.fits, summaries=bare))
    assert OverlapResults.of(older).points == () and OverlapResults.of(older).pays is None
    assert isinstance(STUDY.page(older), Page) and answer(older)["cases"] == []


def test_times_need_both_parts_by_themselves(evidence: Evidence):
    [seen, *_] = evidence.observations()
    assert len(OverlapTimes.of(seen).launches) == 4
