# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Machines as files, like Linux shows them in /proc and /sys."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hockney.core.machine import Machine
from hockney.discovery import system
from hockney.discovery.cpu import memory_bytes, parse_cpu_list, processors, quota
from hockney.discovery.describe import describe
from hockney.discovery.load import Moment, ProcessorTimes, counters, load_between, moment


def put(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n")
    return root


def two_sockets(root: Path) -> Path:
    """Two sockets with two cores of two threads; thread n + 4 is the sibling of thread n, as usual."""
    files = {"sys/devices/system/cpu/online": "0-7", "proc/meminfo": "MemTotal:       1000 kB"}
    for cpu in range(8):
        base = f"sys/devices/system/cpu/cpu{cpu}"
        files[f"{base}/topology/physical_package_id"] = str(cpu % 4 // 2)
        files[f"{base}/topology/core_id"] = str(cpu % 2)
        files[f"{base}/cpufreq/scaling_governor"] = "powersave" if cpu else "performance"
        for index, (level, kind, size) in enumerate(
            [("1", "Data", "32K"), ("1", "Instruction", "32K"), ("3", "Unified", "8M")]
        ):
            files[f"{base}/cache/index{index}/level"] = level
            files[f"{base}/cache/index{index}/type"] = kind
            files[f"{base}/cache/index{index}/size"] = size
            files[f"{base}/cache/index{index}/shared_cpu_list"] = f"{cpu % 4 // 2 * 2}-{cpu % 4 // 2 * 2 + 1}"
    for node in range(2):
        files[f"sys/devices/system/node/node{node}/cpulist"] = (
            f"{node * 2}-{node * 2 + 1},{node * 2 + 4}-{node * 2 + 5}"
        )
    return put(root, files)


def test_threads_of_one_core_are_one_core(tmp_path):
    here = processors(two_sockets(tmp_path), allowed=tuple(range(8)))
    assert here.cores.cpus == (0, 1, 2, 3) and here.cores.logical == (0, 1, 2, 3)
    assert (here.sockets, here.numa_nodes, here.cores.usable, here.cores.restricted) == (2, 2, 4, False)
    assert here.caches == {"L1d": 32 << 10, "L3": 8 << 20}
    assert here.governor == "performance, powersave"


def test_a_mask_restricts_and_keeps_hwlocs_numbers(tmp_path):
    here = processors(two_sockets(tmp_path), allowed=(3, 6))
    assert here.cores.cpus == (6, 3) and here.cores.logical == (2, 3) and here.cores.restricted
    assert (here.sockets, here.numa_nodes) == (1, 1)


def test_a_control_groups_cpuset_is_the_whole_world_to_hwloc(tmp_path):
    root = put(
        two_sockets(tmp_path),
        {"proc/self/cgroup": "0::/job", "sys/fs/cgroup/job/cpuset.cpus.effective": "2-3,6-7"},
    )
    here = processors(root, allowed=(2, 3, 6, 7))
    assert here.cores.logical == (0, 1) and not here.cores.restricted


@pytest.mark.parametrize(
    ("files", "granted"),
    [
        (
            {
                "proc/self/cgroup": "0::/a/b",
                "sys/fs/cgroup/a/b/cpu.max": "max 100000",
                "sys/fs/cgroup/a/cpu.max": "150000 100000",
            },
            1.5,
        ),
        ({"proc/self/cgroup": "0::/", "sys/fs/cgroup/cpu.max": "200000 100000"}, 2.0),
        (
            {
                "proc/self/cgroup": "5:cpu,cpuacct:/x",
                "sys/fs/cgroup/cpu/x/cpu.cfs_quota_us": "300000",
                "sys/fs/cgroup/cpu/x/cpu.cfs_period_us": "100000",
            },
            3.0,
        ),
        ({"proc/self/cgroup": "5:cpu:/x", "sys/fs/cgroup/cpu/x/cpu.cfs_quota_us": "-1"}, None),
        ({}, None),
    ],
)
def test_quota_of_both_versions(tmp_path, files, granted):
    assert quota(put(tmp_path, files)) == granted


def test_a_quota_limits_what_can_work_at_once(tmp_path):
    root = put(two_sockets(tmp_path), {"proc/self/cgroup": "0::/", "sys/fs/cgroup/cpu.max": "150000 100000"})
    assert processors(root, allowed=tuple(range(8))).cores.usable == 1


def test_memory_is_what_the_group_grants(tmp_path):
    root = two_sockets(tmp_path)
    assert memory_bytes(root) == 1000 * 1024
    put(root, {"proc/self/cgroup": "0::/", "sys/fs/cgroup/memory.max": "4096"})
    assert memory_bytes(root) == 4096


@given(st.sets(st.integers(0, 300)))
@settings(max_examples=60)
def test_kernel_lists_are_read_back(cpus):
    ranges, left = [], sorted(cpus)
    while left:
        end = left[0]
        while end + 1 in cpus:
            end += 1
        ranges.append(f"{left[0]}-{end}" if end > left[0] else str(end))
        left = [cpu for cpu in left if cpu > end]
    assert parse_cpu_list(",".join(ranges)) == sorted(cpus)


FLAGS = "flags\t: fpu hypervisor sse"


@pytest.mark.parametrize(
    ("files", "name"),
    [
        ({"proc/cpuinfo": "flags\t: fpu sse"}, ""),
        ({"proc/cpuinfo": FLAGS}, "hypervisor"),
        ({"proc/cpuinfo": FLAGS, "sys/class/dmi/id/sys_vendor": "VMware, Inc."}, "vmware"),
        ({"proc/cpuinfo": "flags\t: fpu", "sys/class/dmi/id/sys_vendor": "Amazon EC2"}, ""),
        (
            {"proc/cpuinfo": FLAGS, "sys/class/dmi/id/sys_vendor": "Amazon EC2", ".dockerenv": ""},
            "nitro, docker",
        ),
        (
            {
                "proc/cpuinfo": FLAGS,
                "sys/devices/system/clocksource/clocksource0/available_clocksource": "kvm-clock tsc",
            },
            "kvm",
        ),
        ({"proc/version": "Linux version 5.15 (Microsoft@WSL2)"}, "wsl"),
        ({"proc/self/cgroup": "0::/kubepods/pod1"}, "kubernetes"),
    ],
)
def test_hypervisors_and_containers(tmp_path, files, name):
    assert system.virtual(put(tmp_path, files)) == name


def test_network_interfaces_that_are_up(tmp_path):
    root = put(
        tmp_path,
        {
            "sys/class/net/lo/operstate": "unknown",
            "sys/class/net/eth0/operstate": "up",
            "sys/class/net/eth0/speed": "25000",
            "sys/class/net/eth1/operstate": "down",
            "sys/class/net/eth2/operstate": "up",
            "sys/class/net/eth2/speed": "-1",
            "sys/class/infiniband/mlx5_0/ports/1/state": "4: ACTIVE",
            "sys/class/infiniband/mlx5_0/ports/1/rate": "100 Gb/sec (4X EDR)",
        },
    )
    assert system.network(root) == ["eth0 25 Gbit/s", "eth2", "mlx5_0/1 100 Gb/sec (4X EDR)"]


def test_batch_jobs_are_named(golden):
    slurm = {"SLURM_JOB_ID": "7", "SLURM_JOB_NUM_NODES": "4"}
    several, one = system.scheduler(slurm), system.scheduler(slurm | {"SLURM_JOB_NUM_NODES": "1"})
    golden("batch_jobs.txt", "\n".join([several, one, system.scheduler({"PBS_JOBID": "8.head"})]))
    assert system.scheduler({}) == ""


def test_an_empty_system_is_described_without_error(tmp_path):
    machine = describe(None, root=tmp_path)
    assert machine.cores >= 1 and machine.numa_nodes == 1 and machine.caches == {}


def test_this_machine_survives_its_json():
    machine = describe(None, engine="e", compiler="c", flags="f")
    assert msgspec.json.decode(msgspec.json.encode(machine), type=Machine) == machine
    assert machine.cores <= machine.threads <= (os.cpu_count() or 1)


def test_load_is_what_others_used():
    before = Moment(0, 10, ProcessorTimes(100, 1, 200))
    after = Moment(10, 12, ProcessorTimes(115, 3, 220))
    load = load_between(before, after)
    assert load.outside_cores == pytest.approx(1.3) and load.steal == pytest.approx(0.1)


def test_load_is_unknown_where_the_system_does_not_tell(tmp_path):
    silent, known = moment(tmp_path), ProcessorTimes(1, 1, 1)
    assert silent.processors is None
    assert load_between(silent, Moment(silent.wall_s + 9, 1, known)).outside_cores is None
    assert load_between(Moment(0, 1, known), Moment(0.1, 1, known)).outside_cores is None


def test_only_allowed_processors_count_and_old_kernels_have_fewer_columns():
    stat = "cpu  9 9 9 9\ncpu0 1 2 3 4 5 6 7 8 9 10\ncpu1 1 2 3 4\ncpu10 7 7 7 7\nintr 1"
    assert counters(stat, (0, 1)) == [[1, 2, 3, 4, 5, 6, 7, 8], [1, 2, 3, 4, 0, 0, 0, 0]]


@pytest.mark.skipif(not Path("/proc/stat").exists(), reason="needs /proc")
def test_own_children_are_not_outside_load():
    """A child that uses 0.6 s of processor time counts as hockney's own once it is waited for; other programs
    can only add."""
    burn = "import time\nwhile time.process_time() < 0.6: pass"
    before = moment()
    subprocess.run([sys.executable, "-c", burn], check=True)
    after = moment()
    own = after.own_s - before.own_s
    assert own > 0.55
    busy = after.processors.busy_s - before.processors.busy_s
    outside = load_between(before, after).outside_cores
    assert outside == pytest.approx(max(0.0, (busy - own) / (after.wall_s - before.wall_s)))
