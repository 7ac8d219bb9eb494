# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Frozen predictions, what a check of one says, and the record of checks."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any, cast

import msgspec
import pytest

from hockney.core.errors import EnvironmentProblem, Inconclusive, UsageError
from hockney.core.fit import Estimate
from hockney.replay.checking import Check, CheckRow, make_check, refuse_unused
from hockney.replay.predictions import (
    SCORES,
    Change,
    Choice,
    PredictedRun,
    Prediction,
    TracedRun,
    append_score,
    freeze,
    read_prediction,
    read_scores,
    score_rows,
)


def predicted(**changes: Any) -> Prediction:
    values: dict[str, Any] = {
        "created": "2026-01-01T00:00:00+00:00", "hockney": "0.1", "program": "app", "command": ["./app"],
        "mpi": "Open MPI 5", "traces": [TracedRun(ranks=2, recorded_s=2.0, sha256="ab")], "method": "static",
        "changes": [Change(kind="algorithm", text="--allreduce ring")],
        "runs": [PredictedRun(ranks=2, run_s=Estimate(1.0, 0.9, 1.1))],
        "unchanged_s": Estimate(2.0, 1.9, 2.1), "ratio": Estimate(0.5, 0.4, 0.6),
        "choices": [Choice(operation="allreduce", algorithm="ring")],
    }  # fmt: skip
    return Prediction(**{**values, **changes})


def test_a_frozen_prediction_is_read_as_it_was_written(tmp_path):
    path = tmp_path / "p.json"
    sha256 = freeze(predicted(), path)
    assert read_prediction(path) == (predicted(), sha256)
    document = json.loads(path.read_text())
    assert path.read_text() == json.dumps(document, sort_keys=True, separators=(",", ":")) + "\n"
    path.write_text(json.dumps(document, indent=2))
    assert read_prediction(path)[1] == sha256, "its layout does not count"


def test_a_changed_prediction_is_refused(tmp_path):
    path = tmp_path / "p.json"
    freeze(predicted(), path)
    text = path.read_text()
    for changed, code in {
        text.replace('"value":1.0', '"value":1.3'): "prediction-changed",
        text.replace('"content"', '"contents"'): "not-a-prediction",
        text[:-9]: "not-a-prediction",
        "[]": "not-a-prediction",
    }.items():
        assert changed != text
        path.write_text(changed)
        with pytest.raises(UsageError) as caught:
            read_prediction(path)
        assert caught.value.code == code
    freeze(predicted(schema=99), path)
    for where, code in {path: "newer-prediction", tmp_path / "none": "no-prediction"}.items():
        with pytest.raises(UsageError) as caught:
            read_prediction(where)
        assert caught.value.code == code


def launch(name: str, seconds: float, exit_code: int = 0, ranks: int = 2, finished: bool = True) -> Any:
    entry = SimpleNamespace(folder=name, exit_code=exit_code)
    return SimpleNamespace(entry=entry, elapsed_s=seconds, ranks=[SimpleNamespace(finished=finished)] * ranks)


def launches(*seconds: float, **more: Any) -> dict[str, Any]:
    return {f"launch-{k}": launch(f"launch-{k}", each, **more) for k, each in enumerate(seconds)}


@pytest.mark.parametrize(
    ("low", "high", "measured", "verdict"),
    [
        (0.9, 1.1, (1.05, None, None), "covered"),
        (0.9, 1.1, (1.2, None, None), "missed"),
        (0.9, 1.1, (1.2, 1.15, 1.25), "missed"),
        (0.9, 1.1, (1.2, 1.05, 1.35), "undecided"),
        (0.9, 1.1, (0.8, 0.5, 0.95), "undecided"),
        (None, None, (1.0, 0.9, 1.1), "unknown"),
    ],
)
def test_the_verdict(low, high, measured, verdict):
    assert CheckRow("run time", "s", Estimate(1.0, low, high), Estimate(*measured)).verdict == verdict


def test_changes_are_judged_by_pairs_of_launches():
    """The machine becomes slower all the time, which cancels in each pair."""
    unchanged = launches(*(2.0 * 1.1**k for k in range(5)))
    changed = launches(*(1.0 * 1.1**k for k in range(5)))
    changed["launch-4"] = launch("launch-4", 99.0, exit_code=1)
    check = make_check(predicted(), "sha", unchanged, changed)
    assert check.launches == 8, "the failed launch and its counterpart do not count"
    time, before, ratio = check.rows
    assert ratio.measured.value == pytest.approx(0.5) and ratio.measured.high == pytest.approx(0.5)
    assert ratio.verdict == "covered" and before.predicted == predicted().unchanged_s
    assert time.predicted.value == 1.0 and time.measured.value == pytest.approx(1.1**1.5)
    assert time.error == pytest.approx(1.1**-1.5 - 1)
    score = check.score("now")
    assert (score.predicted_gain, score.measured_gain) == (0.5, pytest.approx(0.5))
    assert score.error == time.error and score.kinds == ["algorithm"]
    assert score.decided and not score.covered


def test_changes_that_no_launch_can_make():
    """The command is compared as it is, with the time that is predicted with the changes."""
    other = predicted(changes=[Change(kind="aggregation", text="--aggregate")], choices=[])
    assert not other.applied and not predicted(changes=[]).applied and predicted().applied
    check = make_check(other, "sha", launches(0.99, 1.01, 1.0), None)
    assert [row.verdict for row in check.rows] == ["covered"] and check.exit_code == 0
    first, second = check.sentences
    assert "1.00 s" in first and "the program's source has to combine its messages" in second
    assert check.score("now").predicted_gain is None


def test_launches_that_say_nothing():
    for unchanged in (launches(1.0, exit_code=1), launches(1.0, finished=False), {}):
        with pytest.raises(Inconclusive) as caught:
            make_check(predicted(), "sha", unchanged, None)
        assert caught.value.code == "check-without-launches"
    with pytest.raises(UsageError) as other:
        make_check(predicted(), "sha", launches(1.0, ranks=4), None)
    assert other.value.code == "check-on-other-ranks"


def test_a_program_that_does_not_use_the_algorithm(tmp_path):
    report = tmp_path / "collectives.txt"
    own = "operation=allreduce algorithm=mpi calls=4 bytes=9\n"
    for text in ("", "# table: x\n", own):
        report.write_text(text)
        with pytest.raises(Inconclusive) as caught:
            refuse_unused(predicted(), tmp_path)
        assert caught.value.code == "change-not-applied"
        assert caught.value.fields["unused"] == ["allreduce by ring"]
    report.write_text(own + "operation=allreduce algorithm=ring calls=1 bytes=9\n")
    refuse_unused(predicted(), tmp_path)


def checked(error: float, covered: bool = True, kinds: tuple[str, ...] = ("algorithm",)) -> Check:
    low, high = (0.5, 2.0) if covered else (1.0, 1.0)
    changes = [Change(kind=cast(Any, kind), text=kind) for kind in kinds]
    runs = [PredictedRun(ranks=2, run_s=Estimate(1.0, low, high))]
    return Check(predicted(runs=runs, changes=changes), "sha", 2, (1.0 / (1 + error),))


def test_the_record_of_checks(tmp_path):
    archive = tmp_path / "archive"
    assert read_scores(archive) == ([], 0) and score_rows([]) == []
    for k in range(10):
        append_score(checked(0.01 * (k + 1) * (-1) ** k, covered=k < 9).score("now"), archive)
    append_score(checked(0.5, False, ("latency", "bandwidth")).score("now"), archive)
    with (archive / SCORES).open("a") as file:
        file.write('{"checked": "n')
    scores, damaged = read_scores(archive)
    assert len(scores) == 11 and damaged == 1
    rows = {row.kind: row for row in score_rows(scores)}
    assert list(rows) == ["all", "algorithm", "latency and bandwidth"]
    one = rows["algorithm"]
    assert (one.checks, one.coverage, one.signs) == (10, 0.9, None)
    assert one.median == pytest.approx(0.055) and one.p90 == pytest.approx(0.091)
    assert rows["all"].checks == 11 and rows["latency and bandwidth"].coverage == 0
    gains = [replace_gain(score, gain) for score, gain in zip(scores[:3], (0.2, -0.1, 0.3), strict=True)]
    assert score_rows(gains)[0].signs == pytest.approx(2 / 3)
    (tmp_path / "file").touch()
    with pytest.raises(EnvironmentProblem) as caught:
        append_score(scores[0], tmp_path / "file")
    assert caught.value.code == "scores-not-writable"


def replace_gain(score: Any, measured: float) -> Any:
    return msgspec.structs.replace(score, predicted_gain=0.1, measured_gain=measured, decided=True)


def test_the_library_table_has_a_line_for_each_choice():
    choice = Choice(operation="bcast", algorithm="binomial", ranks=(2, 8), bytes=(0, 64))
    assert choice.line == "bcast ranks=2:8 bytes=0:64 algorithm=binomial"
