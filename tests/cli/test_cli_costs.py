# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""--cost: models, predictions and pages of the typical and of the undisturbed cost; unknown intervals."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from resealed import reseal

from hockney import api
from hockney.api.run_contents import undisturbed_note
from hockney.cli.actions.models import undisturbed_costs
from hockney.launch.fake_world import World
from hockney.machines.simulated.calibrate.calibrate import note_undisturbed

VISITS, SLOW = 10, (0, 2, 4)
SIZE = 20000
SIZES = (0, *(1 << k for k in range(3, 21)))
ASKED = ("predict", "--work", "100us", "--message", str(SIZE), "--ranks", "2,4")
UNDISTURBED = ("--cost", "undisturbed")


@pytest.fixture(scope="module")
def kept_modes(tmp_path_factory) -> Path:
    """A small survey; each record has ten visits, of which six take twice as long."""
    folder = tmp_path_factory.mktemp("surveys") / "modes"
    options = api.RunOptions(machine="fake", seed=1, budget=5.0, ranks=(2,), sizes=SIZES)
    api.survey(options, out=folder)
    shutil.copytree(folder, folder.with_name("plain"))
    path = folder / "records.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    path.write_text("".join(json.dumps(in_modes(line)) + "\n" for line in lines))
    reseal(folder)
    return folder


@pytest.fixture
def two_modes(hockney, kept_modes: Path) -> str:
    """A copy of it in runs/modes."""
    shutil.copytree(kept_modes, "runs/modes")
    return "runs/modes"


def in_modes(line: dict) -> dict:
    if line["kind"] != "record":
        return line
    times = line["times_s"][:20]
    return {
        **line,
        "times_s": [2 * t if k % 5 in SLOW else t for k in range(VISITS) for t in times],
        "visits": {
            "after_s": [k / 10 for k in range(VISITS)],
            "repetitions": [len(times)] * VISITS,
            "preempted": [0] * VISITS,
        },
        "metrics": {},
    }


def document(hockney, *words: str) -> dict:
    said = hockney(*words, "--json")
    assert said.code == 0, said.err
    return json.loads(said.out)


def latency(fits: dict) -> float:
    fit = next(f for f in fits["fits"] if f["model"] == "hockney" and f["subject"].startswith("pingpong "))
    return next(p["estimate"]["value"] for p in fit["parameters"] if p["symbol"] == "t_0")


@pytest.mark.slow
def test_models_of_both_costs(hockney, two_modes):
    saved = Path(two_modes, "fits.json").read_bytes()
    typical = document(hockney, "models", two_modes)
    fast = document(hockney, "models", two_modes, *UNDISTURBED)
    assert (typical["cost"], fast["cost"]) == ("typical", "undisturbed")
    assert typical["summaries"] == fast["summaries"]
    truth = World().message(0)
    assert latency(fast) == pytest.approx(truth, rel=0.05)
    assert 1.2 * truth < latency(typical) < 1.8 * truth
    assert document(hockney, "models", two_modes, "--cost", "typical") == typical
    note = undisturbed_costs()
    assert hockney("models", two_modes, *UNDISTURBED).out.startswith(f"{note}\n\n")
    assert note not in hockney("models", two_modes).out
    assert Path(two_modes, "fits.json").read_bytes() == saved


def test_predictions_of_both_costs(hockney, two_modes):
    words = (*ASKED, "--run", two_modes)
    typical, fast = document(hockney, *words), document(hockney, *words, *UNDISTURBED)
    assert (typical["cost"], fast["cost"]) == ("typical", "undisturbed")
    truth = World().message(SIZE, World().byte_factors["written"])
    assert fast["message_s"]["value"] == pytest.approx(truth, rel=0.05)
    assert fast["ranks"][0]["efficiency"]["value"] == pytest.approx(1e-4 / (1e-4 + 4 * truth), rel=0.05)
    assert typical["message_s"]["value"] > 1.2 * truth
    assert "undisturbed" in hockney(*words, *UNDISTURBED).out
    assert "undisturbed" not in hockney(*words).out
    assert document(hockney, *ASKED, *UNDISTURBED)["cost"] == "undisturbed", "of the newest survey too"


@pytest.mark.slow
def test_the_page_says_which_cost_it_shows(hockney, two_modes):
    assert document(hockney, "report", two_modes)["cost"] == "typical"
    saved = Path(two_modes, "fits.json").read_bytes()
    assert json.loads(saved)["cost"] == "typical"
    assert document(hockney, "report", two_modes, *UNDISTURBED)["cost"] == "undisturbed"
    assert Path(two_modes, "fits.json").read_bytes() == saved
    typical, fast = (api.load(Path(two_modes), cost).page for cost in ("typical", "undisturbed"))
    assert fast.headline[0] == undisturbed_note() and fast.headline[0] not in typical.headline


def test_a_comparison_of_both_costs(hockney, kept_modes, two_modes):
    shutil.copytree(kept_modes.with_name("plain"), "runs/plain")
    words = ("compare", "runs/plain", two_modes, "--json")
    typical, fast = (json.loads(hockney(*words, *more).out) for more in ((), UNDISTURBED))
    assert (typical["cost"], fast["cost"]) == ("typical", "undisturbed")
    assert (typical["verdict"], fast["verdict"]) == ("slower", "same")


def test_points_on_the_page_are_of_the_cost_that_was_fitted(hockney, two_modes):
    run = api.load(Path(two_modes), "undisturbed")
    for measured in run.evidence.of("pingpong", buffers="hot"):
        truth = World().message(measured.size)
        assert measured.summary.typical.value == pytest.approx(truth, rel=0.1)


@pytest.mark.slow
def test_a_run_that_was_given_a_survey_has_its_typical_costs_only(hockney, two_modes):
    words = ("granularity", "work=1ms", "serial=0", f"survey={two_modes}", "--budget", "5s")
    done = hockney("run", *words, "--out", "runs/grain", "-q")
    assert done.code == 0, done.err
    assert hockney(*ASKED, "--run", "runs/grain").code == 0
    said = hockney(*ASKED, "--run", "runs/grain", *UNDISTURBED)
    assert (said.code, said.error.code) == (4, "other-cost-of-survey")
    assert hockney("report", "runs/grain", *UNDISTURBED).code == 0


@pytest.mark.slow
def test_a_machine_is_calibrated_from_either_cost(hockney, two_modes):
    typical = document(hockney, "calibrate", two_modes)["machine"]
    fast = document(hockney, "calibrate", two_modes, *UNDISTURBED)["machine"]

    def message(machine: dict) -> float:
        (first, *_) = machine["on_node"]
        return sum(first[part] for part in ("send_s", "latency_s", "receive_s"))

    assert message(fast) == pytest.approx(World().message(0), rel=0.05)
    assert message(typical) > 1.4 * message(fast)
    note = note_undisturbed("modes")
    assert note in fast["notes"] and note not in typical["notes"]


@pytest.mark.parametrize(("sizes", "known"), [("8,64KiB", False), ("8,1KiB,64KiB", True)])
def test_a_fit_with_as_many_parameters_as_cases_shows_no_interval(hockney, sizes, known):
    assert hockney("run", f"bcast bytes={sizes}", "--ranks", "2", "--out", "run").code in (0, 4)
    (fit,) = json.loads(hockney("models", "run", "--json").out)["fits"]
    ends = [end for p in fit["parameters"] for end in (p["estimate"]["low"], p["estimate"]["high"])]
    assert [end is not None for end in ends] == [known] * 4
    lines = hockney("models", "run").out.splitlines()
    shown = [line for line in lines if " a " in line or " c " in line]
    assert [" to " in line for line in shown] == [known] * 2
    page = api.load("run").page
    (table,) = (table for s in page.sections for table in s.tables if table.name == "parameters")
    assert [bool(row[table.columns.index("95% interval")].values) for row in table.rows] == [known] * 2
