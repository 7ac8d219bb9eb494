# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The contents of the index about an archived run, without its times."""

from __future__ import annotations

import contextlib
import hashlib
import re

import msgspec

from hockney.core.machine import Machine
from hockney.core.record import Origin, RunRecords
from hockney.mpi import title_of
from hockney.store import Plan, RunFolder, missing_items

EARLIEST_S = 1e9
"""Earlier times are not dates, because some clocks start at 0, such as those of simulated machines."""


class ArchivedRun(msgspec.Struct, frozen=True, kw_only=True):
    """A run of the archive, in its folder `name`. `identity` is the same for two states of one run; the later
    state has more records. `machine` names where it ran (`machine_of`), `host` is its first host. `started_s`
    is the time of the first launch (s since 1970), or of the plan on a machine without dates. `left` counts
    missing measurements; `bytes` is the size of the records."""

    name: str
    identity: str
    study: str
    label: str
    origin: Origin
    machine: str
    host: str
    mpi: str
    hockney: str
    started_s: float
    launches: int
    records: int
    cases: int
    failures: int
    left: int
    bytes: int


class Damaged(msgspec.Struct, frozen=True, kw_only=True):
    """A folder of the archive whose run cannot be read. `text` is the sentence of the error `code`."""

    name: str
    code: str
    text: str


def describe(folder: RunFolder) -> ArchivedRun:
    """Read the complete run with its catalog and survey, and describe it. Raises EnvironmentProblem if it is
    damaged."""
    folder.catalog()
    folder.surveyed()
    plan, machine, reading = folder.plan(), folder.machine(), folder.read()
    run = reading.run
    return ArchivedRun(
        name=folder.path.name,
        identity=identity_of(plan, machine, run),
        study=plan.settings.study,
        label=plan.settings.label,
        origin=machine.traits.origin,
        machine=machine_of(machine),
        host=machine.host,
        mpi=_mpi_title(machine, run),
        hockney=machine.hockney,
        started_s=_start_time_s(folder, run),
        launches=len(run.launches),
        records=len(run.records),
        cases=len({record.case for record in run.records}),
        failures=len(run.failures),
        left=len(missing_items(plan, run)),
        bytes=reading.valid_bytes,
    )


def machine_of(machine: Machine) -> str:
    """Return the name of the machine whose runs form a series: usually the host. For a batch job, which gets
    other nodes every time, it is the host's name without its number; for a described machine, its name; for
    logs, the machine with the suite and its version, because times of different suites are not comparable."""
    if machine.platform is not None:
        return machine.platform.name
    if machine.emulated is not None:
        return machine.emulated.name
    if machine.traits.imported:
        return f"{machine.host}, {machine.cpu}"
    if machine.nodes_vary:
        return re.sub(r"\d+", "*", machine.host.partition(".")[0])
    return machine.host


def identity_of(plan: Plan, machine: Machine, run: RunRecords) -> str:
    """Return a digest of the plan, the machine and the first launch, which later measurements do not
    change."""
    first_launch = run.launches[0] if run.launches else None
    contents = plan.text.encode(), msgspec.json.encode(machine), msgspec.json.encode(first_launch)
    return hashlib.blake2b(b"\0".join(contents), digest_size=16).hexdigest()


def _start_time_s(folder: RunFolder, run: RunRecords) -> float:
    start_s = min((launch.started_s for launch in run.launches), default=0.0)
    if start_s < EARLIEST_S:
        with contextlib.suppress(OSError):
            return folder.plan_path.stat().st_mtime
    return start_s


def _mpi_title(machine: Machine, run: RunRecords) -> str:
    if machine.mpi is not None:
        return title_of(machine.mpi)
    return run.launches[0].library if run.launches else ""
