# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney predict: which run the cost of messages is taken from."""

from __future__ import annotations

import json
import os
import re
import socket
from pathlib import Path

import pytest
from resealed import reseal
from test_cli_predict import ASKED, asked, newest

from hockney import api
from hockney.api import find_runs
from hockney.api.find_runs import other_machine_text, skipped_survey
from hockney.core.notice import Notice
from hockney.core.wording import as_flags
from hockney.discovery.cpu import processors
from hockney.models.applications.granularity import Algorithm
from hockney.store import RunFolder


@pytest.mark.slow
def test_the_newest_survey_is_taken_and_told(hockney, surveyed, small_survey, tmp_path):
    said = hockney(*ASKED)
    assert said.code == 0 and said.err == newest("runs/first")
    assert "runs/first" in said.out and "runs/first" in asked(hockney, *ASKED)["machine"]["source"]
    assert hockney(*ASKED, "-q").err == ""
    small_survey("runs/second")
    assert hockney("run", "pingpong bytes=0:1KiB", "-q", "--out", "runs/other").code == 0
    assert hockney(*ASKED).err == newest("runs/second"), "other is no survey"
    for age, name in enumerate(("first", "second")):
        os.utime(tmp_path / "runs" / name / "records.jsonl", (10**9 - age, 10**9 - age))
    assert hockney(*ASKED).err == newest("runs/first")
    machine = tmp_path / "runs" / "first" / "machine.json"
    machine.write_text(machine.read_text().replace('"origin": "fake"', '"origin": "simulated"'))
    reseal(machine.parent)
    assert hockney(*ASKED).err == newest("runs/second"), "first is of no machine here"
    machine.write_text("{")
    assert hockney(*ASKED).err == newest("runs/second"), "damaged ones are passed by"


def noted_codes(**options) -> list[str]:
    heard: list[object] = []
    api.predict(Algorithm(1e-4, 40_000), listen=heard.append, **options)
    return [event.code for event in heard if isinstance(event, Notice)]


@pytest.mark.slow
def test_a_survey_that_is_used_instead_of_a_much_longer_one_is_noted(hockney, small_survey, tmp_path):
    small_survey("runs/long")
    plan = tmp_path / "runs" / "long" / "plan.txt"
    small_survey("runs/short")
    budget_s = RunFolder.open(Path("runs/short")).plan().settings.budget_s

    def last(factor: float) -> list[str]:
        plan.write_text(
            re.sub(r"budget_s = .*", f"budget_s = {factor * budget_s}", plan.read_text(), count=1)
        )
        reseal(plan.parent)
        os.utime(plan.with_name("records.jsonl"), (10**9, 10**9))  # still the older one
        return noted_codes()

    assert last(find_runs.LONGER_BUDGET_FACTOR) == ["longer-survey"]
    assert last(find_runs.LONGER_BUDGET_FACTOR - 1) == [], "hardly longer"


def test_a_newer_survey_of_another_machine_is_passed_by(hockney, surveyed, small_survey, tmp_path):
    small_survey("runs/other")
    machine = tmp_path / "runs" / "other" / "machine.json"
    fake = json.loads(machine.read_text())

    def made_on(host: str, cpu: str) -> None:
        machine.write_text(json.dumps({**fake, "kind": "real", "traits": {}, "host": host, "cpu": cpu}))
        reseal(machine.parent)

    here = socket.gethostname(), processors().model
    made_on(*here)
    assert hockney(*ASKED).err == newest("runs/other")
    for host, cpu in ((f"not-{here[0]}", here[1]), (here[0], "Z80")):
        made_on(host, cpu)
        with as_flags():
            note = skipped_survey(other_machine_text("runs/other", host)).text
        assert hockney(*ASKED).err == newest("runs/first") + f"note: {note}\n"
    (tmp_path / "runs" / "first" / "records.jsonl").unlink()
    alone = hockney(*ASKED)
    assert (alone.code, alone.error.code) == (4, "no-survey") and "runs/other" in alone.error.why
    assert hockney(*ASKED, "--run", "runs/other").code == 0


def test_any_run_with_a_ping_pong_will_do(hockney, mine):
    assert "runs/mine" in asked(hockney, *ASKED, "--run", mine)["machine"]["source"]
    assert hockney("run", "barrier", "--out", "runs/none", "-q").code == 0
    done = hockney(*ASKED, "--run", "runs/none")
    assert (done.code, done.error.code, done.error.fields["refused"]) == (4, "no-message-model", "")
    assert hockney("run", "pingpong bytes=8", "--out", "runs/single", "-q").code == 0
    done = hockney(*ASKED, "--run", "runs/single")
    assert (done.code, done.error.code) == (4, "no-message-model") and done.error.fields["refused"]
