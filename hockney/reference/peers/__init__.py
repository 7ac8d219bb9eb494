# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Benchmarks of other suites and the equivalent cases. Benchmarks are found by the names that their users
type.

Each suite has a `<suite>.toml` with its benchmarks by name, the equivalent case or the reason why there is
none, and differences of definition. docs/reference/peers.md is generated from it."""

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
    """A benchmark of another suite. `name` is spelled as in the suite, with the program before a slash
    (IMB-MPI1/PingPong) if the program has several benchmarks.

    `case` is the line of the equivalent case without sizes. If it is "", `reason` explains why there is none
    and `instead` suggests an alternative. `sizes` are the benchmark's sizes in bytes, as a list in a case (""
    for none). A `close` case measures something slightly different, which `differs` describes.
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
        """Line of the case with `parameters` replaced or added. Without `sizes`, the line contains sizes only
        if they are among `parameters`."""
        name, *parameter_words = self.case.split()
        values = dict(word.split("=", 1) for word in parameter_words)
        if self.sizes and sizes:
            values["bytes"] = self.sizes
        return " ".join([name, *(f"{key}={value}" for key, value in {**values, **parameters}.items())])


@dataclass(frozen=True)
class BenchmarkGroup:
    """A group of benchmarks. `defined` describes how their definitions differ from hockney's."""

    title: str
    defined: str
    benchmarks: tuple[Benchmark, ...]


@dataclass(frozen=True)
class BenchmarkSuite:
    """A suite. `version` is the version that has these benchmarks, `source` is the place where they are
    listed."""

    title: str
    version: str
    source: str
    groups: tuple[BenchmarkGroup, ...]

    @property
    def benchmarks(self) -> Iterator[Benchmark]:
        return (benchmark for group in self.groups for benchmark in group.benchmarks)


@cache
def suites() -> tuple[BenchmarkSuite, ...]:
    return tuple(map(_suite, SUITES))


def find_benchmark(name: str) -> tuple[Benchmark, BenchmarkGroup]:
    """Find the benchmark called `name`, ignoring case, with or without the folder of its program. The
    program may be omitted if the name is unique. Raises UsageError if there is none or if hockney has no
    equivalent."""
    benchmarks = _by_name()
    normalised = _normalise(name)
    matches = [full_name for full_name in benchmarks if full_name.endswith(f"/{normalised}")]
    full_name = normalised if normalised in benchmarks else matches[0] if len(matches) == 1 else ""
    if not full_name:
        candidates = sorted(
            (candidate for candidate, _ in benchmarks.values()), key=lambda candidate: not candidate.case
        )
        raise _unknown_benchmark(name, [candidate.name for candidate in candidates], "/" in normalised)
    benchmark, group = benchmarks[full_name]
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
    """Benchmark with exactly this name, ignoring case, with its program or written as imb_NAME; None if there
    is none. It may have no equivalent."""
    benchmarks, normalised = _by_name(), _normalise(name)
    if normalised.startswith("imb_"):
        suffix = normalised.replace("imb_", "/", 1)
        normalised = next(
            (
                full_name
                for full_name in benchmarks
                if full_name.startswith("imb-") and full_name.endswith(suffix)
            ),
            normalised,
        )
    return benchmarks.get(normalised)


def _normalise(name: str) -> str:
    """Convert a name to lower case with one slash between program and benchmark. Only the last part of a path
    to an OSU program is kept."""
    path = re.sub(r"[\s/]+", "/", name.strip().lower())
    program = path.rpartition("/")[2]
    if program.startswith(("osu_", "osu-")):
        return program.replace("-", "_")
    return "/".join(path.split("/")[-2:])


@cache
def _by_name() -> dict[str, tuple[Benchmark, BenchmarkGroup]]:
    return {
        _normalise(benchmark.name): (benchmark, group)
        for suite in suites()
        for group in suite.groups
        for benchmark in group.benchmarks
    }


def _suite(name: str) -> BenchmarkSuite:
    document = tomllib.loads((files("hockney.reference.peers") / f"{name}.toml").read_text("utf-8"))
    groups = [
        BenchmarkGroup(group["title"], group["defined"], tuple(_benchmarks(group)))
        for group in document["group"]
    ]
    return BenchmarkSuite(document["title"], document["version"], document["source"], tuple(groups))


def _benchmarks(group: Mapping[str, Any]) -> Iterator[Benchmark]:
    program = f"{group['program']}/" if "program" in group else ""
    for raw in group["benchmarks"]:
        fields = {"sizes": group.get("sizes", "")} | {
            key: value for key, value in raw.items() if key not in ("name", "names")
        }
        for name in raw.get("names", [raw.get("name")]):
            yield Benchmark(name=program + name, **fields)


def _unknown_benchmark(name: str, available: Iterable[str], with_program: bool) -> UsageError:
    """Error for an unknown benchmark. `with_program` tells whether `name` includes a program."""

    def compared(text: str) -> str:
        return text.lower() if with_program else text.lower().rpartition("/")[2]

    return unknown(
        "benchmark",
        name,
        available,
        "see docs/reference/peers.md for those of OSU and IMB",
        code="unknown-benchmark",
        normalize=compared,
    )
