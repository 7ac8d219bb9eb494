# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The answer: the collectives that are slower than what a user can write, the time of a message, and the best
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
from hockney.studies.collectives.columns import MICROSECONDS_PER_SECOND, line_text, piece_formula
from hockney.studies.collectives.results import (
    MESSAGE_FORMULA,
    CollectivePoint,
    CollectiveResults,
    EagerEffect,
    is_t3e,
    mpi_name,
)
from hockney.studies.needed_budget import budget_multiple, remedy

MAX_OPERATIONS = 4
UNDECIDED_SENTENCE = (
    f"Undecided: the interval of the ratio does not show whether the times differ by {NOTABLE - 1:.0%}."
)


def sentences(evidence: Evidence) -> tuple[str, ...]:
    run = CollectiveResults.of(evidence)
    texts = _collective_sentences(run, run.default_ranks)
    texts += [*send_time_sentences(evidence), eager_sentence(evidence)]
    return tuple(text for text in texts if text) or ("Nothing was measured.",)


def _collective_sentences(run: CollectiveResults, ranks: int) -> list[str]:
    points = run.compared_points(ranks)
    if not points:
        return []
    worst = run.slowest_points(ranks)
    operations = dict.fromkeys(point.operation for point in points)
    exceptions = {point.operation for point in points if point.verdict in ("slower", *UNDECIDED_VERDICTS)}
    never_slower = [mpi_name(name) for name in operations if name not in exceptions]
    largest_text = "; ".join(_slow_operation_text(point) for point in list(worst.values())[:MAX_OPERATIONS])
    text = _count_sentence(Counter(point.verdict for point in points), ranks, len(operations))
    texts = [f"{text}. {largest_text}." if largest_text else f"{text}."]
    if len(worst) > MAX_OPERATIONS:
        texts.append(
            f"Also slower: {list_names([point.name for point in list(worst.values())[MAX_OPERATIONS:]], 9)}."
        )
    if never_slower and worst:
        texts.append(f"Nowhere slower: {list_names(never_slower, 9)}.")
    if any(point.verdict == "undecided" for point in points):
        texts.append(UNDECIDED_SENTENCE)
    if undecided_points := [point for point in points if point.verdict in UNDECIDED_VERDICTS]:
        launches = min(point.launches for point in undecided_points)
        times = budget_multiple((point.time_to_decide for point in undecided_points), launches)
        texts.append(remedy(times, launches, run.evidence.settings))
    return texts


def _count_sentence(counts: Counter[str], ranks: int, operations: int) -> str:
    """The number of cases with each verdict. If most are undecided, this comes first."""
    cases = plural(counts.total(), "case")
    slower = "MPI is slower than an algorithm of messages that a user can write"
    open_texts = []
    if counts["undecided"]:
        open_texts.append(f"{counts['undecided']} {'is' if counts['undecided'] == 1 else 'are'} undecided")
    if counts["unknown"]:
        open_texts.append(f"{counts['unknown']} {'has' if counts['unknown'] == 1 else 'have'} no interval")
    decided_count = counts.total() - sum(counts[verdict] for verdict in UNDECIDED_VERDICTS)
    if decided_count < counts.total() / 2:
        decided_text = f"only {decided_count}" if decided_count else "none"
        ending = f"; {slower} in {counts['slower'] or 'none'} of them" if decided_count else ""
        return (
            f"{plural(ranks, 'rank')}: {decided_text} of {cases} ({plural(operations, 'operation')}) "
            f"{'is' if decided_count <= 1 else 'are'} decided, {join_words(open_texts)}{ending}"
        )
    return "; ".join(
        [
            f"{plural(ranks, 'rank')}: {slower} in {counts['slower'] or 'none'} of {cases} "
            f"({plural(operations, 'operation')})",
            *open_texts,
        ]
    )


def _slow_operation_text(point: CollectivePoint) -> str:
    """The text, such as "MPI_Scan takes 1.8 times as long as linear for 64 KiB (95%: 1.7 to 1.9)"."""
    assert point.ratio is not None
    size = quantity(point.buffer, "B") if point.block else "empty blocks"
    return (
        f"{point.name} takes {factor_text(point.ratio)} as long as {point.best} for "
        f"{size}{ratio_interval_suffix(point.ratio)}"
    )


def factor_text(ratio: Estimate) -> str:
    return f"{ratio.value:.2f} times"


def eager_sentence(evidence: Evidence) -> str:
    effect = EagerEffect.of(evidence)
    if not effect.limits:
        return ""
    best = effect.best
    sizes = sorted({size for each in effect.limits for size in each.by_size})
    size_range = f"{quantity(sizes[0], 'B')} to {quantity(sizes[-1], 'B')}"
    if best is None:
        gains = [(size, each) for each in effect.limits for size in effect.sizes_with_verdict(each, "faster")]
        if not gains:
            result = f"none of those tried is significantly better than MPI's own, {size_range}"
            return f"Eager limit: {result}{_undecided_limits(effect)}."
        size, each = min(gains, key=lambda gain: gain[1].by_size[gain[0]].value)
        limit, percentage = quantity(each.limit, "B"), _percentage_text(each.by_size[size])
        return (
            f"Eager limit: with {limit}, a message of {quantity(size, 'B')} takes {percentage} of the "
            "time with "
            f"MPI's own limit, but none of those tried is better on average over {size_range}"
            f"{_undecided_limits(effect)}."
        )
    text = (
        f"Eager limit: {quantity(best.limit, 'B')} is best here, {_percentage_text(best.mean)} of the "
        "time "
        f"with MPI's own over {size_range}"
    )
    faster_sizes = _size_range(effect.sizes_with_verdict(best, "faster"), sizes)
    slower_sizes = _size_range(effect.sizes_with_verdict(best, "slower"), sizes)
    if faster_sizes:
        text += f"; it is faster for messages of {faster_sizes}"
    if slower_sizes:
        text += f", slower for {slower_sizes}"
    return text + "."


def _undecided_limits(effect: EagerEffect) -> str:
    """The text "; 2 of 4 limits are undecided", on average over the sizes."""
    count = sum(effect.verdict(limit) in UNDECIDED_VERDICTS for limit in effect.limits)
    verb = verb_form(count, "is", "are")
    return f"; {count} of {plural(len(effect.limits), 'limit')} {verb} undecided" if count else ""


def _percentage_text(value: Estimate) -> str:
    bounds = "" if value.low is None or value.high is None else f" (95%: {value.low:.0%} to {value.high:.0%})"
    return f"{value.value:.0%}{bounds}"


def _size_range(sizes: list[int], all_sizes: list[int]) -> str:
    """The text "4 KiB to 16 KiB" for consecutive sizes, otherwise a list of sizes."""
    if not sizes:
        return ""
    first_index = all_sizes.index(sizes[0])
    if len(sizes) > 1 and all_sizes[first_index : first_index + len(sizes)] == sizes:
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
    pieces = [
        f"{piece_formula(piece)}{_segment_range(fit, index)}" for index, piece in enumerate(fit.segments)
    ]
    quality = ", by a poor fit" if fit.verdict == "poor" else ""
    text = f"A message of x bytes takes t us{quality}: t = {', '.join(pieces)}"
    if not is_t3e(evidence.machine):
        return f"{text}."
    printed = [
        line_text(
            MICROSECONDS_PER_SECOND * segment.constant_s, 1 / segment.per_byte_s / MICROSECONDS_PER_SECOND
        )
        for segment in MESSAGE_FORMULA.segments
    ]
    limit = quantity(MESSAGE_FORMULA.segments[1].first - 1, "B")
    return f"{text} (T3E, 1998: {printed[0]} below {limit}, {printed[1]} above)."


def _segment_range(fit: Fit, index: int) -> str:
    piece = fit.segments[index]
    if len(fit.segments) == 1:
        return ""
    if piece.beyond is not None:
        return f" below {quantity(piece.beyond, 'B')}"
    return f" from {quantity(piece.first, 'B')}"
