# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Return addresses become call sites: functions, files and lines, or what is known."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from written import Written

from hockney.profiles.call_sites import CallSite, CallSites, Frame, call_sites, python_frame
from hockney.profiles.rank_file import parse_rank_file

SOURCE = """\
int communicate(int x);
int step(int x) { return communicate(x) + 1; }
int solve(int x) {
  return step(x) * 2;
}
"""
BEGIN = 0x7F0000000000


def sites_of(*ranks: Written) -> CallSites:
    files = [parse_rank_file(each.content, Path(f"rank-{each.rank}")) for each in ranks]
    return call_sites(files)


def module(rank: Written, path: str, begin: int = BEGIN, bytes: int = 0x100000) -> None:
    rank.add("modules", begin=begin, end=begin + bytes, bias=begin, path=path.encode())


def test_without_symbols_a_site_is_a_module_and_an_offset():
    rank = Written(0, 1)
    module(rank, "/opt/app/bin/solver")
    rank.site(7, frames=[BEGIN + 0x1234, BEGIN + 0x2000])
    found = sites_of(rank)
    assert found.sites[found.index_of[0][7]].text == "solver+0x1234"
    assert not found.has_lines


@pytest.mark.parametrize(
    "library",
    [
        "/usr/lib/libmpi.so.40",
        "/usr/lib/libmpi_mpifh.so.40.30.4",
        "/usr/lib/libmpi_usempif08.so.40",
        "/usr/lib/libmpichfort.so.12",
        "/opt/x/libmpifort.so",
        "/usr/lib/libpmpi_abi.so.0",
        "/home/u/.cache/hockney/profile/abc/libhockney-profile.so",
        "/venv/lib/python3.12/site-packages/mpi4py/MPI.mpich.abi3.so",
    ],
)
def test_frames_of_mpi_are_no_call_sites(library: str):
    rank = Written(0, 1)
    module(rank, library)
    module(rank, "/opt/app/bin/solver", BEGIN + 0x200000)
    rank.site(1, frames=[BEGIN + 0x10, BEGIN + 0x200010])
    found = sites_of(rank)
    assert found.sites[found.index_of[0][1]].place == "solver+0x10"


@pytest.mark.parametrize(
    "library", ["/opt/libmpifoo_app/solver", "/opt/app/libmesh.so", "/opt/mpi/bin/libsolve.so"]
)
def test_other_libraries_are_the_programs(library: str):
    assert not Frame(module=library).of_mpi


def test_python_text_wins():
    rank = Written(0, 1)
    module(rank, "/venv/mpi4py/MPI.so")
    rank.site(3, python="/home/u/run: 1.py:12 Solver.step", frames=[BEGIN + 8])
    found = sites_of(rank)
    site = found.sites[found.index_of[0][3]]
    assert (site.text, site.python) == ("run: 1.py:12 Solver.step", True)
    assert site.identity == "run: 1.py:Solver.step"


def test_python_texts_are_parsed():
    assert python_frame("a.py:3 <module>") == Frame("", "a.py", 3)
    assert python_frame("a.py:3") == Frame("", "a.py", 3)
    assert python_frame("cut off") == Frame("cut off")


def test_equal_sites_of_ranks_are_one():
    one, other = Written(0, 2), Written(1, 2)
    one.site(1, python="a.py:3 f")
    one.site(2, python="a.py:9 g")
    other.site(5, python="a.py:9 g")
    found = sites_of(one, other)
    assert found.index_of[0][2] == found.index_of[1][5] != found.index_of[0][1]


def test_an_unknown_address_is_shown():
    rank = Written(0, 1)
    rank.site(1, frames=[0x1234])
    found = sites_of(rank)
    assert found.sites[found.index_of[0][1]].place == "unknown+0x1234"


@pytest.mark.compiler
def test_debugging_information_gives_file_and_line(tmp_path: Path):
    if shutil.which("addr2line") is None or shutil.which("gcc") is None:
        pytest.skip("there is no addr2line, or no gcc")
    (tmp_path / "app.c").write_text(SOURCE)
    library = tmp_path / "libapp.so"
    subprocess.run(
        ["gcc", "-g", "-O0", "-shared", "-fPIC", "app.c", "-o", str(library)], cwd=tmp_path, check=True
    )
    listing = subprocess.run(
        ["objdump", "-d", str(library)], capture_output=True, text=True, check=True
    ).stdout
    returns = {}
    lines = listing.splitlines()
    for k, line in enumerate(lines):
        called = re.search(r"\b(?:call|bl)\S*\s.*<(communicate|step)@plt>", line)
        if called:
            returns[called[1]] = int(lines[k + 1].split(":")[0], 16)
    rank = Written(0, 1)
    module(rank, str(library))
    rank.site(1, frames=[BEGIN + returns["communicate"], BEGIN + returns["step"]])
    found = sites_of(rank)
    site: CallSite = found.sites[found.index_of[0][1]]
    assert found.has_lines
    assert site.text == "app.c:2 step"
    assert site.path_text == "app.c:2 step < app.c:4 solve"
    assert site.identity == "app.c:step"
