# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Studies of launches in which MPI's progress thread continues communication while the program computes."""

from __future__ import annotations

from collections.abc import Sequence

from hockney.core.errors import UsageError
from hockney.core.launch_setting import LaunchSetting
from hockney.core.machine import Machine
from hockney.mpi import ProgressThread, family_of, title_of

SETTING = "progress-thread"
OWN, THREAD = "own", "thread"
"""Only calls of MPI make progress, or a thread as well."""
FAKE_PROGRESS_SETTING = LaunchSetting(SETTING, (("MPICH_ASYNC_PROGRESS", "1"),))
"""The setting of the machine with made-up costs (launch/fake_world.py)."""


def thread_of(machine: Machine) -> LaunchSetting | None:
    """The setting that switches on the thread of the machine's MPI; None if it has none, or if mpiexec does
    not start its ranks."""
    if machine.traits.is_fake:
        return FAKE_PROGRESS_SETTING
    thread = _thread(machine) if machine.traits.uses_mpiexec else None
    return LaunchSetting(SETTING, ((thread.variable, "1"),)) if thread else None


def thread_setting(progress: Sequence[str], machine: Machine) -> tuple[LaunchSetting, ...]:
    """The setting of the progress thread if `progress` (of OWN and THREAD) names it, or names nothing and MPI
    has one for all transports. Raises UsageError if it is requested and MPI has none."""
    thread = thread_of(machine)
    if not progress:
        return () if thread is None or not _for_all_transports(machine) else (thread,)
    if THREAD not in progress:
        return ()
    if thread is None:
        mpi = "" if machine.mpi is None else title_of(machine.mpi)
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


def _thread(machine: Machine) -> ProgressThread | None:
    return None if machine.mpi is None else family_of(machine.mpi).progress_thread(machine.mpi)


def _for_all_transports(machine: Machine) -> bool:
    """Whether the thread serves all messages, and not only those through TCP."""
    thread = _thread(machine)
    return thread is None or thread.all_transports
