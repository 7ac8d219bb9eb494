# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Studies with launches in which MPI's progress thread continues communication while the program computes."""

from __future__ import annotations

from collections.abc import Sequence

from hockney.core.errors import UsageError
from hockney.core.launch_setting import LaunchSetting
from hockney.core.machine import Machine
from hockney.mpi import ProgressThread, family_of, title_of

SETTING_NAME = "progress-thread"
OWN_PROGRESS, THREAD_PROGRESS = "own", "thread"
"""Progress only in MPI calls, or also by a thread."""
FAKE_PROGRESS_SETTING = LaunchSetting(SETTING_NAME, (("MPICH_ASYNC_PROGRESS", "1"),))
"""The setting of the fake machine with invented costs (launch/fake_world.py)."""


def progress_thread_setting(machine: Machine) -> LaunchSetting | None:
    """The setting that enables the progress thread of the machine's MPI. None if it has no such thread, or if
    mpiexec does not start its ranks."""
    if machine.traits.is_fake:
        return FAKE_PROGRESS_SETTING
    thread = _progress_thread(machine) if machine.traits.uses_mpiexec else None
    return LaunchSetting(SETTING_NAME, ((thread.variable, "1"),)) if thread else None


def requested_thread_setting(progress: Sequence[str], machine: Machine) -> tuple[LaunchSetting, ...]:
    """The setting of the progress thread if `progress` (of OWN_PROGRESS and THREAD_PROGRESS) contains it, or
    if `progress` is empty and MPI has a thread for all transports. Raises UsageError if it is requested and
    MPI has none."""
    thread = progress_thread_setting(machine)
    if not progress:
        return () if thread is None or not _serves_all_transports(machine) else (thread,)
    if THREAD_PROGRESS not in progress:
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


def measures_own_progress(progress: Sequence[str]) -> bool:
    """Whether launches without the thread are requested."""
    return OWN_PROGRESS in (progress or (OWN_PROGRESS,))


def _progress_thread(machine: Machine) -> ProgressThread | None:
    return None if machine.mpi is None else family_of(machine.mpi).progress_thread(machine.mpi)


def _serves_all_transports(machine: Machine) -> bool:
    """Whether the thread handles all messages, and not only those through TCP."""
    thread = _progress_thread(machine)
    return thread is None or thread.all_transports
