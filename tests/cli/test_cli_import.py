# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney import, and what the other verbs make of such runs."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import hockney as package
from hockney import api

LOGS = Path(__file__).parents[1] / "data" / "imports"
IMB = LOGS / "imb-2021.11-mpi1.log"


def logs(count: int, factor: float = 1.0) -> list[str]:
    """Logs of a ping-pong and a broadcast, whose times differ from launch to launch by up to 1%."""
    names = []
    for k in range(count):
        varied = factor * (1 + 0.01 * ((5 * k) % 7 - 3) / 3)
        name = f"{factor}-{k}.log"
        rows = "".join(f"{size:<10}{varied * (10 + size / 1000):>18.2f}\n" for size in (8, 64, 1024, 8192))
        head = "# OSU MPI {} Latency Test v7.5\n# Size       Avg Latency(us)\n"
        Path(name).write_text(head.format("").replace("  ", " ") + rows + head.format("Broadcast") + rows)
        names.append(name)
    return names


def test_it_writes_a_run_and_prints_its_place(hockney):
    said = hockney("import", str(IMB), "--out", "old", "--label", "old stack", "--machine", "node7")
    assert said.code == 0 and said.out == "old\n" and "reduce_scatter" in said.err.lower()
    run = api.load(Path("old"))
    assert (run.settings.study, run.settings.label, run.machine.host) == ("imported", "old stack", "node7")
    assert not run.machine.traits.chosen_by_default and not run.machine.is_exact


def test_json_has_everything_and_nothing_is_said_twice(hockney):
    said = hockney(
        "import", str(IMB), str(IMB), *map(str, LOGS.glob("skampi*")), "--out", "r", "-q", "--json"
    )
    runs = json.loads(said.out)["runs"]
    assert {each["run"] for each in runs} == {"r/imb-2021.11", "r/skampi-5.0", "r/skampi-4"}
    assert [each["launches"] for each in runs] == [2, 2, 2] and runs[0]["cases"] == 135  # IMB counted once
    assert all(each["notes"] for each in runs)


def test_the_default_place_is_named_after_suite_and_version(hockney):
    said = hockney("import", str(IMB), "-q")
    assert re.fullmatch(r"runs/imported-imb-2021\.11-\d{8}T\d{6}Z\n", said.out)
    assert not Path("runs/latest").exists()


@pytest.mark.page
def test_the_other_verbs_read_it(hockney):
    hockney("import", str(IMB), "--out", "old", "-q")
    for words in (
        ("report", "old"),
        ("models", "old"),
        ("export", "old", "--what", "summaries", "--csv", "-"),
        ("verify", "old"),
        ("predict", "--run", "old", "--work", "100us", "--message", "1kB", "--ranks", "2,4", "--serial", "0"),
    ):
        said = hockney(*words)
        assert said.code == 0, (words, said.err)
    assert "IMB-MPI1, collectives" in Path("old/report.html").read_text()
    refused = hockney("run", "barrier", "--machine", "imported:osu")
    assert refused.error is not None and refused.error.code == "machine-only-published"


def test_its_caveats_are_about_printed_means(hockney):
    hockney("import", str(IMB), "--out", "old", "-q")
    found = {caveat.code for caveat in api.load(Path("old")).caveats}
    assert {"imported", "rounded-times"} <= found
    assert not found & {"few-launches", "precision", "coarse-clock", "unbound", "oversubscribed"}


def test_old_and_new_logs_are_compared(hockney):
    hockney("import", *logs(6), "--ranks", "8", "--out", "old", "-q")
    hockney("import", *logs(6, 1.3), "--ranks", "8", "--out", "new", "-q")
    hockney("import", *logs(1, 1.1), "--ranks", "8", "--out", "single", "-q")
    slower = hockney("compare", "old", "new", "--json")
    assert slower.code == 1
    assert {each["verdict"] for each in json.loads(slower.out)["cases"]} == {"slower"}
    unknown = hockney("compare", "old", "single", "--json")
    document = json.loads(unknown.out)
    assert unknown.code == 4 and {each["verdict"] for each in document["cases"]} == {"unknown"}
    assert all(1.0 < each["ratio"] < 1.2 for each in document["cases"])


def test_equal_digits_are_not_equal_times(hockney):
    """0.20 and 0.21 us in all launches: rounding hides how much these differ."""
    for name, time in (("a", 0.20), ("b", 0.21), ("c", 0.25)):
        files = []
        for k in range(3):
            files.append(f"{name}{k}.log")
            Path(files[-1]).write_text(
                f"# launch {k}\n# OSU MPI Latency Test v7.5\n# Size   Latency (us)\n8   {time:.2f}\n"
            )
        hockney("import", *files, "--out", name, "-q")
    near, far = (json.loads(hockney("compare", "a", b, "--json").out)["cases"][0] for b in "bc")
    assert near["verdict"] == "undecided" and near["ratio_low"] < 1.01 < near["ratio"] < near["ratio_high"]
    assert far["verdict"] == "slower" and far["ratio_low"] < 1.22 < 1.28 < far["ratio_high"]


def test_imported_and_measured_cases_are_the_same(hockney):
    hockney("import", *logs(6), "--ranks", "8", "--out", "old", "-q")
    hockney("run", "pingpong bytes=8,64", "bcast bytes=1024 ranks=8", "--out", "new", "-q", "--launches", "3")
    said = hockney("compare", "old", "new", "--json")
    document = json.loads(said.out)
    assert {each["case"].split()[0] for each in document["cases"]} == {"pingpong", "bcast"}
    assert {"benchmark", "machine"} <= {each["what"] for each in document["differences"]}


def test_python_imports_logs(tmp_path):
    heard = []
    (run,) = package.import_logs(IMB, out=tmp_path / "r", listen=heard.append)
    assert len(run.summaries) == 135 and [event.code for event in heard] == ["not-imported"] * 2
    first, second = package.import_logs(
        [LOGS / "osu-6.2-full.log", str(LOGS / "osu-7.5.log")], out=tmp_path / "s", ranks=4
    )
    assert (first.path.name, second.path.name) == ("osu-6.2", "osu-7.5")


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ((), "no-log-files"),
        (("nowhere.log",), "file-not-readable"),
        ((str(LOGS),), "log-is-folder"),
        ((str(LOGS / "osu-6.2-full.log"),), "log-ranks-unknown"),
        ((str(Path(__file__)),), "no-benchmark-output"),
        ((str(IMB), "--ranks", "0"), None),
    ],
)
def test_mistakes(hockney, words, code):
    said = hockney("import", *words)
    assert said.code in (2, 3) and said.out == "" and not Path("runs").exists()
    assert code is None or said.error.code == code
