# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Closed streams, no home folder, endless files, text that another program would interpret."""

from __future__ import annotations

import json
import os
import pwd
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import one_error
from tiers import slow

from hockney.api import export
from hockney.api.tables import Rows
from hockney.cli import start
from hockney.cli.output.tables import print_json

MAIN = [sys.executable, "-c", "from hockney.cli import main; main()"]
SMALL = ("run", "pingpong bytes=0:64", "--launches", "2", "--seed", "1", "--out")


def started(words, folder: Path, redirections: str = "", **environment) -> subprocess.CompletedProcess:
    base = {k: v for k, v in os.environ.items() if k != "HOME"} | {"HOCKNEY_MACHINE": "fake"}
    shell = ["sh", "-c", f'exec "$@" {redirections}', "sh"]
    return subprocess.run(
        [*shell, *MAIN, *words], cwd=folder, env=base | environment, capture_output=True, text=True
    )


@pytest.mark.parametrize("redirections", ["<&- >&- 2>&-", *slow(">&-")])
@pytest.mark.parametrize("words", [("models",), *slow((("report",),), (("export", "--csv", "-"),))])
def test_closed_streams_are_no_bug(mine, tmp_path, words, redirections):
    verb, *options = words
    before = set(os.listdir(tmp_path / mine))
    done = started((verb, mine, *options), tmp_path, redirections)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert set(os.listdir(tmp_path / mine)) >= before
    assert not (tmp_path / mine / "records.jsonl").read_bytes().count(b"latency"), "nothing went into a file"


def test_measuring_with_closed_streams_keeps_its_files(tmp_path):
    done = started((*SMALL, "r"), tmp_path, "<&- >&- 2>&-")
    assert done.returncode == 0
    for line in (tmp_path / "r" / "records.jsonl").read_text().splitlines():
        json.loads(line)


def test_without_a_home_folder(tmp_path):
    done = started((*SMALL, "r"), tmp_path, HOCKNEY_CACHE=str(tmp_path / "cache"))
    assert done.returncode == 0, done.stderr


def test_without_a_home_folder_and_without_an_entry_for_the_user(monkeypatch):
    """As in a container that runs under an arbitrary user number."""

    def nobody(number: int):
        raise KeyError(number)

    monkeypatch.setattr(pwd, "getpwuid", nobody)
    monkeypatch.delenv("HOME")
    start.complete_surroundings()
    assert Path(os.environ["HOME"]).is_dir()
    monkeypatch.delenv("HOME")


@pytest.mark.parametrize(
    ("name", "kind"),
    [("plan.txt", "pipe"), ("machine.json", "device"), ("records.jsonl", "pipe"), ("catalog.json", "device")],
)
def test_files_that_never_end_are_refused(hockney, mine, name, kind):
    path = Path(mine, name)
    path.unlink()
    if kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/zero")
    for verb in ("report", "models"):
        said = hockney(verb, mine)
        assert said.code in (2, 3) and name in one_error(said, said.code)


def test_a_machine_file_that_never_ends_is_refused(hockney, tmp_path):
    os.mkfifo(tmp_path / "machine.toml")
    said = hockney("plan", "barrier", "--machine", "sim:machine.toml")
    assert said.code in (2, 3) and "machine.toml" in one_error(said, said.code)


@pytest.mark.parametrize(
    "text",
    ["\x9b31m", "\u202eabc", "\u2066", "\u2028", "\U000e0001", "é ü 日本", "\x1b[0m\n", "\x7f", "\x00\x08"],
)
def test_a_document_has_no_character_that_a_terminal_obeys(capsys, text):
    print_json({"text": text})
    out = capsys.readouterr().out
    assert json.loads(out) == {"text": text}
    assert all(c.isprintable() or c == "\n" for c in out)
    assert not text.isprintable() or text in out


def test_no_cell_of_a_table_is_a_formula(tmp_path):
    cells = ["=HYPERLINK(1)", "+1", "-cmd|A1", "@SUM(1)", "\tx", "plain", "3:1", -5, 1.5, None]
    table = Rows.of({"launch": cells})
    export.save_csv(table, str(tmp_path / "t.csv"))
    lines = (tmp_path / "t.csv").read_text().split("\n")
    assert lines[1:-1] == [
        "'=HYPERLINK(1)", "'+1", "'-cmd|A1", "'@SUM(1)", "'\tx", "plain", "3:1", "-5", "1.5", '""',
    ]  # fmt: skip
