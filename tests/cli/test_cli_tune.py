# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney run tuning and hockney tune, from command line to files, on the fake machine."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from resealed import reseal

from hockney import api
from hockney.api.tuning import Gain, messages
from hockney.api.tuning.check import RULED
from hockney.cli.verbs import tune
from hockney.core.fit import Estimate
from hockney.models.tuning import openmpi
from hockney.models.tuning.points import TABLED
from hockney.studies import tuning as study

QUICK = ("--sizes", "8,4KiB", "--ranks", "2", "--seed", "1", "-q")


@pytest.fixture
def measured(hockney):
    done = hockney("run", "tuning", "operations=bcast,allreduce", *QUICK, "--out", "runs/t")
    assert done.code == 0, done.err
    return done


def test_it_measures_every_algorithm(hockney):
    done = hockney("plan", "tuning", "--cases", "--ranks", "2", "--sizes", "8")
    cases = done.out.splitlines()
    assert {case.split()[0] for case in cases} == set(TABLED)
    assert sum("algorithm=mpi" in case for case in cases) == len(TABLED)
    assert any(case.startswith("scan ") and "algorithm=linear" in case for case in cases)
    assert not any("setting=" in case for case in cases)  # no mpiexec starts these ranks


def test_where_nothing_is_faster_the_tables_are_empty(hockney, measured):
    """On the fake machine all algorithms take the same time."""
    done = hockney("tune", "--out", "tuned", "--json")
    assert done.code == 0, done.err
    document = json.loads(done.out)
    assert document == {"files": ["tuned/hockney.choices"], "rules": [], "gains": []}
    lines = Path("tuned/hockney.choices").read_text().splitlines()
    assert lines[0] == "hockney-choices 1" and all(line.startswith("#") for line in lines[1:])


def test_a_faster_algorithm_is_in_the_table(hockney, measured):
    """The records of one algorithm, changed to half of their times."""
    halve(Path("runs/t"), "algorithm=chain")
    done = hockney("tune", "runs/t", "--out", "tuned", "--json")
    (rule,) = json.loads(done.out)["rules"]
    assert (rule["of"], rule["operation"], rule["ranks"]) == ("hockney", "bcast", 2)
    assert (rule["algorithm"], rule["sizes"]) == ("chain", [8, 4096])
    for ratio in rule["ratios"]:
        assert ratio["low"] < 0.5 < ratio["high"] < 0.95
    assert "bcast ranks=2 bytes=8:4096 algorithm=chain\n" in Path("tuned/hockney.choices").read_text()
    none = hockney("tune", "runs/t", "--out", "tuned", "--effect", "60%", "--json")
    assert json.loads(none.out)["rules"] == []


def halve(run: Path, word: str) -> None:
    """Change the times of some cases, and the checksums too."""
    lines = []
    for line in (run / "records.jsonl").read_text().splitlines():
        record = json.loads(line)
        record.pop("sum", None)
        if word in record.get("case", "").split() and "times_s" in record:
            record["times_s"] = [time / 2 for time in record["times_s"]]
        lines.append(json.dumps(record, separators=(",", ":")) + "\n")
    (run / "records.jsonl").write_text("".join(lines))
    reseal(run)


@pytest.mark.page
def test_the_page_has_the_ratios(hockney, measured):
    page = api.load(Path("runs/t")).page
    tables = {table.name: table for section in page.sections for table in section.tables}
    algorithms = {row[3] for row in tables["ratios-hockney"].rows}
    assert {"chain", "ring", "rabenseifner"} <= algorithms and "mpi" not in algorithms


def test_mistakes(hockney, measured):
    assert hockney("tune", "--out", "t", "--library", "x").error.code == "library-without-check"
    assert hockney("tune", "--out", "t", "--check").error.code == "no-rules-to-check"
    assert hockney("tune", "runs/t", "--out", "runs/t/plan.txt").code == 3
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


def test_a_check_names_what_it_refutes_and_what_it_leaves_out():
    gain, loss, open_ = (
        Gain(RULED, "bcast", 2, size, Estimate(value, low, high), (1e-6, value * 1e-6))
        for size, value, low, high in ((8, 0.8, 0.7, 0.9), (64, 1.3, 1.1, 1.5), (512, 0.9, 0.7, 1.2))
    )
    assert [each.faster for each in (gain, loss, open_)] == [True, False, False]
    assert [each.slower for each in (gain, loss, open_)] == [False, True, False]
    assert list(tune._verdict([gain, open_], unchecked=False)) == [messages.gains_confirmed(1, 2)]
    assert list(tune._verdict([loss], unchecked=True)) == [
        messages.gains_confirmed(0, 1),
        messages.rules_slower(["bcast of 64 B (openmpi-rules.conf)"]),
        messages.choices_unchecked(),
    ]


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
        sys.modules[study.plan.__module__], "launch_settings", lambda options, machine: openmpi.forcing()
    )
    monkeypatch.setattr(study, "launch_settings", lambda options, machine: openmpi.forcing())
    done = hockney("plan", "tuning", f"operations={operation}", "--ranks", "2", "--sizes", "8", "--cases")
    assert done.code == 0, done.err
    settings = {word for line in done.out.splitlines() for word in line.split() if "setting=" in word}
    forced = openmpi.forced(operation, 2)
    assert settings == ({f"setting={name}" for name in ("plain", *forced)} if forced else set())
