# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Environment of the processors: hypervisor, container, network, scheduler, operating system, disks."""

from __future__ import annotations

import os
import platform
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path

from hockney.discovery.cpu import ROOT, read_text


def virtual(root: Path = ROOT) -> str:
    """Return hypervisor and container by name ("kvm, docker"); empty on bare metal."""
    return ", ".join(filter(None, (hypervisor(root), container(root))))


def hypervisor(root: Path) -> str:
    """Identify it by the firmware's vendor if known, otherwise by the CPU flag that every hypervisor sets."""
    if "microsoft" in read_text(root / "proc/version").lower():
        return "wsl"
    xen = read_text(root / "sys/hypervisor/type")
    if xen:
        return xen
    firmware = " ".join(
        read_text(root / "sys/class/dmi/id" / name) for name in ("sys_vendor", "product_name", "bios_vendor")
    )
    known = {
        "KVM": "kvm", "QEMU": "kvm", "VMware": "vmware", "VirtualBox": "virtualbox", "innotek": "virtualbox",
        "Microsoft Corporation Virtual": "hyper-v", "Parallels": "parallels", "Firecracker": "firecracker",
        "Amazon EC2": "nitro", "Google Compute": "kvm", "OpenStack": "kvm", "BHYVE": "bhyve", "Xen": "xen",
    }  # fmt: skip
    flagged = re.search(r"^flags\s*:.*\bhypervisor\b", read_text(root / "proc/cpuinfo"), re.MULTILINE)
    for sign, name in known.items():
        # Amazon's bare metal instances have the vendor's name too, but no flag
        if sign in firmware and (flagged or sign in ("KVM", "QEMU")):
            return name
    # without firmware tables (Firecracker, many containers) the paravirtual clock identifies it
    clock = read_text(root / "sys/devices/system/clocksource/clocksource0/available_clocksource")
    for sign, name in (("kvm", "kvm"), ("hyperv", "hyper-v"), ("xen", "xen")):
        if flagged and sign in clock:
            return name
    return "hypervisor" if flagged else ""


def container(root: Path) -> str:
    """Identify it by files and variables of container managers (systemd's container interface)."""
    if (root / ".dockerenv").exists():
        return "docker"
    if (root / "run/.containerenv").exists():
        return "podman"
    if (root / "singularity.d").exists() or (root / ".singularity.d").exists():
        return "apptainer"
    variables = read_text(root / "proc/1/environ").split("\0")
    named = next((v.partition("=")[2] for v in variables if v.startswith("container=")), "")
    if named:
        return named
    groups = read_text(root / "proc/1/cgroup") + read_text(root / "proc/self/cgroup")
    match = re.search(r"docker|kubepods|lxc|containerd|libpod", groups)
    return {"kubepods": "kubernetes", "libpod": "podman"}.get(match.group(), match.group()) if match else ""


def network(root: Path = ROOT) -> list[str]:
    """Interfaces that are up, with their speed if the driver reports it; InfiniBand ports."""
    names = []
    for interface in sorted((root / "sys/class/net").glob("*")):
        if interface.name == "lo" or read_text(interface / "operstate") not in ("up", "unknown"):
            continue
        speed = read_text(interface / "speed")  # Mbit/s; -1 or an error for interfaces that have none
        names.append(
            interface.name + (f" {int(speed) / 1000:g} Gbit/s" if speed.isdecimal() and int(speed) else "")
        )
    for port in sorted((root / "sys/class/infiniband").glob("*/ports/*")):
        if "ACTIVE" in read_text(port / "state"):
            names.append(f"{port.parent.parent.name}/{port.name} {read_text(port / 'rate')}".strip())
    return names


def scheduler(environ: Mapping[str, str]) -> str:
    """The batch job this process runs in, empty outside of one."""
    for variable, name in (
        ("SLURM_JOB_ID", "Slurm"), ("PBS_JOBID", "PBS"), ("LSB_JOBID", "LSF"), ("FLUX_JOB_ID", "Flux"),
    ):  # fmt: skip
        if environ.get(variable):
            nodes = environ.get("SLURM_JOB_NUM_NODES", "") if name == "Slurm" else ""
            return f"{name} job {environ[variable]}" + (
                f" on {nodes} nodes" if nodes not in ("", "1") else ""
            )
    return f"Grid Engine job {environ['JOB_ID']}" if environ.get("SGE_ROOT") and environ.get("JOB_ID") else ""


def system(root: Path = ROOT) -> str:
    """Kernel and distribution: "Linux 6.1.0 x86_64, Debian GNU/Linux 12"."""
    kernel = f"{platform.system()} {platform.release()} {platform.machine()}"
    match = re.search(r'^PRETTY_NAME="?([^"\n]+)', read_text(root / "etc/os-release"), re.MULTILINE)
    return f"{kernel}, {match.group(1)}" if match else kernel


def shared_memory() -> int | None:
    """Free bytes of /dev/shm, which the ranks of one host use; None if there is none."""
    try:
        status = os.statvfs("/dev/shm")
    except OSError:
        return None
    return status.f_bavail * status.f_frsize


def writable(folder: Path) -> str:
    """Why `folder` cannot be created and written to; empty if it can."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"room?")
    except OSError as error:
        return error.strerror or str(error)
    return ""
