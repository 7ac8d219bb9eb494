# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney tune: tables of collective algorithms for other programs, from the records of a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import get_args

from hockney import api
from hockney.api import Run
from hockney.api.tuning import RULED, Gain, GainVerdict, TuningTables, check_gains, remove_slower, tune
from hockney.cli.output.progress import ProgressReporter, load_and_note
from hockney.cli.output.results import print_caveats
from hockney.cli.output.tables import print_json, print_line, print_table, print_unwrapped
from hockney.core.errors import ExitCode, UsageError, printable
from hockney.core.freed_memory import Memory
from hockney.core.settings import MIN_LAUNCHES
from hockney.core.wording import join_words, list_names, plural
from hockney.draw.page import Caveat, Table
from hockney.models.tuning.rules import MIN_EFFECT, format_ratio
from hockney.pages.format import quantity
from hockney.studies.needed_budget import budget_multiple, suggested_budget
from hockney.studies.tuning import NAME
from hockney.studies.tuning.columns import rules_table
from hockney.studies.tuning.headline import headline, sized_operation
from hockney.studies.tuning.results import HOCKNEY, OPEN_MPI

DEFAULT_BUDGET_S = 60.0


def action(
    run: Path | None,
    out: Path,
    effect: float | None,
    checked: bool,
    library: Path | None,
    budget: float | None,
    quiet: bool,
    as_json: bool,
) -> int:
    if not checked and library is not None:
        raise UsageError(
            "--library requires --check",
            "the tables are written without it",
            "leave --library out, or add --check",
            code="library-without-check",
        )
    if not checked and budget is not None:
        raise UsageError(
            "--budget requires --check",
            "without it nothing is measured",
            "add --check, or leave --budget out; 'hockney run tuning --budget TIME' measures longer",
            code="budget-without-check",
        )
    reporter = ProgressReporter(quiet)
    loaded_run = load_and_note(run or api.newest_run(NAME, reporter), quiet=quiet)
    with reporter.show_step("fitting the models"):
        tables = tune(loaded_run, out, MIN_EFFECT if effect is None else effect)
    caveats = list(loaded_run.caveats)
    if not as_json:
        _print_tables(tables, loaded_run)
        if not checked and any(tables.tuning.named_rules()):
            print_line(kept_memory_text())
        print_caveats(caveats)
    gains: list[Gain] = []
    if checked:
        with reporter:
            check_budget_s = DEFAULT_BUDGET_S if budget is None else budget
            measured_run, gains = check_gains(loaded_run, tables, check_budget_s, library, listen=reporter)
        tables = remove_slower(loaded_run, tables, gains)
        check_caveats = measured_run.caveats
        caveats += check_caveats
        if not as_json:
            print_table(_gain_table(gains))
            print_unwrapped(f"run: {measured_run.path}")
            is_unchecked = library is None and bool(tables.tuning.rules)
            has_load_warning = any(caveat.code == "load" for caveat in check_caveats)
            for sentence in _verdict_sentences(
                gains, check_budget_s, unchecked=is_unchecked, under_load=has_load_warning
            ):
                print_line(sentence)
            print_caveats(check_caveats)
    if as_json:
        print_json(_document(tables, gains, caveats))
    verdicts = [gain.verdict for gain in gains]
    if "slower" in verdicts:
        return ExitCode.ANSWER_IS_NO
    conclusive = "faster" in verdicts if checked else tables.tuning.conclusive
    return ExitCode.SUCCESS if conclusive else ExitCode.INCONCLUSIVE


def _verdict_sentences(
    gains: list[Gain], budget: float, *, unchecked: bool, under_load: bool
) -> Iterator[str]:
    """Sentences about the gains. `budget` is the budget of the check (s). `unchecked` tells whether hockney's
    table was omitted, `under_load` whether other programs used the processors."""
    gains_by_verdict = {
        verdict: [gain for gain in gains if gain.verdict == verdict] for verdict in get_args(GainVerdict)
    }
    undecided = gains_by_verdict["undecided"]
    yield confirmed_gains_text(
        len(gains_by_verdict["faster"]),
        len(gains_by_verdict["not faster"]),
        len(undecided),
        len(gains_by_verdict["slower"]),
    )
    if gains_by_verdict["not faster"]:
        yield no_gain_text(list(map(_size_name, gains_by_verdict["not faster"])))
    if undecided:
        without_intervals = sum(not gain.has_intervals for gain in undecided)
        time_factors = budget_multiple((gain.time_to_decide for gain in undecided), MIN_LAUNCHES)
        needed_budget = suggested_budget(time_factors * budget)
        yield undecided_gains_text(
            list(map(_size_name, undecided)), without_intervals, under_load, needed_budget
        )
    if gains_by_verdict["slower"]:
        yield slower_rules_text([_slower_text(gain) for gain in gains_by_verdict["slower"]])
    if unchecked:
        yield unchecked_choices_text()


def _slower_text(gain: Gain) -> str:
    """Text about a slower size, with the treatment of memory for which it is slowest."""
    slower_ratios = {memory: ratio for memory, ratio in gain.memories.items() if ratio.slower}
    memory, ratio = max(slower_ratios.items(), key=lambda each: each[1].ratio.value)
    return slower_rule_text(_size_name(gain), format_ratio(ratio.ratio), memory)


def _size_name(gain: Gain) -> str:
    return f"{sized_operation(gain.operation, gain.size)} ({gain.table})"


def _print_tables(tables: TuningTables, run: Run) -> None:
    if any(tables.tuning.named_rules()):
        print_table(rules_table(tables.tuning))
    for sentence in headline(tables.tuning, run.settings):
        print_line(sentence)
    for path in _files(tables):
        print_unwrapped(f"table: {path}")


def _files(tables: TuningTables) -> list[Path]:
    return [path for path in (tables.choices_file, tables.rules_file) if path is not None]


def _gain_table(gains: list[Gain]) -> Table:
    rows = tuple(
        (
            gain.operation,
            str(gain.ranks),
            quantity(gain.size, "B"),
            gain.table,
            memory,
            *(quantity(seconds, "s") for seconds in ratios.seconds),
            format_ratio(ratios.ratio),
        )
        for gain in gains
        for memory, ratios in gain.memories.items()
    )
    columns = (
        *("operation", "ranks", "bytes", "table", "freed memory"),
        *("without", "with it", "ratio [95% interval]"),
    )
    return Table("gains", "", columns, rows, numeric=(1, 2, 5, 6, 7), parameters=(1,))


def _document(tables: TuningTables, gains: list[Gain], caveats: list[Caveat]) -> dict[str, object]:
    return {
        "doubts": caveats,
        "files": [printable(str(path)) for path in _files(tables)],
        "rules": [
            {
                "of": table_name,
                "operation": rule.operation,
                "ranks": rule.ranks,
                "algorithm": name,
                "sizes": rule.sizes,
                "ratios": rule.ratios,
            }
            for table_name, name, rule in tables.tuning.named_rules()
        ],
        "comparisons": [
            {
                "of": each.owner,
                "operation": each.point.operation,
                "ranks": each.point.ranks,
                "bytes": each.point.size,
                "state": each.state,
                "algorithms": [
                    {
                        "algorithm": each.algorithm_name(candidate.algorithm),
                        "ratio": candidate.ratio,
                        "state": candidate.state(tables.tuning.effect),
                    }
                    for candidate in each.point.candidates
                ],
            }
            for each in tables.tuning.comparisons
        ],
        "counts": dict(Counter(each.state for each in tables.tuning.deciding_choices)),
        "removed": [
            {
                "of": OPEN_MPI if gain.setting == RULED else HOCKNEY,
                "operation": gain.operation,
                "ranks": gain.ranks,
                "bytes": gain.size,
            }
            for gain in gains
            if gain.verdict == "slower"
        ],
        "gains": [
            {
                "setting": gain.setting,
                "operation": gain.operation,
                "ranks": gain.ranks,
                "bytes": gain.size,
                "verdict": gain.verdict,
                **gain.memories,
            }
            for gain in gains
        ],
    }


def kept_memory_text() -> str:
    return (
        "The gains hold for programs that keep freed memory (docs/tuning.md); --check measures them also "
        "without this."
    )


def confirmed_gains_text(confirmed: int, none: int, undecided: int, slower: int) -> str:
    """Text with the number of sizes for each result."""
    other_counts = (
        (none, f"there is none at {none}"),
        (undecided, f"it is undecided at {undecided}"),
        (slower, f"the table is slower at {slower}"),
    )
    total = confirmed + none + undecided + slower
    first_clause = f"The gain is confirmed at {confirmed} of {plural(total, 'size')}"
    clauses = [text for count, text in other_counts if count]
    return f"{first_clause}; {join_words(clauses)}." if clauses else f"{first_clause}."


def no_gain_text(sizes: Sequence[str]) -> str:
    """Text about `sizes`, each with operation and table."""
    return f"No gain of 5% or more: {list_names(sizes)}. These rules change little and can be removed."


def undecided_gains_text(sizes: Sequence[str], without_interval: int, under_load: bool, budget: str) -> str:
    """Text about `sizes`, each with operation and table. `budget` would probably suffice."""
    reason = "the intervals include both gains and ratios without one"
    if without_interval == len(sizes):
        reason = "there are too few launches for intervals of the ratios"
    elif without_interval:
        few_text = plural(without_interval, "of them has", "of them have")
        reason += f", and {few_text} no interval because there are too few launches"
    text = f"Undecided: {list_names(sizes)}, because {reason}."
    if under_load:
        text += " Other programs used the processors meanwhile, which widens the intervals."
    return f"{text} Check again on a quiet machine with --check --budget {budget} or more."


def slower_rules_text(rules: Sequence[str]) -> str:
    """Text about `rules`, each with operation, size, table and ratio."""
    return f"Slower with the table beyond doubt, and removed from it: {list_names(rules)}."


def slower_rule_text(name: str, ratio: str, memory: Memory) -> str:
    """Text about a rule. `name` names its size, `memory` the treatment of freed memory."""
    return f"{name} takes {ratio} of the time with freed memory {memory}"


def unchecked_choices_text() -> str:
    return "hockney.choices was not checked: that needs --library (see 'hockney tune --help')."
