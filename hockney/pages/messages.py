# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The wording of caveats about a run. If `touches` is empty, the affected cases are listed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hockney.core.errors import UsageError, unknown
from hockney.core.fit import LAUNCHES_IN_TWO_MODES
from hockney.core.units import format_factor, format_number
from hockney.core.wording import listing, plural, together
from hockney.draw.page import Caveat
from hockney.pages.format import half_width, percent, quantity

# what was measured


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
    verb, example = ("rests", "that of ") if fits == 1 else ("rest", "for example that of ")
    return Caveat(
        LAUNCHES_IN_TWO_MODES,
        f"{fits} of {plural(of, 'fit')} {verb} on launches in two modes of the machine, "
        f"{example}{subject}: {found}; chance decides how many are in each",
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


def coarse_clock(resolution_s: float, cases: int) -> Caveat:
    return Caveat(
        "clock",
        f"the clock's resolution ({quantity(resolution_s, 's')}) is too coarse for {plural(cases, 'case')}",
        "",
        "time many operations together (sync=loop), or measure larger sizes",
    )


# the machine


def oversubscribed(ranks: Sequence[int]) -> Caveat:
    return Caveat(
        "oversubscribed",
        f"{together(ranks)} ranks share fewer processors: the times include the scheduler",
        f"cases on {together(ranks)} ranks",
        "use fewer ranks (--ranks) or a larger machine",
    )


def unbound(free: int, launches: int) -> Caveat:
    return Caveat(
        "unbound",
        "ranks may move between processors, which occasionally adds long times",
        "" if free == launches else f"{plural(free, 'launch', 'launches')} of {launches}",
        "leave out --no-bind, or let the launcher bind them",
    )


def threads_share_cores(threads: int, processors: int) -> Caveat:
    """Each rank has this many `threads`, bound to fewer `processors`."""
    return Caveat(
        "threads-share-cores",
        f"the {threads} threads of a rank share {plural(processors, 'processor')}: they communicate in turn, "
        "not at the same time",
        "",
        "leave ranks unbound (--no-bind), or bind each to several cores (--mpiexec-args)",
    )


def simulated_overlap(machine: str) -> Caveat:
    return Caveat(
        "simulated-overlap",
        f"simulated messages on {machine} need no processor: they proceed while a rank computes, as on an "
        "ideal network interface, whether it calls MPI or not",
        "what computing hides",
        "use a real machine",
    )


def progress_thread_shares_core() -> Caveat:
    return Caveat(
        "progress-thread-shares-core",
        "MPI's progress thread shares a processor with its rank: each waits while the other runs",
        "",
        "use fewer ranks and leave them unbound (--no-bind), or bind each to several cores (--mpiexec-args)",
    )


def load(
    cores: float, steal: float, loaded: int, launches: int, cases: int, counted: int, fewest_quiet: int
) -> Caveat:
    """The most that other programs used of the processors in one launch, and that the hypervisor took; 0 if
    that is not much. `loaded` of the `launches` had a high load; they measured `cases`, of which `counted`
    include them because they have less than `fewest_quiet` others."""
    facts = [f"other programs used up to {cores:.2f} processors"] if cores else []
    if steal:
        facts.append(f"the hypervisor took up to {percent(steal)} of the processors' time")
    verb = "is" if loaded == 1 else "are"
    use = f"{verb} included because fewer than {fewest_quiet} quiet ones exist"
    if counted < cases:
        use = f"{verb} excluded from {plural(cases - counted, 'case')}"
    if 0 < counted < cases:
        use += f", but included in {counted} with fewer than {fewest_quiet} quiet ones"
    text = (
        f"during a launch, {' and '.join(facts)}; {loaded} of {plural(launches, 'launch', 'launches')} had a "
        f"high load and {use}"
    )
    remedy = (
        "stop them and measure again" if cores else "measure again later, or on a machine that is not shared"
    )
    remedy += ", or give more time (--budget) for launches to replace them"
    return Caveat("load", text, "", remedy)


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


def virtual(kind: str) -> Caveat:
    return Caveat(
        "virtual",
        f"this machine is virtual ({kind}): other guests can slow it down undetected; a mode that "
        "lasts longer than the run may be several times as slow or fast",
        "",
        "compare several runs before trusting differences",
    )


def governor(name: str) -> Caveat:
    return Caveat(
        "governor",
        f"the processors change their frequency (governor {name})",
        "",
        "set the governor 'performance', for example with cpupower frequency-set -g performance",
    )


# where numbers come from


def survey_elsewhere(where: str, differences: Sequence[str]) -> Caveat:
    return Caveat(
        "survey",
        f"message costs are from the survey {where}, made on another machine or with other settings: "
        f"{'; '.join(differences)}",
        "all predictions",
        "survey this machine with 'hockney survey'",
    )


def fake() -> Caveat:
    return Caveat(
        "fake",
        "these numbers were made up by the fake machine",
        "",
        "leave out --machine fake, or unset HOCKNEY_MACHINE, to measure",
    )


def simulated(title: str) -> Caveat:
    return Caveat(
        "simulated",
        f"these numbers were simulated on a description of {title}, not measured",
        "",
        "'hockney machines --show' shows which of its parameters were printed, fitted or guessed",
    )


def poor_calibration(title: str, reason: str) -> Caveat:
    return Caveat(
        "poor-calibration",
        f"the messages of {title} were calibrated from a poor fit: {reason}",
        "",
        "survey on a quieter machine, or with a larger --budget, and calibrate again",
    )


def two_mode_calibration(title: str, found: str) -> Caveat:
    return Caveat(
        "two-mode-calibration",
        f"{title} was calibrated from typical times, and {found}: its times are between both modes",
        "",
        "calibrate again with --cost undisturbed, or from a longer survey",
    )


def not_computed() -> Caveat:
    return Caveat(
        "not-computed",
        "computing only took its simulated time (arithmetic=none), so no result was verified",
        "",
        "use arithmetic=real, which computes and verifies in the same simulated time",
    )


def between_nodes(title: str, ranks: Sequence[int], most: int) -> Caveat:
    """A node has room for `most` ranks."""
    return Caveat(
        "between-nodes",
        f"{together(ranks)} ranks of {title} are on several nodes; the cost of messages between nodes was "
        "not measured and is a guess",
        f"cases on more than {plural(most, 'rank')}",
        "calibrate from a survey between two hosts, or with --network",
    )


def published(citation: str, machine: str) -> Caveat:
    return Caveat(
        "published",
        f"these numbers were copied from a publication, not measured here: {citation}",
        "",
        f"'hockney machines --show {machine}' shows which of them contradict each other",
    )


ALL_NUMBERS = "all numbers"


def cases(lines: Sequence[str]) -> str:
    """Which cases a caveat affects."""
    return listing(sorted(lines))


def unknown_column(name: str, available: Iterable[str]) -> UsageError:
    return unknown("column", name, available)
