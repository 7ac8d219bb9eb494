# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0

"""The headline: the work from which ranks pay off, or the reason why that is unknown and the necessary
budget."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from hockney.core.settings import Settings
from hockney.core.wording import join_words, list_names, plural
from hockney.models.applications.point_to_point_costs import PointToPointCosts
from hockney.pages.evidence import Evidence
from hockney.pages.format import quantity
from hockney.studies.granularity.columns import FAILURES, byte_length_text, efficiency_text, points_text
from hockney.studies.granularity.results import (
    TARGET_EFFICIENCY,
    Cell,
    ThinCurve,
    cells,
    crowded_counts,
    curve_cells,
    find_thin,
    lengths,
    measured_work,
    predicted_work,
    rank_counts,
)
from hockney.studies.granularity.validation import (
    MAX_ERROR,
    MAX_TYPICAL_ERROR,
    CheckedCell,
    ErrorSummary,
    error_summary,
)
from hockney.studies.needed_budget import remedy


def headline(
    measured: tuple[Cell, ...],
    checked: Sequence[CheckedCell],
    messages: PointToPointCosts | None,
    crowded_ranks: Sequence[int],
    method: str,
    settings: Settings,
) -> tuple[str, ...]:
    """The sentences. `crowded_ranks` are the numbers of ranks without a core per rank; `method` is "measured"
    or "simulated". Curves whose intervals are missing or too wide give no answer."""
    counts = rank_counts(measured)
    if not measured:
        return ()
    if not counts:
        return (
            "Only one rank was measured: it exchanges nothing, and its efficiency is 1 by definition. "
            "Use --ranks 2.",
        )
    curves = _headline_curves(measured, counts, crowded_ranks)
    texts = []
    thin_curves = []
    for rank_count, size in curves:
        if (thin_curve := find_thin(curve_cells(measured, rank_count, size))) is not None:
            thin_curves.append(thin_curve)
        elif (
            rank_count == curves[0][0]
            and measured_work(curve_cells(measured, rank_count, size), 1 / rank_count).work is None
        ):  # the grid's ends are more informative
            texts.append(_grain_sentence(measured, rank_count, size))
        else:
            texts.append(_break_even_sentence(measured, messages, rank_count, size, method))
    if thin_curves:
        texts.insert(0, _inconclusive_sentence(thin_curves, not any(texts), settings))
        texts += map(_known_efficiencies_sentence, thin_curves)
    elif curves and checked:
        texts.append(agreement_sentence(checked, curves[-1][0]))
    return tuple(sentence for sentence in texts if sentence)


def is_conclusive(evidence: Evidence) -> bool:
    """Whether the headline gives an answer for some message."""
    measured = cells(evidence)
    crowded_ranks = crowded_counts(measured, evidence.cores)
    curves = _headline_curves(measured, rank_counts(measured), crowded_ranks)
    return not curves or any(
        find_thin(curve_cells(measured, rank_count, size)) is None for rank_count, size in curves
    )


def _headline_curves(
    measured: tuple[Cell, ...], counts: Sequence[int], crowded_ranks: Sequence[int]
) -> list[tuple[int, int]]:
    """Ranks and bytes of the curves in the headline: the shortest and the longest message on the fewest
    ranks, and the longest one on the most ranks with a core each."""
    own_core_ranks = [rank_count for rank_count in counts if rank_count not in crowded_ranks] or list(counts)
    shown_ranks = dict.fromkeys((own_core_ranks[0], own_core_ranks[-1])) if own_core_ranks else {}
    sizes = {rank_count: _extreme_lengths(measured, rank_count) for rank_count in shown_ranks}
    return [
        (rank_count, size)
        for rank_count in shown_ranks
        for size in (sizes[rank_count] if rank_count == own_core_ranks[0] else sizes[rank_count][-1:])
    ]


def _extreme_lengths(measured: tuple[Cell, ...], ranks: int) -> tuple[int, ...]:
    """The shortest and the longest message."""
    sizes = lengths(
        tuple(cell for cell in measured if cell.ranks == ranks and cell.is_even and not cell.serial)
    )
    return tuple(dict.fromkeys((sizes[0], sizes[-1]))) if sizes else ()


def _grain_sentence(measured: tuple[Cell, ...], ranks: int, size: int) -> str:
    """A sentence on the finest and the coarsest measured granularity."""
    curve = curve_cells(measured, ranks, size)
    if not curve:
        return ""
    first, last = curve[0], curve[-1]
    text = (
        f"{ranks} ranks are {efficiency_text(first.efficiency)} efficient with {quantity(first.work_s, 's')} "
        f"of work between two exchanges of {byte_length_text(size)}"
    )
    if last is first:
        return f"{text}."
    return f"{text}, and {efficiency_text(last.efficiency)} with {quantity(last.work_s, 's')}."


def _break_even_sentence(
    measured: tuple[Cell, ...], messages: PointToPointCosts | None, ranks: int, size: int, method: str
) -> str:
    """A sentence on break-even and the work for a good efficiency."""
    curve = curve_cells(measured, ranks, size)
    if not curve:
        return ""
    break_even, target = measured_work(curve, 1 / ranks), measured_work(curve, TARGET_EFFICIENCY)
    text = (
        f"{ranks} ranks that exchange {byte_length_text(size)} beat one rank "
        f"{break_even.statement_suffix} and are "
        f"{TARGET_EFFICIENCY:.0%} "
        f"efficient {target.statement_suffix}, {method}"
    )
    if messages is None:
        return f"{text}."
    costs = messages.spread_over(curve[0].nodes)
    predictions = (
        str(predicted_work(costs, size, ranks, efficiency)) for efficiency in (1 / ranks, TARGET_EFFICIENCY)
    )
    return f"{text}; predicted: {' and '.join(predictions)}."


def _inconclusive_sentence(
    thin_curves: Sequence[ThinCurve], is_without_answer: bool, settings: Settings
) -> str:
    """A sentence that there is no answer, why, and what to do. `is_without_answer`: no other curve has an
    answer."""
    sizes = list_names(sorted({byte_length_text(curve.bytes) for curve in thin_curves}))
    scope = "" if is_without_answer else f" for messages of {sizes}"
    times, launches = (
        max(curve.budget_multiple for curve in thin_curves),
        min(curve.launches for curve in thin_curves),
    )
    return f"Inconclusive{scope}: {_inconclusive_reason(thin_curves)}. {remedy(times, launches, settings)}"


def _known_efficiencies_sentence(thin_curve: ThinCurve) -> str:
    """A sentence on the curve's known efficiencies; "" if there are none."""
    if not thin_curve.known_efficiencies:
        return ""
    extremes = dict((thin_curve.known_efficiencies[0], thin_curve.known_efficiencies[-1]))
    phrases = [
        f"{efficiency_text(efficiency)} efficient with {quantity(work, 's')}"
        for work, efficiency in extremes.items()
    ]
    return (
        f"{thin_curve.ranks} ranks that exchange {byte_length_text(thin_curve.bytes)} are "
        f"{join_words(phrases)} of work."
    )


def _inconclusive_reason(thin_curves: Sequence[ThinCurve]) -> str:
    widths = [curve.typical_width for curve in thin_curves if curve.typical_width is not None]
    if len(widths) < len(thin_curves):
        unknown_curves = [curve for curve in thin_curves if curve.typical_width is None]
        missing_intervals, cells = (
            sum(curve.missing_intervals for curve in unknown_curves),
            sum(curve.cell_count for curve in unknown_curves),
        )
        has_single_launch = min(curve.launches for curve in unknown_curves) == 1
        reason = (
            "a case has only one launch"
            if has_single_launch
            else "the times of their launches differ too much"
        )
        count = f"{missing_intervals} of {plural(cells, 'efficiency', 'efficiencies')}"
        return f"{count} {'has' if missing_intervals == 1 else 'have'} no 95% interval, because {reason}"
    return (
        f"95% intervals of efficiencies are up to {points_text(max(widths))} points wide, so it is unknown "
        "which are higher"
    )


def agreement_sentence(checked: Sequence[CheckedCell], ranks: int) -> str:
    checked_cells = [entry for entry in checked if entry.cell.ranks == ranks]
    summary = error_summary(checked_cells)
    if summary is None:
        return ""
    limits = f", within the limits of {points_text(MAX_TYPICAL_ERROR)} and {points_text(MAX_ERROR)}"
    cause = ""
    if not summary.is_within_limits and (
        failures := Counter(entry.failed_assumption for entry in checked_cells if entry.failed_assumption)
    ):
        most_frequent, _ = failures.most_common(1)[0]
        cause = f" Main cause: {FAILURES[most_frequent]}."
    if not summary.is_within_limits:
        limits = _exceeded_limits(summary)
    return (
        f"On {plural(ranks, 'rank')} predicted efficiencies are off by {points_text(summary.typical)} points "
        f"typically and by {points_text(summary.worst)} at worst "
        f"({plural(summary.cell_count, 'cell')}){limits}.{cause}"
    )


def _exceeded_limits(summary: ErrorSummary) -> str:
    """A phrase on the limits that the errors exceed."""
    if summary.typical <= MAX_TYPICAL_ERROR:
        return f"; the worst is above the limit of {points_text(MAX_ERROR)}"
    if summary.worst <= MAX_ERROR:
        return f"; the typical error is above the limit of {points_text(MAX_TYPICAL_ERROR)}"
    return f", above the limits of {points_text(MAX_TYPICAL_ERROR)} and {points_text(MAX_ERROR)}"
