# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The headline: the fastest barrier on each number of ranks, failures, and the accuracy of the
predictions."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from hockney.core.case import MPI
from hockney.core.errors import HockneyError
from hockney.core.fit import Estimate, ExactValue
from hockney.core.wording import join_words, list_names, plural
from hockney.pages.evidence import Evidence
from hockney.pages.format import interval, quantity, ratio_interval_suffix
from hockney.pages.levels import ranks_on_nodes_text
from hockney.studies.barriers.results import (
    LEVELS,
    MESSAGES,
    BarrierResult,
    BarrierResults,
    Candidate,
    Choice,
    choose,
    choose_prediction,
    way_of,
)

CLOSE = 0.2
MAX_LAYOUTS = 3
MAX_ALIKE = 3
"""More barriers that are as fast as the best one are counted, not named."""


def sentences(evidence: Evidence, results: Sequence[BarrierResult]) -> tuple[str, ...]:
    counts = layouts(results)
    layouts_shown = list(dict.fromkeys((counts[0], *counts[-MAX_LAYOUTS + 1 :]))) if counts else []
    texts = [_best(evidence, *layout) for layout in layouts_shown]
    texts.append(_long(evidence, results))
    texts += [_failed(evidence), *(_predicted(results, *layout) for layout in layouts_shown)]
    return tuple(sentence for sentence in texts if sentence) or ("Nothing was measured.",)


def layouts(results: Sequence[BarrierResult]) -> list[tuple[int, int]]:
    """Several ranks, and the nodes over which they are spread."""
    return sorted({(each.ranks, each.nodes) for each in results if each.ranks > 1})


def _on(ranks: int, nodes: int) -> str:
    """The beginning of a sentence: "On 8 ranks", "With 8 ranks on 2 nodes"."""
    return f"{'With' if nodes else 'On'} {ranks_on_nodes_text(ranks, nodes)}"


def _best(evidence: Evidence, ranks: int, nodes: int) -> str:
    try:
        return chosen(choose(evidence, ranks, nodes))
    except HockneyError:
        return ""  # a single barrier is no choice


def chosen(choice: Choice) -> str:
    """A sentence: "On 2 ranks shm_dissemination is the fastest barrier and takes 120 ns a call (95%:
    ...)"."""
    best, mpi = choice.best, choice.of(MPI)
    first = best.algorithm if choice.alike else f"{best.algorithm} is the fastest barrier and"
    text = f"{_on(choice.ranks, choice.nodes)} {first} takes {quantity(best.seconds, 's')} a call"
    if not choice.measured:
        text += f" (not measured: {_basis(choice)})"
    elif best.time.low is None:
        text += " (no interval)"
    elif not isinstance(best.time, ExactValue):
        text += f" (95%: {interval(best.time, 's')})"
    if choice.alike:
        are = "are" if len(choice.alike) > 1 else "is"
        alike = join_words(choice.alike) if len(choice.alike) <= MAX_ALIKE else list_names(list(choice.alike))
        text += f"; {alike} {are} not significantly different"
    elif (second := choice.next) is not None and second is not mpi:
        text += f"; {second.algorithm}, the next, takes {_compared(choice, second)}"
    if mpi is not None and mpi is not best and MPI not in choice.alike:
        text += f"; MPI_Barrier takes {_compared(choice, mpi)}"
    if choice.unknown:
        text += f"; there is no result for {list_names(list(choice.unknown), 10)}"
    return text + "."


def _compared(choice: Choice, other: Candidate) -> str:
    """Says so if two measured times vary and their ratio has no interval."""
    text = times_as_long(other.ratio)
    exact = isinstance(choice.best.time, ExactValue)
    return text if not choice.measured or exact or other.ratio.low is not None else f"{text} (no interval)"


def times_as_long(ratio: Estimate) -> str:
    """ "5.13 times as long (95%: 4.60 to 5.72)"."""
    return f"{ratio.value:.2f} times as long{'' if ratio.low is None else ratio_interval_suffix(ratio)}"


def _basis(choice: Choice) -> str:
    best = choice.best
    words = {
        "structure": "predicted from message costs with LogGP",
        "messages": "predicted from its number of messages, one at a time",
        LEVELS: "predicted from its cost on one node and message costs between nodes",
    }.get(best.by, "predicted from its fitted cost over ranks")
    high = best.time.high
    return words if high is None else f"{words}, typically off by {high / best.seconds - 1:.0%}"


def _long(evidence: Evidence, results: Sequence[BarrierResult]) -> str:
    run = BarrierResults.of(evidence)
    survived = {each.algorithm for each in results if each.ranks > 1 and each.loop is not None}
    survived -= {str(case["algorithm"]) for case, _ in run.failures if way_of(case) == "loop"}
    if run.iterations < 2 or not survived:
        return ""
    return f"{plural(len(survived), 'barrier')} completed {run.iterations} calls back to back."


def _failed(evidence: Evidence) -> str:
    names = dict.fromkeys(str(case["algorithm"]) for case, _ in BarrierResults.of(evidence).failures)
    if not names:
        return ""
    return f"No result in some cases of {list_names(list(names), 10)}; a table shows what happened."


def _predicted(results: Sequence[BarrierResult], ranks: int, nodes: int) -> str:
    """The accuracy of the prediction that fits the run better."""
    form = choose_prediction(results)[0]
    here = [each for each in results if (each.ranks, each.nodes) == (ranks, nodes)]
    errors = _errors(here, form)
    if not errors:
        return ""
    close = sum(e <= CLOSE for e in errors)
    words = ", one at a time" if form == MESSAGES else ""
    return (
        f"{_on(ranks, nodes)}, from the cost of messages between two ranks{words}, {close} of "
        f"{len(errors)} barriers made of messages are predicted within {CLOSE:.0%} (typical error "
        f"{typical_error(here, form):.0%})."
    )


def typical_error(results: Sequence[BarrierResult], form: str) -> float:
    """The median relative error of the prediction `form`; nan if there is none."""
    errors = _errors(results, form)
    return median(errors) if errors else float("nan")


def _errors(results: Sequence[BarrierResult], form: str) -> list[float]:
    signed = (each.error(each.predicted(form)) for each in results)
    return [abs(error) for error in signed if error is not None]
