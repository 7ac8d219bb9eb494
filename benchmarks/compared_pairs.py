# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What `hockney compare` reports of pairs of runs that `comparison_machine.py` kept, whose truth is known."""

from __future__ import annotations

import itertools
import json
import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, fields
from functools import partial
from pathlib import Path

import numpy as np

import hockney
from hockney.core.case import Case
from hockney.core.fit import Cost

TOLERANCES = (0.0, 0.02, 0.05)
CHANGED = ("slower", "faster")
HELD = (("", "with_interval"), ("operations_", "operations"))
Row = dict[str, object]


@dataclass(frozen=True)
class Plan:
    """A pair to be measured. `call` takes `factor` times as long in B for messages of `lowest` to `highest`
    bytes; no call is slow if it is "". `budget` is that of each side (s)."""

    part: str
    number: int
    how: str
    budget: float
    others: str
    question: str
    call: str = ""
    factor: float = 1.0
    lowest: int = 0
    highest: int = 0

    @property
    def name(self) -> str:
        factor = f"-{self.factor:g}" if self.call else ""
        return f"{self.part}{factor}-{self.how}-{self.others}-{self.number:03}"

    def ratio(self, case: Case) -> float:
        """The true one of a case."""
        slow = case.workload == self.call.lower() and self.lowest <= case.bytes <= self.highest
        return self.factor if slow else 1.0

    def variables(self, factor: float, shim: Path | None) -> tuple[str, ...]:
        """Of the ranks of one side; without the library, a name of the side that changes nothing. They are as
        long on both sides, since the size of the environment moves the stack, which can change times (T.
        Mytkowicz et al., 'Producing wrong data without doing anything obviously wrong!', ASPLOS 2009)."""
        if shim is None:
            return (f"HOCKNEY_SIDE={factor:.3f}",)
        slow = f"{self.call} {factor:.3f} {self.lowest} {self.highest}"
        return (f"LD_PRELOAD={shim}", f"HOCKNEY_SLOWDOWN={slow}")


FIELDS = [field.name for field in fields(Plan)]


def judged(pair: tuple[Path, Path, Plan], costs: Sequence[Cost]) -> list[Row]:
    """What is reported of B relative to A, at each cost and tolerance."""
    *paths, plan = pair
    a, b = (hockney.open(path) for path in paths)
    rows = []
    for cost, tolerance in itertools.product(costs, TOLERANCES):
        began = time.perf_counter()
        found = hockney.compare(a, b, tolerance=tolerance, cost=cost)
        compared_s = time.perf_counter() - began
        launches = [len(run.reading.run.launches) for run in (a, b)]
        about = {"pair": plan.name, "cost": cost, "tolerance": tolerance, "launches": launches}
        rows.append(asdict(plan) | about | {"compared_s": compared_s} | reported(plan, found))
    return rows


def pairs(folder: Path) -> Iterator[tuple[Path, Path, Plan]]:
    """Those that were measured, and of those measured in turns also A of each and A of the next: two runs of
    the same program, one after the other, which are `apart`."""
    known = []
    for file in folder.glob("[!.]*/pair.json"):
        made = json.loads(file.read_text())
        known.append((made["began"], file.parent, Plan(**{name: made[name] for name in FIELDS})))
    known.sort(key=lambda each: each[0])
    for _, path, plan in known:
        yield path / "a", path / "b", plan
    turns = [(path, plan) for _, path, plan in known if plan.how == "turns"]
    for number, ((path, plan), (after, other)) in enumerate(itertools.pairwise(turns)):
        if (plan.part, plan.others, plan.budget) == (other.part, other.others, other.budget):
            alike = Plan("same", number, "apart", plan.budget, plan.others, plan.question)
            yield path / "a", after / "a", alike


def reported(plan: Plan, found: hockney.Comparison) -> Row:
    """`slow` are the cases and the operation that are slower in B; all other reports are false. A case is
    `held` if its interval contains the truth."""
    intervals = [case for case in found.cases if case.ratio.low is not None and case.ratio.high is not None]
    slow = {case.case.line for case in found.cases if plan.ratio(case.case) > 1}
    held = {case.case.line: case.ratio.low <= plan.ratio(case.case) <= case.ratio.high for case in intervals}
    halves = [math.log(case.ratio.high / case.ratio.low) / 2 for case in intervals if case.ratio.low > 0]
    changed = {each.case.line for each in found.changes}
    operations = [each for each in found.operations if each.workload == plan.call.lower()]
    means = [each for each in found.operations if each not in operations and each.ratio.low is not None]
    return {
        "verdict": found.verdict,
        "cases": len(found.cases),
        "slow": len(slow),
        "slow_found": sum(case.case.line in slow and case.state == "slower" for case in found.cases),
        "slow_held": sum(held.get(line, False) for line in slow),
        "slow_ratio": _mean(math.log(case.ratio.value) for case in found.cases if case.case.line in slow),
        "operation": operations[0].state if operations else "",
        "false_cases": sorted(changed - slow),
        "false_operations": sorted(
            each.workload for each in found.operations if each not in operations and each.state in CHANGED
        ),
        "same": sum(case.state == "same" for case in found.cases if case.case.line not in slow),
        "with_interval": sum(line not in slow for line in held),
        "held": sum(holds for line, holds in held.items() if line not in slow),
        "operations": len(means),
        "operations_held": sum(each.ratio.low <= 1 <= each.ratio.high for each in means),
        "half_width": float(np.median(halves)) if halves else math.nan,
    }


def _mean(logs: Iterable[float]) -> float:
    values = list(logs)
    return float(np.exp(np.mean(values))) if values else math.nan


def all_judged(folder: Path, costs: Sequence[Cost]) -> list[Row]:
    with ProcessPoolExecutor(2) as pool:
        return list(itertools.chain.from_iterable(pool.map(partial(judged, costs=costs), pairs(folder))))


def table(rows: Sequence[Row]) -> Iterator[str]:
    for part, lines in (("same", same_table), ("slowdown", slowdown_table)):
        of = [row for row in rows if row["part"] == part]
        if of:
            yield f"\n## {part}\n"
            yield from lines(of)


def groups(rows: Sequence[Row], *names: str) -> Iterator[tuple[tuple[object, ...], list[Row]]]:
    def key(row: Row) -> tuple[object, ...]:
        return tuple(row[name] for name in names)

    ordered = sorted(rows, key=lambda row: [str(value) for value in key(row)])
    yield from ((k, list(each)) for k, each in itertools.groupby(ordered, key))


def total(rows: Sequence[Row], name: str) -> int:
    return sum(int(row[name]) for row in rows)


def share(rows: Sequence[Row], holds: Callable[[Row], bool]) -> str:
    """With its 95% interval (C. J. Clopper, E. S. Pearson, Biometrika 26 (1934) 404)."""
    from scipy.stats import beta

    count, of = sum(map(holds, rows)), len(rows)
    low = beta.ppf(0.025, count, of - count + 1) if count else 0.0
    high = beta.ppf(0.975, count + 1, of - count) if count < of else 1.0
    return f"{count} of {of} ({low:.0%} to {high:.0%})"


def falsely(row: Row) -> bool:
    return bool(row["false_cases"] or row["false_operations"])


def is_found(row: Row) -> bool:
    return row["operation"] == "slower"


def common(rows: Sequence[Row]) -> str:
    held, operations = (f"{total(rows, f'{n}held') / max(1, total(rows, of)):.1%}" for n, of in HELD)
    widths = f"{np.nanmedian([float(row['half_width']) for row in rows]):.1%}"
    launches = np.median([row["launches"] for row in rows])
    return f"{held} | {operations} | {widths} | {launches:.0f}"


def same_table(rows: Sequence[Row]) -> Iterator[str]:
    yield (
        "| measured | others | cost | tolerance | B is slower or faster | any report | of cases | the same "
        "| intervals with 1 | of operations | half width | launches |"
    )
    yield "|---|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|"
    for (how, busy, cost, tolerance), of in groups(rows, "how", "others", "cost", "tolerance"):
        verdict = share(of, lambda row: row["verdict"] in CHANGED)
        cases = sum(len(row["false_cases"]) for row in of) / total(of, "cases")
        yield (
            f"| {how} | {busy} | {cost} | {tolerance:.0%} | {verdict} | {share(of, falsely)} | {cases:.2%} "
            f"| {total(of, 'same') / total(of, 'cases'):.0%} | {common(of)} |"
        )


def slowdown_table(rows: Sequence[Row]) -> Iterator[str]:
    """`placed`: found, and nothing else is reported, in the same operation or another."""
    yield (
        "| measured | others | slower by | cost | tolerance | found | placed | of slow cases | ratio "
        "| intervals with 1 | of operations | half width | launches |"
    )
    yield "|---|---|---:|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|"
    names = "how", "others", "factor", "cost", "tolerance"
    for (how, busy, factor, cost, tolerance), of in groups(rows, *names):
        found, placed = share(of, is_found), share(of, lambda row: is_found(row) and not falsely(row))
        sizes = total(of, "slow_found") / total(of, "slow")
        ratio = np.median([float(row["slow_ratio"]) for row in of])
        yield (
            f"| {how} | {busy} | {float(factor) - 1:.0%} | {cost} | {tolerance:.0%} | {found} | {placed} "
            f"| {sizes:.0%} | {ratio:.3f} | {common(of)} |"
        )
