# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The wording of errors about arguments and options, and of notes on what they stand for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hockney.core.errors import UsageError, printable, sentences, unknown
from hockney.core.wording import listing


def unknown_command(name: str, available: Iterable[str]) -> UsageError:
    return unknown("command", name, available, code="unknown-command")


def study_as_command(name: str) -> UsageError:
    """`name` is a study or a workload."""
    return UsageError(
        f"unknown command '{name}'",
        "studies and workloads are measured with 'hockney run'",
        f"use 'hockney run {name}'",
        code="study-as-command",
        name=name,
        suggestion=f"run {name}",
    )


def budget_not_positive(text: str) -> UsageError:
    return UsageError(
        f"'{printable(text)}' is not a time budget",
        "it must be greater than 0",
        "use for example 60s",
        code="budget-not-positive",
        text=text,
    )


def job_limit_not_positive(text: str) -> UsageError:
    return UsageError(
        f"'{printable(text)}' is not a job's time limit",
        "it must be greater than 0",
        "use for example 10m",
        code="job-limit-not-positive",
        text=text,
    )


def without_check(option: str) -> UsageError:
    return UsageError(
        f"{option} needs --check",
        "without a baseline there is no comparison",
        "name a baseline with --check",
        code="option-needs-check",
        option=option,
    )


def check_excludes(option: str) -> UsageError:
    return UsageError(
        f"{option} and --check exclude each other",
        "a check measures at once and prints a comparison",
        "'hockney compare' compares runs that were measured before",
        code="check-excludes-option",
        option=option,
    )


def without_submit(option: str) -> UsageError:
    return UsageError(
        f"{option} is an option of a batch job",
        "without --submit or --dry-run there is none",
        "add --submit",
        code="job-option-without-submit",
        option=option,
    )


def resubmitted_with_options() -> UsageError:
    return UsageError(
        "'hockney resume --submit' takes only options of the job",
        "the job measures what is missing as the run began",
        "leave the other options out, or resume in your own job",
        code="resubmitted-with-options",
    )


def interval_not_positive(text: str) -> UsageError:
    return UsageError(
        f"'{printable(text)}' is not an interval between rounds",
        "it must be greater than 0",
        "use for example 1m",
        code="interval-not-positive",
        text=text,
    )


def integer_out_of_range(text: str, low: int, high: int, example: str) -> UsageError:
    return UsageError(
        f"'{printable(text)}' is out of range",
        f"expected an integer from {low} to {high}",
        f"use for example {example}",
        code="integer-out-of-range",
        text=text,
        low=low,
        high=high,
    )


def number_out_of_range(text: str, low: float, example: str) -> UsageError:
    return UsageError(
        f"'{printable(text)}' is out of range",
        f"expected a number of at least {low:g}",
        f"use for example {example}",
        code="number-out-of-range",
        text=text,
        low=low,
    )


def unknown_cost(name: str, available: Iterable[str]) -> UsageError:
    return unknown("cost", name, available)


def parameter_and_option(name: str) -> UsageError:
    return UsageError(
        f"{name}= and --{name} exclude each other",
        "both set the same parameter",
        f"leave --{name} out",
        code="parameter-and-option",
        name=name,
    )


def option_of_other_studies(name: str, study: str, takers: Sequence[str]) -> UsageError:
    """`study` is "" for ad-hoc cases."""
    return UsageError(
        f"--{name} does not apply to {f'study {study!r}' if study else 'ad-hoc cases'}",
        f"it is a parameter of {listing(takers)}",
        "leave it out" if study else "write it into the case, for example compute work=1ms",
        code="option-of-other-studies",
        name=name,
        study=study,
    )


def like_with_cases(word: str, name: str) -> UsageError:
    """`name` is the benchmark."""
    return UsageError(
        f"'{printable(word)}' does not go with --like",
        "the benchmark determines what is measured",
        f"give only its parameters, for example --like {printable(name)} bytes=8",
        code="like-with-cases",
        word=word,
    )


def like_is(name: str, case: str, close: bool, defined: str, differs: str) -> str:
    """A note on what is measured: `close` if it is not quite the same, `defined` and `differs` as in the
    table of benchmarks."""
    return "note: " + sentences(f"{name} is {'close to ' if close else ''}'{case}'", defined, differs)


def option_before_verb(option: str, verb: str) -> UsageError:
    """`verb` has this option."""
    return UsageError(
        f"{option} is before the command",
        "options follow the command that they belong to",
        f"use 'hockney {verb} {option}'",
        code="option-before-verb",
        option=option,
        verb=verb,
    )


def time_in_two_words(option: str, typed: str, time: str) -> UsageError:
    return UsageError(
        f"{option} {printable(typed)} is not a time",
        "the unit follows the number without a space",
        f"use {option} {time}",
        code="time-in-two-words",
        option=option,
        text=typed,
        suggestion=time,
    )


# comparisons


def not_two_sides(count: int) -> UsageError:
    return UsageError(
        "compare needs two sides" if count < 2 else "it is not clear which runs are A and which are B",
        "A is compared with B",
        "give two runs, or put -- between those of A and those of B: hockney compare OLD... -- NEW...",
        code="not-two-sides",
        count=count,
    )


def format_and_json(style: str) -> UsageError:
    return UsageError(
        f"--format {style} and --json exclude each other",
        "both are printed on stdout",
        "give one of them",
        code="format-and-json",
    )


def only_in_turns(option: str) -> UsageError:
    return UsageError(
        f"{option} is an option of measuring",
        "without --interleaved, existing runs are compared",
        f"leave {option} out, or measure both sides with --interleaved",
        code="option-only-interleaved",
        option=option,
    )


def pair_resumed_with_options() -> UsageError:
    return UsageError(
        "an interleaved comparison is resumed as it began",
        "both sides keep their options",
        "use no other option than --budget",
        code="pair-resumed-with-options",
    )
