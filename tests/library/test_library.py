# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The C++ library as its users get it: installed into a prefix, found by CMake and by pkg-config, run at 1, 2
and 3 ranks with both MPIs."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest
from installed import built_example, compiled, run
from tiers import slow

from hockney import build, process
from hockney.build.tools import tool
from hockney.core.errors import EnvironmentProblem
from hockney.core.machine import Mpi

pytestmark = [pytest.mark.mpi, pytest.mark.needs("pkg-config")]
PROGRAMS = {"check", "coll_check", "unchanged", "rules", "random_supersteps", "steps", "tour"}
"""What tests compile into the prefix."""
PACKAGES = "hockney", "hockney-coll", "hockney-bsp", "hockney-bpram", "hockney-annealing"


@pytest.fixture(scope="session")
def check(mpi: Mpi, prefix: Path) -> Path:
    return compiled(mpi, prefix, "hockney", "check.cpp", "c++17")


def test_what_is_installed_is_public_only(prefix):
    found = {str(path.relative_to(prefix)) for path in prefix.rglob("*") if path.is_file()} - PROGRAMS
    components = [
        f"-{name}{build}"
        for name in ("barrier", "coll", "bsp", "bpram", "annealing")
        for build in ("", "-release")
    ]
    cmake = {f"lib/cmake/hockney/hockney{name}.cmake" for name in ("Config", "ConfigVersion", *components)}
    headers = {f"include/hockney/{name}.hpp" for name in ("barrier", "bpram", "bsp", "coll", "coll_span")}
    static = {f"lib/lib{name}.a" for name in PACKAGES}
    shared = {"lib/libhockney-pmpi.so", *(f"lib/libhockney-bsp.so{v}" for v in ("", ".0.1", ".0.1.0"))}
    flags = {f"lib/pkgconfig/{name}.pc" for name in PACKAGES}
    programs = {f"bin/hockney-bsp{name}" for name in ("cc", "c++", "run")}
    pages = build.source_folder() / "library" / "bsp" / "man"
    manual = {f"share/man/{path.relative_to(pages)}" for path in pages.rglob("*.[137]")}
    headers |= {"include/bpram.h", "include/bsp.h", "include/hockney/annealing.hpp"}
    headers |= {f"include/hockney/{name}" for name in ("barrier.h", "coll.h", "hockney.f90")}
    public = build.source_folder() / "include"
    headers |= {f"include/{path.relative_to(public)}" for path in public.glob("hockney/annealing/*.hpp")}
    assert found == {*headers, *static, *shared, *flags, *cmake, *programs, *manual}
    places = [path for path in prefix.rglob("*.cmake") if str(build.source_folder()) in path.read_text()]
    assert places == []


@pytest.mark.parametrize("ranks", [2, *slow(1, 3)])
def test_the_library_does_what_its_header_says(mpi, check, ranks):
    told = re.fullmatch(r"fine (\w+) (\d+) (\S+)\n", run(mpi, check, ranks))
    assert told is not None
    name, tried, seconds = told[1], int(told[2]), float(told[3])
    assert seconds >= 0
    if ranks == 1:
        assert (name, tried) == ("dissemination", 0)
    # none if a loaded machine took all the time to create the first
    assert tried != 1


def test_a_prefix_may_be_moved_and_the_example_finds_it(mpi, prefix, tmp_path):
    moved = tmp_path / "elsewhere"
    shutil.copytree(prefix, moved)
    work = built_example(moved, "barrier", tmp_path / "work")
    told = run(mpi, work / "steps", 2)
    answer = re.search(r"^(\w+) .*\b2\b.* \d+\.\d ms\n.* (\d+\.\d+) us\b.* (\d+\.\d+) us$", told, re.M)
    assert answer is not None and float(answer[2]) > 0 and float(answer[3]) > 0, told


@pytest.mark.slow
def test_it_needs_nothing_of_the_engine_but_these_folders(mpi, tmp_path):
    """The parts of a component: no workload, no measuring, no application."""
    engine = tmp_path / "engine"
    for folder in ("base", "bpram", "bsp", "cmake", "coll", "comm", "ensemble", "include", "library", "sync"):
        shutil.copytree(build.source_folder() / folder, engine / folder)
    shutil.copy(build.source_folder() / "VERSION", engine)
    build.install_library(mpi, tmp_path / "prefix", engine)
    assert (tmp_path / "prefix" / "lib" / "libhockney.a").is_file()


@pytest.mark.slow
def test_a_component_that_there_is_not_is_missed(mpi, prefix, tmp_path):
    lists = "cmake_minimum_required(VERSION 3.20)\nproject(user LANGUAGES CXX)\n"
    targets = "NOT TARGET hockney::barrier OR NOT TARGET hockney::hockney"
    checks = f"if({targets})\n  message(FATAL_ERROR gone)\nendif()\n"
    for component, there in (("barrier", True), ("coll barrier", True), ("tea", False)):
        folder = tmp_path / component.replace(" ", "-")
        folder.mkdir()
        (folder / "CMakeLists.txt").write_text(
            f"{lists}find_package(hockney REQUIRED COMPONENTS {component})\n{checks}"
        )
        words = [tool("cmake"), "-S", str(folder), "-B", str(folder / "b"), "-G", "Ninja"]
        words += [f"-DCMAKE_MAKE_PROGRAM={tool('ninja')}", f"-DCMAKE_PREFIX_PATH={prefix}"]
        assert process.capture(words, timeout=300).ok == there, component


def test_a_prefix_that_cannot_be_written(mpi, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(EnvironmentProblem) as caught:
        build.install_library(mpi, tmp_path / "file" / "prefix")
    assert caught.value.code == "prefix-not-writable"


def test_sources_that_do_not_compile_leave_a_log(mpi, tmp_path):
    library = tmp_path / "engine" / "library"
    library.mkdir(parents=True)
    (library / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.20)\nproject(hockney LANGUAGES CXX)\nadd_library(hockney a.cpp)\n"
    )
    (library / "a.cpp").write_text("nonsense;\n")
    with pytest.raises(build.BuildFailed) as caught:
        build.install_library(
            mpi, tmp_path / "p", library.parent, os.environ | {"HOCKNEY_CACHE": str(tmp_path / "cache")}
        )
    assert caught.value.code == "build-failed" and "nonsense" in caught.value.why
    assert caught.value.log == tmp_path / "cache" / "failed-library.log" and caught.value.log.is_file()
