# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0

"""The headline: the work from which ranks pay off, or why that is unknown and the budget that shows it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from hockney.core.settings import Settings
from hockney.core.wording import join_words, list_names, plural
from hockney.models.applications.point_to_point_costs import PointToPointCosts
from hockney.pages.evidence import Evidence
from hockney.pages.format import quantity
from hockney.studies.granularity.columns import FAILED, efficiency_text, plain_length, points_text
from hockney.studies.granularity.results import (
    WANTED,
    Cell,
    ThinCurve,
    cells,
    crowded_counts,
    find_thin,
    lengths,
    line,
    predicted,
    rank_counts,
    reached,
)
from hockney.studies.granularity.validation import TYPICAL, WORST, Checked, ErrorSummary, error_summary
from hockney.studies.needed_budget import remedy


def headline(
    measured: tuple[Cell, ...],
    checked: Sequence[Checked],
    messages: PointToPointCosts | None,
    crowded: Sequence[int],
    method: str,
    settings: Settings,
) -> tuple[str, ...]:
    """`crowded` are the numbers of ranks without a core per rank; `method` is how the numbers were obtained,
    measured or simulated. Curves whose intervals are missing or too wide give no answer."""
    counts = rank_counts(measured)
    if not measured:
        return ()
    if not counts:
        return (
            "Only one rank was measured: it exchanges nothing, and its efficiency is 1 by definition. "
            "Use --ranks 2.",
        )
    curves = _curves(measured, counts, crowded)
    texts = []
    lacking = []
    for p, size in curves:
        if (missing := find_thin(line(measured, p, size))) is not None:
            lacking.append(missing)
        elif (
            p == curves[0][0] and reached(line(measured, p, size), 1 / p).at is None
        ):  # the grid's ends are more informative
            texts.append(_grain_sentence(measured, p, size))
        else:
            texts.append(_break_even_sentence(measured, messages, p, size, method))
    if lacking:
        texts.insert(0, _inconclusive_sentence(lacking, not any(texts), settings))
        texts += map(_known_sentence, lacking)
    elif curves and checked:
        texts.append(agreement_sentence(checked, curves[-1][0]))
    return tuple(sentence for sentence in texts if sentence)


def is_conclusive(evidence: Evidence) -> bool:
    """Whether the headline answers for any message."""
    measured = cells(evidence)
    crowded = crowded_counts(measured, evidence.cores)
    curves = _curves(measured, rank_counts(measured), crowded)
    return not curves or any(find_thin(line(measured, p, size)) is None for p, size in curves)


def _curves(
    measured: tuple[Cell, ...], counts: Sequence[int], crowded: Sequence[int]
) -> list[tuple[int, int]]:
    """Ranks and bytes of the curves in the headline: of the fewest ranks the shortest and the longest
    message, of the most with a core each the longest."""
    alone = [p for p in counts if p not in crowded] or list(counts)
    ends = dict.fromkeys((alone[0], alone[-1])) if alone else {}
    sizes = {p: _ends(measured, p) for p in ends}
    return [(p, size) for p in ends for size in (sizes[p] if p == alone[0] else sizes[p][-1:])]


def _ends(measured: tuple[Cell, ...], ranks: int) -> tuple[int, ...]:
    """The shortest and the longest message."""
    sizes = lengths(tuple(c for c in measured if c.ranks == ranks and c.even and not c.serial))
    return tuple(dict.fromkeys((sizes[0], sizes[-1]))) if sizes else ()


def _grain_sentence(measured: tuple[Cell, ...], ranks: int, size: int) -> str:
    """The finest and the coarsest granularity that was measured."""
    curve = line(measured, ranks, size)
    if not curve:
        return ""
    first, last = curve[0], curve[-1]
    text = (
        f"{ranks} ranks are {efficiency_text(first.efficiency)} efficient with {quantity(first.work_s, 's')} "
        f"of work between two exchanges of {plain_length(size)}"
    )
    if last is first:
        return f"{text}."
    return f"{text}, and {efficiency_text(last.efficiency)} with {quantity(last.work_s, 's')}."


def _break_even_sentence(
    measured: tuple[Cell, ...], messages: PointToPointCosts | None, ranks: int, size: int, method: str
) -> str:
    """Break-even, and the work for a good efficiency."""
    curve = line(measured, ranks, size)
    if not curve:
        return ""
    even, good = reached(curve, 1 / ranks), reached(curve, WANTED)
    text = (
        f"{ranks} ranks that exchange {plain_length(size)} beat one rank {even.since} and are {WANTED:.0%} "
        f"efficient {good.since}, {method}"
    )
    if messages is None:
        return f"{text}."
    costs = messages.spread_over(curve[0].nodes)
    needs = (str(predicted(costs, size, ranks, efficiency)) for efficiency in (1 / ranks, WANTED))
    return f"{text}; predicted: {' and '.join(needs)}."


def _inconclusive_sentence(lacking: Sequence[ThinCurve], all_of_them: bool, settings: Settings) -> str:
    """A sentence that there is no answer, why, and what to do. `all_of_them`: no other curve has an answer
    either."""
    sizes = list_names(sorted({plain_length(each.bytes) for each in lacking}))
    where = "" if all_of_them else f" for messages of {sizes}"
    times, launches = max(each.times for each in lacking), min(each.launches for each in lacking)
    return f"Inconclusive{where}: {_reason(lacking)}. {remedy(times, launches, settings)}"


def _known_sentence(lacking: ThinCurve) -> str:
    """The efficiencies of its curve that are known; "" if there are none."""
    if not lacking.known:
        return ""
    ends = dict((lacking.known[0], lacking.known[-1]))
    each = [
        f"{efficiency_text(efficiency)} efficient with {quantity(work, 's')}"
        for work, efficiency in ends.items()
    ]
    return (
        f"{lacking.ranks} ranks that exchange {plain_length(lacking.bytes)} are {join_words(each)} of work."
    )


def _reason(lacking: Sequence[ThinCurve]) -> str:
    widths = [each.width for each in lacking if each.width is not None]
    if len(widths) < len(lacking):
        unknown = [each for each in lacking if each.width is None]
        without, cells = sum(each.without for each in unknown), sum(each.cells for each in unknown)
        alone = min(each.launches for each in unknown) == 1
        reason = "a case has only one launch" if alone else "the times of their launches differ too much"
        count = f"{without} of {plural(cells, 'efficiency', 'efficiencies')}"
        return f"{count} {'has' if without == 1 else 'have'} no 95% interval, because {reason}"
    return (
        f"95% intervals of efficiencies are up to {points_text(max(widths))} points wide, so it is unknown "
        "which are higher"
    )


def agreement_sentence(checked: Sequence[Checked], ranks: int) -> str:
    here = [each for each in checked if each.cell.ranks == ranks]
    summary = error_summary(here)
    if summary is None:
        return ""
    limits = f", within the limits of {points_text(TYPICAL)} and {points_text(WORST)}"
    why = ""
    if not summary.holds and (broken := Counter(each.breaks for each in here if each.breaks)):
        most, _ = broken.most_common(1)[0]
        why = f" Main cause: {FAILED[most]}."
    if not summary.holds:
        limits = _exceeded_limits(summary)
    return (
        f"On {plural(ranks, 'rank')} predicted efficiencies are off by {points_text(summary.typical)} points "
        f"typically and by {points_text(summary.worst)} at worst "
        f"({plural(summary.cells, 'cell')}){limits}.{why}"
    )


def _exceeded_limits(summary: ErrorSummary) -> str:
    """The limits that the errors exceed."""
    if summary.typical <= TYPICAL:
        return f"; the worst is above the limit of {points_text(WORST)}"
    if summary.worst <= WORST:
        return f"; the typical error is above the limit of {points_text(TYPICAL)}"
    return f", above the limits of {points_text(TYPICAL)} and {points_text(WORST)}"
