# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The page: the answer and one figure first, then the violations; everything else is closed."""

from __future__ import annotations

from hockney.core.wording import plural
from hockney.draw.figure import Axis, Figure, Tone
from hockney.draw.page import Page, Section
from hockney.models.guidelines import LEVEL, SOURCES, Judged, State, Verdicts, judge
from hockney.pages import quality
from hockney.pages.evidence import Evidence
from hockney.pages.series import estimates
from hockney.pages.study_page import study_page
from hockney.studies.guidelines import tables
from hockney.studies.guidelines.wording import alternative, answer, call, in_short

METHOD = (
    "Guidelines of Träff, Gropp and Thakur (2010) and of Hunold and Carpen-Amarie (2018): an operation "
    "should not take longer than another way to the same result. Parts of an emulation are measured as "
    "single calls, which begin together; their sum is no less than the emulation takes, and copies in a "
    "rank's memory count as MPI_Reduce_local.",
    "Ratios are computed within launches if all calls were measured in the same ones. A guideline is "
    f"violated if the 95% interval of the ratio lies above the limit, and if p is at most {LEVEL:g} after "
    "adjustment for the number of comparisons, so that on average no more than 5% of the violations are "
    "false.",
)
CITED = tuple(f"[{number}] {source}." for number, source in SOURCES.items())


def page(evidence: Evidence) -> Page:
    verdicts = evidence.cached(judged)
    sections = [
        _violations(verdicts),
        Section("Guidelines", CITED, tables=(tables.guidelines(verdicts),), closed=True),
        _notable(verdicts),
        quality.spread_of_noise(evidence),
        quality.verification(evidence),
    ]
    return study_page(
        evidence,
        title="Performance guidelines",
        headline=answer(verdicts) if evidence.measured else ("Nothing was measured.",),
        sections=sections,
        method=METHOD,
        lead=largest(verdicts),
    )


def _notable(verdicts: Verdicts) -> Section | None:
    table = tables.notable(verdicts)
    if not table.rows:
        return None
    text = (
        f"{len(table.rows)} of {plural(len(verdicts.judged), 'comparison')}; "
        "'hockney guidelines --json' prints all of them.",
    )
    return Section(table.title, text, tables=(table,), closed=True)


def _violations(verdicts: Verdicts) -> Section | None:
    table = tables.violations(verdicts)
    if not table.rows:
        return None
    text = (
        "Each call once, with the other way that is faster by the largest factor. "
        "A call may violate several guidelines.",
    )
    return Section("Violations", text=text, tables=(table,))


STATES: tuple[tuple[str, tuple[State, ...], Tone], ...] = (
    ("violated", ("violated",), "warning"),
    ("holds", ("holds",), "neutral"),
    ("undecided", ("undecided", "unknown"), "neutral"),
)


def largest(verdicts: Verdicts) -> Figure | None:
    """A row for each guideline, and for each operation with user-level algorithms; None without any."""
    rows = sorted(_rows(verdicts).items(), key=lambda row: -row[1].ratio.value)
    if not rows:
        return None
    names = tuple(name for name, _ in rows)
    series = (
        estimates(
            name,
            [(k, each.ratio, _detail(each)) for k, (_, each) in enumerate(rows) if each.state in states],
            hollow=name == "undecided",
            tone=tone,
        )
        for name, states, tone in STATES
    )
    return Figure(
        "guidelines",
        "The largest violation of each guideline, or its margin",
        Axis("guideline", "guideline", "linear", names=names),
        Axis("time relative to the other way", ""),
        tuple(s for s in series if s.x),
        "For each guideline, the comparison with the largest ratio and its 95% interval; hollow: undecided.",
        marks=((verdicts.factor, f"{verdicts.factor:.4g}"),),
    )


def _rows(verdicts: Verdicts) -> dict[str, Judged]:
    rows: dict[str, Judged] = {}
    for each in verdicts.judged:
        name = in_short(each.rule)
        if each.rule.kind == "algorithm":
            name = f"{each.left.workload} <= other algorithms"
        known = rows.get(name)
        if known is None or _rank(each) > _rank(known):
            rows[name] = each
    return rows


def _rank(each: Judged) -> tuple[bool, float]:
    """Violations come before larger ratios that are not significant."""
    return each.state == "violated", each.ratio.value


def _detail(each: Judged) -> str:
    ranks = plural(each.left.ranks, "rank")
    return f"{call(each.left)} on {ranks}: {each.ratio.value:.2f} times {alternative(each.comparison)}"


def judged(evidence: Evidence) -> Verdicts:
    """The verdicts on all cases of the run; a run of any study may have them."""
    return judge(evidence.observed(), evidence.catalog, exact=evidence.machine.exact)
