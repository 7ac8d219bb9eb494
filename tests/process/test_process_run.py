# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
import errno
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable

import pytest

from hockney import process

HANG_S = 120.0
"""A guard, not an expectation: on an idle machine the event occurs at once."""


def alive(marker: str) -> list[int]:
    """Processes whose command line contains `marker`, except this test's own."""
    found = []
    for name in filter(str.isdecimal, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/cmdline", "rb") as file:
                words = file.read()
            with open(f"/proc/{name}/stat", "rb") as file:
                zombie = file.read().rpartition(b")")[2].split()[0] == b"Z"
        except OSError:
            continue
        if marker.encode() in words and int(name) != os.getpid() and not zombie:
            found.append(int(name))
    return found


def is_sleep(pid: int) -> bool:
    """Whether it has become that program: before, the markers are words of what starts it."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read().split(b"\0")[0] == b"sleep"
    except OSError:
        return False


def holds(condition: Callable[[], object]) -> bool:
    """Whether it becomes true, allowing for a busy machine."""
    end = time.monotonic() + HANG_S
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def gone(marker: str) -> bool:
    return holds(lambda: not alive(marker))


def taken(job: process.Job) -> process.OutputLine | None:
    """The line that is there already, if any."""
    try:
        return job.line(0)
    except process.OutputTimeout:
        return None


def test_capture_gives_both_streams_and_the_code():
    done = process.capture(["sh", "-c", "cat; echo talk >&2; exit 3"], input="a\nb")
    assert (done.out, done.err, done.code, done.ok) == ("a\nb\n", "talk\n", 3, False)


def test_a_signal_is_told_as_the_shell_tells_it():
    assert process.capture(["sh", "-c", "kill -SEGV $$"]).code == 128 + signal.SIGSEGV


def test_environment_is_laid_over(monkeypatch):
    monkeypatch.setenv("HOCKNEY_TEST_OLD", "old")
    done = process.capture(
        ["sh", "-c", "echo $HOCKNEY_TEST_OLD/$HOCKNEY_TEST_NEW"],
        env={"HOCKNEY_TEST_OLD": None, "HOCKNEY_TEST_NEW": "n"},
    )
    assert done.out == "/n\n"


def test_large_input_and_output_do_not_block_each_other():
    text = "x" * 99 + "\n"
    assert process.capture(["cat"], input=text * 20000).out == text * 20000


def test_a_program_that_reads_nothing_does_not_disturb():
    assert process.capture(["true"], input="y" * 10**6).ok


@pytest.mark.parametrize("program", ["/nowhere/at/all", "/etc/passwd", "no-such-program-here"])
def test_programs_that_cannot_start(program):
    with pytest.raises(process.CannotStart) as caught:
        process.capture([program])
    assert caught.value.code == "program-not-found" and caught.value.fields["program"] == program


def test_a_wrong_format(tmp_path):
    program = tmp_path / "wrong"
    program.write_bytes(b"\x7fELF nonsense")
    program.chmod(0o755)
    with pytest.raises(process.CannotStart) as caught:
        process.capture([str(program)])
    assert caught.value.code == "program-not-starting"
    assert caught.value.fields["reason"] == os.strerror(errno.ENOEXEC).lower()


def test_time_limit_ends_the_program_and_keeps_its_output():
    with pytest.raises(process.ProgramTimeout) as caught:
        process.capture(["sh", "-c", "echo first; sleep 3131.7"], timeout=5)
    assert caught.value.code == "program-took-too-long" and caught.value.out == "first\n"
    assert gone("3131.7")


def test_lines_come_as_they_are_written_and_quiet_is_told(tmp_path):
    waits = f"until [ -e {tmp_path}/go ]; do sleep 0.05; done"
    with process.stream(["sh", "-c", f"echo one; {waits}; echo two; echo bad >&2"]) as job:
        assert job.line(HANG_S).text == "one"
        with pytest.raises(process.OutputTimeout):
            job.line(0.1)
        (tmp_path / "go").touch()
        assert {job.line(HANG_S), job.line(HANG_S)} == {
            process.OutputLine("out", "two"),
            process.OutputLine("err", "bad"),
        }
        assert job.line(HANG_S) is None and job.wait(HANG_S) == 0
        assert list(job.tail) == ["bad"]


def test_a_late_reader_still_gets_what_is_there(tmp_path):
    with process.stream(["sh", "-c", f"echo one; touch {tmp_path}/said; sleep 3000"]) as job:
        assert holds(lambda: (tmp_path / "said").exists())
        lines = []
        assert holds(lambda: lines.append(taken(job)) or lines[-1])
        assert lines[-1].text == "one"
        with pytest.raises(process.OutputTimeout):
            job.line(0)


def test_what_a_program_leaves_behind_is_ended_even_in_another_session():
    done = process.capture(["sh", "-c", "setsid sleep 3232.7 >/dev/null 2>&1 & sleep 0.2; exit 5"])
    assert done.code == 5 and gone("3232.7")


def test_leaving_the_with_ends_what_ignores_sigterm():
    with process.stream(
        ["sh", "-c", "trap '' TERM; echo up; setsid sh -c \"trap '' TERM; sleep 3333.7\""], grace_s=0.2
    ) as job:
        assert job.line(HANG_S).text == "up"
    assert gone("3333.7")


@pytest.mark.parametrize("victim", ["front end", "keeper"])
def test_sigkill_leaves_nothing(victim):
    parent = """
import sys
from hockney import process
with process.stream(["sh", "-c", "setsid sleep 3434.7 & exec sleep 3535.7"], grace_s=0.3) as job:
    print(job.pid, flush=True)
    job.line()
"""
    front = subprocess.Popen([sys.executable, "-c", parent], stdout=subprocess.PIPE, text=True)
    keeper = int(front.stdout.readline())
    assert holds(lambda: all(any(is_sleep(pid) for pid in alive(end)) for end in ("3434.7", "3535.7")))
    os.kill(front.pid if victim == "front end" else keeper, signal.SIGKILL)
    front.wait(HANG_S)
    front.stdout.close()
    assert gone("3535.7")
    if victim == "front end":  # without its keeper only the program itself can be ended
        assert gone("3434.7")
    for pid in alive("3434.7"):
        os.kill(pid, signal.SIGKILL)


def test_cpu_time_of_everything_below_is_accounted_for():
    def used() -> float:
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    before = used()
    burn = f"{sys.executable} -c 'import time\nwhile time.process_time() < 0.4: pass'"
    process.capture(["sh", "-c", f"setsid {burn} & wait"])
    assert used() - before > 0.35
