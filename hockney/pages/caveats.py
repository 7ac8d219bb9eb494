# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Caveats of a run: what makes numbers doubtful, which ones, and the remedy. Each caveat appears once: at the
top of the page if it affects all numbers, otherwise in the section that it affects."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import replace
from statistics import median

from hockney.core.fit import Summary
from hockney.core.settings import FEWEST_LAUNCHES, PRECISION
from hockney.draw.page import Caveat, Section
from hockney.models.loaded_launches import (
    FEWEST_QUIET,
    LOADED_OUTSIDE_CORES,
    LOADED_STEAL,
    kept,
    loaded_launches,
    uninterrupted,
)
from hockney.pages import collectives, loggp, machine_caveats, point_to_point, thread_caveats
from hockney.pages.affinity import bound, crowded, processors
from hockney.pages.evidence import Evidence
from hockney.pages.format import precision
from hockney.pages.labels import labels
from hockney.pages.levels import where
from hockney.pages.levels.mixed import levels_mixed
from hockney.pages.message_fit import fitted
from hockney.pages.messages import measuring, surroundings
from hockney.pages.run_caveat import RunCaveat, run_caveat

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
    return tuple(_complete(caveat, evidence) for check in _ALL if (caveat := check(evidence)) is not None)


def everywhere(evidence: Evidence) -> tuple[Caveat, ...]:
    """Those that affect all numbers, or more than one section's."""
    return tuple(
        d.caveat
        for d in caveats(evidence)
        if d.cases is None or len(of := _sections(d.cases, evidence)) != 1 or "" in of
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


def _complete(found: RunCaveat, evidence: Evidence) -> RunCaveat:
    """Adds which numbers it affects, unless it states that itself."""
    if found.caveat.touches:
        return found
    named = labels(evidence)
    touches = (
        measuring.ALL_NUMBERS if found.cases is None else measuring.cases(sorted(map(named, found.cases)))
    )
    return replace(found, caveat=replace(found.caveat, touches=touches))


def _verification(evidence: Evidence) -> RunCaveat | None:
    bad = evidence.run.wrong
    if not bad:
        return None
    errors = sum(r.verified.errors for r in bad)
    return run_caveat(measuring.verification(errors, bad[0].verified.first), {r.case for r in bad})


def _corrupted(evidence: Evidence) -> RunCaveat | None:
    launches = evidence.run.corrupted
    return run_caveat(measuring.corrupted(launches)) if launches else None


def _failures(evidence: Evidence) -> RunCaveat | None:
    failed = {f.case: f for f in evidence.run.failures}
    for record in evidence.run.records:
        failed.pop(record.case, None)
    if not failed:
        return None
    one = next(iter(failed.values()))
    return run_caveat(measuring.failures(len(failed), one.case, one.message, one.silent_ranks), failed)


def _incomplete(evidence: Evidence) -> RunCaveat | None:
    if not evidence.left:
        return None
    return run_caveat(measuring.incomplete(evidence.planned - evidence.left, evidence.planned))


def _oversubscribed(evidence: Evidence) -> RunCaveat | None:
    """More ranks on a host than hardware threads they may use."""
    sharing = {launch.launch: launch for launch in evidence.run.launches if crowded(launch, evidence.machine)}
    if not sharing:
        return None
    ranks = sorted({len(launch.ranks) for launch in sharing.values()})
    return run_caveat(
        surroundings.oversubscribed(ranks), {r.case for r in evidence.run.records if r.launch in sharing}
    )


def _unbound(evidence: Evidence) -> RunCaveat | None:
    if evidence.machine.traits.emulated:  # ranks of several hosts share these processors by design
        return None
    free = [
        launch
        for launch in evidence.run.launches
        if any(processors(rank.cpus) and not bound(rank.cpus, evidence.machine) for rank in launch.ranks)
        and not crowded(launch, evidence.machine)
    ]
    if not free:
        return None
    names = {launch.launch for launch in free}
    cases = {r.case for r in evidence.run.records if r.launch in names}
    whole = len(free) == len(evidence.run.launches)
    return run_caveat(surroundings.unbound(len(free), len(evidence.run.launches)), None if whole else cases)


def _load(evidence: Evidence) -> RunCaveat | None:
    """What other programs and the hypervisor took, and whether the launches with a high load count."""
    loaded = loaded_launches(evidence.run)
    if not loaded:
        return None
    closes = [close for close in evidence.run.closes if close.launch in loaded]
    cores = max(close.outside_cores or 0.0 for close in closes)
    steal = max(close.steal or 0.0 for close in closes)
    by_case = evidence.run.by_case()
    touched = {case for case, records in by_case.items() if any(r.launch in loaded for r in records)}
    counted = {case for case in touched if any(r.launch in loaded for r in kept(by_case[case], loaded))}
    caveat = surroundings.load(
        cores if cores > LOADED_OUTSIDE_CORES else 0.0,
        steal if steal > LOADED_STEAL else 0.0,
        len(loaded),
        len(evidence.run.launches),
        len(touched),
        len(counted),
        FEWEST_QUIET,
    )
    return run_caveat(caveat, touched if touched and not counted else None)


def premises(evidence: Evidence) -> tuple[str, ...]:
    """The sentences before a headline, without which its numbers mislead: that they were simulated or depend
    on an assumed network, and that most launches had a high load and count nevertheless."""
    platform = evidence.machine.platform
    simulated = "" if platform is None else surroundings.simulated_on(platform.title)
    far = machine_caveats.between_nodes(evidence) is not None
    network = surroundings.assumed_network() if far else ""
    return tuple(filter(None, (simulated, network, under_load(evidence))))


def under_load(evidence: Evidence) -> str:
    """Whether most launches had a high load and count nevertheless; "" if not."""
    loaded = loaded_launches(evidence.run)
    launches = len(evidence.run.launches)
    if 2 * len(loaded) <= launches:
        return ""
    by_case = evidence.run.by_case().values()
    counted = any(r.launch in loaded for records in by_case for r in kept(records, loaded))
    return surroundings.under_load(len(loaded), launches) if counted else ""


def _interrupted(evidence: Evidence) -> RunCaveat | None:
    gone, slow = {}, False
    for case, made in evidence.run.by_case().items():
        counted = uninterrupted(made)
        names = {record.launch for record in counted}
        if excluded := [record for record in made if record.launch not in names]:
            gone[case] = len(excluded)
            usual_s = median(median(record.times_s) for record in counted if record.times_s)
            slow |= any(median(record.times_s) > SLOWED * usual_s for record in excluded)
    return run_caveat(measuring.interrupted(sum(gone.values()), len(gone), slow), gone) if gone else None


def _precision(evidence: Evidence) -> RunCaveat | None:
    if evidence.machine.traits.noiseless or evidence.machine.traits.imported:
        return None
    requested = evidence.settings.precision
    warned = max(requested, WARNED_PRECISION) if requested == PRECISION else requested
    every = {s.case: precision(s.typical) for s in evidence.fits.summaries}
    wide = {case: width for case, width in every.items() if width is None or width > warned}
    if not wide:
        return None
    named = labels(evidence)
    widest, width = max(wide.items(), key=lambda item: math.inf if item[1] is None else item[1])
    return run_caveat(
        measuring.precision(len(wide), len(every), warned, named(widest), width, _option(evidence)), wide
    )


def _launches_differ(evidence: Evidence) -> RunCaveat | None:
    """Whether launches differ by more than the scatter within them predicts, judged by the spread of the
    launches' times without outliers, or of all of them if they are too few to identify outliers."""
    if evidence.machine.traits.noiseless:
        return None
    differ = [s for s in evidence.fits.summaries if _may_differ(s) and _differs(s)]
    if not differ:
        return None
    apart = {
        seen.case.line: float(max(seen.log_typical) - min(seen.log_typical))
        for seen in evidence.observed(cost="typical")
    }
    worst = max(differ, key=lambda s: apart[s.case])
    single = sum((s.between or 0.0) <= LAUNCHES_DIFFER for s in differ)
    caveat = measuring.launches_differ(
        len(differ),
        len(evidence.fits.summaries),
        labels(evidence)(worst.case),
        math.exp(apart[worst.case]),
        single,
        _more_launches(evidence, max(s.launches for s in evidence.fits.summaries)),
        _option(evidence),
        all(bound(rank.cpus, evidence.machine) for launch in evidence.run.launches for rank in launch.ranks),
    )
    return run_caveat(caveat, {s.case for s in differ})


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


def _launches_in_two_modes(evidence: Evidence) -> RunCaveat | None:
    """The fit of the ping-pong is named if it is among them, otherwise the first one."""
    of = {fit.line: fit.two_modes.text for fit in evidence.fits.fits if fit.two_modes is not None}
    if not of:
        return None
    messages_fit = fitted(evidence.levels[0])
    line = messages_fit.line if messages_fit is not None and messages_fit.line in of else next(iter(of))
    every = {fit.line for fit in evidence.fits.fits if fit.verdict != "refused"}
    return run_caveat(measuring.launches_in_two_modes(len(of), len(every), line, of[line]))


def _undecided_settings(evidence: Evidence) -> RunCaveat | None:
    """Whether ratios between launch settings are undecided while launches with the same setting differ."""
    if not evidence.settings.launch_settings or evidence.machine.traits.noiseless:
        return None
    from hockney.pages.settings_compared import compared_settings

    compared = compared_settings(evidence)
    differ = [each for each in compared if each.spread > LAUNCHES_DIFFER and each.undecided]
    if not differ:
        return None
    worst = max(differ, key=lambda each: each.largest_change)
    caveat = measuring.undecided_settings(
        sum(each.undecided for each in differ),
        sum(len(each.ratios) for each in compared),
        labels(evidence)(worst.case.line),
        worst.largest_change,
        _more_launches(evidence, worst.launches),
        _option(evidence),
    )
    return run_caveat(caveat)


def _missed_launches(evidence: Evidence) -> RunCaveat | None:
    cases = [s.case for s in evidence.fits.summaries if s.unknown_change]
    if not cases:
        return None
    return run_caveat(measuring.missed_launches(len(cases), labels(evidence)(cases[0])), cases)


def _few_launches(evidence: Evidence) -> RunCaveat | None:
    fewest = min((s.launches for s in evidence.fits.summaries), default=FEWEST_LAUNCHES)
    traits = evidence.machine.traits
    if fewest >= FEWEST_LAUNCHES or traits.noiseless or traits.imported:
        return None
    few = {s.case for s in evidence.fits.summaries if s.launches < FEWEST_LAUNCHES}
    # if enough were planned, the budget ended the run before them
    launches = ENOUGH_LAUNCHES if evidence.settings.launches < ENOUGH_LAUNCHES else None
    return run_caveat(
        measuring.few_launches(len(few), fewest, FEWEST_LAUNCHES, launches, _option(evidence)),
        None if len(few) == len(evidence.fits.summaries) else few,
    )


def _clock(evidence: Evidence) -> RunCaveat | None:
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
    if not coarse:
        return None
    return run_caveat(surroundings.coarse_clock(max(clock.values()), len(coarse)), coarse)


def _contradiction(evidence: Evidence) -> RunCaveat | None:
    texts: list[str] = []
    cases: set[str] = set()
    for level in evidence.levels:
        fits = [fit for fit in level.fits.fits if fit.model == loggp.MODEL]
        found = [caveat.text for fit in fits for caveat in loggp.contradictions(fit)]
        texts += [", ".join(filter(None, (where(level), text))) for text in found]
        cases |= {m.case.line for m in level.of_role("train") if found}
    return run_caveat(measuring.contradiction(texts), cases) if texts else None


def _poor_fit(evidence: Evidence) -> RunCaveat | None:
    """Of the fit from which headlines and predictions take the cost of a message, at the first level where
    it is poor."""
    for level in evidence.levels:
        fit = fitted(level)
        if fit is not None and fit.verdict == "poor":
            cases = [m.case.line for m in level.of(fit.subject.workload, **dict(fit.subject.fixed))]
            return run_caveat(measuring.poor_fit(fit.line, fit.why), cases)
    return None


def _notices(evidence: Evidence) -> RunCaveat | None:
    if not evidence.notices:
        return None
    return run_caveat(measuring.notices(evidence.notices))


def _surveyed(evidence: Evidence) -> RunCaveat | None:
    """Only possible with --force."""
    if evidence.surveyed is None or not evidence.surveyed.differences:
        return None
    return run_caveat(surroundings.survey_elsewhere(evidence.surveyed.where, evidence.surveyed.differences))


def _fake(evidence: Evidence) -> RunCaveat | None:
    if not any(record.invented for record in evidence.run.records):
        return None
    return run_caveat(surroundings.fake())


_ALL: tuple[Callable[[Evidence], RunCaveat | None], ...] = (
    _fake, machine_caveats.between_nodes, machine_caveats.simulated, machine_caveats.emulated,
    machine_caveats.wire_not_reached, machine_caveats.poor_calibration,
    machine_caveats.two_mode_calibration, levels_mixed,
    machine_caveats.not_computed, machine_caveats.overlap, machine_caveats.published,
    machine_caveats.imported, machine_caveats.rounded, _verification,
    _corrupted, _failures, _incomplete, _surveyed, _load, _few_launches, _oversubscribed, _poor_fit,
    _launches_in_two_modes, _contradiction, _notices, _interrupted, _unbound,
    thread_caveats.threads_share_cores, thread_caveats.progress_thread_shares_core, machine_caveats.virtual,
    machine_caveats.governor, _undecided_settings, _launches_differ, _precision,
    _missed_launches, _clock,
)  # fmt: skip
