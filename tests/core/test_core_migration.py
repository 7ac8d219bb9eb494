# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Lines of schema 1 are read with unchanged numbers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hockney.core.migration import upgraded_case, upgraded_fits, upgraded_survey
from hockney.core.record import SCHEMA, Close, Failure, Launch, Record, decode_line, encode_line

RAW = (Path(__file__).parents[2] / "contract/golden/records_schema1.jsonl").read_bytes().splitlines()
LINES = [decode_line(raw) for raw in RAW]


def test_every_kind_of_line_is_read():
    assert {type(line) for line in LINES} == {Launch, Record, Failure, Close}
    assert {line.schema for line in LINES} == {SCHEMA}
    assert all(decode_line(encode_line(line)) == line for line in LINES)


@pytest.mark.parametrize("raw", RAW, ids=lambda raw: json.loads(raw)["kind"])
def test_no_other_number_changes(raw):
    old = json.loads(raw)
    new = json.loads(encode_line(decode_line(raw)))
    for name in old.keys() - {"schema", "work", "ranks", "case", "verified"}:
        assert new[name] == old[name], name
    assert new.get("verified", {}).items() >= old.get("verified", {}).items()


def test_work_becomes_metrics_and_a_label():
    for raw, line in zip(RAW, LINES, strict=True):
        if not isinstance(line, Record):
            continue
        work = json.loads(raw).get("work")
        if work is None:
            assert line.metrics == {} and line.labels == {} and line.metric("work") is None
            continue
        assert line.metric("work") == work["preset_s"]
        assert line.metric("work_error") == work["error"]
        assert line.metric("imbalance") == work.get("imbalance", 1.0)
        assert line.labels == {"work_clock": work.get("clock", "thread")}
        assert {(s.over_ranks, s.per, s.phase) for s in line.metrics.values()} == {("max", "record", False)}


def test_a_collective_was_mpis_own():
    cases = [line.case for line in LINES if isinstance(line, Record)]
    assert "allreduce algorithm=mpi buffers=hot bytes=8 ranks=2 sync=window" in cases
    old = "scan buffers=hot bytes=8 ranks=2 sync=loop"
    assert upgraded_case(old) == "scan algorithm=mpi buffers=hot bytes=8 ranks=2 sync=loop"
    for line in (*cases, upgraded_case(old), "barrier ranks=2"):
        assert upgraded_case(line) == line


def test_a_rank_is_on_the_node_of_its_host():
    launch = next(line for line in LINES if isinstance(line, Launch))
    assert [rank.node for rank in launch.ranks] == [rank.host for rank in launch.ranks]


def test_the_preferred_form_becomes_a_field():
    fit = {"model": "linear", "subject": "bcast sync=loop", "parameters": [], "verdict": "good"}
    old = {
        "schema": 1,
        "summaries": [{"case": "bcast bytes=8 ranks=2"}],
        "fits": [fit | {"why": "preferred: it describes the times better"}, fit | {"why": "no"}],
    }
    for new in (upgraded_fits(old), upgraded_survey({"schema": 1, "fits": old, "where": "runs/x"})["fits"]):
        assert [fit["preferred"] for fit in new["fits"]] == [True, False]
        assert new["fits"][0]["subject"] == "bcast algorithm=mpi sync=loop"
        assert new["summaries"][0]["case"] == "bcast algorithm=mpi bytes=8 ranks=2"
        assert new["schema"] == SCHEMA


def test_whether_ranks_are_bound_was_the_beginning_of_a_text():
    line = next(json.loads(raw) for raw in RAW if json.loads(raw)["kind"] == "launch")
    for binding, bound in (("rank i on core i", True), ("none: more ranks than cores", False), ("", None)):
        assert decode_line(json.dumps(line | {"binding": binding}).encode()).bound is bound
