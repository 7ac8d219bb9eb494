# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Processors, caches and memory, and the part that this process may use."""

from __future__ import annotations

import os
import platform
import re
from dataclasses import dataclass
from pathlib import Path

from hockney.core.layout import Cores

ROOT = Path("/")
CPUS = "sys/devices/system/cpu"


@dataclass(frozen=True)
class Processors:
    """Processors of this host. `allowed` are the numbers of the allowed hardware threads, in order; `cores`
    the physical cores to which they belong."""

    model: str
    allowed: tuple[int, ...]
    cores: Cores
    sockets: int
    numa_nodes: int
    caches: dict[str, int]
    governor: str


def read_text(path: Path) -> str:
    try:
        return path.read_text(errors="replace").strip()
    except OSError:
        return ""


def allowed_cpus() -> tuple[int, ...]:
    """Return the hardware threads in this process's affinity mask; all of them if the system has no such
    mask."""
    if hasattr(os, "sched_getaffinity"):
        return tuple(sorted(os.sched_getaffinity(0)))
    return tuple(range(os.cpu_count() or 1))


def processors(root: Path = ROOT, allowed: tuple[int, ...] | None = None) -> Processors:
    """Read /proc and /sys; unknown values are empty, or as if each thread were a core."""
    allowed = allowed_cpus() if allowed is None else allowed
    granted = quota(root)
    nodes = [n for n in (root / "sys/devices/system/node").glob("node[0-9]*") if overlaps_node(n, allowed)]
    governors = {read_text(root / CPUS / f"cpu{cpu}" / "cpufreq/scaling_governor") for cpu in allowed} - {""}
    return Processors(
        model=processor_model(root),
        allowed=allowed,
        cores=physical_cores(root, allowed, granted),
        sockets=len({package_id(root, cpu) for cpu in allowed}),
        numa_nodes=max(1, len(nodes)),
        caches=cache_sizes(root, allowed[0] if allowed else 0),
        governor=", ".join(sorted(governors)),
    )


def package_id(root: Path, cpu: int) -> str:
    return read_text(root / CPUS / f"cpu{cpu}" / "topology/physical_package_id") or "0"


def physical_cores(root: Path, allowed: tuple[int, ...], granted: float | None) -> Cores:
    """The allowed cores in hwloc's order: by package, then by shared last cache, then by core, each by its
    lowest hardware thread."""
    online = sorted(set(permitted_cpus(root)) | set(allowed))
    groups = {cpu: (package_id(root, cpu), last_cache(root, cpu), core_id(root, cpu)) for cpu in online}
    lowest: dict[tuple[str, ...], int] = {}
    for cpu in online:
        for depth in (1, 2, 3):
            lowest.setdefault(groups[cpu][:depth], cpu)
    order = sorted(set(groups.values()), key=lambda group: [lowest[group[:depth]] for depth in (1, 2, 3)])
    allowed_cores = [
        (min(c for c in allowed if groups[c] == g), i)
        for i, g in enumerate(order)
        if any(groups[c] == g for c in allowed)
    ]
    usable = len(allowed_cores) if granted is None else min(len(allowed_cores), int(granted + 0.001))
    return Cores(
        cpus=tuple(cpu for cpu, _ in allowed_cores),
        logical=tuple(index for _, index in allowed_cores),
        usable=max(1, usable),
        restricted=set(allowed) != set(online),
    )


def core_id(root: Path, cpu: int) -> str:
    return read_text(root / CPUS / f"cpu{cpu}" / "topology/core_id") or f"thread {cpu}"


def last_cache(root: Path, cpu: int) -> str:
    """The hardware threads that share the last cache with `cpu`; "" if unknown."""
    indices = sorted(
        (root / CPUS / f"cpu{cpu}" / "cache").glob("index[0-9]*"), key=lambda i: read_text(i / "level")
    )
    return read_text(indices[-1] / "shared_cpu_list") if indices else ""


def permitted_cpus(root: Path) -> list[int]:
    """Hardware threads that are online and that no control group forbids to this process."""
    online = parse_cpu_list(read_text(root / CPUS / "online"))
    files = [group / "cpuset.cpus.effective" for group in control_groups(root, "")]
    files += [group / "cpuset.effective_cpus" for group in control_groups(root, "cpuset")]
    granted = next(filter(None, (parse_cpu_list(read_text(file)) for file in files)), online)
    return [cpu for cpu in online if cpu in granted] or online


def processor_model(root: Path) -> str:
    """x86 has "model name"; ARM only has numbers, so the device tree or the architecture is used."""
    match = re.search(
        r"^(?:model name|Model|cpu)\s*:\s*(.+)$", read_text(root / "proc/cpuinfo"), re.MULTILINE
    )
    if match:
        return " ".join(match.group(1).split())
    tree = read_text(root / "proc/device-tree/model").strip("\0")
    return tree or platform.processor() or platform.machine()


def overlaps_node(node: Path, allowed: tuple[int, ...]) -> bool:
    return bool(set(parse_cpu_list(read_text(node / "cpulist"))) & set(allowed))


def parse_cpu_list(listing: str) -> list[int]:
    """The numbers of a kernel list such as "0-3,8"."""
    cpus: list[int] = []
    for part in filter(None, listing.split(",")):
        low, _, high = part.partition("-")
        cpus += range(int(low), int(high or low) + 1)
    return cpus


def cache_sizes(root: Path, cpu: int) -> dict[str, int]:
    """L1d, L2, L3 of one processor in bytes, as it sees them (shared caches count in full)."""
    sizes: dict[str, int] = {}
    for index in sorted((root / CPUS / f"cpu{cpu}" / "cache").glob("index[0-9]*")):
        kind, level, size = (read_text(index / name) for name in ("type", "level", "size"))
        match = re.fullmatch(r"(\d+)([KMG]?)", size)
        if match and kind in ("Data", "Unified"):
            unit = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}[match.group(2)]
            sizes[f"L{level}" + ("d" if level == "1" else "")] = int(match.group(1)) * unit
    return sizes


def control_groups(root: Path, controller: str) -> list[Path]:
    """Control groups that apply to this process, innermost first: version 2's ("") or a controller's."""
    place = ""
    for line in read_text(root / "proc/self/cgroup").splitlines():
        _, names, path = ([*line.split(":", 2), "", ""])[:3]
        if (names.split(",") == [""]) if controller == "" else controller in names.split(","):
            place = path.strip("/")
    base = root / "sys/fs/cgroup" / controller
    inner = base / place
    return [inner, *(p for p in inner.parents if p.is_relative_to(base))]


def quota(root: Path = ROOT) -> float | None:
    """Processors granted by cpu.max (version 2) or cpu.cfs_quota_us (version 1), the minimum over all
    levels."""
    granted: list[float] = []
    for group in control_groups(root, ""):
        amount, _, period = read_text(group / "cpu.max").partition(" ")
        if amount.isdecimal() and period.isdecimal():
            granted.append(int(amount) / int(period))
    for group in control_groups(root, "cpu"):
        amount, period = read_text(group / "cpu.cfs_quota_us"), read_text(group / "cpu.cfs_period_us")
        if amount.isdecimal() and period.isdecimal() and int(amount) > 0:
            granted.append(int(amount) / int(period))
    return min(granted, default=None)


def memory_bytes(root: Path = ROOT) -> int:
    """Main memory, or the part of it that a control group allows; 0 if unknown."""
    match = re.search(r"^MemTotal:\s+(\d+) kB", read_text(root / "proc/meminfo"), re.MULTILINE)
    total = int(match.group(1)) * 1024 if match else physical_memory()
    limits = [read_text(group / "memory.max") for group in control_groups(root, "")]
    limits += [read_text(group / "memory.limit_in_bytes") for group in control_groups(root, "memory")]
    return min([total, *(int(limit) for limit in limits if limit.isdecimal() and int(limit) > 0)])


def physical_memory() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (OSError, ValueError):
        return 0
