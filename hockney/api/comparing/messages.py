# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The wording of errors about the two sides of a comparison."""

from __future__ import annotations

import shlex
from pathlib import Path

from hockney.core.errors import UsageError, printable
from hockney.core.notice import Notice
from hockney.core.wording import plural


def no_runs_in_folder(path: Path) -> UsageError:
    return UsageError(
        f"'{printable(str(path))}' has no runs",
        "neither the folder itself nor one directly inside it is a run",
        "name a run, or a folder of runs",
        code="no-runs-in-folder",
        path=str(path),
    )


def pair_as_a_side(path: Path) -> UsageError:
    name = printable(str(path))
    return UsageError(
        f"'{name}' is an interleaved comparison",
        "its two runs are its two sides",
        f"name one of them: '{name}/a' or '{name}/b'",
        code="pair-as-a-side",
        path=str(path),
    )


def side_without_runs(name: str) -> UsageError:
    return UsageError(
        f"{name} names no run", "a side needs at least one", "name a run", code="side-without-runs", side=name
    )


def run_on_both_sides(path: str) -> UsageError:
    return UsageError(
        f"'{printable(path)}' is on both sides",
        "a run does not differ from itself",
        "name each run once",
        code="run-on-both-sides",
        path=path,
    )


def not_of_a_side(side: str, option: str) -> UsageError:
    return UsageError(
        f"{side} has the option {printable(option)}",
        "both sides measure the same cases in the same way",
        "give it once, outside of the sides",
        code="option-not-of-a-side",
        side=side,
        option=option,
    )


def unknown_side_option(side: str, option: str) -> UsageError:
    return UsageError(
        f"{side} has '{printable(option)}'",
        "it is none of the options in which sides may differ",
        "use --mpi, --machine, -x, --mpiexec-args, --bind, --no-bind, --nodes, --ranks-per-node, --hosts, "
        "--launcher or --agent",
        code="unknown-side-option",
        side=side,
        option=option,
    )


def side_option_without_value(side: str, option: str) -> UsageError:
    return UsageError(
        f"{side} ends with {option}",
        "its value is missing",
        f"add the value after {option}",
        code="side-option-without-value",
        side=side,
        option=option,
    )


def side_count_not_whole(side: str, option: str, text: str) -> UsageError:
    return UsageError(
        f"{side} has {option} {printable(text)}",
        "it is a number of nodes or ranks, from 1",
        "use for example 2",
        code="side-count-not-whole",
        side=side,
        option=option,
        text=text,
    )


def side_not_words(side: str, text: str, why: str) -> UsageError:
    return UsageError(
        f"the options of {side} are not words: '{printable(text)}'",
        why.lower(),
        "quote them as in a shell",
        code="side-not-words",
        side=side,
        text=text,
    )


def sides_identical() -> UsageError:
    return UsageError(
        "A and B have the same options",
        "the comparison would only show noise",
        "let them differ, for example in --mpi or in a variable (-x)",
        code="sides-identical",
    )


def no_shared_cases(a: int, b: int) -> UsageError:
    return UsageError(
        "A and B have no case in common",
        f"A can measure {plural(a, 'case')} and B {plural(b, 'case')}, all of them different",
        "name cases that both can measure",
        code="sides-without-shared-cases",
        a=a,
        b=b,
    )


def rounds_in_turns() -> UsageError:
    return UsageError(
        "an interleaved comparison has no rounds",
        "--repeat, --through and --every spread a run over a period",
        "leave them out; --launches sets the number of pairs",
        code="rounds-in-turns",
    )


def cases_of_one_side(side: str, cases: int) -> Notice:
    return Notice(f"only {side} can measure {plural(cases, 'case')}, which are left out", "cases-of-one-side")


def sizes_thinned(kept: int, planned: int) -> Notice:
    return Notice(
        f"{kept} of {planned} cases are compared, with fewer sizes, so that more launches fit into the "
        "budget; --sizes or more --budget keeps others",
        "sizes-thinned",
    )


def side_of_pair(path: Path, whole: Path) -> UsageError:
    return UsageError(
        f"'{printable(str(path))}' is one side of an interleaved comparison",
        "its launches alternate with those of the other side",
        f"resume both: hockney resume {printable(shlex.quote(str(whole)))}",
        code="interleaved-side",
        path=str(path),
        whole=str(whole),
    )


def pair_resumed_as_run(path: Path) -> UsageError:
    return UsageError(
        f"'{printable(str(path))}' is an interleaved comparison",
        "it has two runs",
        "use hockney.resume_interleaved",
        code="pair-resumed-as-run",
        path=str(path),
    )


def not_interleaved(path: Path) -> UsageError:
    return UsageError(
        f"'{printable(str(path))}' is not an interleaved comparison",
        "it does not contain its runs a and b",
        "name the folder of one",
        code="not-interleaved",
        path=str(path),
    )
