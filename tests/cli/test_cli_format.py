# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""--format osu and plain: lines that scripts for OSU's output can parse; --like."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from msgspec.structs import replace
from real_mpi import group_for, mpi_named

from hockney import api
from hockney.cli.output.stream import Stream
from hockney.core.record import RunRecords
from hockney.measurement import CasesChosen, CaseSettled
from hockney.models.statistics import Observation, summarise


def awk(program: str, text: str) -> list[str]:
    tool = shutil.which("awk")
    if tool is None:
        pytest.skip("awk is missing")
    done = subprocess.run([tool, program], input=text, capture_output=True, text=True, check=True)
    return done.stdout.split()


def summaries(run: str) -> dict[str, dict]:
    with open(f"{run}/fits.json") as file:
        return {summary["case"]: summary for summary in json.load(file)["summaries"]}


def test_awk_finds_the_latency_of_a_size(hockney):
    said = hockney("run", "pingpong", "bytes=0:64", "--format", "osu", "--out", "r", "--launches", "3", "-q")
    assert (said.code, said.err) == (0, "")
    typical = summaries("r")["pingpong buffers=hot bytes=8 ranks=2"]["typical"]["value"]
    assert awk("$1==8 {print $2}", said.out) == [f"{1e6 * typical:.2f}"]
    assert awk("!/^#/ && NF {print $1}", said.out) == ["0", "1", "2", "4", "8", "16", "32", "64"]
    title, case, head, first = said.out.splitlines()[1:5]
    assert re.fullmatch(r"# OSU MPI Latency Test v\S+", title) and "pingpong" in case
    assert head == "# Size       Avg Latency(us)" and re.fullmatch(r"0 {23}\d\.\d\d", first)


def test_bandwidths_are_in_megabytes(hockney):
    words = ("stream bytes=8,1MiB", "stream_both bytes=1MiB")
    said = hockney("run", *words, "--format", "osu", "--out", "r", "--launches", "3", "-q")
    found = [float(value) for value in awk("$1==1048576 {print $2}", said.out)]
    for value, name in zip(found, ("stream", "stream_both"), strict=True):
        summary = summaries("r")[f"{name} buffers=hot bytes=1048576 ranks=2 window=16"]
        assert value == pytest.approx(summary["bytes_moved"] / summary["typical"]["value"] / 1e6, abs=0.01)
    assert "# OSU MPI Bandwidth Test v" in said.out
    assert "# OSU MPI Bi-Directional Bandwidth Test v" in said.out
    assert said.out.count("# Size      Bandwidth (MB/s)\n") == 2


def test_collectives_have_minimum_maximum_and_iterations_on_request(hockney):
    said = hockney(
        "run", "allreduce bytes=8,64", "--format", "osu", "-f", "--out", "r", "--launches", "3", "-q"
    )
    assert "# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations\n" in said.out
    size, average, low, high, count = awk("$1==8", said.out)
    summary = summaries("r")["allreduce algorithm=mpi buffers=hot bytes=8 ranks=2 sync=barrier"]
    assert int(size) == 8 and int(count) == summary["operations"]
    seconds = (summary["typical"]["value"], summary["min_s"], summary["max_s"])
    assert [average, low, high] == [f"{1e6 * each:.2f}" for each in seconds]


def test_a_barrier_has_no_size(hockney):
    """The last line is the number: `osu_barrier | tail -n 1`."""
    said = hockney("run", "barrier", "--format", "osu", "--out", "r", "--launches", "3", "-q")
    *_, head, last = said.out.splitlines()
    assert head == "# Avg Latency(us)" and len(last) == 17
    [summary] = summaries("r").values()
    assert float(last) == pytest.approx(1e6 * summary["typical"]["value"], abs=0.005)


def test_what_is_no_result_goes_to_stderr(hockney):
    said = hockney("run", "pingpong", "bytes=8", "--format", "osu", "--out", "r")
    assert "warning: " in said.err and "r/report.html" in said.err
    assert "warning" not in said.out and "report" not in said.out


@pytest.mark.parametrize("style", ["plain", "osu"])
def test_numbers_without_a_narrow_interval_are_named_on_stderr(hockney, monkeypatch, style):
    """Lines have no intervals. Without `--format` the table has them."""
    words = ("run", "pingpong bytes=8,16,32", "--launches", "3")
    assert "factor of 2" not in hockney(*words, "--format", style).err
    ends = {8: (float("nan"), float("nan")), 16: (0.9, 1.9), 32: (0.6, 1.1)}

    def interval(seen: Observation) -> tuple[float, float, float]:
        low, high = ends[seen.case.bytes]
        return 1e-6, 1e-6 * low, 1e-6 * high

    monkeypatch.setattr(Observation, "interval", interval)
    said = hockney(*words, "--format", style)
    [line] = [line for line in said.err.splitlines() if "factor of 2" in line]
    assert re.findall(r"(\d+) of (\d+) case", line) == [("2", "3")]
    assert "bytes=8 " in line and "bytes=16 " in line and "bytes=32 " not in line
    assert "factor of 2" not in said.out and "factor of 2" not in hockney(*words).err


def test_plain_lines_have_the_columns_chosen(hockney):
    words = ("run", "pingpong bytes=0,8", "scan bytes=8", "--launches", "3", "-q", "--format", "plain")
    said = hockney(*words, "--out", "r")
    seconds = summaries("r")["pingpong buffers=hot bytes=8 ranks=2"]["typical"]["value"]
    [_, time, bandwidth], [*_] = (line.split() for line in said.out.splitlines() if line.startswith("8 "))
    assert float(time) == pytest.approx(1e6 * seconds, rel=1e-5)
    assert float(bandwidth) == pytest.approx(8 / seconds / 1e6, rel=1e-5)
    said = hockney(*words, "--columns", "p99,busbw")
    rows = [line.split() for line in said.out.splitlines() if not line.startswith("#")]
    assert [len(row) for row in rows] == [3, 3, 3] and rows[0][2] == rows[2][2] == "-"
    assert "# bytes" in said.out and "p99(us)" in said.out and "busbw(MB/s)" in said.out


def test_what_osu_lacks_is_answered_with_what_can_be_typed(hockney):
    error = hockney("run", "scan bytes=8", "--format", "osu", "-q").error
    names = error.fields["available"]
    assert {"pingpong", "stream", "stream_both", "allreduce", "barrier"} <= set(names)
    words = ("--format", "osu", "--ranks", "2", "--launches", "1", "--out", "r", "-q")
    done = hockney("run", *names, *words)
    assert done.error is None and done.out.count("# OSU MPI ") >= len(names)


def test_workloads_that_osu_lacks_are_refused_before_an_mpi_is_looked_for(hockney, tmp_path):
    """So nothing is compiled either, though the engine does not contain this workload."""
    said = hockney(
        "run", "overlap operation=ibcast", "--format", "osu", "--machine", "", "--mpi", "/no/such/mpi"
    )
    assert (said.code, said.error.code) == (2, "no-osu-benchmark")
    assert "pingpong" in said.error.fields["available"] and said.err.count("\n") == 1


def test_a_case_without_a_result_holds_up_no_other(hockney):
    words = ("run", "pingpong bytes=8,16,32", "--machine", "fake:refuse=bytes=16", "--launches", "3")
    said = hockney(*words, "--format", "osu", "-q")
    assert said.code == 4 and awk("!/^#/ && NF {print $1}", said.out) == ["8", "32"]


class Recorded:
    """A style that only shows the size, and keeps what it shows."""

    def __init__(self):
        self.shown = []

    def check(self, workload):
        pass

    def heading(self, first):
        return [f"# {first.case.workload}"]

    def line(self, measured):
        self.shown.append(measured.summary)
        return f"{measured.size:g}"


def test_lines_come_as_soon_as_cases_are_over_and_in_the_order_asked(hockney, mine):
    run = api.load(Path(mine))
    cases = [m.case for m in run.evidence.measured if m.case.workload == "pingpong"]
    lines: list[str] = []
    stream = Stream(Recorded(), lines.append)
    stream(CasesChosen(tuple(cases), tuple(run.fits.workloads)))
    for case in reversed(cases[1:]):
        stream(CaseSettled(case, run.reading.run))
    assert lines == []
    stream(CaseSettled(cases[0], run.reading.run))
    assert lines == ["# pingpong", *(f"{case.bytes}" for case in cases)]


def test_a_line_has_the_typical_time_of_the_report(hockney, mine):
    """Which depends on other cases if later launches, without this one, were slower."""
    run = api.load(Path(mine))
    of = run.reading.run
    early, *others = (m.case for m in run.evidence.measured if m.case.workload == "pingpong")
    late = {launch.launch for launch in of.launches[len(of.launches) // 2 :]}
    records = tuple(
        replace(each, times_s=[3 * t for t in each.times_s]) if each.launch in late else each
        for each in of.records
        if each.case != early.line or each.launch not in late
    )
    changed = RunRecords(launches=of.launches, records=records)
    style = Recorded()
    stream = Stream(style, lambda line: None)
    stream(CasesChosen((early, *others), tuple(run.fits.workloads)))
    stream(CaseSettled(early, changed))
    (shown,) = style.shown
    (expected,) = (s for s in summarise(changed, run.evidence.catalog) if s.case == early.line)
    assert shown.typical == expected.typical and shown.inferred_launches == len(late)


def planned(hockney, *words):
    said = hockney("plan", *words, "--json")
    assert said.code == 0, said.err
    return json.loads(said.out)["cases"], said.err


def test_the_case_of_a_benchmark_is_planned_and_named(hockney):
    cases, notes = planned(hockney, "--like", "IMB-RMA/unidir_PUT", "bytes=8")
    assert cases == ["put bytes=8 direction=one epoch=flush memory=create operations=1 ranks=2"]
    assert "put epoch=flush memory=create ranks=2 bytes=8" in notes and "IMB-RMA/Unidir_put" in notes


def test_the_sizes_are_those_of_the_benchmark_unless_others_are_given(hockney):
    cases, _ = planned(hockney, "--like", "osu_bw")
    assert len(cases) == 23 and all("window=64" in case for case in cases)
    assert [case.split()[2] for case in (cases[0], cases[-1])] == ["bytes=1", "bytes=4194304"]
    cases, _ = planned(hockney, "--like", "osu_bw", "window=4", "--sizes", "8,64")
    assert cases == [f"stream buffers=hot bytes={size} ranks=2 window=4" for size in (8, 64)]


def test_several_benchmarks_and_ranks(hockney):
    cases, notes = planned(
        hockney, "--like", "osu_ibcast", "--like", "osu_barrier", "--ranks", "3", "--sizes", "8"
    )
    assert [case.split()[0] for case in cases] == ["overlap", "barrier"]
    assert all("ranks=3" in case for case in cases) and notes.count("note:") == 2


def test_a_benchmark_is_run(hockney):
    said = hockney("run", "--like", "osu_latency", "bytes=0,8", "--format", "osu", "--out", "r", "-q")
    assert (said.code, said.err) == (0, "")
    assert [line.split()[0] for line in said.out.splitlines() if line and not line.startswith("#")] == [
        "0",
        "8",
    ]


@pytest.mark.slow
@pytest.mark.mpi
def test_some_are_measured_with_real_ranks(hockney, monkeypatch):
    """One of each kind of group, in one run; what ranks receive is verified. A coarse precision ends each
    case early, and the budget is enough on a busy machine."""
    mpi = mpi_named("openmpi")
    for group in ("hockney-messages", "hockney-nonblocking", "hockney-onesided"):
        group_for(mpi, group)
    monkeypatch.delenv("HOCKNEY_MACHINE")
    names = ("IMB-MPI1/Exchange", "osu_ialltoallv", "IMB-RMA/All_put_all", "IMB-NBC/Iscatterv_pure")
    words = [word for name in names for word in ("--like", name)]
    said = hockney(
        "run",
        *words,
        "bytes=8,4KiB",
        "--mpi",
        mpi.prefix,
        "--budget",
        "90s",
        "--precision",
        "50%",
        "--launches",
        "1",
        "--json",
        "-q",
    )
    document = json.loads(said.out)
    assert {s["case"].split()[0] for s in document["summaries"]} == {
        "halo", "overlap_vector", "put_many", "iscatterv",
    }  # fmt: skip
    assert said.code in (0, 4), said.err  # 4: too busy for everything planned
