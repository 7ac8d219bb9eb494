# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Caveats of a run: what makes numbers doubtful, which ones, and the remedy. Each caveat appears once: at the
top of the page if it affects all numbers, otherwise in the section that it affects."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from statistics import median

from hockney.core.fit import LAUNCHES_IN_TWO_MODES, Summary
from hockney.core.settings import FEWEST_LAUNCHES, PRECISION
from hockney.core.units import format_factor, format_number
from hockney.core.wording import join_words, list_names, plural, verb_form
from hockney.draw.page import Caveat, Section
from hockney.models.loaded_launches import (
    FEWEST_QUIET,
    LOADED_OUTSIDE_CORES,
    LOADED_STEAL,
    drop_interrupted,
    loaded_launches,
    select_records,
)
from hockney.pages import collectives, loggp, point_to_point
from hockney.pages.caveats import machine
from hockney.pages.caveats.machine import ALL_NUMBERS
from hockney.pages.evidence import Evidence, RunCaveat, run_caveat
from hockney.pages.format import half_width, percent, precision, quantity
from hockney.pages.labels import labels
from hockney.pages.levels import where
from hockney.pages.series import message_fit

WARNED_PRECISION = 0.1
"""If no precision was requested, wider intervals than this have a warning; few machines reach hockney's own
goal in all cases of a run."""
ENOUGH_LAUNCHES = 10
"""With this many, Student's t is small, and loaded ones can be left out."""
LAUNCHES_DIFFER = 0.1
"""Launches whose times scatter by more than this fraction are mentioned."""
SLOWED = 2.0
"""A repetition that took more than this many times as long as usual lost its time to the scheduler."""
BEYOND = 2.0
"""Factor on the scatter predicted by the spread within launches: beyond it launches differ."""
CLOCK_SHARE = 0.1
"""The clock's step may be a tenth of a repetition: the engine batches operations until it is."""


def caveats(evidence: Evidence) -> tuple[RunCaveat, ...]:
    """All caveats about a run, the most serious first."""
    return evidence.cached(_caveats)


def _caveats(evidence: Evidence) -> tuple[RunCaveat, ...]:
    return tuple(_complete(caveat, evidence) for check in _ALL for caveat in check(evidence))


def without_section_caveats(evidence: Evidence) -> tuple[Caveat, ...]:
    """The caveats of the run without those that affect a single section: a page whose top has only these adds
    the others to its sections by `with_caveats`."""
    return tuple(
        run_caveat.caveat
        for run_caveat in caveats(evidence)
        if run_caveat.cases is None
        or len(sections := _sections(run_caveat.cases, evidence)) != 1
        or "" in sections
    )


def with_caveats(section: Section, evidence: Evidence) -> Section:
    """The section with the caveats that affect only it."""
    affecting = [
        d.caveat
        for d in caveats(evidence)
        if section.id and d.cases is not None and _sections(d.cases, evidence) == {section.id}
    ]
    if not affecting:
        return section
    if section.multiples:  # not the same text on each of them
        return replace(section, warnings=(*section.warnings, *affecting))
    texts = tuple(caveat.text for caveat in affecting)
    figures = tuple(replace(f, warnings=(*f.warnings, *texts)) for f in section.figures)
    return replace(section, warnings=(*section.warnings, *affecting), figures=figures)


SECTIONS = (
    (point_to_point.ID, point_to_point.ROLES),
    (loggp.ID, ("train", "overhead")),
    (collectives.ID, collectives.ROLES),
    ("overlap", ("overlap",)),
)


def section_of(role: str) -> str:
    """The id of the section that shows workloads of a role; empty if none does."""
    return next((name for name, roles in SECTIONS if role in roles), "")


def _sections(cases: Iterable[str], evidence: Evidence) -> set[str]:
    return {section_of(evidence.role_of(case)) for case in cases}


def _complete(run_caveat: RunCaveat, evidence: Evidence) -> RunCaveat:
    """Adds which numbers it affects, unless it states that itself."""
    if run_caveat.caveat.touches:
        return run_caveat
    named = labels(evidence)
    touches = ALL_NUMBERS if run_caveat.cases is None else list_names(sorted(map(named, run_caveat.cases)))
    return replace(run_caveat, caveat=replace(run_caveat.caveat, touches=touches))


def _verification(evidence: Evidence) -> Iterator[RunCaveat]:
    bad = evidence.run.corrupted_records
    if not bad:
        return
    errors = sum(r.verified.errors for r in bad)
    first = bad[0].verified.first
    yield run_caveat(
        "verification",
        f"{plural(errors, 'payload or result', 'payloads or results')} were wrong: {first}"
        if errors > 1
        else f"a payload or a result was wrong: {first}",
        "do not use these numbers; this MPI or this network corrupts messages, or a program computes wrongly",
        cases={r.case for r in bad},
    )


def _corrupted(evidence: Evidence) -> Iterator[RunCaveat]:
    if launches := evidence.run.corrupted_launches:
        yield run_caveat(
            "corrupted",
            f"in {plural(launches, 'launch', 'launches')} an internal message was corrupted in transit",
            "do not use these numbers; this MPI or this network corrupts messages",
        )


def _failures(evidence: Evidence) -> Iterator[RunCaveat]:
    failed = {f.case: f for f in evidence.run.failures}
    for record in evidence.run.records:
        failed.pop(record.case, None)
    if not failed:
        return
    one = next(iter(failed.values()))
    silent = ", ".join(map(str, one.silent_ranks))
    ending = f"; silent {'rank' if len(one.silent_ranks) == 1 else 'ranks'}: {silent}" if silent else ""
    yield run_caveat(
        "failures",
        f"{plural(len(failed), 'case')} gave no result, such as {one.case}: {one.message}{ending}",
        "'hockney resume' repeats them",
        cases=failed,
    )


def _incomplete(evidence: Evidence) -> Iterator[RunCaveat]:
    if evidence.left:
        yield run_caveat(
            "incomplete",
            f"only {evidence.planned - evidence.left} of {evidence.planned} planned measurements were made",
            "'hockney resume' measures the rest",
        )


def _oversubscribed(evidence: Evidence) -> Iterator[RunCaveat]:
    """More ranks on a host than hardware threads they may use."""
    sharing = {
        launch.launch: len(launch.ranks)
        for launch in evidence.run.launches
        if machine.crowded(launch, evidence.machine)
    }
    if not sharing:
        return
    ranks = join_words(sorted(set(sharing.values())))
    yield run_caveat(
        "oversubscribed",
        f"{ranks} ranks share fewer processors: the times include the scheduler",
        "use fewer ranks (--ranks) or a larger machine",
        touches=f"cases on {ranks} ranks",
        cases={r.case for r in evidence.run.records if r.launch in sharing},
    )


def _unbound(evidence: Evidence) -> Iterator[RunCaveat]:
    if evidence.machine.traits.emulated:  # ranks of several hosts share these processors by design
        return
    free = [
        launch
        for launch in evidence.run.launches
        if any(
            machine.processors(rank.cpus) and not machine.bound(rank.cpus, evidence.machine)
            for rank in launch.ranks
        )
        and not machine.crowded(launch, evidence.machine)
    ]
    if not free:
        return
    names, launches = {launch.launch for launch in free}, len(evidence.run.launches)
    some = len(free) < launches
    yield run_caveat(
        "unbound",
        "ranks may move between processors, which occasionally adds long times",
        "leave out --no-bind, or let the launcher bind them",
        touches=f"{plural(len(free), 'launch', 'launches')} of {launches}" if some else "",
        cases={r.case for r in evidence.run.records if r.launch in names} if some else None,
    )


def _load(evidence: Evidence) -> Iterator[RunCaveat]:
    """What other programs and the hypervisor took, and whether the launches with a high load count."""
    loaded = loaded_launches(evidence.run)
    if not loaded:
        return
    closes = [close for close in evidence.run.closes if close.launch in loaded]
    cores = max(close.outside_cores or 0.0 for close in closes)
    steal = max(close.steal or 0.0 for close in closes)
    by_case = evidence.run.by_case()
    touched = {case for case, records in by_case.items() if any(r.launch in loaded for r in records)}
    counted = {
        case for case in touched if any(r.launch in loaded for r in select_records(by_case[case], loaded))
    }
    facts = [f"other programs used up to {cores:.2f} processors"] if cores > LOADED_OUTSIDE_CORES else []
    if steal > LOADED_STEAL:
        facts.append(f"the hypervisor took up to {percent(steal)} of the processors' time")
    verb = verb_form(len(loaded), "is", "are")
    use = f"{verb} included because fewer than {FEWEST_QUIET} quiet ones exist"
    if len(counted) < len(touched):
        use = f"{verb} excluded from {plural(len(touched) - len(counted), 'case')}"
        if counted:
            use += f", but included in {len(counted)} with fewer than {FEWEST_QUIET} quiet ones"
    launches = plural(len(evidence.run.launches), "launch", "launches")
    end_it = (
        "stop them and measure again"
        if cores > LOADED_OUTSIDE_CORES
        else "measure again later, or on a machine that is not shared"
    )
    yield run_caveat(
        "load",
        f"during a launch, {' and '.join(facts)}; {len(loaded)} of {launches} had a high load and {use}",
        f"{end_it}, or give more time (--budget) for launches to replace them",
        cases=touched if touched and not counted else None,
    )


def premises(evidence: Evidence) -> tuple[str, ...]:
    """The sentences before a headline, without which its numbers mislead: that they were simulated or depend
    on an assumed network, and that most launches had a high load and count nevertheless."""
    platform = evidence.machine.platform
    simulated = "" if platform is None else f"Simulated on a description of {platform.title}, not measured."
    network = assumed_network() if any(machine.between_nodes(evidence)) else ""
    return tuple(filter(None, (simulated, network, under_load(evidence))))


def under_load(evidence: Evidence) -> str:
    """Whether most launches had a high load and count nevertheless; "" if not."""
    loaded = loaded_launches(evidence.run)
    launches = len(evidence.run.launches)
    if 2 * len(loaded) <= launches:
        return ""
    by_case = evidence.run.by_case().values()
    counted = any(r.launch in loaded for records in by_case for r in select_records(records, loaded))
    if not counted:
        return ""
    share = f"{len(loaded)} of {plural(launches, 'launch', 'launches')}"
    return f"{share} had a high load: the numbers below are those of a busy machine."


def _interrupted(evidence: Evidence) -> Iterator[RunCaveat]:
    gone, slow = {}, False
    for case, made in evidence.run.by_case().items():
        counted = drop_interrupted(made)
        names = {record.launch for record in counted}
        if excluded := [record for record in made if record.launch not in names]:
            gone[case] = len(excluded)
            usual_s = median(median(record.times_s) for record in counted if record.times_s)
            slow |= any(median(record.times_s) > SLOWED * usual_s for record in excluded)
    if not gone:
        return
    records = sum(gone.values())
    verb, launches = ("is", "its launch") if records == 1 else ("are", "their launches")
    cause = "had time for only a few repetitions"
    remedy = "give more time (--budget)"
    if slow:  # the time was lost to preemption; otherwise the launches were short
        cause += ", because the system took a rank's core away"
        remedy = f"stop other programs, use fewer ranks than processors, or {remedy}"
    yield run_caveat(
        "interrupted",
        f"{plural(records, 'result')} of {plural(len(gone), 'case')} {verb} excluded: {launches} {cause}",
        remedy,
        cases=gone,
    )


def _precision(evidence: Evidence) -> Iterator[RunCaveat]:
    if evidence.machine.traits.noiseless or evidence.machine.traits.imported:
        return
    requested = evidence.settings.precision
    warned = max(requested, WARNED_PRECISION) if requested == PRECISION else requested
    widths = {s.case: precision(s.typical) for s in evidence.fits.summaries}
    wide = {case: width for case, width in widths.items() if width is None or width > warned}
    if not wide:
        return
    named = labels(evidence)
    widest, width = max(wide.items(), key=lambda item: math.inf if item[1] is None else item[1])
    if width is None:
        widest_text = "no interval"
    else:
        widest_text = f"±{percent(width)}" if width < 1 else f"within {half_width(width)}"
    text = f"the 95% interval is wider than ±{percent(warned)}"
    if len(widths) == 1:
        text += f" ({widest_text})"
    else:
        text = f"in {len(wide)} of {len(widths)} cases {text} (the widest, {named(widest)}: {widest_text})"
    worst = "; the table of spread has the worst of them" if len(wide) > 1 else ""
    yield run_caveat(
        "precision",
        text,
        f"give more time (--budget), or plan more launches ({_option(evidence)})",
        touches=f"{plural(len(wide), 'case')}{worst}",
        cases=wide,
    )


def _launches_differ(evidence: Evidence) -> Iterator[RunCaveat]:
    """Whether launches differ by more than the scatter within them predicts, judged by the spread of the
    launches' times without outliers, or of all of them if they are too few to identify outliers."""
    if evidence.machine.traits.noiseless:
        return
    differ = [s for s in evidence.fits.summaries if _may_differ(s) and _differs(s)]
    if not differ:
        return
    log_ranges = {
        observation.case.line: float(max(observation.log_typical) - min(observation.log_typical))
        for observation in evidence.observed(cost="typical")
    }
    worst = max(differ, key=lambda s: log_ranges[s.case])
    single = sum((s.between or 0.0) <= LAUNCHES_DIFFER for s in differ)
    alone = f"; one launch is far off in {single}" if single else ""
    ratio = format_number(math.exp(log_ranges[worst.case]), 2)
    most = (
        f"the slowest takes up to {ratio} times as long as the fastest, {labels(evidence)(worst.case)}{alone}"
    )
    planned = _more_launches(evidence, max(s.launches for s in evidence.fits.summaries))
    ranks = (rank for launch in evidence.run.launches for rank in launch.ranks)
    bind = (
        ""
        if all(machine.bound(rank.cpus, evidence.machine) for rank in ranks)
        else ", bind the ranks to cores"
    )
    yield run_caveat(
        "launches-differ",
        f"in {len(differ)} of {plural(len(evidence.fits.summaries), 'case')} launches differ by more "
        f"than the scatter within a launch explains ({most})",
        f"plan more launches ({_option(evidence)} {planned}) with more time (--budget){bind}, or measure "
        "on a quiet machine",
        cases={s.case for s in differ},
    )


def _option(evidence: Evidence) -> str:
    """Sets the number of launches; in rounds they are one each."""
    return "--repeat" if evidence.settings.every_s else "--launches"


def _more_launches(evidence: Evidence, measured: int) -> int:
    """A number of launches that a remedy can propose: more than were planned or `measured`."""
    done = max(measured, evidence.settings.launches)
    return ENOUGH_LAUNCHES if done < ENOUGH_LAUNCHES else 2 * done


def _may_differ(summary: Summary) -> bool:
    """A quick look. One launch of three to five that is far off does not show in `between`, but widens the
    interval."""
    width = precision(summary.typical)
    return (summary.between or 0.0) > LAUNCHES_DIFFER or width is None or width > LAUNCHES_DIFFER


def _differs(summary: Summary) -> bool:
    """Whether the standard deviation of the launches' log times is neither small nor as expected."""
    spread, expected = summary.launch_spread, summary.launch_spread_expected or 0.0
    enough = summary.launches >= FEWEST_LAUNCHES
    return spread is not None and enough and spread > max(LAUNCHES_DIFFER, BEYOND * expected)


def _launches_in_two_modes(evidence: Evidence) -> Iterator[RunCaveat]:
    """The fit of the ping-pong is named if it is among them, otherwise the first one."""
    modes = {fit.line: fit.two_modes.text for fit in evidence.fits.fits if fit.two_modes is not None}
    if not modes:
        return
    messages_fit = message_fit(evidence.levels[0])
    line = messages_fit.line if messages_fit is not None and messages_fit.line in modes else next(iter(modes))
    fit_lines = {fit.line for fit in evidence.fits.fits if fit.verdict != "refused"}
    yield run_caveat(
        LAUNCHES_IN_TWO_MODES,
        f"in {len(modes)} of {plural(len(fit_lines), 'fit')}, {'for example ' if len(modes) > 1 else ''}"
        f"that of {line}, {modes[line]}; chance decides how many are in each",
        "use the fast mode (--cost undisturbed), or measure again or with more time (--budget)",
        touches="fitted parameters, predictions and the typical times of short messages",
    )


def _undecided_settings(evidence: Evidence) -> Iterator[RunCaveat]:
    """Whether ratios between launch settings are undecided while launches with the same setting differ."""
    if not evidence.settings.launch_settings or evidence.machine.traits.noiseless:
        return
    from hockney.pages.settings_compared import compared_settings

    comparisons = compared_settings(evidence)
    differ = [each for each in comparisons if each.spread > LAUNCHES_DIFFER and each.undecided]
    if not differ:
        return
    worst = max(differ, key=lambda each: each.largest_change)
    undecided = sum(each.undecided for each in differ)
    ratios = plural(sum(len(each.ratios) for each in comparisons), "ratio")
    planned = _more_launches(evidence, worst.launches)
    yield run_caveat(
        "undecided-settings",
        f"launches with the same setting differ by up to {format_factor(worst.largest_change)} "
        f"({labels(evidence)(worst.case.line)}): {undecided} of {ratios} between launch settings "
        f"{'is' if undecided == 1 else 'are'} undecided",
        f"plan more launches ({_option(evidence)} {planned}) with more time (--budget); 'hockney tune "
        "--check' measures the gains of its tables again",
        touches="all ratios between launch settings: their intervals contain these changes",
    )


def _missed_launches(evidence: Evidence) -> Iterator[RunCaveat]:
    cases = [s.case for s in evidence.fits.summaries if s.unknown_change]
    if cases:
        yield run_caveat(
            "missed-launches",
            f"{plural(len(cases), 'case has', 'cases have')} no interval, such as "
            f"{labels(evidence)(cases[0])}: other cases changed in launches without it, and nothing similar "
            "was measured there",
            "measure again: a case that was measured in all launches has an interval",
            cases=cases,
        )


def _few_launches(evidence: Evidence) -> Iterator[RunCaveat]:
    fewest = min((s.launches for s in evidence.fits.summaries), default=FEWEST_LAUNCHES)
    traits = evidence.machine.traits
    if fewest >= FEWEST_LAUNCHES or traits.noiseless or traits.imported:
        return
    few = {s.case for s in evidence.fits.summaries if s.launches < FEWEST_LAUNCHES}
    # if enough were planned, the budget ended the run before them
    launches = ENOUGH_LAUNCHES if evidence.settings.launches < ENOUGH_LAUNCHES else None
    yield run_caveat(
        "launches",
        f"{plural(len(few), 'case rests', 'cases rest')} on fewer than {FEWEST_LAUNCHES} launches: "
        + (
            "the intervals do not include the variation between launches"
            if fewest == 1
            else "the variation between launches is poorly known, which widens the intervals"
        ),
        "give more time (--budget)"
        + (
            f", or measure with {_option(evidence)} {launches}"
            if launches
            else ": the planned launches did not fit"
        ),
        cases=None if len(few) == len(evidence.fits.summaries) else few,
    )


def _clock(evidence: Evidence) -> Iterator[RunCaveat]:
    clock = {launch.launch: launch.clock.resolution_s for launch in evidence.run.launches}
    coarse = {
        r.case
        for r in evidence.run.records
        # comparing the shortest time first avoids sorting
        if r.times_s
        and all(
            clock.get(r.launch, 0.0) > 1.5 * CLOCK_SHARE * r.batch * typical(r.times_s)
            for typical in (min, median)
        )
    }
    if coarse:
        yield run_caveat(
            "clock",
            f"the clock is too coarse for {plural(len(coarse), 'case')}: it has steps of "
            f"{quantity(max(clock.values()), 's')}",
            "time many operations together (sync=loop), or measure larger sizes",
            cases=coarse,
        )


def _contradiction(evidence: Evidence) -> Iterator[RunCaveat]:
    texts: list[str] = []
    cases: set[str] = set()
    for level in evidence.levels:
        fits = [fit for fit in level.fits.fits if fit.model == loggp.MODEL]
        contradictions = [caveat.text for fit in fits for caveat in loggp.contradictions(fit)]
        texts += [", ".join(filter(None, (where(level), text))) for text in contradictions]
        cases |= {m.case.line for m in level.of_role("train") if contradictions}
    if texts:
        yield run_caveat(
            "loggp-contradiction",
            "; ".join(texts),
            "do not use them; more launches show whether this is a coincidence",
            touches="the LogGP parameters",
            cases=cases,
        )


def _poor_fit(evidence: Evidence) -> Iterator[RunCaveat]:
    """The caveat that the fit is poor from which headlines and predictions take the cost of a message, for
    the first level where it is."""
    for level in evidence.levels:
        fit = message_fit(level)
        if fit is not None and fit.verdict == "poor":
            cases = [m.case.line for m in level.of(fit.subject.workload, **dict(fit.subject.fixed))]
            yield run_caveat(
                "poor-fit",
                f"the fit of {fit.line} is poor: {fit.why}",
                "measure on a quieter machine, or with more time (--budget)",
                touches="its parameters, the sizes in the headline that come from it, and predictions",
                cases=cases,
            )
    return


def _notices(evidence: Evidence) -> Iterator[RunCaveat]:
    if evidence.notices:
        yield run_caveat("notices", "; ".join(evidence.notices), "'hockney resume' measures what is missing")


def _surveyed(evidence: Evidence) -> Iterator[RunCaveat]:
    """The caveat that message costs are from a survey of another machine or with other settings, which is
    only possible with --force."""
    if evidence.surveyed is None or not evidence.surveyed.differences:
        return
    yield run_caveat(
        "survey",
        f"message costs are from the survey {evidence.surveyed.where}, made on another machine or with "
        f"other settings: {'; '.join(evidence.surveyed.differences)}",
        "survey this machine with 'hockney survey'",
        touches="all predictions",
    )


def _fake(evidence: Evidence) -> Iterator[RunCaveat]:
    if any(record.is_fake for record in evidence.run.records):
        yield run_caveat(
            "fake",
            "these numbers were made up by the fake machine",
            "leave out --machine fake, or unset HOCKNEY_MACHINE, to measure",
        )


_ALL: tuple[Callable[[Evidence], Iterator[RunCaveat]], ...] = (
    _fake, machine.between_nodes, machine.simulated, machine.emulated, machine.wire_not_reached,
    machine.calibration, machine.levels_mixed, machine.not_computed, machine.overlap, machine.published,
    machine.imported, machine.rounded, _verification,
    _corrupted, _failures, _incomplete, _surveyed, _load, _few_launches, _oversubscribed, _poor_fit,
    _launches_in_two_modes, _contradiction, _notices, _interrupted, _unbound,
    machine.threads_share_cores, machine.progress_thread_shares_core,
    machine.virtual, machine.governor, _undecided_settings, _launches_differ, _precision,
    _missed_launches, _clock,
)  # fmt: skip


def assumed_network() -> str:
    return "Assumed network: nobody has measured messages between the nodes of this machine."
