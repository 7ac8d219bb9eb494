# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A SimGrid for simulated machines: the one there is, or one built into hockney's cache."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

from hockney import build
from hockney.core.machine import Mpi
from hockney.lab.bench import Tell
from hockney.machine import find_simgrid, processors, simgrids
from hockney.machine.cpu import memory_bytes

JOB_BYTES = 1 << 30
"""SimGrid's largest source takes GCC 12 0.53 GB."""


def bring_simgrid(
    again: bool,
    tell: Tell,
    progress: Callable[[int, int], None],
    environ: Mapping[str, str] | None = None,
) -> Mpi:
    """The SimGrid that simulated machines run on from now on; `again` builds one even where one is.

    Raises EnvironmentProblem where there is none and none can be built.
    """
    environ = os.environ if environ is None else environ
    there = None if again else usable(environ, tell)
    if there is not None:
        whose = (
            "" if there.source == "cache" else ", and is used; --force builds one into the cache all the same"
        )
        tell(f"{there.title} is in {there.prefix} already{whose}")
        return there
    build.simgrid(environ, tell, progress, jobs(), again)
    return find_simgrid(environ, tell)


def usable(environ: Mapping[str, str], tell: Tell) -> Mpi | None:
    """The one that $HOCKNEY_SIMGRID names, which has to work, or the first there is."""
    if environ.get("HOCKNEY_SIMGRID"):
        return find_simgrid(environ, tell)
    return next(simgrids(environ, tell), None)


def jobs() -> int:
    """How many compilers at once: as many as cores may be used and memory holds."""
    return max(1, min(processors().cores.usable, memory_bytes() // JOB_BYTES))
