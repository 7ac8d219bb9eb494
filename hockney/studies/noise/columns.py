# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The tables, and the answer for programs (`--json`): cores, periodic detours, and costs on many ranks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hockney.draw.page import Table
from hockney.models.noise.costs import NoiseCost
from hockney.models.noise.noisy_cores import NOTABLE
from hockney.models.noise.spectrum import Component
from hockney.pages.columns import (
    COUNT_FORMAT,
    INTERVAL_HEADING,
    SECONDS_FORMAT,
    TEXT_FORMAT,
    Column,
    Format,
    columns_document,
    columns_table,
    point_value,
    unit_format,
)
from hockney.pages.evidence import Evidence
from hockney.pages.format import format_bounds, precise_share, precise_share_interval
from hockney.studies.noise.results import CoreResult, NoiseResults

EXCESS_FORMAT = Format(lambda value: f"{100 * value:+.3f}%")
SHARE_FORMAT = Format(lambda value: precise_share(point_value(value)), interval=precise_share_interval)
SLOWDOWN_FORMAT = Format(
    lambda value: f"{point_value(value):.3f}", interval=lambda value: format_bounds(value, "{:.3f}".format)
)
RATE_FORMAT = Format(lambda value: f"{value:.3g}")
STEADY_FORMAT = Format(lambda is_steady: "yes" if is_steady else "no")
HERTZ_FORMAT = Format(lambda value: f"{value:.4g} Hz")
MAX_TERMINAL_CORES = 16

CORE_COLUMNS: tuple[Column[CoreResult], ...] = (
    Column("core", lambda r: r.core.name, key="core"),
    Column("lost", lambda r: r.core.share, SHARE_FORMAT, "lost_share", INTERVAL_HEADING),
    Column("by time quanta", lambda r: r.share_by_time, SHARE_FORMAT, "lost_share_by_time_quanta"),
    Column("detours (1/s)", lambda r: r.core.rate, RATE_FORMAT, "detours_per_s"),
    Column("median", lambda r: r.length_quantile(0.5), SECONDS_FORMAT, "median_detour_s"),
    Column("99%", lambda r: r.length_quantile(0.99), SECONDS_FORMAT, "p99_detour_s"),
    Column("longest", lambda r: r.length_quantile(1.0), SECONDS_FORMAT, "longest_detour_s"),
    Column("excess", lambda r: r.excess and r.excess.excess, EXCESS_FORMAT, "excess_share"),
    Column("", lambda r: r.excess and r.excess.p_value, key="p_value"),
    Column("", lambda r: r.excess and r.excess.detectable, key="detectable_excess_share"),
    Column("", lambda r: r.is_noisy, key="noisy"),
    Column("verdict", lambda r: _verdict_text(r), TEXT_FORMAT),
    Column("", lambda r: r.core.observed_s, key="observed_s"),
)

COST_COLUMNS: tuple[Column[NoiseCost], ...] = (
    Column("ranks", lambda c: c.ranks, COUNT_FORMAT, "ranks"),
    Column("quiet barrier", lambda c: c.quiet_barrier_s, SECONDS_FORMAT, "quiet_barrier_s"),
    Column("with noise", lambda c: c.barrier_s, SECONDS_FORMAT, "barrier_s", INTERVAL_HEADING),
    Column("grain", lambda c: c.grain_s, SECONDS_FORMAT, "grain_s"),
    Column("step / quiet step", lambda c: c.slowdown, SLOWDOWN_FORMAT, "slowdown", INTERVAL_HEADING),
)


@dataclass(frozen=True)
class CoreComponent:
    """A periodic component on a core."""

    core: str
    component: Component


COMPONENT_COLUMNS: tuple[Column[CoreComponent], ...] = (
    Column("core", lambda c: c.core, key="core"),
    Column("frequency", lambda c: c.component.frequency_hz, HERTZ_FORMAT, "frequency_hz"),
    Column("takes", lambda c: c.component.share, SHARE_FORMAT, "share"),
    Column("power", lambda c: c.component.power, unit_format("times"), "power"),
    Column("steady", lambda c: c.component.is_steady, STEADY_FORMAT, "is_steady"),
)


def _verdict_text(result: CoreResult) -> str:
    if result.excess is None:
        return "not compared"
    return "noisier" if result.is_noisy else "like the others"


def core_components(run: NoiseResults) -> tuple[CoreComponent, ...]:
    return tuple(CoreComponent(r.core.name, component) for r in run.cores for component in r.components)


def cores_table(run: NoiseResults, max_rows: int | None = None) -> Table:
    """A row for each core, noisiest first."""
    rows = run.cores[:max_rows]
    rest = len(run.cores) - len(rows)
    caption = (
        "Lost: fraction of the time in detours. Excess: beyond the median of the other cores, in points of "
        f"the time; named if it is notably more than {precise_share(NOTABLE)}, with a false "
        "discovery rate of 5%."
    )
    return columns_table(
        "noise-cores",
        "Noise of cores",
        CORE_COLUMNS,
        rows,
        f"{caption} {rest} more cores." if rest else caption,
    )


def components_table(run: NoiseResults) -> Table | None:
    """A row for each frequency of each core."""
    rows = core_components(run)
    caption = (
        "Frequencies whose multiples are left out. Power: relative to random detours. Steady: in almost "
        "every launch; others may be the time slices of a program that competes for the core for a while."
    )
    table = columns_table("noise-periods", "Periodic detours", COMPONENT_COLUMNS, rows, caption)
    return table if rows else None


def costs_table(run: NoiseResults) -> Table | None:
    """A row for each number of ranks and grain."""
    caption = (
        "Predicted for ranks on cores like the observed ones. A step of a program computes for the grain, "
        "then enters a barrier."
    )
    table = columns_table("noise-costs", "Cost on many ranks", COST_COLUMNS, run.costs, caption)
    return table if run.costs else None


def summary(evidence: Evidence) -> Sequence[Table]:
    """The tables on a terminal."""
    run = NoiseResults.of(evidence)
    if not run.cores:
        return ()
    tables = (cores_table(run, MAX_TERMINAL_CORES), components_table(run), costs_table(run))
    return tuple(table for table in tables if table is not None)


def answer(evidence: Evidence) -> dict[str, Any]:
    """The cores (noisiest first) with the share of the time that they lose, those named as noisier than the
    others, periodic detours, and the costs on many ranks. Values have 95% intervals; null if unknown."""
    run = NoiseResults.of(evidence)
    return {
        "noisy": [result.core.name for result in run.noisy],
        "detectable_excess_share": run.detectable_excess,
        "latency_s": run.latency,
        "cores": columns_document(CORE_COLUMNS, run.cores),
        "periodic": columns_document(COMPONENT_COLUMNS, core_components(run)),
        "costs": columns_document(COST_COLUMNS, run.costs),
    }
