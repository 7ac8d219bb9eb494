# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney profile: where the communication time of the user's own program goes."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from typing import Any

from hockney.api.checking import check_prediction
from hockney.api.profile import (
    DEFAULT_CHECKS,
    NEWEST,
    Profile,
    exit_code,
    live_profile,
    load_profile,
    profile,
)
from hockney.cli.output.progress import ProgressReporter
from hockney.cli.output.results import print_caveats
from hockney.cli.output.tables import print_json, print_line, print_table, print_unwrapped
from hockney.cli.output.terminal import echo
from hockney.core.errors import ExitCode, UsageError, attach_run_to_interrupt, printable
from hockney.core.paths import to_path
from hockney.core.wording import plural
from hockney.profiles.columns import unseparated_line
from hockney.profiles.launching import Overhead
from hockney.profiles.manifest import TraceMode, is_profile
from hockney.system.files import check_user_file

STDERR = 2


def action(
    words: tuple[str, ...],
    repeat: int | None,
    overhead: bool,
    trace: TraceMode | None,
    survey: Path | None,
    live: Path | None,
    prediction: Path | None,
    archive: Path | None,
    page: Path | None,
    out: Path | None,
    quiet: bool,
    as_json: bool,
) -> int:
    if page is not None:
        check_user_file(page)
    if archive is not None and prediction is None:
        raise UsageError(
            "--archive is without --check",
            "only checks of predictions are recorded there",
            "leave out --archive",
            code="archive-without-check",
        )
    if prediction is not None:
        _refuse_with(
            "--check",
            {
                "--overhead": overhead,
                "--survey": survey is not None,
                "--trace": trace is not None,
                "--live": live is not None,
                "--report": page is not None,
            },
            "the launches are compared with the prediction only",
        )
        return _check_prediction(words, prediction, repeat, archive, out, quiet, as_json)
    running_options = {
        "--repeat": repeat is not None,
        "--overhead": overhead,
        "--trace": trace is not None,
        "--out": out is not None,
    }
    if live is not None:
        _refuse_with("--live", running_options | {"a command": bool(words), "--survey": survey is not None})
        return _print_live_state(live, as_json)
    if len(words) == 1 and is_profile(to_path(words[0])):
        _refuse_with("a profile", running_options)
        return _explain_and_print(load_profile(words[0], _survey_of_profile(survey)), page, quiet, as_json)
    reporter = ProgressReporter(quiet)  # no bar or spinner: the terminal is the program's
    result = profile(
        words,
        repeat=1 if repeat is None else repeat,
        overhead=overhead,
        trace=trace,
        survey=NEWEST if survey is None else survey,
        out=out,
        stdout=STDERR if as_json else None,
        listen=reporter,
    )
    if as_json:
        return _explain_and_print(result, page, quiet, as_json)
    with contextlib.redirect_stdout(sys.stderr):
        return _explain_and_print(result, page, quiet, as_json)


def _survey_of_profile(survey: Path | None) -> Path | None:
    if survey is not None and str(survey) in ("new", NEWEST):
        raise UsageError(
            f"--survey {survey} does not apply to an earlier profile",
            "it names no run",
            "give the folder of a survey, or none",
            code="survey-of-profile",
        )
    return survey


def _refuse_with(
    option_text: str, other_options: dict[str, bool], reason: str = "no program is launched"
) -> None:
    for name, given in other_options.items():
        if given:
            raise UsageError(
                f"{name} and {option_text} exclude each other",
                reason,
                f"leave out {name}",
                code="option-without-launch",
                option=name,
            )


def _explain_and_print(profiled: Profile, page: Path | None, quiet: bool, as_json: bool) -> int:
    """Explain the profile, write its page and print the summary. Returns the exit code."""
    interrupt_context = attach_run_to_interrupt(profiled.path, complete=True)
    with interrupt_context, ProgressReporter(quiet) as reporter:
        with reporter.show_step("explaining the profile"):
            code = exit_code(profiled)
            document: dict[str, Any] | None = profiled.document if as_json else None
        with reporter.show_step("writing the report"):
            report_paths = [profiled.report(), *([profiled.report(page)] if page is not None else [])]
    if document is not None:
        print_json(document)
        return code
    print_summary(profiled)
    for path in report_paths:
        print_unwrapped(f"report: {printable(str(path))}")
    return code


def print_summary(profiled: Profile) -> None:
    """Print the headline, the tables and the warnings."""
    for sentence in profiled.headline:
        print_line(sentence)
    if profiled.exit_code:
        print_line(f"The program ended with exit code {profiled.exit_code}.")
    if profiled.overhead is not None:
        print_line(overhead_sentence(profiled.overhead))
    for table in profiled.tables:
        echo()
        print_line(table.title)
        print_table(table)
        if table.name == "parts" and (line := unseparated_line(profiled.results)):
            print_line(line)
    print_caveats(profiled.caveats, apart=True)
    echo()


def overhead_sentence(overhead: Overhead) -> str:
    """Sentence about the cost of recording, from launches with and without it."""
    ratio, pairs = overhead.ratio, plural(overhead.pairs, "pair")
    change = f"{ratio.value - 1:+.1%}"
    if ratio.low is None or ratio.high is None:
        return f"Recording changes the elapsed time by {change} ({pairs} of launches)."
    interval = f"95%: {ratio.low - 1:+.1%} to {ratio.high - 1:+.1%}"
    return f"Recording changes the elapsed time by {change} ({interval}; {pairs} of launches)."


def _check_prediction(
    words: tuple[str, ...],
    prediction: Path,
    repeat: int | None,
    archive: Path | None,
    out: Path | None,
    quiet: bool,
    as_json: bool,
) -> int:
    """Launch the program, or read a profile, and print the prediction next to the measurement."""
    is_earlier = len(words) == 1 and is_profile(to_path(words[0]))
    if is_earlier:
        _refuse_with("a profile", {"--repeat": repeat is not None, "--out": out is not None})
    result = check_prediction(
        prediction,
        load_profile(words[0]) if is_earlier else words,
        repeat=DEFAULT_CHECKS if repeat is None else repeat,
        out=out,
        archive=archive,
        stdout=STDERR if as_json else None,
        listen=ProgressReporter(quiet),
    )
    check = result.check
    if as_json:
        folder, scores = (printable(str(path)) for path in (result.path, result.scores))
        print_json({**check.document, "profiles": folder, "scores": scores, "notices": result.notices})
        return check.exit_code
    with contextlib.redirect_stdout(sys.stderr):
        for sentence in check.sentences:
            print_line(sentence)
        echo()
        print_table(check.table)
        echo()
        print_unwrapped(f"launches: {printable(str(result.path))}")
    return check.exit_code


def _print_live_state(folder: Path, as_json: bool) -> int:
    """Print the current state of the ranks. The answer is no if they wait for one another."""
    state = live_profile(folder)
    if as_json:
        print_json(state.document)
    else:
        for line in state.lines:
            print_line(line, hang="  ")
        print_caveats(state.caveats, apart=True)
    return ExitCode.ANSWER_IS_NO if state.verdict == "deadlock" else ExitCode.SUCCESS
