# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Test launches before measuring: do n ranks start, does each see all n, and which MPI library do they
use?"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from hockney import process
from hockney.core.errors import EnvironmentProblem, one_line, printable
from hockney.core.machine import Mpi
from hockney.launch.cluster import Srun
from hockney.launch.failures import Explanation, describe_ending, explain, is_fatal_line, parse_ending
from hockney.launch.launcher import CheckedRanks, Hello, LaunchCommand
from hockney.launch.reading import CORRUPTED, CORRUPTED_EXIT_CODE, message_corrupted
from hockney.mpi import families, family_of, family_of_library, title_of

START_SECONDS = 60.0
MAX_TRANSPORT_NAME = 100
"""Maximum length of a transport's name in characters."""

decode_hello = msgspec.json.Decoder(Hello).decode


def say_hello(
    command: LaunchCommand,
    mpi: Mpi,
    ranks: int,
    srun: Srun | None = None,
    timeout: float = START_SECONDS,
    hosts: Sequence[str] = (),
) -> CheckedRanks:
    """Run `command`, an engine with --hello, started by `srun` unless it is None. Returns one Hello per rank,
    in order, and the transports that MPI reports. Raises EnvironmentProblem, or LaunchFailed if an internal
    message was corrupted."""
    mpi = with_starter(mpi, srun)
    try:
        result = process.capture(
            command.words, env=dict(command.environment), timeout=timeout, is_fatal=is_fatal_line
        )
    except process.CannotStart as error:
        raise EnvironmentProblem(
            f"{mpi.mpiexec} cannot be started",
            error.why,
            f"repair or reinstall {title_of(mpi)}, or choose another MPI with --mpi",
            code="launcher-not-starting",
            reason=error.why,
        ) from error
    except process.ProgramTimeout as error:
        explanation = explain(mpi, ranks, (error.err + error.out).splitlines(), hosts)
        explanation = explanation or Explanation(
            "ranks-not-started-in-time",
            f"{title_of(mpi)} did not start {ranks} ranks within {timeout:g} s",
            one_line(" ".join(error.err.split()[-40:])) or "it printed nothing",
            f"try '{mpi.mpiexec} -n {ranks} hostname'; in a batch job, check its network and host names",
        )
        raise explanation.problem() from error
    hellos = parse_hellos(result.out.splitlines())
    contradiction = find_contradiction(mpi, ranks, hellos, srun)
    if contradiction is None and result.ok and hellos:
        return CheckedRanks(tuple(hellos), parse_transports((result.out + result.err).splitlines()))
    output = (result.err + result.out).splitlines()
    corrupted = CORRUPTED.search(result.err)
    if corrupted or result.code == CORRUPTED_EXIT_CODE:
        rank, sender = map(int, corrupted.groups()) if corrupted else (None, None)
        raise message_corrupted("", rank, sender, job_exit=result.code, tail=tuple(output))
    explanation = (
        contradiction if srun and contradiction else explain(mpi, ranks, output, hosts) or contradiction
    )
    if explanation is not None:
        raise explanation.problem()
    ending = parse_ending(result.code, output)
    raise EnvironmentProblem(
        f"{title_of(mpi)} does not start {ranks} ranks",
        describe_ending(ending, Path(mpi.mpiexec).name),
        f"try '{' '.join(command.words[:3])} hostname'",
        code="ranks-do-not-start",
        ranks=ranks,
        ending=ending,
    )


def parse_hellos(lines: Iterable[str]) -> list[Hello]:
    """Parse the ranks' lines. All other lines are output of the launcher, of MPI, or of the site's start-up
    scripts. They may be merged with the lines of ranks."""
    hellos = []
    for line in lines:
        try:
            hellos.append(decode_hello(line[line.index("{") : line.rindex("}") + 1]))
        except (ValueError, msgspec.DecodeError):
            continue
    return sorted(hellos, key=lambda hello: hello.rank)


def with_starter(mpi: Mpi, srun: Srun | None) -> Mpi:
    """Return the MPI with the program that starts its ranks."""
    return msgspec.structs.replace(mpi, mpiexec=srun.program) if srun else mpi


def find_contradiction(
    mpi: Mpi, ranks: int, hellos: Sequence[Hello], srun: Srun | None = None
) -> Explanation | None:
    """Return the problem with these answers. None if all `ranks` ranks answer and see each other, or if no
    rank answers."""
    families_found = {family_of_library(hello.library) for hello in hellos} - {family_of(mpi)}
    other_titles = [family.title for family in families_found if family.known]
    if other_titles and family_of(mpi).known:
        expected_title, actual_title = title_of(mpi), other_titles[0]
        return Explanation(
            "library-of-another-mpi",
            f"the engine was compiled for {expected_title}, but the ranks found the library of "
            f"{actual_title}",
            "LD_LIBRARY_PATH or a loaded module puts it first",
            f"unset LD_LIBRARY_PATH, unload {actual_title}, or measure {actual_title} instead with --mpi",
        )
    if ranks > 1 and len(hellos) > 1 and all(hello.size == 1 for hello in hellos):
        if srun:
            return Explanation(
                "ranks-run-as-separate-jobs",
                "every rank runs as a separate single-process job",
                f"srun does not connect them by --mpi={srun.pmi or 'none'}",
                "use --launcher mpiexec, or an interface of 'srun --mpi=list' that the MPI was built with",
            )
        return Explanation(
            "ranks-run-as-separate-jobs",
            "every rank runs as a separate single-process job",
            f"{mpi.mpiexec} does not belong to the library that the ranks found, which is "
            f"{hellos[0].library.splitlines()[0][:60]}",
            "give the MPI's own prefix with --mpi, and unload other MPI modules",
        )
    all_answered = [hello.rank for hello in hellos] == list(range(ranks))
    if hellos and not (all_answered and all(hello.size == ranks for hello in hellos)):
        return Explanation(
            "ranks-missing",
            f"only {len(hellos)} of {ranks} ranks answered",
            "",
            f"try '{mpi.mpiexec} -n {ranks} hostname'",
        )
    differing_hosts = list(dict.fromkeys(hello.host for hello in hellos if hello.engine != hellos[0].engine))
    if not differing_hosts:
        return None
    names = ", ".join(map(printable, differing_hosts[:3]))
    remainder = " and others" if len(differing_hosts) > 3 else ""
    return Explanation(
        "engines-differ",
        f"another engine runs on {names}{remainder} than on the first host",
        "the cache folder there has other contents",
        "set HOCKNEY_CACHE to a folder that all hosts share",
    )


def parse_transports(lines: Iterable[str]) -> dict[str, str]:
    """Parse the transports that MPI reports in `lines`, the output of ranks; empty if it reports none."""
    reports = dict.fromkeys(report for family in families() for report in family.transport_reports)
    transports: dict[str, str] = {}
    for line in lines:
        for pattern, scope in reports:
            match = re.search(pattern, line)
            if match is None:
                continue
            share, name = match[1], one_line(match[2])[:MAX_TRANSPORT_NAME]
            if name and name != "n/a":
                transports.setdefault(scope, f"mostly {name}" if share == "most" else name)
    return transports
