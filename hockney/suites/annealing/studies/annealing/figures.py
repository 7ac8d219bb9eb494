# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Times of the set-ups, where they go, and steps and energies over time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from hockney.core.wording import plural
from hockney.draw.figure import Axis, Figure, Series
from hockney.pages.format import percent, quantity, ratio_bounds
from hockney.pages.series import estimates
from hockney.suites.annealing.models.runs import Course
from hockney.suites.annealing.studies.annealing.choice import quality_on
from hockney.suites.annealing.studies.annealing.results import (
    PARTS,
    AnnealingPoint,
    AnnealingPredictions,
    AnnealingResults,
)


def relative(run: AnnealingResults, ranks: int) -> Figure | None:
    """A row for each set-up: its time relative to the reference's."""
    compared = run.compared(ranks)
    if not compared:
        return None
    ordered = sorted(compared, key=lambda each: each.ratio.value)
    series = (
        (float(k), each.ratio, f"{quantity(each.point.time.value, 's')}{ratio_bounds(each.ratio)}")
        for k, each in enumerate(ordered)
    )
    reference = ordered[0].reference
    return Figure(
        "annealing-times",
        f"Time of the same annealing, {plural(ranks, 'rank')}",
        Axis("set-up", "set-up", "linear", names=tuple(each.point.label for each in ordered), row=1.5),
        Axis(f"time / time of {reference.label}", "", "linear", include=(1.0,)),
        (estimates("time", series),),
        f"Ratios with 95% intervals, the fastest on top. {reference.label}: "
        f"{quantity(reference.time.value, 's')}.",
        marks=((1.0, reference.label),),
    )


def time_bars(run: AnnealingResults) -> Figure | None:
    """A bar for the master and one for a worker of each set-up."""
    points = [p for p in run.plain if p.by_rank]
    if not points:
        return None
    bars = [(p, process) for p in points for process in ("master", "worker")]
    names = tuple(f"{p.label}, {p.ranks}: {process}" for p, process in bars)
    base = [0.0] * len(bars)
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
                    base=tuple(base),
                    detail=tuple(quantity(each, "s") for each in seconds),
                )
            )
        base = [start + each for start, each in zip(base, seconds, strict=True)]
    return Figure(
        "annealing-parts",
        "Where the time goes",
        Axis("set-up, ranks", "", "linear", names=names),
        Axis("time of a run", "s", "linear", include=(0.0,)),
        tuple(series),
        "The master, and the mean over the workers. Waiting includes blocking communication.",
    )


def steps(run: AnnealingResults) -> Iterator[Figure]:
    """Figures 3 and 4 of the paper: steps of all ranks over time, for each number of ranks."""
    for ranks in run.rank_counts:
        points = [p for p in run.points_on(ranks) if p.courses]
        series = tuple(_line(p, _median_course(p.courses), "steps") for p in points)
        if series:
            yield Figure(
                f"annealing-steps-{ranks}",
                f"Simulation steps over time, {plural(ranks, 'rank')}",
                Axis("time", "s", "linear", include=(0.0,)),
                Axis("steps of all walkers", "steps", "linear", include=(0.0,)),
                series,
                "As in figures 3 and 4 of the paper: of each set-up the run whose time is the median.",
            )


def energies(run: AnnealingResults) -> Iterator[Figure]:
    """The lowest energy over time, the mean over the runs whose course is known, above the optimum, or above
    the lowest of these means."""
    for ranks in run.rank_counts:
        quality = quality_on(run, ranks)
        courses = {p: _mean_course(quality.courses(p)) for p in quality.points if p.courses}
        if not courses:
            continue
        optimum = next(iter(courses)).optimum
        lowest = min(best[-1] for _, best in courses.values()) if optimum is None else optimum
        baseline = "lowest energy reached" if optimum is None else "optimum"
        yield Figure(
            f"annealing-energies-{ranks}",
            f"Lowest energy over time, {plural(ranks, 'rank')}",
            Axis("time", "s", "linear", include=(0.0,)),
            Axis(f"above the {baseline}", "%", "log"),
            tuple(_excess_series(p.label, *course, lowest) for p, course in courses.items()),
            f"Means over the last runs of the launches, round by round. The {baseline}: {lowest:.6g}.",
        )


def _median_course(courses: Sequence[Course]) -> Course:
    ordered = sorted(courses, key=lambda course: course.seconds)
    return ordered[len(ordered) // 2]


def _line(p: AnnealingPoint, course: Course, quantity: str) -> Series:
    y = getattr(course, quantity)
    return Series(p.label, (0.0, *course.ends), (0.0, *y), kind="line")


def _mean_course(courses: Sequence[Course]) -> tuple[np.ndarray, np.ndarray]:
    """Ends of the rounds, and the lowest energies."""
    round_count = min(len(course.ends) for course in courses)
    return (
        np.mean([course.ends[:round_count] for course in courses], axis=0),
        np.mean([course.best[:round_count] for course in courses], axis=0),
    )


def _excess_series(name: str, ends: np.ndarray, best: np.ndarray, lowest: float) -> Series:
    """The relative excess over the lowest energy, cut where it becomes 0: the axis is logarithmic."""
    excess = (best - lowest) / (abs(lowest) or 1.0)
    positive = excess > 0
    return Series(name, tuple(map(float, ends[positive])), tuple(map(float, excess[positive])), kind="line")


def predicted(predictions: AnnealingPredictions) -> Figure:
    """Two points in each row: measured and predicted."""
    names = tuple(f"{each.point.label}, {each.point.ranks}" for each in predictions.predictions)
    rows = tuple(map(float, range(len(predictions.predictions))))
    measured = tuple(each.point.communication for each in predictions.predictions)
    shares = tuple(each.share for each in predictions.predictions)
    return Figure(
        "annealing-predicted",
        "Communication, predicted and measured",
        Axis("set-up, ranks", "set-up, ranks", "linear", names=names, row=1.5),
        Axis("share of communication", "%", "linear", include=(0.0,)),
        (
            Series("measured", rows, measured, detail=tuple(map(percent, measured))),
            Series("predicted", rows, shares, detail=tuple(map(percent, shares)), hollow=True),
        ),
        "Predicted from the rounds of one rank and the costs of messages.",
    )
