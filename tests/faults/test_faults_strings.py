# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Hostile strings in every place of a run that contains text, by an attacker who recomputes the checksums: no
verb prints them raw, interprets or executes them."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path
from typing import Any

from call_server import Calls
from fault_rounds import FAKE, Rounds
from resealed import reseal
from test_faults_mutations import VERBS

HOSTILE = (
    "\x9b31mred", "\x1b]0;title\x07", "\u202egpj.exe", "\u2066\u2069", "\u2028", "\u0085", "\ufeff", "\x00",
    "\x7f", "</script><script>alert(1)</script>", "<img src=x onerror=alert(1)>", "javascript:alert(1)",
    "&lt;", "]]>", "-->", "=HYPERLINK(1)", "+1", "-1", "@SUM(A1)", "$(touch pwned)", "`touch pwned`",
    "; touch pwned", "|touch pwned", "../../pwned", "/etc/passwd", "%n%s", "{0}", "\\", '"', "'", "\n",
    "\r\n", "\t", "a" * 3000, "[bold]x[/bold]",
)  # fmt: skip
CHECKED = "case", "kind", "launch", "reason", "over_ranks", "per", "origin", "schema"
"""Fields whose values are keywords of the format: another value is damage."""


def with_hostile(value: Any, rng: random.Random, share: float) -> Any:
    """A share of the strings in `value` made hostile."""
    if isinstance(value, str):
        return rng.choice(HOSTILE) + value * rng.randrange(2) if rng.random() < share else value
    if isinstance(value, list):
        return [with_hostile(item, rng, share) for item in value]
    if isinstance(value, dict):
        return {
            key: item if key in CHECKED and rng.random() < 0.9 else with_hostile(item, rng, share)
            for key, item in value.items()
        }
    return value


def made_hostile(run: Path, rng: random.Random) -> None:
    for name in ("machine.json", "catalog.json"):
        path = run / name
        share = 0.5 if name == "machine.json" else 0.02
        path.write_text(json.dumps(with_hostile(json.loads(path.read_text()), rng, share)))
    records = run / "records.jsonl"
    lines = [
        json.dumps(with_hostile(json.loads(line), rng, 0.1)) for line in records.read_text().splitlines()
    ]
    records.write_text("".join(line + "\n" for line in lines))
    plan = run / "plan.txt"
    plan.write_text(
        plan.read_text().replace("study = ", f"label = {json.dumps(rng.choice(HOSTILE))}\nstudy = ", 1)
    )
    reseal(run)


def test_hostile_strings(call: Calls, finished: Path, tmp_path: Path, rng: random.Random, rounds: Rounds):
    bad = []
    for number in rounds(12, 300):
        shutil.rmtree(tmp_path / "w", ignore_errors=True)
        shutil.copytree(finished, tmp_path / "w")
        made_hostile(tmp_path / "w", rng)
        words = [*rng.choice([*VERBS, ("verify", "w")])]
        if words[0] not in ("export", "report") and rng.random() < 0.5:
            words.append("--json")
        ended = call(*words, cwd=tmp_path, env=FAKE)
        if ended.problem or list(tmp_path.rglob("*pwned*")):
            bad.append(f"{number}: {ended}")
    assert bad == []
