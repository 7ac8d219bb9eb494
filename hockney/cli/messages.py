# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The wording of the command line's errors."""

from __future__ import annotations

import difflib
import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path

from hockney.core.errors import (
    EnvironmentProblem,
    Inconclusive,
    Interrupted,
    UsageError,
    one_line,
    printable,
    sentences,
    unknown,
)
from hockney.core.notice import Notice
from hockney.core.wording import listing, plural

MOST_OPTIONS = 8
"""A verb with no more options than this has them listed in an error about an unknown one."""


def unknown_option(option: str, available: Iterable[str], arguments: Iterable[str], verb: str) -> UsageError:
    """`arguments` are the names of the verb's arguments, which have no option."""
    options = list(dict.fromkeys(available))
    names = {each.lstrip("-"): each for each in options}
    typed = option.lstrip("-")
    argument = next((each for each in arguments if each == typed), "")
    close = [] if argument else difflib.get_close_matches(typed, list(names), n=1)
    suggestion = names[close[0]] if close else ""
    if argument:
        remedy = f"give {argument.upper()} without an option: {verb} {argument.upper()}"
    elif suggestion:
        remedy = f"did you mean '{suggestion}'?"
    elif len(options) <= MOST_OPTIONS:
        remedy = f"its options are {listing(options, MOST_OPTIONS)}"
    else:
        remedy = f"see '{verb} --help'"
    return UsageError(
        f"unknown option '{printable(option)}'",
        f"{verb} has no such option",
        remedy,
        code="unknown-option",
        name=option,
        suggestion=suggestion,
    )


def missing_argument(argument: str, verb: str) -> UsageError:
    return UsageError(
        f"{argument} is missing",
        f"{verb} needs it",
        f"see '{verb} --help'",
        code="missing-argument",
        argument=argument,
    )


def bad_usage(message: str, verb: str) -> UsageError:
    """click's message, unchanged."""
    text = message.rstrip(".")
    return UsageError(text[:1].lower() + text[1:], "", f"see '{verb} --help'", code="bad-usage")


def work_without_unit(number: str) -> Notice:
    return Notice(
        f"--work {printable(number)} has no unit and is taken as seconds; for microseconds write "
        f"{printable(number)}us",
        "work-without-unit",
    )


def twin_agreement(agreeing: int, undecided: int, disagreeing: int, poor: int) -> str:
    """`poor` more quantities come from poor fits, which are not counted."""
    counted = plural(agreeing + undecided + disagreeing, "quantity", "quantities")
    parts = [f"{agreeing} of {counted} {'agrees' if agreeing == 1 else 'agree'}"]
    if undecided:
        parts.append(f"{undecided} {'is' if undecided == 1 else 'are'} undecided")
    if disagreeing:
        parts.append(f"{disagreeing} {'disagrees' if disagreeing == 1 else 'disagree'}")
    text = ", ".join(parts)
    if not poor:
        return text
    return f"{text}; {poor} more from poor fits {'is' if poor == 1 else 'are'} not counted"


def twin_undecided(limit: float) -> str:
    return (
        f"undecided: the twin is more than {limit:.0%} off, but the interval of the real one is so wide "
        "that it includes the twin"
    )


def twin_of_this_run() -> str:
    return (
        "The machine file was made from this run, so agreement shows only that the simulator reproduces the "
        "file. To test the file, compare the twin with another run: --against RUN."
    )


def twin_disagrees(what: str, error: float, within: float, interval: str) -> str:
    """`interval` is the real machine's, "" where it is not known."""
    beyond = f" and outside the interval of the real one ({interval})" if interval else ""
    return f"disagrees: {what}, off by {error:+.1%}, more than {within:.0%}{beyond}"


def twin_exit_code(missed: int, more: int) -> str:
    """`more` of the `missed` are not listed."""
    rest = f" ({more} more than listed)" if more else ""
    noun = "quantity does" if missed == 1 else "quantities do"
    return f"Exit code 1: {missed} {noun} not agree{rest}."


def interrupted(exit_code: int) -> Interrupted:
    return Interrupted("interrupted", code="interrupted", exit_code=exit_code)


def run_interrupted(exit_code: int, folder: Path, complete: bool) -> Interrupted:
    """`complete`: everything is measured, and only the report is missing."""
    verb, what = ("report", "writes the report") if complete else ("resume", "continues")
    return Interrupted(
        "interrupted",
        "the results so far are kept",
        f"'hockney {verb} {printable(shlex.quote(str(folder)))}' {what}",
        code="run-interrupted",
        exit_code=exit_code,
        folder=str(folder),
        complete=complete,
    )


def memory_limit(limit: int, least: int) -> EnvironmentProblem:
    return EnvironmentProblem(
        f"the limit on memory is {limit // 1_000_000} MB",
        f"hockney needs {least // 1_000_000} MB",
        "raise it (ulimit -v)",
        code="memory-limit",
        limit=limit,
        least=least,
    )


def out_of_memory() -> EnvironmentProblem:
    return EnvironmentProblem(
        "there is not enough memory", "", "free some, or raise the limit (ulimit -v)", code="out-of-memory"
    )


def cannot_write_output(reason: str) -> EnvironmentProblem:
    return EnvironmentProblem("cannot write the output", reason, "free some space", code="output-not-written")


def bug(kind: str, message: str, log: str) -> EnvironmentProblem:
    """`log` is the file with the traceback; "" if it could not be written."""
    return EnvironmentProblem(
        "this is a bug in hockney",
        f"{kind}: {one_line(message)}",
        f"please report it with the file {log}" if log else "its traceback could not be written",
        code="bug",
        log=log,
    )


# verbs


def unknown_network(name: str, available: Iterable[str]) -> UsageError:
    return unknown("network", name, available, code="unknown-network-assumption")


def compiled_when_first_run(group: str) -> str:
    """Above the workloads of a group."""
    return f"compiled into {group} when first run:"


def undisturbed_costs() -> str:
    return "The models use undisturbed costs: those of each case in its fastest mode."


def models_of_two_modes() -> str:
    return (
        "Where launches were in two modes of the machine, chance decides how many are in each: use the fast "
        "mode (--cost undisturbed), or measure again or with more time (--budget)."
    )


def library_with_other_target(option: str) -> UsageError:
    return UsageError(
        f"--library and {option} exclude each other",
        "the library is built for an MPI on this machine",
        "use for example --library --prefix ~/.local --mpi mpich",
        code="library-with-other-target",
        option=option,
    )


def library_without_prefix(prefix_given: bool) -> UsageError:
    return UsageError(
        "--prefix requires --library" if prefix_given else "--library requires --prefix",
        "only the library is installed" if prefix_given else "the library is installed in that folder",
        "use for example --library --prefix ~/.local",
        code="library-without-prefix",
    )


def force_without_simgrid() -> UsageError:
    return UsageError(
        "--force requires --simgrid",
        "the engine is rebuilt automatically when its inputs change",
        "leave --force out",
        code="force-without-simgrid",
    )


def not_a_machine_file_name(path: Path, ending: str) -> UsageError:
    name = printable(str(path))
    return UsageError(
        f"{name} is not a name for a machine file",
        f"machine files end in {ending}",
        f"use --out {name}{ending}",
        code="not-a-machine-file-name",
        path=path,
    )


def no_table_file() -> UsageError:
    return UsageError("no output file is given", "", "use --csv FILE or --parquet FILE", code="no-table-file")


def show_with_export() -> UsageError:
    return UsageError(
        "--show and --export exclude each other", "", "use only one of them", code="show-with-export"
    )


def out_without_export() -> UsageError:
    return UsageError(
        "--out requires --export", "nothing else is written", "add --export NAME", code="out-without-export"
    )


def no_fits() -> Inconclusive:
    return Inconclusive(
        "no model fits this run",
        "it has no cases that a model describes",
        "'hockney survey' measures such cases",
        code="no-fits",
    )


def nothing_parallel(text: str) -> UsageError:
    return UsageError(
        f"{printable(text)} is all of the work",
        "it leaves nothing for the other ranks to compute",
        "give a part of it, such as 1% or 0.01",
        code="nothing-parallel",
        text=text,
    )


def algorithm_incomplete(option: str, example: str) -> UsageError:
    return UsageError(
        f"{option} is missing",
        "it describes the algorithm",
        f"use for example {option} {example}",
        code="algorithm-incomplete",
        option=option,
    )


def kernel_with_algorithm(option: str) -> UsageError:
    return UsageError(
        f"{option} does not apply to a kernel",
        "a kernel states its work and its messages itself",
        f"leave out {option}, or the kernel",
        code="kernel-with-algorithm",
        option=option,
    )


def option_without_kernel(option: str) -> UsageError:
    return UsageError(
        f"{option} is without a kernel",
        "it belongs to a benchmark",
        "add for example --kernel cg",
        code="option-without-kernel",
        option=option,
    )


def kernel_predicted(case: str, run: str) -> str:
    return f"{case}, with parameters and local rates of {run}:"


def many_rows(rows: int) -> Notice:
    return Notice(
        f"the table has {rows} rows, one for each repetition; '--what summaries' writes one for each case",
        "many-rows",
    )


def rates_of_other_sizes(kinds: Sequence[str]) -> Notice:
    return Notice(
        f"local work was measured only at other sizes: {', '.join(kinds)}; "
        "'hockney run bsp-kernels' measures it at the sizes of its kernels",
        "rates-of-other-sizes",
    )


def kernel_not_predicted(ranks: int, lacking: str) -> Notice:
    return Notice(f"a model is left out on {ranks} ranks: {lacking} was not measured", "kernel-not-predicted")


# lines on stdout


def warning(text: str, touches: str, remedy: str) -> str:
    """A caveat as one line, without "warning" at its beginning."""
    return sentences(text, f"affects {touches}", remedy)


def further_warnings(clauses: Sequence[str]) -> str:
    """The beginnings of caveats that are not printed in full."""
    return sentences(f"also: {'; '.join(clauses)}")


def judged_under_load(loaded: int, launches: int) -> str:
    return warning(
        f"{loaded} of {launches} launches had a high load from other programs or the hypervisor",
        "the factors of all calls, which may include time spent waiting for a processor",
        "Measure again on a quiet machine",
    )


def missing(count: str, folder: Path) -> str:
    """`count` is the number of measurements, as text."""
    return f"missing: {count}; 'hockney resume {folder}' measures them"


# progress


def preparing() -> str:
    """Shown while it is in progress, like the following."""
    return "preparing"


def reading_run(run: Path | str) -> str:
    return f"reading {printable(str(run))}"


def fitting() -> str:
    return "fitting the models"


def writing_report() -> str:
    return "writing the report"


def examining() -> str:
    return "examining this machine"


def launching(number: int, ranks: int) -> str:
    """`number` counts the launches from 1."""
    return f"launch {number}: starting {plural(ranks, 'rank')}"


def next_round(wait: str, number: int, rounds: int) -> str:
    return f"next round in {wait}, round {number} of {rounds}"


def salvaged(folder: Path, kept: int, dropped: Sequence[int]) -> str:
    """`dropped` are line numbers."""
    lost = f", without line {listing([str(number) for number in dropped])}" if dropped else ""
    return f"{printable(str(folder))}: a new run with the {kept} intact lines{lost}"
