# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Cases that the user names; the only question is their cost."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import replace

from hockney.core.case import LAUNCH_PARAMETERS, Case, split_case
from hockney.core.catalog import Catalog
from hockney.core.errors import UsageError, printable
from hockney.core.fit import Fit
from hockney.core.machine import Machine
from hockney.core.parameters import list_values
from hockney.core.units import parse_counts
from hockney.draw.figure import Axis, Figure
from hockney.draw.page import Page, Section, Table
from hockney.pages import course, metrics, quality, settings_compared, undisturbed
from hockney.pages.case_columns import CaseColumn, placement_columns
from hockney.pages.columns import (
    BANDWIDTH_FORMAT,
    COUNT_FORMAT,
    INTERVAL_HEADING,
    SECONDS_FORMAT,
    TEXT_FORMAT,
    Column,
    columns_table,
)
from hockney.pages.evidence import Evidence, MeasuredCase, Options, unique_cases
from hockney.pages.format import bandwidth, format_range_width, format_scatter, label, typed_line
from hockney.pages.series import curve, rates, times
from hockney.pages.study_page import first_figure, study_page

NAME = "cases"
HELP = "only the cases that you name: hockney run pingpong bytes=0:4MiB"

RUN_BY_NAME = False
AS_TYPED = True
"""Cases are measured as typed."""

NOT_A_MULTIPLE_CODE = "not-a-multiple"
"""The error code for a value that is not a multiple of its parameter's divisor."""
MAX_SENTENCES = 6
MAX_CASES = 100_000


def plan(options: Options, catalog: Catalog, machine: Machine) -> list[Case]:
    """Each line, once for every combination of its values, such as `bytes=0:4MiB`,
    `algorithm=mpi,dissemination` and `ranks=1,2`. Lines without ranks or sizes use those of the options, and
    lines without a rate that of the simulated machine."""
    if not options.cases:
        raise UsageError(
            "no case is given",
            "there is nothing to measure",
            "give one, for example 'pingpong bytes=8'",
            code="no-case",
        )
    cases = unique_cases(
        with_described_rate(case, catalog, machine)
        for line in options.cases
        for case in _expand_line(line, options, catalog)
    )
    if len(cases) > MAX_CASES:
        raise UsageError(
            f"{len(cases)} cases are too many",
            f"the limit is {MAX_CASES}",
            "give fewer values",
            code="too-many-cases",
            limit=MAX_CASES,
        )
    return cases


def _expand_line(line: str, options: Options, catalog: Catalog) -> list[Case]:
    workload_name, raw = split_case(line)
    workload = catalog.workload(workload_name)
    declared_parameters = {parameter.name: parameter for parameter in workload.parameters}
    lists: dict[str, Sequence[str]] = {
        k: list_values(declared_parameters[k].kind, declared_parameters[k].unit, text)
        if k in declared_parameters
        else list_values("text", "", text)
        if k in LAUNCH_PARAMETERS
        else (text,)
        for k, text in raw.items()
    }
    if "ranks" in raw:
        lists["ranks"] = [str(parameter) for parameter in parse_counts(raw["ranks"])]
    else:
        min_ranks = max(2, workload.min_ranks) if workload.max_ranks != 1 else 1
        lists["ranks"] = [str(parameter) for parameter in options.ranks or (min_ranks,)]
    if "bytes" in declared_parameters and "bytes" not in raw and options.sizes:
        lists["bytes"] = [str(size) for size in options.sizes]
    combinations: list[dict[str, str]] = [{}]
    for k, values in lists.items():
        if len(combinations) * len(values) > MAX_CASES:
            raise UsageError(
                f"'{printable(line)}' lists too many cases",
                f"the limit is {MAX_CASES}",
                "give fewer values",
                code="line-lists-too-many-cases",
                limit=MAX_CASES,
            )
        combinations = [{**combination, k: value} for combination in combinations for value in values]
    implicit = {k for k, text in raw.items() if ":" in text} | (lists.keys() - raw.keys())
    return list(_possible_cases(workload_name, combinations, implicit, catalog))


def _possible_cases(
    workload_name: str, combinations: Sequence[dict[str, str]], implicit: Container[str], catalog: Catalog
) -> Iterator[Case]:
    """The possible cases. Values of `implicit` parameters that are not multiples of their divisor are left
    out, because the user did not name them individually. Raises UsageError if no case is left."""
    impossible, has_case = None, False
    for combination in combinations:
        try:
            case = catalog.complete_case(workload_name, combination)
        except UsageError as error:
            if error.code != NOT_A_MULTIPLE_CODE or error.fields["parameter"] not in implicit:
                raise
            impossible = error
        else:
            has_case = True
            yield case
    if impossible and not has_case:
        raise impossible


def with_described_rate(case: Case, catalog: Catalog, machine: Machine) -> Case:
    """Complete a case from a simulated machine's description, unless the case has these values: the rate of
    its operation (by default the speed of a core for a NAS benchmark) or the time of a step at this rate, and
    the startup of its messages."""
    platform = machine.platform
    if platform is None:
        return case
    from hockney.models.loggp_sim import message_startup

    if case.get("startup") == 0:
        case = case.with_parameter("startup", message_startup(platform, case.ranks))
    workload = catalog.entry(case.workload)
    described = platform.rate(workload.operation) if workload.role == "npb" else None
    rate = platform.rates.get(workload.operation, described)
    if rate is not None and case.get("rate") == 0:
        return case.with_parameter("rate", rate)
    return case if rate is None or case.get("step_s") != 0 else case.with_parameter("step_s", 1 / rate)


def page(evidence: Evidence) -> Page:
    groups: dict[str, list[MeasuredCase]] = {}
    for result in evidence.measured:
        groups.setdefault(label(result, result.workload.size), []).append(result)
    has_differing_costs = any(
        undisturbed.differing_undisturbed(result.summary) for result in evidence.measured
    )
    where = placement_columns([result for result in evidence.measured if not result.case.is_placed])
    sections = [
        _section(evidence, subject, measured, has_differing_costs, where)
        for subject, measured in groups.items()
    ]
    has_settings = any(result.case.setting for result in evidence.measured)
    additional_sections = [
        settings_compared.section(evidence) if has_settings else None,
        quality.parameters_section(evidence),
        course.section(evidence),
        quality.spread_section(evidence),
        quality.verification_section(evidence),
    ]
    names = sorted({result.case.workload for result in evidence.measured})
    lead, remaining_sections = first_figure(
        [*sections, *(section for section in additional_sections if section is not None)]
    )
    return study_page(
        evidence,
        title=", ".join(names) or "Nothing measured",
        headline=_headline(evidence),
        sections=remaining_sections,
        lead=lead,
    )


def _headline(evidence: Evidence) -> tuple[str, ...]:
    texts = [
        f"{result.case.line}: {undisturbed.cost_text(result.summary)}."
        for result in evidence.measured[:MAX_SENTENCES]
    ]
    omitted = len(evidence.measured) - len(texts)
    return (*texts, *([f"And {omitted} more cases."] if omitted > 0 else [])) or ("Nothing was measured.",)


def _section(
    evidence: Evidence,
    subject: str,
    measured: list[MeasuredCase],
    has_differing_costs: bool,
    placement_columns: Sequence[CaseColumn],
) -> Section:
    """The section. `has_differing_costs`: some case of the page has an undisturbed cost that differs from its
    typical one. `placement_columns` distinguish cases by the placement of their ranks."""
    fits = [
        fit
        for fit in evidence.fits.fits
        if fit.curve and fit.verdict != "refused" and _is_fit_of_section(fit, measured[0])
    ]
    figures = []
    if len({result.size for result in measured}) > 1:
        name = "-".join(subject.replace("=", "_").split())
        size_axis = _size_axis(measured[0])
        curves = tuple(curve(f"{fit.model} model", fit, subject) for fit in fits)
        figures.append(
            Figure(
                f"time-{name}",
                f"Time of {subject}",
                size_axis,
                Axis("time", "s"),
                (times(subject, measured), *curves),
            )
        )
        rate = rates(subject, measured)
        if len(rate.x) > 1:
            axes = _size_axis(measured[0], zero=False), Axis("bandwidth", "B/s", "linear")
            figures.append(Figure(f"bandwidth-{name}", f"Bandwidth of {subject}", *axes, (rate,)))
    return Section(
        subject,
        figures=tuple(figures),
        tables=(
            _table(subject, measured, has_differing_costs, placement_columns),
            *metrics.metrics_tables(measured),
        ),
    )


def _is_fit_of_section(fit: Fit, result: MeasuredCase) -> bool:
    """Whether the fit's subject matches the section: the common values of its cases, including ranks."""
    subject = fit.subject
    fixed_values = {name: value for name, value in result.case.values.items() if name != result.workload.size}
    return subject.workload == result.case.workload and subject.values == fixed_values


def _size_axis(result: MeasuredCase, *, zero: bool = True) -> Axis:
    """The size of a workload, in its unit."""
    title = "message size" if result.workload.size == "bytes" else result.workload.size
    return Axis(title, result.workload.size_unit, "log", zero=zero)


def _table(
    subject: str,
    measured: list[MeasuredCase],
    has_differing_costs: bool,
    placement_columns: Sequence[CaseColumn],
) -> Table:
    """The section's table. Tables of a page have the same columns, because a terminal prints them as one
    table."""
    undisturbed_column = undisturbed.undisturbed_column(
        measured, undisturbed.summary_of, always=has_differing_costs
    )
    columns: tuple[Column[MeasuredCase], ...] = (
        Column("case", typed_line),
        *(replace(column, format=TEXT_FORMAT) for column in placement_columns),
        Column("typical", lambda result: result.summary.typical, SECONDS_FORMAT, interval=INTERVAL_HEADING),
        undisturbed_column,
        Column(
            "bandwidth",
            lambda result: bandwidth(result) if result.summary.bytes_moved else None,
            BANDWIDTH_FORMAT,
        ),
        Column("within", lambda result: format_range_width(result.summary.spread_within), COUNT_FORMAT),
        Column("between", lambda result: format_scatter(result.summary.between), COUNT_FORMAT),
        Column("repetitions", lambda result: result.summary.repetitions, COUNT_FORMAT),
    )
    caption = undisturbed.CAPTION if undisturbed_column.heading else ""
    return columns_table("cases", subject, columns, measured, caption)
