# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The wording of builds: their errors and their progress."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from hockney.build.log import BuildFailed, first_error
from hockney.core.errors import EnvironmentProblem, one_line
from hockney.core.units import format_bytes
from hockney.system.messages import MAKE_ROOM

Step = Literal["configuring", "compiling", "installing"]
"""Steps of building SimGrid."""

INSTALL_COMPILER = "install GCC 10, Clang 12 or newer (on Debian: apt install g++)"


def _engine(group: str) -> str:
    """The name of an executable in progress lines; "" is the main one."""
    return f"engine's {group}" if group else "engine"


def compiling_engine(group: str, mpi: str, takes: str) -> str:
    return f"compiling the {_engine(group)} for {mpi} (once; {takes})"


def engine_compiled(group: str, seconds: float) -> str:
    return f"compiled the {_engine(group)} in {seconds:.0f} s"


def compiling_ethernet() -> str:
    return "compiling the programs of emulated machines (once; a few seconds)"


def ethernet_does_not_compile(program: str, compiler: str, lines: Sequence[str]) -> EnvironmentProblem:
    return EnvironmentProblem(
        f"{program} does not compile",
        one_line(first_error(lines)),
        f"check that {compiler} compiles C++20 and finds the kernel's headers",
        code="ethernet-does-not-compile",
        program=program,
    )


def sources_missing() -> EnvironmentProblem:
    return EnvironmentProblem(
        "the engine's sources are missing",
        "the installation of hockney is incomplete",
        "reinstall it: pip install --force-reinstall hockney",
        code="engine-sources-missing",
    )


def tool_missing(name: str, version: str) -> EnvironmentProblem:
    return EnvironmentProblem(
        f"no {name} {version} or newer was found",
        "the engine is built with it",
        f"install it: pip install {name}",
        code="build-tool-missing",
        name=name,
        version=version,
    )


def wrapper_without_compiler(wrapper: str, compiler: str, reason: str) -> EnvironmentProblem:
    """`compiler` is the command that the MPI's wrapper runs; "" if it does not print it."""
    name = f"'{compiler}'" if compiler else "its C++ compiler"
    return EnvironmentProblem(
        f"{wrapper} cannot find {name}",
        reason,
        INSTALL_COMPILER,
        code="wrapper-without-compiler",
        wrapper=wrapper,
        compiler=compiler,
    )


def wrapper_without_cpp20(wrapper: str, product: str, *, log: Path, tail: Sequence[str] = ()) -> BuildFailed:
    return BuildFailed(
        f"the compiler of {wrapper} does not support C++20",
        f"the {product} needs it",
        "use GCC 10, Clang 12 or newer (OMPI_CXX, MPICH_CXX or I_MPI_CXX choose the wrapper's compiler)",
        code="wrapper-without-cpp20",
        log=log,
        tail=tail,
        wrapper=wrapper,
    )


def disk_full(product: str, *, log: Path, tail: Sequence[str] = ()) -> BuildFailed:
    return BuildFailed(
        f"cannot build the {product}",
        "the disk is full",
        MAKE_ROOM,
        code="build-disk-full",
        log=log,
        tail=tail,
    )


def does_not_compile(
    product: str, mpi: str, reason: str, *, log: Path, tail: Sequence[str] = ()
) -> BuildFailed:
    return BuildFailed(
        f"the {product} does not compile with {mpi}",
        reason,
        f"the complete log is {log}",
        code="build-failed",
        log=log,
        tail=tail,
    )


def engine_not_starting(mpi: str, reason: str, folder: Path, library_missing: bool) -> EnvironmentProblem:
    """`folder` is the engine's in the cache."""
    return EnvironmentProblem(
        f"the engine compiled for {mpi} does not start",
        reason,
        f"load the module of {mpi}, or add its library folder to LD_LIBRARY_PATH"
        if library_missing
        else f"remove {folder} and try again",
        code="engine-not-starting",
        reason=reason,
        library_missing=library_missing,
    )


def prefix_not_writable(prefix: Path, error: OSError) -> EnvironmentProblem:
    return EnvironmentProblem(
        f"cannot write to {prefix}",
        error.strerror or str(error),
        "choose a writable folder: --prefix ~/.local",
        code="prefix-not-writable",
        prefix=str(prefix),
    )


def compiler_not_working(compiler: str, reason: str) -> EnvironmentProblem:
    return EnvironmentProblem(
        f"the compiler {compiler} does not work", reason, INSTALL_COMPILER, code="compiler-not-working"
    )


def compiler_without_cpp20(compiler: str, reason: str) -> EnvironmentProblem:
    return EnvironmentProblem(
        f"the compiler {compiler} does not support C++20",
        one_line(reason)[:200],
        INSTALL_COMPILER,
        code="compiler-without-cpp20",
    )


def no_compiler(language: str) -> EnvironmentProblem:
    return EnvironmentProblem(
        f"no {language} compiler was found",
        "SimGrid is compiled from source",
        INSTALL_COMPILER,
        code="no-compiler",
        language=language,
    )


def waiting_for_other_build() -> str:
    return "waiting for another hockney process that is building SimGrid here"


def fetching(package: str) -> str:
    return f"fetching {package} from the package index"


def fetching_boost(package: str) -> str:
    return f"fetching {package} from the package index, since the compiler finds no Boost"


def simgrid_step(step: Step, title: str, compiler: str, jobs: int, takes: str) -> str:
    pace = f", {jobs} jobs at a time ({takes})" if step == "compiling" else ""
    return f"{step} {title} with {compiler}{pace}"


def simgrid_installed(title: str, prefix: Path, seconds: float) -> str:
    return f"{title} is in {prefix} ({seconds:.0f} s)"


def no_room_for_simgrid(folder: Path, free: int, needed: int) -> EnvironmentProblem:
    """Both in bytes."""
    return EnvironmentProblem(
        f"{folder} has {format_bytes(free)} free",
        f"building SimGrid takes up to {format_bytes(needed)}",
        MAKE_ROOM,
        code="no-room-for-simgrid",
        free=free,
        needed=needed,
    )


def simgrid_disk_full(title: str, step: Step, *, log: Path, tail: Sequence[str] = ()) -> BuildFailed:
    return BuildFailed(
        f"cannot build {title}",
        f"the disk was full while {step}",
        MAKE_ROOM,
        code="simgrid-disk-full",
        log=log,
        tail=tail,
        step=step,
    )


def simgrid_out_of_memory(title: str, step: Step, *, log: Path, tail: Sequence[str] = ()) -> BuildFailed:
    return BuildFailed(
        f"cannot build {title}",
        f"the compiler was killed while {step}, most likely for lack of memory",
        "stop other programs, or compile on one core with 'taskset -c 0 hockney build --simgrid'; "
        f"the complete log is {log}",
        code="simgrid-out-of-memory",
        log=log,
        tail=tail,
        step=step,
    )


def simgrid_failed(
    title: str, step: Step, reason: str, *, log: Path, tail: Sequence[str] = ()
) -> BuildFailed:
    return BuildFailed(
        f"{step} {title} failed",
        reason,
        f"the complete log is {log}",
        code="simgrid-build-failed",
        log=log,
        tail=tail,
        step=step,
    )


def simgrid_runs_no_program(prefix: Path, reason: str) -> EnvironmentProblem:
    return EnvironmentProblem(
        f"SimGrid was built in {prefix}, but cannot run a program",
        one_line(reason)[-300:],
        f"see {prefix / 'build.log'}",
        code="simgrid-runs-no-program",
        reason=reason,
    )


def wrong_trial_output(output: str) -> str:
    """Why SimGrid's trial failed although it ran."""
    return f"a test program printed: {output}"


def simgrid_headers_do_not_compile(reason: str = "") -> EnvironmentProblem:
    return EnvironmentProblem(
        "SimGrid was built, but its headers do not compile",
        one_line(reason)[:200] or "Boost is missing",
        code="simgrid-headers-do-not-compile",
    )


def not_fetched(package: str, reason: str) -> EnvironmentProblem:
    return EnvironmentProblem(
        f"cannot fetch {package} from the package index",
        reason,
        "check the network and the configuration of pip or uv (index, proxy), or install SimGrid in "
        "another way: apt install libsimgrid-dev (Debian, Ubuntu), conda, spack",
        code="package-not-fetched",
        package=package,
        reason=reason,
    )


def package_without(package: str, file: str) -> EnvironmentProblem:
    return EnvironmentProblem(
        f"{package} does not contain {file}",
        "SimGrid cannot be built without it",
        code="package-incomplete",
        package=package,
        file=file,
    )


def exit_code(code: int) -> str:
    """The reason if a tool printed none."""
    return f"exit code {code}"
