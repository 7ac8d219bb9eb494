# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Output of failing launchers, and hockney's explanations. Real launchers printed the texts."""

from __future__ import annotations

import json
import re

import launcher_output
import pytest
from made_up import made_up_mpi
from raising import raises_code
from scripts import script

from hockney.core.errors import EnvironmentProblem, ExitCode
from hockney.core.layout import Cores
from hockney.core.machine import Mpi
from hockney.core.record import Rank
from hockney.launch.cluster import Cluster, Srun
from hockney.launch.command import command, core_binding_text, no_binding_text, user_binding_text
from hockney.launch.failures import Ending, explain, parse_ending
from hockney.launch.hang_detector import ANSWER_SECONDS, MARGIN_SECONDS, HangDetector, describe_phase
from hockney.launch.launch_test import (
    find_contradiction,
    parse_hellos,
    say_hello,
)
from hockney.launch.launcher import Hello, LaunchCommand, LaunchFailed, LaunchOptions
from hockney.launch.mpi import MpiLauncher, launch_died
from hockney.launch.reading import missing_binding_text, reported_binding, reported_binding_text
from hockney.mpi import title_of

MPI = made_up_mpi(mpiexec="/p/bin/mpiexec")

OUTPUT = {
    "mpi-refuses-root": "prterun has detected an attempt to run as root.\n",
    "not-enough-slots": "There are not enough slots available in the system to satisfy the 3\nslots",
    "library-not-found": "/e: error while loading shared libraries: libmpi.so.40: cannot open",
    "older-system-library": "/e: /lib/libstdc++.so.6: version `GLIBCXX_3.4.29' not found (required by /e)",
    "engine-not-reachable": "HYD_spawn (hydra_spawn.c:177): execvp error on file /e (Permission denied)",
    "hosts-not-reachable": "bash: line 1: /opt/mpi/bin/prted: command not found",
    "ranks-cannot-reach-launcher": "OPAL ERROR: Unreachable in file ext3x_client.c\nPMI2_Init failed",
    "no-room-for-shared-memory": "mkstemp /dev/shm/ucx_shm: No space left on device",
    "plan-not-visible": "hockney-engine: plan '/tmp/.launch-1/plan.txt' cannot be read",
    "emulated-network-failed": "No space left on device\nhockney-ethernet: wire: ended with code 137",
}


@pytest.mark.parametrize(("code", "output"), OUTPUT.items())
def test_classic_failures_are_recognised(code, output):
    explanation = explain(MPI, 3, output.splitlines())
    assert explanation is not None and explanation.code == code and explanation.remedy


@pytest.mark.parametrize(("code", "named", "output"), launcher_output.OUTPUT)
def test_failures_on_other_hosts_are_recognised(code, named, output):
    explanation = explain(MPI, 4, output.splitlines())
    assert explanation is not None and explanation.code == code and explanation.remedy
    assert named in f"{explanation.what} {explanation.why}".replace(",", " ").split() or not named
    if re.fullmatch(r"n\d", named):
        assert explanation.problem().fields["host"] == named


def test_a_missing_library_is_named():
    explanation = explain(MPI, 3, OUTPUT["library-not-found"].splitlines())
    assert "libmpi.so.40" in explanation.what and title_of(MPI) in explanation.remedy


OF_MACHINE = "emulated-network-failed", "plan-not-visible", "host-unreachable", "host-not-in-allocation"


def test_no_case_is_the_reason_if_the_machine_fails(tmp_path):
    """Neither a host that dies while it runs, nor one that is no longer in the allocation."""
    case = "barrier ranks=2"
    launcher = MpiLauncher(MPI, tmp_path / "engine", Cores((0,), (0,), 1))
    outputs = [*OUTPUT.items(), *((code, output) for code, _, output in launcher_output.OUTPUT)]
    of_machine = [code for code, _ in outputs if code in OF_MACHINE]
    assert set(of_machine) == set(OF_MACHINE)
    for code, output in outputs:
        failed = launcher._explain_death(2, case, 125, tuple(output.splitlines()))
        wanted = ("refused", "") if code in OF_MACHINE else ("died", case)
        assert (failed.code, failed.reason, failed.case) == (code, *wanted)


def test_the_program_that_started_the_ranks_is_named(tmp_path):
    here = Cores((0,), (0,), 1)
    for srun, name in ((None, "mpiexec"), (Srun("/slurm/bin/srun", (22, 5), "pmix"), "srun")):
        launcher = MpiLauncher(MPI, tmp_path / "engine", here, cluster=Cluster(srun=srun))
        failed = launcher._explain_death(2, "barrier ranks=2", 143, ())
        ending = Ending(143, signal=15, is_launcher=True)
        assert str(failed) == str(launch_died("barrier ranks=2", 2, ending, name))
        assert name in failed.why


def test_unknown_failures_are_not_explained():
    assert explain(MPI, 2, ["something else happened"]) is None


@pytest.mark.parametrize(
    ("ending", "output"),
    [
        (
            Ending(137, signal=9, rank=1),
            "prterun noticed that process rank 1 with PID 7 on node h exited on\nsignal 9 (Killed).",
        ),
        (
            Ending(11, signal=11, rank=1),
            "= RANK 1 PID 17 RUNNING AT h\n= KILLED BY SIGNAL: 11 (Segmentation fault)",
        ),
        (
            Ending(9, signal=9),
            "= BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES\n= PID 1 RUNNING AT vm\n= EXIT CODE: 9",
        ),
        (Ending(137, signal=9, rank=3), "srun: error: n2: task 3: Killed"),
        (
            Ending(139, signal=11, rank=0),
            "srun: error: n2: tasks 2-3: Terminated\n"
            "srun: error: n1: task 0: Segmentation fault (core dumped)",
        ),
        (Ending(137, signal=9), "srun: error: n1: tasks 0,2-3: Out Of Memory"),
        (
            Ending(3, output=("srun: error: n1: task 1: Exited with exit code 3",)),
            "srun: error: n1: task 1: Exited with exit code 3",
        ),
        (Ending(143, signal=15, is_launcher=True), ""),
        (Ending(3, output=("one", "two")), "none\none\n---\ntwo"),
    ],
)
def test_how_it_ended(ending, output):
    assert parse_ending(ending.job_exit, output.splitlines()) == ending


def hellos(*sizes: int, library: str = "Open MPI v5") -> list[Hello]:
    return [Hello(rank if size > 1 else 0, size, "h", library) for rank, size in enumerate(sizes)]


def of_engines(*engines: str) -> list[Hello]:
    count = len(engines)
    return [Hello(k, count, f"n{k}", "Open MPI v5", engine=engine) for k, engine in enumerate(engines)]


SRUN = Srun("srun", (22, 5), "pmi2")
FOREIGN = "MPICH Version: 4.0"
CONTRADICTIONS = [
    (2, hellos(2, 2), None, "", ""),
    (1, hellos(1), None, "", ""),
    (2, hellos(1, 1), None, "ranks-run-as-separate-jobs", "Open MPI v5"),
    (2, hellos(1, 1), SRUN, "ranks-run-as-separate-jobs", "--mpi=pmi2"),
    (2, hellos(2), None, "ranks-missing", "1 of 2"),
    (2, hellos(2, 2, library=FOREIGN), None, "library-of-another-mpi", "the library of MPICH"),
    (3, of_engines("a", "a", "a"), None, "", ""),
    (3, of_engines("a", "a", "b"), None, "engines-differ", "n2"),
]


@pytest.mark.parametrize(("ranks", "answers", "srun", "code", "named"), CONTRADICTIONS)
def test_answers_that_contradict_the_launch_are_explained(ranks, answers, srun, code, named):
    found = find_contradiction(MPI, ranks, answers, srun)
    assert (found.code if found else "") == code
    assert found is None or named in f"{found.what} {found.why}"


def test_hellos_are_read_among_other_output():
    lines = [
        "welcome to the cluster",
        *(json.dumps({"rank": r, "size": 2, "host": "h", "library": "x"}) for r in (1, 0)),
        "{}",
    ]
    assert [h.rank for h in parse_hellos(lines)] == [0, 1]


def launcher_script(folder, text: str) -> Mpi:
    return made_up_mpi(version="5.0", prefix=folder, mpiexec=str(script(folder / "mpiexec", text)))


@pytest.mark.parametrize(
    ("code", "reason", "text"),
    [
        (
            "ranks-not-started-in-time",
            "waiting for the scheduler",
            "echo waiting for the scheduler >&2; sleep 30",
        ),
        ("ranks-do-not-start", "exit code 7 | no luck today", "echo no luck today >&2; exit 7"),
        (
            "ranks-run-as-separate-jobs",
            "Open MPI v5",
            """for i in 1 2; do echo '{"rank":0,"size":1,"host":"h","library":"Open MPI v5"}'; done""",
        ),
        ("ranks-do-not-start", "exit code 0", "exit 0"),
    ],
)
def test_launchers_that_fail(tmp_path, code, reason, text):
    mpi = launcher_script(tmp_path, text)
    words = command(mpi, ("engine", "--hello"), 2, Cores((0, 1), (0, 1), 2))
    with pytest.raises(EnvironmentProblem) as caught:
        say_hello(words, mpi, 2, timeout=2.0 if code == "ranks-not-started-in-time" else 60.0)
    assert caught.value.code == code and reason in caught.value.why and caught.value.remedy


def test_a_launcher_that_is_not_executable(tmp_path):
    mpi = launcher_script(tmp_path, "exit 0")
    (tmp_path / "mpiexec").chmod(0o644)
    with raises_code("launcher-not-starting"):
        say_hello(command(mpi, ("engine",), 1, Cores((0,), (0,), 1)), mpi, 1)


def watch(hang_s: float = 10.0, ranks: int = 3) -> HangDetector:
    made = HangDetector(LaunchOptions("L", 0, budget_s=8.0, hang_s=hang_s), cases=4, ranks=ranks)
    made.on_start(0.0)
    made.on_launch(100.0)
    return made


def test_each_case_may_take_its_share_and_the_patience():
    made = watch()
    made.on_case_start(100.0, "a", 0)
    assert made.deadline == pytest.approx(100 + 8 / 4 + 10 + MARGIN_SECONDS)
    made.on_case_start(107.0, "d", 3)  # the last one gets all that is left
    assert made.deadline == pytest.approx(107 + 1 + 10 + MARGIN_SECONDS)
    made.on_case_start(200.0, "d", 3)  # nothing left: still the allowance for hangs
    assert made.deadline == pytest.approx(200 + 10 + MARGIN_SECONDS)


def test_zero_patience_is_endless():
    made = watch(hang_s=0)
    made.on_case_start(100.0, "a", 0)
    assert made.deadline is None


def test_answers_shorten_the_wait_and_name_the_silent():
    made = watch()
    made.on_case_start(100.0, "barrier ranks=3", 0)
    assert not made.take_answer(111.0, "some output")
    first = "[h:1] hockney-watchdog rank=0 case=barrier ranks=3 phase=timing repetition=4"
    assert made.take_answer(112.0, first)
    assert made.deadline == 112.0 + ANSWER_SECONDS
    assert made.take_answer(112.1, "hockney-watchdog rank=2 case=barrier ranks=3 phase=timing repetition=4")
    failure = made.failure(143, ())
    assert failure.silent_ranks == (1,) and failure.phase == describe_phase("timing", 4)
    assert made.take_answer(112.2, "hockney-watchdog rank=1 case=barrier ranks=3 phase=warm-up repetition=1")
    assert made.deadline == 112.2 and made.failure(143, ()).silent_ranks == ()


def test_the_phase_of_a_hang_is_that_of_the_ranks_that_take_part():
    made = watch()
    made.on_case_start(100.0, "barrier nodes=1 ranks=2", 0)
    words = "hockney-watchdog rank={} case=barrier nodes=1 ranks=2 phase={} repetition=0"
    for rank, reported_phase in ((0, "timing"), (2, "waiting")):
        assert made.take_answer(112.0, words.format(rank, reported_phase))
    failure = made.failure(143, ())
    assert failure.silent_ranks == (1,) and failure.phase == describe_phase("timing", 0)


def test_where_the_launcher_names_no_host_the_few_that_it_was_given_are():
    lost = ["[mpiexec@front] control_cb (pm/pmiserv/pmiserv_cb.c:215): assert (!closed) failed"]
    for hosts, named in ((("n1", "n9"), "n1 or n9"), (tuple(f"n{k}" for k in range(9)), ""), ((), "")):
        found = explain(MPI, 2, lost, hosts)
        assert found is not None and (found.code, found.host) == ("host-unreachable", named)


def test_a_case_that_makes_progress_is_slow_and_did_not_hang():
    """Rank 1 needs 40 s for a quarter of a run."""
    made = watch()
    made.on_case_start(100.0, "bt ranks=3", 0)
    words = "hockney-watchdog rank={} case=bt ranks=3 phase=verification repetition=0 done={} of=200 ms=40000"
    for rank, done in ((0, 100), (1, 50)):
        assert made.take_answer(112.0, words.format(rank, done))
    assert made.failure(143, ()).reason == "hung", "rank 2 may be the one that others wait for"
    assert made.take_answer(112.0, words.format(2, 100))
    failure = made.failure(143, ())
    assert (failure.reason, failure.code, failure.case) == ("slow", "case-slow", "bt ranks=3")
    assert failure.fields["seconds"] == 160.0 and "--budget 400s" in str(failure)
    made.on_case_start(200.0, "ep ranks=3", 1)
    for rank in range(3):
        made.take_answer(212.0, f"hockney-watchdog rank={rank} case=ep ranks=3 phase=timing repetition=4")
    assert made.failure(143, ()).reason == "hung", "nothing is known of this case's progress"


def test_silence_between_cases_blames_no_rank():
    made = watch()
    made.on_case_start(100.0, "a", 0)
    made.on_case_end(101.0)
    failure = made.failure(1, ())
    assert failure.case == "" and failure.silent_ranks == () and failure.reason == "hung"


def test_binding_is_what_the_ranks_report():
    def ranks(*cpus: str) -> list[Rank]:
        return [Rank(host="h", pid=1, cpus=c) for c in cpus]

    bound = LaunchCommand((), binding=core_binding_text(), bound=True)
    free = LaunchCommand((), binding=no_binding_text(), bound=False)
    assert reported_binding(ranks("0", "1"), bound) == (reported_binding_text(["0", "1"]), True)
    overlapping = missing_binding_text(bound.binding)
    assert reported_binding(ranks("0-1", "0-1"), bound) == (overlapping, False)
    assert reported_binding(ranks("0-1", "0-1"), free) == (free.binding, False)
    assert reported_binding(ranks("", ""), bound) == (bound.binding, True)


def test_where_the_user_places_ranks_only_they_know():
    def reported(*masks: str) -> tuple[str, bool]:
        ranks = [Rank(host="h", pid=k, cpus=mask) for k, mask in enumerate(masks)]
        return reported_binding(ranks, placed)

    placed = LaunchCommand((), binding=user_binding_text(), bound=False, placed_by_user=True)
    assert reported("0", "1") == (reported_binding_text(["0", "1"]), True)
    assert reported("0-1", "0-1") == (reported_binding_text(["0-1", "0-1"]), False)
    assert reported("0") == (reported_binding_text(["0"]), True)
    assert reported("0-1") == (reported_binding_text(["0-1"]), False)
    assert reported("", "") == (placed.binding, False)


def test_a_corrupted_message_between_ranks_that_only_answer_is_named(tmp_path):
    mpi = launcher_script(tmp_path, "exit 0")
    line = "hockney-corrupted rank=1 from=0"
    words = LaunchCommand(("sh", "-c", f"echo {line} >&2; exit 76"))
    with pytest.raises(LaunchFailed) as caught:
        say_hello(words, mpi, 2)
    assert (caught.value.code, caught.value.reason, caught.value.exit_code) == (
        "message-corrupted",
        "corrupted",
        ExitCode.ANSWER_IS_NO,
    )
    assert (caught.value.fields["rank"], caught.value.fields["sender"]) == (1, 0)
