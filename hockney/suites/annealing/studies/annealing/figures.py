# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Times of the set-ups and their parts, and steps and energies over time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from hockney.core.wording import plural
from hockney.draw.figure import Axis, Figure, Series
from hockney.pages.format import format_share, quantity, ratio_interval_suffix
from hockney.pages.series import estimates
from hockney.suites.annealing.models.runs import Course
from hockney.suites.annealing.studies.annealing.choice import quality_on
from hockney.suites.annealing.studies.annealing.results import (
    PARTS,
    AnnealingPoint,
    AnnealingPredictions,
    AnnealingResults,
)


def relative_time_figure(run: AnnealingResults, ranks: int) -> Figure | None:
    """Draws a row for each set-up, with its time relative to the reference's."""
    comparisons = run.comparisons(ranks)
    if not comparisons:
        return None
    sorted_comparisons = sorted(comparisons, key=lambda comparison: comparison.ratio.value)
    series = (
        (
            float(k),
            comparison.ratio,
            f"{quantity(comparison.point.time.value, 's')}{ratio_interval_suffix(comparison.ratio)}",
        )
        for k, comparison in enumerate(sorted_comparisons)
    )
    reference = sorted_comparisons[0].reference
    return Figure(
        "annealing-times",
        f"Time of the same annealing, {plural(ranks, 'rank')}",
        Axis(
            "set-up",
            "set-up",
            "linear",
            names=tuple(comparison.point.label for comparison in sorted_comparisons),
            row=1.5,
        ),
        Axis(f"time / time of {reference.label}", "", "linear", include=(1.0,)),
        (estimates("time", series),),
        f"Ratios with 95% intervals, the fastest on top. {reference.label}: "
        f"{quantity(reference.time.value, 's')}.",
        marks=((1.0, reference.label),),
    )


def time_figure(run: AnnealingResults) -> Figure | None:
    """Draws a bar for the master and one for a worker of each set-up."""
    points = [p for p in run.comparable_points if p.seconds_by_rank]
    if not points:
        return None
    bars = [(p, process) for p in points for process in ("master", "worker")]
    names = tuple(f"{p.label}, {p.ranks}: {process}" for p, process in bars)
    bar_starts = [0.0] * len(bars)
    series = []
    for part in PARTS:
        seconds = [
            p.rank_seconds(0, part) if process == "master" else p.worker_seconds(part) for p, process in bars
        ]
        if any(seconds):
            series.append(
                Series(
                    part,
                    tuple(map(float, range(len(bars)))),
                    tuple(seconds),
                    kind="bars",
                    base=tuple(bar_starts),
                    detail=tuple(quantity(part_s, "s") for part_s in seconds),
                )
            )
        bar_starts = [start + duration for start, duration in zip(bar_starts, seconds, strict=True)]
    return Figure(
        "annealing-parts",
        "Where the time goes",
        Axis("set-up, ranks", "", "linear", names=names),
        Axis("time of a run", "s", "linear", include=(0.0,)),
        tuple(series),
        "The master, and the mean over the workers. Waiting includes blocking communication.",
    )


def step_figures(run: AnnealingResults) -> Iterator[Figure]:
    """Draws figures 3 and 4 of the paper: steps of all ranks over time, for each number of ranks."""
    for ranks in run.rank_counts:
        points = [p for p in run.points_on(ranks) if p.courses]
        series = tuple(_step_series(p, _median_course(p.courses)) for p in points)
        if series:
            yield Figure(
                f"annealing-steps-{ranks}",
                f"Simulation steps over time, {plural(ranks, 'rank')}",
                Axis("time", "s", "linear", include=(0.0,)),
                Axis("steps of all walkers", "steps", "linear", include=(0.0,)),
                series,
                "As in figures 3 and 4 of the paper: of each set-up the run whose time is the median.",
            )


def energy_figures(run: AnnealingResults) -> Iterator[Figure]:
    """Draws the lowest energy over time, as the mean over the runs with a known course, relative to the
    optimum or to the lowest of these means."""
    for ranks in run.rank_counts:
        quality = quality_on(run, ranks)
        courses = {p: _mean_course(quality.courses(p)) for p in quality.points if p.courses}
        if not courses:
            continue
        optimum = next(iter(courses)).optimum
        lowest_energy = (
            min(best_energies[-1] for _, best_energies in courses.values()) if optimum is None else optimum
        )
        baseline = "lowest energy reached" if optimum is None else "optimum"
        yield Figure(
            f"annealing-energies-{ranks}",
            f"Lowest energy over time, {plural(ranks, 'rank')}",
            Axis("time", "s", "linear", include=(0.0,)),
            Axis(f"above the {baseline}", "%", "log"),
            tuple(_excess_series(p.label, *course, lowest_energy) for p, course in courses.items()),
            f"Means over the last runs of the launches, round by round. The {baseline}: {lowest_energy:.6g}.",
        )


def _median_course(courses: Sequence[Course]) -> Course:
    sorted_courses = sorted(courses, key=lambda course: course.seconds)
    return sorted_courses[len(sorted_courses) // 2]


def _step_series(p: AnnealingPoint, course: Course) -> Series:
    return Series(p.label, (0.0, *course.round_ends_s), (0.0, *course.steps), kind="line")


def _mean_course(courses: Sequence[Course]) -> tuple[np.ndarray, np.ndarray]:
    """Returns the mean ends of the rounds and the mean lowest energies."""
    round_count = min(len(course.round_ends_s) for course in courses)
    return (
        np.mean([course.round_ends_s[:round_count] for course in courses], axis=0),
        np.mean([course.best_energies[:round_count] for course in courses], axis=0),
    )


def _excess_series(
    name: str, round_ends_s: np.ndarray, best_energies: np.ndarray, lowest_energy: float
) -> Series:
    """Returns the relative excess over the lowest energy. Points without excess are left out, since the
    axis is logarithmic."""
    excess = (best_energies - lowest_energy) / (abs(lowest_energy) or 1.0)
    is_positive = excess > 0
    return Series(
        name,
        tuple(map(float, round_ends_s[is_positive])),
        tuple(map(float, excess[is_positive])),
        kind="line",
    )


def prediction_figure(predictions: AnnealingPredictions) -> Figure:
    """Draws two points in each row: measured and predicted."""
    names = tuple(
        f"{prediction.point.label}, {prediction.point.ranks}" for prediction in predictions.predictions
    )
    rows = tuple(map(float, range(len(predictions.predictions))))
    measured_shares = tuple(prediction.point.communication for prediction in predictions.predictions)
    predicted_shares = tuple(prediction.share for prediction in predictions.predictions)
    return Figure(
        "annealing-predicted",
        "Communication, predicted and measured",
        Axis("set-up, ranks", "set-up, ranks", "linear", names=names, row=1.5),
        Axis("share of communication", "%", "linear", include=(0.0,)),
        (
            Series("measured", rows, measured_shares, detail=tuple(map(format_share, measured_shares))),
            Series(
                "predicted",
                rows,
                predicted_shares,
                detail=tuple(map(format_share, predicted_shares)),
                hollow=True,
            ),
        ),
        "Predicted from the rounds of one rank and the costs of messages.",
    )
