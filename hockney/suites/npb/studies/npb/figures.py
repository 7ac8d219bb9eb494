# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Speed-up over ranks, where the time goes, and the cost of each barrier."""

from __future__ import annotations

from collections.abc import Iterator

from hockney.core.case import MPI
from hockney.core.fit import Estimate
from hockney.core.wording import plural
from hockney.draw.figure import Axis, Figure, Series
from hockney.pages.format import format_signed, quantity, ratio_interval_suffix
from hockney.pages.series import estimates, row_offsets
from hockney.suites.npb.studies.npb.results import PARTS, NpbPoint, NpbPredictions, NpbResults, Part

ROW_GAP = 0.2
"""Gap between the rows of a benchmark's barriers, in rows."""
MEAN_TITLE = "mean of all"


def lead_figure(run: NpbResults) -> Figure | None:
    """Draws the speed-up if more than one rank was measured, otherwise where the time goes."""
    speedups = [(p, speedup) for p in run.barrier_free_points if (speedup := run.speedup(p)) is not None]
    rank_counts = sorted({p.ranks for p, _ in speedups})
    if len(rank_counts) > 2:
        return _speedup_over_ranks(speedups, rank_counts)
    parallel_speedups = [(p, speedup) for p, speedup in speedups if p.ranks > 1]
    return _speedup_rows(parallel_speedups) if parallel_speedups else time_figure(run)


def _speedup_over_ranks(speedups: list[tuple[NpbPoint, Estimate]], rank_counts: list[int]) -> Figure:
    """Draws the speed-up over the ranks, as in the paper's figure 12."""
    names = dict.fromkeys(p.kernel for p, _ in speedups)
    ideal_speedups = tuple(map(float, rank_counts))
    return Figure(
        "npb-speedup",
        "Speed-up",
        Axis("ranks", "ranks"),
        Axis("speed-up", "", include=(1.0,)),
        (
            *(
                estimates(name, _details((p, speedup) for p, speedup in speedups if p.kernel == name))
                for name in names
            ),
            Series("ideal", ideal_speedups, ideal_speedups, kind="line", tone="neutral"),
        ),
        "T(1) / T(p) with 95% intervals.",
    )


def _details(speedups: Iterator[tuple[NpbPoint, Estimate]]) -> Iterator[tuple[float, Estimate, str]]:
    for p, speedup in speedups:
        yield p.ranks, speedup, f"class {p.size}, {quantity(p.time.value, 's')}"


def _speedup_rows(speedups: list[tuple[NpbPoint, Estimate]]) -> Figure:
    """Draws a row for each benchmark on one number of ranks."""
    speedups.sort(key=lambda pair: -pair[1].value)
    ranks = speedups[0][0].ranks
    series = (
        (float(k), speedup, f"class {p.size}, {quantity(p.time.value, 's')}")
        for k, (p, speedup) in enumerate(speedups)
    )
    return Figure(
        "npb-speedup",
        f"Speed-up on {plural(ranks, 'rank')}",
        Axis("benchmark", "benchmark", "linear", names=tuple(p.kernel for p, _ in speedups), row=1.5),
        Axis("speed-up", "", "linear", include=(0.0, float(ranks))),
        (estimates("speed-up", series),),
        f"T(1) / T({ranks}) with 95% intervals, the largest on top.",
        marks=((1.0, "one rank"), (float(ranks), "ideal")),
    )


def time_figure(run: NpbResults) -> Figure | None:
    """Draws a bar for each benchmark and number of ranks, without barriers."""
    points = [p for p in run.barrier_free_points if p.parts]
    if not points:
        return None
    series = []
    bar_starts = [0.0] * len(points)
    for part in PARTS:
        shares = [p.share(part) for p in points]
        if any(shares):
            series.append(
                Series(
                    part,
                    tuple(map(float, range(len(points)))),
                    tuple(shares),
                    kind="bars",
                    base=tuple(bar_starts),
                    detail=tuple(_seconds_text(p, part) for p in points),
                )
            )
        bar_starts = [start + share for start, share in zip(bar_starts, shares, strict=True)]
    return Figure(
        "npb-time",
        "Where the time goes",
        Axis("benchmark, ranks", "", "linear", names=tuple(f"{p.kernel}, {p.ranks}" for p in points)),
        Axis("share of the time", "%", "linear", include=(0.0, 1.0)),
        tuple(series),
        "Means over the ranks. Waiting: for ranks that begin a communication later.",
    )


def _seconds_text(p: NpbPoint, part: Part) -> str:
    return quantity(p.parts[part].value, "s") if part in p.parts else ""


def prediction_figure(predictions: NpbPredictions) -> Figure:
    """Draws a row for each benchmark and number of ranks."""
    series = (
        (
            float(k),
            prediction.ratio,
            f"{quantity(prediction.predicted_time.seconds, 's')}, "
            f"{format_signed(prediction.diagnosis.error)}",
        )
        for k, prediction in enumerate(predictions.predictions)
    )
    names = tuple(
        f"{prediction.point.kernel}, {prediction.point.ranks}" for prediction in predictions.predictions
    )
    return Figure(
        "npb-predicted",
        "Predicted and measured",
        Axis("benchmark, ranks", "benchmark, ranks", "linear", names=names, row=1.5),
        Axis("predicted / measured", "", "linear", include=(1.0,)),
        (estimates("predicted / measured", series),),
        "With the 95% intervals of the measured times.",
        marks=((1.0, "as measured"),),
    )


def barrier_figures(run: NpbResults) -> Iterator[Figure]:
    """Draws the cost of each barrier in each benchmark and as the mean, for each number of ranks and
    place."""
    settings = dict.fromkeys((effect.ranks, effect.barrier_at) for effect in run.mean_effects)
    for ranks, barrier_at in settings:
        yield _barrier_figure(run, ranks, barrier_at)


def _barrier_figure(run: NpbResults, ranks: int, barrier_at: str) -> Figure:
    costs = [
        (effect.point.kernel, effect.point.barrier, effect.cost)
        for effect in run.effects
        if (effect.point.ranks, effect.point.barrier_at) == (ranks, barrier_at) and effect.cost is not None
    ]
    if len({kernel for kernel, _, _ in costs}) > 1:
        costs += [
            (MEAN_TITLE, effect.barrier, effect.cost)
            for effect in run.mean_effects
            if (effect.ranks, effect.barrier_at) == (ranks, barrier_at)
        ]
    kernels = list(dict.fromkeys(kernel for kernel, _, _ in costs))
    names = list(dict.fromkeys(barrier for _, barrier, _ in costs))
    offsets = dict(zip(names, row_offsets(len(names), ROW_GAP), strict=True))
    series = (
        estimates(
            "MPI's" if name == MPI else name,
            (
                (
                    kernels.index(kernel) + offsets[name],
                    cost,
                    f"{cost.value:.2f}{ratio_interval_suffix(cost)}",
                )
                for kernel, barrier, cost in costs
                if barrier == name
            ),
        )
        for name in names
    )
    return Figure(
        f"npb-barriers-{ranks}-{barrier_at}",
        f"A barrier after every {barrier_at}, {plural(ranks, 'rank')}",
        Axis("benchmark", "benchmark", "linear", names=tuple(kernels), row=max(1.0, 0.6 * len(names))),
        Axis("time / time without", "", "linear", include=(1.0,)),
        tuple(series),
        "Ratios with 95% intervals.",
        marks=((1.0, "without"),),
    )
