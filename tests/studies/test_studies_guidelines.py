# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The study in worlds with planted violations, on a simulated machine, and its page of rules."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from real_mpi import simgrid_here

from hockney import api, measurement, studies
from hockney.cli.start import guarded
from hockney.core.case import Case, parse_canonical
from hockney.core.settings import Settings
from hockney.draw.palette import LIGHT, looks
from hockney.launch.fake import FakeLauncher
from hockney.launch.fake_world import World
from hockney.models.guidelines import judge
from hockney.studies import Evidence, Options
from hockney.studies.guidelines import reference
from hockney.studies.guidelines.figures import largest_ratios_figure
from hockney.studies.guidelines.headline import count_sentences, headline
from hockney.studies.guidelines.results import judge_run
from hockney.system.bundled import catalog_with

STUDY = studies.find_study("guidelines")
ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Consistent(World):
    """All operations take a time per byte of the whole vector, so that no guideline is violated, except for
    the workloads and sizes that are `slow` by a factor."""

    slow: Mapping[tuple[str, int], float] = field(default_factory=dict)

    def time(self, case: Case) -> float:
        vectors = ("bcast", "reduce", "allreduce", "scan", "exscan", "reduce_local", "pingpong")
        whole = case.bytes * (1 if case.workload in vectors else case.ranks)
        own = case.get("algorithm", "mpi") == "mpi"
        return (2e-6 + 1e-9 * whole) * (self.slow.get((case.workload, case.bytes), 1.0) if own else 1.0)


def run(folder: Path, world: World, launches: int = 6) -> Evidence:
    bench = measurement.fake_bench(FakeLauncher(world), workloads=STUDY.WORKLOADS)
    cases = STUDY.plan(Options(ranks=(2, 3), sizes=(4096, 32768)), bench.catalog, bench.machine)
    made = measurement.create_run(folder, cases, Settings("guidelines", seed=1, launches=launches), bench)
    measurement.measure(made, bench, lambda event: None)
    return api.load(folder).evidence


SLOW = {("scatter", 2048): 2.0, ("scan", 32784): 1.6}


@pytest.fixture(scope="module")
def consistent(tmp_path_factory) -> Evidence:
    return run(tmp_path_factory.mktemp("consistent") / "r", Consistent())


@pytest.fixture(scope="module")
def planted(tmp_path_factory) -> Evidence:
    return run(tmp_path_factory.mktemp("planted") / "r", Consistent(slow=SLOW))


def test_a_consistent_library_has_no_violation(consistent):
    verdicts = judge_run(consistent)
    assert not verdicts.violated and verdicts.conclusive and len(verdicts.rules) == 22
    page = STUDY.page(consistent)
    assert len(page.headline) <= 2 and "Violations" not in [section.title for section in page.sections]


def test_planted_violations_are_the_ones_reported(planted):
    verdicts = judge_run(planted)
    assert {(each.left.workload, each.left.bytes) for each in verdicts.violated} == set(SLOW)
    rules = {each.rule.name for each in verdicts.violated if each.left.workload == "scatter"}
    assert {"scatter-scatterv", "algorithm"} <= rules, "copies make a broadcast no faster"
    first, *rest = headline(verdicts)
    assert first == count_sentences(verdicts)[0] and rest[0].startswith("scatter 2 KiB on 2 ranks takes 2.0")
    figure = STUDY.page(planted).lead
    names = figure.x.names
    assert len(names) == len(set(names)) and "scatter <= scatterv" in names
    (violated,) = (series for series in figure.series if series.name == "violated")
    assert {names[int(k)] for k in violated.x} >= {"scatter <= scatterv", "scan <= other algorithms"}


def test_a_violation_looks_like_a_warning(consistent):
    verdicts = judge_run(consistent)
    states = {rule: ("violated", "holds", "undecided")[k % 3] for k, rule in enumerate(verdicts.rules)}
    changed = tuple(replace(each, state=states[each.rule]) for each in verdicts.judged)
    drawn = largest_ratios_figure(replace(verdicts, judged=changed))
    assert {
        series.name: (LIGHT.series[look.slot], look.hollow)
        for series, look in zip(drawn.series, looks(drawn), strict=True)
    } == {
        "violated": (LIGHT.series[1], False),
        "holds": (LIGHT.series[6], False),
        "undecided": (LIGHT.series[6], True),
    }


def test_the_summaries_agree_and_the_order_of_the_cases_does_not_matter(planted):
    """The ratio is that of the typical times in the table of cases."""
    typical = {parse_canonical(s.case): s.typical.value for s in planted.fits.summaries}
    for each in judge_run(planted).judged:
        whole = sum(part.count * typical[part.case] for part in each.comparison.parts)
        assert each.ratio.value == pytest.approx(typical[each.left] / whole)
    observations = planted.observations(cost="typical")
    forth, back = judge(observations, planted.catalog), judge(observations[::-1], planted.catalog)
    assert forth.judged == back.judged


def test_the_table_of_the_documentation_is_fresh():
    text = (ROOT / "docs" / "studies" / "guidelines.md").read_text("utf-8")
    for part in (reference.rules_table(), reference.sources_list()):
        assert part in text, "make it again: python -m hockney.studies.guidelines.reference"


def test_the_study_names_the_workloads_that_it_plans():
    bench = measurement.fake_bench("fake", workloads=STUDY.WORKLOADS)
    cases = STUDY.plan(Options(), bench.catalog, bench.machine)
    assert {case.workload for case in cases} - {"pingpong"} == set(STUDY.WORKLOADS)
    assert catalog_with(measurement.bundled_catalog(), STUDY.WORKLOADS) == bench.catalog
    less = STUDY.plan(Options(), measurement.bundled_catalog(), bench.machine)
    assert 0 < len(less) < len(cases), "an engine without a group's workloads measures the others"


@pytest.mark.simgrid
def test_on_a_simulated_machine_violations_are_exact(tmp_path, capsys):
    simgrid_here()
    words = ["--machine", "sim:switched-ethernet", "--ranks", "4", "--sizes", "64KiB", "-q"]
    assert guarded(["run", "guidelines", *words, "--out", str(tmp_path / "r")]) == 0
    capsys.readouterr()
    assert guarded(["guidelines", str(tmp_path / "r"), "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert len(document["guidelines"]) == 20 and document["not_judged"] == [], "one size has no other"
    typical = {s.case: s.typical.value for s in api.load(tmp_path / "r").summaries}
    for each in document["comparisons"]:
        ratio = typical[each["case"]] / sum(part["count"] * typical[part["case"]] for part in each["parts"])
        assert each["ratio"] == each["ratio_low"] == each["ratio_high"] == pytest.approx(ratio)
        assert each["state"] == ("violated" if ratio > 1.05 else "holds")
    # Its description selects an allreduce that reduces and broadcasts whole vectors.
    best = document["violations"][0]
    assert best["case"].startswith("allreduce") and best["other"] == "allreduce algorithm=rabenseifner"
