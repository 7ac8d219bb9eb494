# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The output of the verbs: data on stdout, diagnostics on stderr, files where requested."""

import csv
import io
import json
import shutil
import statistics
from pathlib import Path

import click
import pytest

from hockney.cli.actions import export
from hockney.cli.actions.export import many_rows_notice
from hockney.cli.verbs import VERBS, load
from hockney.launch.fake_world import World
from hockney.store.record_reader import last_line_dropped


@pytest.mark.page
def test_a_survey_says_its_answer_and_leaves_a_run(hockney, golden):
    said = hockney("survey", "--ranks", "2", "--out", "r", "--seed", "3")
    assert said.code == 0 and said.err
    golden("survey.txt", said.out)
    assert {p.name for p in Path("r").iterdir()} == {
        "plan.txt", "machine.json", "catalog.json", "records.jsonl", "fits.json", "report.html",
    }  # fmt: skip
    assert 'id="figure-latency"' in Path("r/report.html").read_text()


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_can_be_quiet(verb):
    command = load(verb)
    names = command.list_commands(click.Context(command)) if isinstance(command, click.Group) else ()
    for each in [command.get_command(click.Context(command), name) for name in names] or [command]:
        assert any("-q" in option.opts and "--quiet" in option.opts for option in each.params)


def test_notes_about_the_default_run_are_suppressed_too(hockney, mine):
    shutil.copytree(mine, "runs/other")
    loud, quiet = hockney("models"), hockney("models", "-q")
    assert (quiet.out, quiet.err) == (loud.out, "") and loud.err


def test_the_default_place_is_named_after_study_and_time(hockney):
    hockney("run", "barrier", "-q")
    hockney("run", "barrier", "-q")
    names = [p.name for p in Path("runs").iterdir()]
    runs = sorted(name for name in names if name.startswith("cases-"))
    assert sorted(names) == [*runs, "latest"] and len(runs) == 2
    assert Path("runs/latest").resolve().name == max(runs, key=lambda name: (len(name), name))


def test_plan_shows_and_does_nothing(hockney, golden):
    said = hockney("plan", "bcast", "bytes=8,1KiB", "ranks=2,4", "--launches", "5", "--budget", "2m")
    golden("plan.txt", said.out)
    golden("plan_of_one_case.txt", hockney("plan", "barrier", "--ranks", "2", "--launches", "1").out)
    document = json.loads(hockney("plan", "--json").out)
    assert document["study"] == "survey" and len(document["cases"]) > 100
    lines = hockney("plan", "--cases").out.splitlines()
    assert lines == document["cases"]
    assert not Path("runs").exists()


def test_models_prints_parameters_and_json(hockney, mine, golden):
    golden("models.txt", hockney("models", mine).out)
    fits = json.loads(hockney("models", mine, "--json").out)
    latency = fits["fits"][0]["parameters"][0]["estimate"]["value"]
    assert latency == pytest.approx(World().message(0), rel=0.05)


def test_doctor_finds_the_fake_machine_good(hockney, golden):
    said = hockney("doctor")
    assert said.code == 0
    golden("doctor.txt", said.out)


def test_models_without_any_is_inconclusive(hockney):
    hockney("run", "barrier", "--machine", "fake:die=barrier", "--out", "r", "-q")
    said = hockney("models", "r")
    assert (said.code, said.error.code) == (4, "no-fits")


@pytest.mark.page
def test_report_is_made_again_and_figures_written(hockney, mine):
    Path(mine, "report.html").unlink()
    said = hockney("report", mine, "--figures", "figs")
    files = said.out.splitlines()
    assert files[0] == f"{mine}/report.html" and all(Path(f).stat().st_size > 1000 for f in files)
    assert {Path(f).suffix for f in files[1:]} == {".svg", ".png"}


def test_export_has_every_repetition(hockney, mine):
    said = hockney("export", mine, "--csv", "-")
    rows = list(csv.DictReader(io.StringIO(said.out)))
    records = [json.loads(line) for line in Path(mine, "records.jsonl").read_text().splitlines()]
    records = [r for r in records if r["kind"] == "record"]
    assert len(rows) == sum(len(r["times_s"]) for r in records)
    of_first = [row for row in rows if row["case"] == records[0]["case"] and row["launch"] == "0.0"]
    first = [float(row["time_s"]) for row in of_first]
    assert first == records[0]["times_s"]
    assert [int(row["repetition"]) for row in of_first] == list(range(len(first)))
    assert {row["bytes"] for row in rows if row["workload"] == "barrier"} == {""}
    short = hockney("export", mine, "--what", "summaries", "--csv", "s.csv")
    assert short.out == ""
    summary = list(csv.DictReader(Path("s.csv").read_text().splitlines()))
    assert len(summary) == len({r["case"] for r in records})
    case = next(row for row in summary if row["case"] == records[0]["case"])
    assert float(case["low_s"]) <= float(case["typical_s"]) <= float(case["high_s"])
    assert float(case["typical_s"]) == pytest.approx(statistics.median(first), rel=0.1)


def test_export_of_many_repetitions_names_the_summaries(hockney, mine, monkeypatch):
    assert hockney("export", mine, "--csv", "few.csv").err == ""
    monkeypatch.setattr(export, "MANY_ROWS", 10)
    many = hockney("export", mine, "--csv", "many.csv")
    rows = len(Path("many.csv").read_text().splitlines()) - 1
    assert many_rows_notice(rows).text in " ".join(many.err.split())
    assert hockney("export", mine, "--csv", "-", "-q").err == ""
    assert hockney("export", mine, "--what", "summaries", "--csv", "s.csv").err == ""


@pytest.mark.parametrize(
    ("what", "name"),
    [("repetitions", "time_s"), ("records", "median_s"), ("summaries", "typical_s"), ("parameters", "value")],
)
def test_parquet_says_the_same_as_csv(hockney, mine, what, name):
    parquet = pytest.importorskip("pyarrow.parquet")
    assert hockney("export", mine, "--what", what, "--csv", "t.csv", "--parquet", "t.parquet").code == 0
    table = parquet.read_table("t.parquet")
    rows = list(csv.DictReader(Path("t.csv").read_text().splitlines()))
    assert table.num_rows == len(rows) and table.column_names == list(rows[0])
    assert table.column(name).to_pylist() == [float(row[name]) if row[name] else None for row in rows]
    assert "null" not in {str(field.type) for field in table.schema}, "a column has a type without values"


def test_resume_of_a_whole_run_measures_nothing(hockney, mine, golden):
    before = Path(mine, "records.jsonl").read_bytes()
    said = hockney("resume", mine)
    assert said.code == 0 and Path(mine, "records.jsonl").read_bytes() == before
    golden("resume_of_a_whole_run.txt", said.err)


def dropped(run: str) -> str:
    """The notice of a truncated last line."""
    return last_line_dropped(Path(run, "records.jsonl")).text


def test_every_reader_of_a_cut_line_says_so(hockney, mine):
    records = Path(mine, "records.jsonl")
    records.write_bytes(records.read_bytes()[:-20])
    for words in (("models", mine), ("report", mine), ("export", mine, "--csv", "-")):
        said = hockney(*words)
        assert said.code == 0 and said.err.count(dropped(mine)) == 1 and dropped(mine) not in said.out, words


def test_a_second_writer_is_kept_out(hockney, mine):
    from hockney.store import RunFolder

    records = Path(mine, "records.jsonl")
    records.write_bytes(records.read_bytes()[:-100])
    with RunFolder(Path(mine)).append():
        said = hockney("resume", mine)
    assert said.code == 3 and said.error.code == "records-locked"


def test_a_used_folder_is_not_overwritten(hockney, mine):
    before = Path(mine, "records.jsonl").read_bytes()
    said = hockney("survey", "--out", mine)
    assert said.code == 2 and said.error.code == "run-folder-not-empty"
    assert Path(mine, "records.jsonl").read_bytes() == before
