# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Programs on emulated hosts, for tests. Where this host has no namespaces, they skip with the reason."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path

import pytest
from needs import missing, need_compiler, need_program

from hockney import build
from hockney.build import EthernetPrograms
from hockney.core.errors import EnvironmentProblem
from hockney.core.ethernet import Ethernet
from hockney.machines import emulated

BUS = Ethernet(name="bus", title="A bus", hosts=4, rate=1.25e6, medium="bus")
SWITCH = Ethernet(name="switch", title="A switch", hosts=4, rate=1.25e6, medium="switch")
TALK = Path(__file__).with_name("talk.py")
LONGEST_S = 120.0
SETUP_FAILED = 125
"""engine/emulated/room.hpp"""
GONE_S = 60.0
NAMESPACES = ("net", "mnt", "pid", "uts", "ipc")


@functools.cache
def programs() -> EthernetPrograms:
    need_compiler()
    found = build.ethernet_programs()
    try:
        emulated.trial(BUS, found.ethernet, found.agent)
    except EnvironmentProblem as problem:
        missing("namespaces", str(problem))
    return found


def among(
    ethernet: Ethernet, script: str, before: tuple[str, ...] = (), tools: EthernetPrograms | None = None
) -> subprocess.CompletedProcess:
    """Run a shell script on the launcher's host of `ethernet`, in which `on HOST WORDS` runs a command on a
    host, and `talk` is the program of talk.py."""
    tools = tools or programs()
    head = f'on() {{ "{tools.agent}" "$@"; }}\ntalk="{sys.executable} {TALK}"\n'
    words = [*before, *emulated.ethernet_words(ethernet, tools.ethernet), "sh", "-c", head + script]
    return subprocess.run(words, capture_output=True, text=True, timeout=LONGEST_S, cwd="/")


def fastest(ethernet: Ethernet) -> float:
    """Bytes a second of full frames with nothing between them, not even acknowledgements."""
    return ethernet.segment / ethernet.wire_s(ethernet.segment)


def nobody() -> tuple[str, ...]:
    """The words before a command of root's that an ordinary user is to run."""
    setpriv = need_program("setpriv", "setpriv")
    if Path("/proc/sys/user/max_user_namespaces").read_text().strip() == "0":
        pytest.skip("this host has no user namespaces")
    return (setpriv, "--reuid=65534", "--regid=65534", "--clear-groups")


@contextlib.contextmanager
def readable_programs() -> Iterator[EthernetPrograms]:
    """Copies that every user may run, in a folder for more."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        copies = [Path(shutil.copy(each, folder)) for each in dataclasses.astuple(programs())]
        yield EthernetPrograms(*copies)


class Marked:
    """Processes that inherit a variable, as all parts of an Ethernet do."""

    def __init__(self, name: str) -> None:
        self.name = "HOCKNEY_TEST_MARK"
        self.value = f"{os.getpid()}-{name}"

    @property
    def environ(self) -> dict[str, str]:
        return {**os.environ, self.name: self.value}

    def processes(self) -> set[int]:
        text = f"{self.name}={self.value}\0".encode()
        found = set()
        for path in Path("/proc").glob("[0-9]*/environ"):
            with contextlib.suppress(OSError):
                if text in path.read_bytes() + b"\0":
                    found.add(int(path.parent.name))
        return found

    def named(self, name: str) -> int:
        """The process with this name, which it gives itself after it has begun."""
        found: list[int] = []

        def search() -> bool:
            for process in self.processes():
                with contextlib.suppress(OSError):
                    if Path(f"/proc/{process}/comm").read_text() == f"{name}\n":
                        found.append(process)
            return bool(found)

        assert comes(search), f"no process {name}"
        return found[0]


def namespaces_of(processes: Iterable[int]) -> set[str]:
    """Those that are not this process's: "net:[4026531840]"."""
    found = set()
    for process in processes:
        for kind in NAMESPACES:
            with contextlib.suppress(OSError):
                inode = os.readlink(f"/proc/{process}/ns/{kind}")
                if inode != os.readlink(f"/proc/self/ns/{kind}"):
                    found.add(inode)
    return found


def all_namespaces() -> set[str]:
    return namespaces_of(int(path.name) for path in Path("/proc").glob("[0-9]*"))


def mounts() -> str:
    """Without the disks of other tests, which run at the same time."""
    lines = Path("/proc/self/mountinfo").read_text().splitlines(keepends=True)
    return "".join(line for line in lines if "/pytest-of-" not in line)


def comes(what: Callable[[], object]) -> bool:
    """Whether it becomes true within a time that a busy machine keeps."""
    limit = time.monotonic() + GONE_S
    while not what():
        if time.monotonic() > limit:
            return False
        time.sleep(0.02)
    return True


def vanishes(what: Callable[[], Collection[object]]) -> bool:
    return comes(lambda: not what())
