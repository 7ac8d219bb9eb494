# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A page like a real survey's, from made-up numbers with a fixed seed."""

from __future__ import annotations

import math
import random

from hockney.core.units import format_bytes, format_interval, format_seconds
from hockney.draw.figure import Axis, Figure, Series
from hockney.draw.page import Caveat, Page, Section, Table

SIZES = (0, *(1 << k for k in range(23)))
MESSAGE = Axis("message size", "B", zero=True)
TIME = Axis("one-way time", "s")


def hockney(size: float, cold: bool = False) -> float:
    """Three protocols of an imaginary MPI: short, eager, rendezvous; seconds."""
    if size <= 4096:
        time = 410e-9 + size * 0.11e-9
    elif size <= 65536:
        time = 700e-9 + size * 0.145e-9
    else:
        time = 2.9e-6 + size * 0.104e-9
    return time * (1.0 if not cold else 1.3 + 0.5 / (1 + size / 4096))


def measured(name: str, of, seed: int, group: str, xs=SIZES, rate: bool = False) -> Series:
    """Noisy medians with intervals; as a rate in B/s when `rate`."""
    noise = random.Random(seed)
    x = [v for v in xs if v or not rate]
    times = [of(v) * math.exp(noise.gauss(0, 0.012)) for v in x]
    widths = [abs(noise.gauss(0.012, 0.006)) + 0.004 for _ in x]
    ends = [(t * (1 - w), t * (1 + 1.4 * w)) for t, w in zip(times, widths, strict=True)]
    if rate:
        ends = [(v / high, v / low) for v, (low, high) in zip(x, ends, strict=True)]
    return Series(
        name,
        tuple(map(float, x)),
        tuple(v / t for v, t in zip(x, times, strict=True)) if rate else tuple(times),
        tuple(low for low, _ in ends),
        tuple(high for _, high in ends),
        group=group,
        detail=tuple(f"{3 if v < 1e6 else 2} launches, {noise.randint(40, 900)} repetitions" for v in x),
    )


def fitted(name: str, of, group: str, xs=(), rate: bool = False) -> Series:
    fine = tuple(xs) or tuple(v for v in (0.0, *(2 ** (k / 4) for k in range(89))) if v or not rate)
    y = tuple(v / of(v) if rate else of(v) for v in fine)
    return Series(
        name, fine, y, tuple(v * 0.975 for v in y), tuple(v * 1.03 for v in y), kind="line", group=group
    )


def cold(size: float) -> float:
    return hockney(size, cold=True)


def figures_point_to_point() -> tuple[Figure, ...]:
    marks = ((4096.0, "change at 4 KiB"), (65536.0, "change at 64 KiB"))
    latency = Figure(
        "latency",
        "Time of one message",
        MESSAGE,
        TIME,
        (
            measured("hot buffers", hockney, 1, "hot"),
            fitted("hot, piecewise Hockney", hockney, "hot"),
            measured("cold buffers", cold, 2, "cold"),
            fitted("cold, piecewise Hockney", cold, "cold"),
        ),
        "Medians of a ping-pong between two ranks with their 95% intervals; the band is the model's.",
        ("cold buffers above 1 MiB come from 2 launches only: their intervals may be too narrow",),
        marks,
    )
    rate = Axis("bandwidth", "B/s", "linear")
    series = []
    for group, of in (("one way", hockney), ("both ways at once", lambda v: hockney(v) * 0.62)):
        series += [
            measured(group, of, len(group), group, rate=True),
            fitted(f"{group}, model", of, group, rate=True),
        ]
    bandwidth = Figure(
        "bandwidth",
        "Bandwidth",
        Axis("message size", "B"),
        rate,
        tuple(series),
        "Payload that arrives per second; half of the peak is reached at 27 KiB.",
        (),
        ((27000.0, "n½"),),
    )
    return latency, bandwidth


def figures_collectives() -> tuple[Figure, ...]:
    ranks, result = (2, 3, 4, 5, 8, 16), []
    names = "barrier bcast gather scatter allgather alltoall reduce allreduce reduce_scatter_block scan"
    for k, name in enumerate(names.split()):

        def of(p: float, size: float = 8.0, k: int = k) -> float:
            return (0.7e-6 + 0.1e-6 * k) * math.log2(p) + (p - 1) * size * 0.12e-9 * (1 + k % 3)

        series = []
        for size in (8.0,) if name == "barrier" else (8.0, 1024.0, 65536.0):
            group = "" if name == "barrier" else format_bytes(size)
            series += [
                measured(group or "measured", lambda p, s=size: of(p, s), k * 7 + int(size), group, ranks),
                fitted(
                    f"{group} model".strip(),
                    lambda p, s=size: of(p, s),
                    group,
                    [2 * 8 ** (j / 40) for j in range(41)],
                ),
            ]
        note = (
            ("16 ranks share 2 cores: these times include waiting for a core",) if name == "alltoall" else ()
        )
        result.append(
            Figure(
                f"collective-{name}",
                f"MPI_{name.capitalize()}",
                Axis("ranks", "ranks"),
                Axis("time, slowest rank", "s"),
                tuple(series),
                f"The longest over the ranks, from a synchronised start: {name}.",
                note,
            )
        )
    return tuple(result)


def table_loggp() -> Table:
    parameters = {"L": (203e-9, 0.04), "o_s": (96e-9, 0.02), "g": (131e-9, 0.05), "G": (1.04e-10, 0.01)}
    rows = tuple(
        (
            symbol,
            format_interval(value, value * (1 - spread), value * (1 + spread), "s"),
            "prtt n=1 s=8",
            "good",
        )
        for symbol, (value, spread) in parameters.items()
    )
    columns = ("symbol", "value [95% interval]", "from", "fit")
    return Table("loggp", "LogGP by the PRTT method", columns, rows, (1,), "G is bounded below by 0.")


def warnings() -> tuple[Caveat, ...]:
    facts = (
        ("oversubscribed", "16 ranks ran on 2 cores", "measure up to 2 ranks, or on a larger machine"),
        ("load", "other programs used 0.8 of a core", "repeat when the machine is idle"),
        ("unbound", "ranks were not bound to cores", "run with --bind core"),
    )
    return tuple(
        Caveat(code, text, touches, todo)
        for touches in ("the machine", "allreduce at 16 ranks", "alltoall at 16 ranks")
        for code, text, todo in facts
    )


def sample() -> Page:
    return Page(
        title="What communication costs on ada",
        subtitle="Open MPI 5.0.8, 2 to 16 ranks on 2 cores, measured in 58 s on 2026-03-14",
        headline=(
            "Below 4 KiB a message costs 0.41 us [0.40, 0.42] whatever its size.",
            "Large messages stream at 9.6 GB/s [9.4, 9.7]; half of that is reached at 27 KiB.",
            "A barrier of 2 ranks takes 0.71 us and grows with the logarithm of the ranks.",
        ),
        warnings=warnings(),
        sections=(
            Section(
                "Point to point",
                (
                    "Two ranks on neighboring cores, one message at a time. The model is fitted to hot and "
                    "to cold buffers apart; its change points come from the data, not from the MPI's tables.",
                ),
                figures_point_to_point(),
                (table_loggp(),),
                (Caveat("outliers", "2.1% took ten times the median", "latency below 64 B", "see the tail"),),
            ),
            Section(
                "Collectives",
                ("Repetitions start at one moment of a synchronised clock with a residual error of 84 ns.",),
                figures_collectives(),
                (),
                (Caveat("window", "12 repetitions started late and were dropped", "scan", "none is needed"),),
            ),
        ),
        environment=(
            ("host", "ada"),
            ("CPU", "AMD EPYC 7B13, 2 cores of 64, 1 socket, 1 NUMA node"),
            ("MPI", "Open MPI 5.0.8 from /home/ada/.venv, chosen because nothing else was on PATH"),
        ),
        method=(
            "A case is repeated until its interval is within 2% of the median, "
            f"or its share of the budget of {format_seconds(60)} is used.",
            "Every payload is verified outside the timed region.",
        ),
    )
