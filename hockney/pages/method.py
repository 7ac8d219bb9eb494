# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A description of how a run was measured, from its own records."""

from __future__ import annotations

from statistics import median

from hockney.core.freed_memory import MMAP, TRIM
from hockney.core.units import format_seconds
from hockney.core.wording import join_words, plural, verb_form
from hockney.pages.evidence import Evidence
from hockney.pages.format import percent

LONGER = 1.2
"""A run that used more than this multiple of its budget was resumed."""


def sentences(evidence: Evidence) -> tuple[str, ...]:
    run = evidence.run
    if evidence.machine.traits.simulated:
        return simulated(evidence)
    if evidence.machine.traits.published:
        return published(evidence)
    if evidence.machine.traits.imported:
        return imported(evidence)
    spent = sum(c.seconds for c in run.closes)
    cases = len(evidence.fits.summaries)
    texts = [
        f"{plural(cases, 'case')} {'was' if cases == 1 else 'were'} measured in "
        f"{plural(len(run.launches), 'launch', 'launches')} of the engine, each in a shuffled order "
        f"(seed {evidence.settings.seed}). {_time_used(spent, evidence.settings.total_s)}",
        *_rounds(evidence),
        *_refined(evidence),
        *_visits(evidence),
        _typical(evidence),
        _ends(evidence),
        "Repetitions made before the times settled are stored separately as warm-up. If an operation is too "
        "short for the clock, several of them share one reading; the record states how many.",
    ]
    windows = [r for r in run.records if r.sync.kind == "window"]
    if windows:
        worst = max((r.sync.error_s for r in windows if r.sync.error_s is not None), default=None)
        late = sum(r.sync.late for r in windows)
        error = "" if worst is None else f"; its largest residual error was {format_seconds(worst)}"
        texts.append(
            f"{plural(len(windows), 'measurement')} started at set times of a synchronised clock{error}. "
            f"{plural(late, 'repetition was', 'repetitions were')} dropped because some rank was not "
            "ready in time."
        )
    where = "at every visit" if _visited_often(evidence) else "in every launch"
    texts.append(
        f"Payloads are verified outside the timed region {where}; for messages "
        "longer than 32 KiB, only a random part is verified."
    )
    return tuple(texts)


def imported(evidence: Evidence) -> tuple[str, ...]:
    """The notes on its definitions are made at the import."""
    launches = len(evidence.run.launches)
    cases = len(evidence.fits.summaries)
    return (
        f"{plural(cases, 'case')} from {plural(launches, 'launch', 'launches')} of {evidence.machine.cpu}, "
        f"read by hockney {evidence.machine.hockney}. With several launches, the interval is Student's, from "
        "the variance between them; with one there is none.",
        *evidence.machine.notes,
    )


def memory(evidence: Evidence) -> tuple[str, ...]:
    """A sentence for pages that compare collectives; empty if no real machine was measured."""
    if evidence.machine.traits.described or evidence.machine.traits.imported:
        return ()
    return (
        "The engine makes glibc keep freed memory (for buffers of up to 32 MiB), unless the environment sets "
        f"{MMAP} or {TRIM}. In a program whose freed memory returns to the system, a collective that "
        "allocates temporary buffers takes longer, and another algorithm may be the fastest.",
    )


def _time_used(spent_s: float, planned_s: float) -> str:
    """The time of all sittings of a run, of which only the first has the planned budget."""
    used = f"Launches took {format_seconds(spent_s)} in total; {format_seconds(planned_s)} were planned"
    resumed = ", to which each 'hockney resume' adds its own budget" if spent_s > LONGER * planned_s else ""
    return f"{used}{resumed}."


def _refined(evidence: Evidence) -> list[str]:
    """The cases that were not planned."""
    added = evidence.added
    if not added:
        return []
    were = "size was" if added == 1 else "sizes were"
    return [
        f"{added} {were} added to the planned ones where the cost curve changes, until neighboring "
        "sizes were within 10% of each other or the time was used up."
    ]


def _visited_often(evidence: Evidence) -> list[int]:
    """The numbers of visits of measurements with more than one."""
    counts = (record.visit_count for record in evidence.run.records)
    return [count for count in counts if count > 1]


def _visits(evidence: Evidence) -> list[str]:
    often = _visited_often(evidence)
    if not often:
        return ["Each launch measured each case in a single visit."]
    records = evidence.run.by_case().values()
    long = sum(all(r.visit_count < 2 for r in each) for each in records)
    were = "case was" if long == 1 else "cases were"
    return [
        "A launch visited its cases many times in random order, for some milliseconds each: "
        f"{median(often):.0f} visits per case in the typical launch, {sum(often)} in all."
        + (f" {long} {were} too long for more than one visit per launch." if long else "")
    ]


def _typical(evidence: Evidence) -> str:
    visited_often = _visited_often(evidence)
    launch_time = "the same mean of its visits' medians" if visited_often else "the median of its repetitions"
    text = (
        "The typical time of a case is a robust mean of its launches' times on a log scale, with "
        f"outliers downweighted; a launch's time is {launch_time}. The 95% interval is Student's, from the "
        "variance between launches; it is widened to cover the spread within launches and slow changes "
        "over time."
    )
    if visited_often:
        text += (
            " The undisturbed cost is the same mean over the visits in the fastest mode, those within "
            "10% of the fastest tenth; it is shown if the typical cost is more than 10% higher. Its interval "
            "includes the error of that choice, from leaving out parts of the run."
        )
    return text


def _ends(evidence: Evidence) -> str:
    """Why measuring ended."""
    run, settings = evidence.run, evidence.settings
    most = max((len({r.launch for r in records}) for records in run.by_case().values()), default=0)
    more = f": up to {most} launches of a case where {settings.launches} were planned"
    until = (
        f"Launches were added until the intervals were within {percent(settings.precision)} of the typical "
        f"times, or until the time ran out{more if most > settings.launches else ''}. "
    )
    reasons = [r.stop.reason for r in run.records]
    measured = sum(len(r.times_s) for r in run.records)
    counts = {
        "ended because they were precise enough": reasons.count("precision"),
        "ended because their time was used up": reasons.count("budget"),
        "reached the maximum number of visits or repetitions": reasons.count("repetitions"),
    }
    ends = [f"{count} {how}" for how, count in counts.items() if count]
    within = f"Of the measurements within launches, {join_words(ends)}. " if ends else ""
    return f"{'' if settings.every_s else until}{within}The records have the times of {measured} repetitions."


def _rounds(evidence: Evidence) -> list[str]:
    """Describes how a run was repeated over a period; empty if it was not."""
    if not evidence.settings.every_s:
        return []
    groups = len({(len(x.ranks), x.setting) for x in evidence.run.launches}) or 1
    began: dict[int, float] = {}
    for launch in evidence.run.launches:
        number = launch.index // groups
        began[number] = min(began.get(number, launch.started_s), launch.started_s)
    through = max(began.values(), default=0.0) - min(began.values(), default=0.0)
    return [
        f"Everything was measured in {plural(len(began), 'round')}, planned to start "
        f"{format_seconds(evidence.settings.every_s)} apart; the last one started "
        f"{format_seconds(through)} after the first. A typical time is that of the typical round, and "
        "its interval shows how well that time is known; single rounds scatter more widely."
    ]


def simulated(evidence: Evidence) -> tuple[str, ...]:
    """A simulation has no noise and no date; its description is what matters."""
    run = evidence.run
    measured = sum(len(r.times_s) for r in run.records)
    cases = plural(len(evidence.fits.summaries), "case")
    launches = plural(len(run.launches), "launch", "launches")
    return (
        f"{cases} ran in {launches} of the engine that also measures real machines, with every rank on a "
        "separate simulated core; times are those of the simulated clock.",
        f"{plural(measured, 'repetition')} "
        f"{verb_form(measured, 'was', 'were')} made: a simulation repeats exactly, so a few are "
        "enough to show that no state is carried over from one to the next. Where an interval is "
        "missing, nothing varies.",
        "The times are only as good as the machine's description, which states for every number "
        "whether it was printed, fitted or guessed ('hockney machines --show').",
        "Payloads are verified in every launch, as on a real machine.",
    )


def published(evidence: Evidence) -> tuple[str, ...]:
    """Sentences about what published numbers represent, and what they do not."""
    numbers = plural(len(evidence.run.records), "number")
    return (
        f"{numbers} were copied from {evidence.machine.citation}; nothing was run or verified here.",
        "A printed formula is represented by its values at the powers of two and at the ends of its "
        "ranges. Printed numbers have neither repetitions nor intervals, so intervals of fits show "
        "only how well a model describes them.",
        "Each case is the engine's equivalent of the paper's measurement; the paper's own method is "
        "described in its notes.",
    )
