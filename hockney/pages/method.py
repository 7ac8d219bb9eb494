# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A description of how a run was measured, based on its records."""

from __future__ import annotations

from statistics import median

from hockney.core.freed_memory import MMAP, TRIM
from hockney.core.units import format_seconds
from hockney.core.wording import join_words, plural, verb_form
from hockney.pages.evidence import Evidence
from hockney.pages.format import format_share

RESUMED_FACTOR = 1.2
"""A run whose launches took more than this multiple of the planned time was resumed."""


def method_sentences(evidence: Evidence) -> tuple[str, ...]:
    run = evidence.run
    if evidence.machine.traits.simulated:
        return simulated_sentences(evidence)
    if evidence.machine.traits.published:
        return published_sentences(evidence)
    if evidence.machine.traits.imported:
        return imported_sentences(evidence)
    spent_s = sum(close.seconds for close in run.closes)
    cases = len(evidence.fits.summaries)
    texts = [
        f"{plural(cases, 'case')} {'was' if cases == 1 else 'were'} measured in "
        f"{plural(len(run.launches), 'launch', 'launches')} of the engine, each in a shuffled order "
        f"(seed {evidence.settings.seed}). {_time_sentence(spent_s, evidence.settings.total_s)}",
        *_round_sentences(evidence),
        *_refinement_sentences(evidence),
        *_visit_sentences(evidence),
        _cost_sentences(evidence),
        _stop_sentences(evidence),
        "Repetitions made before the times settled are stored separately as warm-up. If an operation is too "
        "short for the clock, several of them share one reading; the record states how many.",
    ]
    window_records = [record for record in run.records if record.sync.kind == "window"]
    if window_records:
        max_error_s = max(
            (record.sync.error_s for record in window_records if record.sync.error_s is not None),
            default=None,
        )
        late_count = sum(record.sync.late for record in window_records)
        error_text = (
            "" if max_error_s is None else f"; its largest residual error was {format_seconds(max_error_s)}"
        )
        texts.append(
            f"{plural(len(window_records), 'measurement')} started at set times of a synchronised "
            f"clock{error_text}. "
            f"{plural(late_count, 'repetition was', 'repetitions were')} dropped because some rank was not "
            "ready in time."
        )
    occasions = "at every visit" if _multiple_visit_counts(evidence) else "in every launch"
    texts.append(
        f"Payloads are verified outside the timed region {occasions}; for messages "
        "longer than 32 KiB, only a random part is verified."
    )
    return tuple(texts)


def imported_sentences(evidence: Evidence) -> tuple[str, ...]:
    """Return sentences on imported numbers. The notes on their definitions are made at the import."""
    launches = len(evidence.run.launches)
    cases = len(evidence.fits.summaries)
    return (
        f"{plural(cases, 'case')} from {plural(launches, 'launch', 'launches')} of {evidence.machine.cpu}, "
        f"read by hockney {evidence.machine.hockney}. With several launches, the interval is Student's, from "
        "the variance between them; with one there is none.",
        *evidence.machine.notes,
    )


def memory_sentences(evidence: Evidence) -> tuple[str, ...]:
    """Return a sentence for pages that compare collectives; empty if no real machine was measured."""
    if evidence.machine.traits.described or evidence.machine.traits.imported:
        return ()
    return (
        "The engine makes glibc keep freed memory (for buffers of up to 32 MiB), unless the environment sets "
        f"{MMAP} or {TRIM}. In a program whose freed memory returns to the system, a collective that "
        "allocates temporary buffers takes longer, and another algorithm may be the fastest.",
    )


def _time_sentence(spent_s: float, planned_s: float) -> str:
    """Return a sentence on the launches' total time. Only the first session of a run has the planned
    budget."""
    time_text = f"Launches took {format_seconds(spent_s)} in total; {format_seconds(planned_s)} were planned"
    resumption = (
        ", to which each 'hockney resume' adds its own budget" if spent_s > RESUMED_FACTOR * planned_s else ""
    )
    return f"{time_text}{resumption}."


def _refinement_sentences(evidence: Evidence) -> list[str]:
    """Return a sentence on the number of sizes that were not planned; empty if there are none."""
    added = evidence.added_count
    if not added:
        return []
    sizes_were = "size was" if added == 1 else "sizes were"
    return [
        f"{added} {sizes_were} added to the planned ones where the cost curve changes, until neighboring "
        "sizes were within 10% of each other or the time was used up."
    ]


def _multiple_visit_counts(evidence: Evidence) -> list[int]:
    """Return the visit counts of the measurements with more than one visit."""
    counts = (record.visit_count for record in evidence.run.records)
    return [count for count in counts if count > 1]


def _visit_sentences(evidence: Evidence) -> list[str]:
    visit_counts = _multiple_visit_counts(evidence)
    if not visit_counts:
        return ["Each launch measured each case in a single visit."]
    records = evidence.run.by_case().values()
    single_visit_cases = sum(
        all(record.visit_count < 2 for record in case_records) for case_records in records
    )
    cases_were = "case was" if single_visit_cases == 1 else "cases were"
    return [
        "A launch visited its cases many times in random order, for some milliseconds each: "
        f"{median(visit_counts):.0f} visits per case in the typical launch, {sum(visit_counts)} in all."
        + (
            f" {single_visit_cases} {cases_were} too long for more than one visit per launch."
            if single_visit_cases
            else ""
        )
    ]


def _cost_sentences(evidence: Evidence) -> str:
    visited_often = _multiple_visit_counts(evidence)
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


def _stop_sentences(evidence: Evidence) -> str:
    """Return sentences on why launches and measurements ended."""
    run, settings = evidence.run, evidence.settings
    max_launches = max(
        (len({record.launch for record in records}) for records in run.by_case().values()), default=0
    )
    extra_launches = f": up to {max_launches} launches of a case where {settings.launches} were planned"
    precision_sentence = (
        f"Launches were added until the intervals were within {format_share(settings.precision)} of the "
        "typical "
        f"times, or until the time ran out{extra_launches if max_launches > settings.launches else ''}. "
    )
    reasons = [record.stop.reason for record in run.records]
    repetition_count = sum(len(record.times_s) for record in run.records)
    counts = {
        "ended because they were precise enough": reasons.count("precision"),
        "ended because their time was used up": reasons.count("budget"),
        "reached the maximum number of visits or repetitions": reasons.count("repetitions"),
    }
    endings = [f"{count} {reason_text}" for reason_text, count in counts.items() if count]
    endings_sentence = f"Of the measurements within launches, {join_words(endings)}. " if endings else ""
    return (
        f"{'' if settings.every_s else precision_sentence}{endings_sentence}The records have the times "
        f"of {repetition_count} repetitions."
    )


def _round_sentences(evidence: Evidence) -> list[str]:
    """Describe how a run was repeated over a period; empty if it was not repeated."""
    if not evidence.settings.every_s:
        return []
    groups = len({(len(x.ranks), x.setting) for x in evidence.run.launches}) or 1
    round_starts: dict[int, float] = {}
    for launch in evidence.run.launches:
        number = launch.index // groups
        round_starts[number] = min(round_starts.get(number, launch.started_s), launch.started_s)
    duration_s = max(round_starts.values(), default=0.0) - min(round_starts.values(), default=0.0)
    return [
        f"Everything was measured in {plural(len(round_starts), 'round')}, planned to start "
        f"{format_seconds(evidence.settings.every_s)} apart; the last one started "
        f"{format_seconds(duration_s)} after the first. A typical time is that of the typical round, and "
        "its interval shows how well that time is known; single rounds scatter more widely."
    ]


def simulated_sentences(evidence: Evidence) -> tuple[str, ...]:
    """Return sentences on a simulation. It has no noise and no date, so the machine's description matters
    most."""
    run = evidence.run
    repetition_count = sum(len(record.times_s) for record in run.records)
    cases = plural(len(evidence.fits.summaries), "case")
    launches = plural(len(run.launches), "launch", "launches")
    return (
        f"{cases} ran in {launches} of the engine that also measures real machines, with every rank on a "
        "separate simulated core; times are those of the simulated clock.",
        f"{plural(repetition_count, 'repetition')} "
        f"{verb_form(repetition_count, 'was', 'were')} made: a simulation repeats exactly, so a few are "
        "enough to show that no state is carried over from one to the next. Where an interval is "
        "missing, nothing varies.",
        "The times are only as good as the machine's description, which states for every number "
        "whether it was printed, fitted or guessed ('hockney machines --show').",
        "Payloads are verified in every launch, as on a real machine.",
    )


def published_sentences(evidence: Evidence) -> tuple[str, ...]:
    """Return sentences on what published numbers represent and what they do not."""
    numbers = plural(len(evidence.run.records), "number")
    return (
        f"{numbers} were copied from {evidence.machine.citation}; nothing was run or verified here.",
        "A printed formula is represented by its values at the powers of two and at the ends of its "
        "ranges. Printed numbers have neither repetitions nor intervals, so intervals of fits show "
        "only how well a model describes them.",
        "Each case is the engine's equivalent of the paper's measurement; the paper's own method is "
        "described in its notes.",
    )
