# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The survey's plan has the right cases; its page agrees with the fake world."""

import re
from dataclasses import replace

import pytest
from msgspec.structs import replace as replace_struct

from hockney import api, measurement, studies
from hockney.core.errors import UsageError
from hockney.core.fit import Estimate, Fit, Fits, Summary
from hockney.core.record import Failure, Rank, RunRecords, Verified
from hockney.core.settings import Settings
from hockney.draw.page import Page
from hockney.launch.fake import FakeLauncher
from hockney.launch.fake_world import World
from hockney.models.fits.caveats import gap_below_overhead
from hockney.pages import collectives, point_to_point
from hockney.pages.caveats import caveats, with_caveats, without_section_caveats
from hockney.pages.format import interval, with_interval
from hockney.pages.key_results import KeyResult, key_results
from hockney.report.render import render
from hockney.studies import Evidence, Options
from hockney.studies.sizes import DEFAULT_SIZES, default_ranks

CATALOG = measurement.bundled_catalog()
MACHINE = measurement.fake_bench("fake").machine


@pytest.fixture(scope="module")
def evidence(tmp_path_factory) -> Evidence:
    bench = measurement.fake_bench(FakeLauncher())
    cases = studies.find_study("survey").plan(Options(), CATALOG, MACHINE)
    folder = measurement.create_run(
        tmp_path_factory.mktemp("r") / "r", cases, Settings("survey", seed=1), bench
    )
    measurement.measure(folder, bench, lambda event: None)
    made = api.load(folder.path).evidence
    # Three launches of a fake machine do not make every interval as narrow as usually required.
    return replace(made, settings=replace(made.settings, precision=1.0))


@pytest.fixture(scope="module")
def page(evidence) -> Page:
    return studies.find_study("survey").page(evidence)


def by_key(evidence: Evidence) -> dict[str, KeyResult]:
    return {result.key: result for result in key_results(evidence)}


def test_the_key_results_are_the_worlds(evidence, page):
    world, found = World(), by_key(evidence)
    expected = {
        "latency": world.message(0),
        "peak-bandwidth": (4 << 20) / world.message(4 << 20),
        "bandwidth-just-written": (4 << 20) / world.message(4 << 20) / 1.3,
        "barrier": world.collective("barrier", 4, 0),
    }
    assert {key: found[key].typical.value for key in expected} == pytest.approx(expected, rel=0.06)
    assert all(
        found[key].typical.low < found[key].typical.value < found[key].typical.high for key in expected
    )
    assert (found["latency"].size, found["peak-bandwidth"].size, found["barrier"].ranks) == (0, 4 << 20, 4)
    peak = expected["peak-bandwidth"]
    slow = max(size for size in range(0, 1 << 17, 64) if size / world.message(size) < peak / 2)
    half = found["half-peak-size"].typical
    assert half.low <= 1.05 * slow and slow <= half.high
    assert "bandwidth" not in found, "the peak is at the largest size"
    assert page.results.columns == ("result", "typical", "95% interval") and len(page.results.rows) == len(
        found
    )
    assert (
        studies.answer_document(studies.find_study("survey"), evidence)["answer"]["results"][0]["typical"]
        == found["latency"].typical
    )


@pytest.mark.parametrize(
    ("sizes", "keys"),
    [
        ((64,), {"latency"}),
        ((64, 4 << 20), {"latency", "peak-bandwidth"}),
        ((0, 32), {"latency"}),
    ],
)
def test_key_results_claim_no_more_than_was_measured(evidence, sizes, keys):
    cases = {f"pingpong buffers=hot bytes={size} ranks=2" for size in sizes}
    kept = [s for s in evidence.fits.summaries if s.case in cases]
    assert len(kept) == len(sizes)
    few = by_key(replace(evidence, fits=replace_struct(evidence.fits, summaries=kept, fits=[])))
    assert few.keys() == keys and few["latency"].size == sizes[0]


def hot_ping_pong(fits: Fits) -> Fit:
    return next(f for f in fits.select("hockney", "pingpong") if f.subject.matches(buffers="hot"))


def with_fit(evidence: Evidence, **changes: object) -> Evidence:
    """The evidence with these changes of the fit of the ping-pong."""
    hot = hot_ping_pong(evidence.fits)
    fits = [replace_struct(f, **changes) if f is hot else f for f in evidence.fits.fits]
    return replace(evidence, fits=replace_struct(evidence.fits, fits=fits))


def test_a_number_of_a_poor_fit_carries_the_verdict(evidence):
    poor = with_fit(evidence, verdict="poor", why="it is off")
    assert by_key(poor)["half-peak-size"].verdict == "poor" != by_key(evidence)["half-peak-size"].verdict
    assert codes(poor) == {*codes(evidence), "poor-fit"}
    section = next(
        s for s in studies.find_study("survey").page(poor).sections if s.id == point_to_point.SECTION_ID
    )
    assert [warning.code for warning in section.warnings] == ["poor-fit"]
    assert "it is off" in section.warnings[0].text


def test_a_bandwidth_that_has_fallen_is_a_key_result(evidence):
    def slower(summary: Summary) -> Summary:
        if "bytes=4194304 " not in summary.case:
            return summary
        typical = summary.typical
        times = (4 * end for end in (typical.value, typical.low, typical.high))
        return replace_struct(summary, typical=Estimate(*times))

    fallen = replace_struct(evidence.fits, summaries=[slower(s) for s in evidence.fits.summaries])
    found, world = by_key(replace(evidence, fits=fallen)), World()
    rates = {key: found[key].typical.value for key in ("peak-bandwidth", "bandwidth")}
    peak, last = (2 << 20) / world.message(2 << 20), (1 << 20) / world.message(4 << 20)
    assert rates == pytest.approx({"peak-bandwidth": peak, "bandwidth": last}, rel=0.03)
    assert (found["peak-bandwidth"].size, found["bandwidth"].size) == (2 << 20, 4 << 20)


def test_a_piece_that_begins_below_zero_has_no_latency(evidence):
    *first, last = hot_ping_pong(evidence.fits).segments
    below = replace_struct(last, latency=Estimate(-1e-5, -2e-5, -5e-6), intercept="below zero")
    [table] = [
        table
        for section in studies.find_study("survey")
        .page(with_fit(evidence, segments=[*first, below]))
        .sections
        for table in section.tables
        if table.name == "segments"
    ]
    assert [row[2] == point_to_point.NO_LATENCY_TEXT for row in table.rows] == [False] * len(first) + [True]
    assert point_to_point.NO_LATENCY_NOTE in table.caption


def test_an_interval_with_one_end_shows_it(golden):
    estimates = [Estimate(2e9, *ends) for ends in ((1e9, None), (None, 3e9), (None, None))]
    golden("intervals.json", [[interval(one, "B/s"), with_interval(one, "B/s")] for one in estimates])


def test_an_overhead_below_the_resolution_is_no_result(evidence):
    def with_overhead(overhead: Estimate) -> Evidence:
        def changed(fit: Fit) -> Fit:
            parameters = [
                replace_struct(p, estimate=overhead) if p.symbol == "o_s" else p for p in fit.parameters
            ]
            return replace_struct(fit, parameters=parameters, verdict="fair")

        fits = [changed(f) if f.model == "loggp" else f for f in evidence.fits.fits]
        return replace(evidence, fits=replace_struct(evidence.fits, fits=fits))

    assert "send-overhead" in by_key(evidence)
    invisible = by_key(with_overhead(Estimate(0.0, 0.0, 5e-8)))
    assert "send-overhead" not in invisible and "message-gap" in invisible
    bounded = studies.find_study("survey").page(with_overhead(Estimate(4e-8, 0.0, 2e-7))).results
    [row] = [row for row in bounded.rows if "o_s" in row[0]]
    assert "200 ns" in row[2] and "0 ns to" not in row[2]


def test_parameters_that_contradict_each_other_are_in_a_caveat_and_no_key_results(evidence):
    contradiction = gap_below_overhead(
        "send", Estimate(1.63e-7, 1.21e-7, 2.06e-7), Estimate(2.23e-7, 2.11e-7, 2.35e-7)
    )
    fits = [
        replace_struct(f, caveats=[contradiction]) if f.model == "loggp" else f for f in evidence.fits.fits
    ]
    changed = replace(evidence, fits=replace_struct(evidence.fits, fits=fits))
    assert by_key(evidence).keys() - by_key(changed).keys() == {"send-overhead", "message-gap"}
    assert codes(changed) == {"fake", "loggp-contradiction"}
    section = next(s for s in studies.find_study("survey").page(changed).sections if s.id == "loggp")
    [warning] = section.warnings
    assert "163 ns [121, 206]" in warning.text and "223 ns [211, 235]" in warning.text


def test_the_page_has_every_section_and_no_empty_figure(page, golden):
    titles = [section.title for section in page.sections]
    golden("survey_sections.json", titles)
    figures = {f.name: f for f in page.figures}
    assert page.lead is figures["latency"]
    assert {"bandwidth", "loggp", "overlap-ratio-message-2"} < set(figures)
    multiples = {f.name: f for f in figures.values() if f.name.startswith("collective-")}
    assert len(figures) == 4 + len(multiples) and len(multiples) == len(
        collectives.collective_workloads(CATALOG)
    )
    assert len({f.y.include for f in multiples.values()}) == 1, "the same times on all of them"
    names = [s.name for s in multiples["collective-allreduce"].series if s.kind == "points"]
    assert names == ["2 ranks", "4 ranks"]
    for figure in figures.values():
        for series in figure.series:
            assert series.x and len(series.x) == len(series.y) == len(series.low or series.y)
            assert all(y > 0 for y in series.y)
            bands = zip(series.low, series.y, series.high, strict=True) if series.low else ()
            assert all(low <= y <= high for low, y, high in bands)
    for table in (t for section in page.sections for t in section.tables):
        assert table.rows and {len(row) for row in table.rows} == {len(table.columns)}
    assert len(figures["latency"].marks) == 2, "two changes of protocol"


MOST_WORDS = 3000


def shown_words(html: str) -> list[str]:
    """The words of a page whose details are closed."""
    for element in ("head", "script", "style", "svg"):
        html = re.sub(rf"<{element}\b.*?</{element}>", " ", html, flags=re.S)
    innermost = re.compile(
        r"<details\b[^>]*>\s*(<summary>.*?</summary>)(?:(?!<details\b).)*?</details>", re.S
    )
    while innermost.search(html):
        html = innermost.sub(r"\1", html)
    return re.sub(r"<[^>]+>", " ", html).split()


def test_the_page_is_short_until_a_reader_opens_details(page):
    html = render(page)
    words = shown_words(html)
    assert 300 < len(words) <= MOST_WORDS
    assert len(shown_words(html.replace("<details", "<div").replace("</details", "</div"))) > 2 * len(words)


def test_the_plan_covers_what_the_survey_promises():
    cases = studies.find_study("survey").plan(Options(), CATALOG, MACHINE)
    assert len(cases) == len(set(cases)) and len(cases) < 300
    hot = [c["bytes"] for c in cases if c.workload == "pingpong" and c["buffers"] == "hot"]
    assert hot == list(DEFAULT_SIZES) and DEFAULT_SIZES[0] == 0 and DEFAULT_SIZES[-1] == 4 << 20
    written = [c["bytes"] for c in cases if c.workload == "pingpong" and c["buffers"] == "written"]
    assert set(written) <= set(hot) and len(written) > 10 and (written[0], written[-1]) == (0, 4 << 20)
    others = {"barrier_skew", "barrier_staggered", "bisection", "compute", "granularity", "round_robin"}
    others.add("program")
    assert {c.workload for c in cases} == {w.name for w in CATALOG.workloads} - others
    assert {c.ranks for c in cases} == {2, 4}
    for case in cases:
        if "reduce" in case.workload or case.workload == "scan":
            assert case["bytes"] % 8 == 0
    eights = {c.workload for c in cases if dict(c.parameters).get("bytes") == 8 and c.ranks == 4}
    assert len(eights) == 9, "the smallest payload of every collective but the barrier"


def test_ranks_and_sizes_narrow_the_plan():
    plan = studies.find_study("survey").plan
    cases = plan(Options(ranks=(3,), sizes=(0, 7)), CATALOG, MACHINE)
    assert {c.ranks for c in cases} == {3} and {dict(c.parameters).get("bytes", 0) for c in cases} == {0, 8}
    assert not any(c.workload == "pingpong" for c in cases)
    huge = plan(Options(ranks=(2,), sizes=(1 << 32,)), CATALOG, MACHINE)
    assert any(c["bytes"] == 1 << 32 for c in huge if c.workload == "pingpong")
    with pytest.raises(UsageError):
        plan(Options(sizes=(1 << 50,)), CATALOG, MACHINE)


@pytest.mark.parametrize(
    ("cores", "ranks"),
    [(1, (2,)), (2, (2,)), (3, (2,)), (4, (2, 4)), (7, (2, 4)), (64, (2, 4, 8, 16, 32, 64))],
)
def test_default_ranks_never_crowd_the_cores(cores, ranks):
    assert default_ranks(replace_struct(MACHINE, cores=cores)) == ranks


def test_a_page_of_nothing_can_be_made(evidence):
    nothing = replace(
        evidence,
        run=RunRecords(),
        missing_count=evidence.planned_count,
        fits=replace_struct(evidence.fits, summaries=[], fits=[]),
    )
    for study in studies.all_studies().values():
        page = study.page(nothing)
        assert len(page.headline) == 1 and page.results is None
        assert any(w.code == "incomplete" for w in page.warnings)


def codes(evidence: Evidence) -> set[str]:
    return {c.caveat.code for c in caveats(evidence)}


def changed(evidence: Evidence, kind: str, **fields) -> Evidence:
    """Evidence with the first line of a kind changed."""
    lines = getattr(evidence.run, kind)
    first = replace_struct(lines[0], **fields)
    return replace(evidence, run=replace(evidence.run, **{kind: (first, *lines[1:])}))


def imprecise(evidence: Evidence) -> Evidence:
    """Evidence of whose ping-pongs one has no interval."""
    first, *others = sorted(evidence.fits.summaries, key=lambda s: not s.case.startswith("pingpong "))
    unknown = replace_struct(first, typical=Estimate(first.typical.value, None, None))
    return replace(evidence, fits=replace_struct(evidence.fits, summaries=[unknown, *others]))


def test_each_doubt_is_raised_by_its_cause_only(evidence):
    assert codes(evidence) == {"fake"}
    crowd = [Rank(host="fakehost", pid=k, cpus="0") for k in range(2)]
    free = [Rank(host="fakehost", pid=k, cpus="0-1") for k in range(2)]
    causes = {
        "load": changed(evidence, "closes", outside_cores=0.3),
        "oversubscribed": changed(evidence, "launches", ranks=crowd),
        "unbound": changed(evidence, "launches", ranks=free),
        "precision": imprecise(evidence),
        "verification": changed(evidence, "records", verified=Verified(bytes=8, errors=2, first="rank 1")),
        "virtual": replace(evidence, machine=replace_struct(MACHINE, virtual="kvm")),
        "governor": replace(evidence, machine=replace_struct(MACHINE, governor="powersave")),
        "incomplete": replace(evidence, missing_count=1),
        "notices": replace(evidence, notices=("the last line was cut off",)),
    }
    failure = Failure(
        schema=1,
        launch="0.0",
        case="barrier ranks=9 sync=window",
        reason="hung",
        message="m",
        silent_ranks=[3],
    )
    causes["failures"] = replace(evidence, run=replace(evidence.run, failures=(failure,)))
    coarse = replace_struct(evidence.run.launches[0].clock, resolution_s=1e-6)
    causes["clock"] = changed(evidence, "launches", clock=coarse)
    few = [replace_struct(s, launches=2) for s in evidence.fits.summaries]
    causes["launches"] = replace(evidence, fits=replace_struct(evidence.fits, summaries=few))
    assert codes(changed(evidence, "closes", steal=0.06)) == {"fake", "load"}
    for code, cause in causes.items():
        assert codes(cause) == {"fake", code}
        caveat = next(c.caveat for c in caveats(cause) if c.caveat.code == code)
        assert caveat.text and caveat.touches and caveat.todo
    failed = next(c.caveat.text for c in caveats(causes["failures"]) if c.cases)
    assert re.findall(r"rank: (\d+)", failed) == ["3"]


def test_a_rank_bound_to_both_threads_of_a_core_is_bound(evidence):
    ranks = [Rank(host="fakehost", pid=k, cpus=f"{k},{k + 64}") for k in range(2)]
    both = changed(evidence, "launches", ranks=ranks)
    assert "unbound" in codes(both)
    machine = replace_struct(MACHINE, threads=2 * MACHINE.cores)
    assert "unbound" not in codes(replace(both, machine=machine))


def test_a_doubt_stands_once_where_it_touches(evidence):
    """A caveat about one section's cases is only shown next to that section and its figures."""
    page = studies.find_study("survey").page(imprecise(evidence))
    assert [w.code for w in page.warnings] == ["fake"]
    where = [s.title for s in page.sections if any(w.code == "precision" for w in s.warnings)]
    assert len(where) == 1
    section = next(s for s in page.sections if s.title == where[0])
    assert all(f.warnings for f in section.figures)
    assert without_section_caveats(evidence) and with_caveats(section, evidence) == section
