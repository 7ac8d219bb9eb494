# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The gain of tables, measured again in alternating launches with and without them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from hockney.api.measure import run as measure
from hockney.api.questions import Question
from hockney.api.run_contents import Run
from hockney.api.run_options import RunOptions
from hockney.api.trusted_settings import is_own
from hockney.api.tuning import messages
from hockney.api.tuning.files import CHOICES, DYNAMIC_RULES, Tuned
from hockney.core.case import ALGORITHM, MPI
from hockney.core.fit import Estimate
from hockney.core.launch_setting import LaunchSetting
from hockney.core.paths import AnyPath
from hockney.lab import Listener, silent
from hockney.models.statistics import ratio_in_turns
from hockney.models.tuning import openmpi
from hockney.models.tuning.points import PLAIN
from hockney.models.tuning.rules import ChoiceRule
from hockney.studies import ad_hoc

PRELOADED, RULED = "preloaded", "ruled"
"""The settings of launches with hockney's library and its table, and with Open MPI's rules."""
LIBRARY = Path("lib") / "libhockney-pmpi.so"


@dataclass(frozen=True)
class Gain:
    """One size of a rule, measured again: the time with the table relative to that without it. `seconds` are
    the typical times without and with it."""

    setting: str
    operation: str
    ranks: int
    size: int
    ratio: Estimate
    seconds: tuple[float, float]

    @property
    def table(self) -> str:
        """The name of its file."""
        return CHOICES if self.setting == PRELOADED else DYNAMIC_RULES

    @property
    def slower(self) -> bool:
        """Whether the table does harm, beyond doubt."""
        return self.ratio.low is not None and self.ratio.low > 1

    @property
    def faster(self) -> bool:
        """Whether the gain is confirmed, beyond doubt."""
        return self.ratio.high is not None and self.ratio.high < 1


def check(
    run: Run,
    tuned: Tuned,
    budget: float = 60.0,
    library: Path | None = None,
    *,
    launches: int | None = None,
    out: AnyPath | None = None,
    listen: Listener = silent,
) -> tuple[Run, list[Gain]]:
    """Measure the sizes of all rules with and without the tables of `run`, with its MPI and options of the
    launcher, and return the new run and the gains.

    hockney's table is checked if `library` is the prefix in which the library is installed, Open MPI's rules
    if there are any. Raises Inconclusive if there is no rule, UsageError for a missing prefix or one without
    the library and for a run of somebody else that names programs, and what measuring raises.
    """
    if not is_own(run.settings):
        raise messages.check_of_foreign_run(run.path)
    settings: list[LaunchSetting] = [LaunchSetting(PLAIN, ())]
    sizes: dict[str, tuple[ChoiceRule, ...]] = {}
    if library is not None and tuned.found.rules:
        preload = (library / LIBRARY).absolute()
        if not preload.is_file():
            raise messages.no_preload_library(library)
        variables = {
            "LD_PRELOAD": str(preload),
            "HOCKNEY_CHOICES": str(tuned.choices_file.absolute()),
            "HOCKNEY_PMPI_REPORT": "/dev/null",
        }
        settings.append(LaunchSetting.of(PRELOADED, variables))
        sizes[PRELOADED] = tuned.found.rules
    if tuned.rules_file is not None and tuned.found.internal_rules:
        settings.append(LaunchSetting.of(RULED, openmpi.using(str(tuned.rules_file.absolute()))))
        sizes[RULED] = tuned.found.internal_rules
    if not sizes:
        raise messages.check_needs_library() if tuned.found.rules else messages.no_rules_to_check()
    lines = tuple(dict.fromkeys(line for rules in sizes.values() for line in _lines(rules, list(sizes))))
    given = run.settings
    options = RunOptions(
        budget=budget,
        launches=launches,
        mpi=given.mpi,
        machine=given.machine,
        bind=given.bind,
        mpiexec_args=given.mpiexec_args,
        variables=given.variables,
        launch_settings=tuple(setting.line for setting in settings),
    )
    again = measure(Question(ad_hoc.NAME, lines), options, out=out, listen=listen)
    return again, _gains(again, sizes)


def _lines(rules: Iterable[ChoiceRule], settings: Sequence[str]) -> list[str]:
    return [
        f"{rule.operation} bytes={size} ranks={rule.ranks} {ALGORITHM}={MPI} setting={setting}"
        for rule in rules
        for size in rule.sizes
        for setting in (PLAIN, *settings)
    ]


def _gains(run: Run, sizes: dict[str, tuple[ChoiceRule, ...]]) -> list[Gain]:
    """Of the cases that were measured, each only with the settings that change it."""
    seen = {
        (each.case.setting, each.workload.operation, each.case.ranks, int(each.size)): each
        for each in run.evidence.observed(cost="typical")
    }
    gains = []
    for setting, rules in sizes.items():
        for rule in rules:
            for size in rule.sizes:
                place = (rule.operation, rule.ranks, size)
                plain, changed = seen.get((PLAIN, *place)), seen.get((setting, *place))
                if plain is not None and changed is not None:
                    times = plain.interval()[0], changed.interval()[0]
                    gains.append(Gain(setting, *place, ratio_in_turns(changed, plain), times))
    return gains
