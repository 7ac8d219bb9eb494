# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Two settings of MPI compared in one run."""

from __future__ import annotations

import json
from pathlib import Path

EAGER = "eager64k FAKE_EAGER_LIMIT=65536"
RUN = ("run", "pingpong bytes=1KiB,16KiB setting=default,eager64k", "--budget", "5s", "--seed", "1", "-q")


def test_both_settings_are_measured_and_shown(hockney):
    done = hockney(*RUN, "--setting", EAGER, "--out", "runs/both", "--json")
    assert done.code == 0, done.err
    times = {s["case"]: s["typical"]["value"] for s in json.loads(done.out)["summaries"]}
    assert len(times) == 4
    long = "pingpong buffers=hot bytes=16384 ranks=2"
    assert times[f"{long} setting=eager64k"] < 0.7 * times[long]
    shown = hockney("report", "runs/both")
    assert shown.code == 0, shown.err
    table = hockney(*RUN, "--setting", EAGER, "--columns", "typical").out
    assert "eager64k" in table and "default" in table


def test_a_setting_survives_resume(hockney):
    hockney(*RUN, "--setting", EAGER, "--out", "runs/short", "--launches", "3")
    records = Path("runs/short/records.jsonl")
    records.write_text("")
    resumed = hockney("resume", "runs/short", "--machine", "fake", "-q", "--json")
    assert resumed.code == 0, resumed.err
    assert sum("setting=eager64k" in line for line in records.read_text().splitlines()) == 6
