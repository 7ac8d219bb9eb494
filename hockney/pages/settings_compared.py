# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The section on launch settings: what each of them changes."""

from __future__ import annotations

from hockney.core.case import Case
from hockney.core.launch_setting import DEFAULT, launch_settings
from hockney.draw.page import Section, Table
from hockney.models.statistics import Observation, ratio_in_turns
from hockney.pages.evidence import Evidence
from hockney.pages.format import quantity


def section(evidence: Evidence) -> Section | None:
    """The time of each case with a setting relative to the time of the same case without: in launches with a
    setting that has no variables, or else in ordinary launches. None if no case was measured both ways."""
    plain = [s.name for s in launch_settings(evidence.settings.launch_settings).values() if not s.variables]
    by_case: dict[Case, dict[str, Observation]] = {}
    for seen in evidence.observed():
        by_case.setdefault(seen.case.under(""), {})[seen.case.setting] = seen
    rows = []
    for case, named in sorted(by_case.items(), key=lambda each: each[0].line):
        base = next((name for name in (*plain, "") if name in named), None)
        if base is None:
            continue
        for name, seen in sorted(named.items()):
            if name != base:
                changed = ratio_in_turns(seen, named[base])
                times = [quantity(each.interval()[0], "s") for each in (named[base], seen)]
                known = changed.low is not None and changed.high is not None
                ends = f"{changed.low:.2f} to {changed.high:.2f}" if known else ""
                rows.append((case.line, name or DEFAULT, *times, f"{changed.value:.2f}", ends))
    if not rows:
        return None
    columns = ("case", "setting", "without", "with it", "ratio", "95% interval")
    return Section(
        title="Launch settings",
        text=(
            "The table compares launches with a setting to launches without, which took turns. A ratio whose "
            "interval includes 1 shows no effect.",
        ),
        tables=(Table("settings", "Launch settings", columns, tuple(rows), numeric=(2, 3, 4, 5)),),
    )
