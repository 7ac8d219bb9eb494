# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The wording of errors and notices about the baseline of a check."""

from __future__ import annotations

from collections.abc import Sequence

from hockney.core.errors import UsageError, printable
from hockney.core.notice import Notice
from hockney.core.wording import plural


def baseline_name(runs: Sequence[str]) -> str:
    """The first run, and how many more there are."""
    more = f" and {plural(len(runs) - 1, 'more run')}" if len(runs) > 1 else ""
    return f"{printable(runs[0])}{more}"


def baseline_of_another_machine(name: str, differences: Sequence[str], others: int) -> UsageError:
    also = f", and so were the {others} others" if others > 1 else ", and so was the other" if others else ""
    return UsageError(
        f"the baseline {name} was measured on another machine{also}",
        "; ".join(differences),
        "measure a baseline on this machine, or use --force",
        code="baseline-of-another-machine",
        name=name,
        differences=tuple(differences),
        others=others,
    )


def baseline_without_measurements(name: str) -> UsageError:
    return UsageError(
        f"the baseline {name} has no measurements",
        "there is nothing to compare with",
        "remove it, or measure the rest of it with 'hockney resume'",
        code="baseline-without-measurements",
        name=name,
    )


def baseline_not_measurable(name: str, cases: int) -> UsageError:
    return UsageError(
        f"no case of the baseline {name} can be measured here",
        f"it has {plural(cases, 'case')}, with more ranks than this machine has cores or of workloads that "
        "this version lacks",
        "use a baseline of this machine and version",
        code="baseline-not-measurable",
        name=name,
        cases=cases,
    )


def nothing_of_baseline(name: str, cases: int) -> UsageError:
    return UsageError(
        f"--ranks and --sizes leave no case of the baseline {name}",
        f"its {plural(cases, 'case')} {'has' if cases == 1 else 'have'} other rank counts and sizes",
        "leave them out to measure all cases of the baseline",
        code="nothing-of-baseline",
        name=name,
        cases=cases,
    )


def nothing_asked_in_baseline(name: str, cases: int) -> UsageError:
    of = "the case" if cases == 1 else f"none of the {cases} cases"
    return UsageError(
        f"the baseline {name} has {'not ' if cases == 1 else ''}{of} to be measured",
        "only cases with the same parameters, ranks and sizes can be compared",
        "'hockney survey --check' measures the cases of the baseline",
        code="nothing-asked-in-baseline",
        name=name,
        cases=cases,
    )


def foreign_setting_of_baseline(name: str, line: str) -> UsageError:
    return UsageError(
        f"the baseline {name} has a launch setting of somebody else: {printable(line)}",
        "its variables would be set for programs that you start",
        "declare the setting with --setting if you trust it",
        code="foreign-setting-of-baseline",
        name=name,
        line=line,
    )


def baseline_runs_left_out(count: int, of: int) -> Notice:
    return Notice(
        f"{count} of {of} runs of the baseline were measured on other machines and are left out (--force "
        "uses them too)",
        "baseline-runs-left-out",
    )


def baseline_cases_left_out(name: str, count: int, of: int) -> Notice:
    return Notice(
        f"{count} of {plural(of, 'case')} of the baseline {name} cannot be measured here and are left out",
        "baseline-cases-left-out",
    )
