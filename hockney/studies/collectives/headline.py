# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The answer: which collectives are slower than what a user can write, the time of a message, and the best
eager limit."""

from __future__ import annotations

from collections import Counter

from hockney.core.fit import Estimate, Fit
from hockney.core.wording import join_words, list_names, plural, verb_form
from hockney.models.statistics import NOTABLE, UNDECIDED_VERDICTS
from hockney.pages.evidence import Evidence
from hockney.pages.format import quantity, ratio_interval_suffix
from hockney.pages.levels import evidence_level_phrase, with_level_prefix
from hockney.pages.series import message_fit
from hockney.studies.collectives.columns import MICRO, formula, line_text
from hockney.studies.collectives.results import (
    FORMULA,
    CollectivePoint,
    CollectiveResults,
    EagerEffect,
    is_t3e,
    mpi_name,
)
from hockney.studies.needed_budget import multiple, remedy

MAX_OPERATIONS = 4
UNDECIDED = (
    f"Undecided: the interval of the ratio does not show whether the times differ by {NOTABLE - 1:.0%}."
)


def sentences(evidence: Evidence) -> tuple[str, ...]:
    run = CollectiveResults.of(evidence)
    texts = _collectives(run, run.shown_first)
    texts += [*send_time_sentences(evidence), eager_sentence(evidence)]
    return tuple(text for text in texts if text) or ("Nothing was measured.",)


def _collectives(run: CollectiveResults, ranks: int) -> list[str]:
    points = run.compared(ranks)
    if not points:
        return []
    worst = run.worst(ranks)
    operations = dict.fromkeys(p.operation for p in points)
    exceptions = {p.operation for p in points if p.verdict in ("slower", *UNDECIDED_VERDICTS)}
    others = [mpi_name(name) for name in operations if name not in exceptions]
    largest = "; ".join(_slow(p) for p in list(worst.values())[:MAX_OPERATIONS])
    text = _counted(Counter(p.verdict for p in points), ranks, len(operations))
    texts = [f"{text}. {largest}." if largest else f"{text}."]
    if len(worst) > MAX_OPERATIONS:
        texts.append(
            f"Also slower: {list_names([p.name for p in list(worst.values())[MAX_OPERATIONS:]], 9)}."
        )
    if others and worst:
        texts.append(f"Nowhere slower: {list_names(others, 9)}.")
    if any(p.verdict == "undecided" for p in points):
        texts.append(UNDECIDED)
    if undecided := [p for p in points if p.verdict in UNDECIDED_VERDICTS]:
        launches = min(p.launches for p in undecided)
        times = multiple((p.time_to_decide for p in undecided), launches)
        texts.append(remedy(times, launches, run.evidence.settings))
    return texts


def _counted(counts: Counter[str], ranks: int, operations: int) -> str:
    """The number of cases with each verdict; if most are undecided, that comes first."""
    cases = plural(counts.total(), "case")
    slower = "MPI is slower than an algorithm of messages that a user can write"
    still_open = []
    if counts["undecided"]:
        still_open.append(f"{counts['undecided']} {'is' if counts['undecided'] == 1 else 'are'} undecided")
    if counts["unknown"]:
        still_open.append(f"{counts['unknown']} {'has' if counts['unknown'] == 1 else 'have'} no interval")
    decided = counts.total() - sum(counts[verdict] for verdict in UNDECIDED_VERDICTS)
    if decided < counts.total() / 2:
        few = f"only {decided}" if decided else "none"
        ending = f"; {slower} in {counts['slower'] or 'none'} of them" if decided else ""
        return (
            f"{plural(ranks, 'rank')}: {few} of {cases} ({plural(operations, 'operation')}) "
            f"{'is' if decided <= 1 else 'are'} decided, {join_words(still_open)}{ending}"
        )
    return "; ".join(
        [
            f"{plural(ranks, 'rank')}: {slower} in {counts['slower'] or 'none'} of {cases} "
            f"({plural(operations, 'operation')})",
            *still_open,
        ]
    )


def _slow(p: CollectivePoint) -> str:
    """ "MPI_Scan takes 1.8 times as long as linear for 64 KiB (95%: 1.7 to 1.9)"."""
    assert p.ratio is not None
    size = quantity(p.buffer, "B") if p.block else "empty blocks"
    return f"{p.name} takes {factor(p.ratio)} as long as {p.best} for {size}{ratio_interval_suffix(p.ratio)}"


def factor(ratio: Estimate) -> str:
    return f"{ratio.value:.2f} times"


def eager_sentence(evidence: Evidence) -> str:
    effect = EagerEffect.of(evidence)
    if not effect.limits:
        return ""
    best = effect.best
    sizes = sorted({size for each in effect.limits for size in each.by_size})
    span = f"{quantity(sizes[0], 'B')} to {quantity(sizes[-1], 'B')}"
    if best is None:
        gains = [(size, each) for each in effect.limits for size in effect.sizes(each, "faster")]
        if not gains:
            better = f"none of those tried is significantly better than MPI's own, {span}"
            return f"Eager limit: {better}{_undecided_limits(effect)}."
        size, each = min(gains, key=lambda gain: gain[1].by_size[gain[0]].value)
        limit, share = quantity(each.limit, "B"), _share_text(each.by_size[size])
        return (
            f"Eager limit: with {limit}, a message of {quantity(size, 'B')} takes {share} of the time with "
            f"MPI's own limit, but none of those tried is better on average over {span}"
            f"{_undecided_limits(effect)}."
        )
    text = (
        f"Eager limit: {quantity(best.limit, 'B')} is best here, {_share_text(best.over_all)} of the time "
        f"with MPI's own over {span}"
    )
    gained = _size_range(effect.sizes(best, "faster"), sizes)
    lost = _size_range(effect.sizes(best, "slower"), sizes)
    if gained:
        text += f"; it is faster for messages of {gained}"
    if lost:
        text += f", slower for {lost}"
    return text + "."


def _undecided_limits(effect: EagerEffect) -> str:
    """ "; 2 of 4 limits are undecided", on average over the sizes."""
    count = sum(effect.verdict(each) in UNDECIDED_VERDICTS for each in effect.limits)
    verb = verb_form(count, "is", "are")
    return f"; {count} of {plural(len(effect.limits), 'limit')} {verb} undecided" if count else ""


def _share_text(value: Estimate) -> str:
    bounds = "" if value.low is None or value.high is None else f" (95%: {value.low:.0%} to {value.high:.0%})"
    return f"{value.value:.0%}{bounds}"


def _size_range(sizes: list[int], all_sizes: list[int]) -> str:
    """ "4 KiB to 16 KiB" if they are next to each other among all, otherwise each."""
    if not sizes:
        return ""
    first = all_sizes.index(sizes[0])
    if len(sizes) > 1 and all_sizes[first : first + len(sizes)] == sizes:
        return f"{quantity(sizes[0], 'B')} to {quantity(sizes[-1], 'B')}"
    return join_words([quantity(size, "B") for size in sizes])


def send_time_sentences(evidence: Evidence) -> list[str]:
    """A sentence for each level at which messages were measured."""
    return [
        with_level_prefix(text, evidence_level_phrase(level))
        for level in evidence.levels
        if (text := send_time_sentence(level))
    ]


def send_time_sentence(evidence: Evidence) -> str:
    fit = message_fit(evidence)
    if fit is None or not fit.segments:
        return ""
    pieces = [f"{formula(piece)}{_segment_range(fit, k)}" for k, piece in enumerate(fit.segments)]
    poor = ", by a poor fit" if fit.verdict == "poor" else ""
    text = f"A message of x bytes takes t us{poor}: t = {', '.join(pieces)}"
    if not is_t3e(evidence.machine):
        return f"{text}."
    printed = [line_text(MICRO * p.constant_s, 1 / p.per_byte_s / MICRO) for p in FORMULA.segments]
    limit = quantity(FORMULA.segments[1].first - 1, "B")
    return f"{text} (T3E, 1998: {printed[0]} below {limit}, {printed[1]} above)."


def _segment_range(fit: Fit, k: int) -> str:
    piece = fit.segments[k]
    if len(fit.segments) == 1:
        return ""
    if piece.beyond is not None:
        return f" below {quantity(piece.beyond, 'B')}"
    return f" from {quantity(piece.first, 'B')}"
