# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Return addresses become call sites: functions, files and lines, or what is known."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import ClassVar

import pytest
from written import Written

from hockney.profiles import call_sites as module_of_sites
from hockney.profiles.call_sites import (
    CHECKED_CALLS,
    CallSite,
    Frame,
    call_sites,
    python_frame,
    short_name,
)
from hockney.profiles.rank_file import parse_rank_file

SOURCE = """\
int communicate(int x);
int step(int x) { return communicate(x) + 1; }
int solve(int x) {
  return step(x) * 2;
}
"""
BEGIN = 0x7F0000000000


def sites_of(*ranks: Written) -> list[dict[int, CallSite]]:
    """Those of each rank by number."""
    files = [parse_rank_file(each.content, Path(f"rank-{each.rank}")) for each in ranks]
    sites, indices = call_sites(files)
    return [{number: sites[k] for number, k in index_of.items()} for index_of in indices]


def site_of(rank: Written, number: int = 1) -> CallSite:
    return sites_of(rank)[0][number]


def module(rank: Written, path: str, begin: int = BEGIN, bytes: int = 0x100000) -> None:
    rank.add("modules", begin=begin, end=begin + bytes, bias=begin, path=path.encode())


def test_without_symbols_a_site_is_a_module_and_an_offset_if_that_is_known():
    rank = Written(0, 1)
    module(rank, "/opt/app/bin/solver")
    rank.site(7, frames=[BEGIN + 0x1234, BEGIN + 0x2000])
    rank.site(8, frames=[0x1234])
    assert site_of(rank, 7).text == "solver+0x1234"
    assert site_of(rank, 8).place == "unknown+0x1234"


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
    assert site_of(rank).place == "solver+0x10"


def test_other_libraries_are_the_programs():
    for library in ("/opt/libmpifoo_app/solver", "/opt/app/libmesh.so", "/opt/mpi/bin/libsolve.so"):
        assert not Frame(module=library).of_mpi


def test_python_text_wins():
    rank = Written(0, 1)
    module(rank, "/venv/mpi4py/MPI.so")
    rank.site(3, python="/home/u/run: 1.py:12 Solver.step", frames=[BEGIN + 8])
    site = site_of(rank, 3)
    assert site.text == "run: 1.py:12 Solver.step"
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
    first, second = sites_of(one, other)
    assert first[2] is second[5] is not first[1]


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
    site = site_of(rank)
    assert site.text == "app.c:2 step"
    assert site.path_text == "app.c:2 step < app.c:4 solve"
    assert site.identity == "app.c:step"


@pytest.mark.compiler
def test_a_symbol_names_only_what_is_inside_of_it(tmp_path: Path):
    """addr2line names the nearest symbol before an address, which a stripped program has few of."""
    if shutil.which("addr2line") is None or shutil.which("gcc") is None:
        pytest.skip("there is no addr2line, or no gcc")
    source = (
        "int exported(int x) { return x + 1; }\n"
        "__attribute__((noinline)) static int hidden(int x) { return x * 3 + exported(x); }\n"
        "int (*volatile chosen)(int) = hidden;\n"
        "int main(void) { return chosen(1); }\n"
    )
    (tmp_path / "app.c").write_text(source)
    path = tmp_path / "app"
    subprocess.run(["gcc", "-O0", "-rdynamic", "app.c", "-o", str(path)], cwd=tmp_path, check=True)
    listing = subprocess.run(["nm", str(path)], capture_output=True, text=True, check=True).stdout
    at = {
        line.split()[2]: int(line.split()[0], 16) for line in listing.splitlines() if len(line.split()) == 3
    }
    subprocess.run(["strip", str(path)], check=True)
    rank = Written(0, 1)
    module(rank, str(path))
    rank.site(1, frames=[BEGIN + at["hidden"] + 5])
    rank.site(2, frames=[BEGIN + at["exported"] + 5])
    hidden, exported = (site_of(rank, k).frame for k in (1, 2))
    assert (hidden.function, hidden.offset) == ("", at["hidden"] + 5)
    assert exported.function == "exported"


@pytest.mark.parametrize(
    ("function", "short"),
    [
        (
            "double miniFE::dot<miniFE::Vector<double> >(miniFE::Vector<double> const&)",
            "miniFE::dot",
        ),
        ("ExchangeHalo(SparseMatrix_STRUCT const&, Vector_STRUCT&)", "ExchangeHalo"),
        ("void (anonymous namespace)::send(std::function<void (int)>)", "send"),
        ("solve(int)::{lambda(int)#1}::operator()(int) const", "solve::{lambda}::operator()"),
        ("bool a::operator< <int>(a::B<int> const&)", "a::operator<"),
        ("A::operator unsigned int() const", "A::operator unsigned int"),
        ("a::operator<<(int)", "a::operator<<"),
        ("B<C> a::operator->*(int)", "a::operator->*"),
        ("run(int) [clone .constprop.0]", "run"),
        ("text[abi:cxx11](int)", "text"),
        ("my_operator(int)", "my_operator"),
        ("__solver_MOD_step", "__solver_MOD_step"),
        ("main", "main"),
    ],
)
def test_short_names(function: str, short: str):
    assert short_name(function) == short
    assert Frame(function, "a.cpp", 3, "/opt/app").text == f"a.cpp:3 {short}"
    assert Frame(function, "a.cpp", 3, "/opt/app").full_text == f"a.cpp:3 {function}"


def test_names_in_python_are_complete():
    assert Frame("solve.<locals>.<lambda>", "a.py", 3).text == "a.py:3 solve.<locals>.<lambda>"


def test_only_what_is_outside_of_the_innermost_frame_may_be_mixed():
    """All calls of a record come from its innermost return address."""
    rank = Written(0, 1)
    module(rank, "/opt/app/bin/solver")
    module(rank, "/usr/lib/libmpi_mpifh.so.40", BEGIN + 0x200000)
    program, wrapper = BEGIN + 0x10, BEGIN + 0x200010
    for number, frames in {1: [program, program + 8], 2: [wrapper, program + 0x100], 3: []}.items():
        rank.add(
            "sites",
            id=number,
            frames=len(frames),
            frame=frames,
            ambiguous=1,
            python=b"" if frames else b"a.py:3",
        )
    exact, in_wrapper, python = (site_of(rank, k) for k in (1, 2, 3))
    assert (exact.ambiguous, exact.mixed) == (False, True)
    assert (in_wrapper.ambiguous, in_wrapper.mixed) == (True, True)
    assert (python.ambiguous, python.mixed) == (False, True)


class TestCallers:
    """A function that sends for others: its only caller is shown, if it is known to be the only one."""

    WHERE: ClassVar = {
        0x10: Frame("send_receive", "/src/parallel.c", 99, "/opt/app", 0x10),
        0x20: Frame("exchange", "/src/halo.c", 120, "/opt/app", 0x20),
        0x30: Frame("exchange", "/src/halo.c", 121, "/opt/app", 0x30),
        0x40: Frame("other", "/src/parallel.c", 130, "/opt/app", 0x40),
        0x50: Frame("main", "/src/main.c", 9, "/opt/app", 0x50),
    }

    def site(self, monkeypatch, *records: tuple[int, int, int], innermost: int = 0x10) -> CallSite:
        """Records with a caller, a number of calls, and whether other callers were seen."""
        monkeypatch.setattr(
            module_of_sites,
            "_symbols",
            lambda path, offsets: {(path, k): self.WHERE[k] for k in offsets},
        )
        rank = Written(0, 1)
        module(rank, "/opt/app")
        for number, (caller, calls, ambiguous) in enumerate(records, 1):
            frames = [BEGIN + innermost, BEGIN + caller]
            rank.add("sites", id=number, frames=2, frame=frames, ambiguous=ambiguous)
            rank.called("Send", number, 1.0, calls=calls)
        return site_of(rank)

    def test_the_only_one(self, monkeypatch):
        site = self.site(monkeypatch, (0x20, 5 * CHECKED_CALLS, 0), (0x20, 3, 0))
        assert site.caller is not None and site.caller.line == 120
        assert self.WHERE[0x20].place in site.text and not site.mixed

    @pytest.mark.parametrize(
        "records",
        [
            [(0x20, 2000, 0), (0x30, 2000, 0)],
            [(0x20, 2000, 1)],
            [(0x20, CHECKED_CALLS - 1, 0)],
            [(0x40, 2000, 0)],
            [(0x50, 2000, 0)],
        ],
        ids=["two", "mixed", "never compared", "the same file", "main"],
    )
    def test_none(self, monkeypatch, records):
        assert self.site(monkeypatch, *records).caller is None

    def test_main_is_no_wrapper(self, monkeypatch):
        assert self.site(monkeypatch, (0x20, 2000, 0), innermost=0x50).caller is None
