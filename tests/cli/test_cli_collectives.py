# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney run collectives, end to end on the fake machine."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from golden_files import numbers, replaced

RUN = ("run", "collectives", "operations=bcast,scan", "eager=64KiB", "--ranks", "2", "--sizes", "8,64KiB")
MORE = ("--budget", "5s", "--seed", "1", "-q")


@pytest.mark.page
def test_a_run_has_its_answer_document_and_page(hockney, golden):
    done = hockney(*RUN, *MORE, "--out", "runs/collectives")
    assert done.code == 0, done.err
    headline = done.out.split("\n\nwarning")[0]
    golden("run_collectives.txt", headline, numbers, replaced(r" is best here|none of those tried", "N"))
    document = json.loads(hockney("resume", "runs/collectives", "--json").out)
    points = document["answer"]["collectives"]
    assert {(p["operation"], p["buffer_bytes"]) for p in points} == {
        (name, size) for name in ("bcast", "scan") for size in (8, 65536)
    }
    assert all(p["ratio_low"] <= p["ratio"] <= p["ratio_high"] for p in points)
    (limit,) = document["answer"]["eager_limits"]
    assert limit["limit_bytes"] == 65536 and limit["ratio_high"] < 1
    assert document["answer"]["best_eager_limit_bytes"] == 65536
    launched = [json.loads(line) for line in Path("runs/collectives/records.jsonl").read_text().splitlines()]
    settings = {x["setting"]: x["variables"] for x in launched if x["kind"] == "launch"}
    assert settings == {"": {}, "eager-own": {}, "eager-65536": {"FAKE_EAGER_LIMIT": "65536"}}
    text = Path("runs/collectives/report.html").read_text()
    assert "MPI_Bcast" in text and "FAKE_EAGER_LIMIT=65536" in text, "the page lists the settings"


def test_a_plan_can_be_seen_first(hockney):
    done = hockney("plan", *RUN[1:], "--cases")
    assert done.code == 0, done.err
    assert sum("setting=eager-65536" in line for line in done.out.splitlines()) == 10
