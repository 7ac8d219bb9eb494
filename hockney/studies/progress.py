# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Studies of launches in which MPI's progress thread continues communication while the program computes."""

from __future__ import annotations

from collections.abc import Sequence

from hockney.core.errors import UsageError
from hockney.core.launch_setting import LaunchSetting
from hockney.core.machine import Machine
from hockney.core.progress_thread import OWN, THREAD, for_all_transports, thread_of


def thread_setting(progress: Sequence[str], machine: Machine) -> tuple[LaunchSetting, ...]:
    """The setting of the progress thread if `progress` (of OWN and THREAD) names it, or names nothing and MPI
    has one for all transports. Raises UsageError if it is requested and MPI has none."""
    thread = thread_of(machine)
    if not progress:
        return () if thread is None or not for_all_transports(machine) else (thread,)
    if THREAD not in progress:
        return ()
    if thread is None:
        mpi = "" if machine.mpi is None else machine.mpi.title
        raise UsageError(
            f"{mpi or 'this machine'} has no progress thread that hockney can switch on",
            "",
            "use progress=own, or another MPI, for example --mpi mpich",
            code="no-progress-thread",
        )
    return (thread,)


def by_calls(progress: Sequence[str]) -> bool:
    """Whether launches without the thread are wanted."""
    return OWN in (progress or (OWN,))
