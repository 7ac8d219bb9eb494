# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Damaged run folders: no verb fails in an undocumented way, and no lost, added or changed data is silently
accepted."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path

import pytest
from call_server import Calls, Ended
from fault_rounds import FAKE, Rounds
from mutate import MEASURED, mutated

VERBS = (
    ("models", "w"),
    ("report", "w"),
    ("export", "w", "--csv", "-"),
    ("predict", "w", "--work", "1s"),
    ("barrier", "w"),
    ("guidelines", "w"),
    ("tune", "w", "--out", "tables"),
    ("calibrate", "w", "--out", "m.toml"),
    ("resume", "w", "--machine", "fake"),
)


def content(run: Path) -> dict[str, list[bytes]]:
    """The lines of measurements, without their checksums."""
    files = {name: run / name for name in MEASURED}
    return {
        name: path.read_bytes().splitlines()
        for name, path in files.items()
        if path.is_file() and not path.is_symlink()
    }


def silent(verified: Ended) -> bool:
    """Whether `verify` reported no problem."""
    if verified.code == 1 or not verified.out:
        return False
    found = json.loads(verified.out)["findings"]
    return all(each["verdict"] == "good" or each["code"] == "derived-files" for each in found)


@pytest.mark.slow
def test_mutated_folders(call: Calls, finished: Path, tmp_path: Path, rng: random.Random, rounds: Rounds):
    bad = []
    for number in rounds(30, 2000):
        shutil.rmtree(tmp_path / "w", ignore_errors=True)
        shutil.copytree(finished, tmp_path / "w")
        what = mutated(tmp_path / "w", rng)
        same = content(tmp_path / "w") == content(finished)
        verified = call("verify", "w", "--json", cwd=tmp_path, env=FAKE)
        ended = call(*rng.choice(VERBS), cwd=tmp_path, env=FAKE)
        accepted = not same and not verified.problem and silent(verified)
        bad += [f"{number}, {what}: {each}" for each in (verified, ended) if each.problem]
        bad += [f"{number}, {what}: accepted\n{verified}"] * accepted
    assert bad == []
