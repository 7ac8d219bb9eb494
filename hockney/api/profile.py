# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Profile a user's own MPI program: launch it, read what its ranks recorded, and explain it with a survey."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec

import hockney
from hockney import measurement, report
from hockney.api import find_runs
from hockney.api.export import Library, frame
from hockney.api.notebook.log_events import log
from hockney.core.errors import ExitCode, HockneyError, Interrupted, UsageError, printable
from hockney.core.fit import UsedSurvey
from hockney.core.notice import Notice
from hockney.core.paths import AnyPath, to_path
from hockney.core.wording import option
from hockney.discovery.cpu import processors
from hockney.measurement import Listener, Status, ignore_event, notifier
from hockney.mpi import family_named, title_of
from hockney.profiles import interposition, launching
from hockney.profiles.columns import document, terminal_tables
from hockney.profiles.explanation import Explanation
from hockney.profiles.manifest import Manifest, ProfiledMpi, TraceMode, read_manifest, write_manifest
from hockney.profiles.profile import Profile as Recorded
from hockney.profiles.profile import read_profile
from hockney.profiles.results import ProfileResults, make_results
from hockney.profiles.target import Target, explain_empty_profile, find_target
from hockney.store import default_path, refuse_taken

if TYPE_CHECKING:
    from hockney.api.replays import TracePrediction
    from hockney.api.tables import Rows
    from hockney.draw.page import Caveat, Page, Table
    from hockney.profiles.compare import ProfileComparison
    from hockney.profiles.launching import Overhead
    from hockney.profiles.live import Live

NEWEST, NONE, NEW = "newest", "none", "new"
"""Values of `survey`, besides a run: the newest survey of this machine with the program's MPI, none, or one
that is made after the program has run."""
TableName = Literal["calls", "ranks", "messages"]
"""Tables of a profile."""
DEFAULT_CHECKS = 5
"""Launches, or pairs of them, by which a prediction is checked."""
INCOMPLETE = ("missing-ranks",)
"""Codes of caveats with which the profile does not answer the question."""


@dataclass(frozen=True, repr=False)
class Profile:
    """A profile, read and explained on first use. `received` is the signal with which the user ended the
    program, and `notices` are those of launching it."""

    path: Path
    received: int | None = None
    notices: tuple[Notice, ...] = field(default=(), compare=False)
    survey: AnyPath | None = field(default=None, compare=False)
    """A survey to use instead of the one in the manifest, or "none"."""

    @cached_property
    def recorded(self) -> Recorded:
        """Records of all launches. Raises HockneyError if no rank has a usable file."""
        return read_profile(self.path)

    @cached_property
    def surveyed(self) -> UsedSurvey | None:
        """Survey with the machine's costs; None if there is none or if the one in the manifest is
        unreadable."""
        if self.survey is not None:
            return None if str(self.survey) == NONE else _survey_in(to_path(self.survey), self.manifest)
        if self.manifest.survey is not None:
            with contextlib.suppress(HockneyError):
                return _survey_in(Path(self.manifest.survey), self.manifest)
        return None

    @cached_property
    def results(self) -> ProfileResults:
        """Explanations of all launches, with the summary."""
        return make_results(self.recorded, self.surveyed)

    @property
    def explanation(self) -> Explanation:
        """Explanation of the time in MPI of the typical launch."""
        return self.results.explanation

    @property
    def manifest(self) -> Manifest:
        return self.recorded.manifest

    @property
    def exit_code(self) -> int:
        """Exit code of the program in the first failed launch; 0 if all succeeded."""
        return failed_exit_code(self.manifest)

    @property
    def overhead(self) -> Overhead | None:
        """Ratio of launch times with and without recording; None unless it was measured."""
        return launching.measure_overhead(self.manifest)

    @cached_property
    def page(self) -> Page:
        """The report as data: headline, figures, tables."""
        from hockney.profiles.page import page

        return page(self.results)

    @property
    def headline(self) -> tuple[str, ...]:
        """The headline, one sentence per item."""
        return self.results.headline

    @property
    def tables(self) -> tuple[Table, ...]:
        """The tables of the summary."""
        return terminal_tables(self.results)

    @property
    def caveats(self) -> tuple[Caveat, ...]:
        """The warnings, each with a code and what it affects."""
        return self.results.caveats

    @cached_property
    def document(self) -> dict[str, Any]:
        """Document for programs, as printed by --json."""
        overhead = self.overhead
        return {
            "profile": printable(str(self.path)),
            "report": printable(str(self.report_path)),
            "exit_code": self.exit_code,
            "interrupted_by": self.received,
            "notices": self.notices,
            "overhead": None if overhead is None else {"ratio": overhead.ratio, "pairs": overhead.pairs},
            **document(self.results),
        }

    @property
    def report_path(self) -> Path:
        return self.path / "report.html"

    def report(self, path: AnyPath | None = None) -> Path:
        """Write the page as one HTML file, by default report.html in the profile's folder, and return its
        path."""
        if path is None:
            return report.write(self.page, self.report_path, in_run_folder=True)
        return report.write(self.page, to_path(path))

    def figures(self, folder: AnyPath) -> list[Path]:
        """Write each figure as SVG and PNG into `folder`."""
        return report.figures(self.page, to_path(folder))

    def table(self, name: TableName = "calls") -> Rows:
        """Return a table. `calls` contains the number of calls, bytes and seconds (with parts) for each call
        site and function, `ranks` the times of each rank, `messages` the bytes and messages between pairs of
        ranks."""
        from hockney.api.profile_tables import profile_table

        return profile_table(self.explanation, name)

    def predict(self, **changes: Any) -> TracePrediction:
        """Predict the time of the traced program with changes, see `hockney.predict_trace`."""
        from hockney.api.replays import predict_trace

        return predict_trace(self, **changes)

    def frame(self, name: TableName = "calls", library: Library | None = None) -> Any:
        """Table as a DataFrame of pandas or polars, see `Run.frame`."""
        return frame(self.table(name), library)

    def __repr__(self) -> str:
        return "\n".join((*self.headline, f"report: {self.report_path}"))


def profile(
    command: Sequence[str] | str,
    *,
    repeat: int = 1,
    overhead: bool = False,
    trace: TraceMode | None = None,
    survey: AnyPath = NEWEST,
    out: AnyPath | None = None,
    environ: Mapping[str, str] | None = None,
    stdout: int | None = None,
    listen: Listener | None = None,
) -> Profile:
    """Run an MPI program and record where its communication time goes::

        profile = hockney.profile("mpiexec -n 8 ./app input")
        profile.frame("calls")

    `command` starts the program without hockney, as a list of words or as a shell command line. It is
    launched `repeat` times; with `overhead`, at least five times each with and without recording, in random
    order. A `trace` stores every call in order, with its times ("all") or their distributions ("summary").
    `survey` selects the run with the costs that explain the profile: "newest", "none", "new" (made
    afterwards) or a folder. `out` is the profile's folder (default: a new one in runs), `environ` the
    program's environment, `stdout` a file descriptor for its standard output.

    The program runs even if it cannot be recorded. Raises UsageError for an invalid command before the
    program starts, EnvironmentProblem if the profile cannot be written or, after the program has ended, if
    nothing was recorded."""
    listen = log if listen is None else listen
    environ = dict(os.environ if environ is None else environ)
    check_repeat(repeat)
    notices: list[Notice] = []

    def note(problem: HockneyError) -> None:
        notice = Notice(str(problem), problem.code)
        notices.append(notice)
        listen(notice)

    target = find_target(command, environ)
    survey_choice = os.fspath(survey)
    survey_path = None if survey_choice in (NEWEST, NONE, NEW) else to_path(survey)
    if survey_path is not None:
        measurement.read_survey(survey_path)  # refused now, if it does not give the cost of messages
    folder = default_path("profile") if out is None else to_path(out)
    refuse_taken(folder)
    for problem in (*target.obstacles, *target.warnings):
        note(problem)
    library = interposition.build(target.paths, environ, notifier(listen)) if target.libraries else None
    manifest = manifest_of(target, interposition.recorded_symbols(target.paths), survey_path, trace)
    launching.create_folder(folder, manifest)
    plan = launching.plan_launches(repeat, overhead, secrets.randbelow(2**31))

    def report_launch(number: int, profiled: bool) -> None:
        if len(plan) > 1:
            kind = "" if profiled else ", not recorded"
            listen(Status(f"launch {number} of {len(plan)}{kind}"))

    manifest, signal_number = launching.launch_all(
        target.command,
        library,
        folder,
        manifest,
        plan,
        environ,
        preloaded=target.preloaded,
        stdout=stdout,
        listen=report_launch,
    )
    if not launching.rank_files(folder, manifest):
        if signal_number is None:
            raise explain_empty_profile(target, failed_exit_code(manifest))
        raise Interrupted(
            "the program was interrupted before it had called MPI_Init",
            code="profile-interrupted",
            exit_code=128 + signal_number,
        )
    if trace is not None:
        from hockney.profiles.trace import packed_traces

        for problem in packed_traces(folder, manifest):
            note(problem)
    if survey_choice in (NEWEST, NEW) and signal_number is None:
        _add_survey(target, folder, manifest, survey_choice == NEW, listen)
    return Profile(folder, signal_number, tuple(notices))


def load_profile(path: AnyPath, survey: AnyPath | None = None) -> Profile:
    """Load the profile in a folder, explained by the survey in its manifest or by another `survey`. Raises
    UsageError if there is no profile."""
    folder = to_path(path)
    read_manifest(folder)
    return Profile(folder, survey=survey)


def live_profile(path: AnyPath) -> Live:
    """State of the ranks of a running, hung or killed program: where each rank waits, and for which rank."""
    from hockney.profiles.live import read_live

    return read_live(to_path(path))


def compare_profiles(a: AnyPath, b: AnyPath, tolerance: float | None = None) -> ProfileComparison:
    """Compare profile B with A: the program's time, each MPI operation and each call site, with a `tolerance`
    (default: 5%). Raises Inconclusive if the numbers of ranks differ."""
    from hockney.profiles import compare

    profile_a, profile_b = load_profile(a).recorded, load_profile(b).recorded
    return compare.compare_profiles(
        profile_a, profile_b, compare.TOLERANCE if tolerance is None else tolerance
    )


def _survey_in(path: Path, manifest: Manifest) -> UsedSurvey:
    """Read the survey in a run folder. Its name mentions a different MPI."""
    surveyed, _ = measurement.read_survey(path)
    mpi = surveyed.machine.mpi
    differences: tuple[str, ...] = ()
    if mpi is not None and mpi.family != manifest.mpi.family:
        profile_mpi = " ".join(filter(None, (family_named(manifest.mpi.family).title, manifest.mpi.version)))
        differences = (f"{title_of(mpi)} instead of {profile_mpi}",)
    return msgspec.structs.replace(surveyed, differences=differences)


def exit_code(profiled: Profile) -> int:
    """Exit code of hockney: 128 + signal number if the user interrupted the program, 1 if it failed, 4 if
    ranks are missing, otherwise 0."""
    if profiled.received is not None:
        return 128 + profiled.received
    if profiled.exit_code:
        return ExitCode.ANSWER_IS_NO
    if any(caveat.code in INCOMPLETE for caveat in profiled.caveats):
        return ExitCode.INCONCLUSIVE
    return ExitCode.SUCCESS


def failed_exit_code(manifest: Manifest) -> int:
    return next((launch.exit_code for launch in manifest.launches if launch.exit_code), 0)


def check_repeat(repeat: int) -> None:
    if repeat < 1:
        raise UsageError(
            f"{option('repeat', repeat)} is no number of launches",
            "",
            f"use at least 1, for example {option('repeat', 5)}",
            code="profile-repeat",
            repeat=repeat,
        )


def manifest_of(
    target: Target, symbols: Sequence[str], survey: Path | None, trace: TraceMode | None = None
) -> Manifest:
    return Manifest(
        command=list(target.command.words),
        program=target.program,
        started=datetime.now(timezone.utc).isoformat(timespec="seconds"),
        hockney=hockney.__version__,
        mpi=ProfiledMpi(family=target.family.name, version=target.version),
        cores=processors().cores.usable,
        functions=interposition.functions(symbols),
        survey=None if survey is None else str(survey.absolute()),
        trace=trace,
    )


def _add_survey(target: Target, folder: Path, manifest: Manifest, new: bool, listen: Listener) -> None:
    """Store the newest survey with the program's MPI in the manifest, or make a `new` one. If that fails, the
    profile has no costs, which its page mentions."""
    if new:
        from hockney.api import measure
        from hockney.api.run_options import RunOptions

        launcher = target.command.launcher
        mpi_name = target.family.name if launcher is None or launcher.is_srun else str(launcher.path)
        path: Path | None = measure.survey(RunOptions(mpi=mpi_name), listen=listen).path
    else:
        path = find_runs.newest_survey_of_mpi(target.family.name, listen)
    if path is None:
        if find_runs.newest_survey_of_mpi("", ignore_event) is not None:
            options = "".join(f" --mpi {name}" for name in target.family.names[:1])
            text = (
                f"this machine has no survey with {target.family.title}, which would explain the profile; "
                f"'hockney survey{options}' makes one, and 'hockney profile --survey RUN "
                f"{printable(str(folder))}' uses it"
            )
            listen(Notice(text, "survey-of-other-mpi"))
        return
    manifest = msgspec.structs.replace(manifest, survey=str(path.absolute()))
    with contextlib.suppress(OSError):
        write_manifest(folder, manifest)
