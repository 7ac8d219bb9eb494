# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The installed BSPlib: every rule that programs rely on, every error, random supersteps against a sequential
program, on each path that data can take, and complete programs in C."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest
from bsp_programs import HERE, PATHS, Ended, bspcc, bsprun
from installed import EXAMPLES, built_example, did
from real_mpi import simgrid_here
from tiers import slow

from hockney import build, process
from hockney.build.engine import SINGLE_HOST
from hockney.build.tools import tool
from hockney.core.machine import Mpi

pytestmark = [pytest.mark.mpi, pytest.mark.needs("pkg-config")]
RANKS = [1, 2, 3, 4, 5, 6]
FAST = {(2, "shared")}
"""Of ranks and paths, what the fast tier runs."""
SIZE_T = "-DHOCKNEY_BSP_SIZE_T"
GROUPS = ("memory", "messages", "sizes")
ERROR = re.compile(
    r"^hockney-bsp: (error|warning): (?:(\S+):(\d+): )?bsp_(\w+)(?:, process (\d+), superstep (\d+))?: (.+)$",
    re.M,
)


@pytest.fixture(scope="session")
def rules(prefix: Path) -> Path:
    """One program with all rules, compiled as C with every warning as an error."""
    program = prefix / "rules"
    strict = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-O1"]
    did([*bspcc(prefix), *strict, *map(str, sorted(HERE.glob("rules*.c"))), "-o", str(program)])
    return program


@pytest.mark.parametrize(
    ("language", "define", "size"),
    [("cc", [], 4), *slow(("cc", [SIZE_T], 8), ("c++", [], 4)), ("c++", [SIZE_T], 8)],
)
def test_types_follow_the_convention_in_use(prefix, tmp_path, language, define, size):
    program, source = tmp_path / "types", tmp_path / f"types.{'c' if language == 'cc' else 'cpp'}"
    shutil.copy(HERE / "types.c", source)
    flags = ["-Wall", "-Wextra", "-Werror", *define]
    did([*bspcc(prefix, language), *flags, str(source), "-o", str(program)])
    ended = bsprun(prefix, 2, program)
    assert (ended.code, ended.out) == (0, f"fine, {size} bytes\n"), ended.err


@pytest.fixture(scope="session")
def random_supersteps(prefix: Path) -> Path:
    program = prefix / "random_supersteps"
    strict = ["-std=c++20", "-Wall", "-Wextra", "-Werror", "-O1"]
    did([*bspcc(prefix, "c++"), *strict, str(HERE / "random_supersteps.cpp"), "-o", str(program)])
    return program


@pytest.mark.parametrize(
    ("ranks", "path"),
    [
        (ranks, path) if (ranks, path) in FAST else pytest.param(ranks, path, marks=pytest.mark.slow)
        for ranks in RANKS
        for path in PATHS
    ],
)
def test_every_rule_holds(prefix, rules, ranks, path):
    ended = bsprun(prefix, ranks, rules, "all", **PATHS[path])
    found = re.fullmatch(r"fine (\d+)\n", ended.out)
    written = sum(
        len(re.findall(r"^    \{\"", (HERE / f"rules_{name}.c").read_text(), re.M)) for name in GROUPS
    )
    assert ended.code == 0 and found is not None and int(found[1]) == written > 25, ended.err


@pytest.mark.parametrize("ranks", [3, *slow(1, 2, 4, 5, 6)])
def test_random_supersteps_are_those_of_a_sequential_program(prefix, random_supersteps, ranks):
    """All paths, with small and large limits of what travels directly and of the shared memory."""
    ended = bsprun(prefix, ranks, random_supersteps, "1", "1")
    assert ended.code == 0 and int(ended.out) == 15 * 24, ended.err


@pytest.mark.slow
@pytest.mark.parametrize("ranks", RANKS)
def test_many_random_supersteps(prefix, random_supersteps, ranks):
    ended = bsprun(prefix, ranks, random_supersteps, "1000", "40")
    assert ended.code == 0 and int(ended.out) == 40 * 15 * 24, ended.err


def errors(ended: Ended) -> list[tuple[str, str, str, str]]:
    """Severity, call, process and superstep."""
    return [(found[1], found[4], found[5], found[6]) for found in ERROR.finditer(ended.err)]


CAUGHT = {
    "pid_negative": "put",
    "pid_nprocs": "put",
    "send_pid": "send",
    "get_pid": "get",
    "put_beyond": "put",
    "hpput_beyond": "hpput",
    "get_beyond": "get",
    "hpget_beyond": "hpget",
    "put_negative_offset": "put",
    "put_negative_size": "put",
    "put_overflow": "put",
    "put_null": "put",
    "put_to_null": "put",
    "get_null": "get",
    "put_unregistered": "put",
    "put_inside": "put",
    "get_unregistered": "get",
    "send_negative": "send",
    "send_null": "send",
    "push_negative": "push_reg",
    "push_null": "push_reg",
    "pop_unregistered": "pop_reg",
    "move_empty": "move",
    "tagsize_negative": "set_tagsize",
    "tagsize_null": "set_tagsize",
    "qsize_null": "qsize",
    "get_tag_null": "get_tag",
    "abort_in_section": "abort",
    "put_too_early": "put",
    "put_after_pop": "put",
    "put_beyond_newest": "put",
    "put_to_smaller": "put",
    "put_to_registered_null": "put",
    "send_tag_null": "send",
}
"""Errors that process 1 makes in superstep 2, by the call that finds them."""


def test_errors_name_the_call_the_process_and_the_superstep(prefix, rules):
    """All in one launch: the program makes one, returns from MPI_Abort, and goes on with the next."""
    ended = bsprun(prefix, 2, rules, "errors", *CAUGHT)
    assert ended.code == 0, ended.err
    parts = re.split(r"^rule (\w+) from superstep (\d+)\n", ended.err, flags=re.M)[1:]
    found = {
        name: (int(first), text)
        for name, first, text in zip(parts[::3], parts[1::3], parts[2::3], strict=True)
    }
    assert found.keys() == CAUGHT.keys()
    for name, (first, text) in found.items():
        assert errors(Ended(0, "", text)) == [("error", CAUGHT[name], "1", str(first + 2))], (name, text)


COLLECTIVE = {
    "sync_and_end": {"sync", "end"},
    "pushes_differ": {"sync"},
    "pops_differ": {"sync"},
    "pops_of_different_areas": {"sync"},
    "pops_of_null": {"sync"},
    "tagsizes_differ": {"sync"},
    "tagsize_calls_differ": {"sync"},
    "pop_twice": {"pop_reg"},
}
OFTEN = {("pushes_differ", "alltoall")}


@pytest.mark.usefixtures("last_words")
@pytest.mark.parametrize(
    ("name", "path"),
    [
        (name, path) if (name, path) in OFTEN else pytest.param(name, path, marks=pytest.mark.slow)
        for name in COLLECTIVE
        for path in PATHS
    ],
)
def test_processes_that_differ_are_found(prefix, rules, name, path):
    ended = bsprun(prefix, 2, rules, name, **PATHS[path])
    found = errors(ended)
    assert ended.code == 6 and found and "no error" not in ended.out
    assert {call for _, call, *_ in found} <= COLLECTIVE[name], ended.err
    assert {(severity, superstep) for severity, _, _, superstep in found} == {("error", "2")}


OUTSIDE = {
    "begin_zero": "begin",
    "begin_twice": "begin",
    "pid_before_begin": "pid",
    "sync_before_begin": "sync",
    "put_before_begin": "put",
    "abort_before_begin": "abort",
    "end_before_begin": "end",
    "end_twice": "end",
    "no_end": "end",
    "init_late": "init",
}


@pytest.mark.usefixtures("last_words")
@pytest.mark.parametrize(
    "name", [n if n == "no_end" else pytest.param(n, marks=pytest.mark.slow) for n in OUTSIDE]
)
def test_calls_outside_of_the_section(prefix, rules, name):
    ended = bsprun(prefix, 2, rules, name)
    assert ended.code == 6 and ended.out == ""
    assert {(severity, call) for severity, call, *_ in errors(ended)} == {("error", OUTSIDE[name])}


CHECKED = {
    "hpput_changed": ("error", "hpput"),
    "hpget_changed": ("error", "hpget"),
    "puts_overlap": ("warning", "sync"),
    "put_dropped": ("warning", "end"),
}


@pytest.mark.usefixtures("last_words")
@pytest.mark.parametrize(
    "name", [n if n == "hpput_changed" else pytest.param(n, marks=pytest.mark.slow) for n in CHECKED]
)
def test_a_checking_run_finds_more(prefix, rules, name):
    ended = bsprun(prefix, 2, rules, name, HOCKNEY_BSP_CHECK="1")
    severity, call = CHECKED[name]
    assert errors(ended) == [(severity, call, "1", "2")], ended.err
    assert (ended.code == 0) == (severity == "warning")


@pytest.mark.slow
@pytest.mark.usefixtures("last_words")
def test_a_checking_build_names_the_line(prefix, tmp_path):
    """And compiles all forms of the functions, in C and in C++."""
    program = tmp_path / "checked"
    sources = sorted(map(str, HERE.glob("rules*.c")))
    did([*bspcc(prefix), "-check", "-std=c11", "-Wall", "-Werror", *sources, "-o", str(program)])
    line = 1 + (HERE / "rules_errors.c").read_text().splitlines().index(
        "  if (bsp_pid() == 1) bsp_put(0, &value, area, 4, sizeof value);"
    )
    ended = bsprun(prefix, 2, program, "put_to_smaller")
    found = ERROR.search(ended.err)
    assert found is not None and Path(found[2]).name == "rules_errors.c" and int(found[3]) == line
    for each in ("messages", "memory"):
        words = ["-c", "-x", "c++", str(HERE / f"rules_{each}.c"), "-o", str(tmp_path / "object")]
        did([*bspcc(prefix, "c++"), "-check", *words])
        did([*bspcc(prefix, "c++"), *words])


def test_fewer_processes_than_were_started(prefix, rules):
    ended = bsprun(prefix, 4, rules, "subset")
    assert (ended.code, ended.out) == (0, "2 of 4\n"), ended.err


def test_a_program_that_starts_mpi_itself(prefix, rules):
    """Both processes that are used return from bsp_end."""
    ended = bsprun(prefix, 3, rules, "own_mpi")
    assert (ended.code, ended.out) == (0, "1 of 2\n" * 2), ended.err


def test_process_0_runs_what_precedes_the_section(prefix, rules):
    ended = bsprun(prefix, 4, rules, "init", "3")
    assert (ended.code, ended.out) == (0, "process 0 of 3\n"), ended.err


@pytest.mark.usefixtures("last_words")
def test_a_wrong_setting_is_refused(prefix, rules):
    ended = bsprun(prefix, 2, rules, "all", HOCKNEY_BSP_PATH="carrier-pigeon")
    assert ended.code == 6 and errors(ended)[0][:2] == ("error", "begin")


PROGRAMS = sorted(path.stem for path in (EXAMPLES / "bsp").glob("*.c*"))


@pytest.fixture(scope="session")
def examples(prefix: Path, tmp_path_factory) -> Path:
    """The programs of the examples, as CMake builds them."""
    return built_example(prefix, "bsp", tmp_path_factory.mktemp("bsp"))


@pytest.mark.slow
@pytest.mark.parametrize("ranks", [3, *slow(1, 2, 4, 5, 6)])
@pytest.mark.parametrize("name", ["fft", *slow(*(name for name in PROGRAMS if name != "fft"))])
def test_complete_programs(prefix, examples, name, ranks):
    """They compare their result with a sequential one."""
    if name == "fft":
        ranks = 1 << (ranks.bit_length() - 1)  # a power of two
    ended = bsprun(prefix, ranks, examples / name)
    assert ended.code == 0 and re.search(rf"\b{ranks} process", ended.out), ended.err


@pytest.mark.slow
def test_a_program_with_the_shared_library_and_plain_mpiexec(mpi: Mpi, prefix, tmp_path):
    program = tmp_path / "inner_product"
    did([*bspcc(prefix), "-dynamic", str(EXAMPLES / "bsp" / "inner_product.c"), "-o", str(program)])
    flags = did(
        ["pkg-config", "--cflags", "--libs", "hockney-bsp"],
        {"PKG_CONFIG_PATH": str(prefix / "lib/pkgconfig")},
    )
    linked = tmp_path / "linked"
    did(
        [
            mpi.mpicxx,
            "-std=c++20",
            "-Wall",
            "-Werror",
            str(HERE / "typed.cpp"),
            "-o",
            str(linked),
            *flags.split(),
        ]
    )
    for each in (program, linked):
        assert bsprun(prefix, 2, each, plain=mpi).code == 0


@pytest.mark.slow
def test_a_project_in_c_links_the_shared_library(prefix, tmp_path):
    lists = (
        "cmake_minimum_required(VERSION 3.20)\nproject(user LANGUAGES C)\n"
        "find_package(hockney REQUIRED COMPONENTS bsp)\n"
        f"add_executable(user {EXAMPLES / 'bsp' / 'inner_product.c'})\n"
        "target_link_libraries(user PRIVATE hockney::bsp_shared)\n"
    )
    (tmp_path / "CMakeLists.txt").write_text(lists)
    words = [tool("cmake"), "-S", str(tmp_path), "-B", str(tmp_path / "b"), "-G", "Ninja"]
    did([*words, f"-DCMAKE_MAKE_PROGRAM={tool('ninja')}", f"-DCMAKE_PREFIX_PATH={prefix}"])
    did([tool("cmake"), "--build", str(tmp_path / "b")])
    assert bsprun(prefix, 2, tmp_path / "b" / "user").code == 0


def test_a_count_that_is_none_is_refused(prefix):
    """Before anything is started: the program does not exist."""
    for count in ("0", "00", "x", "-1", ""):
        words = [str(prefix / "bin" / "hockney-bsprun"), "-n", count, "./nothing"]
        refused = process.capture(words, timeout=60)
        assert refused.code == 2 and refused.out == "" and len(refused.err.splitlines()) == 1, count


@pytest.mark.parametrize("language", ["cc", "c++"])
def test_the_compilers_help_comes_after_the_commands_own(prefix, language):
    lines = did([*bspcc(prefix, language), "--help"]).splitlines()
    own = [line.split()[0] for line in lines[:12] if line.startswith("  -")]
    assert lines[0].split()[1] == f"hockney-bsp{language}" and own == ["-check", "-dynamic", "-show"]
    assert len(lines) > 20


def test_manual_pages_have_every_function(prefix):
    header = (prefix / "include" / "bsp.h").read_text()
    functions = set(re.findall(r"\b(bsp_\w+)\(", header.split("/* The same functions with other types")[0]))
    pages = {path.stem for path in (prefix / "share" / "man" / "man3").iterdir()}
    assert functions - pages == {"bsp_abort_va"} and pages <= functions


@pytest.mark.slow
@pytest.mark.simgrid
def test_rules_hold_on_simulated_processes(tmp_path):
    """SimGrid gives each of them its own global variables."""
    smpi = simgrid_here()
    build.install_library(smpi, tmp_path)
    (tmp_path / "alone.xml").write_text(SINGLE_HOST)
    (tmp_path / "hosts.txt").write_text("n0\n" * 4)
    program = tmp_path / "rules"
    did([*bspcc(tmp_path), "-std=gnu11", *map(str, sorted(HERE.glob("rules*.c"))), "-o", str(program)])
    hosts = ["-hostfile", str(tmp_path / "hosts.txt"), "-platform", str(tmp_path / "alone.xml")]
    for ranks in range(1, 5):
        words = [str(tmp_path / "bin" / "hockney-bsprun"), "-n", str(ranks), *hosts, "-quiet", str(program)]
        done = process.capture([*words, "all"], timeout=600)
        assert done.code == 0 and done.out.startswith("fine "), done.out + done.err


PAGE = HERE.parents[2] / "docs" / "bsplib.md"


@pytest.mark.slow
def test_the_tutorial_prints_what_it_shows(prefix, tmp_path):
    page = PAGE.read_text().split("## Building programs")[0]
    sources = re.findall(r"^```(?:c|cpp)\n(.*?)^```$", page, re.M | re.S)
    for name, source in zip(("squares.c", "beyond.c", "squares.cpp"), sources, strict=True):
        (tmp_path / name).write_text(source)
    shown = "".join(re.findall(r"^```console\n(.*?)^```$", page, re.M | re.S))
    path = {"PATH": f"{prefix / 'bin'}:{os.environ['PATH']}"}
    printed = ""
    for command in re.findall(r"^\$ (.*)$", shown, re.M):
        done = process.capture(["/bin/sh", "-c", command], env=path, cwd=tmp_path, timeout=300)
        printed += f"$ {command}\n{done.out}"
        assert not done.err, done.err
    assert printed == shown
