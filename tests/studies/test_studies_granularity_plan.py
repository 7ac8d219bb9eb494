# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The plan of the granularity study has all the cases it needs, and no more than the time allows."""

from collections import Counter

import msgspec
import pytest
from granular import CATALOG, MACHINE, STUDY, evidence, run

from hockney import measurement
from hockney.core.errors import Inconclusive, UsageError
from hockney.core.fit import Fits, UsedSurvey
from hockney.core.machine import Traits
from hockney.core.settings import Settings
from hockney.core.units import parse_seconds
from hockney.launch.fake import FakeLauncher
from hockney.machines import simulated
from hockney.measurement.kinds import sim
from hockney.models.least_time import min_launch_seconds
from hockney.studies import Options
from hockney.studies.granularity.plan import LENGTHS, MIN_WORKS, ROUNDS_PER_BUDGET
from hockney.studies.sizes import DEFAULT_SIZES

TWO = msgspec.structs.replace(MACHINE, kind="real", traits=Traits(), cores=2, threads=2)


def suns(name: str = "sun-ethernet"):
    platform = simulated.platform(name)
    return msgspec.structs.replace(
        MACHINE,
        kind="simulated",
        traits=sim.TRAITS,
        cores=platform.capacity,
        host=platform.name,
        platform=platform,
    )


def of(cases, workload, **fixed):
    return [
        c
        for c in cases
        if c.workload == workload and fixed.items() <= {**dict(c.parameters), "ranks": c.ranks}.items()
    ]


def test_every_cell_has_what_explains_it():
    cases = STUDY.plan(Options(), CATALOG, TWO)
    assert len(cases) == len(set(cases))
    for cell in of(cases, "granularity"):
        work = cell["work"]
        assert of(cases, "compute", ranks=1, work=work), "its serial time"
        assert of(cases, "compute", ranks=cell.ranks, work=work / cell.ranks), "its part, all computing"
        assert of(cases, "round_robin", ranks=cell.ranks, bytes=cell["bytes"], exchange="ordered")
        assert cell["iterations"] == 20 and cell["exchange"] == "ordered"
    assert [c["bytes"] for c in of(cases, "pingpong", buffers="hot", ranks=2)] == list(DEFAULT_SIZES)
    assert {c.ranks for c in cases} == {1, 2}


def test_the_grid_has_every_length_and_the_serial_fractions_at_its_ends():
    cells = of(STUDY.plan(Options(), CATALOG, TWO), "granularity", shares="equal")
    works = sorted({c["work"] for c in cells})
    assert works == [1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2]
    pairs = Counter((c["bytes"], c["serial"]) for c in cells)
    assert {size for size, serial in pairs if serial == 0} == set(LENGTHS) == {4, 40, 400, 4000, 40000}
    assert {size for size, serial in pairs if serial > 0} == {4, 40000}
    assert {serial for _, serial in pairs} == {0, 0.01, 0.1} and set(pairs.values()) == {len(works)}


def test_other_exchanges_and_uneven_work_are_tried_at_a_few_places():
    cases = STUDY.plan(Options(), CATALOG, TWO)
    assert len(of(cases, "granularity")) - len(of(cases, "granularity", shares="equal")) == 3
    tried = {c["exchange"] for c in of(cases, "round_robin")}
    assert tried == {"ordered", "sendrecv", "nonblocking", "persistent", "neighborhood"}
    assert len(of(cases, "round_robin", exchange="persistent")) == 3


@pytest.mark.parametrize("cores", [2, 4, 8, 64])
def test_a_round_of_the_default_plan_fits_its_time(cores):
    machine = msgspec.structs.replace(TWO, cores=cores, threads=cores)
    cases = STUDY.plan(Options(), CATALOG, machine)
    assert min_launch_seconds(cases) <= 60 / ROUNDS_PER_BUDGET
    assert len({c["work"] for c in of(cases, "granularity")}) >= 4


def test_the_default_plan_is_measured_within_its_budget(tmp_path):
    bench = measurement.fake_bench(FakeLauncher(), cores=2)
    cases = STUDY.plan(Options(), CATALOG, bench.machine)
    folder = measurement.create_run(
        tmp_path / "r", cases, Settings("granularity", seed=1, budget_s=60.0), bench
    )
    outcome = measurement.measure(folder, bench, lambda event: None)
    assert outcome.missing_count == 0 and outcome.seconds <= 1.2 * 60


def extent(budget_s: float, **asked) -> tuple[int, int, int, int]:
    """The number of works, lengths, serial fractions and other kinds of exchanges in the plan for a
    budget."""
    cases = STUDY.plan(Options(budget_s=budget_s, **asked), CATALOG, TWO)
    cells = of(cases, "granularity")
    exchanges = {c["exchange"] for c in of(cases, "round_robin")}
    works, lengths, serial = (len({c[name] for c in cells}) for name in ("work", "bytes", "serial"))
    return works, lengths, serial, len(exchanges)


@pytest.mark.parametrize(
    ("budget_s", "asked", "reduced"),
    [
        (200.0, {}, False),
        (5.0, {}, True),
        (200.0, {"parameters": {"work": (1e-4, 1e-3)}}, False),
    ],
)
def test_the_page_of_a_reduced_grid_has_a_caveat(tmp_path, budget_s, asked, reduced):
    folder = run(
        tmp_path / "r", Options(ranks=(2,), budget_s=budget_s, **asked), launches=1, budget_s=budget_s
    )
    found = [c for c in STUDY.page(evidence(folder)).warnings if c.code == "grid-reduced"]
    assert len(found) == reduced
    if found:
        enough = parse_seconds(found[0].todo.split()[2])
        assert enough > budget_s and min_launch_seconds(folder.plan().cases) < enough / ROUNDS_PER_BUDGET


def test_the_grid_is_smaller_for_a_smaller_budget():
    assert extent(3600) == extent(60) == (7, 5, 3, 5)
    for budget_s in (60, 20, 10, 5):
        cases = STUDY.plan(Options(budget_s=budget_s), CATALOG, TWO)
        assert min_launch_seconds(cases) <= budget_s / ROUNDS_PER_BUDGET
        works, lengths, _, _ = extent(budget_s)
        assert works >= MIN_WORKS and lengths >= 2, "the ends of every curve"
        assert {4, 40000} <= {c["bytes"] for c in of(cases, "granularity")}
    extents = [extent(budget_s) for budget_s in (60, 20, 10, 5, 1e-3)]
    assert extents == sorted(extents, reverse=True) and len(set(extents)) > 2
    assert extents[-1] == (MIN_WORKS, 2, 1, 1), "never less than this"


def test_a_small_budget_leaves_what_was_requested():
    asked = {"work": (1e-3, 1e-2), "serial": (0.0, 0.5)}
    assert extent(1e-3, sizes=(8, 64, 512, 4096), parameters=asked) == (2, 4, 2, 1)


def test_a_simulated_grid_has_no_budget():
    whole, short = (STUDY.plan(Options(budget_s=b), CATALOG, suns()) for b in (3600, 1e-3))
    assert whole == short


def test_what_is_asked_for_is_planned_in_full():
    asked = Options(ranks=(1, 2), sizes=(0, 8, 64), parameters={"work": (0.5, 2.0), "serial": (0.0, 0.25)})
    cells = of(STUDY.plan(asked, CATALOG, TWO), "granularity", shares="equal")
    assert {(c["work"], c["bytes"], c["serial"]) for c in cells if c.ranks == 2} == {
        (t, size, s) for t in (0.5, 2) for size in (0, 8, 64) for s in (0, 0.25)
    }
    alone = [c for c in cells if c.ranks == 1]
    assert len(alone) == 2, "one rank sends nothing, so it is measured once for each work"


def test_one_rank_alone_needs_neither_messages_nor_a_survey():
    cases = STUDY.plan(Options(ranks=(1,)), CATALOG, TWO)
    assert {c.workload for c in cases} == {"compute", "granularity"} and {c.ranks for c in cases} == {1}


def test_works_of_a_simulated_machine_follow_from_its_description():
    cases = STUDY.plan(Options(), CATALOG, suns())
    works = sorted({c["work"] for c in of(cases, "granularity")})
    assert works[0] == 0.003, "2 SUNs break even at 6.02 ms, 4 of them at 4.03 ms"
    assert works[-1] == 30, "4 SUNs need 15.4 s for 95% with 10000 words"
    assert {c.ranks for c in of(cases, "granularity")} == {2, 4}
    assert not of(cases, "round_robin", exchange="neighborhood"), "the simulator has none"


@pytest.mark.parametrize("name", simulated.names())
def test_every_described_machine_has_a_plan(name):
    cases = STUDY.plan(Options(), CATALOG, suns(name))
    assert 4 <= len({c["work"] for c in of(cases, "granularity")}) <= 16


def test_a_survey_without_a_model_of_messages_is_told_of():
    surveyed = UsedSurvey(Fits(schema=1, summaries=[], fits=[]), MACHINE, "runs/empty")
    with pytest.raises(Inconclusive) as caught:
        STUDY.plan(Options(survey=surveyed), CATALOG, TWO)
    assert caught.value.code == "no-message-model"


def test_a_work_too_short_to_share_is_refused_in_a_line():
    with pytest.raises(UsageError, match="work"):
        STUDY.plan(Options(parameters={"work": (1e-12,)}), CATALOG, TWO)
