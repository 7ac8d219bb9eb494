# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The presentation of a prediction: numbers as readers need them, caveats where they belong, origins in
short."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from hockney.core.fit import Estimate
from hockney.core.platform import Noise
from hockney.core.units import format_percent, format_size
from hockney.machines import simulated
from hockney.models.applications.grain_prediction import predict
from hockney.models.applications.granularity import Algorithm
from hockney.models.applications.message_costs import costs_of_description
from hockney.models.applications.point_to_point_costs import CostPiece, PointToPointCosts, RelativeBounds
from hockney.models.fits.caveats import launches_in_two_modes
from hockney.pages import grain_prediction
from hockney.pages.caveats.predictions import CostsOrigin, prediction_caveats
from hockney.pages.grain_prediction import (
    algorithm_text,
    plain_seconds,
    ratio_text,
    share_text,
    three_digits,
    time_text,
)
from hockney.pages.origins import UNSTATED, provenance, provenance_summary

MACHINE = PointToPointCosts(
    "m", "M", (CostPiece(0, 1e-6, 1e-9),), False, "here", why="which is known",
    band=(RelativeBounds(0, 0.9, 1.1),),
    max_size=1 << 20, max_ranks=16, verdict="good", doubt="off by 1%",
)  # fmt: skip

TWO_MODES = launches_in_two_modes(1e-7, 3.5e-7, 8, 2, 0)


def codes(
    messages: PointToPointCosts = MACHINE, known: CostsOrigin | None = None, ranks=(2, 4), **more
) -> list[str]:
    prediction = predict(Algorithm(**{"work_s": 1e-3, "bytes": 1000, **more}), messages, ranks)
    return [caveat.code for caveat in prediction_caveats(prediction, known or CostsOrigin())]


def test_a_sound_prediction_has_no_doubts():
    assert codes() == []


@pytest.mark.parametrize(
    ("code", "case"),
    [
        ("poor-fit", {"messages": replace(MACHINE, verdict="poor")}),
        ("launches-in-two-modes", {"messages": replace(MACHINE, two_modes=TWO_MODES)}),
        ("simulated", {"known": CostsOrigin(origin="simulated")}),
        ("published", {"known": CostsOrigin(origin="published")}),
        ("extrapolated", {"bytes": 1 << 21}),
        ("extrapolated", {"bytes": 1 << 19}),  # aggregation's messages are longer still
        ("imbalance", {"imbalance": 3.0}),
        ("oversubscribed", {"ranks": (2, 17)}),
        ("one-host", {"known": CostsOrigin(hosts=4, pair_hosts=1), "ranks": (4, 8)}),
        ("network-assumed", {"messages": replace(MACHINE, sharing="assumed")}),
    ],
)
def test_each_doubt_is_raised_by_its_reason(code, case):
    assert codes(**case) == [code]


def test_doubts_that_do_not_apply_are_not_raised():
    assert codes(known=CostsOrigin(hosts=4, pair_hosts=2), ranks=(4, 8)) == []
    assert codes(known=CostsOrigin(hosts=4, pair_hosts=1), ranks=(2, 4)) == []
    guessed = replace(MACHINE, sharing="assumed")
    assert codes(guessed, ranks=(1, 2)) == [] and codes(guessed, bytes=0) == []
    near = replace(MACHINE, changes=((900, 1100),))
    assert codes(near) == [], "both lines are the same"


def test_a_noisy_description_varies():
    sun = simulated.platform("sun-ethernet")
    noisy = msgspec.structs.replace(sun, noise=Noise(relative=0.1))
    assert codes(costs_of_description(sun), CostsOrigin(sun)) == []
    assert codes(costs_of_description(noisy), CostsOrigin(noisy)) == ["noise"]


def test_numbers_have_three_digits_and_their_unit():
    assert time_text(Estimate(0.6079, 0.6, 0.615)) == "608 ms [600, 615]"
    assert time_text(Estimate(130.0, 99.0, 140.0)) == "2m10s [99.0 s, 2m20s]"
    assert time_text(Estimate(9.996e-4, None, None)) == "1.00 ms"
    assert share_text(Estimate(0.82242, 0.81, 0.8301)) == "82.2% [81.0, 83.0]"
    assert (
        share_text(Estimate(0.0, 0.0, 0.0)) == "0% [0, 0]" and share_text(Estimate(1.0, None, None)) == "100%"
    )
    assert ratio_text(Estimate(1.5e-13, None, None)) == "<0.001"
    assert share_text(Estimate(1.5e-7, 1.4e-7, 1.6e-7)) == "<0.001%"
    assert [three_digits(v) for v in (0.001, 9.996, 123.4, 1234.0)] == ["0.00100", "10.0", "123", "1234"]
    assert [format_percent(v) for v in (0, 0.01, 0.125, 1, 0.0018123)] == [
        "0%",
        "1%",
        "12.5%",
        "100%",
        "0.181%",
    ]
    assert [plain_seconds(v) for v in (1.0, 0.0025, 3e-9, 7200)] == ["1 s", "2.5 ms", "3 ns", "2h00m"]
    assert [format_size(v) for v in (0, 40000, 4096, 10**8)] == ["0 B", "40000 B", "4 KiB", "100 MB"]


def test_the_algorithm_in_words(golden):
    lines = [
        algorithm_text(Algorithm(1.0, 8)),
        algorithm_text(Algorithm(1.0, serial=1, exchanges=0.5)),
        algorithm_text(Algorithm(1.0, serial=0.02, imbalance=1.2)),
    ]
    golden("algorithm.txt", "\n".join(lines))


def test_the_best_number_of_ranks(golden):
    wide = replace(MACHINE, band=(RelativeBounds(0, 0.01, 2.0),))
    shared = replace(MACHINE, shared=True, band=(RelativeBounds(0, 0.5, 2.0),))
    predictions = {
        "coarse": predict(Algorithm(1e-3), MACHINE, [2]),
        "fine": predict(Algorithm(1e-9), MACHINE, [2]),
        "one core": predict(Algorithm(1e-3), replace(MACHINE, max_ranks=1), [2]),
        "wide interval": predict(Algorithm(2e-6), wide, [2]),
        "shared network": predict(Algorithm(3e-5, 1000), shared, [2]),
    }
    fastest = {name: prediction.best.fastest.ranks for name, prediction in predictions.items()}
    assert fastest.pop("shared network") > 1
    assert fastest == {"coarse": 16, "fine": 1, "one core": 1, "wide interval": 1}
    assert (
        predictions["coarse"].best.most_efficient.ranks == 16
        and predictions["fine"].best.most_efficient.ranks == 1
    )
    assert predictions["coarse"].best.fastest.speed_up.value == pytest.approx(15.5, abs=0.05)
    assert predictions["wide interval"].best.fastest_bounds == (1, 16)
    assert len(set(predictions["shared network"].best.fastest_bounds)) == 2
    golden("best_ranks.json", {name: grain_prediction.best_sentences(p) for name, p in predictions.items()})


def test_every_number_of_an_exchange_has_its_origin(golden):
    sun = simulated.platform("sun-ethernet")
    queue = simulated.platform("sun-ethernet+queue")
    assert {origin.status for origin in provenance(queue)} == {"guess"}
    bare = msgspec.structs.replace(sun, origins=())
    assert {origin.status for origin in provenance(bare)} == {UNSTATED}
    golden("origins.txt", f"{provenance_summary(sun)}\n{provenance_summary(bare)}")
    switched = provenance(simulated.platform("switched-ethernet"))
    assert {origin.code: origin.status for origin in switched} == {
        "latency": "fitted", "byte-cost": "guess", "network": "printed", "node-count": "printed",
    }  # fmt: skip


def test_a_machine_of_three_cores_is_not_told_to_measure_with_four():
    def todo(cores: int) -> str:
        machine = replace(MACHINE, max_ranks=cores, sharing="assumed")
        prediction = predict(Algorithm(1e-3, 1000), machine, [2, 3])
        return next(
            d.todo for d in prediction_caveats(prediction, CostsOrigin()) if d.code == "network-assumed"
        )

    assert "--ranks" not in todo(3) and "--network shared" in todo(3)
    assert "--ranks 2,4" in todo(4)


@pytest.mark.parametrize(
    ("undecided", "expected"),
    [("unmeasured", "--ranks 2,8 --out"), ("short", "--sizes"), ("contradictory", "--network shared")],
)
def test_the_remedy_for_an_assumed_network_does_not_repeat_what_was_measured(undecided, expected):
    """On a larger machine, the ranks to measure are those that have a core here."""
    machine = replace(MACHINE, max_ranks=8, sharing="assumed", undecided_reason=undecided)
    prediction = predict(Algorithm(1e-3, 1000), machine, [2, 16], allow_larger_machine=True)
    found = {d.code: d.todo for d in prediction_caveats(prediction, CostsOrigin())}
    assert expected in found["network-assumed"]
    assert ("hockney run" in found["network-assumed"]) == (undecided != "contradictory")
    assert "16" not in found["network-assumed"]


def test_all_that_the_document_says_of_a_machine_is_in_the_docs():
    prediction = predict(Algorithm(1e-3, 1000), MACHINE, [2])
    page = (Path(__file__).parents[2] / "docs" / "models.md").read_text(encoding="utf-8")
    row = next(line for line in page.splitlines() if line.startswith("| `machine` |"))
    names = grain_prediction.document(prediction, (), None)["machine"]
    assert [name for name in names if f"`{name}`" not in row] == []
