# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Building SimGrid: stand-ins for installer and cmake on the real code path, and its failures.

HOCKNEY_BUILD_SIMGRID=1 adds a real build, which takes minutes.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import threading
import time
from collections import namedtuple
from pathlib import Path

import pytest
from raising import raises_code
from scripts import script

from hockney import build
from hockney.build import duration
from hockney.build.tools import compilers
from hockney.core.errors import EnvironmentProblem
from hockney.core.paths import COMPLETE_MARKER

pytestmark = pytest.mark.compiler

simgrid = sys.modules["hockney.build.simgrid"]

CMAKE = """
case "$1" in
  --version) echo cmake version 3.25.1;;
  -S)
    mkdir -p "$4"
    for word; do case "$word" in -DCMAKE_INSTALL_PREFIX=*) echo "${word#*=}" >"$4/prefix";; esac; done;;
  --build) echo "[1/3] Building one.cpp"; echo noise; echo "[3/3] Linking";;
  --install)
    prefix=$(cat "$2/prefix"); place=$DESTDIR$prefix
    mkdir -p "$place/bin" "$place/include/simgrid" "$place/include/smpi"
    echo '#include <boost/intrusive_ptr.hpp>' >"$place/include/simgrid/s4u.hpp"
    echo '#include <boost/config.hpp>' >"$place/include/smpi/smpi.h"
    printf '#!/bin/sh\\ntest -d "%s/include/boost"\\n' "$prefix" >"$place/bin/smpicxx"
    printf '#!/bin/sh\\necho sum 6 on n0\\n' >"$place/bin/smpirun"
    chmod +x "$place/bin/smpicxx" "$place/bin/smpirun";;
esac
"""


def stand_in_installer(prefix: Path, source: str = "") -> list[str]:
    """Lays out the files that pip would install: the sources, or Boost's headers in a wheel's folder."""
    place = prefix / "lib/python3/site-packages" / ("simgrid-4.1" if source else "boost_headers/include")
    files = (
        ["CMakeLists.txt"]
        if source
        else ["boost/version.hpp", "boost/config/compiler.hpp", *simgrid.BOOST_HEADERS]
    )
    for name in [*files, *([] if source else ["boost/config.hpp", "boost/unused/x.hpp"])]:
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text("#define BOOST_VERSION 108500\n" if name.endswith("version.hpp") else "")
    return ["true"]


class Place:
    """A separate cache, an environment with stand-in tools first on PATH, and the reported progress."""

    def __init__(self, folder: Path) -> None:
        self.cache = folder / "cache"
        self.tools = folder / "tools"
        self.environ = {**os.environ, "HOCKNEY_CACHE": str(self.cache)}
        self.progress: list[str] = []
        self.steps: list[tuple[int, int]] = []

    def build(self, **more) -> Path:
        return build.simgrid(
            self.environ, self.progress.append, lambda *step: self.steps.append(step), **more
        )

    def problem(self, kind: type[EnvironmentProblem] = EnvironmentProblem) -> EnvironmentProblem:
        """The error of a failing build; it leaves nothing that counts as a result."""
        with pytest.raises(kind) as caught:
            self.build()
        assert "\n" not in str(caught.value) and caught.value.exit_code == 3
        assert build.simgrid_prefix(self.environ) is None
        left = [p.name for p in self.cache.iterdir() if p.name not in (".simgrid-lock", "simgrid-4.1")]
        assert [name for name in left if not name.startswith("failed-")] == []
        return caught.value


@pytest.fixture
def place(tmp_path, monkeypatch) -> Place:
    here = Place(tmp_path)
    script(here.tools / "cmake", CMAKE)
    monkeypatch.setenv("PATH", f"{here.tools}{os.pathsep}{os.environ['PATH']}")
    here.environ["PATH"] = os.environ["PATH"]
    monkeypatch.setattr(simgrid, "installer_command", stand_in_installer)
    monkeypatch.setattr(simgrid, "compiler_has_boost", lambda compilers: False)
    return here


PACKAGES = simgrid.SIMGRID, simgrid.BOOST


def test_it_is_fetched_compiled_installed_tried_and_kept(place, monkeypatch):
    monkeypatch.setattr(duration, "expected", lambda there_s: "soon")
    prefix = place.build(jobs=3)
    assert prefix == place.cache / "simgrid-4.1" == build.simgrid_prefix(place.environ)
    assert place.steps == [(1, 3), (3, 3)]
    log = (prefix / "build.log").read_text()
    assert "--parallel 3" in log and f"-DCMAKE_INSTALL_PREFIX={prefix}" in log and "noise" in log
    assert (prefix / COMPLETE_MARKER).read_text() == str(prefix)
    assert sorted(p.name for p in place.cache.iterdir()) == [".simgrid-lock", "simgrid-4.1"]
    compiler = shlex.join(compilers(place.environ).cxx)
    fetched = [line for line in place.progress if line.startswith("fetching")]
    assert len(fetched) == 2 and all(each.title in line for each, line in zip(PACKAGES, fetched, strict=True))
    steps = [line.partition(" ")[0] for line in place.progress if compiler in line]
    assert steps == ["configuring", "compiling", "installing"]
    assert any("3 jobs" in line and "soon" in line for line in place.progress)
    before = len(place.progress)
    assert place.build() == prefix and len(place.progress) == before
    (prefix / "mark").touch()
    place.build(again=True)
    assert not (prefix / "mark").exists() and build.simgrid_prefix(place.environ) == prefix


@pytest.mark.slow
def test_the_headers_it_needs_of_boost_are_kept_with_all_of_their_part(place):
    prefix = place.build()
    kept = {str(p.relative_to(prefix / "include/boost")) for p in (prefix / "include/boost").rglob("*.hpp")}
    assert kept == {"intrusive_ptr.hpp", "config.hpp"}
    shutil.rmtree(place.cache)
    script(place.tools / "cmake", CMAKE.replace("boost/config.hpp", "boost/config/compiler.hpp"))
    prefix = place.build()
    assert (prefix / "include/boost/config/compiler.hpp").is_file()
    assert not (prefix / "include/boost/unused").exists()


@pytest.mark.slow
def test_a_copy_that_was_moved_is_none(place):
    prefix = place.build()
    place.cache.rename(place.cache.with_name("elsewhere"))
    place.environ["HOCKNEY_CACHE"] = str(place.cache.with_name("elsewhere"))
    assert build.simgrid_prefix(place.environ) is None, "its scripts still name the old folder"
    assert place.build() != prefix and build.simgrid_prefix(place.environ)


def test_of_two_at_once_one_builds(place):
    script(
        place.tools / "cmake",
        CMAKE.replace(
            "echo noise", f"echo x >>{place.tools}/count; until [ -e {place.tools}/go ]; do sleep 0.05; done"
        ),
    )
    threads = [threading.Thread(target=place.build) for _ in range(2)]
    for thread in threads:
        thread.start()
    end = time.monotonic() + 120
    while not any(line.startswith("waiting") for line in place.progress):
        assert time.monotonic() < end
        time.sleep(0.02)
    (place.tools / "go").touch()
    for thread in threads:
        thread.join()
    assert (place.tools / "count").read_text() == "x\n"


def test_what_killed_builds_left_is_swept_and_never_taken(place):
    half = place.cache / "simgrid-4.1"
    (half / "bin").mkdir(parents=True)
    (half / "bin/smpicxx").touch()
    (place.cache / ".simgrid-left").mkdir()
    assert build.simgrid_prefix(place.environ) is None
    place.build()
    assert not (place.cache / ".simgrid-left").exists()
    assert (half / "bin/smpicxx").read_text(), "the half one is still there"


@pytest.mark.parametrize(
    ("fails", "code"),
    [
        ("echo 'a.cpp:7:1: error: no luck' >&2; exit 1", "simgrid-build-failed"),
        ("echo 'fatal: No space left on device' >&2; exit 1", "simgrid-disk-full"),
        ("echo 'c++: fatal error: Killed signal terminated program cc1plus'; exit 1",
         "simgrid-out-of-memory"),
    ],
)  # fmt: skip
def test_a_build_that_fails_gives_the_reason_and_keeps_its_log(place, fails, code):
    script(place.tools / "cmake", CMAKE.replace("echo noise", fails))
    error = place.problem(build.BuildFailed)
    assert error.code == code and error.fields["step"] == "compiling"
    if code == "simgrid-build-failed":
        assert "a.cpp:7:1: error: no luck" in error.why
    log = place.cache / "failed-simgrid-4.1.log"
    assert fails.split("'")[1] in log.read_text()


def test_one_that_does_not_run_is_not_taken(place):
    script(place.tools / "cmake", CMAKE.replace("sum 6", "sum 5"))
    error = place.problem()
    assert error.code == "simgrid-runs-no-program" and "sum 5 on n0" in error.fields["reason"]


def test_no_compiler_and_one_without_cpp20(place, tmp_path):
    place.environ["CXX"] = "no-such-compiler -O1"
    error = place.problem()
    assert error.code == "compiler-not-working" and "no-such-compiler -O1" in error.what
    old = script(tmp_path / "old/g++-9", 'case "$*" in *c++20*) echo what is c++20 >&2; exit 1;; esac')
    place.environ["CXX"] = str(old)
    error = place.problem()
    assert error.code == "compiler-without-cpp20" and error.why == "what is c++20"
    del place.environ["CXX"]
    place.environ["PATH"] = str(tmp_path / "old")
    error = place.problem()
    assert error.code == "no-compiler" and error.fields["language"] == "C"


def test_no_network(place, monkeypatch):
    monkeypatch.setattr(
        simgrid, "installer_command", lambda *_: ["sh", "-c", "echo 'ERROR: no route to index' >&2; exit 1"]
    )
    error = place.problem()
    assert error.code == "package-not-fetched" and error.fields["package"] == "simgrid 4.1"
    assert "no route to index" in error.fields["reason"]


def test_little_room_and_none(place, monkeypatch, tmp_path):
    usage = namedtuple("usage", "free")
    monkeypatch.setattr(simgrid.shutil, "disk_usage", lambda folder: usage(10_000_000))
    error = place.problem()
    assert error.code == "no-room-for-simgrid" and error.fields["free"] == 10_000_000
    (tmp_path / "file").touch()
    place.environ["HOCKNEY_CACHE"] = str(tmp_path / "file")
    with raises_code("cache-unwritable"):
        place.build()


def test_no_cmake(place, monkeypatch):
    monkeypatch.setattr("hockney.build.tools.candidates", lambda name: iter(()))
    error = place.problem()
    assert error.code == "build-tool-missing" and error.fields == {"name": "cmake", "version": "3.20"}


def test_boost_is_known_by_version_and_parts(tmp_path, monkeypatch):
    system_compilers = compilers({**os.environ})
    whole = tmp_path / "whole"
    stand_in_installer(whole)
    include = next(whole.rglob("include"))
    monkeypatch.setenv("CPATH", str(include))
    assert simgrid.compiler_has_boost(system_compilers)
    (include / "boost/version.hpp").write_text("#define BOOST_VERSION 105800\n")
    assert not simgrid.compiler_has_boost(system_compilers)


@pytest.mark.skipif(
    not os.environ.get("HOCKNEY_BUILD_SIMGRID"), reason="takes minutes: HOCKNEY_BUILD_SIMGRID=1"
)
def test_a_real_one(tmp_path):
    """4 ranks, in `try_out`."""
    began = time.monotonic()
    place = Place(tmp_path)
    prefix = place.build(jobs=os.cpu_count() or 1)
    assert build.simgrid_prefix(place.environ) == prefix
    assert place.steps[-1][0] == place.steps[-1][1] > 300
    print(f"{time.monotonic() - began:.0f} s")
