# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What a study plans and finds on the fake machine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hockney import api, measurement
from hockney.core.case import Case
from hockney.core.settings import Settings
from hockney.launch.fake import FakeLauncher
from hockney.launch.fake_world import World
from hockney.pages.evidence import Evidence, Options, Study


def planned(study: Study, *ranks: int, **options: Any) -> list[Case]:
    """Its cases; `options` are fields of Options."""
    bench = measurement.fake_bench("fake", workloads=study.WORKLOADS)
    return study.plan(Options(ranks=ranks, **options), bench.catalog, bench.machine)


def studied(
    folder: Path,
    study: Study,
    launcher: FakeLauncher | World | None = None,
    *,
    cores: int | None = None,
    launches: int = 2,
    budget_s: float = 60.0,
    lines: tuple[str, ...] = (),
    **options: Any,
) -> Evidence:
    """A finished run of the study with these `options`, or of the cases in `lines`."""
    if not isinstance(launcher, FakeLauncher):
        launcher = FakeLauncher(launcher or World())
    sizes = {} if cores is None else {"cores": cores}
    bench = measurement.fake_bench(launcher, workloads=study.WORKLOADS, **sizes)
    asked = Options(**options)
    cases = [bench.catalog.case(line) for line in lines] or study.plan(asked, bench.catalog, bench.machine)
    made_settings = study.launch_settings(asked, bench.machine)
    settings = Settings(
        study.NAME,
        seed=1,
        launches=launches,
        budget_s=budget_s,
        launch_settings=tuple(each.line for each in made_settings),
    )
    made = measurement.create_run(folder, cases, settings, bench)
    measurement.measure(made, bench, lambda event: None)
    return api.load(folder).evidence
