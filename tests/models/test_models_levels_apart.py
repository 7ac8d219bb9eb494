# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""No model sees cases of two levels together, whatever was measured."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from hockney.core.record import Record, RunRecords
from hockney.launch.fake import parse_fake_launcher
from hockney.launch.launcher import LaunchOptions
from hockney.models import summarise
from hockney.models.fits.model import all_models
from hockney.models.guidelines import comparisons
from hockney.models.statistics import observe
from hockney.system.bundled import bundled_catalog

CATALOG = bundled_catalog()
PAIRS = (
    *(f"pingpong bytes={size} buffers={buffers}" for size in (0, 64, 8192) for buffers in ("hot", "cold")),
    *(f"prtt bytes={size} messages={n}" for size in (8, 1024) for n in (1, 16)),
    "prtt bytes=8 messages=16 pause=1.5",
    "receive_overhead bytes=8",
    "stream bytes=64",
)
TOGETHER = tuple(
    f"{name} bytes={size} ranks=4"
    for name in ("allreduce", "reduce", "bcast", "allgather")
    for size in (8, 64, 512)
)
LINES = (
    *(line + place for line in PAIRS for place in ("", " place=node", " place=network", " nodes=2")),
    *(line + place for line in TOGETHER for place in ("", " nodes=1", " nodes=2", " place=network")),
)


def where(case) -> tuple[str, int]:
    return case.place, case.nodes


def run_of(lines) -> RunRecords:
    cases = [CATALOG.case(line) for line in lines]
    launcher = parse_fake_launcher("fake:nodes=2")
    records = []
    for index in range(2):
        for ranks in (2, 4, 8):
            these = [case for case in cases if (8 if case.is_placed else case.ranks) == ranks]
            lines_of = launcher.run(these, ranks, LaunchOptions(f"{index}.{ranks}", index, 0.05))
            records += [line for line in lines_of if isinstance(line, Record)]
    return RunRecords(records=tuple(records))


@given(st.sets(st.sampled_from(LINES), min_size=2))
@settings(max_examples=30)
def test_no_summary_and_no_fit_mixes_records_of_two_levels(lines):
    run = run_of(sorted(lines))
    for summary in summarise(run, CATALOG):
        met = {(r.place, r.nodes) for r in run.records if r.case == summary.case}
        assert met == {(summary.place, summary.nodes)}
    observations = observe(run, CATALOG)
    for model in all_models():
        for subject, group in model.subjects(observations).items():
            assert len({where(seen.case) for seen in group}) == 1, (model.make.__name__, subject.line)


@given(st.sets(st.sampled_from(LINES), min_size=2))
def test_no_guideline_compares_two_levels(lines):
    for each in comparisons([CATALOG.case(line) for line in lines], CATALOG):
        assert {where(part.case) for part in each.parts} == {where(each.left)}
