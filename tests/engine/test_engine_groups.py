# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What workloads of groups refuse, and the files of those that write some."""

from __future__ import annotations

import pytest
from engine_lines import failures, launcher_for, lines_of, records
from real_mpi import group_for

from hockney.core.case import parse_canonical

pytestmark = pytest.mark.mpi

IMPOSSIBLE = (
    ("onesided", 2, ("accumulate bytes=12 ranks=2", "put bytes=1099511627776 memory=create ranks=2"), "get"),
    ("onesided", 3, ("put bytes=8 ranks=3",), ""),
    ("io", 2, ("file_write ranks=2", "file_read ranks=2"), ""),
    (
        "datatypes",
        2,
        (
            "pingpong_datatype block=16 ranks=2 stride=8",
            "pingpong_datatype block=16 bytes=40 ranks=2 stride=32",
            "pack bytes=4294967296 ranks=2",
        ),
        "pack",
    ),
    ("messages", 2, ("pairs_pingpong pairs=2 ranks=2", "many_to_one ranks=2 senders=2"), "pairs_stream"),
)
"""Group, ranks, cases that cannot run on so many, and one that can."""


def group_lines(mpi, group, cases, ranks):
    return lines_of(launcher_for(mpi, group), cases, ranks, hang=120.0)


@pytest.mark.slow
def test_cases_that_cannot_run_are_refused_and_the_next_one_runs(mpi, golden, monkeypatch, tmp_path):
    """In the same words with each MPI."""
    monkeypatch.delenv("HOCKNEY_IO_FOLDER", raising=False)
    refused = {}
    for name, ranks, impossible, good in IMPOSSIBLE:
        engine = group_for(mpi, f"hockney-{name}")
        cases = [engine.catalog.case(good, ranks)] if good else []
        lines = group_lines(mpi, engine, [*map(parse_canonical, impossible), *cases], ranks)
        failed = failures(lines)
        assert [f.case for f in failed] == list(impossible)
        assert {f.reason for f in failed} <= {"refused", "memory"}
        assert len(records(lines)) == len(cases)
        refused |= {f.case: f.message for f in failed}
    golden("refusals_groups.txt", "\n\n".join(f"{case}\n  {message}" for case, message in refused.items()))


def test_files_have_the_parts_of_their_ranks_and_a_record_names_the_folder(mpi, monkeypatch, tmp_path):
    monkeypatch.setenv("HOCKNEY_IO_FOLDER", str(tmp_path))
    engine = group_for(mpi, "hockney-io")
    words = [f"{w} bytes=1000 file={f}" for w in ("file_write", "file_read") for f in ("shared", "each")]
    lines = group_lines(mpi, engine, [engine.catalog.case(line, 2) for line in words], 2)
    found = records(lines)
    assert [record.metric("file_size") for record in found] == [2000, 1000, 2000, 1000]
    assert {record.labels["folder"] for record in found} == {str(tmp_path)}
    assert [record.bytes_moved for record in found] == [2000] * 4


def test_a_folder_that_is_not_there_is_refused_and_none_is_made(mpi, monkeypatch, tmp_path):
    monkeypatch.setenv("HOCKNEY_IO_FOLDER", str(tmp_path / "missing"))
    engine = group_for(mpi, "hockney-io")
    cases = [engine.catalog.case(f"file_write file={file}", 2) for file in ("shared", "each")]
    lines = group_lines(mpi, engine, cases, 2)
    refused = failures(lines)
    assert [line.case for line in refused] == [case.line for case in cases]
    assert {line.reason for line in refused} == {"refused"}
    assert all(str(tmp_path / "missing") in line.message for line in refused)
    assert not list(tmp_path.iterdir())
