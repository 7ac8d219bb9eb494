# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The answer: which collectives are slower than what a user can write, the time of a message, and the best
eager limit."""

from __future__ import annotations

from hockney.core.fit import Estimate, ExactValue
from hockney.core.wording import listing, plural
from hockney.pages.evidence import Evidence
from hockney.pages.format import quantity
from hockney.studies.collectives import eager_effect, send_time
from hockney.studies.collectives.buffers import mpi_name
from hockney.studies.collectives.results import CollectivePoint, CollectiveResults

MOST_OPERATIONS = 4


def sentences(evidence: Evidence) -> tuple[str, ...]:
    run = CollectiveResults.of(evidence)
    texts = _collectives(run, run.shown_first)
    texts += [send_time.sentence(evidence), eager_effect.sentence(evidence)]
    return tuple(text for text in texts if text) or ("Nothing was measured.",)


def _collectives(run: CollectiveResults, ranks: int) -> list[str]:
    compared = [p for p in run.of_ranks(ranks) if p.ratio is not None]
    if not compared:
        return []
    worst = run.worst(ranks)
    operations = dict.fromkeys(p.operation for p in compared)
    others = [mpi_name(name) for name in operations if name not in worst]
    unknown = [p for p in compared if p.verdict == "unknown"]
    slower = sum(p.verdict == "slower" for p in compared)
    known = plural(len(compared) - len(unknown), "case")
    texts = [
        f"{plural(ranks, 'rank')}: MPI is slower than an algorithm of messages that a user can write in "
        f"{slower or 'none'} of {known} ({plural(len(operations), 'operation')})"
        + (": " + "; ".join(_slow(p) for p in list(worst.values())[:MOST_OPERATIONS]) if worst else "")
        + "."
    ]
    if len(worst) > MOST_OPERATIONS:
        texts.append(f"Also slower: {listing([p.name for p in list(worst.values())[MOST_OPERATIONS:]], 9)}.")
    if others and worst:
        texts.append(f"Nowhere found slower: {listing(others, 9)}.")
    if unknown:
        texts.append(f"{plural(len(unknown), 'more case has', 'more cases have')} no interval of the ratio.")
    return texts


def _slow(p: CollectivePoint) -> str:
    """ "MPI_Scan takes 1.8 times as long as linear for 64 KiB (95%: 1.7 to 1.9)"."""
    assert p.ratio is not None
    size = quantity(p.buffer, "B") if p.block else "empty blocks"
    return f"{p.name} takes {factor(p.ratio)} as long as {p.best} for {size}{in_words(p.ratio)}"


def factor(ratio: Estimate) -> str:
    return f"{ratio.value:.2f} times"


def in_words(ratio: Estimate) -> str:
    """ " (95%: 1.70 to 1.90)"; empty for an exact ratio."""
    if isinstance(ratio, ExactValue):
        return ""
    if ratio.low is None or ratio.high is None:
        return " (no interval)"
    return f" (95%: {ratio.low:.2f} to {ratio.high:.2f})"
