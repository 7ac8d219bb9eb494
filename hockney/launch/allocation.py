# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The hosts of the batch job in which hockney runs, from its scheduler's variables."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

MAX_HOSTS = 100_000


@dataclass(frozen=True)
class Allocation:
    """Hosts of a batch job. `hosts` are their names in order, () if only their number is known. `slots` are
    the numbers of ranks that the job starts on each host, and `processors` the numbers of processors that the
    job has there; () if unknown."""

    scheduler: str
    count: int
    hosts: tuple[str, ...] = ()
    slots: tuple[int, ...] = ()
    processors: tuple[int, ...] = ()


def find_allocation(environ: Mapping[str, str]) -> Allocation | None:
    """Return the hosts of this batch job; None outside of a job."""
    return _slurm(environ) or _lsf(environ) or _pbs(environ)


def count_hosts(environ: Mapping[str, str]) -> int:
    """Return the number of hosts; 1 outside of a job, or if the scheduler does not report it."""
    job = find_allocation(environ)
    return job.count if job else 1


def _slurm(environ: Mapping[str, str]) -> Allocation | None:
    """Read the variables described in sbatch's manual, section "Output environment variables"."""
    count = _parse_count(environ, "SLURM_JOB_NUM_NODES", "SLURM_NNODES")
    text = environ.get("SLURM_JOB_NODELIST") or environ.get("SLURM_NODELIST", "")
    if count is None and not text and "SLURM_JOB_ID" not in environ:
        return None
    try:
        names = host_list(text)
    except ValueError:
        names = ()
    count = len(names) or count or 1

    def numbers_per_host(name: str) -> tuple[int, ...]:
        numbers = repeat_each(environ.get(name, ""))
        return numbers if len(numbers) == count else ()

    processors = numbers_per_host("SLURM_JOB_CPUS_PER_NODE")
    slots = numbers_per_host("SLURM_TASKS_PER_NODE") or processors
    return Allocation("slurm", count, names, slots, processors or slots)


def _lsf(environ: Mapping[str, str]) -> Allocation | None:
    """Read LSB_MCPU_HOSTS, which is "host1 slots host2 slots ..."."""
    words = environ.get("LSB_MCPU_HOSTS", "").split()
    if not words or len(words) % 2 or not all(slots.isdecimal() for slots in words[1::2]):
        return None
    slots_by_host: Counter[str] = Counter()
    for host, slots in zip(words[::2], words[1::2], strict=True):
        slots_by_host[host] += int(slots)
    return _count_hosts("lsf", slots_by_host)


def _pbs(environ: Mapping[str, str]) -> Allocation | None:
    """Read the file of PBS and Torque, which lists a host once for each of its slots."""
    count = _parse_count(environ, "PBS_NUM_NODES")
    if count is None and "PBS_NODEFILE" not in environ:
        return None
    try:
        host_names = Path(environ.get("PBS_NODEFILE", "")).read_text(errors="replace").split()
    except OSError:
        host_names = []
    return _count_hosts("pbs", Counter(host_names)) if host_names else Allocation("pbs", count or 1)


def _count_hosts(scheduler: str, slots_by_host: Counter[str]) -> Allocation:
    slots = tuple(slots_by_host.values())
    return Allocation(scheduler, len(slots_by_host), tuple(slots_by_host), slots, slots)


def _parse_count(environ: Mapping[str, str], *names: str) -> int | None:
    for name in names:
        text = environ.get(name, "")
        if text.isdecimal() and len(text) < 9:
            return max(1, int(text))
    return None


def repeat_each(text: str) -> tuple[int, ...]:
    """Expand Slurm's "4(x2),3" to (4, 4, 3); () for any other text."""
    numbers: list[int] = []
    for part in text.split(","):
        match = re.fullmatch(r"(\d{1,8})(?:\(x(\d{1,6})\))?", part)
        if not match:
            return ()
        numbers += [int(match[1])] * int(match[2] or 1)
    return tuple(numbers)


def host_list(text: str) -> tuple[str, ...]:
    """Expand Slurm's "n[1-3,07],gpu" as `scontrol show hostnames` does. Raises ValueError for any other
    text."""
    names = tuple(islice((name for word in _words(text) for name in _expand(word)), MAX_HOSTS + 1))
    if len(names) > MAX_HOSTS:
        raise ValueError(text)
    return names


def _words(text: str) -> list[str]:
    """Split at commas outside of brackets."""
    return [word for word in re.split(r",(?![^\[\]]*\])", text) if word]


def _expand(word: str) -> Iterator[str]:
    """Expand a word with any number of bracket pairs; the last pair varies fastest."""
    prefix, bracket, remainder = word.partition("[")
    if not bracket:
        if not re.fullmatch(r"[\w.\-]*", word):
            raise ValueError(word)
        yield word
        return
    ranges, closing_bracket, suffix = remainder.partition("]")
    if not closing_bracket or not re.fullmatch(r"[\w.\-]*", prefix):
        raise ValueError(word)
    for number in _numbers(ranges):
        for expanded_suffix in _expand(suffix):
            yield prefix + number + expanded_suffix


def _numbers(ranges: str) -> Iterator[str]:
    """Expand a list of ranges. Numbers have at least as many digits as the first number of their range."""
    for part in ranges.split(","):
        match = re.fullmatch(r"(\d+)(?:-(\d+))?", part, re.ASCII)
        if not match or len(part) > 40:
            raise ValueError(f"[{ranges}]")
        first, last = int(match[1]), int(match[2] or match[1])
        if first > last:
            raise ValueError(f"[{ranges}]")
        yield from (str(number).zfill(len(match[1])) for number in range(first, last + 1))
