# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A machine's costs from the fits of a run: relations, permutations, synchronisations, local rates, and
messages between two ranks."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

from hockney.core.case import Case, parse_canonical
from hockney.core.catalog import PING_PONG
from hockney.core.fit import Estimate, Fit, Fits
from hockney.models.measured_costs import End
from hockney.suites.bsp.fits.bsp import PACKET, PERMUTATION, RELATION, ROLE, SYNCHRONISATION
from hockney.suites.bsp.models.costs import NotMeasured
from hockney.suites.bsp.models.parameters import Bpram, Bsp, BulkCosts, LocalRate, LocalRates
from hockney.suites.bsp.models.superstep import WORD

LOCAL = "local"
"""The role of workloads that measure local rates."""
OPERATIONS = "operations"
"""Their metric: operations of one repetition."""


def machine_costs(fits: Fits, ranks: int, rates: LocalRates | None = None, end: End = "value") -> BulkCosts:
    """What a run shows of its machine at `ranks` ranks: the values, or one `end` of the interval of each.
    Other `rates` of local work replace the measured ones. Rates without this end take nan seconds; raises
    NotMeasured if a parameter has none."""
    alone = _message(fits, end)
    return BulkCosts(
        ranks=ranks,
        bsp=_bsp(fits, ranks, alone, end),
        bpram=_bpram(fits, ranks, alone, end),
        rates=_rates(fits, ranks, end) if rates is None else rates,
    )


def rank_counts(fits: Fits) -> tuple[int, ...]:
    """The rank counts at which parameters were fitted."""
    found = {fit.subject["ranks"] for model in ("bsp", "bpram") for fit in fits.of_role(model, ROLE)}
    return tuple(sorted(int(ranks) for ranks in found))


def relation_fit(fits: Fits, ranks: int, method: str = "put", packet: int = WORD) -> Fit | None:
    """g and L for packets of one size, by one method."""
    return _usable(fits.of_role("bsp", ROLE, RELATION), ranks=ranks, method=method, **{PACKET: packet})


def permutation_fit(fits: Fits, ranks: int) -> Fit | None:
    """sigma and l."""
    return _usable(fits.of_role("bpram", ROLE, PERMUTATION), ranks=ranks)


def superstep_fit(fits: Fits, ranks: int, method: str = "put") -> Fit | None:
    """L, o and G for packets of any size."""
    return _usable(fits.of_role("superstep", ROLE, RELATION), ranks=ranks, method=method)


def value(fit: Fit, symbol: str, end: End = "value") -> float:
    """Raises NotMeasured if this end of the parameter's interval is unknown."""
    parameter = fit.parameter(symbol)
    assert parameter is not None, f"a {fit.model} has {symbol}"
    return _at(parameter.estimate, end)


def _at(estimate: Estimate, end: End) -> float:
    found = getattr(estimate, end)
    if found is None:
        raise NotMeasured("an interval")
    return found


def _usable(fits: Iterable[Fit], **fixed: int | str) -> Fit | None:
    return next((fit for fit in fits if fit.verdict != "refused" and fit.subject.has(**fixed)), None)


def _bsp(fits: Fits, ranks: int, alone: tuple[float, float] | None, end: End) -> Bsp | None:
    """A full relation has p - 1 messages out and in: its L beyond an empty superstep's time is theirs."""
    line, empty = _line(fits, ranks, end), _empty(fits, ranks, end)
    if line is None:
        return None
    whole, packet, per_byte = line
    known = Bsp(whole, packet, per_byte, empty)
    if empty is not None:
        known = replace(known, startup=max(0.0, whole - empty) / (2 * max(1, ranks - 1)))
    pair, empty = _line(fits, 2, end), _empty(fits, 2, end)
    if pair is not None and empty is not None:
        known = replace(known, single_startup=max(0.0, pair[0] - empty), single_per_byte=pair[2])
        if alone is not None:
            known = replace(known, startup_alone=min(known.single_startup or 0.0, alone[0]))
    return known if alone is None else replace(known, per_byte_alone=alone[1])


def _line(fits: Fits, ranks: int, end: End) -> tuple[float, float, float] | None:
    """L, o and G; if only words were measured, all of g belongs to their bytes."""
    fit, words = superstep_fit(fits, ranks), relation_fit(fits, ranks)
    if fit is not None:
        return value(fit, "L", end), value(fit, "o", end), value(fit, "G", end)
    return None if words is None else (value(words, "L", end), 0.0, value(words, "g", end) / WORD)


def _bpram(fits: Fits, ranks: int, alone: tuple[float, float] | None, end: End) -> Bpram | None:
    fit = permutation_fit(fits, ranks)
    if fit is None:
        return None
    sigma, startup = value(fit, "sigma", end), value(fit, "l", end)
    if alone is None:
        return Bpram(sigma, startup)
    return Bpram(sigma, startup, min(sigma, alone[1]), min(startup, alone[0]))


def _empty(fits: Fits, ranks: int, end: End) -> float | None:
    names = {w.name for w in fits.workloads if w.performs(ROLE, SYNCHRONISATION)}
    return next((_at(time, end) for case, time in _costs(fits, names) if case.ranks == ranks), None)


def _message(fits: Fits, end: End) -> tuple[float, float] | None:
    """Startup and seconds for each byte of a message between two ranks of which one sends, if it is known."""
    fit = _usable(fits.of_role("hockney", *PING_PONG), ranks=2, buffers="hot")
    if fit is None or fit.parameter("r_inf") is None:
        return None
    slow_and_fast: dict[End, End] = {"value": "value", "low": "high", "high": "low"}
    return value(fit, "t_0", end), 1 / value(fit, "r_inf", slow_and_fast[end])


def _rates(fits: Fits, ranks: int, end: End) -> LocalRates:
    found: dict[str, list[LocalRate]] = {}
    workloads = {w.name: w for w in fits.workloads if w.role == LOCAL}
    for summary in fits.summaries:
        workload = workloads.get(summary.case.split(" ", 1)[0])
        counted = summary.metrics.get(OPERATIONS)
        if workload is None or counted is None or counted.typical.value <= 0:
            continue
        case = parse_canonical(summary.case)
        if case.ranks == ranks:
            seconds = getattr(summary.cost(fits.cost), end)
            found.setdefault(workload.operation, []).append(
                LocalRate(case.values, counted.typical.value, math.nan if seconds is None else seconds)
            )
    return LocalRates({operation: tuple(rates) for operation, rates in found.items()})


def _costs(fits: Fits, workloads: set[str]) -> Iterable[tuple[Case, Estimate]]:
    for summary in fits.summaries:
        if summary.case.split(" ", 1)[0] in workloads:
            yield parse_canonical(summary.case), summary.cost(fits.cost)
