# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Faults in descriptions of simulated machines and of emulated Ethernets."""

from __future__ import annotations

import pytest

from hockney.core.errors import UsageError
from hockney.core.ethernet import EthernetFault
from hockney.core.platform import Fault
from hockney.launch.smpi import launch_seed, platform_lines
from hockney.machines.emulated import description
from hockney.machines.emulated.namespaces import ethernet_words
from hockney.machines.simulated import read, write

MACHINE = """
name = "small"
title = "4 nodes"
[network]
nodes = [{count = 4}]
[[segments]]
latency_s = "1us"
"""
ETHERNET = """
name = "office"
title = "4 hosts"
hosts = 4
rate = "100Mbit/s"
medium = "switch"
"""


def test_faults_of_a_simulated_machine():
    text = MACHINE + "[[faults]]\nnodes = [3]\nslowdown = 1.1\n"
    platform = read(text)
    assert platform.faults == (Fault(nodes=(3,), slowdown=1.1),)
    assert not platform.varies and read(write(platform)) == platform
    lossy = read(text + '[[faults]]\nnodes = [0, 2]\nloss = 0.01\nresend_s = "200us"\n')
    assert lossy.varies and read(write(lossy)) == lossy
    lines = platform_lines(lossy, launch=4).splitlines()
    seed = launch_seed(1, 4, "losses")
    assert lines[-3:] == ["fault 1 3 1.1 0.0 0.0", "fault 2 0 2 1.0 0.01 0.0002", f"fault-seed {seed}"]
    assert not any(line.startswith("fault-seed") for line in platform_lines(platform).splitlines())
    uplink = read(text + "[[faults]]\nuplink = [0, 1, 2]\nslowdown = 1.5\n")
    assert read(write(uplink)) == uplink
    assert platform_lines(uplink).splitlines()[-1] == "uplink-fault 3 0 1 2 1.5 0.0 0.0"


def test_faults_of_an_emulated_ethernet(tmp_path):
    text = ETHERNET + "[[faults]]\nhosts = [3]\nslowdown = 1.5\n[[faults]]\nhosts = [1, 2]\nloss = 0.01\n"
    ethernet = description.read(text)
    slow, lossy = EthernetFault(hosts=(3,), slowdown=1.5), EthernetFault(hosts=(1, 2), loss=0.01)
    assert ethernet.faults == (slow, lossy)
    assert description.read(description.write(ethernet)) == ethernet
    words = ethernet_words(ethernet, tmp_path)
    options = [words[k + 1] for k, word in enumerate(words) if word == "--fault"]
    assert options == ["3:1.5:0.0", "1-2:1.0:0.01"]
    assert "3:1.5:0.0" not in ethernet_words(ethernet, tmp_path, 2), "only two hosts exist"


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        ("= [4]", "fault-beyond-"),
        ("= []", "fault-not-one-or-two-"),
        ("= [1, 2, 3]", "fault-not-one-or-two-"),
        ("= [2, 2]", "fault-not-one-or-two-"),
        ("= [1]\nslowdown = 0.5", "outside-limits"),
        ("= [1]\nloss = 1", "outside-limits"),
        ("= [1]\nspeed = 1", "unknown-key"),
    ],
)
def test_mistakes(fault: str, code: str):
    with pytest.raises(UsageError) as error:
        read(f"{MACHINE}[[faults]]\nnodes {fault}\n")
    assert error.value.code.startswith(code)
    with pytest.raises(UsageError) as error:
        description.read(f"{ETHERNET}[[faults]]\nhosts {fault.replace('[4]', '[5]')}\n")
    assert error.value.code.startswith(code)


@pytest.mark.parametrize(
    "keys", ["uplink = [0, 1, 2, 3]", "uplink = [1, 1]", "uplink = [1]\nnodes = [2]", ""]
)
def test_an_uplink_is_above_some_of_the_nodes(keys: str):
    with pytest.raises(UsageError) as error:
        read(f"{MACHINE}[[faults]]\n{keys}\nslowdown = 1.5\n")
    assert error.value.code == "fault-not-one-or-two-nodes"
