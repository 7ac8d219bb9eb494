# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The answer: which collectives are slower than what a user can write, the time of a message, and the best
eager limit."""

from __future__ import annotations

from collections import Counter

from hockney.core.fit import Estimate
from hockney.core.wording import join_words, list_names, plural
from hockney.models.statistics import NOTABLE, OPEN
from hockney.pages.evidence import Evidence
from hockney.pages.format import quantity, ratio_bounds
from hockney.studies.collectives import eager_effect, send_time
from hockney.studies.collectives.buffers import mpi_name
from hockney.studies.collectives.results import CollectivePoint, CollectiveResults
from hockney.studies.needed_budget import multiple, remedy

MOST_OPERATIONS = 4
UNDECIDED = (
    f"Undecided: the interval of the ratio does not show whether the times differ by {NOTABLE - 1:.0%}."
)


def sentences(evidence: Evidence) -> tuple[str, ...]:
    run = CollectiveResults.of(evidence)
    texts = _collectives(run, run.shown_first)
    texts += [*send_time.sentences(evidence), eager_effect.sentence(evidence)]
    return tuple(text for text in texts if text) or ("Nothing was measured.",)


def _collectives(run: CollectiveResults, ranks: int) -> list[str]:
    compared = run.compared(ranks)
    if not compared:
        return []
    worst = run.worst(ranks)
    operations = dict.fromkeys(p.operation for p in compared)
    found = {p.operation for p in compared if p.verdict in ("slower", *OPEN)}
    others = [mpi_name(name) for name in operations if name not in found]
    largest = "; ".join(_slow(p) for p in list(worst.values())[:MOST_OPERATIONS])
    text = _counted(Counter(p.verdict for p in compared), ranks, len(operations))
    texts = [f"{text}. {largest}." if largest else f"{text}."]
    if len(worst) > MOST_OPERATIONS:
        texts.append(
            f"Also slower: {list_names([p.name for p in list(worst.values())[MOST_OPERATIONS:]], 9)}."
        )
    if others and worst:
        texts.append(f"Nowhere slower: {list_names(others, 9)}.")
    if any(p.verdict == "undecided" for p in compared):
        texts.append(UNDECIDED)
    if undecided := [p for p in compared if p.verdict in OPEN]:
        launches = min(p.launches for p in undecided)
        times = multiple((p.time_to_decide for p in undecided), launches)
        texts.append(remedy(times, launches, run.evidence.settings))
    return texts


def _counted(counts: Counter[str], ranks: int, operations: int) -> str:
    """How many cases have which verdict; that most are open comes first."""
    cases = plural(counts.total(), "case")
    slower = "MPI is slower than an algorithm of messages that a user can write"
    still_open = []
    if counts["undecided"]:
        still_open.append(f"{counts['undecided']} {'is' if counts['undecided'] == 1 else 'are'} undecided")
    if counts["unknown"]:
        still_open.append(f"{counts['unknown']} {'has' if counts['unknown'] == 1 else 'have'} no interval")
    decided = counts.total() - sum(counts[verdict] for verdict in OPEN)
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
    return f"{p.name} takes {factor(p.ratio)} as long as {p.best} for {size}{ratio_bounds(p.ratio)}"


def factor(ratio: Estimate) -> str:
    return f"{ratio.value:.2f} times"
