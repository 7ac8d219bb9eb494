# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The wording of errors and notes about tables of algorithms."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hockney.core.errors import Inconclusive, UsageError, printable
from hockney.core.freed_memory import KEPT, Memory, assignments
from hockney.core.wording import listing, plural, together

WRITTEN_BY = "written by 'hockney tune'"


def nothing_to_compare(run: Path) -> Inconclusive:
    return Inconclusive(
        f"{printable(str(run))} compares no algorithms",
        "it has no collective both with MPI's own algorithm and with another one",
        "'hockney run tuning' measures them",
        code="nothing-to-compare",
    )


def no_rules_to_check() -> Inconclusive:
    return Inconclusive(
        "there is nothing to check",
        "no algorithm is faster than MPI's own choice beyond doubt",
        "leave --check out, or measure longer with 'hockney run tuning --budget 10m'",
        code="no-rules-to-check",
    )


def check_needs_library() -> UsageError:
    return UsageError(
        "--check needs --library",
        "only hockney's table has rules, and its library puts them under the measured program",
        "install it with 'hockney build --library --prefix DIR', and give --library DIR",
        code="check-needs-library",
    )


def library_without_check() -> UsageError:
    return UsageError(
        "--library requires --check",
        "the tables are written without it",
        "leave --library out, or add --check",
        code="library-without-check",
    )


def budget_without_check() -> UsageError:
    return UsageError(
        "--budget requires --check",
        "without it nothing is measured",
        "add --check, or leave --budget out; 'hockney run tuning --budget TIME' measures longer",
        code="budget-without-check",
    )


def check_of_foreign_run(run: Path) -> UsageError:
    return UsageError(
        f"{printable(str(run))} names programs that you have not named",
        "a run folder from somebody else could start any program",
        "leave --check out, or measure with 'hockney run tuning'",
        code="check-of-foreign-run",
    )


def no_preload_library(prefix: Path) -> UsageError:
    return UsageError(
        f"{printable(str(prefix))} has no libhockney-pmpi.so",
        "the library for unchanged programs is loaded from there",
        f"install it with 'hockney build --library --prefix {printable(str(prefix))}'",
        code="no-preload-library",
    )


def table_of_run(run: Path, machine: str, mpi: str) -> str:
    """The first comment in the tables."""
    return f"{WRITTEN_BY} from {printable(str(run))}: {printable(machine)}, {printable(mpi)}"


def effect_of_table(effect: float) -> str:
    return f"where the 95% interval of the ratio to MPI's own choice lies below {1 - effect:g}"


def undecided_in_table(undecided: int, compared: int) -> str:
    """A comment in the tables."""
    verb = "is" if undecided == 1 else "are"
    return f"{undecided} of {plural(compared, 'combination')} of operation, ranks and size {verb} undecided"


def removed_from_table(sizes: int) -> str:
    """A comment in the tables."""
    return f"without {plural(sizes, 'size')} at which --check found a rule that is slower"


def memory_of_table() -> str:
    """A comment in the tables."""
    return (
        "measured with freed memory kept by the ranks; other programs may lose without "
        f"{assignments(KEPT)} (docs/tuning.md)"
    )


def gains_need_kept_memory() -> str:
    return (
        "The gains hold for programs that keep freed memory (docs/tuning.md); --check measures them also "
        "without this."
    )


def gains_confirmed(confirmed: int, none: int, undecided: int, slower: int) -> str:
    """The numbers of sizes with each result, of all rules."""
    others = (
        (none, f"there is none at {none}"),
        (undecided, f"it is undecided at {undecided}"),
        (slower, f"the table is slower at {slower}"),
    )
    measured = confirmed + none + undecided + slower
    first = f"The gain is confirmed at {confirmed} of {plural(measured, 'size')}"
    found = [text for count, text in others if count]
    return f"{first}; {together(found)}." if found else f"{first}."


def no_gain(sizes: Sequence[str]) -> str:
    """`sizes` with operation and table."""
    return f"No gain of 5% or more: {listing(sizes)}. These rules change little and can be removed."


def gains_undecided(sizes: Sequence[str], without_interval: int, loaded: bool, budget: str) -> str:
    """`sizes` with operation and table; `budget` would probably be enough."""
    reason = "the intervals include both gains and ratios without one"
    if without_interval == len(sizes):
        reason = "there are too few launches for intervals of the ratios"
    elif without_interval:
        few = plural(without_interval, "of them has", "of them have")
        reason += f", and {few} no interval because there are too few launches"
    text = f"Undecided: {listing(sizes)}, because {reason}."
    if loaded:
        text += " Other programs used the processors meanwhile, which widens the intervals."
    return f"{text} Check again on a quiet machine with --check --budget {budget} or more."


def rules_slower(rules: Sequence[str]) -> str:
    """`rules` with operation, size, table and ratio."""
    return f"Slower with the table beyond doubt, and removed from it: {listing(rules)}."


def slower_rule(name: str, ratio: str, memory: Memory) -> str:
    """`name` is that of a size of a rule, `memory` what happens to freed memory."""
    return f"{name} takes {ratio} of the time with freed memory {memory}"


def choices_unchecked() -> str:
    return "hockney.choices was not checked: that needs --library (see 'hockney tune --help')."
