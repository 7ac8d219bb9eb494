# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Closed streams, no home folder, endless files, and programs that a run of somebody else names."""

from __future__ import annotations

import json
import os
import pwd
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from command_line import one_error
from resealed import reseal
from tiers import slow

from hockney.api import export
from hockney.api.tables import Rows
from hockney.api.trusted_settings import mark_programs, refuse_foreign
from hockney.cli import start
from hockney.cli.output.tables import print_json
from hockney.core.errors import UsageError
from hockney.core.settings import Settings

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
    start.complete_environment()
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


@pytest.fixture
def gift(mine, tmp_path, monkeypatch) -> Path:
    """An unfinished run in gift, with its own MPI whose programs leave a file."""
    folder = tmp_path / "gift"
    shutil.copytree(mine, folder)
    records = folder / "records.jsonl"
    records.write_text("".join(records.read_text().splitlines(keepends=True)[:-2]))
    for name in ("mpicxx", "mpiexec"):
        program = folder / "bin" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text(f"#!/bin/sh\ntouch {tmp_path}/pwned\nexit 1\n")
        program.chmod(0o755)
    monkeypatch.delenv("HOCKNEY_MACHINE")
    monkeypatch.setenv("HOCKNEY_CACHE", str(tmp_path / "cache"))
    return folder


def names(folder: Path, **settings) -> None:
    """Gives the plan these settings; its machine is not one that hockney simulates."""
    plan = folder / "plan.txt"
    lines = [line for line in plan.read_text().splitlines() if line.partition(" = ")[0] not in settings]
    at = next(k for k, line in enumerate(lines) if line.startswith("study = "))
    lines[at:at] = [f"{name} = {json.dumps(value)}" for name, value in settings.items()]
    plan.write_text("\n".join(lines) + "\n")
    reseal(folder)


@pytest.mark.parametrize(
    "named",
    [
        {"mpi": "gift"},
        {"mpi": "./gift/bin/mpicxx"},
        {"mpi": "{tmp}/gift"},
        {"mpiexec_args": "--launch-agent {tmp}/gift/bin/mpiexec"},
        {"variables": ["LD_PRELOAD={tmp}/gift/evil.so"]},
        {"launch_settings": ["a LD_PRELOAD={tmp}/gift/evil.so"]},
        {"hosts": ["n1", "n2"]},
        {"agent": "{tmp}/gift/evil"},
        {"mpi": "openmpi", "variables": ["LD_PRELOAD={tmp}/gift/evil.so"], "mark": "0" * 64},
    ],
)
def test_what_a_plan_names_is_not_started(hockney, gift, tmp_path, named):
    text = json.dumps(named).replace("{tmp}", str(tmp_path))
    names(gift, machine="", **json.loads(text))
    said = hockney("resume", "gift", "--budget", "1s")
    one_error(said, 2)
    assert said.error.code == "programs-of-a-folder"
    assert not (tmp_path / "pwned").exists()


def test_an_error_names_every_option_that_would_be_needed(hockney, gift, tmp_path):
    names(gift, machine="", mpi=str(gift), mpiexec_args="--quiet", variables=["A=1", "B=2"])
    said = hockney("resume", "gift", "--mpi", "openmpi", "--budget", "1s")
    assert said.error.fields["options"] == ["--mpiexec-args", "-x"], "the MPI was typed"
    assert all(word in said.error.remedy for word in ("--quiet", "A=1", "B=2"))


def test_what_the_user_typed_is_used_again(hockney, tmp_path, monkeypatch):
    """Also from a copy of the run; not by another user, nor after it was edited."""
    monkeypatch.setenv("HOCKNEY_CACHE", str(tmp_path / "cache"))
    typed = Settings("cases", mpi="/opt/mpi", mpiexec_args="--quiet", variables=("A=1",), hosts=("n1", "n2"))
    typed = mark_programs(replace(typed, agent="ssh -p 2222"))
    assert typed.mark
    refuse_foreign(typed, Path("r"), [])

    for edited in (
        replace(typed, mpi="/opt/other"),
        replace(typed, variables=("A=2",)),
        replace(typed, hosts=("n1", "n3")),
        replace(typed, agent="ssh"),
        replace(typed, mark=""),
    ):
        with pytest.raises(UsageError):
            refuse_foreign(edited, Path("r"), [])
    monkeypatch.setenv("HOCKNEY_CACHE", str(tmp_path / "another-user"))
    with pytest.raises(UsageError):
        refuse_foreign(typed, Path("r"), [])
    assert mark_programs(Settings("cases", mpi="openmpi")).mark == "", "a name is no program"
    monkeypatch.setenv("HOCKNEY_MPI", "/opt/mpi")
    refuse_foreign(Settings("cases", mpi="/opt/mpi"), Path("r"), [])
