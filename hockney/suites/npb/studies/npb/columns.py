# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The tables, and the answer for programs (`--json`): speed-up and shares of the time of each benchmark, the
effect of barriers, the phases, and predictions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from hockney.core.fit import Estimate
from hockney.core.record import Record
from hockney.core.wording import join_words
from hockney.draw.page import Table
from hockney.models.programs.scaling import TIME_PARTS
from hockney.pages.columns import (
    COUNT_FORMAT,
    INTERVAL_HEADING,
    SECONDS_FORMAT,
    SHARE_FORMAT,
    SIGNED_FORMAT,
    Column,
    Format,
    Row,
    columns_document,
    columns_table,
    point_value,
    select_columns,
    text_format,
    unit_format,
    without_intervals,
)
from hockney.pages.evidence import Evidence
from hockney.pages.format import format_share, ratio_interval
from hockney.pages.metrics import RATE_UNIT
from hockney.suites.npb.programs.assumptions import ACCEPTED_ERROR, ASSUMPTIONS, PhaseTime
from hockney.suites.npb.studies.npb.results import (
    MeanEffect,
    NpbPoint,
    NpbPrediction,
    NpbPredictions,
    NpbResults,
    predictions,
)

VERIFIED_TEXTS = {True: "yes", False: "no"}


def ratio_number(value: float) -> str:
    """Formats a ratio with two decimals, or with two digits if it is small."""
    return f"{value:.2f}" if value >= 0.1 else f"{value:.2g}"


RATIO_FORMAT = Format(lambda value: ratio_number(point_value(value)), interval=ratio_interval)


def _point_columns(run: NpbResults) -> tuple[Column[NpbPoint], ...]:
    """Returns the columns of a benchmark, with or without barriers."""
    effects = {barrier_effect.point.measurement.case.line: barrier_effect for barrier_effect in run.effects}

    def effect(name: str) -> Callable[[NpbPoint], Estimate | None]:
        return lambda p: getattr(effects.get(p.measurement.case.line), name, None)

    def speedup(p: NpbPoint) -> Estimate | None:
        return run.speedup(p) if p in run.barrier_free_points else None

    return (
        Column("", lambda p: p.measurement.case.line, key="case"),
        Column("benchmark", lambda p: p.kernel, key="benchmark"),
        Column("class", lambda p: p.size, key="class"),
        Column("ranks", lambda p: p.ranks, COUNT_FORMAT, "ranks"),
        Column("decomposition", lambda p: p.decomposition, key="decomposition"),
        Column("time", lambda p: p.time, SECONDS_FORMAT, "time_s", INTERVAL_HEADING),
        Column("rate", lambda p: p.rate, unit_format(RATE_UNIT), "rate_per_s", INTERVAL_HEADING),
        Column("", speedup, key="speedup"),
        Column(
            "speed-up", lambda p: speedup(p) if p.ranks > 1 else None, RATIO_FORMAT, interval=INTERVAL_HEADING
        ),
        Column(
            "efficiency",
            lambda p: run.efficiency(p) if p in run.barrier_free_points else None,
            SHARE_FORMAT,
            "efficiency",
        ),
        Column(
            "verified", lambda p: p.verified, text_format(VERIFIED_TEXTS), "verified", missing="not checked"
        ),
        Column("", lambda p: p.parts, key="parts_s"),
        Column(
            "",
            lambda p: columns_document(PHASE_COLUMNS, ((p, barrier_effect) for barrier_effect in p.phases)),
            key="phases",
        ),
        Column("barrier", lambda p: p.barrier, key="barrier"),
        Column("after each", lambda p: p.barrier_at, key="barrier_at"),
        Column("with / without", effect("cost"), RATIO_FORMAT, "cost", INTERVAL_HEADING),
        Column("", effect("gain"), key="gain"),
        Column("won back", effect("saving"), SHARE_FORMAT, interval=INTERVAL_HEADING),
        Column("communication", lambda p: p.share("messages", "collectives", "barriers"), SHARE_FORMAT),
        Column("in barriers", lambda p: p.share("barriers"), SHARE_FORMAT),
        Column("waiting", lambda p: p.share("waiting"), SHARE_FORMAT),
    )


PHASE_COLUMNS: tuple[Column[tuple[NpbPoint, PhaseTime]], ...] = (
    Column("benchmark", lambda row: row[0].kernel),
    Column("ranks", lambda row: row[0].ranks, COUNT_FORMAT),
    Column("phase", lambda row: row[1].name, key="phase"),
    Column("time", lambda row: row[1].total, SECONDS_FORMAT),
    Column("computation", lambda row: row[1].computation, SECONDS_FORMAT, "computation_s"),
    Column("communication", lambda row: row[1].communication, SECONDS_FORMAT, "communication_s"),
    Column("waiting", lambda row: row[1].waiting, SECONDS_FORMAT, "waiting_s"),
    Column("share", lambda row: _phase_share(*row), SHARE_FORMAT),
)
MEAN_COLUMNS: tuple[Column[MeanEffect], ...] = (
    Column("ranks", lambda effect: effect.ranks, COUNT_FORMAT, "ranks"),
    Column("barrier", lambda effect: effect.barrier, key="barrier"),
    Column("after each", lambda effect: effect.barrier_at, key="barrier_at"),
    Column("", lambda effect: effect.kernels, key="benchmarks"),
    Column("time with / without", lambda effect: effect.cost, RATIO_FORMAT, "cost", INTERVAL_HEADING),
    Column("won back", lambda effect: effect.saving, SHARE_FORMAT, interval=INTERVAL_HEADING),
    Column("", lambda effect: effect.gain, key="gain"),
    Column("in barriers", lambda effect: effect.barrier_share, SHARE_FORMAT, "share_in_barriers"),
    Column("waiting", lambda effect: effect.waiting_share, SHARE_FORMAT, "share_waiting"),
)
PREDICTION_COLUMNS: tuple[Column[NpbPrediction], ...] = (
    Column("", lambda prediction: prediction.point.measurement.case.line, key="case"),
    Column("benchmark", lambda prediction: prediction.point.kernel),
    Column("class", lambda prediction: prediction.point.size),
    Column("ranks", lambda prediction: prediction.point.ranks, COUNT_FORMAT),
    Column("predicted", lambda prediction: prediction.predicted_time.seconds, SECONDS_FORMAT, "time_s"),
    Column("measured", lambda prediction: prediction.point.time, SECONDS_FORMAT, "measured_s"),
    Column("error", lambda prediction: prediction.diagnosis.error, SIGNED_FORMAT, "error"),
    Column("what fails", lambda prediction: prediction.diagnosis.failed_assumption, key="fails"),
    Column("in phase", lambda prediction: prediction.diagnosis.phase or None, key="phase"),
    Column(
        "error without it",
        lambda prediction: prediction.diagnosis.corrected_error,
        SIGNED_FORMAT,
        "error_without_it",
    ),
    Column("", lambda prediction: _part_seconds(prediction), key="parts_s"),
)


def _phase_share(p: NpbPoint, phase: PhaseTime) -> float | None:
    total = sum(other_phase.total for other_phase in p.phases)
    return phase.total / total if total else None


def _part_seconds(prediction: NpbPrediction) -> dict[str, float]:
    return {kind: prediction.predicted_time.total(kind) for kind in TIME_PARTS}


def _with_intervals_if_measured(run: NpbResults, columns: Iterable[Column[Row]]) -> tuple[Column[Row], ...]:
    """Returns the columns, without intervals if times are exact."""
    return without_intervals(columns) if run.evidence.machine.is_exact else tuple(columns)


def benchmark_table(run: NpbResults) -> Table:
    """Returns a table of each benchmark without barriers on each number of ranks. It has a column for
    verification unless all results were verified."""
    has_unverified = any(p.verified is not True for p in run.barrier_free_points)
    all_columns = _point_columns(run)
    columns = (
        *select_columns(all_columns, "benchmark", "ranks", *(["verified"] if has_unverified else [])),
        *without_intervals(select_columns(all_columns, "time", "rate")),
        *_with_intervals_if_measured(
            run, select_columns(all_columns, "speed-up", "efficiency", "communication", "waiting")
        ),
    )
    caption = "Communication and waiting: shares of the time, as means over the ranks."
    if not has_unverified:
        caption = f"All answers were verified. {caption}"
    return columns_table(
        "npb", f"Benchmarks, class {join_words(run.classes)}", columns, run.barrier_free_points, caption
    )


def time_table(run: NpbResults) -> Table:
    """Returns a table of times and rates with their intervals, and of the benchmarks' decompositions."""
    columns = select_columns(
        _point_columns(run), "benchmark", "class", "ranks", "time", "rate", "decomposition"
    )
    return columns_table(
        "npb-times", "Times and rates", _with_intervals_if_measured(run, columns), run.barrier_free_points
    )


def barrier_table(run: NpbResults) -> Table | None:
    """Returns a table of each barrier at each place, over all benchmarks, in ascending cost."""
    if not run.mean_effects:
        return None
    columns = select_columns(
        MEAN_COLUMNS,
        "ranks",
        "after each",
        "barrier",
        "time with / without",
        "won back",
        "in barriers",
        "waiting",
    )
    caption = (
        "Ratios are geometric means over the benchmarks. Won back: of the time with MPI's barrier; "
        "more than MPI's share in barriers has other causes. In barriers: after the last rank has arrived. "
        "Waiting: for ranks that arrive later, at barriers and elsewhere. Both are shares of the time."
    )
    return columns_table(
        "npb-barriers", "Barriers", _with_intervals_if_measured(run, columns), run.mean_effects, caption
    )


def effect_table(run: NpbResults) -> Table | None:
    """Returns a table of each barrier in each benchmark; None without barriers."""
    all_columns = _point_columns(run)
    columns = (
        *select_columns(all_columns, "benchmark", "ranks", "after each", "barrier"),
        *without_intervals(select_columns(all_columns, "time")),
        *_with_intervals_if_measured(
            run,
            select_columns(all_columns, "with / without", "won back", "in barriers", "waiting", "verified"),
        ),
    )
    points = [effect.point for effect in run.effects]
    return columns_table("npb-effects", "Barriers in each benchmark", columns, points) if points else None


def phase_table(run: NpbResults) -> Table | None:
    """Returns a table of the parts of each phase's time, without barriers; None without phases."""
    rows = [(p, phase) for p in run.barrier_free_points for phase in p.phases]
    caption = "Of a run, as means over the ranks and launches."
    return columns_table("npb-phases", "Phases", PHASE_COLUMNS, rows, caption) if rows else None


def prediction_table(predictions: NpbPredictions) -> Table | None:
    """Returns a table of predicted and measured times on several ranks, and of the assumption that fails."""
    if not predictions.predictions:
        return None
    columns = select_columns(
        PREDICTION_COLUMNS, "benchmark", "class", "ranks", "measured", "predicted", "error", "what fails",
        "in phase", "error without it",
    )  # fmt: skip
    assumption_list = "; ".join(f"{name}: {meaning}" for name, meaning in ASSUMPTIONS.items())
    caption = (
        "From the time on one rank and the costs of messages and collectives. What fails: the assumption "
        "whose measured part of the time, in place of the predicted one, corrects most of an error above "
        f"{format_share(ACCEPTED_ERROR)}. Assumptions: {assumption_list}."
    )
    return columns_table("npb-predicted", "Predicted and measured", columns, predictions.predictions, caption)


def wrong_answer_table(run: NpbResults) -> Table | None:
    """Returns a table of cases with a wrong answer and its first error; None without errors."""
    rows = tuple(
        (p.measurement.case.line, VERIFIED_TEXTS[False], first_error(p.records)) for p in run.wrong_points
    )
    return Table("npb-wrong", "Wrong answers", ("case", "verified", "first"), rows) if rows else None


def first_error(records: Iterable[Record]) -> str:
    return next((record.verified.first for record in records if record.verified.errors), "")


def summary(evidence: Evidence) -> Sequence[Table]:
    """Returns the tables below the sentences on a terminal."""
    run = NpbResults.of(evidence)
    tables = (
        benchmark_table(run) if run.barrier_free_points else None,
        barrier_table(run),
        prediction_table(predictions(run)),
    )
    return tuple(table for table in tables if table is not None)


def answer(evidence: Evidence) -> dict[str, Any]:
    """Returns every benchmark with its rate (operations per second), speed-up and parts of its time (s,
    means over the ranks), also for each phase, and the effect of each barrier. Ratios have 95% intervals;
    null if unknown."""
    run = NpbResults.of(evidence)
    return {
        "verified": None if all(p.verified is None for p in run.points) else not run.wrong_points,
        "benchmarks": columns_document(_point_columns(run), run.points),
        "barriers": columns_document(MEAN_COLUMNS, run.mean_effects),
        "predictions": columns_document(PREDICTION_COLUMNS, predictions(run).predictions),
        "median_error": predictions(run).median_error,
    }
