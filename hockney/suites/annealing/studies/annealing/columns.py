# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The tables, and the answer for programs (`--json`): set-ups next to each other, the paper's table, quality,
load balancing and predictions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from hockney.core.fit import Estimate, ExactValue
from hockney.core.units import format_significant
from hockney.draw.page import Table
from hockney.pages.cells import COUNT, SECONDS, SHARE, Format, words
from hockney.pages.columns import INTERVAL, Column, chosen, columns_document, columns_table
from hockney.pages.evidence import Evidence
from hockney.pages.format import SIMULATED, no_interval, percent, quantity, ratio_interval
from hockney.reference import published
from hockney.suites.annealing.models.rounds import RankTimes
from hockney.suites.annealing.studies.annealing.choice import Quality, choice, quality, until_decided
from hockney.suites.annealing.studies.annealing.results import (
    COMMUNICATION,
    PARTS,
    AnnealingPoint,
    AnnealingPredictions,
    AnnealingResults,
    ComparedSetup,
    Part,
    predictions,
)

PAPER = "annealing"
ALONE = "one rank"
PAPERS_RANKS = 4
"""Of table 1."""
WAITING: tuple[Part, ...] = ("posting", "testing", "waiting")


def million(rate: float) -> str:
    """Steps per second, in millions."""
    return format_significant(rate / 1e6, 3)


def points(error: float) -> str:
    """Percentage points, with a sign."""
    text = f"{100 * error:+.1f}"
    return "0.0" if text in ("+0.0", "-0.0") else text


def signed_percent(value: float | None) -> str:
    """The value in percent, with a sign and two digits: "+0.41%"."""
    if value is None:
        return ""
    if value == 0:
        return "0%"
    return f"{100 * value:+.2g}%" if abs(value) < 0.995 else f"{100 * value:+.0f}%"


def _difference_interval(value: Estimate) -> str:
    if isinstance(value, ExactValue):
        return no_interval(value)
    known = value.low is not None and value.high is not None
    return f"{signed_percent(value.low)} to {signed_percent(value.high)}" if known else ""


RATIO = Format(lambda value: f"{value.value:.3g}", interval=ratio_interval)
DIFFERENCE = Format(lambda value: signed_percent(value.value), interval=_difference_interval)
"""A relative difference, which may be negative."""
BALANCING: tuple[Column[ComparedSetup], ...] = (
    Column("set-up", lambda each: each.point.label, key="setup"),
    Column("ranks", lambda each: each.point.ranks, COUNT, "ranks"),
    Column("times for a step", lambda each: each.point.measured.case["shares"], key="shares"),
    Column("without", lambda each: each.over.time, SECONDS, "time_without_s"),
    Column("with", lambda each: each.point.time, SECONDS, "time_s"),
    Column("with / without", lambda each: each.ratio, RATIO, "ratio", INTERVAL),
    Column("", lambda each: each.verdict, key="verdict"),
    Column("communication without", lambda each: each.over.communication, SHARE),
    Column("with", lambda each: each.point.communication, SHARE),
)


def setups(run: AnnealingResults) -> Table:
    """Each set-up on each number of ranks, with its time relative to the reference."""
    ratios = {each.point: each.ratio for ranks in run.counts for each in run.compared(ranks)}
    columns: tuple[Column[AnnealingPoint], ...] = (
        Column("set-up", lambda p: p.label if p.ranks > 1 else ALONE),
        Column("ranks", lambda p: p.ranks, COUNT),
        Column("time", lambda p: p.time, SECONDS),
        Column("million steps/s", lambda p: million(p.rate.value), COUNT),
        Column(f"time / {run.reference_name}", ratios.get, RATIO, interval=INTERVAL),
        Column("communication", lambda p: p.communication if p.ranks > 1 else None, SHARE),
        *map(_part, WAITING),
    )
    alone = {one for p in run.plain if (one := run.alone(p.walkers)) is not None}
    rows = [*alone, *(p for ranks in run.counts for p in run.on(ranks))]
    caption = "Communication and its parts: shares of the time, as means over the ranks."
    return _shown(run, columns_table("annealing", "Set-ups", columns, rows, caption))


def _part(part: Part) -> Column[AnnealingPoint]:
    return Column(part, lambda p: p.share(part) if p.ranks > 1 else None, SHARE)


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


def _quality(found: Quality) -> tuple[Column[AnnealingPoint], ...]:
    """The columns of quality relative to the reference."""

    def equal_time(p: AnnealingPoint) -> Estimate | None:
        loss = found.loss(p)
        return None if loss is None else loss.equal_time

    return (
        Column("set-up", lambda p: p.label, key="setup"),
        Column("", lambda p: p.ranks, key="ranks"),
        Column("seeds", lambda p: len(found.energies(p)), COUNT, "seeds"),
        Column("energy", found.mean_energy, Format(lambda energy: f"{energy:.6g}"), "energy"),
        Column("", lambda p: p.optimum, key="optimum"),
        Column("", lambda p: found.target, key="target"),
        Column("time to target", found.target_time, SECONDS, "target_time_s"),
        Column("runs that reach it", found.reached, SHARE, "reached", missing="unknown"),
        Column("repeats", found.repeats, words({True: "yes", False: "no"}), "repeats", missing="unknown"),
        Column("worse", lambda p: (loss := found.loss(p)) and loss.equal_steps, DIFFERENCE, "loss", INTERVAL),
        Column("at equal time", equal_time, DIFFERENCE, "loss_at_equal_time", INTERVAL),
        Column("on estimates", lambda p: p.estimated, SHARE),
        Column("ratio", lambda p: (loss := found.loss(p)) and loss.target, RATIO, "target_ratio", INTERVAL),
        Column("", lambda p: (loss := found.loss(p)) and loss.worth, key="worth"),
    )


def energies(run: AnnealingResults, ranks: int) -> Table | None:
    """What each set-up costs in quality, relative to the reference."""
    found = quality(run, ranks)
    if len(found.points) < 2:
        return None
    columns = chosen(
        _quality(found), "set-up", "seeds", "energy", "worse", "at equal time", "on estimates", "repeats"
    )
    optimum = found.points[0].optimum
    best = "" if optimum is None else f"The optimum of {found.points[0].instance} is {optimum:.6g}. "
    caption = (
        f"{best}Worse: lowest energy relative to {found.points[0].label}'s with as many steps, the mean over "
        "seeds of the differences between runs with the same seed; at equal time: when the fastest set-up "
        "ends. On estimates: share of the steps. Repeats: whether runs with one seed find the same energy."
    )
    name, title = f"annealing-quality-{ranks}", f"Energies on {ranks} ranks"
    return _shown(run, columns_table(name, title, columns, found.points, caption))


def targets(run: AnnealingResults, ranks: int) -> Table | None:
    """How long each set-up takes until the target energy is reached."""
    found = quality(run, ranks)
    if len(found.points) < 2 or found.target is None:
        return None
    ratio = ("ratio", f"time / {found.points[0].label}")
    columns = chosen(_quality(found), "set-up", "runs that reach it", "time to target", ratio)
    which = (
        "" if found.given_target is not None else f", which nine in ten runs of {found.points[0].label} reach"
    )
    caption = (
        f"Target: an energy of {found.target:.6g}{which}. Its time is that of all runs, also of those that "
        "do not reach it, over the number of those that do."
    )
    name, title = f"annealing-target-{ranks}", f"Time to the target on {ranks} ranks"
    return _shown(run, columns_table(name, title, columns, found.points, caption))


def balancing(run: AnnealingResults) -> Table | None:
    """Uneven ranks with and without load balancing."""
    if not run.balancing:
        return None
    caption = "Ranks that take longer for a step on purpose; load balancing moves walkers to the faster ones."
    made = columns_table("annealing-balancing", "Load balancing", BALANCING, run.balancing, caption)
    return _shown(run, made)


def predicted(run: AnnealingResults, found: AnnealingPredictions) -> Table | None:
    """Shares of communication."""
    if not found.of:
        return None

    def of_part(part: Part) -> Column[AnnealingPoint]:
        def both(p: AnnealingPoint) -> str | None:
            known = found.at(p)
            if known is None:
                return None
            return f"{percent(_of_time(known.predicted, part))} / {percent(p.share(part))}"

        return Column(part, both, COUNT)

    columns: tuple[Column[AnnealingPoint], ...] = (
        Column("set-up", lambda p: p.label),
        Column("ranks", lambda p: p.ranks, COUNT),
        Column("measured", lambda p: p.communication, SHARE),
        Column("predicted", lambda p: (known := found.at(p)) and known.share, SHARE, missing="no prediction"),
        Column("error", lambda p: (known := found.at(p)) and known.error, Format(points)),
        *map(of_part, WAITING),
    )
    caption = (
        "Share of communication, predicted from the rounds of one rank and the costs of messages. Error: in "
        "percentage points. Of each part: predicted / measured."
    )
    return columns_table("annealing-predicted", "Predicted and measured", columns, run.plain, caption)


def _of_time(times: RankTimes, part: str) -> float:
    whole = float(times.computation.sum() + times.communication.sum())
    return float(getattr(times, part).sum()) / whole if whole else 0.0


def _shown(run: AnnealingResults, table: Table) -> Table:
    """The table, without the columns of intervals that are empty or constant where times are exact."""
    if not run.evidence.machine.is_exact:
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


def summary(evidence: Evidence) -> Sequence[Table]:
    """The tables below the headline on a terminal."""
    run = AnnealingResults.of(evidence)
    if not run.plain:
        return ()
    shown = (
        setups(run),
        energies(run, run.shown),
        targets(run, run.shown),
        balancing(run),
        predicted(run, predictions(run)),
    )
    return tuple(table for table in shown if table is not None)


def answer(evidence: Evidence) -> dict[str, Any]:
    """Every set-up with its time, steps per second, and parts of its time (s; the master's, the mean of the
    workers, the mean over the ranks); the choice for each number of ranks; quality relative to the reference;
    load balancing; predictions. Ratios and differences have 95% intervals; null if unknown."""
    run = AnnealingResults.of(evidence)
    found = predictions(run)
    return {
        "reference": run.reference_name,
        "choices": [_choice(run, ranks) for ranks in run.counts],
        "setups": [_setup(run, p, found) for p in run.points if not p.uneven],
        "quality": [
            each
            for found in (quality(run, ranks) for ranks in run.counts)
            for each in columns_document(_quality(found), found.points)
        ],
        "balancing": columns_document(BALANCING, run.balancing),
        "median_prediction_error": found.median_error(),
        "largest_sum_error": max((p.sum_error for p in run.points), default=None),
    }


def _choice(run: AnnealingResults, ranks: int) -> dict[str, Any]:
    found = choice(run, ranks)
    if found is None:
        nothing = dict.fromkeys(("take", "outcome", "basis", "fastest", "meanwhile"))
        return {"ranks": ranks, **nothing, "rivals": []}
    meanwhile = until_decided(run, found)
    return {
        "ranks": ranks,
        "take": None if found.take is None else found.take.label,
        "outcome": found.outcome,
        "basis": found.basis,
        "fastest": found.fastest.label,
        "rivals": [p.label for p in found.rivals],
        "meanwhile": None if meanwhile is None else meanwhile.take.label,
    }


def _setup(run: AnnealingResults, p: AnnealingPoint, found: AnnealingPredictions) -> dict[str, Any]:
    over = run.reference(p.ranks)
    compared = None if over is None or p not in run.plain else run.against(p, over)
    predicted = found.at(p)
    return {
        "case": p.measured.case.line,
        "setup": p.label,
        "ranks": p.ranks,
        "walkers": p.walkers,
        "time_s": p.time,
        "steps_per_s": p.rate,
        "speedup": run.speedup(p) if p in run.plain else None,
        "ratio": None if compared is None or p is over else compared.ratio,
        "verdict": None if compared is None or p is over else compared.verdict,
        "communication": p.communication,
        "predicted_communication": None if predicted is None else predicted.share,
        "parts_s": {part: p.part(part) for part in PARTS},
        "master_s": _spent(p.of_rank(0, "computation"), p.of_rank(0, *COMMUNICATION)),
        "worker_s": _spent(p.of_workers("computation"), p.of_workers(*COMMUNICATION)),
        "estimated_rounds": p.estimated,
        "sum_error": p.sum_error,
    }


def _spent(computation: float, communication: float) -> dict[str, float]:
    return {"computation": computation, "communication": communication}
