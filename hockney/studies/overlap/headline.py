# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The answer in sentences: whether nonblocking communication pays, for which sizes, how often to test, and
what the progress thread changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median

from hockney.core.units import format_number
from hockney.core.wording import join_words, plural
from hockney.models.significance import UNDECIDED_VERDICTS
from hockney.pages.format import quantity, ratio_interval_suffix
from hockney.studies.needed_budget import multiple, remedy
from hockney.studies.overlap.columns import call_name, plural_name, tests_text
from hockney.studies.overlap.results import MESSAGE, PAYS, BestTests, OverlapPoint, OverlapResults
from hockney.studies.progress import OWN


def _singular_name(operation: str) -> str:
    return f"a {operation}" if operation == MESSAGE else call_name(operation)


def _consecutive_sizes(sizes: Sequence[int], measured: Sequence[int]) -> list[tuple[int, int]]:
    """Sizes that follow each other among all measured ones, as first and last."""
    ranges: list[tuple[int, int]] = []
    last = -2
    for place, size in enumerate(sorted(measured)):
        if size in sizes:
            ranges = [*ranges[:-1], (ranges[-1][0], size)] if place == last + 1 else [*ranges, (size, size)]
            last = place
    return ranges


def sizes_text(sizes: Sequence[int], measured: Sequence[int]) -> str:
    """ "8 B and 64 KiB to 4 MiB", of consecutive measured sizes."""
    return join_words(
        f"{quantity(first, 'B')}" + (f" to {quantity(last, 'B')}" if last > first else "")
        for first, last in _consecutive_sizes(sizes, measured)
    )


SLOWED = 1.05
"""A smaller slowdown of the computation is not mentioned."""


def headline(run: OverlapResults) -> tuple[str, ...]:
    if not run.points:
        return ("Nothing was measured.",)
    texts = [verdict(run), _gain(run), _slowed(run), _thread(run), _undecided(run)]
    return tuple(text for text in texts if text)


def verdict(run: OverlapResults) -> str:
    """Whether nonblocking communication pays, for which operations and sizes, and how often to test."""
    start = f"On {plural(run.shown, 'rank')}, starting communication before computing"
    bests = {name: best for name in run.operations if (best := run.best(name, run.shown))}
    paying, still_open = _sizes(bests, PAYS), _sizes(bests, *UNDECIDED_VERDICTS)
    undecided = f"undecided for {_listed(still_open)}" if still_open else ""
    if len(still_open) > 1 and all(
        each.verdict in (PAYS, *UNDECIDED_VERDICTS) for best in bests.values() for each in best
    ):
        undecided = "undecided for the others"
    if paying:
        counts = sorted({each.best.tests for best in bests.values() for each in best if each.verdict == PAYS})
        text = f"{start} pays for {_listed(paying)}, with {_calls(counts)} of MPI_Test"
        return f"{text}; {undecided}." if undecided else f"{text}."
    if all(each.verdict in UNDECIDED_VERDICTS for best in bests.values() for each in best):
        return f"It is undecided whether, on {plural(run.shown, 'rank')}, starting communication early pays."
    text = f"{start} does not pay for {_listed(_sizes(bests, 'alike', 'slower'))}"
    return f"{text}; {undecided}." if undecided else f"{text}."


def _sizes(bests: Mapping[str, Sequence[BestTests]], *verdicts: str) -> dict[str, str]:
    """The sizes with these `verdicts`, by operation: "64 KiB to 4 MiB", or "" for an operation without
    sizes."""
    texts = {}
    for name, best in bests.items():
        sizes = [each.size for each in best if each.verdict in verdicts]
        if sizes:
            sized = best[0].best.measured.has_size
            texts[name] = sizes_text(sizes, [each.size for each in best]) if sized else ""
    return texts


def _listed(sizes: Mapping[str, str]) -> str:
    """ "messages and MPI_Ibcast of 64 KiB to 4 MiB, MPI_Iallreduce of 8 B"."""
    alike = {text: [plural_name(name) for name in sizes if sizes[name] == text] for text in sizes.values()}
    texts = [f"{join_words(names)}{f' of {text}' if text else ''}" for text, names in alike.items()]
    return ", ".join(texts[:-1]) + (f", and {texts[-1]}" if len(texts) > 1 else texts[-1])


def _calls(counts: Sequence[int]) -> str:
    if len(counts) == 1:
        return plural(counts[0], "call") if counts[0] else "no calls"
    return f"{counts[0]} to {counts[-1]} calls"


def _gain(run: OverlapResults) -> str:
    """The largest gain, what is hidden there, and how much without a test."""
    best = [each for each in run.every_best if each.best.ranks == run.shown and each.verdict == PAYS]
    if not best:
        return ""
    most = min(best, key=lambda each: each.best.ratio.value)
    top = most.best
    at = _singular_name(top.operation) + (f" of {quantity(top.size, 'B')}" if top.size else "")
    takes = f"{top.ratio.value:.2f}{ratio_interval_suffix(top.ratio)} times as long as one after the other"
    text = f"At best ({at}), both at once take {takes}: {tests_text(top)} hide {_whole(top.hidden)}"
    own = [p for p in most.points if p.progress == OWN]
    fewest = min(own, key=lambda p: p.tests, default=top)
    if fewest.tests < top.tests:
        text += f", {tests_text(fewest)} {_whole(fewest.hidden)}"
    return f"{text}."


def _slowed(run: OverlapResults) -> str:
    """The largest slowdown of computing whose interval is above 1, as a sentence."""
    slowdowns = [(p, slowdown) for p in _here(run) if (slowdown := run.times(p).slowdown) is not None]
    worst = [(p, s) for p, s in slowdowns if s.value >= SLOWED and s.low is not None and s.low > 1]
    if not worst:
        return ""
    p, slowdown = max(worst, key=lambda pair: pair[1].value)
    at = f", {quantity(p.size, 'B')}" if p.size else ""
    return (
        f"Meanwhile, computing takes up to {slowdown.value:.2f}{ratio_interval_suffix(slowdown)} times as "
        "long "
        f"({call_name(p.operation)}{at}, {tests_text(p)})."
    )


def _thread(run: OverlapResults) -> str:
    """What the progress thread changes: the communication by itself, and whether it pays."""
    pairs = [(p, plain) for p, plain in run.threads if p.ranks == run.shown]
    if not pairs:
        return ""
    typical = median(run.times(p).pure_ratio(run.times(plain)).value for p, plain in pairs)
    paying = [p for p, _ in pairs if p.pays]
    pays = "pays nowhere"
    if paying:
        names = join_words(dict.fromkeys(plural_name(p.operation) for p in paying))
        pays = f"pays in {len(paying)} of {plural(len(pairs), 'case')} ({names})"
    slower = median(run.times(p).step_ratio(run.times(plain)).value for p, plain in pairs)
    longer = f"takes {_times(typical)} as long and computing {_times(slower)}"
    return (
        f"With MPI's progress thread, communication by itself {longer} (medians), and starting communication "
        f"early {pays}."
    )


def _whole(share: float | None) -> str:
    return "unknown" if share is None else f"{share:.0%}"


def _times(factor: float) -> str:
    """ "1.05 times", "1900 times"."""
    return f"{factor:.2f} times" if factor < 10 else f"{format_number(factor, 2)} times"


def _undecided(run: OverlapResults) -> str:
    needed = run.times_to_decide()
    if not needed:
        return ""
    return remedy(multiple(needed, run.launches), run.launches, run.evidence.settings)


def _here(run: OverlapResults) -> list[OverlapPoint]:
    return [p for p in run.points if p.ranks == run.shown and p.progress == OWN]
