# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The wording of measuring: errors, progress notices, and the findings of 'hockney doctor'."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from hockney.core.errors import (
    EnvironmentProblem,
    HockneyError,
    UsageError,
    one_line,
    printable,
    sentences,
    unknown,
)
from hockney.core.notice import Notice
from hockney.core.units import format_bytes, format_seconds, format_size
from hockney.core.wording import plural
from hockney.lab.finding import Finding


def note(text: str) -> str:
    """A line of progress that is only a note."""
    return f"note: {text}"


def too_many_ranks(ranks: int, threads: int, limit: int) -> UsageError:
    return UsageError(
        f"{ranks} ranks are too many for {threads} hardware threads",
        "they would exhaust the machine instead of measuring it",
        f"use --ranks up to {limit}",
        code="ranks-exceed-machine",
        ranks=ranks,
        limit=limit,
    )


def too_much_memory(workload: str, size: int, ranks: int, memory: int) -> UsageError:
    """`ranks` share a host with `memory` bytes."""
    of_all = "" if ranks == 1 else f" on each of {ranks} ranks"
    return UsageError(
        f"{workload} with bytes={format_size(size).replace(' ', '')} does not fit into this host's memory",
        f"it needs at least one buffer of {format_size(size)}{of_all}, and the host has "
        f"{format_bytes(memory)}",
        f"use at most {format_bytes(_half_power_below(memory // ranks))}",
        code="message-exceeds-memory",
        bytes=size,
        ranks=ranks,
        memory=memory,
    )


def _half_power_below(size: int) -> int:
    """A power of two that leaves half of the memory free."""
    return 1 << max(0, (size // 2).bit_length() - 1)


def unknown_machine(machine: str, available: Sequence[str]) -> UsageError:
    example = f"use for example {available[0]}; " if available else ""
    return unknown(
        "machine", machine, available, f"{example}'hockney machines' lists all", code="unknown-machine"
    )


def only_published(machine: str) -> UsageError:
    return UsageError(
        f"cannot measure on '{printable(machine)}'",
        "there are only the numbers that a paper printed",
        "'hockney report' and 'hockney models' show them",
        code="machine-only-published",
        machine=machine,
    )


def no_mpiexec_on_machine(machine: str) -> UsageError:
    return UsageError(
        f"--mpiexec-args, -x and launch settings do not apply to {printable(machine)}",
        "no mpiexec starts its ranks",
        "leave them out",
        code="no-mpiexec-on-machine",
        machine=machine,
    )


def compiling_library(mpi: str) -> str:
    return f"compiling the library for {mpi} (takes about a minute)"


def simgrid_present(title: str, prefix: str, built_here: bool) -> str:
    """`built_here`: whether it is the one in the cache."""
    other = "" if built_here else " and is used; --force builds another one into the cache"
    return f"{title} is already in {prefix}{other}"


def field_name(field: str) -> str:
    """The user's name of a field of a machine."""
    return {"cpu": "processor", "mpi": "MPI"}.get(field, field)


def not_set() -> str:
    """The displayed value of a variable that is not set."""
    return "unset"


def other_kind(kind: str, host: str, kind_here: str, here: str) -> str:
    """How a survey's machine differs from the present one."""
    return f"a {kind} machine ({host}), here a {kind_here} one ({here})"


def description_changed(name: str) -> str:
    return f"the description of {name} has changed since"


def other_description(name: str, here: str) -> str:
    return f"the description {name}, here {here}"


def other_field(field: str, value: str, here: str) -> str:
    return f"{field_name(field)} {value}, here {here}"


def survey_of_other_machine(where: str, differences: Sequence[str]) -> UsageError:
    return UsageError(
        f"the survey {where} was made on another machine or with other settings",
        "; ".join(differences),
        "survey this machine with 'hockney survey', or use the other survey with --force",
        code="survey-of-other-machine",
        where=where,
        differences=tuple(differences),
    )


def nothing_measured(where: str) -> UsageError:
    return UsageError(
        f"nothing was measured in {where}",
        "it has no parameters that a study could use",
        f"use 'hockney resume {where}'",
        code="survey-without-records",
        where=where,
    )


def no_message_costs(where: str) -> UsageError:
    return UsageError(
        f"{where} does not give the cost of a message",
        "no model of a ping-pong fits its data",
        "use a run of 'hockney survey', or leave out survey=",
        code="survey-without-message-costs",
        where=where,
    )


def other_part(folder: Path) -> UsageError:
    return UsageError(
        f"{folder} was started with other cases or on another machine",
        "its results do not belong to this reproduction",
        "choose a new folder with --out",
        code="part-of-other-cases",
        folder=str(folder),
    )


def launches_failed(count: int, last: HockneyError) -> EnvironmentProblem:
    return EnvironmentProblem(
        f"{count} launches failed one after another",
        str(last).rstrip("."),
        "'hockney doctor' looks for the cause; 'hockney resume' continues",
        code="launches-failed",
        count=count,
        last=last.code,
    )


def launch_without_result() -> EnvironmentProblem:
    return EnvironmentProblem(
        "a launch ended without a result",
        "the engine skipped its plan",
        "run 'hockney build' to compile the engine again",
        code="launch-without-result",
    )


def launch_failed(problem: HockneyError) -> Notice:
    return Notice(str(problem), problem.code)


def cases_relaunched() -> Notice:
    return Notice("the remaining cases are relaunched", "cases-relaunched")


def out_of_time(problem: HockneyError) -> Notice:
    return Notice(sentences(str(problem), "'hockney resume' continues"), "launch-out-of-time")


def sizes_added(workloads: Sequence[str]) -> str:
    """`workloads` has the name of each added case's workload."""
    where = ", ".join(f"{count} of {name}" for name, count in Counter(workloads).items())
    return f"measuring {plural(len(workloads), 'more size')} where the cost curve changes: {where}"


def budget_used_up(left: int, launch_s: float) -> Notice:
    """`launch_s` is the cost of a launch without its cases."""
    return Notice(
        f"the time is used up with {left} measurements left (a launch alone takes {launch_s:.1f} s): "
        "finish with 'hockney resume', or use a larger --budget",
        "budget-used-up",
    )


def round_late(number: int, late_s: float, every_s: float) -> Notice:
    """`number` counts from 1."""
    return Notice(
        f"round {number} starts {format_seconds(late_s, 2)} late because the previous one took longer than "
        f"the {format_seconds(every_s)} between rounds; use a larger --every",
        "round-late",
    )


def rounds_late(late: int, count: int) -> Notice:
    return Notice(f"{late} of {count} rounds started late", "rounds-late")


def period_over(left: int) -> Notice:
    return Notice(
        f"the period is over with {left} {'round' if left == 1 else 'rounds'} left because others took "
        "longer than their budget; 'hockney resume' measures them",
        "period-over",
    )


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


def oversubscribed_ranks_start(ranks: int) -> Finding:
    return Finding("good", f"{ranks} ranks", "start, though they share cores", "oversubscribed-ranks-start")


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
