# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Tables of the fastest collective algorithms for hockney's library and for Open MPI: they are written from
the records of a run, and their gains can be checked.

A check measures alternating launches with and without the tables. In half of the launches, glibc keeps freed
memory, as in the study; in the other half, it returns freed memory to the system."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from hockney.api.measure import run as measure
from hockney.api.questions import Question
from hockney.api.run_contents import Run
from hockney.api.run_options import RunOptions
from hockney.api.trusted_settings import is_own
from hockney.core.case import ALGORITHM, MPI
from hockney.core.errors import Inconclusive, UsageError, printable
from hockney.core.fit import Estimate
from hockney.core.freed_memory import KEPT_VARIABLES, RETURNED_VARIABLES, Memory, assignments
from hockney.core.launch_setting import LaunchSetting
from hockney.core.paths import AnyPath, to_path
from hockney.core.wording import plural, verb_form
from hockney.measurement import Listener, ignore_event
from hockney.models.statistics import (
    NOTABLE,
    UNDECIDED_VERDICTS,
    InterleavedSettings,
    Observation,
    time_to_exclude,
    verdict,
)
from hockney.models.tuning import openmpi
from hockney.models.tuning.points import PLAIN
from hockney.models.tuning.rules import MIN_EFFECT, ChoiceRule, exclude_combinations, format_choices
from hockney.mpi import title_of
from hockney.studies import ad_hoc
from hockney.studies.tuning.results import Tuning, tuning
from hockney.system import files
from hockney.system.bundled import bundled_catalog

WRITTEN_BY = "written by 'hockney tune'"

CHOICES = "hockney.choices"
DYNAMIC_RULES = "openmpi-rules.conf"


@dataclass(frozen=True)
class TuningTables:
    """Result of `tune` with the files it wrote. `rules_file` is None unless Open MPI's own algorithms were
    measured."""

    tuning: Tuning
    choices_file: Path
    rules_file: Path | None


def tune(run: Run, folder: AnyPath, effect: float = MIN_EFFECT) -> TuningTables:
    """Write the tables of a run into `folder`. An algorithm replaces MPI's own choice if the 95% interval of
    the ratio of their times is below 1 - `effect`.

    Raises Inconclusive if the run compares no algorithms, EnvironmentProblem if nothing can be written.
    """
    run_tuning = _with_known_algorithms(tuning(run.evidence, effect))
    if not any(point.candidates for point in (*run_tuning.points, *run_tuning.internal_points)):
        raise Inconclusive(
            f"{printable(str(run.path))} compares no algorithms",
            "it has no collective both with MPI's own algorithm and with another one",
            "'hockney run tuning' measures them",
            code="nothing-to-compare",
        )
    return write_tables(run, run_tuning, to_path(folder))


def _with_known_algorithms(run_tuning: Tuning) -> Tuning:
    """Copy of the tuning with only this version's algorithms, as tables are for other programs and runs may
    come from other versions."""
    known_algorithms = {workload.name: workload.algorithms for workload in bundled_catalog().workloads}
    points = []
    for point in run_tuning.points:
        algorithms = known_algorithms.get(point.operation, ())
        candidates = tuple(candidate for candidate in point.candidates if candidate.algorithm in algorithms)
        points.append(replace(point, candidates=candidates))
    rules = tuple(
        candidate
        for candidate in run_tuning.rules
        if candidate.algorithm in known_algorithms.get(candidate.operation, ())
    )
    return replace(run_tuning, points=tuple(points), rules=rules)


def write_tables(run: Run, run_tuning: Tuning, folder: Path, slower: int = 0) -> TuningTables:
    """Write the tables of `run_tuning`. `slower` is the number of sizes that a check removed."""
    machine = run.machine
    title = title_of(machine.mpi) if machine.mpi is not None else ""
    comments = [
        f"{WRITTEN_BY} from {printable(str(run.path))}: {printable(machine.host)}, {printable(title)}",
        f"where the 95% interval of the ratio to MPI's own choice lies below {1 - run_tuning.effect:g}",
    ]
    if run_tuning.rules or run_tuning.internal_rules:
        comments.append(memory_comment())
    if undecided := run_tuning.count_with_states(*UNDECIDED_VERDICTS):
        comments.append(undecided_comment(undecided, len(run_tuning.deciding_choices)))
    if slower:
        comments.append(removed_comment(slower))
    written = {CHOICES: format_choices(run_tuning.rules, comments)}
    if run_tuning.internal_points:
        written[DYNAMIC_RULES] = openmpi.format_dynamic_rules(run_tuning.internal_rules, comments)
    files.make_folder(folder)
    for name, text in written.items():
        files.write_user_file(folder / name, text.encode("utf-8"))
    rules = folder / DYNAMIC_RULES
    if not run_tuning.internal_points:
        _remove_earlier(rules)
    return TuningTables(run_tuning, folder / CHOICES, rules if run_tuning.internal_points else None)


def _remove_earlier(path: Path) -> None:
    """Remove the rules of an earlier run. A file that hockney did not write is kept."""
    with contextlib.suppress(OSError, ValueError):
        if files.read_regular(path).decode().startswith(f"# {WRITTEN_BY}"):
            path.unlink()


def undecided_comment(undecided: int, compared: int) -> str:
    """A comment in the tables."""
    return (
        f"{undecided} of {plural(compared, 'combination')} of operation, ranks and size "
        f"{verb_form(undecided, 'is', 'are')} undecided"
    )


def removed_comment(sizes: int) -> str:
    """A comment in the tables."""
    return f"without {plural(sizes, 'size')} at which --check found a rule that is slower"


def memory_comment() -> str:
    """A comment in the tables."""
    return (
        "measured with freed memory kept by the ranks; other programs may lose without "
        f"{assignments(KEPT_VARIABLES)} (docs/tuning.md)"
    )


PRELOADED, RULED = "preloaded", "ruled"
"""The settings of launches with hockney's library and its table, and with Open MPI's rules."""
LIBRARY = Path("lib") / "libhockney-pmpi.so"
LAUNCHER_SETTINGS = (
    "mpi", "machine", "bind", "mpiexec_args", "variables",
    "nodes", "ranks_per_node", "hosts", "starter", "agent",
)  # fmt: skip
"""What decides how a run's ranks are started: a check of its tables has the same."""
RETURNED_SUFFIX = "-returned"
"""The suffix of the same settings with freed memory returned to the system."""
GainVerdict = Literal["faster", "slower", "not faster", "undecided"]
"""faster, slower: by NOTABLE at least, with an interval that excludes 1; not faster: by less."""


@dataclass(frozen=True)
class TimeRatio:
    """Ratio of the time with a table to the time without it. `seconds` are the typical times without and with
    it."""

    ratio: Estimate
    seconds: tuple[float, float]

    @property
    def slower(self) -> bool:
        return verdict(self.ratio) == "slower"

    @property
    def faster(self) -> bool:
        return verdict(self.ratio) == "faster"

    @property
    def no_better(self) -> bool:
        """Whether no notable gain is possible."""
        return self.ratio.low is not None and self.ratio.low >= 1 / NOTABLE

    @property
    def no_worse(self) -> bool:
        """Whether no notable loss is possible."""
        return self.ratio.high is not None and self.ratio.high <= NOTABLE


@dataclass(frozen=True)
class Gain:
    """Gain at one size of a rule, measured both with ranks that keep freed memory and with ranks that return
    it to the system."""

    setting: str
    operation: str
    ranks: int
    size: int
    ratio_memory_kept: TimeRatio
    ratio_memory_returned: TimeRatio

    @property
    def memories(self) -> Mapping[Memory, TimeRatio]:
        """Ratios by the treatment of freed memory."""
        return {"kept": self.ratio_memory_kept, "returned": self.ratio_memory_returned}

    @property
    def table(self) -> str:
        """File name of the table."""
        return CHOICES if self.setting == PRELOADED else DYNAMIC_RULES

    @property
    def has_intervals(self) -> bool:
        """Whether both ratios have intervals."""
        return all(None not in (ratio.ratio.low, ratio.ratio.high) for ratio in self.memories.values())

    @property
    def verdict(self) -> GainVerdict:
        """ "slower" if slower with either treatment of memory, "faster" if faster with one and no worse with
        the other, "not faster" if no notable gain is possible with either."""
        ratios = self.memories.values()
        if any(ratio.slower for ratio in ratios):
            return "slower"
        if all(ratio.no_better for ratio in ratios):
            return "not faster"
        is_confirmed = any(ratio.faster for ratio in ratios) and all(ratio.no_worse for ratio in ratios)
        return "faster" if is_confirmed else "undecided"

    @property
    def time_to_decide(self) -> float:
        """Factor by which the measuring time must grow for a decision if the ratios stay the same; infinite
        without an interval."""
        best, worst = sorted((ratio.ratio for ratio in self.memories.values()), key=lambda ratio: ratio.value)
        if worst.value >= NOTABLE:
            return time_to_exclude(worst, 1.0)
        if best.value > 1 / NOTABLE:
            return max(time_to_exclude(ratio, 1 / NOTABLE) for ratio in (best, worst))
        return max(time_to_exclude(best, 1.0), time_to_exclude(worst, NOTABLE))


def check_gains(
    run: Run,
    tables: TuningTables,
    budget: float = 60.0,
    library: Path | None = None,
    *,
    launches: int | None = None,
    out: AnyPath | None = None,
    listen: Listener = ignore_event,
) -> tuple[Run, list[Gain]]:
    """Measure the sizes of all rules with and without the tables of `run`, using its MPI and launcher
    options. Returns the new run and the gains.

    hockney's table is checked if `library` is the installation prefix of the library; Open MPI's rules are
    checked if there are any. Raises Inconclusive if there is no rule, UsageError if the library is not
    installed in the prefix or if a foreign run names programs, and the errors of measuring.
    """
    if not is_own(run.settings):
        raise UsageError(
            f"{printable(str(run.path))} names programs that you have not named",
            "a run folder from somebody else could start any program",
            "leave --check out, or measure with 'hockney run tuning'",
            code="check-of-foreign-run",
        )
    checked_tables = [*_preloaded_table(tables, library), *_rules_table(tables)]
    if not checked_tables and tables.tuning.rules:
        raise UsageError(
            "--check needs --library",
            "only hockney's table has rules, and its library puts them under the measured program",
            "install it with 'hockney build --library --prefix DIR', and give --library DIR",
            code="check-needs-library",
        )
    if not checked_tables:
        raise Inconclusive(
            "there is nothing to check",
            "no algorithm is faster than MPI's own choice beyond doubt",
            "leave --check out, or measure longer with 'hockney run tuning --budget 10m'",
            code="no-rules-to-check",
        )
    rules = {table.setting.name: table.rules for table in checked_tables}
    lines = (line for table_rules in rules.values() for line in _case_lines(table_rules, list(rules)))
    settings = [LaunchSetting(PLAIN, ()), *(table.setting for table in checked_tables)]
    settings += [_with_memory_returned(setting) for setting in settings]
    options = RunOptions(
        budget=budget,
        launches=launches,
        launch_settings=tuple(setting.line for setting in settings),
        **{name: getattr(run.settings, name) for name in LAUNCHER_SETTINGS},
    )
    question = Question(ad_hoc.NAME, tuple(dict.fromkeys(lines)))
    checked_run = measure(question, options, out=out, listen=listen)
    return checked_run, _measured_gains(checked_run, rules)


@dataclass(frozen=True)
class _CheckedTable:
    """A table with its rules and the launch setting that applies it to programs."""

    setting: LaunchSetting
    rules: tuple[ChoiceRule, ...]


def _preloaded_table(tables: TuningTables, library: Path | None) -> Iterator[_CheckedTable]:
    """hockney's table, applied by preloading its library. Raises UsageError if `library` does not contain
    it."""
    if library is None or not tables.tuning.rules:
        return
    preload = (library / LIBRARY).absolute()
    if not preload.is_file():
        raise UsageError(
            f"{printable(str(library))} has no libhockney-pmpi.so",
            "the library for unchanged programs is loaded from there",
            f"install it with 'hockney build --library --prefix {printable(str(library))}'",
            code="no-preload-library",
        )
    variables = {
        "LD_PRELOAD": str(preload),
        "HOCKNEY_CHOICES": str(tables.choices_file.absolute()),
        "HOCKNEY_PMPI_REPORT": "/dev/null",
    }
    yield _CheckedTable(LaunchSetting.of(PRELOADED, variables), tables.tuning.rules)


def _rules_table(tables: TuningTables) -> Iterator[_CheckedTable]:
    """Rules that Open MPI reads itself."""
    if tables.rules_file is not None and tables.tuning.internal_rules:
        variables = openmpi.rules_file_variables(str(tables.rules_file.absolute()))
        yield _CheckedTable(LaunchSetting.of(RULED, variables), tables.tuning.internal_rules)


def remove_slower(run: Run, tables: TuningTables, gains: Iterable[Gain]) -> TuningTables:
    """Rewrite the tables of `run` without the sizes at which a rule is slower with either treatment of
    memory."""
    slower_sizes: dict[str, set[tuple[str, int, int]]] = {PRELOADED: set(), RULED: set()}
    for gain in gains:
        if gain.verdict == "slower":
            slower_sizes[gain.setting].add((gain.operation, gain.ranks, gain.size))
    count = sum(map(len, slower_sizes.values()))
    if not count:
        return tables
    remaining = replace(
        tables.tuning,
        rules=tuple(exclude_combinations(tables.tuning.rules, slower_sizes[PRELOADED])),
        internal_rules=tuple(exclude_combinations(tables.tuning.internal_rules, slower_sizes[RULED])),
    )
    return write_tables(run, remaining, tables.choices_file.parent, count)


def _with_memory_returned(setting: LaunchSetting) -> LaunchSetting:
    return LaunchSetting.of(
        f"{setting.name}{RETURNED_SUFFIX}", {**dict(setting.variables), **RETURNED_VARIABLES}
    )


def _case_lines(rules: Iterable[ChoiceRule], settings: Sequence[str]) -> list[str]:
    return [
        f"{rule.operation}{algorithm} ranks={rule.ranks} {ALGORITHM}={MPI} setting={setting}{memory}"
        for rule in rules
        for algorithm in (f" bytes={size}" if size else "" for size in rule.sizes)
        for setting in (PLAIN, *settings)
        for memory in ("", RETURNED_SUFFIX)
    ]


def _measured_gains(run: Run, sizes: dict[str, tuple[ChoiceRule, ...]]) -> list[Gain]:
    """Gains of the measured cases, each with the settings that affect it."""
    observations: dict[tuple[str, int, int], dict[str, Observation]] = {}
    for observation in run.evidence.observations(cost="typical"):
        size_key = (observation.workload.operation, observation.case.ranks, int(observation.size))
        observations.setdefault(size_key, {})[observation.case.setting] = observation
    gains = []
    for setting, rules in sizes.items():
        for rule in rules:
            for size in rule.sizes:
                size_key = (rule.operation, rule.ranks, size)
                kept_ratio, returned_ratio = (
                    _time_ratio(observations.get(size_key, {}), setting + memory, PLAIN + memory)
                    for memory in ("", RETURNED_SUFFIX)
                )
                if kept_ratio is not None and returned_ratio is not None:
                    gains.append(Gain(setting, *size_key, kept_ratio, returned_ratio))
    return gains


def _time_ratio(by_setting: dict[str, Observation], changed: str, plain: str) -> TimeRatio | None:
    if plain not in by_setting or changed not in by_setting:
        return None
    interleaved = InterleavedSettings.from_observations(
        {name: [observation] for name, observation in by_setting.items()}
    )
    seconds = by_setting[plain].interval()[0], by_setting[changed].interval()[0]
    return TimeRatio(interleaved.ratio(changed, plain), seconds)
