# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The headline: the fastest barrier on each number of ranks, failures, and the accuracy of predictions."""

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
    LEVELS_BASIS,
    MESSAGES,
    BarrierResult,
    BarrierResults,
    Candidate,
    Choice,
    choose,
    choose_prediction,
    entry_mode,
)

CLOSE_ERROR = 0.2
MAX_LAYOUTS = 3
MAX_EQUAL_NAMES = 3
"""If more barriers are as fast as the best one, they are counted instead of named."""


def sentences(evidence: Evidence, results: Sequence[BarrierResult]) -> tuple[str, ...]:
    counts = measured_layouts(results)
    layouts_shown = list(dict.fromkeys((counts[0], *counts[-MAX_LAYOUTS + 1 :]))) if counts else []
    texts = [_best_barrier_sentence(evidence, *layout) for layout in layouts_shown]
    texts.append(_completion_sentence(evidence, results))
    texts += [
        _failure_sentence(evidence),
        *(_accuracy_sentence(results, *layout) for layout in layouts_shown),
    ]
    return tuple(sentence for sentence in texts if sentence) or ("Nothing was measured.",)


def measured_layouts(results: Sequence[BarrierResult]) -> list[tuple[int, int]]:
    """The numbers of ranks above 1, each with the number of nodes."""
    return sorted({(each.ranks, each.nodes) for each in results if each.ranks > 1})


def _layout_phrase(ranks: int, nodes: int) -> str:
    """The beginning of a sentence: "On 8 ranks", "With 8 ranks on 2 nodes"."""
    return f"{'With' if nodes else 'On'} {ranks_on_nodes_text(ranks, nodes)}"


def _best_barrier_sentence(evidence: Evidence, ranks: int, nodes: int) -> str:
    try:
        return choice_sentence(choose(evidence, ranks, nodes))
    except HockneyError:
        return ""  # a single barrier is no choice


def choice_sentence(choice: Choice) -> str:
    """The sentence, such as "On 2 ranks shm_dissemination is the fastest barrier and takes 120 ns a call
    (95%: ...)"."""
    best, mpi = choice.best, choice.candidate(MPI)
    subject = best.algorithm if choice.equally_fast else f"{best.algorithm} is the fastest barrier and"
    sentence = (
        f"{_layout_phrase(choice.ranks, choice.nodes)} {subject} takes {quantity(best.seconds, 's')} a call"
    )
    if not choice.is_measured:
        sentence += f" (not measured: {_prediction_basis(choice)})"
    elif best.time.low is None:
        sentence += " (no interval)"
    elif not isinstance(best.time, ExactValue):
        sentence += f" (95%: {interval(best.time, 's')})"
    if choice.equally_fast:
        verb = "are" if len(choice.equally_fast) > 1 else "is"
        equal_names = (
            join_words(choice.equally_fast)
            if len(choice.equally_fast) <= MAX_EQUAL_NAMES
            else list_names(list(choice.equally_fast))
        )
        sentence += f"; {equal_names} {verb} not significantly different"
    elif (second_best := choice.second_best) is not None and second_best is not mpi:
        sentence += f"; {second_best.algorithm}, the next, takes {_comparison_text(choice, second_best)}"
    if mpi is not None and mpi is not best and MPI not in choice.equally_fast:
        sentence += f"; MPI_Barrier takes {_comparison_text(choice, mpi)}"
    if choice.without_result:
        sentence += f"; there is no result for {list_names(list(choice.without_result), 10)}"
    return sentence + "."


def _comparison_text(choice: Choice, other: Candidate) -> str:
    """The ratio as text. It states if the ratio of two measured, varying times has no interval."""
    text = ratio_text(other.ratio)
    is_exact = isinstance(choice.best.time, ExactValue)
    return (
        text if not choice.is_measured or is_exact or other.ratio.low is not None else f"{text} (no interval)"
    )


def ratio_text(ratio: Estimate) -> str:
    """ "5.13 times as long (95%: 4.60 to 5.72)"."""
    return f"{ratio.value:.2f} times as long{'' if ratio.low is None else ratio_interval_suffix(ratio)}"


def _prediction_basis(choice: Choice) -> str:
    best = choice.best
    basis = {
        "structure": "predicted from message costs with LogGP",
        "messages": "predicted from its number of messages, one at a time",
        LEVELS_BASIS: "predicted from its cost on one node and message costs between nodes",
    }.get(best.basis, "predicted from its fitted cost over ranks")
    high = best.time.high
    return basis if high is None else f"{basis}, typically off by {high / best.seconds - 1:.0%}"


def _completion_sentence(evidence: Evidence, results: Sequence[BarrierResult]) -> str:
    run = BarrierResults.of(evidence)
    completed = {each.algorithm for each in results if each.ranks > 1 and each.loop is not None}
    completed -= {str(case["algorithm"]) for case, _ in run.failures if entry_mode(case) == "loop"}
    if run.requested_iterations < 2 or not completed:
        return ""
    return f"{plural(len(completed), 'barrier')} completed {run.requested_iterations} calls back to back."


def _failure_sentence(evidence: Evidence) -> str:
    names = dict.fromkeys(str(case["algorithm"]) for case, _ in BarrierResults.of(evidence).failures)
    if not names:
        return ""
    return f"No result in some cases of {list_names(list(names), 10)}; a table shows what happened."


def _accuracy_sentence(results: Sequence[BarrierResult], ranks: int, nodes: int) -> str:
    """The accuracy of the prediction that matches the run better."""
    form = choose_prediction(results)[0]
    layout_results = [each for each in results if (each.ranks, each.nodes) == (ranks, nodes)]
    errors = _absolute_errors(layout_results, form)
    if not errors:
        return ""
    close_count = sum(error <= CLOSE_ERROR for error in errors)
    suffix = ", one at a time" if form == MESSAGES else ""
    return (
        f"{_layout_phrase(ranks, nodes)}, from the cost of messages between two ranks{suffix}, "
        f"{close_count} of "
        f"{len(errors)} barriers made of messages are predicted within {CLOSE_ERROR:.0%} (typical error "
        f"{typical_error(layout_results, form):.0%})."
    )


def typical_error(results: Sequence[BarrierResult], form: str) -> float:
    """The median relative error of the prediction `form`; nan if there is none."""
    errors = _absolute_errors(results, form)
    return median(errors) if errors else float("nan")


def _absolute_errors(results: Sequence[BarrierResult], form: str) -> list[float]:
    signed_errors = (each.error(each.predicted(form)) for each in results)
    return [abs(error) for error in signed_errors if error is not None]
