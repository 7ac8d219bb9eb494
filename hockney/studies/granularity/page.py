# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The page: its headline, its warnings, and the order of its sections."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hockney.core.fit import Estimate
from hockney.core.settings import Settings
from hockney.core.wording import join_words, list_names, plural
from hockney.draw.page import Caveat, Page, Section
from hockney.models.applications.point_to_point_costs import PointToPointCosts
from hockney.pages import caveats as general
from hockney.pages import quality
from hockney.pages.evidence import Evidence
from hockney.pages.format import percent, quantity
from hockney.pages.labels import labels
from hockney.pages.study_page import study_page
from hockney.studies.granularity import (
    agreement,
    conclusive,
    costs,
    exchanges,
    explore,
    figures,
    paper,
    reduced,
    validation,
)
from hockney.studies.granularity.plan import ITERATIONS
from hockney.studies.granularity.results import (
    WANTED,
    Cell,
    cells,
    grain_table,
    lengths,
    line,
    predicted,
    rank_counts,
    reached,
)
from hockney.studies.granularity.text import length, plain, share, with_interval
from hockney.studies.granularity.validation import Checked

METHOD = (
    "Efficiency is the measured time of the whole work on one rank divided by np times the measured "
    "time of one work and exchange on np ranks: equations 1, 2 and 6 with the measured serial time, "
    "not the preset one. The intervals of both times are combined on a log scale.",
    f"One repetition consists of {ITERATIONS} pairs of work and exchange back to back, as in the paper; the "
    "page also shows single repetitions.",
    "Rank 0 computes the serial part before its share of the rest, while the others wait for it in the "
    "exchange. Work is measured as the thread's processor time.",
)


def page(evidence: Evidence) -> Page:
    measured = cells(evidence)
    known = costs.known(evidence)
    messages = known.messages
    cores = costs.cores(evidence)
    checked = validation.check(evidence, measured, messages, cores) if messages else ()
    seen = "simulated" if evidence.machine.traits.simulated else "measured"
    crowded = crowded_counts(measured, cores)
    sentences = headline(measured, checked, messages, crowded, seen, evidence.settings)
    runs = _runs(measured, messages)
    sections = [
        _grain(measured, messages),
        agreement.section(checked, messages, evidence) if messages and checked else None,
        agreement.details_section(checked, evidence) if messages and checked else None,
        costs.section(known) if evidence.run.records else None,
        runs if evidence.settings.every_s else _closed(runs),
        _closed(_serial(measured, messages)),
        _closed(agreement.uneven_section(checked)),
        _closed(exchanges.section(evidence, messages)),
        _closed(_levels(messages)),
        paper.section(),
        quality.parameters(evidence),
        quality.spread(evidence),
        quality.verification(evidence),
    ]
    return study_page(
        evidence,
        title="Granularity",
        headline=sentences or (_nothing(evidence),),
        warnings=caveats(evidence, measured, messages, cores),
        sections=sections,
        method=METHOD,
        lead=explore.widget(messages, evidence.machine.host if messages else ""),
    )


def _closed(section: Section | None) -> Section | None:
    """Sections that are closed initially: not of interest to most readers."""
    return None if section is None else replace(section, closed=True)


def _nothing(evidence: Evidence) -> str:
    if not evidence.run.records:
        return "Nothing was measured."
    return (
        "Efficiencies are not known yet: they need the times of a work on one rank and on several. "
        "'hockney resume' measures what is missing."
    )


def _grain(measured: tuple[Cell, ...], messages: PointToPointCosts | None) -> Section | None:
    """The paper's figures 2 and 3, and the work that is needed."""
    drawn = list(figures.by_length(measured, messages))
    if not drawn:
        return None
    if messages is not None and (one := figures.collapsed(measured, messages)) is not None:
        drawn.append(one)
    return Section(
        "Efficiency and granularity", figures=tuple(drawn), tables=(grain_table(measured, messages),)
    )


def _runs(measured: tuple[Cell, ...], messages: PointToPointCosts | None) -> Section | None:
    """The paper's figure 1."""
    drawn = [*figures.runs(measured, messages)]
    if (course := figures.period(measured)) is not None:
        drawn.append(course)
    return Section("Single runs", figures=tuple(drawn)) if drawn else None


def _serial(measured: tuple[Cell, ...], messages: PointToPointCosts | None) -> Section | None:
    drawn = tuple(figures.by_serial(measured, messages))
    return Section("Serial work", figures=drawn) if drawn else None


def _levels(messages: PointToPointCosts | None) -> Section | None:
    """The paper's figures 4 and 5 with this machine's messages."""
    if messages is None:
        return None
    works = figures.grid_of(messages)
    return Section(
        "Lines of equal efficiency",
        text=("From the model alone, with the measured machine's message times.",),
        figures=(*figures.of_serial(messages, "here", works), figures.of_ranks(messages, "here", works)),
    )


def headline(
    measured: tuple[Cell, ...],
    checked: Sequence[Checked],
    messages: PointToPointCosts | None,
    crowded: Sequence[int],
    seen: str,
    settings: Settings,
) -> tuple[str, ...]:
    """`crowded` are the numbers of ranks without a core per rank; `seen` is how the numbers were obtained,
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
        if (missing := conclusive.thin(line(measured, p, size))) is not None:
            lacking.append(missing)
        elif (
            p == curves[0][0] and reached(line(measured, p, size), 1 / p).at is None
        ):  # the grid's ends are more informative
            texts.append(_grain_sentence(measured, p, size))
        else:
            texts.append(_even_sentence(measured, messages, p, size, seen))
    if lacking:
        texts.insert(0, conclusive.sentence(lacking, not any(texts), settings))
        texts += map(conclusive.known_sentence, lacking)
    elif curves and checked:
        texts.append(agreement.sentence(checked, curves[-1][0]))
    return tuple(sentence for sentence in texts if sentence)


def is_conclusive(evidence: Evidence) -> bool:
    """Whether the headline answers for any message."""
    measured = cells(evidence)
    crowded = crowded_counts(measured, costs.cores(evidence))
    curves = _curves(measured, rank_counts(measured), crowded)
    return not curves or any(conclusive.thin(line(measured, p, size)) is None for p, size in curves)


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
    selected = line(measured, ranks, size)
    if not selected:
        return ""
    first, last = selected[0], selected[-1]
    text = (
        f"{ranks} ranks are {with_interval(first.efficiency)} efficient with {quantity(first.work_s, 's')} "
        f"of work between two exchanges of {plain(size)}"
    )
    if last is first:
        return f"{text}."
    return f"{text}, and {with_interval(last.efficiency)} with {quantity(last.work_s, 's')}."


def _even_sentence(
    measured: tuple[Cell, ...], messages: PointToPointCosts | None, ranks: int, size: int, seen: str
) -> str:
    """Break-even, and the work for a good efficiency."""
    selected = line(measured, ranks, size)
    if not selected:
        return ""
    even, good = reached(selected, 1 / ranks), reached(selected, WANTED)
    text = (
        f"{ranks} ranks that exchange {plain(size)} beat one rank {even.since} and are {WANTED:.0%} "
        f"efficient {good.since}, {seen}"
    )
    if messages is None:
        return f"{text}."
    costs = messages.spread(selected[0].nodes)
    needs = (str(predicted(costs, size, ranks, wanted)) for wanted in (1 / ranks, WANTED))
    return f"{text}; predicted: {' and '.join(needs)}."


MISSED = 0.01
"""Computing should take the preset time to within 1%."""
SHORTEST_S = 1e-4
"""For shorter works the error is only given in the table."""


ABOVE = 0.02
"""No clock and no interval is better than this; one rank has an efficiency of exactly 1."""


def caveats(
    evidence: Evidence, measured: Sequence[Cell], messages: PointToPointCosts | None, cores: int
) -> tuple[Caveat, ...]:
    """All caveats of the run, with the effect of oversubscription on efficiencies; then those of this
    study."""
    crowded = crowded_counts(measured, cores)
    listed = [
        _oversubscribed(crowded, cores) if crowded and c.caveat.code == "oversubscribed" else c.caveat
        for c in general.caveats(evidence)
        if c.caveat.code != "poor-fit"  # `_poor` has it
    ]
    if crowded and not any(w.code == "oversubscribed" for w in listed):
        listed.append(_oversubscribed(crowded, cores))
    more = (
        reduced.caveat(evidence),
        _missed(evidence),
        _above_one(measured),
        _poor(messages),
        _unknown_sizes(measured, messages),
    )
    return (*listed, *(w for w in more if w is not None))


def crowded_counts(measured: Sequence[Cell], cores: int) -> tuple[int, ...]:
    """Numbers of ranks without a core per rank."""
    return tuple(sorted({cell.ranks for cell in measured if cell.ranks > cores}))


def _oversubscribed(crowded: Sequence[int], cores: int) -> Caveat:
    return oversubscribed(crowded, cores, [share(cores / p) for p in crowded])


def _missed(evidence: Evidence) -> Caveat | None:
    """Computing that missed its preset."""
    bad = [
        r
        for r in evidence.run.records
        if (r.metric("work") or 0.0) >= SHORTEST_S and (r.metric("work_error") or 0.0) > MISSED
    ]
    if not bad:
        return None
    worst = max(bad, key=lambda r: r.metric("work_error") or 0.0)
    cases = sorted(set(map(labels(evidence), (r.case for r in bad))))
    work_s = worst.metric("work") or 0.0
    error = worst.metric("work_error") or 0.0
    return Caveat(
        "preset",
        f"in {plural(len(bad), 'measurement')} the ranks did not compute for the preset time: the worst "
        f"missed {quantity(work_s, 's')} by {percent(error)}",
        list_names(list(cases)),
        "efficiencies are based on measured serial times, so this matters where ranks differ; "
        "measure again on a quiet machine",
    )


def _above_one(measured: Sequence[Cell]) -> Caveat | None:
    """Efficiencies that exceed 1 by more than their interval."""
    above = [cell for cell in measured if _exceeds_one(cell.efficiency)]
    if not above:
        return None
    most = max(above, key=lambda cell: cell.efficiency.value)
    low = most.efficiency.low
    where = (
        f"those cells; the highest has T = {quantity(most.work_s, 's')} and {plain(most.bytes)} on "
        f"{most.ranks} ranks"
    )
    return _above_one_caveat(
        len(above), share(most.efficiency.value), where, "" if low is None else share(low)
    )


def _exceeds_one(efficiency: Estimate) -> bool:
    above = efficiency.value > 1 + ABOVE
    return above and (efficiency.low is None or efficiency.low > 1)


def _poor(messages: PointToPointCosts | None) -> Caveat | None:
    poor = [] if messages is None else [level for level in messages.levels() if level.verdict == "poor"]
    if messages is None or not poor:
        return None
    cores = messages.cores if messages.near and len(poor) == 1 else 0
    return _poor_model(poor[-1].doubt, cores, within=poor[-1] is messages.near)


def _unknown_sizes(measured: Sequence[Cell], messages: PointToPointCosts | None) -> Caveat | None:
    """Messages outside the fitted range of the model."""
    if messages is None:
        return None
    unknown = sorted({cell.bytes for cell in measured if cell.ranks > 1 and not messages.known(cell.bytes)})
    if not unknown:
        return None
    return Caveat(
        "extrapolated",
        "the model of messages was fitted to other sizes",
        f"predictions with messages of {list_names(list([length(size) for size in unknown]))}",
        "survey with --sizes up to the largest message",
    )


def _poor_model(reason: str, cores: int, *, within: bool) -> Caveat:
    """The caveat about a poor model. On nodes of several `cores`, that is the model for messages on one node
    if `within`, otherwise for those between nodes."""
    where = f"up to {cores} ranks, of one node" if within else f"more than {cores} ranks"
    return Caveat(
        "model",
        f"the model of messages is poor: {reason or 'it does not describe the ping-pong well'}",
        "all predictions" if cores < 2 else f"predictions on {where}",
        "survey again with more time or on a quiet machine",
    )


def oversubscribed(ranks: Sequence[int], cores: int, limits: Sequence[str]) -> Caveat:
    """`limits` are the highest efficiencies that are possible on these numbers of ranks."""
    counts = join_words(ranks)
    highest = ", ".join(f"{limit} on {p} ranks" for limit, p in zip(limits, ranks, strict=True))
    return Caveat(
        "oversubscribed",
        f"{counts} ranks share {plural(cores, 'core')}: their efficiency is at most cores / ranks "
        f"({highest}), and a message waits until the scheduler runs its receiver, which can take "
        "milliseconds",
        f"cases on {counts} ranks",
        "use fewer ranks (--ranks) or a larger machine; in predictions, ranks on one core compute in turn "
        "but do not wait for the scheduler",
    )


def _above_one_caveat(cells: int, highest: str, where: str, low: str) -> Caveat:
    """`low` is the lower end of the interval of the highest one; "" without an interval."""
    known = f" (95%: at least {low})" if low else " (no interval)"
    return Caveat(
        "efficiency-above-one",
        f"efficiencies above 100% in {plural(cells, 'cell')}, up to {highest}{known}: the work took longer "
        "on one rank than all ranks together spent on it, because the machine was slower while one rank was "
        "measured",
        where,
        "measure again on a quiet machine, with a larger --budget: then both are measured in more launches",
    )
