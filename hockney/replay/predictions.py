# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Frozen predictions: files that state a prediction before it is measured, with a checksum of their content.
Also the record of checked predictions and their errors."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import msgspec
import numpy as np

from hockney.core.errors import EnvironmentProblem, UsageError, printable
from hockney.core.fit import Estimate
from hockney.core.wording import join_words, plural
from hockney.draw.page import Table
from hockney.pages.columns import COUNT_FORMAT, SHARE_FORMAT, Column, Format, columns_table
from hockney.system.files import read_regular, write_user_file

SCHEMA = 1
SCORES = "predictions.jsonl"
"""The record of checks in the archive's folder."""
MAX_RANKS = 2**31 - 1
MAX_BYTES = 2**62

Kind = Literal[
    "algorithm",
    "eager limit",
    "latency",
    "bandwidth",
    "ideal network",
    "aggregation",
    "overlap",
    "balance",
    "noise",
    "machine",
    "computation",
    "number of ranks",
]
"""The kind of a change."""
APPLICABLE: tuple[Kind, ...] = ("algorithm", "eager limit")
"""Kinds of changes that a launch can make without the program's source."""
INAPPLICABLE_REASONS: dict[str, str] = {
    "latency": "a launch cannot change the network",
    "bandwidth": "a launch cannot change the network",
    "ideal network": "there is no such network",
    "aggregation": "the program's source has to combine its messages",
    "overlap": "the program's source has to start its messages earlier",
    "balance": "the program has to distribute its work",
    "noise": "a launch cannot remove disturbances",
    "machine": "the program has to run there",
    "computation": "the program has to run on such processors",
}
"""Why a launch cannot make the other kinds of changes."""


class Choice(msgspec.Struct, frozen=True, kw_only=True):
    """An algorithm of a collective for ranges of ranks and bytes, as a line of the table that hockney's
    library reads."""

    operation: str
    algorithm: str
    ranks: tuple[int, int] = (1, MAX_RANKS)
    bytes: tuple[int, int] = (0, MAX_BYTES)

    @property
    def line(self) -> str:
        words = (f"ranks={self.ranks[0]}:{self.ranks[1]}", f"bytes={self.bytes[0]}:{self.bytes[1]}")
        return f"{self.operation} {' '.join(words)} algorithm={self.algorithm}"


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """A change of the program or the machine. `text` is its name in tables."""

    kind: Kind
    text: str


class TracedRun(msgspec.Struct, frozen=True, kw_only=True):
    """A run from which a program is predicted: its run time (s), and the checksum of its trace."""

    ranks: int
    recorded_s: float
    sha256: str


class PredictedRun(msgspec.Struct, frozen=True, kw_only=True):
    """The run time (s) with the changes on a number of ranks."""

    ranks: int
    run_s: Estimate


class Prediction(msgspec.Struct, frozen=True, kw_only=True):
    """A prediction for a traced program: its run time with the changes on one or more numbers of ranks. If
    `traces` has the same number of ranks, also its run time without the changes (s), and the ratio of the
    first to the second. `method` is how the program was evaluated. A launch makes the changes that do not
    require the program's source with `choices` and `variables`."""

    schema: int = SCHEMA
    created: str
    hockney: str
    program: str
    command: list[str]
    mpi: str
    traces: list[TracedRun]
    method: str
    changes: list[Change] = []
    runs: list[PredictedRun]
    unchanged_s: Estimate | None = None
    ratio: Estimate | None = None
    choices: list[Choice] = []
    variables: dict[str, str] = {}

    @property
    def applied(self) -> bool:
        """Whether there are changes and launches can make all of them. The best algorithms may be the ones
        that MPI uses anyway."""
        changed = bool(self.changes) and bool(self.choices or self.variables)
        return changed and all(change.kind in APPLICABLE for change in self.changes)

    @property
    def inapplicable_changes(self) -> list[Change]:
        """The changes that no launch can make."""
        return [change for change in self.changes if change.kind not in APPLICABLE]

    @property
    def text(self) -> str:
        return ", ".join(change.text for change in self.changes) or "no change"

    def on(self, ranks: int) -> PredictedRun:
        """The predicted run on this number of ranks. Raises UsageError if there is none."""
        run = next((run for run in self.runs if run.ranks == ranks), None)
        if run is None:
            predicted = [run.ranks for run in self.runs]
            raise UsageError(
                f"the program runs on {plural(ranks, 'rank')}",
                f"the prediction is for {join_words(predicted)}",
                "launch it with as many ranks",
                code="check-on-other-ranks",
                ranks=ranks,
                predicted=predicted,
            )
        return run


def checksum(content: Any) -> str:
    """The SHA-256 of the canonical JSON, without spaces and with sorted keys."""
    return hashlib.sha256(msgspec.json.encode(content, order="sorted")).hexdigest()


def freeze(prediction: Prediction, path: Path) -> str:
    """Write a prediction. Returns the checksum of its content. Raises EnvironmentProblem."""
    content = msgspec.to_builtins(prediction)
    sha256 = checksum(content)
    text = msgspec.json.encode({"content": content, "sha256": sha256}, order="sorted") + b"\n"
    write_user_file(path, text)
    return sha256


def read_prediction(path: Path) -> tuple[Prediction, str]:
    """Read a frozen prediction and its checksum. Raises UsageError if the file contains none, was modified,
    or was written by a newer hockney."""
    try:
        document = msgspec.json.decode(read_regular(path))
    except OSError as error:
        raise UsageError(
            f"{printable(str(path))} cannot be read",
            (error.strerror or str(error)).lower(),
            "'hockney predict RUN --freeze FILE' writes a prediction",
            code="no-prediction",
            path=str(path),
        ) from error
    except msgspec.MsgspecError as error:
        raise _no_prediction(path, str(error)) from error
    if not isinstance(document, dict) or not isinstance(document.get("content"), dict):
        raise _no_prediction(path, "it has no content")
    content = document["content"]
    if isinstance(content.get("schema"), int) and content["schema"] > SCHEMA:
        raise UsageError(
            f"{printable(str(path))} is from a newer hockney",
            f"its schema is {content['schema']}, and this hockney reads up to {SCHEMA}",
            "update hockney",
            code="newer-prediction",
            path=str(path),
        )
    sha256 = checksum(content)
    if document.get("sha256") != sha256:
        raise UsageError(
            f"{printable(str(path))} was changed after it had been written",
            "its content does not have the checksum that it names, so that it proves nothing",
            "predict again with 'hockney predict RUN --freeze FILE', before measuring",
            code="prediction-changed",
            path=str(path),
            sha256=sha256,
        )
    try:
        return msgspec.convert(content, Prediction), sha256
    except msgspec.MsgspecError as error:
        raise _no_prediction(path, str(error)) from error


def _no_prediction(path: Path, why: str) -> UsageError:
    return UsageError(
        f"{printable(str(path))} is not a prediction",
        printable(why),
        "'hockney predict RUN --freeze FILE' writes one",
        code="not-a-prediction",
        path=str(path),
    )


class Score(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a check: a line of the record. `error` is relative to the measured run time. `covered`
    tells whether the prediction's interval contains that run time. The gains are set if launches made the
    changes."""

    checked: str
    prediction: str
    program: str
    ranks: int
    kinds: list[str]
    predicted: Estimate
    measured: Estimate
    error: float
    covered: bool
    launches: int
    predicted_gain: float | None = None
    measured_gain: float | None = None
    decided: bool = False
    """Whether the direction of the predicted gain is certain."""

    @property
    def kind(self) -> str:
        return " and ".join(dict.fromkeys(self.kinds)) or "no change"


def append_score(score: Score, archive: Path) -> Path:
    """Append a line to the record in one write, so that processes may do so concurrently. Raises
    EnvironmentProblem."""
    path = archive / SCORES
    line = msgspec.json.encode(score) + b"\n"
    try:
        archive.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            os.write(descriptor, line)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise EnvironmentProblem(
            f"cannot add the check to {printable(str(path))}",
            (error.strerror or str(error)).lower(),
            "name a writable folder with --archive or $HOCKNEY_ARCHIVE",
            code="scores-not-writable",
            path=str(path),
        ) from error
    return path


def read_scores(archive: Path) -> tuple[list[Score], int]:
    """All checks in the record, and the number of lines that cannot be read."""
    path = archive / SCORES
    try:
        lines = read_regular(path).splitlines()
    except FileNotFoundError:
        return [], 0
    except OSError as error:
        raise EnvironmentProblem(
            f"{printable(str(path))} cannot be read",
            (error.strerror or str(error)).lower(),
            "check its permissions",
            code="scores-unreadable",
            path=str(path),
        ) from error
    scores, damaged = [], 0
    for line in lines:
        try:
            scores.append(msgspec.json.decode(line, type=Score))
        except msgspec.MsgspecError:
            damaged += 1
    return scores, damaged


@dataclass(frozen=True)
class ScoreRow:
    """The checks of one kind of change: the median and the 90th percentile of the absolute error, and the
    share within the prediction's interval. `signs` is the share of decided gains with the right direction."""

    kind: str
    checks: int
    median: float
    p90: float
    coverage: float
    signs: float | None


def score_rows(scores: Sequence[Score]) -> list[ScoreRow]:
    """A row for all checks, and a row for each kind if there is more than one."""
    by_kind: dict[str, list[Score]] = {}
    for score in scores:
        by_kind.setdefault(score.kind, []).append(score)
    rows = [_score_row("all", scores)] if scores else []
    return rows + [_score_row(*item) for item in sorted(by_kind.items()) if len(by_kind) > 1]


def _score_row(kind: str, scores: Sequence[Score]) -> ScoreRow:
    errors = np.abs([score.error for score in scores])
    is_sign_right = [
        (score.predicted_gain > 0) == (score.measured_gain > 0)
        for score in scores
        if score.decided and score.predicted_gain is not None and score.measured_gain is not None
    ]
    return ScoreRow(
        kind,
        len(scores),
        float(np.median(errors)),
        float(np.quantile(errors, 0.9)),
        sum(score.covered for score in scores) / len(scores),
        sum(is_sign_right) / len(is_sign_right) if is_sign_right else None,
    )


ERROR_FORMAT = Format(lambda value: f"{value:.1%}")
SCORE_COLUMNS: tuple[Column[ScoreRow], ...] = (
    Column("change", lambda row: row.kind, key="kind"),
    Column("checks", lambda row: row.checks, COUNT_FORMAT, "checks"),
    Column("median error", lambda row: row.median, ERROR_FORMAT, "median_error"),
    Column("90% below", lambda row: row.p90, ERROR_FORMAT, "p90_error"),
    Column("in interval", lambda row: row.coverage, SHARE_FORMAT, "coverage"),
    Column("direction right", lambda row: row.signs, SHARE_FORMAT, "direction_right"),
)


def scores_table(rows: Iterable[ScoreRow]) -> Table:
    return columns_table("scores", "Checked predictions", SCORE_COLUMNS, rows)
