# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Bad input, end to end: one line on stderr in the common grammar, the right exit code, nothing on stdout."""

import errno
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import one_error
from resealed import reseal

ODD_WORDS = [
    "survey --budget 1e999",
    "survey --budget ''",
    "survey --precision 200%",
    "survey --precision nan",
    "survey --launches ٣",
    f"survey --launches {'9' * 30}",
    f"survey --seed {'9' * 40}",
    "survey --sizes 1PiB",
    "survey --sizes 8:4",
    "survey --sizes ,",
    "survey --sizes 1e999999999",
    "survey --ranks 9999999",
    f"survey --ranks {'1' * 12}",
    "survey --machine fake:dye=x",
    "survey --out /dev/null/x",
    "survey --out 'a\0b'",
    "survey --json=yes",
    "survey extra",
    "run -q",
    "run -q ''",
    "run -q 'pingpong bytes'",
    "run -q pingpong ranks=99999999999",
    "run -q '\x1b[31m'",
    "models /etc",
    "report /dev/null",
    f"models {'x' * 5000}",
    "models 'a\0b'",
    "plan nothing",
    "run barriers --sizes 8",
]
MISTAKES = [
    ("barrier --best --ranks two", "not-a-count"),
    ("doctor --noise 0s", "budget-not-positive"),
    ("machines --export t3e --show t3e", "show-with-export"),
    ("machines --out x", "out-without-export"),
    (f"machines --export {'a' * 5000}", "unknown-published-machine"),
    ("machines --show t3f", "unknown-machine-to-show", "t3e"),
    ("machines --show granularty", "unknown-machine-to-show", "granularity"),
    ("machines --show t3e+ful-dupleks", "unknown-variant", "full-duplex"),
    ("machines --export paragn", "unknown-published-machine", "paragon"),
    ("models runs/none", "no-run-folder"),
    ("predict", "algorithm-incomplete"),
    ("predict --work 1s", "algorithm-incomplete"),
    ("predict --work 0 --message 8", "impossible-algorithm"),
    ("predict --work -1s --message 8", "negative-quantity"),
    ("predict --work 1s --message 8 --serial 101%", "fraction-out-of-range"),
    ("predict --work 1s --message 8 --serial 1", "nothing-parallel"),
    ("predict --work 1s --message 8 --imbalance 0.9", "number-out-of-range"),
    ("predict --work 1s --message 8 --exchanges nan", "number-out-of-range"),
    ("predict --work 1s --message -8", "negative-quantity"),
    ("predict --work 1s --message 8 --ranks 0", "not-a-count"),
    ("predict --work 1s --message 8 --network swich", "unknown-network-assumption", "switch"),
    ("predict --work 1s --message 8 --machine t3f", "unknown-simulated-machine", "t3e"),
    ("predict --work 1s --message 8 --machine t3e --run x", "run-with-machine"),
    ("predict --work 1s --message 8 --machine no.toml", "no-machine-file"),
    ("predict --work 1s --message 8 --rank 2", "unknown-option", "--ranks"),
    ("predict --work 1s --message 8 --machine sun-ethernet --cost undisturbed", "cost-with-machine"),
    ("predict --work 1s --message 8 --cost typcal", "unknown-cost", "typical"),
    ("predict --halo 8kB --machine t3e", "algorithm-incomplete"),
    ("predict --work 1s --halo 8kB --message 8kB --machine t3e", "option-without-effect"),
    ("predict --work 1s --allreduce 8B*x --machine t3e", "bad-allreduce"),
    ("predict absent.toml --machine t3e", "no-machine-file"),
    ("run barrier --every 1m", "every-without-rounds"),
    ("survey --repeat 3 --through 1h", "repeat-with-through"),
    ("plan --repeat 3 --launches 3", "launches-with-rounds"),
    ("run barrier --repeat 3 --every 30s", "round-longer-than-interval"),
    ("run barrier --through 30s", "through-shorter-than-round"),
    ("run barrier --through 8h --budget 1s", "too-many-rounds"),
    ("run barrier --repeat 0", "integer-out-of-range"),
    ("run barrier --every 0 --repeat 2", "interval-not-positive"),
    ("run barrier --repeat 3 --machine sim:sun-ethernet", "repeat-when-noiseless"),
    ("run barrier --through 1h --machine sim:sun-ethernet", "through-when-simulated"),
    ("run barrier --launcher aprun", "unknown-starter"),
    ('run barrier --mpiexec-args "\'"', "mpiexec-args-not-words"),
    ("run barrier --mpiexec-args '--mca btl self'", "no-mpiexec-on-machine"),
    ("run barrier -x UCX_TLS", "not-a-variable"),
    ("run barrier -x UCX_TLS=tcp --machine sim:t3e", "no-mpiexec-on-machine"),
    ("run barrier --hosts n1,n2 --machine sim:t3e", "no-hosts-on-machine"),
    ("plan barrier --agent ssh --machine sim:t3e", "no-hosts-on-machine"),
    (f"survey --label {'x' * 101}", "label-not-usable"),
    ("run 'pingpong setting=eager64k'", "unknown-launch-setting"),
    ("run pingpong --setting 'a B=1'", "launch-setting-not-used"),
    ("run 'pingpong setting=a' --setting 'a 1'", "not-a-launch-setting"),
    ("run granularity work=0", "value-out-of-range"),
    ("run granularity work=1ms:1us", "not-a-range"),
    ("run granularity work=1kB", "unknown-unit"),
    ("run granularity serial=101%", "fraction-out-of-range"),
    ("run granularity --force", "force-without-survey"),
    ("run granularity survey=x shares=equal", "unknown-parameter"),
    ("run granularity work=1ms barrier", "study-takes-no-cases"),
    ("run granularity survey=", "empty-value"),
    ("run granularity survey=runs/none", "no-run-folder"),
    ("run barriers iterations=0", "value-out-of-range"),
    ("run barriers iterations=5 iterations=6", "study-parameter-given-twice"),
    ("run collectives operations=broadcast", "unknown-collective"),
    ("run collectives operations=barier", "unknown-collective", ""),
    ("run collectives algorithms=bogus", "unknown-algorithm"),
    ("run pairs pairs=1,3", "too-many-pairs"),
    ("run pairs pairs=1 --ranks 5", "odd-ranks"),
    ("run pairs place=rack", "unknown-value"),
    ("run guidelines --ranks 1", "guidelines-need-two-ranks"),
    ("run 'scan bytes=8' --format osu", "no-osu-benchmark"),
    ("run survey --format osu", "format-of-study"),
    ("run pingpong --format osu --columns min", "columns-with-osu"),
    ("run pingpong --full", "full-without-osu"),
    ("run pingpong --format plain --columns interval", "column-without-number"),
    ("run pingpong --columns min,p98", "unknown-column", "p99"),
    ("run --like osu_allgaterv", "unknown-benchmark", "osu_allgatherv"),
    ("run --like osu_xccl_bw", "no-equivalent"),
    ("plan --like osu_bw pingpong", "like-with-cases"),
    ("run --like osu_bw color=red", "unknown-parameter"),
    ("run --like osu_bw window=1 window=2", "parameter-given-twice"),
    ("run osu_latency", "name-of-another-benchmark"),
    ("plan imb_pingpong", "name-of-another-benchmark"),
    ("run osu_latencies", "unknown-study-or-workload"),
    ("run 'pingpong place=cache' --machine fake:nodes=2", "no-such-level"),
    ("run 'bcast bytes=8 ranks=6 nodes=3' --machine fake:nodes=2", "ranks-not-on-nodes"),
    ("run bcast root=0,2", "value-out-of-range"),
    ("plan pingpong bytes=1TiB", "message-exceeds-memory"),
    ("run pingpong bytes=8 --budget 5ms", "budget-far-too-small"),
    ("surve", "unknown-command", "survey"),
    ("collectives", "study-as-command", "run collectives"),
    ("barriers --ranks 4", "study-as-command", "run barriers"),
    ("pingpong", "study-as-command", "run pingpong"),
    ("survey --bugdet 3s", "unknown-option", "--budget"),
    ("run surwey", "unknown-study-or-workload", "survey"),
    ("run pingpnog", "unknown-study-or-workload", "pingpong"),
    ("run pingpong byts=3", "unknown-parameter", "bytes"),
    ("run barrier sync=windows", "unknown-value", "window"),
    ("run nothere", "unknown-study-or-workload", ""),
    ("run stagger", "unknown-study-or-workload", "barrier_staggered"),
    ("export --out times.csv", "unknown-option", ""),
    ("survey --budget 60 minutes", "time-in-two-words"),
    ("doctor --noise 60 minutes", "time-in-two-words"),
    ("tune --out t --budget 5s", "budget-without-check"),
    ("tune --out t --library x", "library-without-check"),
    ("compare a b --budget 5s", "option-only-interleaved"),
    ("survey --tolerance 5%", "option-needs-check"),
    ("run barrier --junit junit.xml", "option-needs-check"),
    ("run barrier --partition fast", "job-option-without-submit"),
    ("run barrier --wait", "job-option-without-submit"),
    ("import", "no-log-files"),
]
"""Command line, code of the error, and the name that is suggested, "" if none must be."""


@pytest.mark.parametrize("line", ODD_WORDS, ids=lambda line: repr(line)[:40])
def test_odd_words_are_one_error(hockney, line):
    one_error(hockney(*shlex.split(line)), 2, 3)
    assert not Path("runs").exists(), "nothing is written for a question that cannot be asked"


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake[0][:60])
def test_a_mistake_is_named(hockney, tmp_path, mistake):
    line, code, *suggestion = mistake
    done = hockney(*shlex.split(line))
    one_error(done, 2)
    assert done.error.code == code and list(tmp_path.iterdir()) == []
    assert suggestion in ([], [done.error.suggestion])


def test_a_missing_option_is_named_as_it_is_typed(hockney):
    error = hockney("tune").error
    assert (error.code, error.fields["argument"]) == ("missing-argument", "--out FOLDER")


def test_errors_as_json(hockney):
    done = hockney("run", "pingpnog", "--json")
    problem = json.loads(done.err)["error"]
    assert problem.keys() == {"code", "what", "why", "remedy", "exit"} and done.out == ""
    assert (problem["code"], problem["exit"]) == (done.error.code, done.code)
    assert hockney("run", "pingpong", "--format", "osu", "--json").error.code == "format-with-json"


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
    verified = json.loads(hockney("verify", "--json").out)["findings"]
    assert ("payload-wrong", "bad") in {(each["code"], each["verdict"]) for each in verified}


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
