# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Labels of cases: what differs, with units, and never the same for two."""

from __future__ import annotations

from hockney import measurement
from hockney.pages.labels import short_labels

CATALOG = measurement.bundled_catalog()


def labels(*lines: str) -> list[str]:
    cases = [CATALOG.case(line) for line in lines]
    named = short_labels(cases, CATALOG)
    return [named[case.line] for case in cases]


def test_what_all_cases_of_a_workload_share_is_left_out():
    assert labels(
        "pingpong bytes=0 ranks=2",
        "pingpong bytes=64KiB ranks=2",
        "barrier algorithm=central ranks=2",
        "barrier algorithm=mpi ranks=4",
    ) == ["pingpong, 0 B", "pingpong, 64 KiB", "barrier, central, 2 ranks", "barrier, mpi, 4 ranks"]


def test_one_case_has_its_size():
    assert labels("pingpong bytes=8 ranks=2", "barrier ranks=2") == ["pingpong, 8 B", "barrier"]


def test_numbers_have_their_names_and_units():
    found = labels("granularity work=100us bytes=4 ranks=2", "granularity work=1ms bytes=4 ranks=2")
    assert all(
        "work" in label and unit in label for label, unit in zip(found, ("100 us", "1.00 ms"), strict=True)
    )
    assert not any("seed" in label or "iterations" in label for label in found)


def test_no_two_cases_look_alike():
    lines = [
        f"{name} bytes={size} buffers={buffers} sync={sync} ranks={ranks}"
        for name in ("bcast", "allreduce")
        for size in (8, 64)
        for buffers in ("hot", "cold")
        for sync in ("barrier", "window")
        for ranks in (2, 4)
    ]
    assert len(set(labels(*lines))) == len(lines)
