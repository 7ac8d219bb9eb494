# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Caveats of a run: doubtful numbers, the reason, and the remedy. Each caveat appears once: at the top of the
page if it affects all numbers, otherwise in the section that it affects."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from statistics import median

from hockney.core.fit import LAUNCHES_IN_TWO_MODES, Summary
from hockney.core.settings import DEFAULT_PRECISION, MIN_LAUNCHES
from hockney.core.units import format_factor, format_number
from hockney.core.wording import join_words, list_names, plural, verb_form
from hockney.draw.page import Caveat, Section
from hockney.models.loaded_launches import (
    LOADED_OUTSIDE_CORES,
    LOADED_STEAL,
    MIN_QUIET_LAUNCHES,
    drop_interrupted,
    loaded_launches,
    select_records,
)
from hockney.pages import collectives, loggp, point_to_point
from hockney.pages.caveats import machine
from hockney.pages.caveats.machine import ALL_NUMBERS
from hockney.pages.evidence import Evidence, RunCaveat, run_caveat
from hockney.pages.format import format_half_width, format_share, precision, quantity
from hockney.pages.labels import case_labels
from hockney.pages.levels import evidence_level_phrase
from hockney.pages.series import message_fit

DEFAULT_WARNING_PRECISION = 0.1
"""If no precision was requested, intervals wider than this cause a caveat. Few machines reach hockney's own
goal in all cases of a run."""
SUFFICIENT_LAUNCHES = 10
"""With this number of launches, Student's t is small, and loaded launches can be excluded."""
MAX_LAUNCH_SCATTER = 0.1
"""A larger relative scatter between launches causes a caveat."""
PREEMPTION_FACTOR = 2.0
"""A launch that took longer than usual by more than this factor lost its time to the scheduler."""
EXCESS_SCATTER_FACTOR = 2.0
"""Launches differ if they scatter by more than this multiple of the scatter predicted from within
launches."""
MAX_CLOCK_SHARE = 0.1
"""Largest ratio of the clock's step to the time of a repetition. The engine batches operations to stay below
it."""


def caveats(evidence: Evidence) -> tuple[RunCaveat, ...]:
    """Return all caveats about a run, the most serious first."""
    return evidence.cached(_caveats)


def _caveats(evidence: Evidence) -> tuple[RunCaveat, ...]:
    return tuple(_with_affected_numbers(caveat, evidence) for check in _CHECKS for caveat in check(evidence))


def without_section_caveats(evidence: Evidence) -> tuple[Caveat, ...]:
    """Return the caveats of the run that do not affect just one section. A page that shows only these at the
    top adds the others to its sections by `with_caveats`."""
    return tuple(
        run_caveat.caveat
        for run_caveat in caveats(evidence)
        if run_caveat.cases is None
        or len(sections := _section_ids(run_caveat.cases, evidence)) != 1
        or "" in sections
    )


def with_caveats(section: Section, evidence: Evidence) -> Section:
    """Return a copy of the section with the caveats that affect only this section."""
    section_caveats = [
        run_caveat.caveat
        for run_caveat in caveats(evidence)
        if section.id
        and run_caveat.cases is not None
        and _section_ids(run_caveat.cases, evidence) == {section.id}
    ]
    if not section_caveats:
        return section
    if section.multiples:  # not the same text on each of them
        return replace(section, warnings=(*section.warnings, *section_caveats))
    texts = tuple(caveat.text for caveat in section_caveats)
    figures = tuple(replace(figure, warnings=(*figure.warnings, *texts)) for figure in section.figures)
    return replace(section, warnings=(*section.warnings, *section_caveats), figures=figures)


SECTION_ROLES = (
    (point_to_point.SECTION_ID, point_to_point.ROLES),
    (loggp.SECTION_ID, ("train", "overhead")),
    (collectives.SECTION_ID, collectives.ROLES),
    ("overlap", ("overlap",)),
)


def section_id(role: str) -> str:
    """Return the id of the section that shows workloads of a role, or "" if there is none."""
    return next((name for name, roles in SECTION_ROLES if role in roles), "")


def _section_ids(cases: Iterable[str], evidence: Evidence) -> set[str]:
    return {section_id(evidence.role_of(case)) for case in cases}


def _with_affected_numbers(run_caveat: RunCaveat, evidence: Evidence) -> RunCaveat:
    """Add the numbers that the caveat affects, unless it states them itself."""
    if run_caveat.caveat.touches:
        return run_caveat
    label = case_labels(evidence)
    touches = ALL_NUMBERS if run_caveat.cases is None else list_names(sorted(map(label, run_caveat.cases)))
    return replace(run_caveat, caveat=replace(run_caveat.caveat, touches=touches))


def _check_verification(evidence: Evidence) -> Iterator[RunCaveat]:
    corrupted_records = evidence.run.corrupted_records
    if not corrupted_records:
        return
    errors = sum(record.verified.errors for record in corrupted_records)
    first = corrupted_records[0].verified.first
    yield run_caveat(
        "verification",
        f"{plural(errors, 'payload or result', 'payloads or results')} were wrong: {first}"
        if errors > 1
        else f"a payload or a result was wrong: {first}",
        "do not use these numbers; this MPI or this network corrupts messages, or a program computes wrongly",
        cases={record.case for record in corrupted_records},
    )


def _check_corruption(evidence: Evidence) -> Iterator[RunCaveat]:
    if launches := evidence.run.corrupted_launches:
        yield run_caveat(
            "corrupted",
            f"in {plural(launches, 'launch', 'launches')} an internal message was corrupted in transit",
            "do not use these numbers; this MPI or this network corrupts messages",
        )


def _check_failures(evidence: Evidence) -> Iterator[RunCaveat]:
    failures = {failure.case: failure for failure in evidence.run.failures}
    for record in evidence.run.records:
        failures.pop(record.case, None)
    if not failures:
        return
    example = next(iter(failures.values()))
    silent_ranks = ", ".join(map(str, example.silent_ranks))
    silent_text = (
        f"; silent {'rank' if len(example.silent_ranks) == 1 else 'ranks'}: {silent_ranks}"
        if silent_ranks
        else ""
    )
    yield run_caveat(
        "failures",
        f"{plural(len(failures), 'case')} gave no result, such as {example.case}: "
        f"{example.message}{silent_text}",
        "'hockney resume' repeats them",
        cases=failures,
    )


def _check_completeness(evidence: Evidence) -> Iterator[RunCaveat]:
    if evidence.missing_count:
        made = evidence.planned_count - evidence.missing_count
        yield run_caveat(
            "incomplete",
            f"only {made} of {evidence.planned_count} planned measurements were made",
            "'hockney resume' measures the rest",
        )


def _check_oversubscription(evidence: Evidence) -> Iterator[RunCaveat]:
    """Yield a caveat if a host had more ranks than hardware threads available to them."""
    oversubscribed = {
        launch.launch: len(launch.ranks)
        for launch in evidence.run.launches
        if machine.is_oversubscribed(launch, evidence.machine)
    }
    if not oversubscribed:
        return
    ranks = join_words(sorted(set(oversubscribed.values())))
    yield run_caveat(
        "oversubscribed",
        f"{ranks} ranks share fewer processors: the times include the scheduler",
        "use fewer ranks (--ranks) or a larger machine",
        touches=f"cases on {ranks} ranks",
        cases={record.case for record in evidence.run.records if record.launch in oversubscribed},
    )


def _check_binding(evidence: Evidence) -> Iterator[RunCaveat]:
    if evidence.machine.traits.emulated:  # ranks of several hosts share these processors by design
        return
    unbound = [
        launch
        for launch in evidence.run.launches
        if any(
            machine.parse_cpu_list(rank.cpus) and not machine.is_bound(rank.cpus, evidence.machine)
            for rank in launch.ranks
        )
        and not machine.is_oversubscribed(launch, evidence.machine)
    ]
    if not unbound:
        return
    unbound_names, launch_count = {launch.launch for launch in unbound}, len(evidence.run.launches)
    is_partial = len(unbound) < launch_count
    yield run_caveat(
        "unbound",
        "ranks may move between processors, which occasionally adds long times",
        "leave out --no-bind, or let the launcher bind them",
        touches=f"{plural(len(unbound), 'launch', 'launches')} of {launch_count}" if is_partial else "",
        cases={record.case for record in evidence.run.records if record.launch in unbound_names}
        if is_partial
        else None,
    )


def _check_load(evidence: Evidence) -> Iterator[RunCaveat]:
    """Yield a caveat about the load from other programs and the hypervisor, and whether the launches with a
    high load are included."""
    loaded_names = loaded_launches(evidence.run)
    if not loaded_names:
        return
    loaded_closes = [close for close in evidence.run.closes if close.launch in loaded_names]
    cores = max(close.outside_cores or 0.0 for close in loaded_closes)
    steal = max(close.steal or 0.0 for close in loaded_closes)
    by_case = evidence.run.by_case()
    affected = {
        case for case, records in by_case.items() if any(record.launch in loaded_names for record in records)
    }
    included = {
        case
        for case in affected
        if any(record.launch in loaded_names for record in select_records(by_case[case], loaded_names))
    }
    facts = [f"other programs used up to {cores:.2f} processors"] if cores > LOADED_OUTSIDE_CORES else []
    if steal > LOADED_STEAL:
        facts.append(f"the hypervisor took up to {format_share(steal)} of the processors' time")
    verb = verb_form(len(loaded_names), "is", "are")
    use = f"{verb} included because fewer than {MIN_QUIET_LAUNCHES} quiet ones exist"
    if len(included) < len(affected):
        use = f"{verb} excluded from {plural(len(affected) - len(included), 'case')}"
        if included:
            use += f", but included in {len(included)} with fewer than {MIN_QUIET_LAUNCHES} quiet ones"
    launches = plural(len(evidence.run.launches), "launch", "launches")
    remedy = (
        "stop them and measure again"
        if cores > LOADED_OUTSIDE_CORES
        else "measure again later, or on a machine that is not shared"
    )
    yield run_caveat(
        "load",
        f"during a launch, {' and '.join(facts)}; {len(loaded_names)} of {launches} had a high load and "
        f"{use}",
        f"{remedy}, or give more time (--budget) for launches to replace them",
        cases=affected if affected and not included else None,
    )


def headline_premises(evidence: Evidence) -> tuple[str, ...]:
    """Return the sentences before a headline without which its numbers mislead: that they were simulated or
    depend on an assumed network, and that most launches had a high load but are included."""
    platform = evidence.machine.platform
    simulated = "" if platform is None else f"Simulated on a description of {platform.title}, not measured."
    network = assumed_network_text() if any(machine.between_nodes(evidence)) else ""
    return tuple(filter(None, (simulated, network, load_premise(evidence))))


def load_premise(evidence: Evidence) -> str:
    """Return a sentence if most launches had a high load but are included, otherwise ""."""
    loaded_names = loaded_launches(evidence.run)
    launches = len(evidence.run.launches)
    if 2 * len(loaded_names) <= launches:
        return ""
    by_case = evidence.run.by_case().values()
    is_included = any(
        record.launch in loaded_names
        for records in by_case
        for record in select_records(records, loaded_names)
    )
    if not is_included:
        return ""
    loaded_text = f"{len(loaded_names)} of {plural(launches, 'launch', 'launches')}"
    return f"{loaded_text} had a high load: the numbers below are those of a busy machine."


def _check_interruptions(evidence: Evidence) -> Iterator[RunCaveat]:
    excluded_counts, is_preempted = {}, False
    for case, case_records in evidence.run.by_case().items():
        usable_records = drop_interrupted(case_records)
        usable_launches = {record.launch for record in usable_records}
        if excluded := [record for record in case_records if record.launch not in usable_launches]:
            excluded_counts[case] = len(excluded)
            usual_time_s = median(median(record.times_s) for record in usable_records if record.times_s)
            is_preempted |= any(
                median(record.times_s) > PREEMPTION_FACTOR * usual_time_s for record in excluded
            )
    if not excluded_counts:
        return
    records = sum(excluded_counts.values())
    verb, launches = ("is", "its launch") if records == 1 else ("are", "their launches")
    cause = "had time for only a few repetitions"
    remedy = "give more time (--budget)"
    if is_preempted:  # the time was lost to preemption; otherwise the launches were short
        cause += ", because the system took a rank's core away"
        remedy = f"stop other programs, use fewer ranks than processors, or {remedy}"
    yield run_caveat(
        "interrupted",
        f"{plural(records, 'result')} of {plural(len(excluded_counts), 'case')} {verb} excluded: "
        f"{launches} {cause}",
        remedy,
        cases=excluded_counts,
    )


def _check_precision(evidence: Evidence) -> Iterator[RunCaveat]:
    if evidence.machine.traits.noiseless or evidence.machine.traits.imported:
        return
    requested = evidence.settings.precision
    warning_width = max(requested, DEFAULT_WARNING_PRECISION) if requested == DEFAULT_PRECISION else requested
    widths = {s.case: precision(s.typical) for s in evidence.fits.summaries}
    wide_cases = {case: width for case, width in widths.items() if width is None or width > warning_width}
    if not wide_cases:
        return
    label = case_labels(evidence)
    widest, width = max(wide_cases.items(), key=lambda item: math.inf if item[1] is None else item[1])
    if width is None:
        widest_text = "no interval"
    else:
        widest_text = f"±{format_share(width)}" if width < 1 else f"within {format_half_width(width)}"
    text = f"the 95% interval is wider than ±{format_share(warning_width)}"
    if len(widths) == 1:
        text += f" ({widest_text})"
    else:
        text = (
            f"in {len(wide_cases)} of {len(widths)} cases {text} (the widest, {label(widest)}: {widest_text})"
        )
    table_note = "; the table of spread has the worst of them" if len(wide_cases) > 1 else ""
    yield run_caveat(
        "precision",
        text,
        f"give more time (--budget), or plan more launches ({_launch_count_option(evidence)})",
        touches=f"{plural(len(wide_cases), 'case')}{table_note}",
        cases=wide_cases,
    )


def _check_launch_scatter(evidence: Evidence) -> Iterator[RunCaveat]:
    """Yield a caveat if launches differ by more than the scatter within them predicts. The spread of the
    launches' times excludes outliers, unless there are too few launches to identify them."""
    if evidence.machine.traits.noiseless:
        return
    differing = [s for s in evidence.fits.summaries if _can_differ(s) and _has_excess_scatter(s)]
    if not differing:
        return
    log_ranges = {
        observation.case.line: float(max(observation.log_typical) - min(observation.log_typical))
        for observation in evidence.observations(cost="typical")
    }
    worst_summary = max(differing, key=lambda s: log_ranges[s.case])
    single_outliers = sum((s.between or 0.0) <= MAX_LAUNCH_SCATTER for s in differing)
    outlier_text = f"; one launch is far off in {single_outliers}" if single_outliers else ""
    ratio = format_number(math.exp(log_ranges[worst_summary.case]), 2)
    extreme_text = (
        f"the slowest takes up to {ratio} times as long as the fastest, "
        f"{case_labels(evidence)(worst_summary.case)}{outlier_text}"
    )
    suggested_launches = _suggest_launches(evidence, max(s.launches for s in evidence.fits.summaries))
    ranks = (rank for launch in evidence.run.launches for rank in launch.ranks)
    binding_remedy = (
        ""
        if all(machine.is_bound(rank.cpus, evidence.machine) for rank in ranks)
        else ", bind the ranks to cores"
    )
    yield run_caveat(
        "launches-differ",
        f"in {len(differing)} of {plural(len(evidence.fits.summaries), 'case')} launches differ by more "
        f"than the scatter within a launch explains ({extreme_text})",
        f"plan more launches ({_launch_count_option(evidence)} {suggested_launches}) with more time "
        f"(--budget){binding_remedy}, or measure "
        "on a quiet machine",
        cases={s.case for s in differing},
    )


def _launch_count_option(evidence: Evidence) -> str:
    """Return the option that sets the number of launches. With rounds, each round has one launch."""
    return "--repeat" if evidence.settings.every_s else "--launches"


def _suggest_launches(evidence: Evidence, measured_launches: int) -> int:
    """Return a number of launches to suggest: more than were planned or `measured_launches`."""
    launches = max(measured_launches, evidence.settings.launches)
    return SUFFICIENT_LAUNCHES if launches < SUFFICIENT_LAUNCHES else 2 * launches


def _can_differ(summary: Summary) -> bool:
    """Check quickly whether launches can differ. A single outlier among three to five launches does not show
    in `between`, but widens the interval."""
    width = precision(summary.typical)
    return (summary.between or 0.0) > MAX_LAUNCH_SCATTER or width is None or width > MAX_LAUNCH_SCATTER


def _has_excess_scatter(summary: Summary) -> bool:
    """Check whether the standard deviation of the launches' log times is neither small nor as expected."""
    spread, expected = summary.launch_spread, summary.launch_spread_expected or 0.0
    is_sufficient = summary.launches >= MIN_LAUNCHES
    return (
        spread is not None
        and is_sufficient
        and spread > max(MAX_LAUNCH_SCATTER, EXCESS_SCATTER_FACTOR * expected)
    )


def _check_two_modes(evidence: Evidence) -> Iterator[RunCaveat]:
    """Yield a caveat if the times of launches have two modes. It names the ping-pong's fit if that is
    affected, otherwise the first affected fit."""
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


def _check_undecided_settings(evidence: Evidence) -> Iterator[RunCaveat]:
    """Yield a caveat if ratios between launch settings are undecided while launches with the same setting
    differ."""
    if not evidence.settings.launch_settings or evidence.machine.traits.noiseless:
        return
    from hockney.pages.settings_compared import compared_settings

    comparisons = compared_settings(evidence)
    differing = [
        comparison
        for comparison in comparisons
        if comparison.launch_deviation > MAX_LAUNCH_SCATTER and comparison.undecided_count
    ]
    if not differing:
        return
    worst = max(differing, key=lambda comparison: comparison.max_change)
    undecided_count = sum(comparison.undecided_count for comparison in differing)
    ratio_text = plural(sum(len(comparison.ratios) for comparison in comparisons), "ratio")
    suggested_launches = _suggest_launches(evidence, worst.min_launches)
    yield run_caveat(
        "undecided-settings",
        f"launches with the same setting differ by up to {format_factor(worst.max_change)} "
        f"({case_labels(evidence)(worst.case.line)}): {undecided_count} of {ratio_text} between launch "
        "settings "
        f"{'is' if undecided_count == 1 else 'are'} undecided",
        f"plan more launches ({_launch_count_option(evidence)} {suggested_launches}) with more time "
        "(--budget); 'hockney tune "
        "--check' measures the gains of its tables again",
        touches="all ratios between launch settings: their intervals contain these changes",
    )


def _check_missed_launches(evidence: Evidence) -> Iterator[RunCaveat]:
    cases = [s.case for s in evidence.fits.summaries if s.unknown_change]
    if cases:
        yield run_caveat(
            "missed-launches",
            f"{plural(len(cases), 'case has', 'cases have')} no interval, such as "
            f"{case_labels(evidence)(cases[0])}: other cases changed in launches without it, and nothing "
            "similar "
            "was measured there",
            "measure again: a case that was measured in all launches has an interval",
            cases=cases,
        )


def _check_launch_count(evidence: Evidence) -> Iterator[RunCaveat]:
    min_launches = min((s.launches for s in evidence.fits.summaries), default=MIN_LAUNCHES)
    traits = evidence.machine.traits
    if min_launches >= MIN_LAUNCHES or traits.noiseless or traits.imported:
        return
    affected = {s.case for s in evidence.fits.summaries if s.launches < MIN_LAUNCHES}
    # if enough were planned, the budget ended the run before them
    suggested_launches = SUFFICIENT_LAUNCHES if evidence.settings.launches < SUFFICIENT_LAUNCHES else None
    yield run_caveat(
        "launches",
        f"{plural(len(affected), 'case rests', 'cases rest')} on fewer than {MIN_LAUNCHES} launches: "
        + (
            "the intervals do not include the variation between launches"
            if min_launches == 1
            else "the variation between launches is poorly known, which widens the intervals"
        ),
        "give more time (--budget)"
        + (
            f", or measure with {_launch_count_option(evidence)} {suggested_launches}"
            if suggested_launches
            else ": the planned launches did not fit"
        ),
        cases=None if len(affected) == len(evidence.fits.summaries) else affected,
    )


def _check_clock(evidence: Evidence) -> Iterator[RunCaveat]:
    resolutions = {launch.launch: launch.clock.resolution_s for launch in evidence.run.launches}
    coarse_cases = {
        r.case
        for r in evidence.run.records
        # comparing the shortest time first avoids sorting
        if r.times_s
        and all(
            resolutions.get(r.launch, 0.0) > 1.5 * MAX_CLOCK_SHARE * r.batch * typical(r.times_s)
            for typical in (min, median)
        )
    }
    if coarse_cases:
        yield run_caveat(
            "clock",
            f"the clock is too coarse for {plural(len(coarse_cases), 'case')}: it has steps of "
            f"{quantity(max(resolutions.values()), 's')}",
            "time many operations together (sync=loop), or measure larger sizes",
            cases=coarse_cases,
        )


def _check_contradictions(evidence: Evidence) -> Iterator[RunCaveat]:
    texts: list[str] = []
    cases: set[str] = set()
    for level in evidence.levels:
        fits = [fit for fit in level.fits.fits if fit.model == loggp.MODEL]
        contradictions = [caveat.text for fit in fits for caveat in loggp.contradictions(fit)]
        texts += [", ".join(filter(None, (evidence_level_phrase(level), text))) for text in contradictions]
        cases |= {m.case.line for m in level.of_role("train") if contradictions}
    if texts:
        yield run_caveat(
            "loggp-contradiction",
            "; ".join(texts),
            "do not use them; more launches show whether this is a coincidence",
            touches="the LogGP parameters",
            cases=cases,
        )


def _check_message_fit(evidence: Evidence) -> Iterator[RunCaveat]:
    """Yield a caveat if the fit that gives headlines and predictions their message costs is poor, for the
    first such level."""
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


def _check_notices(evidence: Evidence) -> Iterator[RunCaveat]:
    if evidence.notices:
        yield run_caveat("notices", "; ".join(evidence.notices), "'hockney resume' measures what is missing")


def _check_surveyed(evidence: Evidence) -> Iterator[RunCaveat]:
    """Yield a caveat if message costs are from a survey of another machine or with other settings, which
    requires --force."""
    if evidence.survey is None or not evidence.survey.differences:
        return
    yield run_caveat(
        "survey",
        f"message costs are from the survey {evidence.survey.where}, made on another machine or with "
        f"other settings: {'; '.join(evidence.survey.differences)}",
        "survey this machine with 'hockney survey'",
        touches="all predictions",
    )


def _check_fake(evidence: Evidence) -> Iterator[RunCaveat]:
    if any(record.is_fake for record in evidence.run.records):
        yield run_caveat(
            "fake",
            "these numbers were made up by the fake machine",
            "leave out --machine fake, or unset HOCKNEY_MACHINE, to measure",
        )


_CHECKS: tuple[Callable[[Evidence], Iterator[RunCaveat]], ...] = (
    _check_fake, machine.between_nodes, machine.simulated, machine.emulated, machine.wire_not_reached,
    machine.calibration, machine.levels_mixed, machine.not_computed, machine.overlap, machine.published,
    machine.imported, machine.rounded, _check_verification,
    _check_corruption, _check_failures, _check_completeness, _check_surveyed, _check_load,
    _check_launch_count, _check_oversubscription, _check_message_fit,
    _check_two_modes, _check_contradictions, _check_notices, _check_interruptions, _check_binding,
    machine.threads_share_cores, machine.progress_thread_shares_core,
    machine.virtual, machine.governor, _check_undecided_settings, _check_launch_scatter, _check_precision,
    _check_missed_launches, _check_clock,
)  # fmt: skip


def assumed_network_text() -> str:
    return "Assumed network: nobody has measured messages between the nodes of this machine."
