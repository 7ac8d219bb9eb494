# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Before measuring: do n ranks start, does each see all n, and which MPI library do they use?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from hockney import process
from hockney.core.machine import Mpi
from hockney.launch.cluster import Srun
from hockney.launch.ending import ending_of
from hockney.launch.explain import explain, is_hopeless
from hockney.launch.launcher import CheckedRanks, Hello, LaunchCommand
from hockney.launch.messages import explanations, failures, reaching
from hockney.launch.messages.explanations import Explanation
from hockney.launch.reading import CORRUPTED, CORRUPTED_EXIT_CODE
from hockney.launch.transport import transports_in

START_SECONDS = 60.0
SIGNS = (("Intel(R) MPI", "intel"), ("Open MPI", "openmpi"), ("MVAPICH", "mpich"), ("MPICH", "mpich"))
TITLES = {"openmpi": "Open MPI", "mpich": "MPICH", "intel": "Intel MPI"}


decode_hello = msgspec.json.Decoder(Hello).decode


def say_hello(
    command: LaunchCommand,
    mpi: Mpi,
    ranks: int,
    srun: Srun | None = None,
    timeout: float = START_SECONDS,
    hosts: Sequence[str] = (),
) -> CheckedRanks:
    """Run `command`, an engine with --hello, which `srun` starts if it is not None; returns one Hello per
    rank, in order, and the transports that MPI reports. Raises EnvironmentProblem, LaunchFailed if an
    internal message was corrupted."""
    mpi = started_by(mpi, srun)
    try:
        done = process.capture(
            command.words, env=dict(command.environment), timeout=timeout, hopeless=is_hopeless
        )
    except process.CannotStart as error:
        raise explanations.launcher_not_starting(mpi.mpiexec, mpi.title, error.why) from error
    except process.TookTooLong as error:
        explanation = explain(mpi, ranks, (error.err + error.out).splitlines(), hosts)
        explanation = explanation or explanations.no_answer_in_time(
            mpi.title, mpi.mpiexec, ranks, timeout, error.err
        )
        raise explanation.problem() from error
    hellos = hellos_in(done.out.splitlines())
    contradiction = verdict(mpi, ranks, hellos, srun)
    if contradiction is None and done.ok and hellos:
        return CheckedRanks(tuple(hellos), transports_in((done.out + done.err).splitlines()))
    output = (done.err + done.out).splitlines()
    corrupted = CORRUPTED.search(done.err)
    if corrupted or done.code == CORRUPTED_EXIT_CODE:
        rank, sender = map(int, corrupted.groups()) if corrupted else (None, None)
        raise failures.message_corrupted("", rank, sender, job_exit=done.code, tail=tuple(output))
    explanation = (
        contradiction if srun and contradiction else explain(mpi, ranks, output, hosts) or contradiction
    )
    if explanation is not None:
        raise explanation.problem()
    raise explanations.ranks_do_not_start(
        mpi.title,
        ranks,
        ending_of(done.code, output),
        Path(mpi.mpiexec).name,
        " ".join(command.words[:3]),
    )


def hellos_in(lines: Iterable[str]) -> list[Hello]:
    """Other lines are output of the launcher, of MPI, or of the site's start-up scripts; they may be merged
    with those of ranks."""
    hellos = []
    for line in lines:
        try:
            hellos.append(decode_hello(line[line.index("{") : line.rindex("}") + 1]))
        except (ValueError, msgspec.DecodeError):
            continue
    return sorted(hellos, key=lambda hello: hello.rank)


def started_by(mpi: Mpi, srun: Srun | None) -> Mpi:
    """With the program that starts its ranks."""
    return msgspec.structs.replace(mpi, mpiexec=srun.program) if srun else mpi


def verdict(mpi: Mpi, ranks: int, hellos: Sequence[Hello], srun: Srun | None = None) -> Explanation | None:
    """The problem with these answers; None if all `ranks` ranks answer and see each other, and if none
    answers."""
    families = {family_of(hello.library) for hello in hellos} - {mpi.family, "unknown"}
    if families and mpi.family != "unknown":
        return explanations.other_library(mpi.title, TITLES[families.pop()])
    if ranks > 1 and len(hellos) > 1 and all(hello.size == 1 for hello in hellos):
        if srun:
            return reaching.not_connected_by_srun(srun.pmi)
        return explanations.separate_jobs(mpi.mpiexec, hellos[0].library.splitlines()[0])
    complete = [hello.rank for hello in hellos] == list(range(ranks))
    if hellos and not (complete and all(hello.size == ranks for hello in hellos)):
        return explanations.ranks_missing(len(hellos), ranks, mpi.mpiexec)
    differing = [hello.host for hello in hellos if hello.engine != hellos[0].engine]
    return reaching.engines_differ(list(dict.fromkeys(differing))) if differing else None


def family_of(library: str) -> str:
    return next((family for sign, family in SIGNS if sign in library), "unknown")
