# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The fast reproductions through smpirun, 1 to 16 simulated ranks: their limits, and that they are
reported."""

from __future__ import annotations

import json

import pytest
from real_mpi import simgrid_here

from hockney.cli.errors import guarded
from hockney.reproductions import sun

pytestmark = pytest.mark.simgrid


@pytest.fixture(scope="module")
def reproduced(tmp_path_factory):
    """reproduced("sun"): the document of `hockney reproduce sun --json`, computed once."""
    simgrid_here()
    folder = tmp_path_factory.mktemp("reproduced")
    made: dict[str, dict] = {}

    def once(name: str, capsys: pytest.CaptureFixture[str]) -> dict:
        if name not in made:
            capsys.readouterr()
            code = guarded(["reproduce", name, "--out", str(folder / name), "--json", "-q"])
            caught = capsys.readouterr()
            assert code in (0, 1), caught.err
            (document,) = json.loads(caught.out)["reproductions"]
            made[name] = document | {"code": code}
        return made[name]

    return once


@pytest.mark.parametrize("name", ["ethernet", "sun"])
def test_every_limit_holds(reproduced, capsys, name):
    document = reproduced(name, capsys)
    assert [limit["found"] for limit in document["limits"] if not limit["holds"]] == []
    assert document["code"] == 0 and document["left"] == 0


def errors(document: dict, status: str, start: str = "") -> dict[str, float]:
    rows = [row for row in document["compared"] if row["status"] == status and row["key"].startswith(start)]
    return {row["key"]: row["error"] for row in rows if not start or row["table"]}


def test_the_exchange_is_right_at_a_hundred_words_for_its_bus_alone(reproduced, capsys):
    """At L = 100, whole messages taking turns, and slipping apart, are visible; starting with a barrier is
    good enough."""
    document = reproduced("sun", capsys)
    key = "granularity/formula/exchange/4/100"
    found = {row["mechanism"]: row["error"] for row in document["compared"] if row["key"] == key}
    assert abs(found.pop("")) < 0.03
    assert abs(found.pop(sun.VARIANTS["barrier"][2])) < 0.03
    assert len(found) > 1 and all(error < -0.04 for error in found.values()), found


def test_a_switch_would_make_barriers_far_too_fast(reproduced, capsys):
    found = errors(reproduced("ethernet", capsys), "variant")
    assert all(error < -0.8 for error in found.values()) and len(found) == 8
