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
from hockney.studies.granularity.validation import CORES, LARGE_ERROR, CheckedCell

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
    machine_costs = costs.run_costs(evidence)
    messages = machine_costs.messages
    cores = evidence.cores
    checked = validation.check(evidence, measured, messages, cores) if messages else ()
    method = "simulated" if evidence.machine.traits.simulated else "measured"
    crowded_ranks = crowded_counts(measured, cores)
    sentences = headline(measured, checked, messages, crowded_ranks, method, evidence.settings)
    sections = [
        _grain_section(measured, messages),
        _agreement_section(checked, messages, evidence) if messages and checked else None,
        _assumptions_section(checked, evidence) if messages and checked else None,
        _message_costs_section(machine_costs) if evidence.run.records else None,
        section(
            "Single runs",
            figures=[*figures.run_figures(measured, messages), figures.time_figure(measured)],
            closed=not evidence.settings.every_s,
        ),
        section("Serial work", figures=figures.serial_figures(measured, messages), closed=True),
        section("Uneven work", [UNEVEN_WORK], tables=[columns.uneven_work_table(checked)], closed=True),
        _exchanges_section(evidence, messages),
        _levels_section(messages),
        paper.section(),
        quality.parameters_section(evidence),
        quality.spread_section(evidence),
        quality.verification_section(evidence),
    ]
    return study_page(
        evidence,
        title="Granularity",
        headline=sentences or (_no_result_sentence(evidence),),
        warnings=caveats(evidence, measured, messages, cores),
        sections=sections,
        method=METHOD,
        lead=figures.explorer(messages, evidence.machine.host if messages else ""),
    )


def _no_result_sentence(evidence: Evidence) -> str:
    if not evidence.run.records:
        return "Nothing was measured."
    return (
        "Efficiencies are not known yet: they need the times of a work on one rank and on several. "
        "'hockney resume' measures what is missing."
    )


def _grain_section(measured: tuple[Cell, ...], messages: PointToPointCosts | None) -> Section | None:
    """The paper's figures 2 and 3, and the required work."""
    drawn = [*figures.length_figures(measured, messages)]
    if not drawn:
        return None
    collapsed_figure = None if messages is None else figures.collapsed_figure(measured, messages)
    table = columns.grain_table(measured, messages)
    return section("Efficiency and granularity", figures=[*drawn, collapsed_figure], tables=[table])


def _levels_section(messages: PointToPointCosts | None) -> Section | None:
    """The paper's figures 4 and 5 with this machine's messages."""
    if messages is None:
        return None
    works = figures.works_grid(messages)
    return Section(
        "Lines of equal efficiency",
        text=("From the model alone, with the measured machine's message times.",),
        figures=(
            *figures.serial_level_figures(messages, "here", works),
            figures.ranks_level_figure(messages, "here", works),
        ),
        closed=True,
    )


def _exchanges_section(evidence: Evidence, messages: PointToPointCosts | None) -> Section | None:
    measured = [result for result in evidence.of("round_robin") if result.summary.typical.value > 0]
    table = columns.exchanges_table(measured, messages)
    return section("The exchange alone", _exchange_sentences(measured), tables=[table], closed=True)


def _exchange_sentences(measured: list[MeasuredCase]) -> list[str]:
    """A sentence for each number of ranks, on the alternative with the largest significant gain."""
    key, kind_of = columns.exchange_key, columns.exchange_kind
    ordered_times = {
        key(result): result.summary.typical
        for result in measured
        if kind_of(result) == columns.ORDERED_EXCHANGE
    }
    alternatives = [
        result
        for result in measured
        if key(result) in ordered_times and kind_of(result) != columns.ORDERED_EXCHANGE
    ]
    texts = []
    for rank_count in sorted({result.case.ranks for result in alternatives}):
        faster_alternatives = [
            result
            for result in alternatives
            if result.case.ranks == rank_count
            and _is_faster(result.summary.typical, ordered_times[key(result)])
        ]
        if not faster_alternatives:
            continue
        best = min(
            faster_alternatives,
            key=lambda result: result.summary.typical.value / ordered_times[key(result)].value,
        )
        exchange = kind_of(best)
        ordered_time, best_time = ordered_times[key(best)], best.summary.typical
        texts.append(
            f"On {rank_count} ranks the largest gain comes from "
            f"{columns.EXCHANGES.get(exchange, exchange)} with "
            f"messages of {columns.length_text(best.case.bytes)}: {with_interval(best_time, 's')} instead of "
            f"{with_interval(ordered_time, 's')}, so {best_time.value / ordered_time.value:.0%} of the "
            "work between "
            "exchanges is enough."
        )
    if alternatives and not texts:
        texts.append("No other kind of exchange is significantly faster than the ordered one.")
    return texts


def _is_faster(median: Estimate, other_median: Estimate) -> bool:
    """Whether the intervals show that it is faster."""
    return (median.high or median.value) < (other_median.low or other_median.value)


def _message_costs_section(machine_costs: MachineCosts) -> Section:
    """The section on the basis of the predictions."""
    messages = machine_costs.messages
    if messages is None:
        return Section("What messages cost", text=(f"There is no prediction: {machine_costs.why}.",))
    texts = []
    for level in messages.levels():
        verdict = _verdict_text(level)
        if verdict:
            placement = columns.WITHIN_NODE if level is messages.within_node else columns.BETWEEN_NODES
            texts.append(
                f" {placement.capitalize()}:{verdict}" if columns.has_both_levels(messages) else verdict
            )
    size_limit = (
        f" Sizes up to {quantity(messages.max_size, 'B')} were measured." if messages.max_size else ""
    )
    return Section(
        "What messages cost",
        text=(
            f"One message, from {messages.source}.{''.join(texts)}{size_limit}",
            f"The network: {network_kind(messages)}, {messages.why}." if messages.why else "",
            _exchange_sentence(messages),
        ),
        tables=columns.costs_tables(messages),
    )


def _verdict_text(level: PointToPointCosts) -> str:
    doubt = f": {level.doubt}." if level.doubt else "."
    return f" The fit is {level.verdict}{doubt}" if level.verdict else ""


def _exchange_sentence(messages: PointToPointCosts) -> str:
    """The paper's statement: equation 3 with this machine's numbers, for messages of one word on 2 ranks."""
    size = 4
    total = quantity(exchange_time(messages, size, 2), "s")
    one_way = quantity(messages.one_way(size), "s")
    return (
        f"An exchange of {columns.length_text(size)} between 2 ranks consists of two consecutive "
        "messages: 2 x "
        f"{one_way} = {total}."
    )


def _agreement_section(
    checked: tuple[CheckedCell, ...], messages: PointToPointCosts, evidence: Evidence
) -> Section:
    counts = sorted({each.cell.ranks for each in checked})
    return Section(
        "Predicted and measured",
        text=(
            _prediction_basis(checked, messages, evidence),
            *(agreement_sentence(checked, p) for p in counts),
            *_failure_sentences(checked),
        ),
        figures=(
            figures.measured_against_predicted(checked, counts),
            figures.prediction_errors(checked, counts),
        ),
    )


def _assumptions_section(checked: tuple[CheckedCell, ...], evidence: Evidence) -> Section:
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


def _prediction_basis(checked: Sequence[CheckedCell], messages: PointToPointCosts, evidence: Evidence) -> str:
    """The basis of the prediction, and which part of it this run measured."""
    texts = [
        f"The prediction uses the message times of {messages.source}, the preset work, and equation 6. "
        "No number in it was fitted to the measured efficiencies."
    ]
    if evidence.survey is None:
        texts.append("The ping-pong was measured in this run, along with the grid.")
    contending_ranks = [entry.cell.ranks for entry in checked if entry.cell.ranks >= MIN_RANKS]
    if contending_ranks and messages.sharing == "measured":
        texts.append(
            f"For {MIN_RANKS} and more ranks, measured exchanges, including this run's own, decided "
            "only whether messages share the network."
        )
    return " ".join(texts)


def _failure_sentences(checked: Sequence[CheckedCell]) -> list[str]:
    """A sentence for each assumption that fails: the number of cells, and the largest error with its
    measurements."""
    texts = []
    for step, failure in columns.FAILURES.items():
        failed_cells = [entry for entry in checked if entry.failed_assumption == step]
        if not failed_cells:
            continue
        worst_cell = max(failed_cells, key=lambda entry: abs(entry.error))
        uneven_text = ", all of them with uneven work," if all(map(_is_uneven, failed_cells)) else ""
        measurement = (
            columns.load_text(failed_cells) if step == CORES else columns.measurements_text(worst_cell, step)
        )
        texts.append(
            f"In {plural(len(failed_cells), 'cell')}{uneven_text} the prediction is off by more than "
            f"{columns.points_text(LARGE_ERROR)} points because {failure}; in the worst, on "
            f"{plural(worst_cell.cell.ranks, 'rank')}, by {columns.change_text(worst_cell.error)} points "
            f"({measurement})."
        )
    return texts


def _is_uneven(entry: CheckedCell) -> bool:
    """Whether some ranks had more work than others."""
    return bool(entry.cell.serial) or not entry.cell.is_even
