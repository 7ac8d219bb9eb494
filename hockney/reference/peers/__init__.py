# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The benchmarks of other suites, and the cases that measure what they do; a benchmark by the name that its
users type.

One `<suite>.toml` for each suite: every benchmark by its name there, with the case, or the reason why there
is none, and what differs in the definition. docs/reference/peers.md is made from it."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from hockney.core.errors import UsageError, unknown

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

SUITES = ("osu", "imb", "nccl", "skampi")


@dataclass(frozen=True)
class Benchmark:
    """`name` as its suite spells it, with the program before a slash (IMB-MPI1/PingPong) where a program has
    several.

    `case` is the line of the case that measures the same, without its sizes, or "" if there is none: then
    `reason` says why and `instead` what to do. `sizes` are those of the benchmark, in bytes, as a list of a
    case ("" for none). `close`: the case measures not quite the same, as `differs` says.
    """

    name: str
    case: str = ""
    sizes: str = ""
    close: bool = False
    whole: bool = False
    factor: float = 1.0
    differs: str = ""
    reason: str = ""
    instead: str = ""

    def line(self, parameters: Mapping[str, str] = {}, *, sizes: bool = True) -> str:
        """The line of the case, in which `parameters` replace others or are added. Without `sizes`, it has
        the benchmark's own only if they are among `parameters`."""
        name, *words = self.case.split()
        values = dict(word.split("=", 1) for word in words)
        if self.sizes and sizes:
            values["bytes"] = self.sizes
        return " ".join([name, *(f"{key}={value}" for key, value in {**values, **parameters}.items())])


@dataclass(frozen=True)
class BenchmarkGroup:
    """`defined`: how the definitions of all its benchmarks differ from hockney's."""

    title: str
    defined: str
    benchmarks: tuple[Benchmark, ...]


@dataclass(frozen=True)
class BenchmarkSuite:
    """`version` is that of the suite whose benchmarks these are, `source` where they are listed."""

    title: str
    version: str
    source: str
    groups: tuple[BenchmarkGroup, ...]

    @property
    def benchmarks(self) -> Iterator[Benchmark]:
        return (each for group in self.groups for each in group.benchmarks)


@cache
def suites() -> tuple[BenchmarkSuite, ...]:
    return tuple(map(_suite, SUITES))


def find_benchmark(name: str) -> tuple[Benchmark, BenchmarkGroup]:
    """The benchmark that a user calls `name`, in any case, with or without the folder of its program or, if
    no other program has one of that name, without its program. Raises UsageError if there is none, or if
    hockney has no equivalent."""
    benchmarks = _by_name()
    normalised = _normalise(name)
    matches = [full for full in benchmarks if full.endswith(f"/{normalised}")]
    full = normalised if normalised in benchmarks else matches[0] if len(matches) == 1 else ""
    if not full:
        candidates = sorted((each for each, _ in benchmarks.values()), key=lambda each: not each.case)
        raise _unknown_benchmark(name, [each.name for each in candidates], "/" in normalised)
    benchmark, group = benchmarks[full]
    if not benchmark.case:
        raise UsageError(
            f"hockney has no equivalent of {benchmark.name}",
            benchmark.reason,
            benchmark.instead,
            code="no-equivalent",
            name=benchmark.name,
            reason=benchmark.reason,
        )
    return benchmark, group


def benchmark_named(name: str) -> tuple[Benchmark, BenchmarkGroup] | None:
    """The benchmark with exactly this name, in any case, with its program, or written imb_NAME; None if there
    is none. It may have no equivalent."""
    benchmarks, normalised = _by_name(), _normalise(name)
    if normalised.startswith("imb_"):
        ending = normalised.replace("imb_", "/", 1)
        normalised = next(
            (full for full in benchmarks if full.startswith("imb-") and full.endswith(ending)), normalised
        )
    return benchmarks.get(normalised)


def _normalise(name: str) -> str:
    """Lower case, with one slash between program and benchmark; of a path to an OSU program its last part."""
    words = re.sub(r"[\s/]+", "/", name.strip().lower())
    last = words.rpartition("/")[2]
    if last.startswith(("osu_", "osu-")):
        return last.replace("-", "_")
    return "/".join(words.split("/")[-2:])


@cache
def _by_name() -> dict[str, tuple[Benchmark, BenchmarkGroup]]:
    return {
        _normalise(each.name): (each, group)
        for suite in suites()
        for group in suite.groups
        for each in group.benchmarks
    }


def _suite(name: str) -> BenchmarkSuite:
    document = tomllib.loads((files("hockney.reference.peers") / f"{name}.toml").read_text("utf-8"))
    groups = [BenchmarkGroup(g["title"], g["defined"], tuple(_benchmarks(g))) for g in document["group"]]
    return BenchmarkSuite(document["title"], document["version"], document["source"], tuple(groups))


def _benchmarks(group: Mapping[str, Any]) -> Iterator[Benchmark]:
    program = f"{group['program']}/" if "program" in group else ""
    for raw in group["benchmarks"]:
        fields = {"sizes": group.get("sizes", "")} | {
            k: v for k, v in raw.items() if k not in ("name", "names")
        }
        for name in raw.get("names", [raw.get("name")]):
            yield Benchmark(name=program + name, **fields)


def _unknown_benchmark(name: str, available: Iterable[str], with_program: bool) -> UsageError:
    """`with_program`: whether `name` has a program and a slash before it, as those available may have."""

    def compared(text: str) -> str:
        return text.lower() if with_program else text.lower().rpartition("/")[2]

    return unknown(
        "benchmark",
        name,
        available,
        "see docs/reference/peers.md for those of OSU and IMB",
        code="unknown-benchmark",
        compared=compared,
    )
