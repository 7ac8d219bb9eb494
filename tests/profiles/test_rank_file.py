# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Rank files are read in any state, and nothing that is no rank file is taken for one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from written import FUNCTIONS, Written, allreduces, folder_of, program

from hockney.core.errors import HockneyError
from hockney.profiles import rank_file as form
from hockney.profiles.profile import read_profile, sample_weight
from hockney.profiles.rank_file import parse_rank_file, rank_list, read_launch, read_rank_file

HERE = Path("rank-00000-1.hkp")


def full() -> Written:
    ranks = program(2)
    allreduces(ranks, late=1, steps=200)
    first = ranks[0]
    for k in range(100):
        first.called("Send", first.site(k + 20, f"a.py:{k} f"), 0.001, 10, 80, form.NODE)
    return first


def test_every_record_is_read(tmp_path: Path):
    file = read_rank_file(full().write(tmp_path))
    assert len(file.samples) == 200
    assert len(file.entries) == 101
    assert len(file.sites) == 101
    assert sum(int(n) for n in file.entries["calls"]) == 1200
    assert file.clock.ns_per_tick == pytest.approx(0.4)
    assert not file.damaged and not file.missing


@given(cut=st.integers(0, 4 * form.PAGE) | st.integers(0, 100).map(lambda pages: pages * form.PAGE))
def test_a_file_cut_anywhere_is_read_up_to_there_or_refused(cut: int):
    content = full().content
    whole = parse_rank_file(content, HERE)
    cut = min(cut, len(content))
    try:
        file = parse_rank_file(content[:cut], HERE)
    except HockneyError as error:
        assert error.code in ("empty-rank-file", "foreign-rank-file", "truncated-rank-file")
        assert cut < form.HEADER.itemsize
        return
    assert cut >= form.HEADER.itemsize
    assert file.missing == len(content) // form.PAGE - max(1, cut // form.PAGE)
    for kind in form.KINDS:
        rows, all_rows = getattr(file, kind), getattr(whole, kind)
        assert (rows == all_rows[: len(rows)]).all()
    assert (len(file.samples) == len(whole.samples)) or file.missing


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"", "empty-rank-file"),
        (b"\0" * 8192, "empty-rank-file"),
        (b"#!/bin/sh\n", "foreign-rank-file"),
        (b"HKPROFIL" + b"\1\0\0\0", "truncated-rank-file"),
        (b"HKPROFIL" + b"\x09\0\0\0\0\x10\0\0" + b"\0" * 4096, "other-rank-file-version"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, content: bytes, code: str):
    path = tmp_path / "rank-00000-1.hkp"
    path.write_bytes(content)
    with pytest.raises(HockneyError) as error:
        read_rank_file(path)
    assert error.value.code == code


def test_bad_files_are_skipped_with_a_caveat(tmp_path: Path):
    for each in program(3):
        each.write(tmp_path)
    (tmp_path / "rank-00007-1.hkp").write_bytes(b"something else")
    read = read_launch(tmp_path)
    assert [each.rank for each in read.files] == [0, 1, 2]
    assert [caveat.code for caveat in read.caveats] == ["unusable-rank-files"]


def test_no_file_at_all_is_an_error(tmp_path: Path):
    with pytest.raises(HockneyError) as error:
        read_launch(tmp_path)
    assert error.value.code == "no-rank-files"


def test_flags_are_caveats(tmp_path: Path):
    for rank, flags in enumerate([form.FORKED, form.DISK_FULL | form.FORKED]):
        Written(rank, 2, flags=flags).write(tmp_path)
    codes = {caveat.code: caveat.text for caveat in read_launch(tmp_path).caveats}
    assert "ranks 0, 1" in codes["forked"] and "rank 1" in codes["disk-full"]


def test_the_choice_of_samples_is_the_librarys():
    chosen, weight = sample_weight(np.arange(64))
    assert chosen.all() and (weight == 1).all()
    chosen, weight = sample_weight(np.arange(1 << 16))
    assert abs(weight[chosen].sum() / (1 << 16) - 1) < 0.2
    assert chosen.sum() < 64 + 10 * 60


def test_rank_lists():
    assert rank_list([3]) == "rank 3"
    assert rank_list([0, 1, 2, 3, 4, 5, 6]) == "ranks 0-6"
    assert rank_list([0, 1, 5]) == "ranks 0, 1, 5"


def test_a_profile_has_times_in_seconds(tmp_path: Path):
    ranks = program(4, end=2.0)
    allreduces(ranks, late=3, steps=50)
    profile = read_profile(folder_of(tmp_path / "p", [ranks]))
    launch = profile.typical
    assert launch.functions == FUNCTIONS
    assert launch.elapsed_s == pytest.approx(2.0)
    assert launch.ranks[0].in_mpi_s == pytest.approx(50 * 0.02002, rel=1e-6)
    assert launch.ranks[3].in_mpi_s == pytest.approx(50 * 20e-6, rel=1e-3)
    assert [site.text for site in launch.sites[1:]] == ["solver.py:120 solve"]
    assert launch.communicators[1].name == "MPI_COMM_WORLD"
