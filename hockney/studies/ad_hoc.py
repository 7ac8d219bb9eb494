# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Ad-hoc cases: the only question is their cost."""

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
"""No case is changed."""

NOT_A_MULTIPLE = "not-a-multiple"
"""The code of the error of a value that does not have its parameter's divisor."""
MAX_SENTENCES = 6
MAX_CASES = 100_000


def plan(options: Options, catalog: Catalog, machine: Machine) -> list[Case]:
    """Each line, once for every combination of the values that it lists, such as `bytes=0:4MiB`,
    `algorithm=mpi,dissemination` and `ranks=1,2`. A line that names no ranks or sizes uses the options', and
    one without a rate that of the simulated machine."""
    if not options.cases:
        raise UsageError(
            "no case is given",
            "there is nothing to measure",
            "give one, for example 'pingpong bytes=8'",
            code="no-case",
        )
    cases = unique_cases(
        at_described_rate(case, catalog, machine)
        for text in options.cases
        for case in _expand(text, options, catalog)
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


def _expand(text: str, options: Options, catalog: Catalog) -> list[Case]:
    name, raw = split_case(text)
    workload = catalog.workload(name)
    declared = {p.name: p for p in workload.parameters}
    lists: dict[str, Sequence[str]] = {
        k: list_values(declared[k].kind, declared[k].unit, v)
        if k in declared
        else list_values("text", "", v)
        if k in LAUNCH_PARAMETERS
        else (v,)
        for k, v in raw.items()
    }
    if "ranks" in raw:
        lists["ranks"] = [str(p) for p in parse_counts(raw["ranks"])]
    else:
        fewest = max(2, workload.min_ranks) if workload.max_ranks != 1 else 1
        lists["ranks"] = [str(p) for p in options.ranks or (fewest,)]
    if "bytes" in declared and "bytes" not in raw and options.sizes:
        lists["bytes"] = [str(size) for size in options.sizes]
    combined: list[dict[str, str]] = [{}]
    for k, values in lists.items():
        if len(combined) * len(values) > MAX_CASES:
            raise UsageError(
                f"'{printable(text)}' lists too many cases",
                f"the limit is {MAX_CASES}",
                "give fewer values",
                code="line-lists-too-many-cases",
                limit=MAX_CASES,
            )
        combined = [{**each, k: value} for each in combined for value in values]
    ranged = {k for k, v in raw.items() if ":" in v} | (lists.keys() - raw.keys())
    return list(_possible(name, combined, ranged, catalog))


def _possible(
    name: str, combined: Sequence[dict[str, str]], ranged: Container[str], catalog: Catalog
) -> Iterator[Case]:
    """The cases, without those that cannot exist because a parameter in `ranged` is no multiple of what it
    should be: nobody asked for such a value in particular. Raises UsageError if there is no other."""
    impossible, has_case = None, False
    for each in combined:
        try:
            case = catalog.complete_case(name, each)
        except UsageError as error:
            if error.code != NOT_A_MULTIPLE or error.fields["parameter"] not in ranged:
                raise
            impossible = error
        else:
            has_case = True
            yield case
    if impossible and not has_case:
        raise impossible


def at_described_rate(case: Case, catalog: Catalog, machine: Machine) -> Case:
    """The case with the rate that a simulated machine's description has for its operation (by default the
    speed of a core for a NAS benchmark), or the time of a step at this rate, and with the startup of its
    messages, unless the case has them."""
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
    for m in evidence.measured:
        groups.setdefault(label(m, m.workload.size), []).append(m)
    differing = any(undisturbed.differing_undisturbed(m.summary) for m in evidence.measured)
    where = placement_columns([m for m in evidence.measured if not m.case.is_placed])
    sections = [
        _section(evidence, subject, measured, differing, where) for subject, measured in groups.items()
    ]
    has_settings = any(m.case.setting for m in evidence.measured)
    more = [
        settings_compared.section(evidence) if has_settings else None,
        quality.parameters_section(evidence),
        course.section(evidence),
        quality.spread_section(evidence),
        quality.verification_section(evidence),
    ]
    names = sorted({m.case.workload for m in evidence.measured})
    lead, rest = first_figure([*sections, *(s for s in more if s is not None)])
    return study_page(
        evidence,
        title=", ".join(names) or "Nothing measured",
        headline=_headline(evidence),
        sections=rest,
        lead=lead,
    )


def _headline(evidence: Evidence) -> tuple[str, ...]:
    texts = [f"{m.case.line}: {undisturbed.cost_text(m.summary)}." for m in evidence.measured[:MAX_SENTENCES]]
    more = len(evidence.measured) - len(texts)
    return (*texts, *([f"And {more} more cases."] if more > 0 else [])) or ("Nothing was measured.",)


def _section(
    evidence: Evidence,
    subject: str,
    measured: list[MeasuredCase],
    differing: bool,
    where: Sequence[CaseColumn],
) -> Section:
    """`differing`: whether some case of the page has an undisturbed cost that differs from its typical
    one; `where`: columns that distinguish cases by where their ranks were."""
    fits = [f for f in evidence.fits.fits if f.curve and f.verdict != "refused" and _is_of(f, measured[0])]
    figures = []
    if len({m.size for m in measured}) > 1:
        name = "-".join(subject.replace("=", "_").split())
        size = _axis(measured[0])
        lines = tuple(curve(f"{f.model} model", f, subject) for f in fits)
        figures.append(
            Figure(
                f"time-{name}",
                f"Time of {subject}",
                size,
                Axis("time", "s"),
                (times(subject, measured), *lines),
            )
        )
        rate = rates(subject, measured)
        if len(rate.x) > 1:
            axes = _axis(measured[0], zero=False), Axis("bandwidth", "B/s", "linear")
            figures.append(Figure(f"bandwidth-{name}", f"Bandwidth of {subject}", *axes, (rate,)))
    return Section(
        subject,
        figures=tuple(figures),
        tables=(_table(subject, measured, differing, where), *metrics.metrics_tables(measured)),
    )


def _is_of(fit: Fit, m: MeasuredCase) -> bool:
    """Whether the fit's subject is that of a section: what its cases have in common, including ranks."""
    subject = fit.subject
    fixed = {k: v for k, v in m.case.values.items() if k != m.workload.size}
    return subject.workload == m.case.workload and subject.values == fixed


def _axis(m: MeasuredCase, *, zero: bool = True) -> Axis:
    """The size of a workload, in its unit."""
    title = "message size" if m.workload.size == "bytes" else m.workload.size
    return Axis(title, m.workload.size_unit, "log", zero=zero)


def _table(subject: str, measured: list[MeasuredCase], differing: bool, where: Sequence[CaseColumn]) -> Table:
    """Tables of one page have the same columns: on a terminal they are printed as one table."""
    extra = undisturbed.undisturbed_column(measured, undisturbed.summary_of, always=differing)
    columns: tuple[Column[MeasuredCase], ...] = (
        Column("case", typed_line),
        *(replace(column, format=TEXT_FORMAT) for column in where),
        Column("typical", lambda m: m.summary.typical, SECONDS_FORMAT, interval=INTERVAL_HEADING),
        extra,
        Column("bandwidth", lambda m: bandwidth(m) if m.summary.bytes_moved else None, BANDWIDTH_FORMAT),
        Column("within", lambda m: format_range_width(m.summary.spread_within), COUNT_FORMAT),
        Column("between", lambda m: format_scatter(m.summary.between), COUNT_FORMAT),
        Column("repetitions", lambda m: m.summary.repetitions, COUNT_FORMAT),
    )
    caption = undisturbed.CAPTION if extra.heading else ""
    return columns_table("cases", subject, columns, measured, caption)
