# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The page: its headline, its warnings, and the order of its sections."""

from __future__ import annotations

from collections.abc import Sequence

from hockney.core.fit import Estimate
from hockney.core.wording import plural
from hockney.draw.page import Page, Section
from hockney.models.applications.contention import MIN_RANKS, network_kind
from hockney.models.applications.point_to_point_costs import PointToPointCosts
from hockney.models.applications.ring_exchange import exchange_time
from hockney.pages import quality
from hockney.pages.evidence import Evidence, MeasuredCase
from hockney.pages.format import quantity, with_interval
from hockney.pages.study_page import section, study_page
from hockney.studies.granularity import columns, costs, figures, paper, validation
from hockney.studies.granularity.caveats import caveats
from hockney.studies.granularity.costs import MachineCosts
from hockney.studies.granularity.headline import agreement_sentence, headline
from hockney.studies.granularity.plan import ITERATIONS
from hockney.studies.granularity.results import Cell, cells, crowded_counts
from hockney.studies.granularity.validation import CORES, MUCH, Checked

METHOD = (
    "Efficiency is the measured time of the whole work on one rank divided by np times the measured "
    "time of one work and exchange on np ranks: equations 1, 2 and 6 with the measured serial time, "
    "not the preset one. The intervals of both times are combined on a log scale.",
    f"One repetition consists of {ITERATIONS} pairs of work and exchange back to back, as in the paper; the "
    "page also shows single repetitions.",
    "Rank 0 computes the serial part before its share of the rest, while the others wait for it in the "
    "exchange. Work is measured as the thread's processor time.",
)
UNEVEN_WORK = (
    "Imbalance is the parallel work of the busiest rank relative to the mean. All others wait for that rank, "
    "so the efficiency stays below 1 / imbalance, however coarse the granularity. If that rank's messages "
    "arrive before it receives them, part of the exchange is hidden, and the prediction is too low."
)


def page(evidence: Evidence) -> Page:
    measured = cells(evidence)
    machine_costs = costs.known(evidence)
    messages = machine_costs.messages
    cores = evidence.cores
    checked = validation.check(evidence, measured, messages, cores) if messages else ()
    method = "simulated" if evidence.machine.traits.simulated else "measured"
    crowded = crowded_counts(measured, cores)
    sentences = headline(measured, checked, messages, crowded, method, evidence.settings)
    sections = [
        _grain(measured, messages),
        _agreement(checked, messages, evidence) if messages and checked else None,
        _agreement_details(checked, evidence) if messages and checked else None,
        _message_costs(machine_costs) if evidence.run.records else None,
        section(
            "Single runs",
            figures=[*figures.runs(measured, messages), figures.period(measured)],
            closed=not evidence.settings.every_s,
        ),
        section("Serial work", figures=figures.by_serial(measured, messages), closed=True),
        section("Uneven work", [UNEVEN_WORK], tables=[columns.uneven_work(checked)], closed=True),
        _exchanges(evidence, messages),
        _levels(messages),
        paper.section(),
        quality.parameters_section(evidence),
        quality.spread_section(evidence),
        quality.verification_section(evidence),
    ]
    return study_page(
        evidence,
        title="Granularity",
        headline=sentences or (_nothing(evidence),),
        warnings=caveats(evidence, measured, messages, cores),
        sections=sections,
        method=METHOD,
        lead=figures.explorer(messages, evidence.machine.host if messages else ""),
    )


def _nothing(evidence: Evidence) -> str:
    if not evidence.run.records:
        return "Nothing was measured."
    return (
        "Efficiencies are not known yet: they need the times of a work on one rank and on several. "
        "'hockney resume' measures what is missing."
    )


def _grain(measured: tuple[Cell, ...], messages: PointToPointCosts | None) -> Section | None:
    """The paper's figures 2 and 3, and the work that is needed."""
    drawn = [*figures.by_length(measured, messages)]
    if not drawn:
        return None
    collapsed = None if messages is None else figures.collapsed(measured, messages)
    table = columns.grain_table(measured, messages)
    return section("Efficiency and granularity", figures=[*drawn, collapsed], tables=[table])


def _levels(messages: PointToPointCosts | None) -> Section | None:
    """The paper's figures 4 and 5 with this machine's messages."""
    if messages is None:
        return None
    works = figures.grid_of(messages)
    return Section(
        "Lines of equal efficiency",
        text=("From the model alone, with the measured machine's message times.",),
        figures=(*figures.of_serial(messages, "here", works), figures.of_ranks(messages, "here", works)),
        closed=True,
    )


def _exchanges(evidence: Evidence, messages: PointToPointCosts | None) -> Section | None:
    measured = [m for m in evidence.of("round_robin") if m.summary.typical.value > 0]
    table = columns.exchanges_table(measured, messages)
    return section("The exchange alone", _exchange_sentences(measured), tables=[table], closed=True)


def _exchange_sentences(measured: list[MeasuredCase]) -> list[str]:
    """A sentence for each number of ranks, on the alternative with the largest significant gain."""
    key, kind_of = columns.exchange_key, columns.exchange_kind
    ordered = {key(m): m.summary.typical for m in measured if kind_of(m) == columns.ORDERED}
    others = [m for m in measured if key(m) in ordered and kind_of(m) != columns.ORDERED]
    texts = []
    for p in sorted({m.case.ranks for m in others}):
        faster = [m for m in others if m.case.ranks == p and _is_faster(m.summary.typical, ordered[key(m)])]
        if not faster:
            continue
        best = min(faster, key=lambda m: m.summary.typical.value / ordered[key(m)].value)
        way = kind_of(best)
        base, median = ordered[key(best)], best.summary.typical
        texts.append(
            f"On {p} ranks the largest gain comes from {columns.EXCHANGES.get(way, way)} with "
            f"messages of {columns.length(best.case.bytes)}: {with_interval(median, 's')} instead of "
            f"{with_interval(base, 's')}, so {median.value / base.value:.0%} of the work between "
            "exchanges is enough."
        )
    if others and not texts:
        texts.append("No other kind of exchange is significantly faster than the ordered one.")
    return texts


def _is_faster(median: Estimate, than: Estimate) -> bool:
    """Whether the intervals show it."""
    return (median.high or median.value) < (than.low or than.value)


def _message_costs(machine_costs: MachineCosts) -> Section:
    """The basis of the predictions."""
    messages = machine_costs.messages
    if messages is None:
        return Section("What messages cost", text=(f"There is no prediction: {machine_costs.why}.",))
    text = []
    for level in messages.levels():
        words = _verdict_text(level)
        if words:
            where = columns.WITHIN if level is messages.within_node else columns.BETWEEN
            text.append(f" {where.capitalize()}:{words}" if columns.has_both_levels(messages) else words)
    known_up_to = (
        f" Sizes up to {quantity(messages.max_size, 'B')} were measured." if messages.max_size else ""
    )
    return Section(
        "What messages cost",
        text=(
            f"One message, from {messages.source}.{''.join(text)}{known_up_to}",
            f"The network: {network_kind(messages)}, {messages.why}." if messages.why else "",
            _exchange_sentence(messages),
        ),
        tables=columns.costs_tables(messages),
    )


def _verdict_text(level: PointToPointCosts) -> str:
    doubt = f": {level.doubt}." if level.doubt else "."
    return f" The fit is {level.verdict}{doubt}" if level.verdict else ""


def _exchange_sentence(messages: PointToPointCosts) -> str:
    """The paper's statement, equation 3 with this machine's numbers, for messages of one word on 2 ranks."""
    size = 4
    total = quantity(exchange_time(messages, size, 2), "s")
    one = quantity(messages.one_way(size), "s")
    return (
        f"An exchange of {columns.length(size)} between 2 ranks consists of two consecutive messages: 2 x "
        f"{one} = {total}."
    )


def _agreement(checked: tuple[Checked, ...], messages: PointToPointCosts, evidence: Evidence) -> Section:
    counts = sorted({each.cell.ranks for each in checked})
    return Section(
        "Predicted and measured",
        text=(
            _prediction_basis(checked, messages, evidence),
            *(agreement_sentence(checked, p) for p in counts),
            *_misses(checked),
        ),
        figures=(
            figures.measured_against_predicted(checked, counts),
            figures.prediction_errors(checked, counts),
        ),
    )


def _agreement_details(checked: tuple[Checked, ...], evidence: Evidence) -> Section:
    counts = sorted({each.cell.ranks for each in checked})
    preset = columns.presets_table(evidence)
    return Section(
        "What the prediction assumes, cell by cell",
        tables=(
            columns.assumption_table(checked),
            *([preset] if preset else []),
            *(columns.cells_table(checked, p) for p in counts),
        ),
        closed=True,
    )


def _prediction_basis(checked: Sequence[Checked], messages: PointToPointCosts, evidence: Evidence) -> str:
    """The basis of the prediction, and which part of it this run has measured itself."""
    texts = [
        f"The prediction uses the message times of {messages.source}, the preset work, and equation 6. "
        "No number in it was fitted to the measured efficiencies."
    ]
    if evidence.survey is None:
        texts.append("The ping-pong was measured in this run, along with the grid.")
    several = [each.cell.ranks for each in checked if each.cell.ranks >= MIN_RANKS]
    if several and messages.sharing == "measured":
        texts.append(
            f"For {MIN_RANKS} and more ranks, measured exchanges, including this run's own, decided "
            "only whether messages share the network."
        )
    return " ".join(texts)


def _misses(checked: Sequence[Checked]) -> list[str]:
    """A sentence for each assumption that fails: the number of cells where it does, and the worst of them
    with its columns.measurements."""
    texts = []
    for step, words in columns.FAILED.items():
        missed = [each for each in checked if each.breaks == step]
        if not missed:
            continue
        worst = max(missed, key=lambda each: abs(each.error))
        which = ", all of them with uneven work," if all(map(_is_uneven, missed)) else ""
        measurement = columns.load_text(missed) if step == CORES else columns.measurements(worst, step)
        texts.append(
            f"In {plural(len(missed), 'cell')}{which} the prediction is off by more than "
            f"{columns.points_text(MUCH)} points because {words}; in the worst, on "
            f"{plural(worst.cell.ranks, 'rank')}, by {columns.change_text(worst.error)} points "
            f"({measurement})."
        )
    return texts


def _is_uneven(each: Checked) -> bool:
    """Whether some ranks had more to compute than others."""
    return bool(each.cell.serial) or not each.cell.even
