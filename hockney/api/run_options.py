# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Options of a run: the help, parser and scope of each option, conflicts among them, and their combined
meaning."""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Any

from hockney import measurement
from hockney.core.errors import UsageError, printable
from hockney.core.launch_setting import launch_settings
from hockney.core.launcher_options import LauncherOptions, parse_launcher_options
from hockney.core.layout import HostOptions, Layout
from hockney.core.settings import (
    DEFAULT_PRECISION,
    MAX_LAUNCHES,
    MAX_NODES,
    MAX_ROUNDS,
    MAX_SEED,
    MIN_LAUNCHES,
    Settings,
)
from hockney.core.units import format_seconds, parse_counts, parse_fraction, parse_seconds, parse_sizes
from hockney.core.wording import option
from hockney.mpi import named_families

_OPTION = "option"


@dataclass(frozen=True)
class Option:
    """An option of a run. `default_text` is the default in the help, `negative` tells whether --no-NAME
    exists. `resume` may replace a `replaceable` option, and the sides of an interleaved comparison may differ
    in a `side_specific` one."""

    help: str
    metavar: str = ""
    parse: Callable[[str], Any] | None = None
    default_text: str = ""
    environ: str = ""
    flag: bool = False
    negative: bool = False
    multiple: bool = False
    replaceable: bool = False
    side_specific: bool = False


def run_option(default: Any, help: str, metavar: str = "", **traits: Any) -> Any:
    """Declare a field of `RunOptions` with its default and its `Option`."""
    return field(default=default, metadata={_OPTION: Option(help, metavar, **traits)})


def launch_option(default: Any, help: str, metavar: str = "", **traits: Any) -> Any:
    """Declare a launch option, which `resume` may replace and in which the sides of an interleaved comparison
    may differ."""
    return run_option(default, help, metavar, replaceable=True, side_specific=True, **traits)


def options_of(options_class: type) -> dict[str, tuple[Option, Any]]:
    """Option and default of each field."""
    return {
        option_field.name: (option_field.metadata[_OPTION], option_field.default)
        for option_field in fields(options_class)
    }


def positive_time_parser(quantity: str, *examples: str, code: str) -> Callable[[str], float]:
    """Make a parser of times above 0, in seconds. Its error has this `code`."""

    def parse(text: str) -> float:
        seconds = parse_seconds(text, " or ".join(examples))
        if seconds <= 0:
            raise UsageError(
                f"'{printable(text)}' is not {quantity}",
                "it must be greater than 0",
                f"use for example {examples[0]}",
                code=code,
                text=text,
            )
        return seconds

    return parse


parse_budget = positive_time_parser("a time budget", "60s", "2m", code="budget-not-positive")
parse_interval = positive_time_parser("an interval between rounds", "1m", "8h", code="interval-not-positive")


def integer_parser(low: int, high: int, example: str) -> Callable[[str], int]:
    def parse(text: str) -> int:
        if not (text.isascii() and text.isdecimal()) or len(text) > 20 or not low <= int(text) <= high:
            raise UsageError(
                f"'{printable(text)}' is out of range",
                f"expected an integer from {low} to {high}",
                f"use for example {example}",
                code="integer-out-of-range",
                text=text,
                low=low,
                high=high,
            )
        return int(text)

    return parse


def parse_names(text: str) -> tuple[str, ...]:
    return tuple(text.split(","))


def parse_starter(text: str) -> str:
    """Parse the name of a starter ("" for the default). Raises UsageError for an unknown name."""
    return "" if text == "auto" else HostOptions(starter=text).starter


def mpi_help() -> str:
    """Help of --mpi, with the usual name of each family."""
    return f"MPI to use: a prefix, an mpicxx, or {', '.join(family.names[0] for family in named_families())}."


MAX_LABEL_LENGTH = 100
SIMULATED_SEED = 1


@dataclass(frozen=True)
class RunOptions:
    """The options of a run. Times are in seconds, sizes in bytes; empty or None leaves the choice to hockney.

    `budget` is the time for all launches, or for each round. Rounds start `every` seconds apart; their number
    is `repeat`, or is limited by the period `through`. A budget below the minimum of the planned cases is
    raised to that minimum. `precision` is the target half width of the 95% interval of a typical time, as a
    fraction. `mpi` and `machine` are as on the command line. `force` accepts a survey of another machine.
    `mpiexec_args` are additional arguments for mpiexec, split as in a shell; `variables` (NAME=VALUE) are set
    in the environment of the ranks; `label` names the run in its results; `launch_settings` (NAME
    VARIABLE=VALUE ...) are referenced by cases as `setting=NAME`. `nodes`, `ranks_per_node`, `hosts`,
    `starter` and `agent` choose the hosts (`core.layout.HostOptions`); `assume_network` accepts a simulated
    machine with unmeasured message costs between nodes. Raises UsageError for values out of range and for
    options that contradict each other.
    """

    ranks: tuple[int, ...] = run_option(
        (),
        "Rank counts, such as 2,4 or 2:8.  [default: 2 and powers of two up to the cores]",
        "N,...",
        parse=parse_counts,
    )
    sizes: tuple[int, ...] = run_option(
        (),
        "Message sizes, such as 0,8,4KiB or 0:1GiB; ranges skip sizes that a workload does not support.  "
        "[default: 0:4MiB]",
        "B,...",
        parse=parse_sizes,
    )
    budget: float = run_option(
        60.0,
        "Time for all launches, including their start, such as 30s or 5m; per round with --repeat or "
        "--through. Compiling the engine, fitting and writing the report take additional time.",
        "TIME",
        parse=parse_budget,
        default_text="60s",
    )
    precision: float = run_option(
        DEFAULT_PRECISION,
        "Target half width of the 95% interval of typical times.",
        "FRACTION",
        parse=parse_fraction,
        default_text="2%",
    )
    launches: int | None = run_option(
        None,
        "Launches of each case.  [default: 3 to 100, as the budget allows; simulated: 1, or with noise 3, "
        "for nodes 6]",
        "N",
        parse=integer_parser(1, MAX_LAUNCHES, "3"),
    )
    seed: int | None = run_option(
        None,
        "Seed for the shuffled order.  [default: random; simulated: 1]",
        "N",
        parse=integer_parser(0, MAX_SEED, "1"),
    )
    bind: bool = run_option(True, "Bind each rank to a core.", flag=True, negative=True, side_specific=True)
    mpi: str = launch_option(
        "",
        mpi_help(),
        "PATH|NAME",
    )
    machine: str = launch_option(
        "",
        "A simulated machine: sim:t3e, sim:my.toml.  [default: this one]",
        "sim:NAME|FILE",
        environ="HOCKNEY_MACHINE",
    )
    repeat: int | None = run_option(
        None,
        "Measure everything N times, in rounds of --budget each.",
        "N",
        parse=integer_parser(1, MAX_ROUNDS, "20"),
    )
    through: float | None = run_option(
        None,
        "Make as many rounds as fit into TIME, such as 8h.",
        "TIME",
        parse=parse_interval,
    )
    every: float | None = run_option(
        None,
        "Time from the start of one round to the start of the next.  [default: the budget]",
        "TIME",
        parse=parse_interval,
    )
    force: bool = run_option(
        False, "Accept a survey (survey=RUN) or baseline (--check) from another machine.", flag=True
    )
    mpiexec_args: str = launch_option(
        "",
        "Additional arguments for mpiexec, such as '--mca btl self,tcp'.",
        "ARGS",
    )
    variables: tuple[str, ...] = launch_option(
        (),
        "Set an environment variable for the ranks; may be repeated.",
        "NAME=VALUE",
        multiple=True,
    )
    label: str = run_option(
        "", "Name of the run, shown with its results; may contain spaces.", "TEXT", side_specific=True
    )
    launch_settings: tuple[str, ...] = run_option(
        (),
        "Declare a launch setting, such as 'large OMPI_MCA_btl_sm_eager_limit=65536'. Cases with "
        "setting=large are measured in launches with these variables, which alternate with the other "
        "launches. May be repeated.",
        "TEXT",
        multiple=True,
        replaceable=True,
    )
    refine: bool | None = run_option(
        None,
        "Add sizes where the cost curve changes.  [default: in a survey of a real machine]",
        flag=True,
        negative=True,
    )
    nodes: int = launch_option(
        0,
        "Number of hosts to use.  [default: all hosts of the batch job or in --hosts]",
        "N",
        parse=integer_parser(1, MAX_NODES, "2"),
    )
    ranks_per_node: int = launch_option(
        0,
        "Ranks on each host.  [default: as in the batch job, or the slots in --hosts, or 1]",
        "N",
        parse=integer_parser(1, MAX_NODES, "2"),
    )
    hosts: tuple[str, ...] = launch_option(
        (),
        "Hosts to use, such as n1,n2, or n1:4,n2:4 with the number of ranks that fit on each.",
        "NAME,...",
        parse=parse_names,
    )
    starter: str = launch_option(
        "",
        "Program that starts the ranks.  [default: mpiexec; in Slurm, srun if mpiexec does not work]",
        "auto|mpiexec|srun",
        parse=parse_starter,
    )
    agent: str = launch_option(
        "",
        "Remote shell that mpiexec uses instead of ssh, such as 'ssh -p 2222'.",
        "WORDS",
    )
    assume_network: bool = run_option(
        False,
        "Simulate ranks on several nodes even if nobody has measured messages between nodes.",
        flag=True,
    )

    def __post_init__(self) -> None:
        parse_launcher_options(self.mpiexec_args, self.variables)
        HostOptions(starter=self.starter)
        launch_settings(self.launch_settings)
        if len(self.label) > MAX_LABEL_LENGTH or not self.label.isprintable():
            raise UsageError(
                f"{option('label', printable(self.label[:MAX_LABEL_LENGTH]))} cannot be used",
                f"a label has up to {MAX_LABEL_LENGTH} printable characters",
                f"use for example {option('label', 'tuned')}",
                code="label-not-usable",
                label=self.label,
            )
        self._check_ranges()
        self._check_rounds()
        if self.in_rounds and not self.wall_clock:
            self._check_simulated()

    @property
    def launcher_options(self) -> LauncherOptions:
        return parse_launcher_options(self.mpiexec_args, self.variables)

    @property
    def host_options(self) -> HostOptions:
        return HostOptions(self.nodes, self.ranks_per_node, self.hosts, self.starter, self.agent)

    @property
    def layout(self) -> Layout | None:
        """Layout of a job's ranks on its nodes; None if it depends on the nodes."""
        return Layout(self.nodes or 1, self.ranks_per_node) if self.ranks_per_node else None

    @property
    def wall_clock(self) -> bool:
        """Whether the machine's time passes at the rate of this host's clock."""
        return measurement.kind_of(self.machine).TRAITS.wall_clock

    @property
    def in_rounds(self) -> bool:
        """Whether the run is repeated over a period."""
        return self.repeat is not None or self.through is not None

    @property
    def every_s(self) -> float:
        """Time from round to round; 0 without waiting, as on simulated machines."""
        return 0.0 if not self.wall_clock or not self.in_rounds else self.every or self.budget

    @property
    def launch_count(self) -> int:
        """Number of launches of most studies; 0 if the budget and the cost of a launch determine it."""
        if self.through is not None:
            return 1 + math.floor((self.through - self.budget) / self.every_s + 1e-9)
        if count := self.repeat or self.launches:
            return count
        if not measurement.varies_by_launch(self.machine):
            return 1
        return MIN_LAUNCHES if self._simulates_launches else 0

    @property
    def _simulates_launches(self) -> bool:
        """Whether the study decides the number of launches, which differ as the machine's description
        specifies."""
        is_chosen = self.through is not None or self.repeat or self.launches
        kind_varies = measurement.kind_of(self.machine).TRAITS.varies
        return not is_chosen and not kind_varies and measurement.varies_by_launch(self.machine)

    @property
    def shuffle_seed(self) -> int:
        """Seed of the shuffled order. It is fixed for simulations, as repeating one must give the same
        bytes."""
        if self.seed is not None:
            return self.seed
        return secrets.randbelow(2**31) if self.wall_clock else SIMULATED_SEED

    def refines(self, by_default: bool) -> bool:
        """Whether sizes are added. Rounds are compared with each other, so they must contain the same
        cases."""
        if self.refine is None:
            return by_default and not self.in_rounds and measurement.kind_of(self.machine).TRAITS.varies
        return self.refine

    def settings(
        self, study: str, *, refine: bool = False, simulated_launches: int = MIN_LAUNCHES
    ) -> Settings:
        """Settings for a study. `refine` and `simulated_launches` are the study's defaults, which the options
        may override."""
        shared_names = {settings_field.name for settings_field in fields(Settings)} & {
            settings_field.name for settings_field in fields(self)
        }
        values = {name: getattr(self, name) for name in shared_names}
        launches = simulated_launches if self._simulates_launches else self.launch_count
        values |= {"launches": launches, "seed": self.shuffle_seed, "refine": self.refines(refine)}
        return Settings(
            study=study,
            budget_s=self.budget,
            every_s=self.every_s,
            through_s=self.through or 0.0,
            extend=not self.launch_count,
            **values,
        )

    def _check_ranges(self) -> None:
        """Raise UsageError for values out of range, which the command line rejects while parsing."""
        for name, seconds in (("budget", self.budget), ("through", self.through), ("every", self.every)):
            if seconds is not None and not 0 < seconds < math.inf:
                raise UsageError(
                    f"{name} is {seconds:g}",
                    "a time must be greater than 0",
                    "use seconds, for example 30",
                    code="option-not-positive",
                    name=name,
                    value=seconds,
                )
        if not 0 < self.precision <= 1:
            raise _option_out_of_range("precision", self.precision, 0, 1)
        limits = (
            ("nodes", 0, MAX_NODES),
            ("ranks_per_node", 0, MAX_NODES),
            ("launches", 1, MAX_LAUNCHES),
            ("repeat", 1, MAX_ROUNDS),
            ("seed", 0, MAX_SEED),
        )
        for name, low, high in limits:
            count = getattr(self, name)
            if count is not None and not low <= count <= high:
                raise _option_out_of_range(name, count, low, high)

    def _check_rounds(self) -> None:
        if self.repeat is not None and self.through is not None:
            raise UsageError(
                f"{option('repeat')} and {option('through')} exclude each other",
                "both set the number of rounds",
                "use only one",
                code="repeat-with-through",
            )
        if not self.in_rounds:
            if self.every is not None:
                raise UsageError(
                    f"{option('every')} has no effect alone",
                    "it sets when rounds start, not how many there are",
                    f"add {option('repeat', 20)}",
                    code="every-without-rounds",
                )
            return
        if self.launches is not None:
            raise UsageError(
                f"{option('launches')} does not apply to a run in rounds",
                "each round is a launch",
                f"leave {option('launches')} out",
                code="launches-with-rounds",
            )
        if self.refine:
            raise UsageError(
                f"{option('refine')} does not apply to a run in rounds",
                "rounds are compared with each other, so all must have the same cases",
                f"leave {option('refine')} out, or list more {option('sizes')}",
                code="refine-with-rounds",
            )
        refuse_long_rounds(self.budget, self.every or self.budget)
        if self.through is not None and self.through < self.budget:
            raise UsageError(
                f"{option('through', format_seconds(self.through))} is shorter than one round",
                f"its {option('budget')} is {format_seconds(self.budget)}",
                f"use a smaller {option('budget')}",
                code="through-shorter-than-round",
                through_s=self.through,
                budget_s=self.budget,
            )
        if self.through is not None and self.wall_clock and self.launch_count > MAX_ROUNDS:
            raise UsageError(
                f"{self.launch_count} rounds are too many",
                f"the limit is {MAX_ROUNDS}",
                f"use a larger {option('every')}",
                code="too-many-rounds",
                rounds=self.launch_count,
                limit=MAX_ROUNDS,
            )

    def _check_simulated(self) -> None:
        if self.through is not None:
            raise UsageError(
                f"{option('through')} does not apply to simulated machines",
                "simulated time does not advance between rounds",
                f"use {option('repeat')}",
                code="through-when-simulated",
            )
        if measurement.repeats_itself(self.machine):
            raise UsageError(
                f"{option('repeat')} does not apply to this simulated machine",
                "without noise every round is the same",
                "leave it out, or describe the machine's [noise]",
                code="repeat-when-noiseless",
            )


OPTIONS = options_of(RunOptions)
REPLACEABLE = tuple(name for name, (described, _) in OPTIONS.items() if described.replaceable)
"""The options that `resume` may replace."""


class Replacements:
    """Options with which `resume` replaces those of the run: fields of `RunOptions`. Without fields, the
    options are kept."""

    def __init__(self, **options: Any) -> None:
        if invalid_names := {
            name for name in options if name not in OPTIONS or not OPTIONS[name][0].replaceable
        }:
            raise TypeError(f"resume does not replace {', '.join(sorted(invalid_names))}")
        self.given = {name: value for name, value in options.items() if value}


NO_REPLACEMENTS = Replacements()


def refuse_long_rounds(budget_s: float, every_s: float) -> None:
    """Raise UsageError if a round would not end before the next one begins."""
    if budget_s > every_s:
        raise UsageError(
            f"a round of {format_seconds(budget_s)} is longer than the {format_seconds(every_s)} between "
            "rounds",
            f"{option('budget')} is the time of one round",
            f"use {option('budget', f'{every_s:g}s')} or less",
            code="round-longer-than-interval",
            budget_s=budget_s,
            every_s=every_s,
        )


def _option_out_of_range(name: str, value: float, low: float, high: float) -> UsageError:
    return UsageError(
        f"{name} is {value:g}",
        f"the range is {low:g} to {high:g}",
        "use a value in this range",
        code="option-out-of-range",
        name=name,
        value=value,
    )
