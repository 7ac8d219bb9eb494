# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What measuring needs: a launcher, the engine's catalog, the machine, a clock, and the load from outside."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from msgspec.structs import replace as replace_struct

from hockney import __version__, build, simulated
from hockney.core.case import Case
from hockney.core.catalog import Catalog, decode_catalog
from hockney.core.errors import UsageError, printable, unknown
from hockney.core.machine import Machine, Mpi
from hockney.core.platform import Platform
from hockney.core.record import SCHEMA, Origin
from hockney.lab.machine_diff import refuse_too_many_ranks
from hockney.launch.fake import FakeLauncher, fake_from_words
from hockney.launch.launcher import Launcher
from hockney.launch.mpi import MpiLauncher
from hockney.launch.smpi import SmpiLauncher
from hockney.machine import (
    Load,
    Moment,
    describe,
    find_mpi,
    find_simgrid,
    load_between,
    moment,
    processors,
)

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Bench:
    """`launch_cost_s` is what starting ranks cost when it was checked; budgets are kept by `now`, and between
    rounds `wait` lets that clock go on by so many seconds."""

    launcher: Launcher
    catalog: Catalog
    machine: Machine
    origin: Origin = "measured"
    launch_cost_s: float = 0.0
    now: Callable[[], float] = field(default=time.monotonic)
    wait: Callable[[float], None] = field(default=time.sleep)

    def group_of(self, case: Case) -> str:
        """The executable that runs `case`."""
        return self.catalog.workload(case.workload).group

    @property
    def here(self) -> bool:
        """Whether this host's clock and load are those of the machine that is measured."""
        return self.origin == "measured"

    def moment(self) -> Moment | None:
        return moment() if self.here else None

    def load(self, before: Moment | None) -> Load:
        """The load from outside since then; unknown on a machine that is not this host."""
        return Load(None, None) if before is None else load_between(before, moment())


SIMULATED = "sim:"
PUBLISHED = "published:"


def is_fake(machine: str) -> bool:
    return machine.partition(":")[0] == "fake"


def fake_catalog() -> Catalog:
    """The engine's catalog as the contract's golden file has it, for a machine that has no engine."""
    package = Path(__file__).resolve().parents[1]
    places = (package / "_contract", package.parent / "contract" / "golden")
    for path in (place / "catalog.json" for place in places):
        if path.is_file():
            return decode_catalog(path.read_bytes())
    raise FileNotFoundError("contract/golden/catalog.json")


def fake_bench(words: str | FakeLauncher, cores: int = 4) -> Bench:
    """A bench on the fake machine; budgets are kept by its simulated clock."""
    launcher = fake_from_words(words) if isinstance(words, str) else words
    machine = Machine(
        schema=SCHEMA,
        kind="fake",
        host="fakehost",
        system="none",
        cpu="none",
        cores=cores,
        threads=cores,
        caches={"L1d": 32768, "L2": 1 << 20, "L3": 1 << 24},
        memory_bytes=1 << 33,
        engine="fake",
        compiler="none",
        flags="",
        hockney=__version__,
    )
    clock = launcher.now, launcher.wait
    return Bench(launcher, fake_catalog(), machine, "fake", launcher.launch_s, *clock)


def prepare(machine: str, mpi: str, bind: bool, tell: Tell, workloads: Collection[str] = ()) -> Bench:
    """The bench for --machine and --mpi: find an MPI, compile the engine where that was not done before, and
    the other executables that run any of `workloads`."""
    if is_fake(machine):
        return fake_bench(machine)
    if machine.startswith(SIMULATED):
        return simulated_bench(machine, tell, workloads)
    if machine.startswith(PUBLISHED):
        raise UsageError(
            f"nothing can be measured on '{printable(machine)}'",
            "its numbers are printed in a paper",
            "'hockney report' and 'hockney models' show them",
        )
    if machine:
        todo = f"for example sim:{simulated.names()[0]}; 'hockney machines' lists all"
        raise unknown("machine", machine, [f"{SIMULATED}{name}" for name in simulated.names()], todo)
    found = find_mpi(mpi or None, tell=tell)
    built, catalog, others = executables(found, workloads, tell)
    here = describe(found, engine=str(built.path), compiler=built.compiler, flags=built.flags)
    launcher = MpiLauncher(found, built.path, processors().cores, bind=bind, others=others)
    return Bench(launcher, catalog, here)


def executables(
    found: Mpi, workloads: Collection[str], tell: Tell
) -> tuple[build.Engine, Catalog, dict[str, Path]]:
    """The engine, the catalog of all that can be run, and the executables of those of `workloads` that the
    engine does not have."""
    built = build.engine(found, tell=tell)
    catalog, others = built.catalog, {}
    for group, names in other_groups().items():
        if set(names) & set(workloads):
            more = build.engine(found, tell=tell, group=group)
            others |= {workload.name: more.path for workload in more.catalog.workloads}
            catalog = replace_struct(catalog, workloads=[*catalog.workloads, *more.catalog.workloads])
    return built, catalog, others


def other_groups() -> dict[str, tuple[str, ...]]:
    """Workloads that are compiled when first asked for, by executable: the names of their files."""
    return build.groups(build.source_folder())


def simulated_bench(machine: str, tell: Tell, workloads: Collection[str] = ()) -> Bench:
    """The bench for sim:NAME or sim:FILE: read the description before anything is looked for or compiled."""
    platform = simulated.platform(machine.removeprefix(SIMULATED))
    found = find_simgrid(tell=tell)
    built, catalog, others = executables(found, workloads, tell)
    launcher = SmpiLauncher(found, built.path, built.platform, platform, others=others)
    return Bench(launcher, catalog, stands_for(platform, found, built), "simulated")


def stands_for(platform: Platform, found: Mpi, built: build.Engine) -> Machine:
    """The machine that `platform` describes, as a run keeps it; nothing of this host but what compiled the
    engine."""
    cores = platform.capacity
    return Machine(
        schema=SCHEMA,
        kind="simulated",
        host=platform.name,
        system="simulated",
        cpu=platform.title,
        cores=cores,
        threads=cores,
        mpi=found,
        engine=str(built.path),
        compiler=built.compiler,
        flags=built.flags,
        network=[platform.network.shape],
        hockney=__version__,
        platform=platform,
    )


def check_ranks(bench: Bench, most: int) -> None:
    """Raises UsageError for more ranks than this machine can carry."""
    if bench.machine.platform is not None:
        simulated.check_ranks(bench.machine.platform, most)
    else:
        refuse_too_many_ranks(most, bench.machine)


def check(bench: Bench, cases: Sequence[Case], tell: Tell) -> Bench:
    """See that the ranks of `cases` start, before anything is laid out; the bench then knows what that costs.

    Raises UsageError for more ranks than this machine can carry, EnvironmentProblem when they do not start.
    """
    most = max((case.ranks for case in cases), default=0)
    check_ranks(bench, most)
    if not cases or not isinstance(bench.launcher, MpiLauncher):
        return bench
    for note in bench.launcher.describe(most).notes:
        tell(f"note: {note}")
    began = bench.now()
    bench.launcher.check(most)
    return replace(bench, launch_cost_s=bench.now() - began)
