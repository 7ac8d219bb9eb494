# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The answer in sentences: the time lost, noisier cores, periodic detours, and the cost on many ranks."""

from __future__ import annotations

from collections.abc import Iterator

from hockney.core.wording import list_names, plural
from hockney.models.noise.costs import NoiseCost
from hockney.pages.format import (
    format_bounds,
    interval_suffix,
    precise_share,
    precise_share_interval,
    quantity,
    with_interval,
)
from hockney.studies.noise.results import GRAIN_S, MANY_RANKS, CoreResult, NoiseResults

MAX_NAMES = 5


def headline(run: NoiseResults) -> tuple[str, ...]:
    if not run.cores:
        return ("Nothing was measured.",)
    return tuple(_sentences(run))


def _sentences(run: NoiseResults) -> Iterator[str]:
    if not any(result.core.share.value for result in run.cores):
        count = len(run.cores)
        yield f"{f'None of {count} cores' if count > 1 else 'The core never'} loses time to noise."
        return
    noisiest = run.cores[0]
    share = noisiest.core.share
    lost = f"{precise_share(share.value)}{interval_suffix(share, precise_share_interval(share))}"
    if len(run.cores) == 1:
        yield f"The core {noisiest.core.name} loses {lost} of its time to noise."
    else:
        yield (
            f"The {len(run.cores)} cores lose {precise_share(run.typical_share)} of their time to noise "
            f"(median); {noisiest.core.name} loses the most, {lost}."
        )
        yield _comparison_sentence(run)
    yield _period_sentence(run)
    yield from (_cost_sentence(c) for c in run.costs if (c.ranks, c.grain_s) == (MANY_RANKS, GRAIN_S))


def _comparison_sentence(run: NoiseResults) -> str:
    detectable = run.detectable_excess
    if detectable is None:
        return "The cores could not be compared: that takes three observations of each."
    if run.noisy:
        names = list_names([_excess_text(result) for result in run.noisy[:MAX_NAMES]])
        more = f", and {len(run.noisy) - MAX_NAMES} more" if len(run.noisy) > MAX_NAMES else ""
        return f"Noisier than the other cores, by these fractions of the time: {names}{more}."
    return (
        f"No core is noisier than the others; an excess of {precise_share(detectable)} would be named in 95% "
        "of such runs."
    )


def _excess_text(result: CoreResult) -> str:
    assert result.excess is not None
    return f"{result.core.name} ({precise_share(result.excess.excess)})"


def _period_sentence(run: NoiseResults) -> str:
    """The strongest steady component; the table has the others."""
    steady = {r.core.name: [c for c in r.components if c.is_steady] for r in run.cores}
    periodic = {name: found for name, found in steady.items() if found}
    if not periodic:
        unsteady = any(result.components for result in run.cores)
        return "No detours recur periodically" + (" in almost every launch." if unsteady else ".")
    strongest = max(periodic, key=lambda name: periodic[name][0].share)
    component = max(periodic[strongest], key=lambda c: c.share)
    where = f"On {strongest}" if len(run.cores) > 1 else "On it"
    others = len(periodic) - 1
    also = f" Detours are periodic on {plural(others, 'other core')} too." if others else ""
    return (
        f"{where}, detours recur at {component.frequency_hz:.4g} Hz and take "
        f"{precise_share(component.share)} of the time.{also}"
    )


def _cost_sentence(cost: NoiseCost) -> str:
    return (
        f"With this noise on {cost.ranks} ranks, a barrier takes {with_interval(cost.barrier_s, 's')} "
        f"instead of {quantity(cost.quiet_barrier_s, 's')}, and a program that computes for "
        f"{quantity(cost.grain_s, 's')} between barriers takes {cost.slowdown.value:.3f}"
        f"{interval_suffix(cost.slowdown, format_bounds(cost.slowdown, '{:.3f}'.format))} times as long."
    )
