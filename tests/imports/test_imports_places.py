# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Where imported runs are written, and cases that a log's settings change."""

from __future__ import annotations

from pathlib import Path

import pytest

import hockney
from hockney.archive import describe
from hockney.core.case import parse_canonical
from hockney.imports import assemble, read_log

LOGS = Path(__file__).parents[1] / "data" / "imports"
IMB = (LOGS / "imb-2021.11-mpi1.log").read_text()


def versions(tmp_path: Path, *names: str) -> list[Path]:
    paths = []
    for k, name in enumerate(names):
        paths.append(tmp_path / f"{k}.log")
        paths[-1].write_text(f"# OSU MPI Latency Test v{name}\n# Size   Latency (us)\n8   1.25\n")
    return paths


def test_updates_of_one_version_have_their_own_names(tmp_path):
    head = next(line for line in IMB.splitlines() if "2021.11" in line)
    logs = [read_log(f"{k}", IMB.replace(head, head.replace("2021.11", f"2019 Update {k}"))) for k in (3, 4)]
    assert len({run.name for run in assemble(logs)}) == 2
    osu = [read_log(path.name, path.read_text()) for path in versions(tmp_path, "7.a/b", "7.a_b", "7.A_B")]
    assert len({run.name.lower() for run in assemble(osu)}) == 3


def test_nothing_is_written_if_one_place_is_taken(tmp_path):
    taken = tmp_path / "out" / "osu-7.5"
    taken.mkdir(parents=True)
    (taken / "x").touch()
    with pytest.raises(hockney.UsageError):
        hockney.import_logs(versions(tmp_path, "6.2", "7.5"), out=tmp_path / "out", listen=lambda _: None)
    assert [each.name for each in (tmp_path / "out").iterdir()] == ["osu-7.5"]


def test_the_window_of_one_sided_streams_is_their_operations():
    text = (
        "$ mpirun -n 2 ./osu_put_bw -W 32\n# OSU MPI_Put Bandwidth Test v7.5\n"
        "# Window creation: MPI_Win_allocate\n# Synchronization: MPI_Win_flush\n"
        "# Size      Bandwidth (MB/s)\n64         100.00\n"
    )
    (run,) = assemble([read_log("put.log", text)])
    assert parse_canonical(run.run.records[0].case).get("operations") == 32


def test_groups_of_nccl_tests_are_not_one_case():
    text = (LOGS / "nccl-tests-2.17.log").read_text()
    for rank in (2, 3):
        text = text.replace(f"Rank  {rank} Group  0", f"Rank  {rank} Group  1")
    with pytest.raises(hockney.Inconclusive) as refused:
        assemble([read_log("groups.log", text)])
    assert refused.value.code == "nothing-imported"


def test_suites_are_series_of_their_own(tmp_path):
    runs = hockney.import_logs(
        versions(tmp_path, "6.2", "7.5"), out=tmp_path / "out", machine="node7", listen=lambda _: None
    )
    assert len({describe(run.folder).machine for run in runs}) == 2
