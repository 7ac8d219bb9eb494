# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A run's fits as functions: which one is selected, and what it predicts."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

import hockney
from hockney.api.notebook.fitted_model import fitted_model
from hockney.core.case import Case
from hockney.core.fit import CurvePoint, Fit, Fits
from hockney.core.record import SCHEMA
from hockney.launch.fake_world import World
from hockney.models import collective_time
from hockney.models.fits.caveats import launches_in_two_modes, parts_exceed_message
from hockney.system.bundled import bundled_catalog

WORLD = World()


def test_a_message_costs_what_the_machine_takes_for_it(run):
    model = run.model("pingpong", ranks=2)
    assert model.fit.model == "hockney" and model.fit.subject["buffers"] == "hot"
    assert model.variables == {"bytes": (0.0, 1048576.0)}
    time = model(bytes=40_000)
    assert time.low < time.value < time.high
    truth = WORLD.time(Case.of("pingpong", 2, bytes=40_000, buffers="hot"))
    assert time.value == pytest.approx(truth, rel=0.1)
    assert model(bytes="40kB") == time == model("40kB") == model(40_000)
    assert "us" in repr(time) and "bytes" in repr(model)


def test_parameters_that_are_named_choose_the_fit(run):
    cold, hot = run.model("pingpong", buffers="cold"), run.model("pingpong", buffers="hot")
    assert cold.fit.subject["buffers"] == "cold"
    assert cold(bytes="16KiB").value > 1.2 * hot(bytes="16KiB").value


def test_times_for_several_values_are_a_table(run):
    model = run.model("bcast", "logarithmic")
    columns = model.table(bytes=[512, 8, "64"], ranks="2,4").columns
    assert columns["bytes"] == [512, 512, 8, 8, 64, 64] and columns["ranks"] == [2, 4] * 3
    for size, ranks, value, low, high in zip(*columns.values(), strict=True):
        time = model(bytes=size, ranks=ranks)
        assert (value, low, high) == (time.value, time.low, time.high)
    bound = run.model("bcast", "logarithmic", ranks=4)
    assert bound.table(bytes="8:64").columns["bytes"] == [8, 16, 32, 64]
    assert len(bound.frame("pandas", bytes=8)) == 1
    for values, code in (({"size": 8}, "unknown-variable"), ({}, "variables-missing")):
        with pytest.raises(hockney.UsageError) as refused:
            bound.table(**values)
        assert refused.value.code == code


def test_all_models_of_a_run(run):
    models = run.models
    assert {(m.fit.model, m.fit.line) for m in models} == {
        (fit.model, fit.line) for fit in run.fits.fits if fit.verdict != "refused"
    }
    pingpong = run.model("pingpong", buffers="hot")
    assert pingpong in models and all(m.variables for m in models)


def test_a_notebook_shows_a_model(run):
    html = run.model("bcast", ranks=4)._repr_html_()
    fit = run.model("bcast").fit
    assert html.count("<tr>") == 1 + len(fit.parameters) and "ranks=4" in html and fit.verdict in html
    assert "bytes" in html.rpartition("<p>")[2] and "ranks" not in html.rpartition("<p>")[2]


def test_a_rank_count_may_be_chosen_before_or_in_the_call(run):
    both = run.model("bcast", "logarithmic")
    assert set(both.variables) == {"bytes", "ranks"}
    bound = run.model("bcast", "logarithmic", ranks=4)
    assert bound.bound == {"ranks": 4} and set(bound.variables) == {"bytes"}
    assert bound(bytes=512) == both(bytes=512, ranks=4)
    assert bound(bytes=512).value == pytest.approx(collective_time(bound.fit, 4, 512))
    assert bound(bytes=512).value > both(bytes=512, ranks=2).value
    assert "ranks=4" in repr(bound)


def test_the_better_form_is_taken_where_no_model_is_named(run):
    chosen = run.model("bcast")
    assert chosen.fit.preferred and chosen.fit.model == "logarithmic"
    assert run.model("bcast", "linear").fit.model == "linear"


def test_a_workload_without_a_size_needs_ranks_only(run):
    barrier = run.model("barrier", algorithm="dissemination")
    assert set(barrier.variables) == {"ranks"}
    assert barrier(ranks=2).value < barrier(ranks=4).value


@pytest.mark.parametrize(
    ("words", "fixed", "code"),
    [
        (("allreduce",), {}, "unknown-fitted-workload"),
        (("pingpong", "loggp"), {}, "unknown-model"),
        (("pingpong",), {"bufers": "hot"}, "unknown-parameter"),
        (("pingpong",), {"buffers": "warm"}, "unknown-value"),
        (("pingpong",), {"ranks": 4}, "rank-count-not-supported"),
        (("barrier",), {"sync": "window"}, "no-such-fit"),
        (("bcast",), {"ranks": 8}, "outside-of-fit"),
    ],
)
def test_models_that_are_not_there(run, words, fixed, code):
    with pytest.raises(hockney.HockneyError) as refused:
        run.model(*words, **fixed)
    assert refused.value.code == code


@pytest.mark.parametrize(
    ("values", "code"),
    [
        ({}, "variables-missing"),
        ({"bytes": 8, "ranks": 2}, "fixed-variable"),
        ({"size": 8}, "unknown-variable"),
        ({"bytes": 2 << 20}, "outside-of-fit"),
        ({"bytes": "2MiB"}, "outside-of-fit"),
        ({"bytes": -1}, "negative-quantity"),
        ({"bytes": "8x"}, "unknown-unit"),
    ],
)
def test_calls_that_have_no_answer(run, values, code):
    with pytest.raises(hockney.HockneyError) as refused:
        run.model("pingpong", buffers="hot")(**values)
    assert refused.value.code == code
    assert isinstance(refused.value, hockney.Inconclusive) is (code == "outside-of-fit")


@pytest.mark.parametrize(
    ("positional", "values", "code"),
    [
        ((8, 2), {}, "variables-without-names"),
        (("8B",), {"bytes": 8}, "model-variable-twice"),
        (("8x",), {}, "unknown-unit"),
        ((None,), {}, "not-a-quantity-type"),
        (([8, 16],), {}, "not-a-quantity-type"),
    ],
)
def test_values_without_a_name(run, positional, values, code):
    with pytest.raises(hockney.UsageError) as refused:
        run.model("pingpong", buffers="hot")(*positional, **values)
    assert refused.value.code == code


def test_a_value_without_a_name_needs_a_single_variable(run):
    with pytest.raises(hockney.UsageError) as refused:
        run.model("bcast")("8B")
    assert refused.value.code == "variables-without-names"
    assert sorted(refused.value.fields["names"]) == ["bytes", "ranks"]
    assert run.model("bcast", ranks=4)("8B") == run.model("bcast")(bytes=8, ranks=4)


@pytest.mark.parametrize("ranks", [3.5, "2,4", "2:4", "many"])
def test_ranks_are_one_whole_number(run, ranks):
    with pytest.raises(hockney.UsageError) as refused:
        run.model("bcast")(bytes=8, ranks=ranks)
    assert refused.value.code == "not-a-count"


def test_a_refused_fit_predicts_nothing(run):
    with pytest.raises(hockney.Inconclusive) as refused:
        run.model("pingpong_double")
    assert refused.value.code == "refused-model"


def test_a_model_of_trains_gives_no_time_of_one_message():
    """The fit ends where the parts of a message add up to more than a message takes."""
    points = [CurvePoint(8.0, 1e-7, 0.9e-7, 1.1e-7), CurvePoint(256.0, 2e-7, 1.9e-7, 2.1e-7)]
    trains = Fit(
        model="loggp", line="prtt ranks=2", parameters=[], verdict="poor", why="", curve=points,
        ranges={"bytes": (8.0, 256.0)}, caveats=[parts_exceed_message(1024, 1.0)],
    )  # fmt: skip
    fits = Fits(schema=SCHEMA, summaries=[], fits=[trains], workloads=[bundled_catalog().entry("prtt")])
    model = fitted_model(fits, "prtt")
    assert model(bytes=256).value == 2e-7
    for size, beyond in ((4, False), (512, True), (2048, True)):
        with pytest.raises(hockney.Inconclusive) as refused:
            model(bytes=size)
        assert refused.value.code == "outside-of-fit" and refused.value.fields["trains_beyond"] is beyond


def test_a_fit_is_not_guessed_among_several(run):
    """Neither of the two subjects has the default."""
    others = [replace(f, line=f.line.replace("algorithm=mpi", "algorithm=tree")) for f in run.fits.fits]
    only = [f for f in others if f.subject.get("algorithm") in ("tree", "dissemination")]
    with pytest.raises(hockney.UsageError) as several:
        fitted_model(replace(run.fits, fits=only), "barrier")
    assert several.value.code == "several-fits" and len(several.value.fields["subjects"]) == 2


def test_a_time_from_launches_in_two_modes_has_this_caveat(run):
    """Beside the number, since its interval does not show it."""
    assert run.model("pingpong", ranks=2)(8).caveats == ()
    caveat = launches_in_two_modes(1e-7, 3.5e-7, 8, 2, 0)
    fits = [replace(fit, caveats=[*fit.caveats, caveat]) for fit in run.fits.fits]
    model = fitted_model(replace(run.fits, fits=fits), "pingpong", fixed={"ranks": 2})
    time = model(8)
    assert time.caveats == model.caveats == (caveat,)
    assert caveat.text in repr(time) and caveat.text in repr(model)
