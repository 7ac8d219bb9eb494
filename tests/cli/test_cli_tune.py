# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney run tuning and hockney tune, from command line to files, on the fake machine."""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from resealed import reseal

from hockney import api
from hockney.api.tuning import (
    PRELOADED,
    RULED,
    Gain,
    TimeRatio,
    memory_comment,
    removed_comment,
    undecided_comment,
)
from hockney.cli.actions import tune
from hockney.cli.actions.tune import (
    kept_memory_text,
)
from hockney.core.errors import ExitCode
from hockney.core.fit import Estimate
from hockney.core.freed_memory import KEPT_VARIABLES, MMAP, RETURNED_VARIABLES, TRIM
from hockney.launch.fake_world import World
from hockney.models.tuning import openmpi
from hockney.models.tuning.points import CALL_OVERHEAD_S, TABLE_OPERATIONS
from hockney.report.render import render
from hockney.studies import tuning as study
from hockney.studies.tuning.results import tuning


@pytest.fixture
def measured(copied_run) -> None:
    """A run of the study in runs/t."""
    copied_run("runs/t", "tuning operations=bcast,allreduce", sizes=(8, 4096), ranks=(2,), launches=12)


def test_it_measures_every_algorithm(hockney):
    done = hockney("plan", "tuning", "--cases", "--ranks", "2", "--sizes", "8")
    cases = done.out.splitlines()
    assert {case.split()[0] for case in cases} == set(TABLE_OPERATIONS)
    assert sum("algorithm=mpi" in case.split() for case in cases) == len(TABLE_OPERATIONS) + 1, (
        "a barrier in a loop and alone"
    )
    assert any(case.startswith("scan ") and "algorithm=linear" in case for case in cases)
    assert not any("setting=" in case for case in cases)  # no mpiexec starts these ranks


def test_where_nothing_is_faster_the_tables_are_empty(hockney, measured):
    calm(Path("runs/t"))
    done = hockney("tune", "--out", "tuned", "--json")
    assert done.code == 0, done.err
    document = json.loads(done.out)
    assert document["files"] == ["tuned/hockney.choices"]
    assert [caveat["code"] for caveat in document["doubts"]] == ["fake"]
    assert document["rules"] == document["gains"] == []
    assert document["counts"] == {"not faster": 4}, "two operations at two sizes"
    places = {(each["operation"], each["ranks"], each["bytes"]) for each in document["comparisons"]}
    assert places == {(name, 2, size) for name in ("bcast", "allreduce") for size in (8, 4096)}
    lines = Path("tuned/hockney.choices").read_text().splitlines()
    assert lines[0] == "hockney-choices 1" and all(line.startswith("#") for line in lines[1:])


def test_a_faster_algorithm_is_in_the_table(hockney, measured):
    """The records of one algorithm, changed to half of their times."""
    halve(Path("runs/t"), "algorithm=chain")
    done = hockney("tune", "runs/t", "--out", "tuned", "--json")
    (rule,) = json.loads(done.out)["rules"]
    assert (rule["of"], rule["operation"], rule["ranks"]) == ("hockney", "bcast", 2)
    assert (rule["algorithm"], rule["sizes"]) == ("chain", [8, 4096])
    for size, ratio in zip(rule["sizes"], rule["ratios"], strict=True):
        half = 0.5 + CALL_OVERHEAD_S / World().collective("bcast", 2, size)
        assert ratio["low"] < half < ratio["high"] < 0.95
    assert "bcast ranks=2 bytes=8:4096 algorithm=chain\n" in Path("tuned/hockney.choices").read_text()
    none = hockney("tune", "runs/t", "--out", "tuned", "--effect", "60%", "--json")
    assert json.loads(none.out)["rules"] == []


def halve(run: Path, word: str) -> None:
    change(run, lambda record: [time / (1 + (word in record["case"].split())) for time in record["times_s"]])


def calm(run: Path) -> None:
    """All algorithms take the same time, without noise."""
    change(run, lambda record: [1e-6] * len(record["times_s"]))


def disturb(run: Path, also_steady: str = "algorithm=mpi") -> None:
    """Every other launch makes hockney's algorithms half as fast, the others twice as fast."""
    launches: list[str] = []

    def times(record: dict) -> list[float]:
        if record["launch"] not in launches:
            launches.append(record["launch"])
        steady = {"algorithm=mpi", also_steady} & {*record["case"].split()}
        factor = 1.0 if steady else (0.5, 2.0)[launches.index(record["launch"]) % 2]
        return [factor * time for time in record["times_s"]]

    change(run, times)


def change(run: Path, times: Callable[[dict], list[float]]) -> None:
    """Give each record these times, and make the checksums match."""
    lines = []
    for line in (run / "records.jsonl").read_text().splitlines():
        record = json.loads(line)
        record.pop("sum", None)
        if "times_s" in record:
            record["times_s"] = times(record)
        lines.append(json.dumps(record, separators=(",", ":")) + "\n")
    (run / "records.jsonl").write_text("".join(lines))
    reseal(run)


def test_what_is_undecided_is_no_choice_of_mpis_algorithm(hockney, measured):
    """The intervals include both large gains and large losses."""
    disturb(Path("runs/t"))
    done = hockney("tune", "runs/t", "--out", "tuned", "--json")
    assert done.code == ExitCode.INCONCLUSIVE, done.err
    document = json.loads(done.out)
    assert document["counts"] == {"undecided": 4} and document["rules"] == []
    assert {each["state"] for each in document["comparisons"]} == {"undecided"}
    comments = Path("tuned/hockney.choices").read_text().splitlines()[1:]
    assert f"# {undecided_comment(4, 4)}" in comments, "the table is written, and states that"
    words = hockney("tune", "runs/t", "--out", "tuned")
    assert words.code == ExitCode.INCONCLUSIVE and re.search(r"--budget \d+[sm]\b", words.out)


def test_one_gain_is_an_answer(hockney, measured):
    """Although most comparisons are undecided."""
    disturb(Path("runs/t"), also_steady="bcast")
    halve(Path("runs/t"), "algorithm=chain")
    done = hockney("tune", "runs/t", "--out", "tuned", "--json")
    document = json.loads(done.out)
    assert document["counts"] == {"faster": 2, "undecided": 2} and done.code == 0


@pytest.mark.page
@pytest.mark.parametrize("change_run", [disturb, calm], ids=["undecided", "not faster"])
def test_a_page_without_any_gain_shows_what_was_compared(hockney, measured, change_run):
    change_run(Path("runs/t"))
    run = api.load(Path("runs/t"))
    found = tuning(run.evidence)
    (state,) = {each.state for each in found.deciding_choices}
    tables = {table.name: table for section in run.page.sections for table in section.tables}
    assert "rules" not in tables and len(tables["kept"].rows) == 4
    assert all(state in row[-1] and "[" in row[-2] for row in tables["kept"].rows)
    (section,) = [s for s in run.page.sections if tables["kept"] in s.tables]
    assert not section.closed
    (series,) = run.page.lead.series
    assert len(series.x) == 4 and series.hollow == (state == "undecided")
    assert state in ("undecided", "not faster") and "allreduce" in render(run.page)


def test_mistakes(hockney, measured):
    assert hockney("tune", "--out", "t", "--library", "x").error.code == "library-without-check"
    assert hockney("tune", "--out", "t", "--budget", "5s").error.code == "budget-without-check"
    assert hockney("tune", "--out", "t", "--check").error.code == "no-rules-to-check"
    assert hockney("tune", "runs/t", "--out", "runs/t/plan.txt").code == 3
    assert hockney("tune", "runs/t", "--out", "runs/t").error.code == "folder-of-a-run"
    other = hockney("run", "pingpong", "bytes=8", "-q", "--out", "runs/p")
    assert other.code == 0
    assert hockney("tune", "runs/p", "--out", "t").error.code == "nothing-to-compare"


def test_the_check_of_a_table_needs_the_library(hockney, measured):
    halve(Path("runs/t"), "algorithm=chain")
    assert hockney("tune", "--out", "t", "--check").error.code == "check-needs-library"
    assert hockney("tune", "--out", "t", "--check", "--library", ".").error.code == "no-preload-library"


def test_a_run_of_somebody_else_starts_no_programs(hockney, measured):
    plan = Path("runs/t/plan.txt")
    before, study, after = plan.read_text().partition("study = ")
    plan.write_text(f'{before}mpiexec_args = "--mca a b"\n{study}{after}')
    reseal(Path("runs/t"))
    assert hockney("tune", "runs/t", "--out", "t").code == 0
    assert hockney("tune", "runs/t", "--out", "t", "--check").error.code == "check-of-foreign-run"


@pytest.mark.parametrize("name", ["chain#y", "../../chain"])
def test_an_algorithm_of_another_program_is_in_no_table_and_no_answer(hockney, measured, name):
    halve(Path("runs/t"), "algorithm=chain")
    for file in ("plan.txt", "catalog.json", "records.jsonl"):
        path = Path("runs/t", file)
        path.write_text(
            re.sub(r'algorithm=chain\b|"chain"', lambda m: m[0].replace("chain", name), path.read_text())
        )
    reseal(Path("runs/t"))
    done = hockney("tune", "runs/t", "--out", "t", "--json")
    assert done.error is None and name not in done.out
    assert name not in Path("t/hockney.choices").read_text()


def measured_again(low: float | None, high: float | None) -> TimeRatio:
    value = 1.2 if low is None or high is None else math.sqrt(low * high)
    return TimeRatio(Estimate(value, low, high), (1e-6, value * 1e-6))


def gain(
    size: int, kept: tuple[float | None, float | None], returned: tuple[float | None, float | None]
) -> Gain:
    return Gain(RULED, "bcast", 2, size, measured_again(*kept), measured_again(*returned))


@pytest.mark.parametrize(
    ("kept", "returned", "verdict"),
    [
        ((0.7, 0.9), (0.6, 0.8), "faster"),
        ((0.7, 0.9), (0.98, 1.03), "faster"),
        ((0.98, 1.03), (0.7, 0.9), "faster"),
        ((0.5, 0.6), (1.2, 1.4), "slower"),
        ((1.2, 1.4), (0.5, 0.6), "slower"),
        ((0.7, 0.9), (0.7, 1.3), "undecided"),
        ((0.7, 0.9), (None, None), "undecided"),
        ((0.98, 1.03), (0.98, 1.03), "not faster"),
        ((1.001, 1.012), (0.98, 1.08), "not faster"),
        ((0.99, 0.999), (0.98, 1.08), "not faster"),
        ((0.99, 1.01), (0.9, 1.01), "undecided"),
        ((None, None), (1.1, 1.3), "slower"),
    ],
)
def test_a_gain_must_hold_in_both_memories(kept, returned, verdict):
    each = gain(8, kept, returned)
    assert each.verdict == verdict
    assert each.has_intervals == (None not in (*kept, *returned))


def test_the_time_for_a_gain_that_is_small_at_best_is_that_which_excludes_a_notable_one():
    each = gain(8, (0.9, 1.1), (0.96, 1.04))
    middle = math.sqrt(0.9 * 1.1)
    assert each.verdict == "undecided"
    assert each.time_to_decide == pytest.approx((math.log(middle / 0.9) / math.log(1.05 * middle)) ** 2)


def check_finds(monkeypatch, gains: Callable[[api.Run], list[Gain]]) -> None:
    """A stand-in for launches with the tables, for which there is no MPI here."""
    monkeypatch.setattr(tune, "check_gains", lambda run, *words, **options: (run, gains(run)))


def test_what_a_check_refutes_is_removed_from_the_tables(hockney, measured, monkeypatch):
    """The rule is for 8 B and 4 KiB."""
    halve(Path("runs/t"), "algorithm=chain")
    faster, slower = (measured_again(low, high) for low, high in ((0.4, 0.6), (1.1, 1.5)))

    def found(at_8: TimeRatio, at_4096: TimeRatio) -> list[Gain]:
        places = {8: at_8, 4096: at_4096}
        return [Gain(PRELOADED, "bcast", 2, size, faster, ratio) for size, ratio in places.items()]

    words = ("tune", "runs/t", "--out", "tuned", "--check")
    check_finds(monkeypatch, lambda run: found(faster, slower))
    done = hockney(*words, "--json")
    document = json.loads(done.out)
    assert done.code == ExitCode.ANSWER_IS_NO
    assert document["removed"] == [{"of": "hockney", "operation": "bcast", "ranks": 2, "bytes": 4096}]
    assert [rule["sizes"] for rule in document["rules"]] == [[8]]
    table = Path("tuned/hockney.choices").read_text()
    assert "bcast ranks=2 bytes=8 algorithm=chain\n" in table and "4096" not in table
    assert f"# {removed_comment(1)}\n" in table

    check_finds(monkeypatch, lambda run: found(slower, slower))
    assert json.loads(hockney(*words, "--json").out)["rules"] == []
    check_finds(monkeypatch, lambda run: found(faster, faster))
    done = hockney(*words, "--json")
    assert done.code == 0 and json.loads(done.out)["removed"] == []
    assert "bytes=8:4096" in Path("tuned/hockney.choices").read_text()


def test_the_answer_of_a_check(hockney, measured, monkeypatch, golden):
    """Each size counts once: confirmed, slower in one memory or in both, undecided, not faster, too short."""
    kinds = [
        ((0.7, 0.9), (0.6, 0.8)),
        ((0.5, 0.6), (1.1, 1.5)),
        ((1.1, 1.2), (1.3, 1.5)),
        ((0.7, 0.9), (0.7, 1.2)),
        ((1.0, 1.01), (1.004, 1.012)),
        ((None, None), (0.7, 0.9)),
    ]
    halve(Path("runs/t"), "algorithm=chain")
    check_finds(monkeypatch, lambda run: [gain(8 << k, *each) for k, each in enumerate(kinds)])
    done = hockney("tune", "runs/t", "--out", "tuned", "--check")
    assert done.code == ExitCode.ANSWER_IS_NO
    golden("tune_check.txt", done.out)


def test_where_the_gains_hold_is_stated(hockney, measured):
    """In the table, and on the terminal."""
    none = hockney("tune", "--out", "tuned")
    assert memory_comment() not in Path("tuned/hockney.choices").read_text()
    halve(Path("runs/t"), "algorithm=chain")
    some = hockney("tune", "--out", "tuned")
    assert f"# {memory_comment()}\n" in Path("tuned/hockney.choices").read_text()
    said = kept_memory_text()
    assert said in " ".join(some.out.split()) and said not in " ".join(none.out.split())


def test_the_variables_are_those_of_the_engine():
    source = (Path(__file__).parents[2] / "engine" / "app" / "heap.cpp").read_text()
    assert "largest = 32 << 20;" in source and KEPT_VARIABLES[MMAP] == str(32 << 20)
    assert "mallopt(M_TRIM_THRESHOLD, INT_MAX)" in source and KEPT_VARIABLES[TRIM] == str(2**31 - 1)
    assert all(f'"{name}"' in source for name in RETURNED_VARIABLES), (
        "the engine leaves a configured heap alone"
    )


def test_rules_of_an_earlier_table_are_removed(hockney, measured):
    rules = Path("tuned/openmpi-rules.conf")
    assert hockney("tune", "--out", "tuned").code == 0
    comment = Path("tuned/hockney.choices").read_text().splitlines()[1]
    rules.write_text(f"{comment}\n0 # operations\n")
    assert hockney("tune", "--out", "tuned").code == 0 and not rules.exists()
    rules.write_text("# mine\n0\n")
    assert hockney("tune", "--out", "tuned").code == 0 and rules.exists()


@pytest.mark.parametrize("operation", ["scan", "allreduce"])
def test_settings_of_other_operations_are_left_out(hockney, monkeypatch, operation):
    """As on Open MPI: the study declares settings for all operations, scan has none."""
    monkeypatch.setattr(
        sys.modules[study.plan.__module__],
        "launch_settings",
        lambda options, machine: openmpi.forcing_settings(),
    )
    monkeypatch.setattr(study, "launch_settings", lambda options, machine: openmpi.forcing_settings())
    done = hockney("plan", "tuning", f"operations={operation}", "--ranks", "2", "--sizes", "8", "--cases")
    assert done.code == 0, done.err
    settings = {word for line in done.out.splitlines() for word in line.split() if "setting=" in word}
    forced = openmpi.settings_of_operation(operation, 2)
    assert settings == ({f"setting={name}" for name in ("plain", *forced)} if forced else set())
