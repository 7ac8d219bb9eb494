# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Bad input, end to end: one line on stderr in the common grammar, the right exit code, nothing on stdout."""

import errno
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import one_error
from resealed import reseal

SURVEY = [
    ("--budget", "-3"),
    ("--budget", "0"),
    ("--budget", "x"),
    ("--budget", "1e999"),
    ("--budget", "999999h"),
    ("--budget", ""),
    ("--precision", "0"),
    ("--precision", "200%"),
    ("--precision", "-1%"),
    ("--precision", "nan"),
    ("--launches", "0"),
    ("--launches", "-1"),
    ("--launches", "1.5"),
    ("--launches", "9" * 30),
    ("--launches", "٣"),
    ("--seed", "-1"),
    ("--seed", "x"),
    ("--seed", "9" * 40),
    ("--sizes", "-1"),
    ("--sizes", "4QB"),
    ("--sizes", "1PiB"),
    ("--sizes", "8:4"),
    ("--sizes", "1:2:3"),
    ("--sizes", ","),
    ("--sizes", "1e999999999"),
    ("--sizes", "0.3"),
    ("--ranks", "0"),
    ("--ranks", "-2"),
    ("--ranks", "two"),
    ("--ranks", "9999999"),
    ("--ranks", "1" * 12),
    ("--machine", "moon"),
    ("--machine", "fake:dye=x"),
    ("--out", "/dev/null/x"),
    ("--out", "/dev/null"),
    ("--out", "a\x00b"),
    ("--bugdet", "3"),
    ("extra",),
    ("--out",),
    ("--json=yes",),
]
RUN = [
    (),
    ("surwey",),
    ("pingpnog",),
    ("pingpong", "byts=1"),
    ("pingpong", "bytes=-1"),
    ("pingpong", "bytes=x"),
    ("bytes=8",),
    ("pingpong", "ranks=3"),
    ("pingpong", "bytes=1", "bytes=2"),
    ("barrier", "root=0"),
    ("barrier", "sync=never"),
    ("",),
    ("survey", "barrier"),
    ("pingpong bytes",),
    ("\x1b[31m",),
    ("-5",),
    ("pingpong", "ranks=99999999999"),
    ("cases",),
]
OTHERS = [
    (),
    ("surve",),
    ("--wat",),
    ("models",),
    ("models", "runs/none"),
    ("models", "/etc"),
    ("report", "/dev/null"),
    ("resume", "runs/none"),
    ("export", "runs/none", "--csv", "-"),
    ("plan", "nothing"),
    ("plan", "--ranks", "x"),
    ("models", "x" * 5000),
    ("models", "a\x00b"),
    ("export",),
    ("machines", "--nope"),
    ("doctor", "x"),
    ("build", "x"),
]


def failure(hockney, *words: str) -> dict[str, str]:
    done = hockney(*words, "--json")
    assert done.code == 2 and done.out == ""
    return json.loads(done.err.splitlines()[-1])["error"]


def test_an_option_without_its_value_names_the_help_of_its_verb(hockney):
    done = hockney("report", "--figures")
    assert "'hockney report --help'" in one_error(done, 2)


@pytest.mark.parametrize("words", [("survey",), ("run", "pingpong"), ("doctor",)], ids=repr)
def test_a_time_in_two_words_is_recognised(hockney, words):
    option = "--noise" if words == ("doctor",) else "--budget"
    found = failure(hockney, *words, option, "60", "minutes")
    assert found["code"] == "time-in-two-words" and found["remedy"].endswith(f"{option} 60m")


@pytest.mark.parametrize("words", SURVEY, ids=repr)
def test_bad_survey_options(hockney, words):
    one_error(hockney("survey", "-q", *words), 2, 3)
    assert not Path("runs").exists(), "nothing is laid out for a question that cannot be asked"


@pytest.mark.parametrize("words", RUN, ids=repr)
def test_bad_cases(hockney, words):
    one_error(hockney("run", "-q", *words), 2)


@pytest.mark.parametrize("words", OTHERS[1:], ids=lambda w: repr(w)[:40])
def test_other_bad_words(hockney, words):
    one_error(hockney(*words), 2)


@pytest.mark.parametrize(
    ("words", "code", "suggestion"),
    [
        (("surve",), "unknown-command", "survey"),
        (("collectives",), "study-as-command", "run collectives"),
        (("barriers", "--ranks", "4"), "study-as-command", "run barriers"),
        (("pingpong",), "study-as-command", "run pingpong"),
        (("survey", "--bugdet", "3s"), "unknown-option", "--budget"),
        (("run", "surwey"), "unknown-study-or-workload", "survey"),
        (("run", "pingpnog"), "unknown-study-or-workload", "pingpong"),
        (("run", "pingpong", "byts=3"), "unknown-parameter", "bytes"),
        (("run", "barrier", "sync=windows"), "unknown-value", "window"),
        (("run", "collectives", "operations=barier"), "unknown-collective", ""),
        (("run", "nothere"), "unknown-study-or-workload", ""),
        (("run", "stagger"), "unknown-study-or-workload", "barrier_staggered"),
        (("export", "--out", "times.csv"), "unknown-option", ""),
        (("barrier", "--run", "runs/b"), "unknown-option", ""),
    ],
)
def test_the_closest_name_is_suggested(hockney, words, code, suggestion):
    done = hockney(*words)
    one_error(done, 2)
    assert (done.error.code, done.error.suggestion) == (code, suggestion)


def test_a_missing_option_is_named_as_it_is_typed(hockney):
    error = hockney("tune").error
    assert (error.code, error.fields["argument"]) == ("missing-argument", "--out FOLDER")


def test_where_no_name_is_close_the_possible_ones_are_named(hockney):
    export = hockney("export", "--out", "times.csv").error.remedy
    assert {"--csv", "--parquet", "--what"} <= set(re.findall(r"--[a-z]+", export))
    assert "hockney barrier RUN" in hockney("barrier", "--run", "runs/b").error.remedy
    assert "hockney run --list" in hockney("run", "nothere").error.remedy
    assert "hockney run barriers" in hockney("run", "collectives", "operations=barier").error.remedy
    assert "hockney survey --help" in hockney("survey", "--zzz").error.remedy, "its options are too many"


@pytest.mark.parametrize("words", [("bcast root=2",), ("bcast", "root=9"), ("bcast", "root=0,2")])
def test_a_root_that_is_no_rank_is_refused(hockney, words):
    done = hockney("run", *words)
    one_error(done, 2)
    assert done.error.code == "value-out-of-range" and "0 to 1" in str(done.error)
    assert hockney("run", "bcast root=1", "-q", "--out", "r").code == 0


def test_errors_as_json(hockney):
    done = hockney("run", "pingpnog", "--json")
    problem = json.loads(done.err)["error"]
    assert problem.keys() == {"code", "what", "why", "remedy", "exit"} and done.out == ""
    assert (problem["code"], problem["exit"]) == (done.error.code, done.code)


def test_the_option_at_fault_is_named(hockney):
    assert "--budget" in one_error(hockney("survey", "--budget", "soon"), 2)
    assert "--sizes" in one_error(hockney("plan", "--sizes", "big"), 2)


def test_a_run_of_a_newer_schema(hockney, mine):
    records = Path(mine, "records.jsonl")
    line = json.loads(records.read_text().splitlines()[0])
    records.write_text(json.dumps(line | {"schema": 99}) + "\n")
    for verb in (("models",), ("report",), ("resume",), ("export", "--csv", "-")):
        assert "schema 99" in one_error(hockney(verb[0], mine, *verb[1:]), 3)


def test_damaged_runs(hockney, mine):
    whole = {name: Path(mine, name).read_bytes() for name in ("records.jsonl", "plan.txt", "machine.json")}
    for name, content in whole.items():
        for damage in (b"{}\n" + content, b"\xff\x00" + content):
            Path(mine, name).write_bytes(damage)
            assert name in one_error(hockney("resume", mine), 3)
            if name != "plan.txt":  # which models does not read
                assert name in one_error(hockney("models", mine), 3)
        Path(mine, name).write_bytes(content)
    assert hockney("models", mine).code == 0


def test_machines_does_not_answer_for_an_mpi_that_is_none(hockney, monkeypatch):
    monkeypatch.delenv("HOCKNEY_MACHINE")
    said = hockney("machines", "--mpi", "opnmpi")
    assert one_error(said, 2) and said.error.suggestion == "openmpi"


def test_a_run_that_cannot_be_written_names_a_way_out_that_every_verb_has(hockney, mine, monkeypatch):
    def refuse(*args, **kwargs):
        raise OSError(errno.EROFS, "Read-only file system")

    Path(mine, "fits.json").unlink()  # would not be written again
    monkeypatch.setattr("hockney.system.files.tempfile.mkstemp", refuse)
    assert mine in one_error(hockney("report", mine), 3)


def test_a_full_disk(hockney, mine):
    done = hockney("export", mine, "--csv", "/dev/full")
    assert one_error(done, 3) and done.error.code == "cannot-write-file"
    assert Path("/dev/full").is_char_device()


def test_wrong_payload_is_an_answer_no(hockney):
    done = hockney("run", "barrier", "pingpong", "--machine", "fake:corrupt=pingpong", "-q", "--json")
    caveats = {caveat["code"]: caveat for caveat in json.loads(done.out)["doubts"]}
    assert done.code == 1 and "9" in caveats["verification"]["text"]


def test_a_case_without_result_is_inconclusive(hockney):
    done = hockney("run", "barrier", "pingpong", "--machine", "fake:die=pingpong", "--out", "r")
    assert done.code == 4 and "hockney resume r" in done.out and "pingpong" in done.err
    assert hockney("resume", "r", "--machine", "fake", "-q").code == 0


@pytest.mark.page
def test_hostile_names_reach_no_terminal(hockney, mine):
    evil = "\x1b]0;evil\x07<script>alert(1)</script>\u202e"
    for name in ("records.jsonl", "machine.json"):
        path = Path(mine, name)
        path.write_text(path.read_text().replace("fakehost", json.dumps(evil)[1:-1]))
    reseal(Path(mine))
    for words in (
        ("models", mine),
        ("report", mine),
        ("resume", mine),
        ("export", mine, "--what", "summaries", "--csv", "-"),
    ):
        said = hockney(*words)
        assert said.code == 0, said.err
        assert "\x1b" not in said.out + said.err and "\u202e" not in said.out + said.err
    assert "<script>alert(1)" not in Path(mine, "report.html").read_text()


def test_our_own_faults_leave_a_log_and_no_traceback(hockney, mine, monkeypatch):
    from hockney import models

    def broken(*args, **kwargs):
        raise ZeroDivisionError("a\nb")

    monkeypatch.setattr(models, "fit_all", broken)
    Path(mine, "fits.json").unlink()
    done = hockney("models", mine)
    one_error(done, 3)
    assert done.error.code == "bug"
    log = Path(done.error.fields["log"])
    assert "ZeroDivisionError" in log.read_text()
    os.unlink(log)


def test_names_that_no_encoding_has(hockney, tmp_path):
    """A path need not be valid text, and a terminal need not support every character."""
    strange = os.fsdecode(b"r\xff")
    assert hockney("run", "barrier", "--out", strange, "-q", "--json").code == 0
    assert json.loads(hockney("report", strange, "--json").out)["files"] == ["r\\udcff/report.html"]
    program = "from hockney.cli import main; main()"
    words = [sys.executable, "-c", program, "run", "barrier", "--machine", "fake", "--out", "\u65e5", "-q"]
    environ = os.environ | {"PYTHONIOENCODING": "latin-1", "PYTHONUTF8": "1"}
    done = subprocess.run(words, cwd=tmp_path, env=environ, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"") and b"\\u65e5/report.html" in done.stdout


@pytest.mark.parametrize(
    ("words", "option", "verb"),
    [
        (("--json", "survey"), "--json", "survey"),
        (("-q", "models", "runs/mine"), "-q", "models"),
        (("--budget", "5s", "run", "pingpong"), "--budget", "run"),
        (("--work=1ms", "predict"), "--work", "predict"),
        (("--json",), "--json", "survey"),
    ],
)
def test_options_before_the_verb_are_pointed_behind_it(hockney, words, option, verb):
    error = hockney(*words).error
    assert error.code == "option-before-verb" and error.exit_code == 2
    assert (error.fields["option"], error.fields["verb"]) == (option, verb)


def test_options_that_the_verb_lacks_are_unknown_before_it_as_well(hockney):
    assert hockney("--best", "survey").error.code == "unknown-option"
    assert hockney("--versoin", "survey").error.fields["suggestion"] == "--version"


@pytest.mark.parametrize(
    ("words", "example"),
    [
        (("predict", "--work", "-5us", "--message", "8"), "10ms or 1h"),
        (("predict", "--work", "soon", "--message", "8"), "10ms or 1h"),
        (("survey", "--budget", "-5us"), "60s or 2m"),
        (("survey", "--every", "-1m"), "1m or 8h"),
    ],
)
def test_examples_in_errors_of_times_are_the_options(hockney, words, example):
    assert hockney(*words).error.fields["example"] == example


@pytest.mark.parametrize("words", [("run", "pingpong", "bytes=8,1TiB"), ("plan", "pingpong", "bytes=1TiB")])
def test_a_message_larger_than_memory_is_refused_before_anything_starts(hockney, words):
    said = hockney(*words)
    assert (said.code, said.error.code) == (2, "message-exceeds-memory")
    assert said.error.fields["bytes"] == 1 << 40 and str(1 << 40) not in said.err
    assert not Path("runs").exists()
