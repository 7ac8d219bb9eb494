# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The eager limit: up to which size a message is sent before its receiver is ready. Launches with different
limits take turns; MPI's own limit has separate launches too, so that all pingpongs have the same company.

On the T3E of the paper the best setting was 4096 B (`MPI_BUFFER_MAX`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hockney.core.launch_setting import LaunchSetting
from hockney.core.machine import Machine
from hockney.core.parameters import StudyParameter
from hockney.mpi import family_of
from hockney.pages.evidence import Options
from hockney.studies import places

LIMITS = StudyParameter(
    "eager",
    "integer",
    "eager limits to try on 2 ranks, 0 for none",
    unit="B",
    default="1KiB,4KiB,16KiB,64KiB",
    high=1 << 20,
    many=True,
)
PREFIX = "eager-"
OWN = f"{PREFIX}own"
"""The launches with MPI's own limit."""
SIZES = tuple(512 << k for k in range(10))
"""512 B to 256 KiB: on both sides of every limit."""


def variables(limit: int, machine: Machine) -> dict[str, str]:
    """The variables for an eager limit; none if the machine's MPI has no known ones."""
    if machine.traits.is_fake:
        return {"FAKE_EAGER_LIMIT": str(limit)}
    if machine.mpi is None or not machine.traits.uses_mpiexec:
        return {}
    return family_of(machine.mpi).eager_limit(machine.mpi, limit)


def name_of(limit: int) -> str:
    """ "eager-4096"."""
    return f"{PREFIX}{limit}"


def limit_of(setting: str) -> int | None:
    """The inverse (bytes); None for another setting."""
    limit = setting.removeprefix(PREFIX)
    return int(limit) if limit != setting and limit.isdecimal() else None


def limits(options: Options, machine: Machine) -> list[int]:
    """The limits to try; empty if the machine has no such variables, or if two ranks are not measured."""
    wanted = [limit for limit in options.value(LIMITS) if limit]
    if options.ranks and 2 not in options.ranks:
        return []
    return [limit for limit in wanted if variables(limit, machine)]


def launch_settings(options: Options, machine: Machine) -> Sequence[LaunchSetting]:
    wanted = limits(options, machine)
    own = [LaunchSetting(OWN, ())] if wanted else []
    return [*own, *(LaunchSetting.of(name_of(limit), variables(limit, machine)) for limit in wanted)]


def lines(options: Options, machine: Machine) -> Iterator[str]:
    """The cases, on ranks of one node where a node has several."""
    where = places.at(places.spanned(machine)[0])
    for setting in launch_settings(options, machine):
        for size in SIZES:
            yield f"pingpong bytes={size} buffers=hot ranks=2 setting={setting.name}{where}"
