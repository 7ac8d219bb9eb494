# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Set-ups next to each other, the paper's table, quality, load balancing and predictions."""

from __future__ import annotations

from dataclasses import replace

from hockney.core.fit import Estimate, ExactValue
from hockney.core.units import format_significant
from hockney.draw.page import Table
from hockney.pages.format import SIMULATED, no_interval, percent, quantity, ratio_interval
from hockney.reference import published
from hockney.suites.annealing.models.rounds import RankTimes
from hockney.suites.annealing.studies.annealing.predicted import AnnealingPrediction, AnnealingPredictions
from hockney.suites.annealing.studies.annealing.quality import Loss, Quality, quality
from hockney.suites.annealing.studies.annealing.results import COMMUNICATION, AnnealingPoint, AnnealingResults

INTERVAL = "95% interval"
PAPER = "annealing"
ALONE = "one rank"
PAPERS_RANKS = 4
"""Of table 1."""


def setups(run: AnnealingResults) -> Table:
    """Each set-up on each number of ranks, with its time relative to the reference."""
    rows: list[tuple[str, ...]] = []
    alone = {one for p in run.plain if (one := run.alone(p.walkers)) is not None}
    for one in alone:
        rows.append((ALONE, "1", quantity(one.time.value, "s"), million(one.rate.value), *[""] * 6))
    for ranks in run.counts:
        compared = {each.point: each for each in run.compared(ranks)}
        for p in run.on(ranks):
            known = compared.get(p)
            rows.append(
                (
                    p.label,
                    str(p.ranks),
                    quantity(p.time.value, "s"),
                    million(p.rate.value),
                    *_ratio(known.ratio if known else None),
                    percent(p.communication),
                    *(percent(p.share(part)) for part in ("posting", "testing", "waiting")),
                )
            )
    columns = (
        "set-up", "ranks", "time", "million steps/s", f"time / {run.reference_name}", INTERVAL,
        "communication", "posting", "testing", "waiting",
    )  # fmt: skip
    caption = "Communication and its parts: shares of the time, as means over the ranks."
    return _shown(run, Table("annealing", "Set-ups", columns, tuple(rows), tuple(range(1, 10)), caption))


def million(rate: float) -> str:
    """Steps per second, in millions."""
    return format_significant(rate / 1e6, 3)


def paper(run: AnnealingResults) -> Table:
    """Table 1 of the paper, with the printed numbers below the measured ones."""
    rows: list[tuple[str, ...]] = [
        (
            p.label,
            str(p.ranks),
            "measured",
            quantity(p.of_rank(0, "computation"), "s"),
            quantity(p.of_rank(0, *COMMUNICATION), "s"),
            _share(p.of_rank(0, *COMMUNICATION), p.of_rank(0, "computation")),
            quantity(p.of_workers("computation"), "s"),
            quantity(p.of_workers(*COMMUNICATION), "s"),
            _share(p.of_workers(*COMMUNICATION), p.of_workers("computation")),
        )
        for p in run.plain
        if p.by_rank
    ]
    printed = {row.key: row for row in published(PAPER).rows if row.table == "table 1"}
    names = dict.fromkeys(key.split("/")[2] for key in printed)
    for name in names:
        cells = []
        for who in ("master", "worker"):
            spent = [
                printed[f"{PAPER}/table-1/{name}/{part}/{who}"].si
                for part in ("computation", "communication")
            ]
            cells += [quantity(spent[0], "s"), quantity(spent[1], "s"), _share(spent[1], spent[0])]
        rows.append((name, str(PAPERS_RANKS), "printed", *cells))
    columns = (
        "set-up", "ranks", "origin", "master computes", "communicates", "share", "worker computes",
        "communicates", "share",
    )  # fmt: skip
    caption = (
        "Printed in 1998: four Pentium Pro workstations on 10 Mbit Ethernet, another problem and another "
        "length, so that only the shares compare. A worker: the mean over all ranks except the master. "
        "Communication includes posting, testing, waiting and moving walkers."
    )
    title = "Computation and communication, as in table 1 of the paper"
    return Table("annealing-paper", title, columns, tuple(rows), tuple(range(3, 9)), caption)


def _share(part: float, rest: float) -> str:
    return percent(part / (part + rest)) if part + rest else ""


def energies(run: AnnealingResults, ranks: int) -> Table | None:
    """What each set-up costs in quality, relative to the reference."""
    found = quality(run, ranks)
    if len(found.points) < 2:
        return None
    rows = tuple(_energies(found, p, found.loss(p)) for p in found.points)
    columns = (
        "set-up", "seeds", "energy", "worse", INTERVAL, "at equal time", INTERVAL, "on estimates", "repeats",
    )  # fmt: skip
    optimum = found.points[0].optimum
    best = "" if optimum is None else f"The optimum of {found.points[0].instance} is {optimum:.6g}. "
    caption = (
        f"{best}Worse: lowest energy relative to {found.points[0].label}'s with as many steps, the mean over "
        "seeds of the differences between runs with the same seed; at equal time: when the fastest set-up "
        "ends. On estimates: share of the steps. Repeats: whether runs with one seed find the same energy."
    )
    title = f"Energies on {ranks} ranks"
    made = Table(f"annealing-quality-{ranks}", title, columns, rows, tuple(range(1, 8)), caption)
    return _shown(run, made)


def _energies(found: Quality, p: AnnealingPoint, loss: Loss | None) -> tuple[str, ...]:
    repeats = found.repeats(p)
    return (
        p.label,
        str(len(found.energies(p))),
        f"{found.mean_energy(p):.6g}",
        *_percent(loss.equal_steps if loss else None),
        *_percent(loss.equal_time if loss else None),
        percent(p.estimated),
        "unknown" if repeats is None else "yes" if repeats else "no",
    )


def targets(run: AnnealingResults, ranks: int) -> Table | None:
    """How long each set-up takes until the target energy is reached."""
    found = quality(run, ranks)
    if len(found.points) < 2 or found.target is None:
        return None
    rows = []
    for p in found.points:
        time, loss = found.target_time(p), found.loss(p)
        shown = "" if time is None else quantity(time, "s")
        rows.append((p.label, percent(found.reached(p)), shown, *_ratio(loss.target if loss else None)))
    columns = ("set-up", "runs that reach it", "time to target", f"time / {found.points[0].label}", INTERVAL)
    which = (
        "" if found.given_target is not None else f", which nine in ten runs of {found.points[0].label} reach"
    )
    caption = (
        f"Target: an energy of {found.target:.6g}{which}. Its time is that of all runs, also of those that "
        "do not reach it, over the number of those that do."
    )
    title = f"Time to the target on {ranks} ranks"
    made = Table(f"annealing-target-{ranks}", title, columns, tuple(rows), (1, 2, 3, 4), caption)
    return _shown(run, made)


def balancing(run: AnnealingResults) -> Table | None:
    """Uneven ranks with and without load balancing."""
    rows = tuple(
        (
            each.point.label,
            str(each.point.ranks),
            str(each.point.measured.case["shares"]),
            quantity(each.over.time.value, "s"),
            quantity(each.point.time.value, "s"),
            *_ratio(each.ratio),
            percent(each.over.communication),
            percent(each.point.communication),
        )
        for each in run.balancing
    )
    columns = (
        "set-up", "ranks", "times for a step", "without", "with", "with / without", INTERVAL,
        "communication without", "with",
    )  # fmt: skip
    caption = "Ranks that take longer for a step on purpose; load balancing moves walkers to the faster ones."
    made = Table("annealing-balancing", "Load balancing", columns, rows, (1, 3, 4, 5, 6, 7, 8), caption)
    return _shown(run, made) if rows else None


def predicted(run: AnnealingResults, found: AnnealingPredictions) -> Table | None:
    """Shares of communication."""
    if not found.of:
        return None
    rows = tuple(_predicted(p, found.at(p)) for p in run.plain)
    columns = ("set-up", "ranks", "measured", "predicted", "error", "posting", "testing", "waiting")
    caption = (
        "Share of communication, predicted from the rounds of one rank and the costs of messages. Error: in "
        "percentage points. Of each part: predicted / measured."
    )
    numeric = tuple(range(1, 8))
    return Table("annealing-predicted", "Predicted and measured", columns, rows, numeric, caption)


def _predicted(p: AnnealingPoint, found: AnnealingPrediction | None) -> tuple[str, ...]:
    first = (p.label, str(p.ranks), percent(p.communication))
    if found is None:
        return (*first, "no prediction", *[""] * 4)
    parts = (
        f"{percent(_of_time(found.predicted, part))} / {percent(p.share(part))}"
        for part in ("posting", "testing", "waiting")
    )
    return (*first, percent(found.share), points(found.error), *parts)


def _of_time(times: RankTimes, part: str) -> float:
    whole = float(times.computation.sum() + times.communication.sum())
    return float(getattr(times, part).sum()) / whole if whole else 0.0


def points(error: float) -> str:
    """Percentage points, with a sign."""
    text = f"{100 * error:+.1f}"
    return "0.0" if text in ("+0.0", "-0.0") else text


def _ratio(value: Estimate | None) -> tuple[str, str]:
    return ("", "") if value is None else (f"{value.value:.3g}", ratio_interval(value))


def _percent(value: Estimate | None) -> tuple[str, str]:
    """A relative difference, which may be negative."""
    if value is None:
        return "", ""
    if isinstance(value, ExactValue):
        return signed_percent(value.value), no_interval(value)
    known = value.low is not None and value.high is not None
    ends = f"{signed_percent(value.low)} to {signed_percent(value.high)}" if known else ""
    return signed_percent(value.value), ends


def signed_percent(value: float | None) -> str:
    """The value in percent, with a sign and two digits: "+0.41%"."""
    if value is None:
        return ""
    if value == 0:
        return "0%"
    return f"{100 * value:+.2g}%" if abs(value) < 0.995 else f"{100 * value:+.0f}%"


def _shown(run: AnnealingResults, table: Table) -> Table:
    """The table, without the columns of intervals that are empty or constant where times are exact."""
    if not run.evidence.machine.exact:
        return table
    kept = [
        k
        for k, name in enumerate(table.columns)
        if name != INTERVAL or any(row[k] not in ("", SIMULATED, "unknown") for row in table.rows)
    ]
    return replace(
        table,
        columns=tuple(table.columns[k] for k in kept),
        rows=tuple(tuple(row[k] for k in kept) for row in table.rows),
        numeric=tuple(new for new, k in enumerate(kept) if k in table.numeric),
    )
