# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Random command lines: each ends quickly, with a documented exit code, and without a traceback."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import click
from call_server import Calls
from fault_rounds import Rounds

from hockney.cli import verbs

VALUES = (
    "", "0", "1", "2", "-1", "3.5", "1e308", "1e400", "nan", "inf", "-0", "1s", "0.2s", "10ms", "1h", "5%",
    "200%", "1KiB", "1:64", "64:1", "1,2,4", "1,,2", "0x10", "١", "9" * 400, "true", "null", "[]", "{}",
    "=", "==", "a=b", "a=", "--", "-", "--nosuch", "-x", "pingpong", "pingpong bytes=8",
    "pingpong bytes=0:64", "pingpong ranks=3", "pingpong bytes=x", "allreduce bytes=8,16", "barrier",
    "barrier ranks=2,4", "granularity", "barriers", "survey", "nosuch", "bytes=8", "ranks=2", "work=1ms",
    "typical", "undisturbed", "openmpi", "mpich", "fake", "fake:pace=0s", "fake:die=pingpong",
    "fake:corrupt=pingpong", "fake:nosuch=1", "sim:nosuch", "sim:", "lan:x", "published:nosuch", "r", "r/",
    "r/plan.txt", "r/records.jsonl", ".", "..", "/", "/dev/null", "/dev/full", "/dev/zero", "/nosuch/x",
    "new", "new/deep/er", "r/new", "\x9b31m", "\u202e", "\u2028", "\t", " ", "*", "$(touch pwned)", "`id`",
    "; id", "'", '"', "\\", "%s", "{0}", "<script>", "é" * 300, "a" * 5000, "\ud83d", "times.csv",
    "page.html", "=1+1",
)  # fmt: skip
COMPILE = "simgrid", "library", "force"
SLOW = {
    "doctor": ["--no-noise"],
    "survey": ["--budget", "1s"],
    "build": ["--mpi", "nosuch"],
    "reproduce": ["nosuch"],
}
"""Options that keep a verb from measuring, compiling or simulating for long; they come last, and so take
precedence."""


def command_line(rng: random.Random) -> list[str]:
    verb = rng.choice(list(verbs.VERBS))
    words = [verb]
    for parameter in verbs.load(verb).params:
        if rng.random() < (0.6 if isinstance(parameter, click.Argument) else 0.25):
            words += use_of(parameter, rng)
    if rng.random() < 0.15:
        words.insert(rng.randrange(len(words) + 1), rng.choice(VALUES))
    return words + SLOW.get(verb, [])


def use_of(parameter: click.Parameter, rng: random.Random) -> list[str]:
    if isinstance(parameter, click.Argument):
        usual = ["r"] if parameter.name == "run" else []
        return usual if usual and rng.random() < 0.7 else [rng.choice(VALUES)]
    assert isinstance(parameter, click.Option)
    if parameter.name in COMPILE:
        return []
    name = rng.choice([*parameter.opts, *parameter.secondary_opts])
    return [name] if parameter.is_flag else [name, rng.choice(VALUES)]


def test_random_command_lines(
    call: Calls, finished: Path, tmp_path: Path, rng: random.Random, rounds: Rounds
):
    bad = []
    for number in rounds(30, 2000):
        words = [word.replace("\0", "").encode("utf-8", "replace").decode() for word in command_line(rng)]
        shutil.rmtree(tmp_path / "w", ignore_errors=True)
        (tmp_path / "w").mkdir()
        shutil.copytree(finished, tmp_path / "w" / "r")
        ended = call(*words, cwd=tmp_path / "w", env={"HOCKNEY_MACHINE": "fake"})
        if ended.problem or list(tmp_path.rglob("pwned")):
            bad.append(f"{number}: {ended}")
    assert bad == []
