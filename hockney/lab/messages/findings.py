# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The findings of the doctor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from hockney.core.errors import (
    EnvironmentProblem,
    HockneyError,
    one_line,
    sentences,
)
from hockney.core.units import format_bytes, format_seconds
from hockney.lab.finding import Finding


def machine_is_fake() -> Finding:
    return Finding("good", "machine", "fake; it can always measure", "fake-machine")


def machine_found(cpu: str, cores: int, system: str) -> Finding:
    return Finding("good", "machine", f"{cpu}, {cores} cores, {system}", "machine")


def python_found(version: str, prefix: str) -> Finding:
    return Finding("good", "Python", f"{version} in {prefix}", "python")


def virtual_machine(hypervisor: str) -> Finding:
    return Finding(
        "note", "virtual", f"{hypervisor}: other guests can slow it down undetected", "virtual-machine"
    )


def governor_not_performance(governor: str) -> Finding:
    return Finding(
        "note", "governor", f"{governor}: set 'performance' for stable numbers", "governor-not-performance"
    )


def no_shared_memory() -> Finding:
    return Finding("note", "/dev/shm", "missing: MPI will use files or sockets", "shared-memory-missing")


def little_shared_memory(free: int) -> Finding:
    return Finding(
        "note",
        "/dev/shm",
        f"has {format_bytes(free)} free; a container may need more (docker run --shm-size=1g)",
        "shared-memory-small",
    )


def enough_shared_memory(free: int) -> Finding:
    return Finding("good", "/dev/shm", f"has {format_bytes(free)} free", "shared-memory")


def cache_writable(folder: Path) -> Finding:
    return Finding("good", "cache", f"{folder} is writable", "cache-writable")


def cache_not_writable(folder: Path, reason: str) -> Finding:
    return Finding(
        "bad",
        "cache",
        f"{folder} is not writable ({reason}): set HOCKNEY_CACHE to another folder",
        "cache-not-writable",
    )


def simgrid_found(version: str, prefix: str, source: str) -> Finding:
    return Finding("good", "SimGrid", f"{version} in {prefix} (by {source})", "simgrid")


def simgrid_missing(problem: HockneyError) -> Finding:
    text = sentences(str(problem), "only simulated machines need it")
    return Finding("note", "SimGrid", text, "simgrid-missing")


def mpi_found(title: str, mpicxx: str, mpiexec: str, source: str) -> Finding:
    return Finding("good", "MPI", f"{title}: {mpicxx} and {mpiexec} (by {source})", "mpi")


def other_mpi(title: str, mpicxx: str) -> Finding:
    return Finding("note", "other MPI", f"{title}; measure it with --mpi {mpicxx}", "other-mpi")


def engine_built(path: Path, cached: bool, seconds: float, compiler: str) -> Finding:
    how = "compiled earlier" if cached else f"compiled in {format_seconds(seconds)}"
    return Finding("good", "engine", f"{path} ({how}, {compiler})", "engine")


def mpi_complete(title: str, mpicxx: str, cached: bool) -> Finding:
    """`cached`: found earlier."""
    numbers = {"mpi": title, "mpicxx": mpicxx, "lacks": [], "cached": cached}
    return Finding("good", title, "has every call that hockney's workloads use", "mpi-complete", numbers)


def mpi_lacks(title: str, mpicxx: str, lacking: Mapping[str, str], cached: bool) -> Finding:
    """`lacking`: what this MPI lacks, each with the groups or cases that are refused therefore."""
    listed = "; ".join(f"{what} ({refused})" for what, refused in lacking.items())
    lacks = [{"what": what, "refused": refused.split(", ")} for what, refused in lacking.items()]
    numbers = {"mpi": title, "mpicxx": mpicxx, "lacks": lacks, "cached": cached}
    text = f"lacks, with the refused workloads in parentheses: {listed}"
    return Finding("note", title, text, "mpi-lacks", numbers)


def abilities_unknown(mpi: str, output: str) -> EnvironmentProblem:
    """`output` is the compiler's or the launcher's."""
    lines = [line for line in output.splitlines() if line.strip()]
    return EnvironmentProblem(
        f"cannot determine what {mpi} lacks",
        f"a small test program does not compile or run: {one_line(lines[-1])}" if lines else "",
        "a workload that needs a missing call is refused when it runs",
        code="abilities-unknown",
        mpi=mpi,
    )


def mpi_not_tried(title: str, problem: HockneyError) -> Finding:
    return Finding("note", title, str(problem), "abilities-unknown")


def root_allowed() -> Finding:
    text = "running as root: hockney sets OMPI_ALLOW_RUN_AS_ROOT for its launches, as containers need"
    return Finding("note", "user", text, "root-allowed")


def ranks_start(ranks: int, hosts: Sequence[str]) -> Finding:
    return Finding("good", f"{ranks} ranks", f"start and see each other on {', '.join(hosts)}", "ranks-start")


def oversubscribed_ranks_fail(ranks: int, problem: HockneyError) -> Finding:
    return Finding(
        "note",
        f"{ranks} ranks",
        f"more ranks than cores do not start: {problem}",
        "oversubscribed-ranks-fail",
    )


def binding_reported(binding: str, bound: bool) -> Finding:
    return Finding("good" if bound else "note", "binding", binding, "bound" if bound else "not-bound")


def binding_unknown() -> Finding:
    return Finding("note", "binding", "the ranks do not report where they run", "binding-unknown")


def load_unknown() -> Finding:
    return Finding("note", "load", "the system does not report the load of other programs", "load-unknown")


def load_low(processors: float) -> Finding:
    return Finding("good", "load", f"other programs use {processors:.2f} processors", "load-low")


def load_high(processors: float) -> Finding:
    return Finding(
        "note",
        "load",
        f"other programs use {processors:.2f} processors; stop them before measuring",
        "load-high",
    )


def cannot_measure(problem: HockneyError) -> Finding:
    return Finding("bad", "cannot measure", str(problem), "cannot-measure")
