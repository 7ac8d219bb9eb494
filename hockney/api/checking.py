# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Check a frozen prediction: launch the program, with and without the predicted changes if they can be
applied, and record the result."""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path

from hockney import build
from hockney.api.judgements.history import archive_path
from hockney.api.notebook.log_events import log
from hockney.api.profile import DEFAULT_CHECKS, Profile, check_repeat, failed_exit_code, manifest_of
from hockney.core.errors import Interrupted, UsageError, printable
from hockney.core.notice import Notice
from hockney.core.paths import AnyPath, to_path
from hockney.discovery.find import find_mpi
from hockney.measurement import Listener, Status, notifier
from hockney.profiles import interposition, launching
from hockney.profiles.launching import Side
from hockney.profiles.profile import Launch, read_profile
from hockney.profiles.program import ranks_of
from hockney.profiles.target import Target, explain_empty_profile, find_target
from hockney.replay.checking import (
    CHOICES,
    Check,
    choices_text,
    make_check,
    prediction_variables,
    refuse_unused,
)
from hockney.replay.predictions import Prediction, append_score, read_prediction
from hockney.store import default_path, refuse_taken
from hockney.system.files import write_atomically

UNCHANGED, CHANGED = "unchanged", "changed"
"""Folder names of the two profiles of a check. Other commands can read these profiles."""


@dataclass(frozen=True)
class CheckedPrediction:
    """`path` is the folder of the launches, which contains one or two profiles, or the given profile.
    `scores` is the file that records all checks."""

    path: Path
    check: Check
    scores: Path
    notices: tuple[Notice, ...] = field(default=(), compare=False)


def check_prediction(
    prediction: AnyPath,
    command: Sequence[str] | str | Profile,
    *,
    repeat: int = DEFAULT_CHECKS,
    out: AnyPath | None = None,
    archive: AnyPath | None = None,
    environ: Mapping[str, str] | None = None,
    stdout: int | None = None,
    listen: Listener | None = None,
) -> CheckedPrediction:
    """Compare a frozen prediction with `repeat` recorded launches of a program. If the predicted changes can
    be applied, `repeat` pairs of launches with and without them are made in random order. The launches of a
    later Profile are compared without launching anything. The result is added to the record in the folder
    `archive` ($HOCKNEY_ARCHIVE, or history).

    Raises UsageError if the prediction's file was modified, the number of ranks was not predicted or the
    Profile is older than the prediction, EnvironmentProblem if the program's calls cannot be recorded,
    Inconclusive if no launch succeeded or the program did not use the predicted algorithms."""
    listen = log if listen is None else listen
    environ = dict(os.environ if environ is None else environ)
    check_repeat(repeat)
    path = to_path(prediction)
    predicted, sha256 = read_prediction(path)
    if isinstance(command, Profile):
        _check_profile(predicted, command)
        recorded = {launch.entry.folder: launch for launch in command.recorded.launches}
        return _compared(predicted, sha256, command.path, recorded, None, archive, ())
    target = find_target(command, environ)
    if (ranks := ranks_of(target.command, environ)) is not None:
        predicted.on(ranks)
    if not target.libraries:
        raise explain_empty_profile(target, None)
    folder = default_path("check") if out is None else to_path(out)
    refuse_taken(folder)
    notices = tuple(
        Notice(str(obstacle), obstacle.code) for obstacle in (*target.obstacles, *target.warnings)
    )
    for notice in notices:
        listen(notice)
    sides = _create_sides(predicted, target, folder, environ, listen)
    total = repeat * len(sides)

    def report_launch(number: int, side: Side) -> None:
        side_text = "" if len(sides) == 1 else f", {side.folder.name}"
        listen(Status(f"launch {number} of {total}{side_text}"))

    launched_sides, signal_number = launching.launch_in_turns(
        target.command,
        interposition.build(target.paths, environ, notifier(listen)),
        sides,
        repeat,
        environ,
        seed=secrets.randbelow(2**31),
        preloaded=target.preloaded,
        stdout=stdout,
        listen=report_launch,
    )
    if signal_number is not None:
        raise Interrupted(
            "the check was interrupted", code="check-interrupted", exit_code=128 + signal_number
        )
    launches = [_complete_launches(side, target) for side in launched_sides]
    if predicted.applied:
        refuse_unused(predicted, folder / CHANGED)
    return _compared(
        predicted, sha256, folder, launches[0], launches[1] if predicted.applied else None, archive, notices
    )


def _compared(
    predicted: Prediction,
    sha256: str,
    folder: Path,
    unchanged: Mapping[str, Launch],
    changed: Mapping[str, Launch] | None,
    archive: AnyPath | None,
    notices: tuple[Notice, ...],
) -> CheckedPrediction:
    """Compare the launches with the prediction, and add the result to the archive."""
    check = make_check(predicted, sha256, unchanged, changed)
    checked_at = datetime.now(timezone.utc).isoformat(timespec="seconds")
    score = append_score(check.score(checked_at), archive_path(archive))
    return CheckedPrediction(folder, check, score, notices)


def _check_profile(predicted: Prediction, profile: Profile) -> None:
    """Raises UsageError if launches of the profile prove nothing about the prediction."""
    name = printable(str(profile.path))
    if predicted.applied:
        raise UsageError(
            f"launches of {name} cannot be compared with {printable(predicted.text)}",
            "a check of this change launches the program with and without it",
            "give the command that starts the program in place of the profile",
            code="check-needs-launches",
            path=str(profile.path),
        )
    started, created = (
        datetime.fromisoformat(text) for text in (profile.manifest.started, predicted.created)
    )
    if started < created:
        raise UsageError(
            f"{name} is older than the prediction",
            f"it was recorded at {profile.manifest.started}, and the prediction was made at "
            f"{predicted.created}",
            "profile the program again",
            code="profile-before-prediction",
            path=str(profile.path),
        )


def _create_sides(
    prediction: Prediction, target: Target, folder: Path, environ: Mapping[str, str], listen: Listener
) -> list[Side]:
    manifest = manifest_of(target, interposition.recorded_symbols(target.paths), None)
    unchanged = Side(folder / UNCHANGED, manifest)
    launching.create_folder(unchanged.folder, manifest)
    if not prediction.applied:
        return [unchanged]
    changed = folder / CHANGED
    launching.create_folder(changed, manifest)
    preload = None
    if prediction.choices:
        launcher = target.command.launcher
        mpi_name = str(launcher.path) if launcher is not None and not launcher.is_srun else target.family.name
        preload = build.preloaded_library(find_mpi(mpi_name, environ), environ, notifier(listen))
        write_atomically(changed / CHOICES, choices_text(prediction.choices).encode())
    return [unchanged, Side(changed, manifest, preload, prediction_variables(prediction, changed))]


def _complete_launches(side: Side, target: Target) -> dict[str, Launch]:
    """Launches by name, without those for which no rank wrote a file."""
    if not launching.rank_files(side.folder, side.manifest):
        raise explain_empty_profile(target, failed_exit_code(side.manifest))
    return {launch.entry.folder: launch for launch in read_profile(side.folder).launches}
