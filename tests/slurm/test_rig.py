# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The cluster that the other tests of this folder use."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from slurm_rig import CLUSTER, NAMESPACES, PATHS, Rig, refuse_without_needs

pytestmark = [pytest.mark.mpi, pytest.mark.needs("Slurm", "iproute2")]


@pytest.mark.slow
def test_a_dead_node_is_noticed_and_comes_back(rig: Rig) -> None:
    rig.down("n2", noticed=False)
    assert rig.on("n2", "true", check=False).code == 255
    rig.wait_for(lambda: rig.state_of_node("n2").startswith("down"), "Slurm reports the node as down")
    rig.up("n2")
    assert rig.run("srun", "-w", "n2", "hostname").out == "n2\n"


@pytest.mark.slow
def test_nothing_is_left_when_the_tests_are_killed(tmp_path: Path) -> None:
    """A process that has the same cluster as the tests, killed."""
    refuse_without_needs()
    code = (
        "import subprocess, sys, time\n"
        "subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE)\n"
        "time.sleep(600)\n"
    )
    words = (*NAMESPACES, sys.executable, str(CLUSTER), "up", "1", "1")
    user = subprocess.Popen(
        (sys.executable, "-c", code, *words), env=os.environ | PATHS, stdout=subprocess.PIPE, text=True
    )
    assert user.stdout is not None
    assert user.stdout.readline() == "up\n"
    below = descendants(user.pid)
    assert len(below) > 5, below
    os.kill(user.pid, signal.SIGKILL)
    user.wait()
    user.stdout.close()
    end = time.monotonic() + 30
    while (left := [pid for pid in below if running(pid)]) and time.monotonic() < end:
        time.sleep(0.05)
    assert not left


def descendants(root: int) -> list[int]:
    found = [root]
    for pid in found:
        for children in Path(f"/proc/{pid}/task").glob("*/children"):
            found += map(int, children.read_text().split())
    return found[1:]


def running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
