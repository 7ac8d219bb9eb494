# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Compares two profiles: of two versions of a program, of two MPIs, or before and after a change. The times
of the program, of each MPI operation and of each call site are judged like measured cases
(`hockney.models.comparison`), with launches as independent samples. Call sites are matched by operation, file
and function, but not by line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from hockney.core.case import Case
from hockney.core.catalog import Workload
from hockney.core.errors import Inconclusive
from hockney.core.wording import list_names, plural
from hockney.draw.page import Caveat, Table
from hockney.models.comparison import MIN_LAUNCHES, CaseVerdict, JudgedCases, Pair, State, judge
from hockney.models.statistics import Observation, PooledCase, Z
from hockney.pages.columns import (
    INTERVAL_HEADING,
    SECONDS_FORMAT,
    Column,
    Format,
    columns_document,
    columns_table,
    point_value,
)
from hockney.pages.format import format_share, quantity, ratio_interval, ratio_interval_suffix
from hockney.profiles.operations import blocking
from hockney.profiles.profile import Launch, Profile

TOLERANCE = 0.05
SMALL_SHARE = 1e-3
"""Operations and call sites that take less of the time in both profiles are not compared."""
ELAPSED, IN_MPI, OUTSIDE = "elapsed", "in MPI", "outside of MPI"
PROGRAM, OPERATION, SITE = "program", "operation", "call site"
NAME = "name"


def _pool_launches(case: Case, seconds: Sequence[float]) -> PooledCase:
    logs = np.log(np.maximum(np.asarray(seconds, dtype=float), 1e-12))
    unknown = np.full(len(logs), np.nan)
    observation = Observation(
        case=case,
        workload=Workload(
            name=case.workload, help="", time="", min_ranks=1, max_ranks=0, parameters=[], role="profile"
        ),
        launches=tuple(f"launch-{k + 1}" for k in range(len(logs))),
        log_typical=logs,
        lower_widths=unknown,
        upper_widths=unknown,
        quantile=np.full(len(logs), Z),
        visits=tuple(np.array([log]) for log in logs),
        visits_at_s=tuple(np.array([float(k)]) for k in range(len(logs))),
    )
    return PooledCase.from_runs({0: observation})


Key = tuple[str, str]
"""What is compared: PROGRAM, OPERATION or SITE, and its name."""


def times_by_key(profile: Profile) -> dict[Key, list[float]]:
    """The seconds of each launch: the elapsed time, and times summed over all ranks: in MPI, outside of MPI,
    in each operation and at each call site."""
    times: dict[Key, list[float]] = {}
    for k, launch in enumerate(profile.launches):
        for key, seconds in _launch_times(launch).items():
            times.setdefault(key, [0.0] * len(profile.launches))[k] = seconds
    return times


def _launch_times(launch: Launch) -> dict[Key, float]:
    times: dict[Key, float] = {
        (PROGRAM, ELAPSED): launch.elapsed_s,
        (PROGRAM, IN_MPI): launch.in_mpi_s,
        (PROGRAM, OUTSIDE): sum(rank.outside_s for rank in launch.ranks),
    }
    calls = launch.counted
    for site, function, seconds in zip(
        calls["site"].tolist(), calls["function"].tolist(), calls["seconds"].tolist(), strict=True
    ):
        operation = f"MPI_{blocking(launch.function(function))}"
        identity = launch.sites[site].identity
        for key in ((OPERATION, operation), (SITE, f"{operation} in {identity}")):
            times[key] = times.get(key, 0.0) + seconds
    return times


@dataclass(frozen=True)
class ProfileComparison:
    """Profile B compared with profile A. `only_a` and `only_b` are call sites that only one of them
    contains."""

    a: Profile
    b: Profile
    judged: JudgedCases
    only_a: tuple[str, ...]
    only_b: tuple[str, ...]
    caveats: tuple[Caveat, ...] = ()

    @cached_property
    def by_key(self) -> Mapping[Key, CaseVerdict]:
        return {(verdict.case.workload, str(verdict.case[NAME])): verdict for verdict in self.judged.cases}

    @property
    def elapsed(self) -> CaseVerdict:
        return self.by_key[PROGRAM, ELAPSED]

    @property
    def state(self) -> State:
        """The verdict on the elapsed time."""
        return self.elapsed.state

    @property
    def fails(self) -> bool:
        """Whether B is slower."""
        return self.state == "slower"

    @property
    def is_open(self) -> bool:
        return self.state in ("undecided", "unknown")

    @property
    def answer(self) -> tuple[str, ...]:
        """The sentences of the result."""
        words = {
            "slower": "B is slower than A",
            "faster": "B is faster than A",
            "same": "B takes as long as A",
            "undecided": "Whether B takes as long as A is undecided",
            "unknown": "There are too few launches for a verdict",
        }
        elapsed = self.elapsed
        sentences = [
            f"{words[self.state]}: {quantity(elapsed.a.value, 's')} and {quantity(elapsed.b.value, 's')}, a "
            f"ratio of {ratio_text(elapsed.ratio.value)}{ratio_interval_suffix(elapsed.ratio)}."
        ]
        difference = elapsed.b.value - elapsed.a.value
        in_mpi, outside = self.by_key.get((PROGRAM, IN_MPI)), self.by_key.get((PROGRAM, OUTSIDE))
        if in_mpi is not None and outside is not None and difference:
            ranks = max(len(self.a.typical.ranks), 1)
            share = (in_mpi.b.value - in_mpi.a.value) / ranks / difference
            if 0 <= share <= 1:
                sentences.append(f"{format_share(share)} of the difference is in MPI.")
        changed = [each for each in self.judged.biggest_first if each.state in ("slower", "faster")]
        named = [
            f"{each.case[NAME]} {ratio_text(each.ratio.value)}"
            for each in changed
            if each.case.workload != PROGRAM
        ]
        if named:
            sentences.append(f"Changed most: {list_names(named, 4)}.")
        return tuple(sentences)

    @property
    def table(self) -> Table:
        together = f"{plural(self.judged.tests, 'ratio')}, tested together" if self.judged.tests else "times"
        caption = (
            f"Ratios B / A of {together}, with a tolerance of {format_share(self.judged.tolerance)}. "
            "Operations and call sites: of all ranks together."
        )
        rows = sorted(self.judged.cases, key=lambda each: (_ORDER.index(each.case.workload), -each.b.value))
        return columns_table("comparison", "B compared with A", COLUMNS, rows, caption)

    @property
    def document(self) -> dict[str, Any]:
        """The comparison as JSON: times in seconds, ratios as B / A."""
        return {
            "verdict": self.state,
            "sentence": self.answer[0],
            "tolerance": self.judged.tolerance,
            "tests": self.judged.tests,
            "a": _side(self.a),
            "b": _side(self.b),
            "times": columns_document(COLUMNS, self.judged.cases),
            "only_a": list(self.only_a),
            "only_b": list(self.only_b),
            "warnings": list(self.caveats),
        }


def ratio_text(ratio: float) -> str:
    """The ratio with two decimals, or with three significant digits if it is large."""
    return f"{ratio:.{2 if ratio < 9.995 else 1 if ratio < 99.95 else 0}f}"


RATIO = Format(lambda value: ratio_text(point_value(value)), interval=ratio_interval)
_ORDER = (PROGRAM, OPERATION, SITE)
COLUMNS: tuple[Column[CaseVerdict], ...] = (
    Column("of", lambda each: each.case.workload, key="of"),
    Column("time", lambda each: str(each.case[NAME]), key="name"),
    Column("A", lambda each: each.a.value, SECONDS_FORMAT),
    Column("B", lambda each: each.b.value, SECONDS_FORMAT),
    Column("", lambda each: each.a, key="a_s"),
    Column("", lambda each: each.b, key="b_s"),
    Column("B / A", lambda each: each.ratio, RATIO, "ratio", INTERVAL_HEADING),
    Column("verdict", lambda each: each.state, key="verdict"),
)


def _side(profile: Profile) -> dict[str, Any]:
    return {
        "profile": str(profile.folder),
        "command": list(profile.manifest.command),
        "mpi": profile.manifest.mpi,
        "launches": len(profile.launches),
        "ranks": len(profile.typical.ranks),
    }


def compare_profiles(a: Profile, b: Profile, tolerance: float = TOLERANCE) -> ProfileComparison:
    """Judge whether B takes longer than A. Raises Inconclusive if the numbers of ranks differ, because times
    summed over all ranks are then not comparable."""
    if len(a.typical.ranks) != len(b.typical.ranks):
        raise Inconclusive(
            "the profiles have different numbers of ranks",
            f"A has {len(a.typical.ranks)}, and B has {len(b.typical.ranks)}",
            "profile both with the same number of ranks",
            code="profiles-of-other-ranks",
            a=len(a.typical.ranks),
            b=len(b.typical.ranks),
        )
    times_a, times_b = times_by_key(a), times_by_key(b)
    elapsed_a, elapsed_b = _mean(times_a, (PROGRAM, ELAPSED)), _mean(times_b, (PROGRAM, ELAPSED))
    ranks = len(a.typical.ranks)
    pairs = []
    for key in times_a:
        if key not in times_b or min(*times_a[key], *times_b[key]) <= 0:
            continue
        rank_factor = ranks if key[0] != PROGRAM else 1
        is_small_a = _mean(times_a, key) < SMALL_SHARE * elapsed_a * rank_factor
        is_small_b = _mean(times_b, key) < SMALL_SHARE * elapsed_b * rank_factor
        if key[0] != PROGRAM and is_small_a and is_small_b:
            continue
        case = Case.of(key[0], ranks, **{NAME: key[1]})
        pairs.append(
            Pair(case, _pool_launches(case, times_a[key]), _pool_launches(case, times_b[key]), key[1])
        )
    sites_a, sites_b = (
        {name for kind, name in side_times if kind == SITE} for side_times in (times_a, times_b)
    )
    return ProfileComparison(
        a,
        b,
        judge(pairs, tolerance),
        tuple(sorted(sites_a - sites_b)),
        tuple(sorted(sites_b - sites_a)),
        tuple(_caveats(a, b)),
    )


def _mean(times: Mapping[Key, Sequence[float]], key: Key) -> float:
    return float(np.mean(times[key])) if key in times else 0.0


def _caveats(a: Profile, b: Profile) -> list[Caveat]:
    caveats = []
    min_launches = min(len(a.launches), len(b.launches))
    if min_launches < MIN_LAUNCHES:
        caveats.append(
            Caveat(
                "few-launches",
                f"a profile has {plural(min_launches, 'launch', 'launches')}",
                "verdicts, which need several launches of each side",
                f"profile both with '--repeat {MIN_LAUNCHES + 2}'",
            )
        )
    for side, profile in (("A", a), ("B", b)):
        if profile.oversubscribed:
            caveats.append(
                Caveat(
                    "oversubscribed",
                    f"the ranks of {side} share cores",
                    "its times in MPI",
                    f"run at most {profile.cores} ranks on each host",
                )
            )
    return caveats
