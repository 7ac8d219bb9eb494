# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The cause of a failed launch, from its launcher's output."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from hockney.core.machine import Mpi
from hockney.launch.messages import explanations
from hockney.launch.messages.explanations import Explanation

NOT_CONNECTED = r"PMI2?_Init|not built with.*PMI|MPI_INIT failed|PMIx_Init|PMIX ERROR: .*UNREACHABLE"

CAUSES: tuple[tuple[str, int, Callable[[Mpi, int, str], Explanation]], ...] = (
    ("attempt to run as root", 0, lambda mpi, ranks, name: explanations.runs_not_as_root(mpi.title)),
    (
        r"not enough slots|slots available|more processors than available",
        0,
        lambda mpi, ranks, name: explanations.not_enough_slots(mpi.title, ranks),
    ),
    (
        r"error while loading shared libraries: (\S+?):|Library not loaded: (\S+)",
        0,
        lambda mpi, ranks, name: explanations.library_not_found(name, mpi.title),
    ),
    (r"GLIBC\w*_[\d.]+' not found", 0, lambda mpi, ranks, name: explanations.older_system_library()),
    (
        r"unable to launch the specified application|execvp error|could not find executable",
        0,
        lambda mpi, ranks, name: explanations.engine_not_reachable(),
    ),
    (
        r"bash: .*(?:prted|orted|hydra_\w*proxy): .*not found|(?:ssh|srun): .*not found",
        0,
        lambda mpi, ranks, name: explanations.hosts_not_reachable(mpi.title),
    ),
    (NOT_CONNECTED, re.IGNORECASE, lambda mpi, ranks, name: explanations.other_launcher(mpi.mpiexec)),
    (
        r"No space left on device|not enough space.*(?:/dev/shm|shared memory)",
        re.IGNORECASE,
        lambda mpi, ranks, name: explanations.no_shared_memory(mpi.title),
    ),
)
"""Patterns in the launcher's output, their flags, and their meaning; `name` is the pattern's captured
text."""


def explain(mpi: Mpi, ranks: int, output: Iterable[str]) -> Explanation | None:
    """The meaning of the launcher's output, for failures with a known remedy."""
    text = "\n".join(output)
    for pattern, flags, explanation in CAUSES:
        match = re.search(pattern, text, flags)
        if match:
            return explanation(mpi, ranks, next((group for group in match.groups() if group), ""))
    return None
