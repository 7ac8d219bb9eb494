# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Real ranks, 1 to 3, on Open MPI and MPICH, with the stand-in engine."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from hockney import mpi as families
from hockney.core.case import Case
from hockney.core.errors import EnvironmentProblem
from hockney.core.layout import Cores
from hockney.core.record import End, Launch, Record, Start
from hockney.discovery.cpu import processors
from hockney.launch.hang_detector import describe_phase
from hockney.launch.launcher import LaunchFailed, LaunchOptions
from hockney.launch.mpi import MpiLauncher

pytestmark = pytest.mark.mpi
OPTIONS = LaunchOptions("L", 0, budget_s=0.2, hang_s=60)
IMPATIENT = LaunchOptions("L", 0, budget_s=0.2, hang_s=0.9)
"""For tests with a hang: long enough that a busy machine does not appear to hang."""
HANG_S = 120.0


@pytest.fixture
def launcher(mpi, stand_in):
    return MpiLauncher(mpi, stand_in.path, processors().cores)


def cases(*names: str, ranks: int) -> list[Case]:
    return [Case.of(name, ranks) for name in names]


def running(engine: Path) -> set[int]:
    """Processes whose command line names `engine`: ranks, launchers, proxies, keepers."""
    found = set()
    for name in filter(str.isdecimal, os.listdir("/proc")):
        try:
            words = Path(f"/proc/{name}/cmdline").read_bytes()
        except OSError:
            continue
        if bytes(engine) in words:
            found.add(int(name))
    return found


def vanished(pids: set[int]) -> bool:
    end = time.monotonic() + HANG_S
    while time.monotonic() < end:
        if not any(
            Path(f"/proc/{pid}/cmdline").exists() and Path(f"/proc/{pid}/cmdline").read_bytes()
            for pid in pids
        ):
            return True
        time.sleep(0.05)
    return False


@pytest.mark.parametrize("ranks", [1, pytest.param(2, marks=pytest.mark.mpich), 3])
def test_every_rank_says_hello(launcher, ranks):
    checked = launcher.check(ranks)
    hellos = checked.hellos
    assert [h.rank for h in hellos] == list(range(ranks)) and {h.size for h in hellos} == {ranks}
    if launcher.mpi.family == "openmpi":
        assert families.WITHIN_HOST in checked.transport and families.BETWEEN_HOSTS not in checked.transport
    else:
        assert checked.transport.keys() <= {families.NETMOD, families.PROVIDER}


def test_no_launch_that_measures_reports_transports(launcher):
    words = " ".join(map(str, (launcher.describe(2).environment, launcher.describe(2).words)))
    assert all(name not in words for name in families.family_of(launcher.mpi).report_variables(launcher.mpi))


def test_lines_come_in_order_with_command_and_binding(launcher):
    lines = list(launcher.run(cases("quick", "talks", "quick", ranks=2), 2, OPTIONS))
    assert [type(line) for line in lines] == [Launch, *[Start, Record] * 3, End]
    launch = lines[0]
    assert launch.command[-2] == "--plan" and str(launcher.engine) in launch.command
    assert lines[1].case == "quick ranks=2" and lines[3].position == 1
    assert not Path(launch.command[-1]).exists()
    if len(launcher.cores.cpus) >= 2:
        assert launch.bound
        assert len({rank.cpus for rank in launch.ranks}) == 2


def test_variables_are_set_for_one_launch(launcher):
    options = replace(OPTIONS, variables=(("HOCKNEY_TRIAL", "a=b"),))
    commands = [
        next(iter(launcher.run(cases("quick", ranks=1), 1, each))).command for each in (options, OPTIONS)
    ]
    words = [" ".join(command) for command in commands]
    assert "HOCKNEY_TRIAL" in words[0] and "a=b" in words[0] and "HOCKNEY_TRIAL" not in words[1]


@pytest.mark.skipif(len(processors().cores.cpus) < 2, reason="needs two cores")
def test_an_affinity_mask_is_kept(mpi, stand_in):
    """With a plain request to bind to cores, launchers start from the first core, whatever the mask."""
    here = processors().cores
    second = Cores(here.cpus[1:2], here.logical[1:2], 1, restricted=True)
    launch = next(iter(MpiLauncher(mpi, stand_in.path, second).run(cases("quick", ranks=1), 1, OPTIONS)))
    assert launch.ranks[0].cpus == str(here.cpus[1])


def test_more_ranks_than_cores_are_not_bound(mpi, stand_in):
    here = processors().cores
    one = Cores(here.cpus[:1], here.logical[:1], 1)
    launch = next(iter(MpiLauncher(mpi, stand_in.path, one).run(cases("quick", ranks=2), 2, OPTIONS)))
    assert launch.bound is False and len(launch.ranks) == 2


def test_a_hung_case_is_named_with_the_silent_rank(launcher):
    got = []
    with pytest.raises(LaunchFailed) as caught:
        got.extend(launcher.run(cases("quick", "stuck", "quick", ranks=2), 2, IMPATIENT))
    failure = caught.value
    assert (failure.reason, failure.case, failure.silent_ranks) == ("hung", "stuck ranks=2", (1,))
    assert failure.phase == describe_phase("timing", 7) and failure.code == "case-hung"


@pytest.mark.slow
def test_a_stopped_rank_is_named(launcher):
    """A rank that cannot run at all (SIGSTOP) cannot print; the others report it."""
    run = launcher.run(cases("quick", "stuck", ranks=3), 3, IMPATIENT)
    launch = next(run)
    with pytest.raises(LaunchFailed) as caught:
        for line in run:
            if isinstance(line, Start) and line.position == 1:
                os.kill(launch.ranks[1].pid, signal.SIGSTOP)
    assert caught.value.silent_ranks == (1, 2)
    assert vanished({rank.pid for rank in launch.ranks})


def test_a_killed_rank_is_reported_and_finished_cases_are_kept(launcher):
    got = []
    with pytest.raises(LaunchFailed) as caught:
        for line in launcher.run(cases("quick", "dies", "quick", ranks=2), 2, OPTIONS):
            got.append(line)
    assert [type(line) for line in got] == [Launch, Start, Record, Start]
    assert (caught.value.reason, caught.value.case) == ("died", "dies ranks=2")
    assert caught.value.code == "launch-died" and caught.value.fields["signal"] == 9
    assert vanished({rank.pid for rank in got[0].ranks})


def test_a_rank_that_leaves_is_not_waited_for(launcher):
    with pytest.raises(LaunchFailed) as caught:
        list(launcher.run(cases("leaves", ranks=2), 2, IMPATIENT))
    assert caught.value.reason in ("died", "hung") and caught.value.case == "leaves ranks=2"


def test_closing_the_generator_ends_the_job(launcher):
    run = launcher.run(cases("quick", "stuck", ranks=2), 2, LaunchOptions("L", 0, 0.2, hang_s=60))
    pids = {rank.pid for rank in next(run).ranks}
    run.close()
    assert vanished(pids)


def test_sigkill_of_the_front_end_leaves_no_process(mpi, stand_in):
    program = f"""
import sys
from pathlib import Path
from hockney.core.case import Case
from hockney.core.layout import Cores
from hockney.launch.launcher import LaunchOptions
from hockney.launch.mpi import MpiLauncher
from hockney.discovery.find import find_mpi
launcher = MpiLauncher(find_mpi({mpi.prefix!r}), Path({str(stand_in.path)!r}), Cores((0,), (0,), 1))
for line in launcher.run([Case.of("stuck", 2)], 2, LaunchOptions("L", 0, 1.0, hang_s=60)):
    print(type(line).__name__, flush=True)
"""
    before = running(stand_in.path)
    front = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert front.stdout.readline() == "Launch\n" and front.stdout.readline() == "Start\n"
    job = running(stand_in.path) - before - {front.pid}
    assert len(job) >= 3  # two ranks and their launcher at least
    front.kill()
    front.wait()
    front.stdout.close()
    assert vanished(job)


def test_an_engine_that_is_not_there(mpi, tmp_path):
    with pytest.raises(EnvironmentProblem) as caught:
        MpiLauncher(mpi, tmp_path / "nothing", Cores((0,), (0,), 1)).check(1)
    assert caught.value.code
