# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Caveats about precision and launches, from runs with made-up visits."""

from __future__ import annotations

import re
from dataclasses import replace

import msgspec
import numpy as np
import pytest
from visited import CATALOG, LINE, evidence, with_summary

from hockney.core.case import parse_canonical
from hockney.core.fit import Estimate, Fit, FittedParameter
from hockney.core.record import Rank
from hockney.core.settings import DEFAULT_PRECISION
from hockney.draw.page import Caveat
from hockney.models.fits.caveats import launches_in_two_modes, wide_parameter
from hockney.pages import environment, key_results, quality
from hockney.pages.caveats import ALL_NUMBERS, caveats, headline_premises
from hockney.pages.evidence import Evidence
from hockney.pages.format import format_half_width, format_scatter, no_interval_reason
from hockney.pages.labels import case_labels
from hockney.pages.study_page import study_page

OTHER = "pingpong buffers=hot bytes=1024 ranks=2"
LARGEST = "pingpong buffers=hot bytes=4096 ranks=2"


def found(seen: Evidence) -> dict[str, Caveat]:
    return {c.caveat.code: c.caveat for c in caveats(seen)}


def launches(
    count: int, between: float = 0.0, within: float = 0.01, visits: int = 40, seed: int = 1
) -> list[np.ndarray]:
    """Times of visits of about 1 us, whose logs scatter by `within` inside a launch."""
    random = np.random.default_rng(seed)
    levels = np.exp(between * random.standard_normal(count))
    return [level * 1e-6 * np.exp(within * random.standard_normal(visits)) for level in levels]


def test_steady_launches_raise_nothing():
    assert found(evidence({LINE: launches(10)})) == {}


def test_benchmarks_without_arithmetic_are_named_as_not_verified():
    real, none = (f"ep arithmetic={arithmetic} class=S ranks=2" for arithmetic in ("real", "none"))
    seen = evidence({real: launches(10), none: launches(10)})
    assert found(seen)["not-computed"].touches == case_labels(seen)(none)
    assert "not-computed" not in found(evidence({real: launches(10)}))


def test_precision_is_that_of_the_printed_interval():
    """Whatever the precision of single launches: here all of them missed it."""
    steady = evidence({LINE: launches(10), OTHER: launches(10)})
    wide = with_summary(steady, typical=Estimate(1e-6, 0.9e-6, 1.3e-6))
    caveat = found(wide)["precision"]
    assert re.findall(r"(\d+) of (\d+) case", caveat.text) == [("1", "2")]
    assert case_labels(wide)(LINE) in caveat.text and "20%" in caveat.text
    assert {"--budget", "--launches"} <= set(re.findall(r"--[a-z]+", caveat.todo))
    assert "precision" in found(with_summary(steady, typical=Estimate(1e-6, None, None)))
    assert "precision" not in found(with_summary(steady, typical=Estimate(1e-6, 0.99e-6, 1.01e-6)))


def test_the_default_precision_is_a_goal_and_a_requested_one_a_limit():
    """Hardly a run reaches the default in all cases, so missing it is no warning."""
    missed = Estimate(1e-6, 0.95e-6, 1.05e-6)
    default = with_summary(evidence({LINE: launches(10)}), typical=missed)
    assert default.settings.precision == DEFAULT_PRECISION and "precision" not in found(default)
    requested = with_summary(evidence({LINE: launches(10)}, precision=0.03), typical=missed)
    assert "precision" in found(requested)
    spread = quality.spread_section(default)
    assert (
        spread is not None
        and "0 of 1 case" in spread.text[0]
        and "(not reached)" in spread.tables[0].rows[0][2]
    )


def test_launches_that_differ_are_named():
    differing = evidence({LINE: launches(10, between=0.4), OTHER: launches(10)})
    caveat = found(differing)["launches-differ"]
    assert re.findall(r"(\d+) of (\d+) case", caveat.text) == [("1", "2")] and caveat.touches == case_labels(
        differing
    )(LINE)
    assert "--launches 20" in caveat.todo
    few = evidence({LINE: launches(4, between=0.4, seed=3)})
    assert "--launches 10" in found(few)["launches-differ"].todo


def test_binding_is_not_advised_to_ranks_that_are_bound():
    def todo(mask: str) -> str:
        seen = evidence({LINE: launches(10, between=0.4)})
        started = tuple(
            msgspec.structs.replace(x, ranks=[msgspec.structs.replace(r, cpus=mask) for r in x.ranks])
            for x in seen.run.launches
        )
        changed = replace(seen.run, launches=started)
        return found(replace(seen, run=changed))["launches-differ"].todo

    assert todo("1") != todo("0-7") == todo("") and len(todo("1")) < len(todo("0-7"))


@pytest.mark.parametrize(
    ("width", "text"), [(0.2, "20%"), (1.0, "a factor of 2.4"), (280.0, "a factor of 560")]
)
def test_widths_beyond_100_percent_are_factors(width, text):
    """An interval from 1 / f to f has the half width (f - 1 / f) / 2."""
    assert format_half_width(width) == text
    assert text in wide_parameter("t_0", width).text


@pytest.mark.parametrize(("deviation", "text"), [(0.11, "11%"), (5.65, "a factor of 280"), (None, "unknown")])
def test_launches_that_scatter_beyond_100_percent_do_so_by_a_factor(deviation, text):
    assert format_scatter(deviation) == text


def test_the_warning_has_the_largest_ratio_between_launches():
    """Of all cases that differ: the spread of a case with two slow launches of ten is much smaller."""
    times = launches(10)
    times[1], times[2] = 3.5 * times[1], 3.5 * times[2]
    several = evidence({LINE: times, OTHER: launches(10, between=0.2), LARGEST: launches(10)})
    text = found(several)["launches-differ"].text
    assert re.findall(r"[\d.]+ times", text) == ["3.5 times"] and case_labels(several)(LINE) in text
    few = launches(4)
    few[1] = 1000 * few[1]
    assert "1000 times" in found(evidence({LINE: few}))["launches-differ"].text


@pytest.mark.parametrize(("planned", "proposed"), [(3, "10"), (10, "20"), (16, "32")])
def test_a_remedy_proposes_more_launches_than_were_planned(planned, proposed):
    """Also if the budget ended the run before all of them."""
    few = evidence({LINE: launches(4, between=0.4, seed=3)})
    seen = replace(few, settings=replace(few.settings, launches=planned))
    assert f"--launches {proposed}" in found(seen)["launches-differ"].todo
    one = evidence({LINE: launches(1)}, precision=0.5)
    todo = found(replace(one, settings=replace(one.settings, launches=planned)))["launches"].todo
    assert ("--launches 10" in todo) == (planned < 10) and "--budget" in todo


def test_a_remedy_of_a_run_in_rounds_proposes_rounds():
    few = evidence({LINE: launches(4, between=0.4, seed=3)})
    seen = replace(few, settings=replace(few.settings, launches=4, every_s=60.0))
    assert "--repeat 10" in found(seen)["launches-differ"].todo
    assert not any("--launches" in caveat.todo for caveat in found(seen).values())


@pytest.mark.parametrize("visits", [True, False])
def test_launches_no_further_apart_than_their_scatter_predicts_do_not_differ(visits):
    scattered = evidence({LINE: launches(10, within=1.0)}, visits=visits)
    assert scattered.fits.summaries[0].between > 0.1 and "launches-differ" not in found(scattered)


def test_one_bad_launch_is_no_difference_between_launches():
    times = launches(10)
    times[3] = 100 * times[3]
    assert "launches-differ" not in found(evidence({LINE: times}))


@pytest.mark.parametrize("count", [3, 4, 5])
def test_one_bad_launch_of_few_is_a_disagreement_among_the_key_results(count):
    """The typical time is still that of the others, but nothing tells which of them are right."""
    times = launches(count)
    times[1] = 1000 * times[1]
    seen = evidence({LINE: times})
    summary = seen.fits.summaries[0]
    assert summary.typical.value == pytest.approx(1e-6, rel=0.1) and summary.between < 0.2
    assert summary.typical.low is None and "launches-differ" in found(seen)
    disagreeing, steady = (key_results.key_results(of)[0] for of in (seen, evidence({LINE: launches(count)})))
    assert disagreeing.no_interval and not steady.no_interval
    shown = [key_results.table(of).rows[0][-1] for of in (seen, evidence({LINE: launches(count)}))]
    assert shown[0] == disagreeing.no_interval and " to " in shown[1]


@pytest.mark.parametrize(("cpus", "shared"), [("0", True), ("0-1", False), ("0,2", False), ("", False)])
def test_threads_that_share_a_core_have_a_caveat(cpus, shared):
    pair = CATALOG.case("threads_pingpong bytes=8 threads=2", 2).line
    seen = evidence({pair: launches(10), LINE: launches(10)})
    ranks = [Rank(host="h", pid=k, cpus=cpus) for k in range(2)]
    bound = [msgspec.structs.replace(launch, ranks=ranks) for launch in seen.run.launches]
    caveat = found(replace(seen, run=replace(seen.run, launches=tuple(bound)))).get("threads-share-cores")
    assert (caveat is not None) == shared
    if caveat:
        assert caveat.touches == case_labels(seen)(pair), "only the case with threads"


@pytest.mark.parametrize(
    ("masks", "value", "shared"),
    [
        (("0", "1"), "1", True),
        (("0-1", "0-1"), "1", True),
        (("0,2", "1,3"), "1", False),
        (("0-3", "0-3"), "1", False),
        (("0", "1"), "0", False),
        (("", ""), "1", False),
    ],
)
def test_a_progress_thread_that_shares_a_core_has_a_caveat(masks, value, shared):
    seen = evidence({LINE: launches(10)})
    ranks = [Rank(host="h", pid=k, cpus=cpus) for k, cpus in enumerate(masks)]
    variables = {"MPIR_CVAR_ASYNC_PROGRESS": value}
    made = tuple(
        msgspec.structs.replace(launch, ranks=ranks, variables=variables) for launch in seen.run.launches
    )
    caveats_of = found(replace(seen, run=replace(seen.run, launches=made)))
    assert ("progress-thread-shares-core" in caveats_of) == shared


def test_a_busy_machine_is_one_caveat():
    """With what others used, how many launches that affects, and whether these count."""
    few = evidence({LINE: launches(7)}, {0: 0.9, 1: 0.5, 2: 0.3}, steal={2: 0.06})
    assert set(found(few)) == {"load"}
    assert re.findall(r"[\d.]+", found(few)["load"].text) == ["0.90", "6", "3", "7", "5"]
    little = evidence({LINE: launches(7)}, {0: 0.07}, steal={0: 0.02})
    assert found(little) == {}, "no launch is loaded"
    assert "0.07" in dict(environment.facts(little))["load of others"]


def test_loaded_launches_are_left_out_where_enough_others_are():
    seen = found(evidence({LINE: launches(7)}, {0: 0.9, 1: 0.5}))
    assert set(seen) == {"load"} and re.findall(r"[\d.]+", seen["load"].text) == ["0.90", "2", "7", "1"]
    mixed = evidence({LINE: launches(7), OTHER: launches(6)}, {0: 0.9, 1: 0.5})
    assert re.findall(r"[\d.]+", found(mixed)["load"].text) == ["0.90", "2", "7", "1", "1", "5"]


def test_a_load_in_most_launches_that_count_is_in_the_headline():
    loaded = {k: 0.9 for k in range(5)}
    assert re.findall(r"\d+", headline_premises(evidence({LINE: launches(7)}, loaded))[0]) == ["5", "7"]
    assert headline_premises(evidence({LINE: launches(7)}, {0: 0.9, 1: 0.9})) == (), "those are left out"
    assert headline_premises(evidence({LINE: launches(20)}, dict.fromkeys(range(12), 0.9))) == (), (
        "8 others count"
    )
    page = study_page(
        evidence({LINE: launches(7)}, loaded), title="", headline=("An answer.",), sections=(), lead=None
    )
    assert len(page.headline) == 2 and page.headline[1] == "An answer."


def test_excluded_launches_affect_only_their_cases():
    short, complete = launches(5), launches(7)
    seen = evidence({LINE: complete, OTHER: short}, {5: 0.9})
    assert found(seen)["load"].touches == case_labels(seen)(LINE)
    assert found(evidence({LINE: complete, OTHER: short}, {0: 0.9, 5: 0.9}))["load"].touches == ALL_NUMBERS


@pytest.mark.parametrize("count", [1, 2])
def test_few_launches_and_what_helps(count):
    caveat = found(evidence({LINE: launches(count)}, precision=0.5))["launches"]
    assert {"--budget", "--launches"} <= set(re.findall(r"--[a-z]+", caveat.todo))


BARRIER = "barrier algorithm=mpi iterations=1 ranks=2 sync=barrier"


def missing_the_first(count: int, line: str, slow: float) -> Evidence:
    """Ten launches, the first `count` of which lack the case `line` and are `slow` times as fast."""
    times = {case: launches(10) for case in (LINE, OTHER, LARGEST, BARRIER)}
    for case, of in times.items():
        times[case] = [t if k < count else t * slow for k, t in enumerate(of)]
    times[line] = [[]] * count + times[line][count:]
    return evidence(times)


def test_a_case_without_an_interval_because_of_missed_launches_is_named():
    seen = missing_the_first(4, BARRIER, 3.0)
    caveat = found(seen)["missed-launches"]
    assert case_labels(seen)(BARRIER) in caveat.text and caveat.touches == case_labels(seen)(BARRIER)
    [barrier] = [s for s in seen.fits.summaries if s.case == BARRIER]
    assert (barrier.typical.low, barrier.launches, barrier.inferred_launches) == (None, 6, 0)
    other = msgspec.structs.replace(barrier, unknown_change=False)
    assert no_interval_reason(barrier) != no_interval_reason(other), "its launches do not disagree"
    assert "missed-launches" not in found(missing_the_first(4, BARRIER, 1.0))


def test_inferred_launches_are_shown_and_need_no_caveat():
    seen = missing_the_first(4, OTHER, 3.0)
    assert "missed-launches" not in found(seen)
    table = quality.spread_section(seen).tables[0]
    counts = {row[0]: row[table.columns.index("launches")] for row in table.rows}
    assert counts[case_labels(seen)(OTHER)].startswith("6 + 4 ") and counts[case_labels(seen)(LINE)] == "10"


def test_some_cases_are_observed_as_in_the_summaries():
    """A case that missed launches depends on others, also if only it is asked for."""
    seen = missing_the_first(4, OTHER, 3.0)
    [alone] = seen.observations([parse_canonical(OTHER)])
    [summary] = [s for s in seen.fits.summaries if s.case == OTHER]
    estimate = summary.typical
    assert alone.interval() == (estimate.value, estimate.low, estimate.high)
    assert len(seen.observations()) == 4


def test_fits_to_launches_in_two_modes_have_a_caveat_and_their_table_too():
    steady = evidence({LINE: launches(10)})
    latency = FittedParameter(name="latency", symbol="t_0", unit="s", estimate=Estimate(1e-6, 0.9e-6, 1.1e-6))
    fit = Fit(
        model="hockney", line="pingpong buffers=hot ranks=2", parameters=[latency], verdict="good", why=""
    )
    calm = replace(steady, fits=msgspec.structs.replace(steady.fits, fits=[fit]))
    caveat = launches_in_two_modes(1e-6, 3e-6, 8, 2, 8)
    doubted = msgspec.structs.replace(fit, verdict="fair", caveats=[caveat])
    seen = replace(calm, fits=msgspec.structs.replace(calm.fits, fits=[doubted]))
    assert caveat.code not in found(calm) and caveat.text in found(seen)[caveat.code].text
    (table,) = quality.parameters_section(seen).tables
    assert caveat.text in table.rows[0][-1]
