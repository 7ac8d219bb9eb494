# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Annealing: reproducible set-ups give the same bits on any number of ranks, every run verifies, its time is
accounted for, and what cannot run is refused."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from engine_cases import covering
from engine_lines import failures, launcher_for, lines_of, records
from native import sanitized
from real_mpi import group_for, mpi_named
from simulated_switch import lines_on_switch
from tiers import slow

from hockney import build
from hockney.core.case import parse_canonical
from hockney.launch.launcher import LaunchOptions

GROUP = "hockney-annealing"
PARTS = "computation", "posting", "testing", "waiting", "balancing"
SMALL = "walkers=18 steps=50 temperatures=9"
PROBLEMS = (
    "problem=tsp size=14",
    "problem=tsp instance=gr17",
    "problem=spin_glass size=4 dimensions=3",
    "problem=qap instance=nug12",
)
REPRODUCIBLE = (
    "setup=original",
    "setup=original shares=uniform:0.5 balance=yes",
    "setup=decoupled groups=9",
    "setup=lagged",
    "setup=lagged lag=3 test_every=7",
    "setup=collective lag=1",
    "setup=collective lag=2 test_every=20",
    "setup=persistent lag=1",
)
ON_ARRIVAL = ("setup=estimated", "setup=estimated test_every=10", "setup=collective", "setup=persistent")
"""Set-ups whose results depend on timing."""
PERSISTENT = "setup=persistent"


@pytest.fixture(scope="session")
def group(mpi):
    return group_for(mpi, GROUP)


def polled(mpi_name, ranks):
    if mpi_name == "mpich" and ranks > 4:
        pytest.skip("MPICH polls: more ranks than cores wait a scheduler's turn for every message")


def answered(mpi, group, words, ranks, repetitions=2, hang=300.0, budget=None):
    """The records of these cases; of those with persistent collectives only if the MPI has them."""
    cases = [group.catalog.case(f"annealing {word}", ranks) for word in words]
    launcher = launcher_for(mpi, group)
    lines = lines_of(launcher, cases, ranks, repetitions=repetitions, hang=hang, budget=budget)
    refused = {failure.case for failure in failures(lines)}
    assert all(PERSISTENT in case for case in refused), [failure.message for failure in failures(lines)]
    found = records(lines)
    assert [record.case for record in found] == [c.line for c in cases if c.line not in refused]
    return found


def verified(found, ranks):
    for record in found:
        assert record.verified.errors == 0, (record.case, record.verified.first)
        assert record.verified.bytes > 0
        # Every run is verified, not only the first one.
        assert record.verified.runs == record.verified.of_runs >= ranks * len(record.times_s) > 0
    return found


def digest(record):
    """Digests by the case that they should depend on."""
    case = record.parse_case()
    without = {"ranks", "setup", "shares", "balance", "test_every"}
    kept = {name: value for name, value in case.values.items() if name not in without}
    lagging = case["setup"] in ("lagged", "collective", "persistent")
    lag = max(1, case["lag"]) if lagging else 0
    return (tuple((kept | {"lag": lag}).items()), case["setup"] == "decoupled"), record.labels["digest"]


def digests(found):
    """Digests of all cases; cases that must agree do."""
    by_case = {}
    for record in found:
        case, bits = digest(record)
        assert by_case.setdefault(case, bits) == bits, record.case
    assert len(set(by_case.values())) == len(by_case), "different cases have different digests"
    return by_case


WORDS = [f"{setup} {problem} {SMALL}" for setup in REPRODUCIBLE for problem in PROBLEMS]


@cache
def on_one_rank():
    """The digests of all reproducible cases on one rank with Open MPI."""
    mpi = mpi_named("openmpi")
    return digests(verified(answered(mpi, group_for(mpi, GROUP), WORDS, 1), 1))


@pytest.mark.mpi
@pytest.mark.parametrize("ranks", [2, *slow(1, *range(3, 10))])
def test_reproducible_set_ups_have_one_digest_on_any_number_of_ranks(mpi, mpi_name, group, ranks):
    polled(mpi_name, ranks)
    found = verified(answered(mpi, group, WORDS, ranks), ranks)
    expected = on_one_rank()
    for case, bits in digests(found).items():
        assert bits == expected[case], case
    setups = {record.parse_case()["setup"] for record in found}
    assert {"original", "decoupled", "lagged", "collective"} <= setups


@pytest.mark.mpi
@pytest.mark.parametrize("ranks", [2, *slow(1, 5)])
def test_set_ups_that_use_what_has_arrived_verify_too(mpi, mpi_name, group, ranks):
    polled(mpi_name, ranks)
    words = [f"{setup} {problem} {SMALL}" for setup in ON_ARRIVAL for problem in PROBLEMS]
    for record in verified(answered(mpi, group, words, ranks), ranks):
        shares = record.metrics["estimated_rounds"].values
        assert all(0 <= share <= 1 for share in shares), record.case
        if ranks == 1:
            assert shares == [0] * len(shares), record.case


VALUES = {
    "setup": ("original", "estimated", "decoupled", "lagged", "collective", "persistent"),
    "problem": (
        "tsp size=9",
        "spin_glass size=3",
        "spin_glass dimensions=3 instance=planted size=4",
        "qap size=6",
    ),
    "schedule": ("constant_speed", "geometric cooling=0.7"),
    "lag": ("0", "1", "4"),
    "lead": ("1", "4"),
    "test_every": ("0", "1", "11"),
    "temperature": ("0", "3.5"),
    "shares": ("equal", "normal:0.3"),
    "balance": ("no", "yes"),
    "seeds": ("1", "3"),
    "sync": ("barrier",),
}  # fmt: skip


def every_pair(ranks):
    for values in covering(list(VALUES.values()), 2):
        word = " ".join(f"{name}={value}" for name, value in zip(VALUES, values, strict=True))
        lagging = "lag=0" in word or word.split()[0].partition("=")[2] in (
            "lagged",
            "collective",
            "persistent",
        )
        if lagging and not ("decoupled" in word and "balance=yes" in word):
            yield f"{word} walkers={2 * ranks} steps=12 temperatures=4"


@pytest.mark.mpi
@pytest.mark.parametrize("ranks", [3, *slow(1, 2, 6)])
def test_every_pair_of_parameters_verifies_and_accounts_for_its_time(mpi, mpi_name, group, ranks):
    polled(mpi_name, ranks)
    for record in verified(answered(mpi, group, list(every_pair(ranks)), ranks, repetitions=4), ranks):
        check_metrics(record, ranks)


def check_metrics(record, ranks):
    case, times = record.parse_case(), np.array(record.times_s)
    each = {
        name: np.reshape(record.metrics[f"rank_{name}"].values, (len(times), ranks))
        for name in (*PARTS, "elapsed", "steps")
    }
    total = sum(each[name] for name in PARTS)
    assert np.all(np.abs(total - each["elapsed"]) <= 0.01 * each["elapsed"]), record.case
    assert np.all(each["elapsed"] <= times[:, None] * (1 + 1e-6) + 1e-6), record.case
    for name in PARTS:
        assert np.all(each[name] >= 0), (record.case, name)
        assert record.metrics[name].values == pytest.approx(
            list(each[name].mean(axis=1)), rel=1e-5, abs=1e-12
        )
    planned = case["walkers"] * case["steps"] * case["temperatures"]
    assert record.metrics["total_steps"].values == [planned] * len(times), record.case
    assert list(each["steps"].sum(axis=1)) == [planned] * len(times)
    assert all(0 < n < planned for n in record.metrics["accepted"].values), record.case
    seeds = [case["seed"] + i % case["seeds"] for i in range(len(times))]
    assert record.metrics["run_seed"].values == seeds, record.case
    check_rounds(record, case)


def check_rounds(record, case):
    rounds = {
        name: record.metrics[f"round_{name}"].values
        for name in ("end", "best", "temperature", "mean", "steps")
    }
    assert {len(values) for values in rounds.values()} == {case["temperatures"]}, record.case
    assert all(a <= b for a, b in pairwise(rounds["end"])) and rounds["end"][0] > 0, record.case
    assert all(a >= b for a, b in pairwise(rounds["best"])), record.case
    assert all(t > 0 for t in rounds["temperature"]), record.case
    of_round = case["walkers"] * case["steps"]
    assert rounds["steps"] == [of_round * (i + 1) for i in range(case["temperatures"])], record.case
    assert all(mean >= best for mean, best in zip(rounds["mean"], rounds["best"], strict=True)), record.case
    if case["schedule"] == "geometric" and case["setup"] == "original":
        falling = [b / a for a, b in pairwise(rounds["temperature"])]
        assert falling == pytest.approx([case["cooling"]] * len(falling), rel=1e-5), record.case


@pytest.mark.mpi
def test_the_clock_of_a_run_is_its_time(mpi, group):
    """Checked on one rank, where no other rank's time counts: a disturbance between the readings would be
    another rank's."""
    (record,) = verified(answered(mpi, group, ["walkers=8 steps=500 temperatures=20"], 1, repetitions=9), 1)
    elapsed = np.array(record.metrics["rank_elapsed"].values)
    assert np.min(np.array(record.times_s) - elapsed) <= 1e-4
    # Of the last run, which the last record may not have timed.
    assert record.metrics["round_end"].values[-1] <= 1.1 * max(elapsed) + 1e-3


@pytest.mark.mpi
def test_a_seed_is_a_pair(mpi, group):
    """Repetitions with one seed find one energy, in two set-ups with the same statistics."""
    words = [f"setup={setup} seeds=3 seed=5 {SMALL} size=12" for setup in ("original", "lagged")]
    for record in verified(answered(mpi, group, words, 2, repetitions=6, budget=120.0), 2):
        best = record.metrics["best_energy"].values
        assert record.metrics["run_seed"].values == [5, 6, 7, 5, 6, 7]
        assert best[:3] == best[3:] and len(set(best)) > 1


@pytest.mark.mpi
def test_launches_begin_with_different_seeds(mpi, group):
    case = group.catalog.case(f"annealing {SMALL} size=9 seed=3 seeds=8", 2)
    first = []
    for index in range(4):
        options = LaunchOptions("T", index, budget_s=30.0, max_repetitions=2, hang_s=60.0, precision=1e-6)
        (record,) = records(list(launcher_for(mpi, group).run([case], 2, options)))
        here, following = record.metrics["run_seed"].values
        assert following == 3 + (here - 3 + 1) % 8
        first.append(here)
    assert first[0] == 3 and len(set(first)) == 4 and all(3 <= seed < 11 for seed in first)


@pytest.mark.mpi
def test_the_known_optimum_is_found_and_its_time_reported(mpi, group):
    words = "instance=gr17 walkers=8 steps=2000 temperatures=60"
    first, reached, missed = (f"{words} target={target}" for target in (0, 2085, 2084))
    for record in verified(answered(mpi, group, [first, reached, missed], 2, repetitions=1), 2):
        assert record.labels["optimum"].startswith("2085") and record.labels["instance"] == "gr17"
        assert record.metrics["best_energy"].values == [2085]
        (when,) = record.metrics["target_time"].values
        assert 0 < when <= record.times_s[0] if "target=2085" in record.case else when == -1


@pytest.mark.mpi
@pytest.mark.parametrize(("name", "problem", "suffix"), [("gr17", "tsp", "tsp"), ("nug12", "qap", "dat")])
def test_a_file_is_an_instance(mpi, group, tmp_path, name, problem, suffix):
    (source,) = (build.source_folder() / "ensemble").rglob(f"{name}.{suffix}")
    path = tmp_path / f"copy.{suffix}"
    path.write_bytes(source.read_bytes())
    words = [f"problem={problem} {SMALL} instance={instance}" for instance in (name, f"file:{path}")]
    shipped, read = verified(answered(mpi, group, words, 3), 3)
    assert shipped.labels["digest"] == read.labels["digest"]


def refusals(mpi, group, words, ranks):
    """The messages of cases that are refused; the next one runs."""
    good = group.catalog.case(f"annealing {SMALL} size=9", ranks)
    cases = [parse_canonical(group.catalog.case(f"annealing {SMALL}", ranks).line)]
    typed = [f"annealing {word} ranks={ranks}" for word in words]
    cases = [*map(parse_canonical, typed), good]
    lines = lines_of(launcher_for(mpi, group), cases, ranks, repetitions=1)
    assert [record.case for record in records(lines)] == [good.line]
    assert {failure.reason for failure in failures(lines)} == {"refused"}
    found = {failure.case: failure.message for failure in failures(lines)}
    assert list(found) == [case.line for case in cases[:-1]]
    return list(found.values())


IMPOSSIBLE = (
    "walkers=2",
    "steps=0",
    "temperatures=0",
    "instance=nug12 problem=tsp",
    "instance=planted problem=qap",
    "instance=planted problem=spin_glass size=5",
    "instance=file:/nowhere/at/all.tsp",
    "problem=tsp size=2",
    "setup=decoupled groups=2 walkers=9",
    "setup=original lag=2",
    "step_s=1e-6",
    "arithmetic=none schedule=geometric",
    "shares=1:2",
    "cooling=1.5 schedule=geometric",
)
HEAD = "TYPE: TSP\nDIMENSION: 4\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n1 0 0\n"
MALFORMED = {
    "word.tsp": f"{HEAD}2 zero 1\n",
    "short.tsp": f"{HEAD}EOF\n",
    "empty.tsp": "",
    "word.dat": "2\n0 1\n1 0\n0 x\n",
}


@pytest.mark.mpi
def test_cases_that_cannot_run_are_refused_and_the_next_one_runs(mpi, group, tmp_path, golden):
    for name, text in MALFORMED.items():
        (tmp_path / name).write_text(text)
    files = [
        f"instance=file:{tmp_path / name} problem={'qap' if name.endswith('dat') else 'tsp'}"
        for name in MALFORMED
    ]
    messages = refusals(mpi, group, [*IMPOSSIBLE, *files], 3)
    assert "word.tsp:6" in messages[len(IMPOSSIBLE)] and "word.dat:4" in messages[-1]
    told = [f"{word}\n  {message}" for word, message in zip([*IMPOSSIBLE, *files], messages, strict=True)]
    golden("refusals_annealing.txt", "\n\n".join(told).replace(str(tmp_path), "FOLDER"))


@pytest.mark.mpi
def test_every_shipped_instance_is_a_choice_and_runs(mpi, group):
    choices = next(p.choices for p in group.catalog.workload("annealing").parameters if p.name == "instance")
    folder = build.source_folder() / "ensemble" / "instances"
    shipped = {path.stem: path.suffix for path in folder.rglob("*") if path.suffix in (".tsp", ".dat")}
    assert set(choices) - set(shipped) == {"generated", "planted", "circle", "grid", "file:PATH"}
    words = [
        f"problem={'qap' if suffix == '.dat' else 'tsp'} instance={name} walkers=2 steps=20 temperatures=2"
        for name, suffix in sorted(shipped.items())
    ]
    for record in verified(answered(mpi, group, words, 1, repetitions=1), 1):
        assert record.labels["instance"] == record.parse_case()["instance"]
        best = record.metrics["best_energy"].values[0]
        assert not record.labels["optimum"] or best >= float(record.labels["optimum"]), record.case


@pytest.mark.mpi
@pytest.mark.slow(120)
@pytest.mark.usefixtures("changed_cpp")
def test_sanitizers_find_nothing(mpi, mpi_name, group, monkeypatch):
    if mpi_name == "mpich":
        pytest.skip("the other one suffices")
    monkeypatch.setenv("ASAN_OPTIONS", "detect_leaks=0")
    program = sanitized(mpi, [GROUP]).parent / GROUP
    words = [*every_pair(3), *WORDS]
    verified(answered(mpi, replace(group, path=program), words, 3, repetitions=1, hang=1200.0), 3)


STEP_S = 1e-5
"""The time of a step, long enough that the simulated clock's resolution of 1 ns does not matter."""


def simulated(words, ranks, repetitions=1):
    lines = lines_on_switch(GROUP, [f"annealing {word}" for word in words], ranks, repetitions=repetitions)
    refused = {failure.case for failure in failures(lines)}
    assert all(PERSISTENT in case for case in refused), [failure.message for failure in failures(lines)]
    found = records(lines)
    assert len(found) + len(refused) == len(words)
    for record in found:
        assert record.verified.errors == 0, (record.case, record.verified.first)
    return found


def of_ranks(record, name):
    return np.array(record.metrics[f"rank_{name}"].values)


@pytest.mark.simgrid
@pytest.mark.slow
@pytest.mark.mpi
@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 5, 6, 7, 8, 9])
def test_digests_are_those_of_real_ranks(ranks):
    expected = on_one_rank()
    for case, bits in digests(simulated(WORDS, ranks)).items():
        assert bits == expected[case], case


@pytest.mark.simgrid
@pytest.mark.slow
def test_steps_take_their_time():
    words = f"walkers=5 steps=30 temperatures=4 step_s={STEP_S}"
    for problem in ("tsp size=9", "spin_glass size=3", "qap size=5"):
        (record,) = simulated([f"problem={problem} {words}"], 1)
        assert record.times_s[0] == pytest.approx(5 * 30 * 4 * STEP_S, rel=1e-6)


@pytest.mark.simgrid
@pytest.mark.slow
def test_without_a_rate_a_step_takes_its_operations():
    """The switch computes 1e9 operations a second."""
    for record in simulated(
        [f"problem={p} walkers=50 steps=1000 temperatures=20 size=9" for p in ("tsp", "qap")], 1
    ):
        operations = float(record.labels["operations"])
        assert operations > 100
        assert record.times_s[0] == pytest.approx(1e6 * operations / 1e9, rel=1e-6)


SETUPS = (
    "setup=original", "setup=decoupled", "setup=lagged", "setup=lagged lag=2 test_every=10",
    "setup=estimated", "setup=estimated test_every=9", "setup=collective", "setup=collective lag=1",
)  # fmt: skip


@pytest.mark.simgrid
@pytest.mark.slow
@pytest.mark.parametrize("ranks", [4, 7])
def test_arithmetic_changes_no_message_and_the_parts_are_the_time(ranks):
    words = [
        f"{setup} problem=tsp size=9 schedule=geometric walkers=30 steps=40 temperatures=8 "
        f"shares=uniform:0.3 step_s={STEP_S} arithmetic={arithmetic}"
        for setup in SETUPS
        for arithmetic in ("real", "none")
    ]
    found = simulated(words, ranks)
    for real, none in zip(found[::2], found[1::2], strict=True):
        assert real.verified.bytes > 0
        assert none.times_s[0] == pytest.approx(real.times_s[0], rel=1e-9), real.case
        for name in (*PARTS, "elapsed", "steps"):
            assert of_ranks(none, name) == pytest.approx(of_ranks(real, name), rel=1e-6, abs=1e-9), real.case
        total = sum(of_ranks(real, name) for name in PARTS)
        assert total == pytest.approx(of_ranks(real, "elapsed"), rel=1e-6), real.case
        assert of_ranks(real, "elapsed").max() == pytest.approx(real.times_s[0], rel=3e-3), real.case


@pytest.mark.simgrid
@pytest.mark.slow
def test_every_rank_computes_at_its_share():
    (record,) = simulated([f"walkers=8 steps=50 temperatures=5 size=9 shares=1:2:3:2 step_s={STEP_S}"], 4)
    shares = np.array([1, 2, 3, 2]) / 2
    assert of_ranks(record, "computation") == pytest.approx(2 * 50 * 5 * STEP_S * shares, rel=1e-3)
    # In the blocking set-up the others wait for the slowest.
    waiting = of_ranks(record, "waiting")
    assert waiting[0] > waiting[1] > waiting[2] and waiting[0] > 0.4 * record.times_s[0]


@pytest.mark.simgrid
@pytest.mark.slow
def test_walkers_move_to_faster_ranks_and_their_paths_stay():
    words = f"walkers=64 steps=100 temperatures=40 size=12 shares=1:1:1:1:1:1:1:3 step_s={STEP_S}"
    for setup in ("original", "lagged"):
        still, moving = simulated([f"setup={setup} {words} balance={b}" for b in ("no", "yes")], 8)
        assert still.metrics["moved_walkers"].values == [0] and moving.metrics["moved_walkers"].values[0] > 0
        assert still.labels["digest"] == moving.labels["digest"]
        assert of_ranks(still, "steps").tolist() == [8 * 100 * 40] * 8
        assert of_ranks(moving, "steps")[7] < 0.7 * of_ranks(moving, "steps")[0]
        assert moving.times_s[0] < 0.7 * still.times_s[0]
        assert of_ranks(moving, "balancing").max() > 0


@pytest.mark.simgrid
@pytest.mark.slow
def test_every_seed_is_simulated_once():
    """Simulations repeat themselves, seeds do not."""
    (record,) = simulated(["walkers=4 steps=20 temperatures=4 size=9 seeds=3"], 2, repetitions=4)
    assert record.metrics["run_seed"].values == [1, 2, 3]
    assert len(set(record.metrics["best_energy"].values)) > 1
