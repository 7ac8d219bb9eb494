# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The tables, and the answer for programs (`--json`): comparison of set-ups, the paper's table, quality,
load balancing and predictions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from hockney.core.fit import Estimate, ExactValue
from hockney.core.units import format_significant
from hockney.draw.page import Table
from hockney.pages.columns import (
    COUNT_FORMAT,
    INTERVAL_HEADING,
    SECONDS_FORMAT,
    SHARE_FORMAT,
    Column,
    Format,
    columns_document,
    columns_table,
    select_columns,
    text_format,
)
from hockney.pages.evidence import Evidence
from hockney.pages.format import SIMULATED_TEXT, format_share, no_interval_text, quantity, ratio_interval
from hockney.reference import published
from hockney.suites.annealing.models.rounds import RankTimes
from hockney.suites.annealing.studies.annealing.choice import (
    Quality,
    choose_setup,
    interim_choice,
    quality_on,
)
from hockney.suites.annealing.studies.annealing.results import (
    COMMUNICATION,
    PARTS,
    AnnealingPoint,
    AnnealingPredictions,
    AnnealingResults,
    Part,
    SetupComparison,
    predictions,
)

PAPER = "annealing"
ONE_RANK = "one rank"
PAPER_RANKS = 4
"""Ranks in table 1 of the paper."""
WAITING_PARTS: tuple[Part, ...] = ("posting", "testing", "waiting")


def format_millions(rate: float) -> str:
    """Formats steps per second, in millions."""
    return format_significant(rate / 1e6, 3)


def format_percentage_points(error: float) -> str:
    """Formats percentage points, with a sign."""
    text = f"{100 * error:+.1f}"
    return "0.0" if text in ("+0.0", "-0.0") else text


def format_signed_percent(value: float | None) -> str:
    """Formats the value in percent, with a sign and two digits, such as "+0.41%"."""
    if value is None:
        return ""
    if value == 0:
        return "0%"
    return f"{100 * value:+.2g}%" if abs(value) < 0.995 else f"{100 * value:+.0f}%"


def _difference_interval_text(value: Estimate) -> str:
    if isinstance(value, ExactValue):
        return no_interval_text(value)
    has_interval = value.low is not None and value.high is not None
    return (
        f"{format_signed_percent(value.low)} to {format_signed_percent(value.high)}" if has_interval else ""
    )


RATIO_FORMAT = Format(lambda value: f"{value.value:.3g}", interval=ratio_interval)
DIFFERENCE_FORMAT = Format(
    lambda value: format_signed_percent(value.value), interval=_difference_interval_text
)
"""Format of a relative difference, which may be negative."""
BALANCING_COLUMNS: tuple[Column[SetupComparison], ...] = (
    Column("set-up", lambda comparison: comparison.point.label, key="setup"),
    Column("ranks", lambda comparison: comparison.point.ranks, COUNT_FORMAT, "ranks"),
    Column("times for a step", lambda comparison: comparison.point.measurement.case["shares"], key="shares"),
    Column("without", lambda comparison: comparison.reference.time, SECONDS_FORMAT, "time_without_s"),
    Column("with", lambda comparison: comparison.point.time, SECONDS_FORMAT, "time_s"),
    Column("with / without", lambda comparison: comparison.ratio, RATIO_FORMAT, "ratio", INTERVAL_HEADING),
    Column("", lambda comparison: comparison.verdict, key="verdict"),
    Column("communication without", lambda comparison: comparison.reference.communication, SHARE_FORMAT),
    Column("with", lambda comparison: comparison.point.communication, SHARE_FORMAT),
)


def setup_table(run: AnnealingResults) -> Table:
    """Returns a table of each set-up on each number of ranks, with its time relative to the reference."""
    ratios = {
        comparison.point: comparison.ratio
        for ranks in run.rank_counts
        for comparison in run.comparisons(ranks)
    }
    columns: tuple[Column[AnnealingPoint], ...] = (
        Column("set-up", lambda p: p.label if p.ranks > 1 else ONE_RANK),
        Column("ranks", lambda p: p.ranks, COUNT_FORMAT),
        Column("time", lambda p: p.time, SECONDS_FORMAT),
        Column("million steps/s", lambda p: format_millions(p.rate.value), COUNT_FORMAT),
        Column(f"time / {run.reference_name}", ratios.get, RATIO_FORMAT, interval=INTERVAL_HEADING),
        Column("communication", lambda p: p.communication if p.ranks > 1 else None, SHARE_FORMAT),
        *map(_part_column, WAITING_PARTS),
    )
    single_rank_points = {
        single_rank_point
        for p in run.comparable_points
        if (single_rank_point := run.single_rank_point(p.walkers)) is not None
    }
    rows = [*single_rank_points, *(p for ranks in run.rank_counts for p in run.points_on(ranks))]
    caption = "Communication and its parts: shares of the time, as means over the ranks."
    return _without_empty_intervals(run, columns_table("annealing", "Set-ups", columns, rows, caption))


def _part_column(part: Part) -> Column[AnnealingPoint]:
    return Column(part, lambda p: p.share(part) if p.ranks > 1 else None, SHARE_FORMAT)


def paper_table(run: AnnealingResults) -> Table:
    """Returns table 1 of the paper, with the printed numbers below the measured ones."""
    rows = [
        (
            *(p.label, str(p.ranks), "measured"),
            *_process_cells(p.rank_seconds(0, "computation"), p.rank_seconds(0, *COMMUNICATION)),
            *_process_cells(p.worker_seconds("computation"), p.worker_seconds(*COMMUNICATION)),
        )
        for p in run.comparable_points
        if p.seconds_by_rank
    ]
    printed_values = {row.key: row.si for row in published(PAPER).rows if row.table == "table 1"}
    for name in dict.fromkeys(key.split("/")[2] for key in printed_values):
        key = f"{PAPER}/table-1/{name}"
        master, worker = (
            _process_cells(
                printed_values[f"{key}/computation/{process}"],
                printed_values[f"{key}/communication/{process}"],
            )
            for process in ("master", "worker")
        )
        rows.append((name, str(PAPER_RANKS), "printed", *master, *worker))
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


def _process_cells(computation: float, communication: float) -> tuple[str, str, str]:
    """Returns the seconds, and the share of communication."""
    total = computation + communication
    share = format_share(communication / total) if total else ""
    return quantity(computation, "s"), quantity(communication, "s"), share


def _quality_columns(quality: Quality) -> tuple[Column[AnnealingPoint], ...]:
    """Returns the columns of quality relative to the reference."""

    def equal_time(p: AnnealingPoint) -> Estimate | None:
        loss = quality.loss(p)
        return None if loss is None else loss.loss_at_equal_time

    return (
        Column("set-up", lambda p: p.label, key="setup"),
        Column("", lambda p: p.ranks, key="ranks"),
        Column("seeds", lambda p: len(quality.energies(p)), COUNT_FORMAT, "seeds"),
        Column("energy", quality.mean_energy, Format(lambda energy: f"{energy:.6g}"), "energy"),
        Column("", lambda p: p.optimum, key="optimum"),
        Column("", lambda p: quality.target, key="target"),
        Column("time to target", quality.target_time, SECONDS_FORMAT, "target_time_s"),
        Column("runs that reach it", quality.reached_share, SHARE_FORMAT, "reached", missing="unknown"),
        Column(
            "repeats",
            quality.is_repeatable,
            text_format({True: "yes", False: "no"}),
            "repeats",
            missing="unknown",
        ),
        Column(
            "worse",
            lambda p: (loss := quality.loss(p)) and loss.loss_at_equal_steps,
            DIFFERENCE_FORMAT,
            "loss",
            INTERVAL_HEADING,
        ),
        Column("at equal time", equal_time, DIFFERENCE_FORMAT, "loss_at_equal_time", INTERVAL_HEADING),
        Column("on estimates", lambda p: p.estimated_share, SHARE_FORMAT),
        Column(
            "ratio",
            lambda p: (loss := quality.loss(p)) and loss.target_ratio,
            RATIO_FORMAT,
            "target_ratio",
            INTERVAL_HEADING,
        ),
        Column("", lambda p: (loss := quality.loss(p)) and loss.target_verdict, key="worth"),
    )


def energy_table(run: AnnealingResults, ranks: int) -> Table | None:
    """Returns a table of the energies of each set-up relative to the reference; None with fewer than two
    set-ups."""
    quality = quality_on(run, ranks)
    if len(quality.points) < 2:
        return None
    columns = select_columns(
        _quality_columns(quality),
        "set-up",
        "seeds",
        "energy",
        "worse",
        "at equal time",
        "on estimates",
        "repeats",
    )
    optimum = quality.points[0].optimum
    optimum_sentence = (
        "" if optimum is None else f"The optimum of {quality.points[0].instance} is {optimum:.6g}. "
    )
    caption = (
        f"{optimum_sentence}Worse: lowest energy relative to {quality.points[0].label}'s with as "
        "many steps, the mean "
        "over seeds of the differences between runs with the same seed; at equal time: when the fastest "
        "set-up ends. On estimates: share of the steps. Repeats: whether runs with one seed find the same "
        "energy."
    )
    name, title = f"annealing-quality-{ranks}", f"Energies on {ranks} ranks"
    return _without_empty_intervals(run, columns_table(name, title, columns, quality.points, caption))


def target_table(run: AnnealingResults, ranks: int) -> Table | None:
    """Returns a table of each set-up's time to reach the target energy; None with fewer than two set-ups."""
    quality = quality_on(run, ranks)
    if len(quality.points) < 2 or quality.target is None:
        return None
    ratio = ("ratio", f"time / {quality.points[0].label}")
    columns = select_columns(
        _quality_columns(quality), "set-up", "runs that reach it", "time to target", ratio
    )
    origin = (
        ""
        if quality.given_target is not None
        else f", which nine in ten runs of {quality.points[0].label} reach"
    )
    caption = (
        f"Target: an energy of {quality.target:.6g}{origin}. Its time is that of all runs, also of those "
        "that do not reach it, over the number of those that do."
    )
    name, title = f"annealing-target-{ranks}", f"Time to the target on {ranks} ranks"
    return _without_empty_intervals(run, columns_table(name, title, columns, quality.points, caption))


def balancing_table(run: AnnealingResults) -> Table | None:
    """Returns a table of uneven ranks with and without load balancing; None without any."""
    if not run.balancing_comparisons:
        return None
    caption = "Ranks that take longer for a step on purpose; load balancing moves walkers to the faster ones."
    table = columns_table(
        "annealing-balancing", "Load balancing", BALANCING_COLUMNS, run.balancing_comparisons, caption
    )
    return _without_empty_intervals(run, table)


def prediction_table(run: AnnealingResults, predictions: AnnealingPredictions) -> Table | None:
    """Returns a table of predicted and measured shares of communication; None without predictions."""
    if not predictions.predictions:
        return None

    def part_column(part: Part) -> Column[AnnealingPoint]:
        def share_texts(p: AnnealingPoint) -> str | None:
            prediction = predictions.prediction_for(p)
            if prediction is None:
                return None
            return (
                f"{format_share(_share_of_time(prediction.predicted_times, part))} / "
                f"{format_share(p.share(part))}"
            )

        return Column(part, share_texts, COUNT_FORMAT)

    columns: tuple[Column[AnnealingPoint], ...] = (
        Column("set-up", lambda p: p.label),
        Column("ranks", lambda p: p.ranks, COUNT_FORMAT),
        Column("measured", lambda p: p.communication, SHARE_FORMAT),
        Column(
            "predicted",
            lambda p: (prediction := predictions.prediction_for(p)) and prediction.share,
            SHARE_FORMAT,
            missing="no prediction",
        ),
        Column(
            "error",
            lambda p: (prediction := predictions.prediction_for(p)) and prediction.error,
            Format(format_percentage_points),
        ),
        *map(part_column, WAITING_PARTS),
    )
    caption = (
        "Share of communication, predicted from the rounds of one rank and the costs of messages. Error: in "
        "percentage points. Of each part: predicted / measured."
    )
    return columns_table(
        "annealing-predicted", "Predicted and measured", columns, run.comparable_points, caption
    )


def _share_of_time(times: RankTimes, part: str) -> float:
    total = float(times.computation.sum() + times.communication.sum())
    return float(getattr(times, part).sum()) / total if total else 0.0


def _without_empty_intervals(run: AnnealingResults, table: Table) -> Table:
    """Returns the table without the columns of intervals that are empty or constant if times are exact."""
    if not run.evidence.machine.is_exact:
        return table
    column_indices = [
        k
        for k, name in enumerate(table.columns)
        if name != INTERVAL_HEADING
        or any(row[k] not in ("", SIMULATED_TEXT, "unknown") for row in table.rows)
    ]
    return replace(
        table,
        columns=tuple(table.columns[k] for k in column_indices),
        rows=tuple(tuple(row[k] for k in column_indices) for row in table.rows),
        numeric=tuple(position for position, k in enumerate(column_indices) if k in table.numeric),
    )


def summary(evidence: Evidence) -> Sequence[Table]:
    """Returns the tables below the headline on a terminal."""
    run = AnnealingResults.of(evidence)
    if not run.comparable_points:
        return ()
    tables = (
        setup_table(run),
        energy_table(run, run.headline_ranks),
        target_table(run, run.headline_ranks),
        balancing_table(run),
        prediction_table(run, predictions(run)),
    )
    return tuple(table for table in tables if table is not None)


def answer(evidence: Evidence) -> dict[str, Any]:
    """Returns every set-up with its time, steps per second, and parts of its time (s; the master's, the
    mean of the workers, the mean over the ranks), the choice for each number of ranks, quality relative to
    the reference, load balancing, and predictions. Ratios and differences have 95% intervals; null if
    unknown."""
    run = AnnealingResults.of(evidence)
    results = predictions(run)
    return {
        "reference": run.reference_name,
        "choices": [_choice_document(run, ranks) for ranks in run.rank_counts],
        "setups": [_setup_document(run, p, results) for p in run.points if not p.is_uneven],
        "quality": [
            row
            for quality in (quality_on(run, ranks) for ranks in run.rank_counts)
            for row in columns_document(_quality_columns(quality), quality.points)
        ],
        "balancing": columns_document(BALANCING_COLUMNS, run.balancing_comparisons),
        "median_prediction_error": results.median_error(),
        "largest_sum_error": max((p.sum_error for p in run.points), default=None),
    }


def _choice_document(run: AnnealingResults, ranks: int) -> dict[str, Any]:
    setup_choice = choose_setup(run, ranks)
    if setup_choice is None:
        null_fields = dict.fromkeys(("take", "outcome", "basis", "fastest", "meanwhile"))
        return {"ranks": ranks, **null_fields, "rivals": []}
    interim = interim_choice(run, setup_choice)
    return {
        "ranks": ranks,
        "take": None if setup_choice.recommendation is None else setup_choice.recommendation.label,
        "outcome": setup_choice.outcome,
        "basis": setup_choice.basis,
        "fastest": setup_choice.fastest_point.label,
        "rivals": [p.label for p in setup_choice.rivals],
        "meanwhile": None if interim is None else interim.recommendation.label,
    }


def _setup_document(
    run: AnnealingResults, p: AnnealingPoint, predictions: AnnealingPredictions
) -> dict[str, Any]:
    reference = run.reference(p.ranks)
    comparison = (
        None if reference is None or p not in run.comparable_points else run.compare_with(p, reference)
    )
    prediction = predictions.prediction_for(p)
    return {
        "case": p.measurement.case.line,
        "setup": p.label,
        "ranks": p.ranks,
        "walkers": p.walkers,
        "time_s": p.time,
        "steps_per_s": p.rate,
        "speedup": run.speedup(p) if p in run.comparable_points else None,
        "ratio": None if comparison is None or p is reference else comparison.ratio,
        "verdict": None if comparison is None or p is reference else comparison.verdict,
        "communication": p.communication,
        "predicted_communication": None if prediction is None else prediction.share,
        "parts_s": {part: p.part_seconds(part) for part in PARTS},
        "master_s": _seconds_document(p.rank_seconds(0, "computation"), p.rank_seconds(0, *COMMUNICATION)),
        "worker_s": _seconds_document(p.worker_seconds("computation"), p.worker_seconds(*COMMUNICATION)),
        "estimated_rounds": p.estimated_share,
        "sum_error": p.sum_error,
    }


def _seconds_document(computation: float, communication: float) -> dict[str, float]:
    return {"computation": computation, "communication": communication}
