# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The whole package on runs of every kind, including odd ones."""

from __future__ import annotations

import math

import msgspec
import numpy as np
import pytest
from golden_files import replaced
from hypothesis import given, settings
from hypothesis import strategies as st
from models_data import CATALOG, NOISE, record, simulate

from hockney.core.case import Case
from hockney.core.fit import Fit, Fits
from hockney.core.record import RunRecords
from hockney.models import fit_all, summarise
from hockney.system.bundled import bundled_catalog, catalog_with

POINT_TO_POINT = [w.name for w in CATALOG.with_role("point-to-point", "stream")]
COLLECTIVES = [w.name for w in CATALOG.with_role("collective", "barrier")]
SIZES = [0, *(1 << k for k in range(23))]


def survey() -> RunRecords:
    """The records of a survey: 5 sweeps, PRTT, 10 collectives; 3 launches of 1000 repetitions."""
    cases = [Case.of(w, 2, buffers="hot", bytes=s) for w in POINT_TO_POINT for s in SIZES]
    cases += [
        Case.of("prtt", 2, buffers="hot", bytes=s, delay=d, messages=n)
        for s in (1, 512, 8192)
        for n, d in ((1, 0.0), (16, 0.0), (16, 2e-5))
    ]
    cases += [Case.of("receive_overhead", 2, buffers="hot", bytes=s, delay=1e-4) for s in (1, 512, 8192)]
    for name in COLLECTIVES:
        sizes = ({},) if name == "barrier" else tuple({"bytes": 8 * 4**k} for k in range(8))
        cases += [Case.of(name, p, sync="window", **size) for p in (2, 3, 4, 8) for size in sizes]

    def true(case: Case) -> float:
        size = dict(case.parameters).get("bytes", 0)
        if case.workload == "prtt":
            return 1.4e-6 + 4e-10 * size + (case["messages"] - 1) * (2e-7 + 1e-10 * size)
        return (4e-7 + 1e-10 * size) * math.ceil(math.log2(case.ranks))

    return simulate(true, cases, NOISE, np.random.default_rng(11))


@pytest.fixture(scope="module")
def run() -> RunRecords:
    return survey()


def test_every_subject_gets_its_model(run: RunRecords, golden) -> None:
    fits = fit_all(run, CATALOG, cores=4)
    by_model = {model: [f.line for f in fits.fits if f.model == model] for model in ("hockney", "loggp")}
    assert by_model["hockney"] == [f"{w} buffers=hot ranks=2" for w in POINT_TO_POINT]
    assert by_model["loggp"] == ["prtt buffers=hot ranks=2"]
    reasons: dict[str, str] = {}
    for name in COLLECTIVES:
        [best] = fits.select("logarithmic", name)
        assert best.line == f"{name} sync=window"
        assert best.verdict == "good" and best.preferred
        reasons[name] = best.why
        assert len(fits.select("linear", name)) == 1
    golden("everything_collectives.json", reasons, replaced(r"\d+(\.\d+)?%", "N%"))
    assert len(fits.summaries) == len(run.by_case())
    assert all(f.verdict == "good" for f in fits.fits if f.model == "hockney")


def test_a_one_sided_operation_is_a_line_in_bytes_and_a_count_is_none() -> None:
    """t = 2 us + x / (1 GB/s) for MPI_Put; fetch_and_op has no bytes, and more ranks no message's time."""
    groups = catalog_with(bundled_catalog(), ["put"])
    puts = [groups.case(f"put bytes={s}", ranks) for s in SIZES for ranks in (2, 4)]
    counted = [groups.case(f"fetch_and_op operations={2**k}", 2) for k in range(6)]
    run = simulate(lambda c: 2e-6 + 1e-9 * c.bytes, [*puts, *counted], NOISE, np.random.default_rng(5))
    (fit,) = (f for f in fit_all(run, groups, cores=4).fits if f.model == "hockney")
    assert fit.subject["ranks"] == 2 and fit.line.startswith("put ")
    assert fit.verdict == "good"
    assert fit.parameter("t_0").estimate.value == pytest.approx(2e-6, rel=0.05)
    assert fit.parameter("r_inf").estimate.value == pytest.approx(1e9, rel=0.05)


def test_same_run_same_fits_through_json(run: RunRecords) -> None:
    part = RunRecords(
        records=tuple(r for r in run.records if r.case.startswith(("pingpong ", "prtt", "receive")))
    )
    first, second = fit_all(part, CATALOG, cores=None), fit_all(part, CATALOG, cores=None)
    words = msgspec.json.encode(first)
    assert words == msgspec.json.encode(second)
    assert msgspec.json.decode(words, type=Fits) == first


def test_an_empty_run_has_no_fits() -> None:
    assert fit_all(RunRecords(), CATALOG, cores=2).fits == [] and summarise(RunRecords(), CATALOG) == []


def numbers(value: object) -> list[float]:
    if isinstance(value, float | int):
        return [float(value)]
    if isinstance(value, dict):
        return [n for part in value.values() for n in numbers(part)]
    return [n for part in value for n in numbers(part)] if isinstance(value, list | tuple) else []


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_odd_records_never_break_the_fits(data: st.DataObject) -> None:
    """Any subset of cases, launches without some, one repetition, equal times, zeros, factors of 1e9."""
    positive = st.floats(0, 1e3) | st.sampled_from([0.0, 1e-7, 1e-6])
    times = st.lists(positive, min_size=0, max_size=20)
    size = st.sampled_from([0, 1, 2, 3, 8, 100, 4096, 1 << 20, 1 << 33])
    case = st.one_of(
        st.builds(lambda b: Case.of("pingpong", 2, bytes=b), size),
        st.builds(lambda b, p: Case.of("bcast", p, bytes=b), size, st.sampled_from([1, 2, 3, 8])),
        st.builds(lambda p: Case.of("barrier", p), st.sampled_from([1, 2, 5])),
        st.builds(
            lambda b, n, d: Case.of("prtt", 2, bytes=b, messages=n, delay=d),
            size,
            st.sampled_from([1, 16]),
            st.sampled_from([0.0, 1e-5]),
        ),
        st.builds(lambda b: Case.of("receive_overhead", 2, bytes=b, delay=1e-4), size),
    )
    cases = data.draw(st.lists(case, max_size=25, unique=True))
    records = [
        record(case, launch, data.draw(times))
        for case in cases
        for launch in data.draw(st.lists(st.sampled_from("abc"), unique=True, max_size=3))
    ]
    fits = fit_all(
        RunRecords(records=tuple(records)), CATALOG, cores=data.draw(st.sampled_from([None, 1, 4]))
    )
    assert all(math.isfinite(n) for n in numbers(msgspec.to_builtins(fits)))
    for fit in fits.fits:
        check(fit)


def check(fit: Fit) -> None:
    assert fit.why and (fit.verdict != "refused") == bool(fit.parameters)
    estimates = [p.estimate for p in fit.parameters] + [
        e for s in fit.segments for e in (s.latency, s.per_byte)
    ]
    for each in estimates:
        assert each.value >= 0
        assert each.low is None or 0 <= each.low <= each.value
        assert each.high is None or each.value <= each.high
    for point in fit.curve:
        assert point.low <= point.time <= point.high
