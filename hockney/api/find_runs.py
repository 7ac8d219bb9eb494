# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Search for runs in the default folder: the source of message costs, the newest runs, unfinished runs."""

from __future__ import annotations

import contextlib
import os
import shlex
import socket
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeVar

import msgspec

from hockney import measurement
from hockney.api.run_contents import Run as RunRead
from hockney.api.run_contents import caveats_of
from hockney.core.case import WRITTEN
from hockney.core.catalog import PING_PONG, Workload
from hockney.core.errors import HockneyError, Inconclusive, UsageError, printable
from hockney.core.fit import Cost, Fits
from hockney.core.machine import Machine
from hockney.core.notice import Notice
from hockney.core.paths import RUNS_FOLDER, AnyPath, to_path
from hockney.core.settings import MAX_CLOCK_DIFFERENCE_S
from hockney.core.units import format_time_option
from hockney.core.wording import list_names, option
from hockney.discovery.cpu import processors
from hockney.discovery.mpi_settings import mpi_settings
from hockney.draw.page import Caveat
from hockney.measurement import Listener, Status, ignore_event
from hockney.models.applications.message_costs import is_relevant, messages_of_run
from hockney.models.applications.point_to_point_costs import PointToPointCosts
from hockney.pages.caveats.predictions import CostsOrigin
from hockney.store import Reading, RunFolder, expected_items, missing_items, pair_in, unmeasured_items
from hockney.system.bundled import bundled_catalog

SURVEY = "survey"
GUIDELINES = "guidelines"
LONGER_BUDGET_FACTOR = 4
"""A run with this multiple of the budget has intervals of at most half the width."""
STUDIES = (SURVEY, "granularity")
"""Studies that measure the ping-pong over all sizes. A survey is preferred: it spends more of its time on
messages."""

WorkloadFilter = Callable[[Workload], bool]
"""Selects the workloads whose fits are needed. It must select those that give the cost of a message."""

AnyRun = TypeVar("AnyRun", RunFolder, RunRead)


@dataclass(frozen=True)
class MessageCostSource:
    """Message costs and the run that they come from.

    `fits` contains the fits of the selected workloads. `hosts` is the number of hosts of its ranks,
    `pair_hosts` the maximum for launches with two ranks. `caveats` are the caveats of the run."""

    messages: PointToPointCosts
    machine: Machine
    hosts: int
    pair_hosts: int
    fits: Fits
    caveats: tuple[Caveat, ...]

    @property
    def origin(self) -> CostsOrigin:
        return CostsOrigin(
            origin=self.machine.traits.origin, hosts=self.hosts, pair_hosts=self.pair_hosts, run=self.caveats
        )


def check_single_source(run: AnyPath | None, machine: str) -> None:
    """Raise UsageError if message costs are requested both from a run and from a described machine."""
    if run is not None and machine:
        raise UsageError(
            f"{option('run')} and {option('machine')} exclude each other",
            "message costs have a single source",
            "use only one",
            code="run-with-machine",
        )


def message_source(
    run: AnyPath | None,
    listen: Listener,
    cost: Cost = "typical",
    workload_filter: WorkloadFilter = is_relevant,
) -> MessageCostSource:
    """Read message costs from the folder `run`, or by default from the best run in the default folder.

    Complete surveys of this machine are preferred, then other complete runs that measure messages, then
    incomplete runs; the newest is used. The choice, and a newer run of another machine that was skipped, are
    reported to `listen`. Raises UsageError if `run` is not a run, Inconclusive if no cost of messages is
    available."""
    if run is not None:
        return _message_source(RunFolder.open(to_path(run)), listen, cost, workload_filter)
    mismatch = ""
    candidates = list(runs_by_age(STUDIES))
    surveys_first = sorted(
        candidates, key=lambda candidate: STUDIES.index(candidate[0].plan().settings.study)
    )
    for folder, machine, reading in _complete_first(surveys_first):
        run_name = printable(str(folder.path))
        reason = _settings_mismatch(run_name, machine)
        if reason:
            mismatch = mismatch or reason
            continue
        with contextlib.suppress(HockneyError):
            source = _message_source(folder, listen, cost, workload_filter, reading)
            settings = folder.plan().settings
            budget_s, study = settings.total_s, settings.study
            listen(Status(message_costs_text(run_name, study, _written_text(folder), budget_s)))
            _report_longer_survey(folder, "predict", listen)
            if mismatch:
                listen(skipped_survey_notice(mismatch))
            return source
    raise Inconclusive(
        f"no survey in {RUNS_FOLDER} gives the cost of messages" + (" on this machine" if mismatch else ""),
        mismatch or "predictions are based on these costs",
        f"run 'hockney survey' first, or give {option('run')} or {option('machine')}",
        code="no-survey",
    )


def newest_survey_of_mpi(family: str, listen: Listener = ignore_event) -> Path | None:
    """Find the newest survey of this machine with an MPI of this `family` ("" for any), preferably a complete
    one.

    The choice is reported to `listen`. Returns None if there is no survey."""
    for folder, machine, _ in _complete_first(runs_by_age((SURVEY,))):
        has_matching_mpi = machine.traits.is_fake or machine.mpi is None or family in ("", machine.mpi.family)
        if has_matching_mpi and _is_this_machine(machine):
            return _report_choice(folder, f"newest survey in {RUNS_FOLDER}", listen).path
    return None


def _report_longer_survey(
    chosen_run: RunFolder, verb: Literal["predict", "calibrate"], listen: Listener
) -> None:
    """Report the newest complete run of the same study on this machine that has message costs and a budget
    several times larger than that of `chosen_run`, if any."""
    settings = chosen_run.plan().settings
    for folder, machine in runs_by_age((settings.study,)):
        budget_s, run = folder.plan().settings.total_s, printable(str(folder.path))
        if folder.path == chosen_run.path or budget_s < LONGER_BUDGET_FACTOR * settings.total_s:
            continue
        if _has_messages(folder) and not _settings_mismatch(run, machine) and _is_complete(folder):
            remedy = {
                "predict": f"{option('run', run)} predicts from the longer one",
                "calibrate": f"'hockney calibrate {run}' uses the longer one",
            }
            shorter = f"{printable(str(chosen_run.path))} with only {format_time_option(settings.total_s)}"
            used_budget = format_time_option(budget_s)
            text = f"{run} was measured with a budget of {used_budget}, {shorter}; {remedy[verb]}"
            listen(Notice(text, "longer-survey"))
            return


def _has_messages(folder: RunFolder) -> bool:
    """Whether a readable run's plan contains a ping-pong between two ranks."""
    ping_pong = bundled_catalog().workload_name(*PING_PONG)
    return any(case.workload == ping_pong and case.ranks == 2 for case in folder.plan().cases)


def _complete_first(
    runs: Iterable[tuple[RunFolder, Machine]],
) -> Iterator[tuple[RunFolder, Machine, Reading | None]]:
    """Reorder runs: complete ones with their records first, then unfinished ones. Records are read lazily."""
    unfinished = []
    for folder, machine in runs:
        reading = _read_if_complete(folder)
        if reading is not None:
            yield folder, machine, reading
        else:
            unfinished.append((folder, machine, None))
    yield from unfinished


def newest_run(study: str, listen: Listener = ignore_event) -> RunRead:
    """Newest complete run of a study in the default folder, or the newest incomplete one if none is complete.
    Raises Inconclusive if there is none."""
    for folder, _, reading in _complete_first(runs_by_age((study,))):
        return _report_choice(
            RunRead(folder, _read=reading), f"newest run of {study} in {RUNS_FOLDER}", listen
        )
    elsewhere = (printable(str(folder.path)) for folder, _ in runs_by_age((study,), here=False))
    raise _no_run_of_study_error(study, next(elsewhere, ""))


def newest_run_of_studies(studies: Sequence[str], listen: Listener = ignore_event) -> RunFolder:
    """Newest run of any of the studies in the default folder. Raises Inconclusive if there is none."""
    for folder, _ in runs_by_age(studies):
        return _report_choice(folder, f"newest run in {RUNS_FOLDER} that has them", listen, "parameters from")
    raise Inconclusive(
        f"no run of {' or '.join(studies)} in {RUNS_FOLDER}",
        "the prediction is based on its parameters",
        f"run 'hockney run {studies[0]}' first, or give {option('run')}",
        code="no-run-of-studies",
        studies=list(studies),
    )


def runs_of_this_machine(studies: Collection[str]) -> Iterator[tuple[RunFolder, Reading]]:
    """Readable runs of these studies on this machine, with their records: complete ones first, newest
    first."""
    for folder, machine, reading in _complete_first(runs_by_age(studies)):
        with contextlib.suppress(HockneyError):
            if _is_this_machine(machine):
                yield folder, reading or folder.read()


def newest_guidelines_run(listen: Listener = ignore_event) -> RunRead:
    """Newest complete run of the guidelines study in the default folder, or of any study that measured both
    sides of a guideline. Raises Inconclusive if there is none."""
    candidates = [(_study_name(folder) == GUIDELINES, folder) for folder in _run_folders()]
    for is_guidelines_study, folder in sorted(candidates, key=lambda candidate: not candidate[0]):
        reading = _read_if_complete(folder) if _can_judge_guidelines(folder) else None
        if reading is not None:
            choice = (
                f"newest run of {GUIDELINES} in {RUNS_FOLDER}"
                if is_guidelines_study
                else f"newest complete run in {RUNS_FOLDER} with guidelines to judge"
            )
            return _report_choice(RunRead(folder, _read=reading), choice, listen)
    raise Inconclusive(
        f"no complete run in {RUNS_FOLDER} can judge a guideline",
        "both sides of one must be measured, at matching sizes",
        "run 'hockney run guidelines' first, or name a run",
        code="no-run-with-guidelines",
    )


def _study_name(folder: RunFolder) -> str:
    """Name of the run's study, "" if the plan is unreadable."""
    with contextlib.suppress(HockneyError):
        return folder.plan().settings.study
    return ""


def _can_judge_guidelines(folder: RunFolder) -> bool:
    """Whether the run contains guidelines and is chosen by default (not simulated, for instance)."""
    from hockney.api.judgements.guidelines import has_guidelines  # needs numpy

    with contextlib.suppress(HockneyError):
        return folder.machine().traits.chosen_by_default and has_guidelines(folder)
    return False


def newest_complete_run(listen: Listener = ignore_event) -> RunRead:
    """Newest complete run in the default folder, with its records. Raises UsageError if there is none."""
    for folder in _run_folders():
        reading = _read_if_complete(folder)
        if reading is not None:
            choice = f"newest complete run in {RUNS_FOLDER}"
            return _report_choice(RunRead(folder, _read=reading), choice, listen)
    raise _no_complete_run_error(*_newest_unfinished())


def _no_complete_run_error(
    unfinished: str = "", missing_count: int = 0, planned_count: int = 0
) -> UsageError:
    """`unfinished` is the newest incomplete run, if any."""
    why, remedy = f"there is no complete one in {RUNS_FOLDER}", "name a run's folder"
    if unfinished:
        run = printable(shlex.quote(unfinished))
        why += f"; {run} lacks {missing_count} of {planned_count} measurements"
        remedy = f"'hockney resume {run}' measures them, or name the run as it is"
    return UsageError("no run is given", why, remedy, code="no-run-named", unfinished=unfinished)


def _newest_unfinished() -> tuple[str, int, int]:
    """Path of the newest readable run with missing measurements, the number of missing measurements, and the
    number of planned ones; ("", 0, 0) if there is none."""
    for folder in _run_folders():
        with contextlib.suppress(HockneyError):
            plan = folder.plan()
            run = folder.read().run
            if missing_count := len(missing_items(plan, run)):
                return str(folder.path), missing_count, len(expected_items(plan, run))
    return "", 0, 0


def newest_complete_survey(listen: Listener = ignore_event) -> RunFolder:
    """Newest complete survey in the default folder, preferably with a ping-pong between two ranks.

    Reports a survey with a much larger budget. Raises Inconclusive if there is none."""
    surveys = [folder for folder, _ in runs_by_age((SURVEY,))]
    for folder in sorted(surveys, key=lambda folder: not _has_messages(folder)):
        if _is_complete(folder):
            _report_choice(folder, f"newest survey in {RUNS_FOLDER}", listen)
            _report_longer_survey(folder, "calibrate", listen)
            return folder
    raise _no_run_of_study_error(SURVEY)


def newest_run_in_any_state(listen: Listener = ignore_event) -> RunFolder:
    """Newest run in the default folder, complete or not. Raises UsageError if there is none."""
    for folder in _run_folders():
        return _report_choice(folder, f"newest run in {RUNS_FOLDER}", listen)
    raise _no_complete_run_error()


def _report_choice(run: AnyRun, choice: str, listen: Listener, subject: str = "from") -> AnyRun:
    """Report that `run` is the `choice`, such as the newest run, and when it was written."""
    listen(Status(f"{subject} {printable(str(run.path))}, the {choice} (last written {_written_text(run)})"))
    return run


def only_unfinished_run(listen: Listener = ignore_event) -> RunFolder:
    """The only unfinished run or interleaved comparison in the default folder.

    If there is none, the only complete run with fewer than the planned launches. Runs without any case that
    can run do not count. Raises UsageError if there is none or more than one."""
    complete: list[RunFolder] = []
    incomplete: list[RunFolder] = []
    for folder in _run_folders():
        (complete if _is_complete(folder) else incomplete).append(folder)
    candidates = [folder for folder in incomplete if not _is_impossible(folder)] + _unfinished_pairs()
    candidates = candidates or [
        folder for folder in complete if unmeasured_items(folder.plan(), folder.read().run)
    ]
    if len(candidates) != 1:
        runs = [str(folder.path) for folder in candidates]
        unfinished_text = (
            f"{len(runs)} in {RUNS_FOLDER} are unfinished: {list_names([printable(run) for run in runs])}"
        )
        raise UsageError(
            "no run is given",
            unfinished_text if runs else f"no run in {RUNS_FOLDER} is unfinished",
            "name a run's folder",
            code="not-one-unfinished-run",
            runs=runs,
        )
    listen(Status(f"resuming {printable(str(candidates[0].path))}, the only unfinished run in {RUNS_FOLDER}"))
    return candidates[0]


def _unfinished_pairs() -> list[RunFolder]:
    """Folders of interleaved comparisons in the default folder that lack measurements."""
    paths: list[Path] = []
    with contextlib.suppress(OSError):
        paths = sorted(RUNS_FOLDER.iterdir())
    pairs = [(path, pair) for path in paths if (pair := pair_in(path)) is not None]
    return [RunFolder(path) for path, pair in pairs if not all(map(_is_complete, pair))]


def _written_ns(path: Path) -> int:
    """Time of the last record of the run in `path` (ns, modification time of the file), or of its plan if
    there are no records; 0 if there is no run."""
    for file_name in ("records.jsonl", "plan.txt"):
        with contextlib.suppress(OSError):
            return (path / file_name).stat().st_mtime_ns
    return 0


def _written_text(folder: RunFolder | RunRead) -> str:
    """Time of the last record in local time, for messages."""
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(_written_ns(folder.path) / 1e9))


def _is_complete(folder: RunFolder) -> bool:
    """Whether no measurement is missing; an unreadable run counts as incomplete."""
    return _read_if_complete(folder) is not None


def _is_impossible(folder: RunFolder) -> bool:
    """Whether the engine has refused every planned case."""
    with contextlib.suppress(HockneyError):
        run = folder.read().run
        launches = {launch.launch for launch in run.launches}
        refused = {
            failure.case
            for failure in run.failures
            if failure.reason == "refused" and failure.launch in launches
        }
        return bool(refused) and not run.records and {case.line for case in folder.plan().cases} <= refused
    return False


def _read_if_complete(folder: RunFolder) -> Reading | None:
    """Read the records of a run; None if it is incomplete or unreadable."""
    with contextlib.suppress(HockneyError):
        reading = folder.read()
        if not missing_items(folder.plan(), reading.run):
            return reading
    return None


def _settings_mismatch(run_name: str, machine: Machine) -> str:
    """Reason why a run's message costs do not apply to this machine and its MPI settings; "" if they do."""
    if not _is_this_machine(machine):
        return other_machine_text(run_name, machine.host)
    here = msgspec.structs.replace(machine, settings=mpi_settings(os.environ, machine.mpi))
    differences = measurement.setting_differences(machine.settings, here.settings)
    difference_texts = [measurement.difference_text(difference, machine, here) for difference in differences]
    return other_settings_text(run_name, difference_texts) if difference_texts else ""


def _is_this_machine(machine: Machine) -> bool:
    """Whether the run's machine has the host name and processor of this one. A fake machine always
    matches."""
    return machine.traits.is_fake or (machine.host, machine.cpu) == (
        socket.gethostname(),
        processors().model,
    )


def runs_by_age(studies: Collection[str], *, here: bool = True) -> Iterator[tuple[RunFolder, Machine]]:
    """Readable runs of these studies in the default folder, newest first: of local machines if `here`,
    otherwise of other machines, such as simulated ones."""
    for folder in _run_folders():
        try:
            machine = folder.machine()
            selected = folder.plan().settings.study in studies and machine.traits.chosen_by_default == here
        except HockneyError:
            continue
        if selected:
            yield folder, machine


def _run_folders() -> Iterator[RunFolder]:
    """Runs in the default folder, newest first, then by name in reverse. Runs with a time in the future come
    last."""
    paths: list[Path] = []
    with contextlib.suppress(OSError):
        paths = [path for path in RUNS_FOLDER.iterdir() if not path.is_symlink()]  # as runs/latest is
    max_written_ns = time.time_ns() + int(MAX_CLOCK_DIFFERENCE_S * 1e9)

    def age_key(path: Path) -> tuple[bool, int, str]:
        written_ns = _written_ns(path)
        return written_ns <= max_written_ns, written_ns, path.name

    for path in sorted(paths, key=age_key, reverse=True):
        with contextlib.suppress(HockneyError):
            yield RunFolder.open(path)


def _message_source(
    folder: RunFolder,
    listen: Listener,
    cost: Cost,
    workload_filter: WorkloadFilter,
    reading: Reading | None = None,
) -> MessageCostSource:
    results = measurement.load_results(folder, reading=reading, cost=cost, is_relevant=workload_filter)
    max_hosts = results.run.max_hosts()
    surveyed = folder.surveyed()
    run_name = printable(str(folder.path))
    costs = messages_of_run(
        results.fits, results.machine, run_name, surveyed, hosts=max_hosts, buffers=WRITTEN
    )
    for notice in results.notices:
        listen(notice)
    machine, fits = (surveyed.machine, surveyed.fits) if surveyed else (results.machine, results.fits)
    return MessageCostSource(
        costs, machine, max_hosts, results.run.max_hosts(2), fits, caveats_of(folder, results)
    )


def _no_run_of_study_error(study: str, elsewhere: str = "") -> Inconclusive:
    """`elsewhere` is the newest run of the study that is not of a machine here, if there is one."""
    where = " on this machine" if elsewhere else ""
    return Inconclusive(
        f"no run of '{study}'{where} in {RUNS_FOLDER}",
        f"{elsewhere} is of another machine" if elsewhere else "the answer is computed from its records",
        f"run 'hockney run {study}' first, or name {elsewhere or 'a run'}",
        code="no-run-of-study",
        study=study,
        elsewhere=elsewhere,
    )


def message_costs_text(run: str, study: str, written: str, budget_s: float) -> str:
    kind = SURVEY if study == SURVEY else f"run of {study}"
    return (
        f"message costs from {run}, the newest {kind} in {RUNS_FOLDER} "
        f"(budget {format_time_option(budget_s)}, last written {written})"
    )


def skipped_survey_notice(reason: str) -> Notice:
    return Notice(f"{reason}; {option('run')} uses it anyway", "survey-passed-over")


def other_settings_text(run: str, differences: Sequence[str]) -> str:
    return f"{run} was made with {'; '.join(differences)}"


def other_machine_text(run: str, host: str) -> str:
    return f"{run} was made on {printable(host)}, not here"
