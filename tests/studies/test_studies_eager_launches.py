# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Eager limits on a machine whose launches are in one of two modes."""

from __future__ import annotations

from dataclasses import replace

from msgspec.structs import replace as replace_struct
from test_studies_collectives import cases, measured

from hockney.launch.fake_world import FakeSegment, World
from hockney.models.statistics import UNDECIDED_VERDICTS
from hockney.studies import Evidence, Options
from hockney.studies.collectives import results
from hockney.studies.collectives.results import EagerEffect


def slowed(evidence: Evidence, modes: dict[str, tuple[int, ...]]) -> Evidence:
    """The machine is three times as slow in some launches of each setting."""
    launches: dict[str, list[str]] = {}
    records = []
    for record in evidence.run.records:
        setting = record.parse_case().setting
        names = launches.setdefault(setting, [])
        if record.launch not in names:
            names.append(record.launch)
        slow = modes[setting][names.index(record.launch)]
        records.append(replace_struct(record, times_s=[time * 3**slow for time in record.times_s]))
    return replace(evidence, run=replace(evidence.run, records=tuple(records)), times=None)


def test_launches_in_different_modes_make_no_eager_limit_the_best(tmp_path):
    """No limit changes anything here. All launches with MPI's own limit are in the slow mode, none of those
    with 64 KiB; those with 1 KiB show that there are two modes."""
    planned = cases(operations="scan", ranks=(2,), sizes=(1024,), eager="1KiB,64KiB")
    world = World(segments=(FakeSegment(0, 1e-6, 1e-10), FakeSegment(4096, 1e-6, 1e-10)))
    evidence = measured(tmp_path, world, planned, Options(parameters={"eager": (1024, 65536)}))
    modes = {
        "": (1,) * 5,
        results.OWN_LIMIT: (1,) * 5,
        "eager-1024": (1, 0, 0, 1, 0),
        "eager-65536": (0,) * 5,
    }
    effect = EagerEffect.of(slowed(evidence, modes))
    assert effect.best is None
    for limit in effect.limits:
        assert effect.verdict(limit) in UNDECIDED_VERDICTS
        assert {effect.verdict(limit, size) for size in limit.by_size} <= {*UNDECIDED_VERDICTS}
    ordinary = {**modes, "": (0,) * 5, "eager-1024": (0,) * 5}
    assert EagerEffect.of(slowed(evidence, ordinary)).best is None, "the same case, as fast without a setting"
