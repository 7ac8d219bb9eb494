# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The study of annealing: what it measures, what it concludes on the machine with known costs, and its
command."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np
import pytest
from fake_study import planned, studied

from hockney import api, measurement, studies
from hockney.core.case import Case
from hockney.core.catalog import Catalog
from hockney.core.errors import UsageError
from hockney.core.settings import Settings
from hockney.draw.page import Page, Table
from hockney.launch.fake import FakeLauncher
from hockney.launch.fake_world import World
from hockney.machines import simulated
from hockney.studies import Evidence, Options
from hockney.suites.annealing.fakes.annealing import FakeAnnealing
from hockney.suites.annealing.models.program import SCHEDULE_BYTES, STATISTICS_BYTES
from hockney.suites.annealing.studies.annealing.choice import (
    InterimChoice,
    Quality,
    SetupChoice,
    choose_setup,
    interim_choice,
    quality_on,
)
from hockney.suites.annealing.studies.annealing.columns import answer, summary
from hockney.suites.annealing.studies.annealing.headline import headline
from hockney.suites.annealing.studies.annealing.plan import WORKLOADS
from hockney.suites.annealing.studies.annealing.results import (
    COMMUNICATION,
    PARTS,
    AnnealingResults,
    predictions,
)

STUDY = studies.find_study("annealing")


def plan(*ranks: int, sizes: tuple[int, ...] = (), **parameters: object) -> list[Case]:
    return planned(STUDY, *ranks, sizes=sizes, parameters=parameters)


def of_annealing(cases: list[Case]) -> list[Case]:
    return [case for case in cases if case.workload == "annealing"]


def test_by_default_all_set_ups_run_on_two_ranks_and_one_rank_is_the_reference():
    cases = of_annealing(plan(2))
    known = (
        measurement.fake_bench("fake", workloads=WORKLOADS).catalog.workload("annealing").parameter("setup")
    )
    plain = [case for case in cases if case.ranks == 2 and case["shares"] == "equal"]
    assert sorted(case["setup"] for case in plain) == sorted(known.choices)
    one = [case for case in cases if case.ranks == 1]
    assert {case["setup"] for case in one} == {known.default}
    walkers = plain[0]["walkers"]
    assert [case["walkers"] for case in one] == [walkers, walkers // 2]
    [without, with_it] = [case for case in cases if case["shares"] != "equal"]
    assert (without["balance"], with_it["balance"]) == ("no", "yes") and without["shares"] == "1:2"
    assert without == with_it.with_parameter("balance", "no") and without["setup"] == known.default
    same = ("seeds", "walkers", "steps", "temperatures", "problem", "size", "seed")
    assert len({tuple(case[name] for name in same) for case in cases if case.ranks == 2}) == 1


def test_an_instance_has_a_known_optimum_unless_a_size_is_given():
    def instances(**parameters: object) -> set:
        return {case["instance"] for case in of_annealing(plan(2, predict="no", **parameters))}

    assert instances() == {"eil51"} and instances(problem="qap") == {"nug30"}
    assert instances(size=50) == {"generated"} and instances(instance="berlin52") == {"berlin52"}


def test_messages_and_collectives_are_measured_for_predictions_only():
    cases = plan(2, 4, setups=("original",))
    assert {case.bytes for case in cases if case.workload == "bcast"} >= {SCHEDULE_BYTES}
    assert {case.bytes for case in cases if case.workload == "gather"} >= {STATISTICS_BYTES}
    assert {case.ranks for case in cases if case.workload == "gather"} == {2, 4}
    assert "pingpong" in {case.workload for case in cases}
    assert {case.workload for case in plan(2, predict="no")} == {"annealing"}
    assert {case.workload for case in plan(1)} == {"annealing"}
    assert len([c for c in of_annealing(plan(2, predict="no")) if c.ranks == 1]) == 1


def test_lags_and_tests_vary_where_a_set_up_has_them():
    cases = of_annealing(plan(2, lag=(0, 2), test_every=(0, 10), balance="no"))
    found: dict[str, set] = {}
    for case in cases:
        if case.ranks == 2:
            found.setdefault(case["setup"], set()).add((case["lag"], case["test_every"]))
    assert found["original"] == found["decoupled"] == {(0, 0)}
    assert found["estimated"] == {(0, 0), (0, 10)}
    assert found["collective"] == found["lagged"] == {(0, 0), (0, 10), (2, 0), (2, 10)}


def test_the_progress_thread_is_measured_in_set_ups_that_do_not_block():
    def found(*progress: str) -> set[tuple]:
        cases = plan(2, setups=("original", "lagged"), progress=progress, balance="no")
        return {(case["setup"], case.setting) for case in of_annealing(cases) if case.ranks == 2}

    assert found("own") == {("original", ""), ("lagged", "")}
    assert found("thread") == {("original", ""), ("lagged", "progress-thread")}
    assert found("own", "thread") == found("own") | found("thread")


def test_uneven_ranks_and_walkers_of_more_ranks():
    cases = of_annealing(plan(3, setups=("original",), walkers=10))
    assert {case["walkers"] for case in cases if case.ranks == 1} == {10, 4}
    assert {case["shares"] for case in cases if case.ranks == 3} == {"equal", "1:1:2"}
    given = of_annealing(plan(2, setups=("original",), shares="1:3"))
    assert {case["shares"] for case in given} == {"equal", "1:3"}
    assert {case["shares"] for case in of_annealing(plan(2, balance="no"))} == {"equal"}


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        ({"setups": ("orignal",)}, "unknown-setup"),
        ({"problem": "knapsack"}, "unknown-value"),
        ({"step_s": 1e-6}, "only-simulated"),
        ({"arithmetic": "none"}, "only-simulated"),
        ({"walkers": 1}, "fewer-walkers-than-ranks"),
        ({"sizes": (8,)}, "annealing-has-no-sizes"),
    ],
)
def test_mistakes_are_errors(wrong: dict, code: str):
    with pytest.raises(UsageError) as caught:
        plan(2, **wrong)
    assert caught.value.code == code


def test_a_simulated_mpi_is_not_asked_for_what_it_lacks_unless_named():
    bench = measurement.fake_bench("fake", workloads=WORKLOADS)
    traits = msgspec.structs.replace(bench.machine.traits, origin="simulated")
    platform = simulated.platform("switched-ethernet")
    machine = msgspec.structs.replace(bench.machine, platform=platform, traits=traits)

    def names(**parameters: object) -> set:
        cases = STUDY.plan(Options(ranks=(2,), parameters=parameters), bench.catalog, machine)
        assert {case.workload for case in cases} == {"annealing"}, "costs are those of the description"
        return {case["setup"] for case in cases}

    assert "persistent" not in names() and "lagged" in names()
    assert "persistent" in names(setups=("persistent",))


def with_another(catalog: Catalog) -> Catalog:
    """The catalog of an engine that has one more set-up."""
    replaced = []
    for workload in catalog.workloads:
        parameters = [
            msgspec.structs.replace(each, choices=[*each.choices, "tree"]) if each.name == "setup" else each
            for each in workload.parameters
        ]
        replaced.append(msgspec.structs.replace(workload, parameters=parameters))
    return msgspec.structs.replace(catalog, workloads=replaced)


def test_a_new_set_up_of_the_engine_is_measured_without_a_prediction(tmp_path: Path):
    launcher = FakeLauncher(World(tail=0.0))
    bench = measurement.fake_bench(launcher, cores=4, workloads=WORKLOADS)
    catalog = with_another(bench.catalog)
    bench = replace(bench, catalog=catalog)
    launcher.world = replace(launcher.world, catalog=catalog)
    parameters = {"setups": ("original", "tree"), "lag": (1,), "balance": "no"}
    cases = STUDY.plan(Options(ranks=(2,), parameters=parameters), catalog, bench.machine)
    made = measurement.create_run(
        tmp_path / "r", cases, Settings("annealing", seed=1, launches=3, budget_s=60.0), bench
    )
    measurement.measure(made, bench, lambda event: None)
    evidence = api.load(tmp_path / "r").evidence
    run = AnnealingResults.of(evidence)
    assert [p.label for p in run.points_on(2)] == ["original", "tree (lag 1)"]
    assert {each.point.setup for each in predictions(run).predictions} == {"original"}
    [_, tree] = [each for each in answer(evidence)["setups"] if each["ranks"] == 2]
    assert tree["setup"] == "tree (lag 1)" and tree["predicted_communication"] is None
    page = STUDY.page(evidence)
    [table] = [t for s in page.sections for t in s.tables if t.name == "annealing-predicted"]
    assert [row[3] for row in table.rows][1] == "no prediction" and page.lead is not None


def test_set_ups_under_the_progress_thread_are_compared_and_have_no_prediction(tmp_path: Path):
    parameters = {"setups": ("original", "lagged"), "progress": ("own", "thread"), "balance": "no"}
    world = World(tail=0.0)
    evidence = studied(tmp_path / "r", STUDY, world, cores=4, launches=4, ranks=(2,), parameters=parameters)
    run = AnnealingResults.of(evidence)
    assert [p.label for p in run.points_on(2)] == ["original", "lagged", "lagged (progress thread)"]
    assert len(run.comparisons(2)) == 2
    assert {each.point.label for each in predictions(run).predictions} == {"original", "lagged"}


TRUTH = FakeAnnealing(loss={"estimated": 0.01, "decoupled": 0.03})
COSTLY = World(round_s=20e-6, noise=0.01, tail=0.0).with_workloads(TRUTH)
"""A broadcast or a gather of two ranks takes as long as a message of the annealing."""
NAMES = ("original", "estimated", "lagged", "decoupled")


def run(
    folder: Path, annealing: FakeAnnealing | None = None, ranks: tuple[int, ...] = (2,), **parameters: object
) -> Evidence:
    world = COSTLY if annealing is None else COSTLY.with_workloads(annealing)
    given = {"setups": NAMES, "predict": "no", "balance": "no"} | parameters
    return studied(folder, STUDY, world, cores=4, launches=6, budget_s=200.0, ranks=ranks, parameters=given)


def chosen(evidence: Evidence, ranks: int = 2) -> SetupChoice:
    found = choose_setup(AnnealingResults.of(evidence), ranks)
    assert found is not None
    return found


@pytest.fixture(scope="module")
def evidence(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    return run(
        tmp_path_factory.mktemp("annealing") / "r", ranks=(2, 4), predict="yes", balance="yes", seeds=12
    )


@pytest.fixture(scope="module")
def results(evidence: Evidence) -> AnnealingResults:
    return AnnealingResults.of(evidence)


def truth(results: AnnealingResults, setup: str, ranks: int = 2) -> tuple[dict[str, np.ndarray], float]:
    """Seconds of each rank in each part, and of the run."""
    [point] = [p for p in results.points_on(ranks) if p.setup == setup]
    case, even = point.measurement.case, np.ones(ranks)
    parts = TRUTH.parts(case, even)
    return parts, float(TRUTH.rank_seconds(case, even).max())


def test_times_and_parts_are_those_of_the_world(results: AnnealingResults):
    assert results.rank_counts == (2, 4) and results.headline_ranks == 4
    for ranks in results.rank_counts:
        assert [p.setup for p in results.points_on(ranks)] == ["original", "decoupled", "estimated", "lagged"]
        reference = truth(results, "original", ranks)[1]
        for p in results.points_on(ranks):
            parts, whole = truth(results, p.setup, ranks)
            assert p.time.value == pytest.approx(whole, rel=0.02)
            assert p.rate.value == pytest.approx(32 * 50 * 200 / p.time.value)
            for part in PARTS:
                assert p.part_seconds(part) == pytest.approx(parts[part].mean(), rel=0.02)
            assert sum(p.share(part) for part in PARTS) == pytest.approx(1)
            assert p.sum_error < 1e-9
        for each in results.comparisons(ranks):
            expected = truth(results, each.point.setup, ranks)[1] / reference
            assert each.ratio.value == pytest.approx(expected, rel=0.02)
            assert each.ratio.low < each.ratio.value < each.ratio.high


def test_the_fastest_set_up_is_taken_unless_its_energies_are_worse(evidence: Evidence, tmp_path: Path):
    found = chosen(evidence)
    assert (found.outcome, found.basis, found.recommendation.setup) == ("best", "time", "lagged")
    equal = chosen(run(tmp_path / "equal", FakeAnnealing(loss={}, setup_spread=1e-4)))
    assert (equal.outcome, equal.recommendation.setup) == ("best", "decoupled")


def test_blocking_is_best_where_communication_is_cheap_and_slows_computing(tmp_path: Path):
    cheap = FakeAnnealing(message_s=0.1e-6, slowdown=0.2, loss={"decoupled": 0.03})
    found = chosen(run(tmp_path / "r", cheap))
    assert (found.outcome, found.recommendation.setup) == ("best", "original")


def test_set_ups_that_take_equally_long_are_alike_and_the_reference_is_taken(tmp_path: Path):
    free = FakeAnnealing(message_s=0.0, post_s=0.0, slowdown=0.0, loss={"decoupled": 0.03})
    found = chosen(run(tmp_path / "r", free))
    assert (found.outcome, found.recommendation.setup) == ("alike", "original")
    assert {p.setup for p in found.rivals} == {"original", "estimated", "lagged"}


def test_what_one_noisy_launch_shows_is_undecided(tmp_path: Path):
    noisy = replace(COSTLY, noise=0.5, launch_noise=0.3)
    parameters = {"setups": NAMES, "predict": "no", "balance": "no"}
    evidence = studied(
        tmp_path / "r", STUDY, noisy, cores=4, launches=3, budget_s=2.0, ranks=(2,), parameters=parameters
    )
    found = chosen(evidence)
    assert found.outcome == "undecided" and found.recommendation is None and len(found.rivals) > 1
    assert answer(evidence)["choices"][0]["take"] is None


def test_until_it_is_decided_the_reference_is_taken_if_others_save_little(tmp_path: Path):
    def meanwhile(name: str, world: FakeAnnealing) -> InterimChoice | None:
        results = AnnealingResults.of(run(tmp_path / name, world))
        rivals = results.points_on(2)
        return interim_choice(results, SetupChoice(2, "time", "undecided", None, rivals[-1], rivals))

    same = meanwhile("same", FakeAnnealing(message_s=0.0, post_s=0.0, slowdown=0.0))
    assert same is not None and same.recommendation.setup == "original" and same.saving < 0.1
    assert meanwhile("costly", FakeAnnealing()) is None


def test_a_fast_set_up_whose_energies_are_not_known_is_not_taken(tmp_path: Path):
    equal = FakeAnnealing(loss={}, setup_spread=1e-4)
    found = chosen(run(tmp_path / "r", equal, seeds=1))
    assert (found.outcome, found.has_unknown_quality, found.recommendation) == ("undecided", True, None)
    assert found.fastest_point.setup == "decoupled"


def test_worse_energies_are_worth_it_if_the_target_is_reached_sooner(tmp_path: Path):
    """Decoupled ranks need no messages, which take most of the time of the others."""
    slow = FakeAnnealing(message_s=400e-6, spread=0.001, setup_spread=1e-4, loss={"decoupled": 0.005})
    found = chosen(run(tmp_path / "r", slow, setups=("original", "decoupled"), target=1100.0))
    assert (found.outcome, found.basis, found.recommendation.setup) == ("best", "target", "decoupled")


@pytest.fixture(scope="module")
def compared(results: AnnealingResults) -> Quality:
    return quality_on(results, 2)


def test_losses_are_those_of_the_world(compared: Quality):
    expected = {"estimated": 0.01, "decoupled": 0.03, "lagged": 0.0}
    assert {each.point.setup for each in compared.losses} == set(expected)
    for each in compared.losses:
        loss = each.loss_at_equal_steps
        assert each.seed_count == 12, "all set-ups have the same seeds"
        assert loss.value == pytest.approx(expected[each.point.setup], abs=0.002)
        assert loss.high - loss.low < 0.006, "what a seed shares cancels: its spread is 1%"
        assert each.is_worse == (expected[each.point.setup] > 0) and not each.is_better
        assert compared.is_repeatable(each.point)


def test_energies_at_equal_time_and_times_to_the_target_are_from_the_courses(compared: Quality):
    fastest = min(p.time.value for p in compared.points)
    assert compared.comparison_time_s == fastest
    for p in compared.points:
        assert len(p.courses) == 6 and len(p.courses[0].round_ends_s) == 200
        if p is compared.reference:
            assert compared.reached_share(p) >= 0.8, "nine in ten of its runs reach it, by definition"
        if p.setup in ("original", "lagged"):
            assert 0 < compared.target_time(p) <= p.time.value / compared.reached_share(p)
        found = compared.energies_at(p, compared.comparison_time_s)
        assert min(found.values()) >= min(compared.energies(p).values())


def test_runs_with_one_seed_that_differ_are_not_reproducible(compared: Quality, results: AnnealingResults):
    point = results.points_on(2)[0]
    first = point.records[0]
    series = first.metrics["best_energy"]
    changed = msgspec.structs.replace(series, values=[series.values[0] + 1, *series.values[1:]])
    record = msgspec.structs.replace(first, metrics=first.metrics | {"best_energy": changed})
    unlike = replace(point, records=(record, *point.records[1:]))
    assert compared.count_inconsistent_seeds(unlike) == 1 and compared.is_repeatable(unlike) is False
    late = msgspec.structs.replace(first.metrics["rank_elapsed"], values=[0.1] * 2 * len(first.times_s))
    wrong = msgspec.structs.replace(first, metrics=first.metrics | {"rank_elapsed": late})
    assert replace(point, records=(wrong,)).sum_error > 0.5


def test_load_balancing_wins_what_the_world_says(results: AnnealingResults):
    assert [(each.point.ranks, each.point.setup) for each in results.balancing_comparisons] == [
        (2, "original"),
        (4, "original"),
    ]
    for each in results.balancing_comparisons:
        shares = np.array([1.0] * (each.point.ranks - 1) + [2.0])
        shares /= shares.mean()
        took = [TRUTH.rank_seconds(p.measurement.case, shares).max() for p in (each.point, each.reference)]
        assert each.ratio.value == pytest.approx(took[0] / took[1], rel=0.02)
        assert each.verdict == "faster"


def test_predicted_shares_are_those_of_the_world_where_it_follows_the_model(results: AnnealingResults):
    found = predictions(results)
    assert {(each.point.setup, each.point.ranks) for each in found.predictions} == {
        (name, ranks) for name in NAMES for ranks in (2, 4)
    }
    for each in found.predictions:
        assert each.error == pytest.approx(each.share - each.point.communication)
        if each.point.setup == "decoupled":
            assert each.share == each.error == 0.0
        if (each.point.setup, each.point.ranks) == ("original", 2):
            assert abs(each.error) < 0.01 and each.share > 0.1
    errors = sorted(abs(each.error) for each in found.predictions if each.point.ranks == 2)
    assert found.median_error(2) == pytest.approx((errors[1] + errors[2]) / 2)
    assert abs(found.worst_prediction.error) == max(abs(each.error) for each in found.predictions)


def test_the_page_has_the_papers_table_and_figures(evidence: Evidence, results: AnnealingResults):
    page = STUDY.page(evidence)
    tables = tables_of(page)
    assert page.lead.name == "annealing-times" and page.lead.marks[0][0] == 1.0
    paper = tables["annealing-paper"]
    printed = {row[0]: row for row in paper.rows if row[1] == "4" and row[2] == "printed"}
    assert printed["original"][5] == "16%" and printed["original"][8] == "15%"
    assert printed["decoupled"][4].values == (0.0,)
    measured = [row for row in paper.rows if row not in printed.values()]
    assert len(measured) == 8
    for row, p in zip(measured, results.comparable_points, strict=True):
        assert row[4].values == (p.rank_seconds(0, *COMMUNICATION),)
        assert row[6].values == (p.worker_seconds("computation"),)
    figures = {figure.name: figure for figure in page.figures}
    for ranks in (2, 4):
        series = figures[f"annealing-steps-{ranks}"].series
        assert [each.name for each in series] == [p.label for p in results.points_on(ranks)]
        for each in series:
            assert each.y[0] == 0 and each.y[-1] == 32 * 50 * 200 and len(each.y) == 201
        best = figures[f"annealing-energies-{ranks}"].series
        assert all(each.y[0] > each.y[-1] for each in best)
    bars = figures["annealing-parts"]
    assert len(bars.x.names) == 16 and {each.kind for each in bars.series} == {"bars"}
    assert len(tables["annealing-balancing"].rows) == 2 and len(tables["annealing-predicted"].rows) == 8
    assert {"annealing-quality-2", "annealing-quality-4"} <= set(tables)


def test_the_terminal_and_programs_have_the_answer(evidence: Evidence, results: AnnealingResults):
    names = [table.name for table in summary(evidence)]
    assert names == [
        "annealing", "annealing-quality-4", "annealing-target-4", "annealing-balancing",
        "annealing-predicted",
    ]  # fmt: skip
    document = answer(evidence)
    assert document["reference"] == "original"
    assert {(each["ranks"], each["take"]) for each in document["choices"]} == {
        (ranks, chosen(evidence, ranks).recommendation.label) for ranks in (2, 4)
    }
    one = next(each for each in document["setups"] if (each["setup"], each["ranks"]) == ("lagged", 2))
    assert one["ratio"].high < 1 and one["speedup"].value > 1.2
    assert one["parts_s"]["waiting"] == pytest.approx(
        one["master_s"]["communication"] / 2
        + one["worker_s"]["communication"] / 2
        - one["parts_s"]["posting"]
    )
    alone = next(each for each in document["setups"] if each["ranks"] == 1)
    assert alone["speedup"] is None and alone["ratio"] is None
    losses = {(each["setup"], each["ranks"]): each["loss"] for each in document["quality"]}
    assert losses["original", 2] is None and losses["decoupled", 2].low > 0.02
    assert document["largest_sum_error"] < 0.01
    assert len(headline(results)) >= 5


def test_few_seeds_are_a_caveat(tmp_path: Path):
    codes = {each.code for each in STUDY.page(run(tmp_path / "few", setups=NAMES[:2], seeds=3)).warnings}
    assert "few-seeds" in codes and "not-reproducible" not in codes
    many = {each.code for each in STUDY.page(run(tmp_path / "many", setups=NAMES[:2], seeds=12)).warnings}
    assert "few-seeds" not in many


def test_one_set_up_alone_has_no_choice_but_its_rate(tmp_path: Path):
    evidence = run(tmp_path / "r", setups=("lagged",))
    assert choose_setup(AnnealingResults.of(evidence), 2) is None
    assert answer(evidence)["choices"][0]["take"] is None
    assert STUDY.page(evidence).headline and "annealing-quality-2" not in tables_of(STUDY.page(evidence))


def tables_of(page: Page) -> dict[str, Table]:
    return {table.name: table for section in page.sections for table in section.tables}


FAKE = ("--machine", "fake", "--launches", "3", "--budget", "10m", "--seed", "1", "-q")
RUN = ("run", "annealing", "setups=original,estimated,decoupled", "--ranks", "2", *FAKE)


def test_the_answer_is_printed(hockney, golden):
    said = hockney(*RUN, "--out", "runs/a")
    assert said.code == 0, said.err
    golden("run_annealing.txt", said.out)
