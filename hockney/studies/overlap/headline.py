# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The answer in sentences: whether nonblocking communication pays, for which sizes, how often to test, and
the effect of the progress thread."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median

from hockney.core.units import format_number
from hockney.core.wording import join_words, plural
from hockney.models.significance import UNDECIDED_VERDICTS
from hockney.pages.format import quantity, ratio_interval_suffix
from hockney.studies.needed_budget import budget_multiple, remedy
from hockney.studies.overlap.columns import call_name, plural_name, tests_text
from hockney.studies.overlap.results import (
    MESSAGE_OPERATION,
    PAYS_VERDICT,
    BestTests,
    OverlapPoint,
    OverlapResults,
)
from hockney.studies.progress import OWN_PROGRESS


def _singular_name(operation: str) -> str:
    return f"a {operation}" if operation == MESSAGE_OPERATION else call_name(operation)


def _consecutive_sizes(sizes: Sequence[int], measured: Sequence[int]) -> list[tuple[int, int]]:
    """Ranges of sizes that are consecutive among all measured ones, as first and last size."""
    ranges: list[tuple[int, int]] = []
    last = -2
    for index, size in enumerate(sorted(measured)):
        if size in sizes:
            ranges = [*ranges[:-1], (ranges[-1][0], size)] if index == last + 1 else [*ranges, (size, size)]
            last = index
    return ranges


def sizes_text(sizes: Sequence[int], measured: Sequence[int]) -> str:
    """The text, such as "8 B and 64 KiB to 4 MiB", with ranges of consecutive measured sizes."""
    return join_words(
        f"{quantity(first, 'B')}" + (f" to {quantity(last, 'B')}" if last > first else "")
        for first, last in _consecutive_sizes(sizes, measured)
    )


MIN_REPORTED_SLOWDOWN = 1.05
"""Smaller slowdowns of the computation are not mentioned."""


def headline(run: OverlapResults) -> tuple[str, ...]:
    if not run.points:
        return ("Nothing was measured.",)
    texts = [
        verdict_sentence(run),
        _gain_sentence(run),
        _slowdown_sentence(run),
        _thread_sentence(run),
        _remedy_sentence(run),
    ]
    return tuple(text for text in texts if text)


def verdict_sentence(run: OverlapResults) -> str:
    """Whether nonblocking communication pays, for which operations and sizes, and how often to test."""
    start = f"On {plural(run.default_ranks, 'rank')}, starting communication before computing"
    best_by_operation = {
        name: best_tests for name in run.operations if (best_tests := run.best(name, run.default_ranks))
    }
    paying_sizes, undecided_sizes = (
        _sizes_by_operation(best_by_operation, PAYS_VERDICT),
        _sizes_by_operation(best_by_operation, *UNDECIDED_VERDICTS),
    )
    undecided_text = f"undecided for {_operations_text(undecided_sizes)}" if undecided_sizes else ""
    if len(undecided_sizes) > 1 and all(
        entry.verdict in (PAYS_VERDICT, *UNDECIDED_VERDICTS)
        for best_tests in best_by_operation.values()
        for entry in best_tests
    ):
        undecided_text = "undecided for the others"
    if paying_sizes:
        counts = sorted(
            {
                entry.best.tests
                for best_tests in best_by_operation.values()
                for entry in best_tests
                if entry.verdict == PAYS_VERDICT
            }
        )
        text = f"{start} pays for {_operations_text(paying_sizes)}, with {_calls_text(counts)} of MPI_Test"
        return f"{text}; {undecided_text}." if undecided_text else f"{text}."
    if all(
        entry.verdict in UNDECIDED_VERDICTS
        for best_tests in best_by_operation.values()
        for entry in best_tests
    ):
        return (
            f"It is undecided whether, on {plural(run.default_ranks, 'rank')}, starting communication "
            "early pays."
        )
    text = (
        f"{start} does not pay for "
        f"{_operations_text(_sizes_by_operation(best_by_operation, 'alike', 'slower'))}"
    )
    return f"{text}; {undecided_text}." if undecided_text else f"{text}."


def _sizes_by_operation(
    best_by_operation: Mapping[str, Sequence[BestTests]], *verdicts: str
) -> dict[str, str]:
    """The sizes with these `verdicts`, by operation, such as "64 KiB to 4 MiB", or "" for an operation
    without sizes."""
    texts = {}
    for name, best_tests in best_by_operation.items():
        sizes = [entry.size for entry in best_tests if entry.verdict in verdicts]
        if sizes:
            has_sizes = best_tests[0].best.measured.has_size
            texts[name] = sizes_text(sizes, [entry.size for entry in best_tests]) if has_sizes else ""
    return texts


def _operations_text(sizes: Mapping[str, str]) -> str:
    """The text, such as "messages and MPI_Ibcast of 64 KiB to 4 MiB, MPI_Iallreduce of 8 B"."""
    names_by_text = {
        text: [plural_name(name) for name in sizes if sizes[name] == text] for text in sizes.values()
    }
    texts = [f"{join_words(names)}{f' of {text}' if text else ''}" for text, names in names_by_text.items()]
    return ", ".join(texts[:-1]) + (f", and {texts[-1]}" if len(texts) > 1 else texts[-1])


def _calls_text(counts: Sequence[int]) -> str:
    if len(counts) == 1:
        return plural(counts[0], "call") if counts[0] else "no calls"
    return f"{counts[0]} to {counts[-1]} calls"


def _gain_sentence(run: OverlapResults) -> str:
    """The largest gain, what is hidden there, and how much without tests."""
    paying = [
        entry
        for entry in run.all_best_tests
        if entry.best.ranks == run.default_ranks and entry.verdict == PAYS_VERDICT
    ]
    if not paying:
        return ""
    largest_gain = min(paying, key=lambda entry: entry.best.ratio.value)
    best_point = largest_gain.best
    case_text = _singular_name(best_point.operation) + (
        f" of {quantity(best_point.size, 'B')}" if best_point.size else ""
    )
    ratio_text = (
        f"{best_point.ratio.value:.2f}{ratio_interval_suffix(best_point.ratio)} times as long as one "
        "after the other"
    )
    text = (
        f"At best ({case_text}), both at once take {ratio_text}: {tests_text(best_point)} hide "
        f"{_percent_text(best_point.hidden)}"
    )
    points_without_thread = [p for p in largest_gain.points if p.progress == OWN_PROGRESS]
    least_tested = min(points_without_thread, key=lambda p: p.tests, default=best_point)
    if least_tested.tests < best_point.tests:
        text += f", {tests_text(least_tested)} {_percent_text(least_tested.hidden)}"
    return f"{text}."


def _slowdown_sentence(run: OverlapResults) -> str:
    """A sentence on the largest slowdown of computation whose interval is above 1."""
    slowdowns = [
        (point, slowdown)
        for point in _default_points(run)
        if (slowdown := run.times(point).slowdown) is not None
    ]
    significant = [
        (point, s)
        for point, s in slowdowns
        if s.value >= MIN_REPORTED_SLOWDOWN and s.low is not None and s.low > 1
    ]
    if not significant:
        return ""
    point, slowdown = max(significant, key=lambda pair: pair[1].value)
    size_text = f", {quantity(point.size, 'B')}" if point.size else ""
    return (
        f"Meanwhile, computing takes up to {slowdown.value:.2f}{ratio_interval_suffix(slowdown)} times as "
        "long "
        f"({call_name(point.operation)}{size_text}, {tests_text(point)})."
    )


def _thread_sentence(run: OverlapResults) -> str:
    """The effect of the progress thread: on the communication by itself, and whether it pays."""
    point_pairs = [(point, plain) for point, plain in run.thread_pairs if point.ranks == run.default_ranks]
    if not point_pairs:
        return ""
    pure_ratio = median(run.times(point).pure_ratio(run.times(plain)).value for point, plain in point_pairs)
    paying_points = [point for point, _ in point_pairs if point.pays]
    effect = "pays nowhere"
    if paying_points:
        names = join_words(dict.fromkeys(plural_name(point.operation) for point in paying_points))
        effect = f"pays in {len(paying_points)} of {plural(len(point_pairs), 'case')} ({names})"
    computing_ratio = median(
        run.times(point).step_ratio(run.times(plain)).value for point, plain in point_pairs
    )
    times_text = f"takes {_factor_text(pure_ratio)} as long and computing {_factor_text(computing_ratio)}"
    return (
        f"With MPI's progress thread, communication by itself {times_text} (medians), and starting "
        "communication "
        f"early {effect}."
    )


def _percent_text(share: float | None) -> str:
    return "unknown" if share is None else f"{share:.0%}"


def _factor_text(factor: float) -> str:
    """The text, such as "1.05 times" or "1900 times"."""
    return f"{factor:.2f} times" if factor < 10 else f"{format_number(factor, 2)} times"


def _remedy_sentence(run: OverlapResults) -> str:
    times = run.times_to_decide()
    if not times:
        return ""
    return remedy(budget_multiple(times, run.launches), run.launches, run.evidence.settings)


def _default_points(run: OverlapResults) -> list[OverlapPoint]:
    return [
        point for point in run.points if point.ranks == run.default_ranks and point.progress == OWN_PROGRESS
    ]
