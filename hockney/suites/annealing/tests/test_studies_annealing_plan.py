# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What the study of annealing measures, and mistakes in its question."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from hockney import api, measurement, studies
from hockney.core.case import Case
from hockney.core.catalog import Catalog
from hockney.core.errors import UsageError
from hockney.core.settings import Settings
from hockney.launch.fake import FakeLauncher
from hockney.launch.fake_world import World
from hockney.machines import simulated
from hockney.studies import Options
from hockney.suites.annealing.models.program import SCHEDULE_BYTES, STATISTICS_BYTES
from hockney.suites.annealing.studies.annealing.columns import answer
from hockney.suites.annealing.studies.annealing.plan import WORKLOADS
from hockney.suites.annealing.studies.annealing.results import AnnealingResults, predictions

STUDY = studies.study("annealing")


def plan(*ranks: int, sizes: tuple[int, ...] = (), **parameters: object) -> list[Case]:
    bench = measurement.fake_bench("fake", workloads=WORKLOADS)
    options = Options(ranks=ranks, sizes=sizes, parameters=parameters)
    return STUDY.plan(options, bench.catalog, bench.machine)


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
    bench = measurement.fake_bench(FakeLauncher(World(tail=0.0)), cores=4, workloads=WORKLOADS)
    catalog = with_another(bench.catalog)
    bench = replace(bench, catalog=catalog)
    bench.launcher.world = replace(bench.launcher.world, catalog=catalog)
    parameters = {"setups": ("original", "tree"), "lag": (1,), "balance": "no"}
    cases = STUDY.plan(Options(ranks=(2,), parameters=parameters), catalog, bench.machine)
    made = measurement.begin(
        tmp_path / "r", cases, Settings("annealing", seed=1, launches=3, budget_s=60.0), bench
    )
    measurement.measure(made, bench, lambda event: None)
    evidence = api.load(tmp_path / "r").evidence
    run = AnnealingResults.of(evidence)
    assert [p.label for p in run.on(2)] == ["original", "tree (lag 1)"]
    assert {each.point.setup for each in predictions(run).of} == {"original"}
    [_, tree] = [each for each in answer(evidence)["setups"] if each["ranks"] == 2]
    assert tree["setup"] == "tree (lag 1)" and tree["predicted_communication"] is None
    page = STUDY.page(evidence)
    [table] = [t for s in page.sections for t in s.tables if t.name == "annealing-predicted"]
    assert [row[3] for row in table.rows][1] == "no prediction" and page.lead is not None


def test_set_ups_under_the_progress_thread_are_compared_and_have_no_prediction(tmp_path: Path):
    bench = measurement.fake_bench(FakeLauncher(World(tail=0.0)), cores=4, workloads=WORKLOADS)
    parameters = {"setups": ("original", "lagged"), "progress": ("own", "thread"), "balance": "no"}
    options = Options(ranks=(2,), parameters=parameters)
    settings = Settings(
        "annealing",
        seed=1,
        launches=4,
        budget_s=60.0,
        launch_settings=tuple(each.line for each in STUDY.launch_settings(options, bench.machine)),
    )
    made = measurement.begin(
        tmp_path / "r", STUDY.plan(options, bench.catalog, bench.machine), settings, bench
    )
    measurement.measure(made, bench, lambda event: None)
    run = AnnealingResults.of(api.load(tmp_path / "r").evidence)
    assert [p.label for p in run.on(2)] == ["original", "lagged", "lagged (progress thread)"]
    assert len(run.compared(2)) == 2
    assert {each.point.label for each in predictions(run).of} == {"original", "lagged"}
