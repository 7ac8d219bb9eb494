# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""--columns: the metrics of other benchmarks, in tables, in JSON and in exports, by their definitions."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from hockney import api, measurement
from hockney.cli.output.results import SIMULATED_TEXT, cell_text
from hockney.core.fit import Estimate
from hockney.models.statistics.metrics import message_rate
from hockney.pages.case_columns import COLUMNS
from hockney.pages.evidence import MeasuredCase


def records_of(run: str, words: str) -> list[dict]:
    lines = map(json.loads, Path(run, "records.jsonl").read_text().splitlines())
    return [
        line for line in lines if line["kind"] == "record" and set(words.split()) <= set(line["case"].split())
    ]


def summaries(said) -> dict[str, dict]:
    return {summary["case"].split()[0]: summary for summary in json.loads(said.out)["summaries"]}


def test_quantiles_are_those_of_all_repetitions(hockney):
    said = hockney(
        "run", "pingpong", "bytes=8", "--launches", "3", "--seed", "2", "--out", "r", "--json", "-q"
    )
    [summary] = summaries(said).values()
    records = records_of("r", "pingpong")
    pooled = np.concatenate([record["times_s"] for record in records])
    assert summary["min_s"] == pooled.min() and summary["max_s"] == pooled.max()
    for name, percent in (("p50_s", 50), ("p95_s", 95), ("p99_s", 99)):
        assert summary[name] == pytest.approx(np.percentile(pooled, percent))
    operations = sum(record["batch"] * len(record["times_s"]) for record in records)
    seconds = sum(record["batch"] * sum(record["times_s"]) for record in records)
    assert summary["operations"] == operations
    assert summary["mean_s"] == pytest.approx(seconds / operations)


NCCLS = {
    "allreduce": (1024, 1.5),
    "allgather": (4096, 0.75),
    "alltoall": (4096, 0.75),
    "reduce_scatter_block": (4096, 0.75),
    "scatter": (4096, 0.75),
    "gather": (4096, 0.75),
    "bcast": (1024, 1.0),
    "reduce": (1024, 1.0),
    "round_robin": (1024, 1.0),
}
"""Size and factor of 1024 bytes as in doc/PERFORMANCE.md and src/*.cu of nccl-tests, for four ranks."""
RATES = {"pingpong": 1, "stream": 1, "stream_both": 2}
"""Messages in a typical time: those of both directions count."""


def test_bandwidths_of_four_ranks_are_nccls_and_rates_those_of_messages(hockney):
    cases = (*(f"{name} bytes=1024 ranks=4" for name in NCCLS), *(f"{name} bytes=8" for name in RATES))
    without = ("scan bytes=8", "barrier", "bisection bytes=8")
    made = summaries(hockney("run", *cases, *without, "--launches", "3", "--json", "-q"))
    typical = {name: summary["typical"]["value"] for name, summary in made.items()}
    for name, (whole, factor) in NCCLS.items():
        assert made[name]["algbw_bytes_per_s"] == pytest.approx(whole / typical[name])
        assert made[name]["busbw_bytes_per_s"] == pytest.approx(factor * whole / typical[name])
        assert made[name]["rate_per_s"] is None
    assert {name: made[name]["rate_per_s"] * typical[name] for name in RATES} == pytest.approx(RATES)
    both = made["stream_both"]
    assert both["algbw_bytes_per_s"] == pytest.approx(both["bytes_moved"] / 2 / typical["stream_both"])
    assert [made[line.split()[0]]["busbw_bytes_per_s"] for line in without] == [None] * 3


def test_the_rate_of_many_pairs_is_that_of_all_their_messages():
    groups = {w.name: w for catalog in measurement.bundled_groups() for w in catalog.workloads}
    rates = {w: message_rate(groups[w], 2e-6) for w in ("pairs_stream", "many_to_one", "queue_depth")}
    assert rates == {"pairs_stream": 5e5, "many_to_one": 5e5, "queue_depth": None}


def test_a_table_has_the_columns_chosen_and_no_others(hockney):
    chosen = ("--columns", "p99,min,busbw,min")
    said = hockney("run", "pingpong bytes=8,64", "--out", "r", "-q", *chosen)
    head, *rows = said.out.split("\n\n")[1].splitlines()
    assert [word for word in head.split() if "(" not in word] == ["bytes", "p99", "min", "busbw"]
    assert "launches" in hockney("resume", "r", "-q", "--columns", "launches").out.split("\n\n")[1]
    again = hockney("resume", "r", "-q", *chosen).out.split("\n\n")[1].splitlines()
    assert again == [head, *rows], "also of a run that is complete"


def test_a_survey_has_a_table_where_columns_are_chosen(hockney):
    words = ("survey", "-q", "--ranks", "2", "--sizes", "8,64", "--budget", "2s", "--seed", "1")
    assert "p99" not in hockney(*words).out
    said = hockney(*words, "--columns", "p99").out
    assert "p99" in said and "allreduce algorithm=mpi ranks=2" in said


def test_an_export_has_the_same_numbers_by_name(hockney, mine):
    rows = list(csv.DictReader(io.StringIO(hockney("export", mine, "--what", "summaries", "--csv", "-").out)))
    fits = json.loads(Path(mine, "fits.json").read_text())
    names = ("min_s", "mean_s", "p50_s", "p95_s", "p99_s", "max_s", "algbw_bytes_per_s", "busbw_bytes_per_s",
             "rate_per_s", "operations")  # fmt: skip
    for row, summary in zip(rows, fits["summaries"], strict=True):
        assert {n: float(row[n]) if row[n] else None for n in names} == {n: summary[n] for n in names}


def test_every_column_is_documented():
    page = (Path(__file__).parents[2] / "docs" / "columns.md").read_text()
    assert [name for name in COLUMNS if f"`{name}`" not in page] == []


def test_a_time_of_a_machine_without_noise_is_exact(hockney, mine):
    """Not a time with an unknown interval."""
    measured = api.load(Path(mine)).evidence.measured[0]
    summary = replace(measured.summary, typical=Estimate(1e-6, None, None))
    measured = MeasuredCase(measured.case, summary, measured.workload)
    assert cell_text(measured, COLUMNS["interval"], exact=True) == SIMULATED_TEXT
    assert cell_text(measured, COLUMNS["interval"], exact=False) == "unknown"
