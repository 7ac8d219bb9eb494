# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Emulated hosts: what each has of its own, the time that frames take, and that nothing remains of them.

A busy machine can only make messages slower: times have lower limits, bandwidths upper ones.
"""

from __future__ import annotations

import os
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import time

import msgspec
import pytest
from hosts import (
    BUS,
    GONE_S,
    SETUP_FAILED,
    SWITCH,
    Marked,
    among,
    fastest,
    nobody,
    programs,
    readable_programs,
)  # fmt: skip
from needs import missing
from raising import raises_code
from scripts import script

from hockney import build
from hockney.core.errors import EnvironmentProblem
from hockney.core.ethernet import Ethernet
from hockney.machines import emulated

pytestmark = [pytest.mark.compiler, pytest.mark.needs("iproute2")]

BYTES = 100_000


def moments(text: str) -> list[tuple[float, float]]:
    """When each message of talk.py began and ended."""
    pairs = (line.split() for line in text.splitlines() if line[:1].isdigit())
    return [(float(began), float(ended)) for began, ended in pairs]


def times(text: str) -> list[float]:
    return [ended - began for began, ended in moments(text)]


def test_hosts_have_their_own_names_addresses_and_memory():
    done = among(
        BUS,
        """
        hostname
        on h1 'hostname; echo h1 > /dev/shm/mine; echo $TMPDIR'
        on -x -l me h2 'hostname; ls /dev/shm'
        on h3 'cat /proc/net/dev | grep -c :'
        on h4 getent hosts h1 front
        cat /proc/net/dev | grep -c :
        """,
    )
    assert done.returncode == 0, done.stderr
    front, h1, folder, h2, interfaces, *names, here = done.stdout.split("\n")[:-1]
    assert (front, h1, h2, folder) == ("front", "h1", "h2", "/dev/shm"), "and nothing of h1 in h2's memory"
    assert interfaces == "2", "the loopback and eth0"
    assert [name.split() for name in names] == [["10.99.0.1", "h1"], ["10.99.0.254", "front"]]
    assert here == str(2 + 1 + BUS.hosts), "the other ends of all"


def test_processes_that_outlive_the_command_count_as_its_own():
    """As the wire does; otherwise its processor time would be a load from other programs."""
    busy_s = 0.3
    code = f"while time.process_time() < {busy_s}: pass\nopen('/dev/shm/done', 'w').close(); time.sleep(60)"
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = among(
        SWITCH,
        f"{sys.executable} -c {shlex.quote('import time' + chr(10) + code)} & "
        "while [ ! -e /dev/shm/done ]; do sleep 0.05; done",
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.returncode == 0, done.stderr
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime >= busy_s


def test_the_exit_code_and_the_folder_are_those_of_the_command(tmp_path):
    tools = programs()
    words = [*emulated.ethernet_words(BUS, tools.ethernet), "sh", "-c", f"pwd; {tools.agent} h2 pwd; exit 7"]
    done = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path, timeout=60)
    assert (done.returncode, done.stdout.split()) == (7, [str(tmp_path), str(tmp_path)])


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("on h9 true", 255),
        ("on h1 'exit 3'", 3),
        ("on h1 no-such-program 2>/dev/null", 127),
        ("exec no-such-program 2>/dev/null", 127),
    ],
)
def test_the_agent_behaves_like_ssh(words, code):
    assert among(BUS, words).returncode == code


@pytest.mark.parametrize("ethernet", [BUS, SWITCH], ids=lambda each: each.name)
def test_messages_take_at_least_their_time_on_the_wire(ethernet):
    """The bytes leave as frames that the interface counts, none longer than the MTU."""
    done = among(
        ethernet,
        f"""
        on h2 $talk serve 5000 &
        on h1 $talk send h2 5000 {BYTES} 2
        on h1 grep eth0 /proc/net/dev
        """,
    )
    assert done.returncode == 0, done.stderr
    *lines, counters = done.stdout.strip().split("\n")
    assert BYTES / min(times("\n".join(lines))) <= fastest(ethernet)
    sent_bytes, sent_frames = map(int, counters.split(":")[1].split()[8:10])
    assert sent_frames >= 2 * BYTES / ethernet.segment
    assert sent_bytes >= 2 * BYTES + sent_frames * 14


@pytest.mark.parametrize(("ethernet", "cables"), [(BUS, 1), (SWITCH, 2)], ids=["bus", "switch"])
def test_no_short_message_is_free(ethernet, cables):
    """Not even after a pause, where a token bucket has saved up for a frame."""
    done = among(
        ethernet,
        """
        on h2 $talk serve 5000 &
        on h1 $talk send h2 5000 1 20
        """,
    )
    assert done.returncode == 0, done.stderr
    gap_s = 12 / ethernet.rate
    assert min(times(done.stdout)) >= 2 * cables * (ethernet.wire_s(1) - gap_s)


def rate_of_two_pairs(ethernet: Ethernet, count: int = 3) -> float:
    """Bytes a second from the first beginning to the last end."""
    done = among(
        ethernet,
        f"""
        on h2 $talk serve 5000 & on h4 $talk serve 5000 &
        on h1 $talk send h2 5000 {BYTES} {count} & on h3 $talk send h4 5000 {BYTES} {count}
        wait
        """,
    )
    assert done.returncode == 0, done.stderr
    began, ended = zip(*moments(done.stdout), strict=True)
    assert len(began) == 2 * count
    return 2 * count * BYTES / (max(ended) - min(began))


def test_pairs_share_a_bus():
    assert rate_of_two_pairs(BUS) <= fastest(BUS)


def test_pairs_do_not_share_a_switch():
    """Twice the rate of a bus; a busy machine may need several attempts."""
    assert any(rate_of_two_pairs(SWITCH, 12) > 1.3 * fastest(BUS) for _ in range(6))


def test_a_delay_is_added():
    far = msgspec.structs.replace(BUS, delay_s=0.01)
    done = among(far, "on h2 $talk serve 5000 & on h1 $talk send h2 5000 1 2")
    assert min(times(done.stdout)) >= 2 * far.delay_s


@pytest.mark.parametrize("part", ["wire", "h2"])
def test_the_end_of_a_part_is_the_end_of_all(part):
    """Ranks would wait for its messages."""
    mark = Marked(part)
    with subprocess.Popen(
        [*emulated.ethernet_words(BUS, programs().ethernet), "sh", "-c", "echo; (true &); exec sleep 1000"],
        env=mark.environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stdout is not None and process.stdout.readline() == "\n"
            os.kill(mark.named(part), signal.SIGKILL)
            _, err = process.communicate(timeout=GONE_S)
        finally:
            process.kill()
    step = "wire" if part == "wire" else f"host {part}"
    assert process.returncode == SETUP_FAILED
    assert err.startswith(f"hockney-ethernet: {step}: ") and err.count("\n") == 1


def test_an_ordinary_user_can_do_it():
    if os.geteuid() != 0:
        programs()  # which tries it
        return
    user = nobody()
    with readable_programs() as tools:
        done = among(BUS, "id -u; on h1 id -u; on h1 hostname", before=user, tools=tools)
    if done.returncode == SETUP_FAILED and "user namespace" in done.stderr:
        pytest.skip(done.stderr)
    assert done.stdout.split() == ["0", "0", "h1"], done.stderr


@pytest.mark.parametrize(("kind", "most"), [("net", 0), ("mnt", 0), ("net", 3)])
def test_what_is_not_allowed_is_named(kind, most):
    """In a user namespace that may have no further namespaces of a kind, or too few for all hosts."""
    unshare = shutil.which("unshare")
    if unshare is None:
        missing("unshare")
    tools = programs()
    script = f'echo {most} > /proc/sys/user/max_{kind}_namespaces && exec "$@"'
    wrapper = (unshare, "--user", "--map-root-user", "sh", "-c", script, "sh")
    words = [*wrapper, *emulated.ethernet_words(BUS, tools.ethernet), "true"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    if done.returncode == 1 and "unshare" in done.stderr:
        pytest.skip(done.stderr)
    assert done.returncode == SETUP_FAILED
    assert done.stderr.startswith("hockney-ethernet: network namespace: ")


def test_cached_programs_need_no_compiler():
    without = {**os.environ, "CXX": "/nowhere/c++", "CC": "/nowhere/cc"}
    assert build.ethernet_programs(environ=without) == programs()


def test_a_host_that_cannot_emulate_gets_one_line(tmp_path):
    says = "hockney-ethernet: veth: Operation not supported"
    refusing = script(tmp_path / "ethernet", f"echo '{says}' >&2\nexit 125")
    with raises_code("cannot-emulate", step="veth"):
        emulated.trial(BUS, refusing, tmp_path)


def test_a_host_that_cannot_be_entered_is_noticed_by_the_trial(tmp_path):
    """Launchers need more than a network: they start processes on its hosts."""
    says = "hockney-ethernet-agent: entry of a host: h1: No"
    refusing = script(tmp_path / "agent", f"echo '{says}' >&2\nexit 255")
    with pytest.raises(EnvironmentProblem) as caught:
        emulated.trial(BUS, programs().ethernet, refusing)
    assert caught.value.fields == {"step": "entry of a host", "reason": "h1: No"}


def test_root_without_rights_has_a_user_namespace():
    """As in many containers."""
    if os.geteuid() != 0:
        pytest.skip("only root can lack rights")
    setpriv = shutil.which("setpriv")
    if setpriv is None:
        missing("setpriv")
    less = (setpriv, "--bounding-set=-sys_admin", "--inh-caps=-sys_admin")
    done = among(BUS, "on h1 hostname", before=less)
    if done.returncode == SETUP_FAILED and "user namespace" in done.stderr:
        pytest.skip(done.stderr)
    assert (done.stdout, done.returncode) == ("h1\n", 0), done.stderr


def test_sixteen_hosts_exist_within_seconds():
    """Which is a hundred times as long as it takes."""
    sixteen = msgspec.structs.replace(BUS, hosts=16)
    began = time.monotonic()
    done = among(sixteen, "on h16 cat /proc/uptime")
    assert done.returncode == 0, done.stderr
    assert time.monotonic() - began < 5


def test_lost_frames_end_the_network():
    """The wire stands still while a host sends more than its queue takes."""
    mark = Marked("lost")
    flood = (
        "import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); d = bytes(1400)\n"
        "s.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)\n"
        "[s.sendto(d, ('10.99.0.255', 9)) for _ in range(60000)]"
    )
    agent = programs().agent
    script = f'echo; read x; {agent} h1 "$PROGRAM"; echo; read x; {agent} h1 "$PROGRAM"; sleep 1000'
    flooding = f"{sys.executable} -c {shlex.quote(flood)}"
    with subprocess.Popen(
        [*emulated.ethernet_words(BUS, programs().ethernet), "sh", "-c", script],
        env={**mark.environ, "PROGRAM": flooding},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stdin is not None and process.stdout is not None
            for turn in (signal.SIGSTOP, signal.SIGCONT):
                assert process.stdout.readline() == "\n"
                os.kill(mark.named("wire"), turn)
                process.stdin.write("\n")
                process.stdin.flush()
            code = process.wait(timeout=GONE_S)
            assert process.stderr is not None
            err = process.stderr.read()
        finally:
            process.kill()
    assert code == SETUP_FAILED and err.startswith("hockney-ethernet: wire: frames were lost: "), err


@pytest.mark.parametrize(
    "words",
    [
        ["--hosts", "0"], ["--hosts", "251"], ["--hosts", "x"], ["--rate", "0"], ["--medium", "ring"],
        ["--mtu", "1"], ["--delay", "-1"], ["--speed", "1"], ["--hosts", "2.5"], ["--hosts", "1e300"],
        ["--mtu", "1500.5"], ["--mtu", "nan"], ["--rate", "999"], ["--rate", "1e-300"], ["--rate", "inf"],
        ["--send-buffer", "1e300"],
    ],
)  # fmt: skip
def test_bad_options_are_refused(words):
    done = subprocess.run([str(programs().ethernet), *words, "--", "true"], capture_output=True)
    assert done.returncode == 2
