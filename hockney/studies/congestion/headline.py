# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The answer in sentences: which operations are slower next to which load, by how much, and what the run
would have found."""

from __future__ import annotations

from collections.abc import Iterator

from hockney.core.fit import Estimate
from hockney.core.wording import join_words, plural
from hockney.pages.format import quantity, ratio_interval_suffix
from hockney.studies.congestion.columns import CONGESTOR_NAMES, QUANTILE_NAMES, VICTIM_NAMES
from hockney.studies.congestion.results import (
    MEDIAN,
    P99,
    P999,
    CongestionPoint,
    CongestionResults,
    QuantileComparison,
)
from hockney.studies.needed_budget import budget_multiple, remedy

MAX_SENTENCES = 3
"""Slowed operations with a sentence each; the table contains the others."""


def headline(run: CongestionResults) -> tuple[str, ...]:
    if not run.points:
        return ("Nothing was measured.",)
    return tuple(text for text in _sentences(run) if text)


def _sentences(run: CongestionResults) -> Iterator[str]:
    for point in run.slowed[:MAX_SENTENCES]:
        yield slowed_sentence(point)
    if remaining := len(run.slowed) - MAX_SENTENCES:
        yield (
            f"Also slower: {plural(remaining, 'other pair')} of operation and load." if remaining > 0 else ""
        )
    yield _tails_sentence(run)
    yield _clean_sentence(run)
    yield _undecided_sentence(run)
    yield _power_sentence(run)
    yield _unsupported_sentence(run)
    if run.is_on_one_node:
        yield "All ranks are on one node, so they contend for its cores and memory, not for a network."
    if times := run.times_to_decide():
        yield remedy(budget_multiple(times, run.launches), run.launches, run.evidence.settings)


def operation_text(point: CongestionPoint) -> str:
    """Such as "allreduce of 8 B"."""
    return f"{VICTIM_NAMES[point.victim]} of {quantity(point.size, 'B')}"


def pair_text(point: CongestionPoint) -> str:
    """Such as "allreduce of 8 B next to incast", also the name of a row in a figure."""
    return f"{operation_text(point)} next to {CONGESTOR_NAMES[point.congestor]}"


def slowed_sentence(point: CongestionPoint) -> str:
    """The ratio of the medians, and those of the tails that the repetitions support."""
    median = point.at(MEDIAN).ratio
    tails = [
        f"{_ratio_text(entry.ratio)} at {QUANTILE_NAMES[entry.quantile]}"
        for entry in (point.at(P99), point.at(P999))
        if entry.is_supported
    ]
    return (
        f"Next to {CONGESTOR_NAMES[point.congestor]}, {operation_text(point)} takes {_ratio_text(median)} "
        f"times as long as without load at the median{''.join(f', {tail}' for tail in tails)}."
    )


def _tails_sentence(run: CongestionResults) -> str:
    by_pair: dict[str, QuantileComparison] = {}
    for point, entry in run.slowed_tails:
        by_pair.setdefault(pair_text(point), entry)
    texts = [
        f"{text} ({_ratio_text(entry.ratio)} times as long at {QUANTILE_NAMES[entry.quantile]})"
        for text, entry in list(by_pair.items())[:MAX_SENTENCES]
    ]
    return f"Only the slowest repetitions are slower: {join_words(texts)}." if texts else ""


def _clean_sentence(run: CongestionResults) -> str:
    """A sentence on the operations whose median does not depend on the load."""
    alike = [point for point in run.points if point.at(MEDIAN).verdict in ("alike", "faster")]
    if not alike:
        return ""
    if len(alike) == len(run.points):
        return (
            f"No load makes an operation slower: {plural(len(alike), 'pair')} of operation and load, medians."
        )
    return f"No effect on the median: {join_words(map(pair_text, alike))}."


def _undecided_sentence(run: CongestionResults) -> str:
    undecided = [point for point in run.points if point.at(MEDIAN).verdict in ("undecided", "unknown")]
    if not undecided:
        return ""
    names = f"{len(undecided)} of {len(run.points)} pairs" if len(undecided) > MAX_SENTENCES else ""
    return f"Undecided at the median: {names or join_words(map(pair_text, undecided))}."


def _power_sentence(run: CongestionResults) -> str:
    """The smallest ratios that the run would have found; none for simulated times, which are exact."""
    if run.evidence.machine.is_exact:
        return ""
    texts = [
        f"{value:.2f} at {_quantile_text(quantile)}"
        for quantile in QUANTILE_NAMES
        if (value := run.smallest_detectable(quantile)) is not None
    ]
    return f"This run finds ratios from {join_words(texts)} on, with a probability of 95%." if texts else ""


def _unsupported_sentence(run: CongestionResults) -> str:
    """A sentence on quantiles for which a launch has too few repetitions."""
    if run.evidence.machine.is_exact:
        return ""
    missing = {
        quantile: [entry for entry in run.comparisons(quantile) if not entry.is_supported]
        for quantile in (MEDIAN, P99, P999)
    }
    texts = [
        f"{_quantile_text(quantile)} for {len(entries)} of {len(run.points)} "
        f"(at least {min(e.repetitions for e in entries)} of {entries[0].needed_repetitions})"
        for quantile, entries in missing.items()
        if entries
    ]
    return f"Too few repetitions in a launch for {join_words(texts)}." if texts else ""


def _quantile_text(quantile: float) -> str:
    return "the median" if quantile == MEDIAN else QUANTILE_NAMES[quantile]


def _ratio_text(ratio: Estimate | None) -> str:
    return "" if ratio is None else f"{ratio.value:.2f}{ratio_interval_suffix(ratio)}"
