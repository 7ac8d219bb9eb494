# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The paper's figures 6 to 9: the speed of matrix multiplication, the relative error of bitonic sort, and the
times of sample sort and of shortest paths, measured and predicted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from hockney.core.wording import plural
from hockney.draw.figure import Axis, Figure, Series
from hockney.suites.bsp.models.costs import fully_repaired_model
from hockney.suites.bsp.studies.bsp_kernels.results import KernelPoint, KernelResults

ERROR_CAPTION = "Relative error: (predicted - measured) / measured."
FigureValue = Callable[[KernelPoint, float], float]
"""The value to draw for a point that takes these seconds."""


def figures(run: KernelResults) -> Iterator[Figure]:
    figure_makers = {
        "matrix multiplication": _matrix_figure,
        "bitonic sort": _bitonic_figure,
        "sample sort": _sample_figure,
        "shortest paths": _paths_figure,
    }
    for kernel in run.kernels:
        if kernel in figure_makers:
            yield figure_makers[kernel](run.of_kernel(kernel))


def error_figure(run: KernelResults) -> Figure | None:
    """Draws the relative errors of all cases, plain and repaired, in a row for each kernel and style."""
    rows = list(dict.fromkeys(f"{p.kernel}, {p.variant}" for p in run.points if p.plain_error is not None))
    if not rows:
        return None
    series = []
    error_getters: dict[str, Callable[[KernelPoint], float | None]] = {
        "plain": lambda p: p.plain_error,
        "repaired": lambda p: p.repaired_error,
    }
    for name, error_getter in error_getters.items():
        known_points = [(p, error) for p in run.points if (error := error_getter(p)) is not None]
        series.append(
            Series(
                name,
                tuple(float(rows.index(f"{p.kernel}, {p.variant}")) for p, _ in known_points),
                tuple(error for _, error in known_points),
                detail=tuple(f"{p.size} on {plural(p.ranks, 'rank')}" for p, _ in known_points),
                hollow=name == "plain",
            )
        )
    return Figure(
        "kernel-errors",
        "Errors of predicted times",
        Axis("kernel", "kernel", "linear", names=tuple(rows)),
        Axis("relative error", "%", "linear", include=(0.0,)),
        tuple(series),
        f"{ERROR_CAPTION} Plain: BSP or BPRAM. Repaired: without the assumptions that the paper found wrong.",
    )


def _matrix_figure(points: Sequence[KernelPoint]) -> Figure:
    def speed(p: KernelPoint, seconds: float) -> float:
        return 2 * p.size**3 / p.ranks / seconds / 1e6

    axes = Axis("n", ""), Axis("Mflop/s of a rank", "Mflop/s")
    return _figure("kernel-matrix", "Matrix multiplication", *axes, points, speed)


def _bitonic_figure(points: Sequence[KernelPoint]) -> Figure:
    """Draws the error of the plain model, as in the paper, and of the repaired one."""
    series = []
    for name, curve_points in _curves(points).items():
        for kind, errors in (
            ("plain", [p.plain_error for p in curve_points]),
            ("repaired", [p.repaired_error for p in curve_points]),
        ):
            known_points = [
                (p.size, value) for p, value in zip(curve_points, errors, strict=True) if value is not None
            ]
            x, y = zip(*known_points, strict=True) if known_points else ((), ())
            title = f"{name}, {kind}"
            series.append(Series(title, tuple(map(float, x)), y, group=name, hollow=kind == "plain"))
    return Figure(
        "kernel-bitonic",
        "Bitonic sort: relative error of the predicted time",
        Axis("keys of a rank", "keys"),
        Axis("relative error", "%", "linear", include=(0.0,)),
        tuple(curve for curve in series if curve.x),
        ERROR_CAPTION,
    )


def _sample_figure(points: Sequence[KernelPoint]) -> Figure:
    def seconds_per_key(p: KernelPoint, seconds: float) -> float:
        return seconds / p.size

    axes = Axis("keys of a rank", "keys"), Axis("time for each key of a rank", "s")
    return _figure("kernel-sample", "Sample sort", *axes, points, seconds_per_key)


def _paths_figure(points: Sequence[KernelPoint]) -> Figure:
    axes = Axis("nodes", "nodes"), Axis("time", "s")
    return _figure("kernel-paths", "Shortest paths", *axes, points, lambda p, seconds: seconds)


def _figure(
    name: str, title: str, x: Axis, y: Axis, points: Sequence[KernelPoint], value_of: FigureValue
) -> Figure:
    """Draws points as measured, and lines of the plain and the repaired model."""
    series = []
    for curve, curve_points in _curves(points).items():
        sizes = tuple(float(p.size) for p in curve_points)
        series.append(Series(curve, sizes, tuple(value_of(p, p.seconds) for p in curve_points), group=curve))
        for model in (curve_points[0].base, fully_repaired_model(curve_points[0].base).name):
            known_points = [(p, time) for p in curve_points if (time := p.time(model)) is not None]
            series.append(
                Series(
                    f"{curve}, {model}",
                    tuple(float(p.size) for p, _ in known_points),
                    tuple(value_of(p, time) for p, time in known_points),
                    kind="line",
                    group=curve,
                )
            )
    caption = "Points: measured. Lines: predicted by the plain and by the repaired model."
    return Figure(name, title, x, y, tuple(s for s in series if s.x), caption)


def _curves(points: Sequence[KernelPoint]) -> dict[str, list[KernelPoint]]:
    """Returns the points by style and number of ranks, in ascending size."""
    curves: dict[str, list[KernelPoint]] = {}
    for p in sorted(points, key=lambda p: p.size):
        curves.setdefault(f"{p.variant}, {plural(p.ranks, 'rank')}", []).append(p)
    return curves
