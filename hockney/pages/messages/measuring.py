# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Caveats about records, precision and fits. If `touches` is empty, the affected cases are listed."""

from __future__ import annotations

from collections.abc import Sequence

from hockney.core.fit import LAUNCHES_IN_TWO_MODES
from hockney.core.units import format_factor, format_number
from hockney.core.wording import listing, plural
from hockney.draw.page import Caveat
from hockney.pages.format import half_width, percent

ALL_NUMBERS = "all numbers"


def verification(errors: int, first: str) -> Caveat:
    return Caveat(
        "verification",
        f"{plural(errors, 'payload or result', 'payloads or results')} were wrong: {first}"
        if errors > 1
        else f"a payload or a result was wrong: {first}",
        "",
        "do not use these numbers; this MPI or this network corrupts messages, or a program computes wrongly",
    )


def corrupted(launches: int) -> Caveat:
    return Caveat(
        "corrupted",
        f"in {plural(launches, 'launch', 'launches')} an internal message was corrupted in transit",
        "",
        "do not use these numbers; this MPI or this network corrupts messages",
    )


def failures(count: int, case: str, message: str, silent: Sequence[int]) -> Caveat:
    """`case` is the first of `count` that failed, with its `message` and the ranks that were `silent`."""
    noun = "rank" if len(silent) == 1 else "ranks"
    ending = f"; silent {noun}: {', '.join(map(str, silent))}" if silent else ""
    return Caveat(
        "failures",
        f"{plural(count, 'case')} gave no result, such as {case}: {message}{ending}",
        "",
        "'hockney resume' repeats them",
    )


def incomplete(done: int, planned: int) -> Caveat:
    return Caveat(
        "incomplete",
        f"only {done} of {planned} planned measurements were made",
        "",
        "'hockney resume' measures the rest",
    )


def notices(lines: Sequence[str]) -> Caveat:
    return Caveat("notices", "; ".join(lines), "", "'hockney resume' measures what is missing")


def precision(
    missed: int, measured: int, wanted: float, widest: str, width: float | None, option: str
) -> Caveat:
    """`missed` of the `measured` cases have an interval wider than `wanted`; that of the case `widest` has
    the half `width`, None if there is no interval. `option` sets the number of launches."""
    known = "no interval" if width is None else f"within {half_width(width)}"
    if measured == 1:
        text = f"the 95% interval is wider than {percent(wanted)} ({known})"
    else:
        text = (
            f"in {missed} of {measured} cases the 95% interval is wider than "
            f"{percent(wanted)} (the widest, {widest}: {known})"
        )
    worst = "; the table of spread has the worst of them" if missed > 1 else ""
    return Caveat(
        "precision",
        text,
        f"{plural(missed, 'case')}{worst}",
        f"give more time (--budget), or plan more launches ({option})",
    )


def few_launches(cases: int, fewest: int, wanted: int, enough: int | None, option: str) -> Caveat:
    """`enough` launches are more than were planned; None if the plan already has that many."""
    return Caveat(
        "launches",
        f"{plural(cases, 'case rests', 'cases rest')} on fewer than {wanted} launches: "
        + (
            "the intervals do not include the variation between launches"
            if fewest == 1
            else "the variation between launches is poorly known, which widens the intervals"
        ),
        "",
        "give more time (--budget)"
        + (f", or measure with {option} {enough}" if enough else ": the planned launches did not fit"),
    )


def missed_launches(cases: int, example: str) -> Caveat:
    """`cases` have no interval, such as the one named `example`."""
    return Caveat(
        "missed-launches",
        f"{plural(cases, 'case has', 'cases have')} no interval, such as {example}: other cases changed in "
        "launches without it, and nothing similar was measured there",
        "",
        "measure again: a case that was measured in all launches has an interval",
    )


def launches_differ(
    cases: int, measured: int, worst: str, ratio: float, single: int, planned: int, option: str, bound: bool
) -> Caveat:
    """`cases` of the `measured` ones, `single` of them because of one launch only; those of the case `worst`
    have the largest `ratio`, of the slowest to the fastest. All ranks are `bound` to cores, or not."""
    alone = f"; one launch is far off in {single}" if single else ""
    most = f"the slowest takes up to {format_number(ratio, 2)} times as long as the fastest, {worst}{alone}"
    bind = "" if bound else ", bind the ranks to cores"
    return Caveat(
        "launches-differ",
        f"in {cases} of {plural(measured, 'case')} launches differ by more than the scatter within a launch "
        f"explains ({most})",
        "",
        f"plan more launches ({option} {planned}) with more time (--budget){bind}, or measure on a quiet "
        "machine",
    )


def launches_in_two_modes(fits: int, of: int, subject: str, found: str) -> Caveat:
    """`fits` of all, among them that of `subject`, whose caveat is `found`."""
    return Caveat(
        LAUNCHES_IN_TWO_MODES,
        f"in {fits} of {plural(of, 'fit')}, {'for example ' if fits > 1 else ''}that of {subject}, {found}; "
        "chance decides how many are in each",
        "fitted parameters, predictions and the typical times of short messages",
        "use the fast mode (--cost undisturbed), or measure again or with more time (--budget)",
    )


def undecided_settings(
    undecided: int, ratios: int, worst: str, apart: float, planned: int, option: str
) -> Caveat:
    """`undecided` of all `ratios` between launch settings are because launches with the same setting differ,
    at most by the factor `apart`, those of the case `worst`."""
    verb = "is" if undecided == 1 else "are"
    return Caveat(
        "undecided-settings",
        f"launches with the same setting differ by up to {format_factor(apart)} ({worst}): {undecided} of "
        f"{plural(ratios, 'ratio')} between launch settings {verb} undecided",
        "all ratios between launch settings: their intervals contain these changes",
        f"plan more launches ({option} {planned}) with more time (--budget); 'hockney tune --check' measures "
        "the gains of its tables again",
    )


def contradiction(texts: Sequence[str]) -> Caveat:
    return Caveat(
        "loggp-contradiction",
        "; ".join(texts),
        "the LogGP parameters",
        "do not use them; more launches show whether this is a coincidence",
    )


def poor_fit(subject: str, reason: str) -> Caveat:
    return Caveat(
        "poor-fit",
        f"the fit of {subject} is poor: {reason}",
        "its parameters, the sizes in the headline that come from it, and predictions",
        "measure on a quieter machine, or with more time (--budget)",
    )


def interrupted(records: int, cases: int, slow: bool) -> Caveat:
    """`records` of that many cases do not count. `slow`: they are slower than the others, so the time was
    lost to preemption; otherwise their launches were short."""
    verb, launches = ("is", "its launch") if records == 1 else ("are", "their launches")
    cause = "had time for only a few repetitions"
    remedy = "give more time (--budget)"
    if slow:
        cause += ", because the system took a rank's core away"
        remedy = f"stop other programs, use fewer ranks than processors, or {remedy}"
    return Caveat(
        "interrupted",
        f"{plural(records, 'result')} of {plural(cases, 'case')} {verb} excluded: {launches} {cause}",
        "",
        remedy,
    )


def cases(lines: Sequence[str]) -> str:
    """Which cases a caveat affects."""
    return listing(sorted(lines))
