# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Nothing remains of emulated hosts, however they end: no processes, no namespaces, no mounts, no files."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from pathlib import Path

import pytest
from hosts import BUS, NAMESPACES, Marked, all_namespaces, mounts, namespaces_of, programs, vanishes

from hockney.machines import emulated

pytestmark = [pytest.mark.compiler, pytest.mark.slow]

MEMORY = Path("/dev/shm")
HOSTS = BUS.hosts + 1
"""With the launcher's."""


@pytest.mark.parametrize("ending", [None, signal.SIGKILL, signal.SIGTERM, signal.SIGINT], ids=str)
def test_nothing_is_left(ending, tmp_path):
    """Of hosts with a process and a file in memory on each, after the end of their command or a signal."""
    tools, mark = programs(), Marked(f"end-{ending}")
    file = f"hockney-test-{mark.value}"
    before = mounts()
    script = f"""
    echo > {MEMORY}/{file}
    for h in h1 h2 h3 h4; do {tools.agent} $h 'echo > {MEMORY}/{file}; echo up; exec sleep 1000' & done
    read x
    """
    with subprocess.Popen(
        [*emulated.ethernet_words(BUS, tools.ethernet), "sh", "-c", script],
        env={**mark.environ, "TMPDIR": str(tmp_path)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        assert [process.stdout.readline() for _ in range(BUS.hosts)] == ["up\n"] * BUS.hosts
        processes = mark.processes()
        spaces = namespaces_of(processes)
        with_file = {
            os.readlink(f"/proc/{each}/ns/mnt")
            for each in processes
            if Path(f"/proc/{each}/root{MEMORY}/{file}").exists()
        }
        assert len(with_file) == HOSTS, "the test would not see a file"
        assert len(processes) > 2 * BUS.hosts, "nor a process"
        assert len(spaces) == 1 + HOSTS * (len(NAMESPACES) - 1), (
            "nor a namespace: all have the same of processes"
        )
        if ending is None:
            process.stdin.close()
        else:
            process.send_signal(ending)
    assert vanishes(mark.processes)
    assert vanishes(lambda: spaces & all_namespaces())
    assert mounts() == before
    assert not (MEMORY / file).exists() and list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("attempt", range(4))
def test_nothing_survives_a_kill_at_any_moment(attempt):
    """Also while the hosts are made."""
    tools, mark = programs(), Marked(f"kill-{attempt}")
    before = mounts()
    script = f"for h in h1 h2 h3 h4; do {tools.agent} $h sleep 1000 & done; wait"
    words = [*emulated.ethernet_words(BUS, tools.ethernet), "sh", "-c", script]
    with subprocess.Popen(words, env=mark.environ) as process:
        time.sleep(random.uniform(0, 0.1))
        spaces = namespaces_of(mark.processes())
        process.send_signal(signal.SIGKILL)
    assert vanishes(mark.processes)
    assert vanishes(lambda: spaces & all_namespaces())
    assert mounts() == before
