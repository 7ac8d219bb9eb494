# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Cases that choose their ranks among those of the launch, on Open MPI and MPICH."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from itertools import product
from pathlib import Path

import pytest
from engine_cases import brings_payload, every_case
from engine_lines import YIELDING, failures, launcher_for, lines_of, records, verified
from real_mpi import group_for
from tiers import slow

from hockney.core.case import Case, parse_canonical
from hockney.core.record import Launch, Record
from hockney.discovery.cpu import processors
from hockney.launch.launcher import LaunchFailed, LaunchOptions
from hockney.launch.mpi import MpiLauncher

pytestmark = pytest.mark.mpi


@pytest.fixture(scope="session")
def launcher(mpi, engine) -> MpiLauncher:
    return launcher_for(mpi, engine)


@pytest.fixture(scope="session")
def unbound(mpi, engine) -> MpiLauncher:
    """Of its ranks only the node is known, on any number of processors."""
    return MpiLauncher(mpi, engine.path, processors().cores, bind=False, user=YIELDING)


def plan_for(catalog, ranks: int) -> list[Case]:
    """Placed cases of every number of ranks between others of the whole launch."""
    placed = [f"pingpong place=node ranks=2 bytes={size}" for size in (8, 100000)]
    placed += [f"allreduce nodes=1 ranks={few} bytes=800 sync=barrier" for few in range(1, ranks + 1)]
    placed += [f"round_robin place=node ranks={few}" for few in range(2, ranks + 1, 2)]
    cases = [catalog.case(line) for line in placed if ranks > 1 or "ranks=1" in line]
    return [each for case in cases for each in (case, catalog.case("bcast bytes=5000", ranks))]


def check(record: Record, launch: Launch, case: Case) -> None:
    """All ranks are on this host, and more than its cores are not bound."""
    ranks = len(launch.ranks)
    assert record.nodes == 1
    assert (record.place != "") == (case.ranks == 2 or case.place != "")
    if case.place:
        assert record.place == case.place
    assert record.members == [] or (case.is_placed and record.members != list(range(ranks)))
    if record.members:
        assert len(set(record.members)) == len(record.members) == case.ranks
        assert record.members[0] == 0 and max(record.members) < ranks
    else:
        assert case.ranks == ranks


@pytest.mark.parametrize(
    ("ranks", "visits"),
    [(4, 3), *slow(*product(range(1, 10), (1, 3)))],
)
def test_chosen_ranks_measure_between_cases_of_the_whole_launch(unbound, engine, mpi_name, ranks, visits):
    if mpi_name == "mpich" and ranks > 3:
        pytest.skip("MPICH polls: more ranks than cores wait a scheduler's turn for every message")
    cases = plan_for(engine.catalog, ranks)
    options = LaunchOptions(
        "T", ranks, budget_s=0.02 * len(cases), max_repetitions=5, visits=visits, precision=1e-6
    )
    lines = list(unbound.run(cases, ranks, options))
    for record, case in zip(verified(lines, cases, ranks), cases, strict=True):
        check(record, lines[0], case)


@pytest.mark.slow
def test_every_workload_runs_on_some_of_the_ranks(launcher, engine):
    """2 of 3 ranks."""
    cases = every_case(engine.catalog, 2, ("barrier",))
    placed = [case.with_parameter("nodes", 1) for case in cases]
    for record in verified(lines_of(launcher, placed, 3), placed, 2):
        assert len(record.members) == 2 and record.nodes == 1


def test_pairs_are_those_of_the_case(mpi):
    """4 and 2 of 5 ranks; with pairs=1, only one of two pairs is active."""
    built = group_for(mpi, "hockney-messages")
    cases = [
        built.catalog.case(f"{name} place=node ranks={ranks} pairs={pairs} bytes=3000")
        for name in ("pairs_stream", "pairs_pingpong")
        for ranks, pairs in ((2, 0), (4, 0), (4, 1))
    ]
    unbound = MpiLauncher(mpi, built.path, processors().cores, bind=False, user=YIELDING)
    lines = list(unbound.run(cases, 5, LaunchOptions("T", 0, budget_s=1.0, max_repetitions=3)))
    for record, case in zip(verified(lines, cases, 4), cases, strict=True):
        assert brings_payload(case, case.ranks) and len(record.members) == case.ranks
        assert record.place == "node"


@pytest.mark.slow
def test_ranks_that_do_not_take_part_do_not_use_the_processor(unbound, engine):
    """While 2 of 4 ranks exchange messages, by the system's account of each process: ranks that polled
    meanwhile would use it as much as those two, however busy it is."""
    case = engine.catalog.case("stream bytes=8 nodes=1 ranks=2")
    options = LaunchOptions("T", 0, budget_s=3.0, precision=1e-9, max_repetitions=10**8)
    running = unbound.run([case], 4, options)
    accounts = ProcessorTimes([rank.pid for rank in next(running).ranks])
    (record,) = (line for line in running if isinstance(line, Record))
    spent = accounts.spent()
    idle = [spent[rank] for rank in range(4) if rank not in record.members]
    assert max(idle) < 0.5 * min(spent[rank] for rank in record.members), spent


class ProcessorTimes:
    """Follows processes until all of them have ended, whenever this one is scheduled."""

    def __init__(self, pids: list[int]) -> None:
        self.seen: list[list[float]] = [[processor_seconds(pid)] for pid in pids]
        self.reader = threading.Thread(target=self._follow, args=(pids,))
        self.reader.start()

    def _follow(self, pids: list[int]) -> None:
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            while True:
                now = [processor_seconds(pid) for pid in pids]
                for seen, seconds in zip(self.seen, now, strict=True):
                    seen.append(seconds)
                time.sleep(0.05)

    def spent(self) -> list[float]:
        """The processor time of each, from the first look at it to the last one at all of them (s)."""
        self.reader.join()
        return [seen[-1] - seen[0] for seen in self.seen]


def processor_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@pytest.mark.slow
def test_the_watchdog_names_a_rank_of_the_case(launcher, engine):
    """2 of 3 ranks; one of them is stopped, rank 0 waits for it, and the third waits for the next case. The
    others end by themselves after `hang_s` more, and mpiexec then wakes the stopped one, long after its
    answer is missed."""
    case = engine.catalog.case("pingpong bytes=8 nodes=1 ranks=2")
    options = LaunchOptions("T", 0, budget_s=3.0, precision=1e-9, max_repetitions=10**8, hang_s=4.0)
    (record,) = records(lines_of(launcher, [case], 3))  # with the same index
    running = launcher.run([case], 3, options)
    launch = next(running)
    os.kill(launch.ranks[record.members[1]].pid, signal.SIGSTOP)
    with pytest.raises(LaunchFailed) as failed:
        list(running)
    assert failed.value.reason == "hung"
    assert failed.value.silent_ranks == (record.members[1],)
    assert not failed.value.phase.startswith("waiting")


IMPOSSIBLE = (
    "pingpong place=network ranks=2",
    "pingpong place=moon ranks=2",
    "allreduce nodes=2 ranks=2",
    "allreduce nodes=0 ranks=2",
    "allreduce nodes=1 ranks=4",
    "allreduce nodes=2 ranks=3",
    "allreduce place=node ranks=3",
    "allreduce nodes=1 place=node ranks=2",
    "pingpong nodes=1 ranks=3",
    "pingpong nodes=1 ranks=1",
    "bcast nodes=1 ranks=2 root=2",
)


def test_what_the_launch_does_not_have_is_refused_and_the_next_case_runs(unbound, engine, golden):
    good = engine.catalog.case("allreduce nodes=1 ranks=2")
    lines = lines_of(unbound, [*map(parse_canonical, IMPOSSIBLE), good], 3)
    refused = failures(lines)
    assert [line.case for line in refused] == list(IMPOSSIBLE)
    golden("refused_places.txt", "\n\n".join(f"{line.case}\n  {line.message}" for line in refused))
    assert [record.case for record in records(lines)] == [good.line]


def test_bound_ranks_know_their_core_and_pairs_their_level(launcher, engine):
    """2 ranks on two cores: where they meet follows from what the system states about these."""
    if len(processors().cores.cpus) < 2:
        pytest.skip("needs two cores")
    launch, *rest = lines_of(launcher, [engine.catalog.case("pingpong", 2)], 2)
    first, second = launch.ranks
    assert first.core >= 0 and second.core >= 0
    names = ("core", "cache", "socket")
    shared = [name for name in names if getattr(first, name) == getattr(second, name) >= 0]
    (record,) = records(rest)
    assert record.place == (shared or ["node"])[0] and record.nodes == 1 and not record.members
    again = engine.catalog.case(f"pingpong place={record.place} ranks=2")
    (placed,) = records(lines_of(launcher, [again], 2))
    assert placed.place == record.place and not placed.members


def test_hellos_have_the_places_of_the_launch(launcher, engine):
    launch = lines_of(launcher, [engine.catalog.case("barrier", 2)], 2)[0]
    for hello, rank in zip(launcher.check(2).hellos, launch.ranks, strict=True):
        assert (hello.node, hello.core, hello.cache, hello.socket) == (
            rank.node, rank.core, rank.cache, rank.socket
        )  # fmt: skip
