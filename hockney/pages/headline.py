# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The answer as text: a few sentences, each with the number it is based on."""

from __future__ import annotations

from hockney.core.case import MPI, WRITTEN
from hockney.core.catalog import PING_PONG
from hockney.core.wording import join_words, plural
from hockney.pages import loggp, undisturbed
from hockney.pages.evidence import Evidence
from hockney.pages.format import bandwidth, quantity, with_interval
from hockney.pages.levels import prefixed, ranks_on, where, where_measured
from hockney.pages.levels.compared import ping_pongs
from hockney.pages.message_fit import fitted


def sentences(evidence: Evidence) -> tuple[str, ...]:
    levels = evidence.levels
    candidates = [
        *_short(evidence),
        *(prefixed(_long(level), _where(level)) for level in levels),
        *(prefixed(_written(level), _where(level)) for level in levels),
        *(prefixed(_overhead(level), _where(level)) for level in levels),
        *_together(evidence),
    ]
    texts = tuple(sentence for sentence in candidates if sentence)
    return texts or ("Nothing was measured.",)


def _where(level: Evidence) -> str:
    sweep = ping_pongs(level)
    return where_measured(sweep[0], level) if sweep else where(level)


def _short(evidence: Evidence) -> list[str]:
    """The smallest message at each level, in one sentence if its size is the same."""
    by_size: dict[float, list[str]] = {}
    for level in evidence.levels:
        if sweep := ping_pongs(level):
            cost = " ".join(filter(None, (undisturbed.cost(sweep[0].summary), _where(level))))
            by_size.setdefault(sweep[0].size, []).append(cost)
    return [
        f"A message of {quantity(size, 'B')} costs {join_words(costs)}." for size, costs in by_size.items()
    ]


def _long(evidence: Evidence) -> str:
    sweep = [m for m in ping_pongs(evidence) if m.summary.bytes_moved]
    if len(sweep) < 2:
        return ""
    peak, largest = max(sweep, key=lambda m: bandwidth(m).value), sweep[-1]
    best, at = with_interval(bandwidth(peak), "B/s"), quantity(peak.size, "B")
    parts = [f"One message at a time moves at most {best}, at {at}", _half_peak(evidence)]
    if largest is not peak:
        last = with_interval(bandwidth(largest), "B/s")
        parts.append(f"one of {quantity(largest.size, 'B')} moves at {last}")
    return "; ".join(filter(None, parts)) + "."


def _half_peak(evidence: Evidence) -> str:
    """The n_half_peak of the fit: the same number as in the tables."""
    fit = fitted(evidence)
    half = None if fit is None else fit.parameter("n_half_peak")
    if fit is None or half is None:
        return ""
    judged = f"the {fit.verdict} fit" if fit.verdict == "poor" else "the fit"
    least = with_interval(half.estimate, "B")
    return f"from {least} up to the peak, it moves at least half of that, by {judged}"


def _written(evidence: Evidence) -> str:
    """The message that takes longest if it was just written, relative to one in hot buffers."""
    hot = {m.size: m for m in ping_pongs(evidence)}
    slower: dict[float, str] = {}
    for m in evidence.of(evidence.catalog.workload_name(*PING_PONG), buffers=WRITTEN):
        if m.size not in hot:
            continue
        one, other = m.summary.typical, hot[m.size].summary.typical
        if one.low is not None and other.high is not None and one.low > other.high:
            slower[one.value / other.value] = (
                f"One of {quantity(m.size, 'B')} that was just written takes {undisturbed.cost(m.summary)}, "
                f"in hot buffers {undisturbed.cost(hot[m.size].summary)}."
            )
    return slower[max(slower)] if slower else ""


def _overhead(evidence: Evidence) -> str:
    for fit in (f for f in evidence.fits.fits if f.model == loggp.MODEL):
        busy, gap = fit.parameter("o_s"), fit.parameter("g")
        trusted = fit.verdict in ("good", "fair") and not loggp.contradictions(fit)
        if trusted and busy is not None and gap is not None:
            follow = f"a new message can follow every {with_interval(gap.estimate, 's')}."
            if busy.estimate.low == 0 < busy.estimate.value and busy.estimate.high is not None:
                most = quantity(busy.estimate.high, "s")
                return f"Sending keeps a processor busy for at most {most} (95%); {follow}"
            if busy.estimate.value > 0:
                return f"Sending keeps a processor busy for {with_interval(busy.estimate, 's')}; {follow}"
            return follow.capitalize()  # below the resolution, not zero
    return ""


def _together(evidence: Evidence) -> list[str]:
    """The cost of a barrier and of an allreduce in sentences, with the most ranks and the most on one
    node."""
    texts = []
    for operation, size, words in (
        ("barrier", 0, "A barrier"),
        ("allreduce", 8, "An allreduce of one double"),
    ):
        most = {
            m.case.nodes: m  # the last one has the most ranks
            for m in evidence.of_role("barrier", "collective", sync="barrier")
            if m.workload.operation == operation and m.size == size and m.case.get("algorithm", MPI) == MPI
        }
        if list(most) == [0]:
            (m,) = most.values()
            texts.append(f"{words} on {plural(m.case.ranks, 'rank')} takes {undisturbed.cost(m.summary)}.")
        elif most:
            shown = [m for nodes, m in sorted(most.items()) if nodes in (1, max(most))]
            costs = [f"{undisturbed.cost(m.summary)} with {ranks_on(m.case)}" for m in shown]
            texts.append(f"{words} takes {join_words(costs)}.")
    return texts
