# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Compiling the engine: the stand-in engine for real, and a mock compiler wrapper for failures."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
import pytest
from made_up import made_up_mpi
from raising import raises_code
from scripts import script

from hockney import build
from hockney.build.engine import remove_leftovers
from hockney.build.identity import digest, groups, identify, source_folder
from hockney.build.tools import tool
from hockney.build.workplace import Workplace
from hockney.core.errors import EnvironmentProblem
from hockney.core.machine import Mpi

pytestmark = pytest.mark.compiler
STAND_IN = Path(__file__).parents[1] / "stand_in"

PROGRAM = """
#include <cstdio>
int main() { std::puts(R"({"schema":1,"engine":"tiny","workloads":[]})"); }
"""
LISTS = """
cmake_minimum_required(VERSION 3.20)
project(tiny LANGUAGES CXX)
add_executable(hockney-engine main.cpp)
"""


@pytest.fixture
def source(tmp_path) -> Path:
    folder = tmp_path / "source"
    folder.mkdir()
    (folder / "CMakeLists.txt").write_text(LISTS)
    (folder / "main.cpp").write_text(PROGRAM)
    return folder


def wrapper(folder: Path, text: str = 'case "$1" in -show) echo c++ -lmpi;; *) exec c++ "$@";; esac') -> Mpi:
    """An MPI whose compiler wrapper is a script around the plain compiler."""
    path = script(folder / "bin" / "mpicxx", text)
    (folder / "lib").mkdir(exist_ok=True)
    (folder / "lib" / "libmpi.so").write_text("one")
    return made_up_mpi("mpich", "9.9", folder, mpicxx=str(path))


@pytest.fixture
def mpi_mock(tmp_path) -> Mpi:
    return wrapper(tmp_path / "mpi")


def test_a_second_call_takes_the_first_ones_engine(source, mpi_mock, tmp_path):
    progress: list[str] = []
    first = build.engine(mpi_mock, source, tmp_path / "cache", progress.append)
    second = build.engine(mpi_mock, source, tmp_path / "cache", progress.append)
    assert (first.cached, second.cached, second.seconds) == (False, True, 0.0)
    assert first.path == second.path and os.access(first.path, os.X_OK)
    assert first.catalog.engine == "tiny" and "-O2" in first.flags
    assert len(progress) == 2 and re.search(r"MPICH 9\.9 .*about \d+", progress[0])
    assert first.log.read_text().count("$ ") == 2
    assert not list((tmp_path / "cache/engine").glob(".build-*"))


def test_the_identity_changes_with_all_it_is_made_of(source, mpi_mock, tmp_path):
    def key(mpi: Mpi = mpi_mock, environ: dict[str, str] | None = None) -> str:
        return identify(mpi, source, environ or {}).key

    keys = [key(), key(environ={"CXXFLAGS": "-g"}), key(msgspec.structs.replace(mpi_mock, version="9.8"))]
    keys.append(key(wrapper(tmp_path / "other")))
    time.sleep(0.01)
    (Path(mpi_mock.prefix) / "lib/libmpi.so").write_text("two")
    keys.append(key())
    (source / "main.cpp").write_text(PROGRAM + "// changed\n")
    keys.append(key())
    assert len(set(keys)) == len(keys)


def test_the_identity_is_the_same_in_every_process(source, mpi_mock):
    for name in ("libmpi.so.1", "libmpi.so.1.2", "libmpi.so.3"):
        (Path(mpi_mock.prefix) / "lib" / name).write_text(name)
    program = f"""
import msgspec
from pathlib import Path
from hockney.build.identity import identify
from hockney.core.machine import Mpi
mpi = msgspec.json.decode({msgspec.json.encode(mpi_mock)!r}, type=Mpi)
print(identify(mpi, Path({str(source)!r}), {{}}).key)
"""
    keys = set()
    for seed in "123":
        environ = os.environ | {"PYTHONHASHSEED": seed}
        keys.add(subprocess.run([sys.executable, "-c", program], env=environ, capture_output=True).stdout)
    assert len(keys) == 1


def test_the_digest_sees_names_and_contents_but_no_build_folders(source):
    before = digest(source)
    (source / "build").mkdir()
    (source / "build/x.o").write_text("x")
    (source / ".hidden").write_text("x")
    assert digest(source) == before
    (source / "main.cpp").rename(source / "other.cpp")
    assert digest(source) != before


def test_a_group_has_its_own_workloads_and_is_no_part_of_the_engine(source):
    before = digest(source)
    (source / "kernels").mkdir()
    (source / "kernels/group.cmake").write_text("")
    assert groups(source) == {}, "an empty folder is no executable"
    (source / "kernels/sort.cpp").write_text("extern constinit const WorkloadInfo sort{\n")
    assert groups(source) == {"hockney-kernels": ("sort",)}
    assert digest(source) == before, "an engine is not compiled again for it"
    first = digest(source, "hockney-kernels")
    (source / "kernels/sort.cpp").write_text("extern constinit const WorkloadInfo sort{  // better\n")
    assert len({before, first, digest(source, "hockney-kernels")}) == 3
    assert digest(source) == before


def test_the_copy_that_is_compiled_follows_contents_whatever_the_times_say(source, tmp_path):
    work = Workplace(tmp_path / "work")
    work.mirror(source)
    kept, changed = work.source / "CMakeLists.txt", work.source / "main.cpp"
    for path in (kept, changed):
        os.utime(path, (1e9, 1e9))
    (source / "main.cpp").write_text("int main() {}\n")
    os.utime(source / "main.cpp", (1e8, 1e8))
    (work.source / "gone.cpp").write_text("")
    work.mirror(source)
    assert changed.read_text() == "int main() {}\n" and changed.stat().st_mtime > 1e9
    assert kept.stat().st_mtime == 1e9 and not (work.source / "gone.cpp").exists()


@pytest.mark.slow
def test_two_at_once_do_not_disturb_each_other(source, mpi_mock, tmp_path):
    with ThreadPoolExecutor(2) as pool:
        runs = [pool.submit(build.engine, mpi_mock, source, tmp_path / "cache") for _ in range(2)]
        engines = [run.result() for run in runs]
    assert engines[0].path == engines[1].path and engines[0].path.is_file()
    assert [p.name for p in (tmp_path / "cache/engine").iterdir()] == [engines[0].path.parent.name]


@pytest.mark.slow
def test_two_hosts_at_once_where_nothing_can_be_locked(source, mpi_mock, tmp_path):
    """As on some network file systems: each compiles separately, and one engine is left."""
    refuse = "import errno, fcntl; fcntl.flock = lambda *_: (_ for _ in ()).throw(OSError(errno.ENOLCK, ''))"
    builds = f"""{refuse}
import msgspec, pathlib
from hockney import build
from hockney.core.machine import Mpi
mpi = msgspec.json.decode({msgspec.json.encode(mpi_mock)!r}, type=Mpi)
print(build.engine(mpi, pathlib.Path({str(source)!r}), pathlib.Path({str(tmp_path / "cache")!r})).path)"""
    words = [sys.executable, "-c", builds]
    hosts = [subprocess.Popen(words, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    paths = {host.communicate()[0] for host in hosts}
    assert [host.returncode for host in hosts] == [0, 0, 0] and len(paths) == 1
    assert os.access(paths.pop().strip(), os.X_OK)
    assert len(list((tmp_path / "cache/engine").iterdir())) == 1


def test_a_compile_error_is_one_line_with_the_logs_path(source, mpi_mock, tmp_path):
    (source / "main.cpp").write_text("int main() { return nonsense; }\n")
    with pytest.raises(build.BuildFailed) as caught:
        build.engine(mpi_mock, source, tmp_path / "cache")
    error = caught.value
    assert error.code == "build-failed" and str(error).isprintable()
    assert "nonsense" in error.why and "\n" not in error.why
    assert str(source) in error.why, "not the copy that was compiled"
    assert str(error.log) in error.remedy and "nonsense" in error.log.read_text()
    assert not list((tmp_path / "cache/engine").glob("*/hockney-engine"))


def test_files_whose_names_clash_are_compiled_alone(source, mpi_mock, tmp_path):
    for name in ("one", "two"):
        (source / f"{name}.cpp").write_text(
            f"namespace {{ int same = 1; }} int {name}() {{ return same; }}\n"
        )
    lists = LISTS.replace("main.cpp", "main.cpp one.cpp two.cpp")
    (source / "CMakeLists.txt").write_text(lists)
    made = build.engine(mpi_mock, source, tmp_path / "cache")
    assert made.path.is_file() and "error" not in made.log.read_text(), (
        "the log of the attempt that succeeded"
    )


def test_a_wrapper_without_its_compiler(source, tmp_path):
    mpi = wrapper(tmp_path / "mpi", 'case "$1" in -show) echo g++-99 -lmpi;; *) exec g++-99 "$@";; esac')
    with raises_code("wrapper-without-compiler", compiler="g++-99"):
        build.engine(mpi, source, tmp_path / "cache")


def test_an_engine_that_was_built_needs_no_compiler(source, tmp_path):
    """Cluster nodes often have no compiler."""
    has = tmp_path / "compiler"
    has.touch()
    compiles = f'[ -e {has} ] && exec c++ "$@" || exit 127'
    text = f'case "$1" in -show) echo c++ -lmpi;; *) {compiles};; esac'
    mpi = wrapper(tmp_path / "mpi", text)
    built = build.engine(mpi, source, tmp_path / "cache")
    has.unlink()
    again = build.engine(mpi, source, tmp_path / "cache")
    assert again.cached and (again.path, again.compiler) == (built.path, built.compiler)
    (source / "main.cpp").write_text(PROGRAM + "// edited\n")
    with pytest.raises(EnvironmentProblem):
        build.engine(mpi, source, tmp_path / "cache")


@pytest.mark.slow
def test_an_old_compiler(source, tmp_path):
    text = (
        'case "$*" in -show) echo c++;; *c++20*) echo "what is c++20?" >&2; exit 1;; *) exec c++ "$@";; esac'
    )
    (source / "CMakeLists.txt").write_text(
        LISTS + "set_property(TARGET hockney-engine PROPERTY COMPILE_OPTIONS -std=c++20)\n"
    )
    with raises_code("wrapper-without-cpp20"):
        build.engine(wrapper(tmp_path / "mpi", text), source, tmp_path / "cache")


def test_a_bad_flag_is_not_taken_for_an_old_compiler(source, tmp_path):
    text = 'case "$*" in -show|--version) exec c++ --version;; *) exec c++ -fno-such-flag "$@";; esac'
    with pytest.raises(build.BuildFailed) as caught:
        build.engine(wrapper(tmp_path / "mpi", text), source, tmp_path / "cache")
    assert caught.value.code == "build-failed" and "fno-such-flag" in caught.value.why


@pytest.mark.slow
def test_a_full_disk_in_any_language(source, tmp_path, monkeypatch):
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    output = '[ "$LC_ALL" = C ] && echo "No space left on device" >&2'
    text = f'case "$*" in *main.cpp*|*unity_*) {output}; exit 1;; *) exec c++ "$@";; esac'
    with raises_code("build-disk-full"):
        build.engine(wrapper(tmp_path / "mpi", text), source, tmp_path / "cache")


def test_a_cache_that_cannot_be_written(source, mpi_mock, tmp_path):
    (tmp_path / "file").write_text("")
    with raises_code("cache-unwritable"):
        build.engine(mpi_mock, source, tmp_path / "file")


@pytest.mark.slow
def test_a_cache_that_others_can_write_to_is_not_used(source, mpi_mock, tmp_path):
    built = build.engine(mpi_mock, source, tmp_path / "cache")
    for folder in (built.path.parent, built.path.parent.parent):
        folder.chmod(0o777)
        with raises_code("cache-writable-by-others"):
            build.engine(mpi_mock, source, tmp_path / "cache")
        folder.chmod(0o755)
    assert build.engine(mpi_mock, source, tmp_path / "cache").cached


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_a_cache_of_somebody_else_is_used_only_where_it_is_named(source, mpi_mock, tmp_path):
    built = build.engine(mpi_mock, source, tmp_path / "cache")
    os.chown(built.path.parent, 12345, 12345)
    environ = {k: v for k, v in os.environ.items() if k != "HOCKNEY_CACHE"}
    with raises_code("cache-of-somebody-else"):
        build.engine(mpi_mock, source, tmp_path / "cache", environ=environ)
    named = environ | {"HOCKNEY_CACHE": str(tmp_path / "cache")}
    assert build.engine(mpi_mock, source, tmp_path / "cache", environ=named).cached


def test_an_engine_that_does_not_start(source, mpi_mock, tmp_path):
    (source / "main.cpp").write_text(
        '#include <cstdio>\nint main() { std::fputs("no such luck\\n", stderr); return 9; }\n'
    )
    with raises_code("engine-not-starting", reason="no such luck"):
        build.engine(mpi_mock, source, tmp_path / "cache")


def test_leftovers_of_killed_builds_and_launches_are_swept_after_a_week(tmp_path):
    for name, days in ((".build-old", 8), (".build-new", 6), ("x/.launch-old", 8), ("x/.launch-new", 6)):
        (tmp_path / name).mkdir(parents=True)
        os.utime(tmp_path / name, (time.time() - days * 86400,) * 2)
    remove_leftovers(tmp_path)
    kept = {p.name for p in tmp_path.rglob("*")}
    assert kept == {".build-new", "x", ".launch-new"}
    # like one that is deleted between listing and inspection
    (tmp_path / ".build-gone").symlink_to(tmp_path / "nowhere")
    remove_leftovers(tmp_path)


@pytest.mark.slow
def test_a_build_that_is_killed_leaves_no_compiler_and_no_engine(source, tmp_path):
    mpi = wrapper(
        tmp_path / "mpi", 'case "$*" in *main.cpp*|*unity_*) sleep 6161.7;; *) exec c++ "$@";; esac'
    )
    program = f"""
import msgspec
from pathlib import Path
from hockney import build
from hockney.core.machine import Mpi
mpi = msgspec.json.decode({msgspec.json.encode(mpi)!r}, type=Mpi)
build.engine(mpi, Path({str(source)!r}), Path({str(tmp_path / "cache")!r}))
"""
    front = subprocess.Popen([sys.executable, "-c", program])

    def compiling() -> bool:
        lines = (Path(p, "cmdline") for p in Path("/proc").iterdir() if p.name.isdecimal())
        return any(b"6161.7" in read(line) for line in lines)

    wait_for(compiling)
    front.send_signal(signal.SIGKILL)
    front.wait()
    wait_for(lambda: not compiling())
    assert not list((tmp_path / "cache/engine").glob("*/hockney-engine"))


def read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def wait_for(condition) -> None:
    end = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.1)


def test_old_tools_on_path_give_way_to_the_wheels(tmp_path, monkeypatch):
    old = script(tmp_path / "cmake", "echo cmake version 3.10.2")
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    assert shutil.which("cmake") == str(old)
    assert tool("cmake") != str(old)


def test_the_sources_are_found_in_a_checkout():
    assert (source_folder() / "CMakeLists.txt").is_file()


@pytest.mark.mpi
def test_the_stand_in_compiles_with_a_real_mpi(mpi, stand_in):
    """1 rank, as a singleton: the catalog needs the library but no launcher."""
    assert stand_in.catalog.engine == "stand-in" and stand_in.compiler
    libraries = identify(mpi, STAND_IN, {}).library
    assert libraries and all(Path(name).is_file() and size > 0 for name, size, _ in libraries)
