# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney compare, from command line to exit code, on runs of the fake machine with known slowdowns."""

from __future__ import annotations

import json
import math
import shutil
from pathlib import Path
from xml.etree import ElementTree as xml

import pytest
from golden_files import replaced
from resealed import reseal

from hockney import api

CASES = (
    "pingpong bytes=0,64,4KiB",
    "bcast bytes=64,1KiB,16KiB ranks=2,4",
    "allreduce bytes=64,1KiB,16KiB ranks=2,4",
    "barrier",
)
DATES = replaced(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC", "DATE")
ROUNDED = replaced(r"(\d\.\d{5})\d*", r"\1")
"""Of floating-point numbers, the last digits depend on the order of threads."""


def measure(folder: Path, machine: str, **options: object) -> Path:
    given = {"launches": 8, "seed": 1, "budget": 20.0} | options
    api.run(given.pop("cases", CASES), api.RunOptions(machine=machine, **given), out=folder)
    return folder


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs of the old stack; two of the new one, which is slower in allreduce on 4 ranks from 1 KiB on
    and faster in bcast of 64 B; one of the new stack without allreduce."""
    place = tmp_path_factory.mktemp("compared")
    slow = (
        "slow=allreduce bytes=1024 ranks=4:1.3;slow=allreduce bytes=16384 ranks=4:1.2;slow=bcast bytes=64:0.8"
    )
    for k in (1, 2):
        measure(place / f"old-{k}", f"fake:seed={k}")
        measure(place / f"new-{k}", f"fake:seed=1{k};{slow}", label="new stack")
    measure(place / "part", "fake:seed=21", cases=CASES[:2])
    return place


@pytest.fixture
def runs(hockney, kept: Path) -> None:
    """Those runs in runs/."""
    shutil.copytree(kept, "runs")


def test_the_tolerance_decides(hockney, runs):
    codes = {
        share: hockney("compare", "runs/old-1", "runs/new-1", "--tolerance", share, "-q").code
        for share in ("5%", "0.5", "25%")
    }
    assert codes == {"5%": 1, "0.5": 0, "25%": 1}
    for wrong in ("-1%", "120%", "x"):
        refused = hockney("compare", "runs/old-1", "runs/new-1", "--tolerance", wrong)
        assert (refused.code, refused.out) == (2, ""), wrong
    strict = hockney("compare", "runs/old-1", "runs/old-2", "--tolerance", "0.01%", "--json")
    document = json.loads(strict.out)
    assert strict.code == 4 and document["verdict"] == "undecided"
    open_ = [each for each in document["cases"] if each["verdict"] == "undecided"]
    assert open_ and all(each["more_launches"] is None or each["more_launches"]["a"] > 8 for each in open_)


def test_several_runs_a_side(hockney, runs):
    one = json.loads(hockney("compare", "runs/old-1", "runs/new-1", "--json").out)
    words = ("runs/old-1", "runs/old-2", "--", "runs/new-1", "runs/new-2")
    both = json.loads(hockney("compare", *words, "--json").out)
    assert both["a"]["runs"] == ["runs/old-1", "runs/old-2"] and both["b"]["runs"] == list(words[3:])
    assert {(each["a_launches"], each["b_launches"]) for each in both["cases"]} == {(16, 16)}

    other = json.loads(hockney("compare", "runs/old-2", "runs/new-2", "--json").out)
    for first, second, mean in zip(one["cases"], other["cases"], both["cases"], strict=True):
        assert mean["ratio"] == pytest.approx(math.sqrt(first["ratio"] * second["ratio"]), rel=0.01)
    for k in (1, 2):  # folders of runs
        for name in ("old", "new"):
            Path("folder", name).mkdir(parents=True, exist_ok=True)
            shutil.copytree(f"runs/{name}-{k}", f"folder/{name}/{k}")
    Path("folder/old/latest").symlink_to("2")
    Path("folder/old/notes.txt").write_text("not a run")
    folders = json.loads(hockney("compare", "folder/old", "folder/new", "--json").out)
    assert folders["a"]["runs"] == ["folder/old/1", "folder/old/2"]
    assert folders["cases"] == both["cases"]


@pytest.mark.parametrize(
    ("words", "code", "error"),
    [
        ((), 2, "not-two-sides"),
        (("runs/old-1", "runs/old-2", "runs/new-1"), 2, "not-two-sides"),
        (("--", "runs/old-1", "--", "runs/new-1"), 2, "not-two-sides"),
        (("runs/old-1", "runs/none"), 2, "no-run-folder"),
        (("runs/old-1", "empty"), 2, "no-runs-in-folder"),
        (("runs/old-1", "runs/../runs/old-1"), 2, "run-on-both-sides"),
        (("runs/old-1", "other"), 4, "no-common-case"),
        (("runs/old-1", "unmeasured"), 4, "side-without-measurements"),
        (("runs/old-1", "damaged"), 3, "line-changed"),
        (("runs/old-1", "torn"), 3, "record-damaged"),
        (("runs/old-1", "runs/new-1", "--format", "junit", "--json"), 2, "format-and-json"),
        (("runs/old-1", "runs/new-1", "--format", "pdf"), 2, "bad-usage"),
    ],
)
def test_what_cannot_be_compared(hockney, runs, words, code, error):
    Path("empty").mkdir()
    if "other" in words:
        hockney("run", "gather bytes=64", "--out", "other", "-q")
    for name in {"unmeasured", "damaged", "torn"} & set(words):
        shutil.copytree("runs/new-1", name)
    if "unmeasured" in words:
        Path("unmeasured/records.jsonl").write_bytes(b"")
    if "damaged" in words:
        records = Path("damaged/records.jsonl")
        records.write_text(records.read_text().replace('"batch":', '"batch": ', 1))
    if "torn" in words:
        lines = Path("torn/records.jsonl").read_text().splitlines(keepends=True)
        Path("torn/records.jsonl").write_text("".join([*lines[:3], "{\n", *lines[3:]]))
    said = hockney("compare", *words)
    assert (said.code, said.out) == (code, "") and said.error.code == error


def test_a_case_in_which_b_fails_is_not_fine(hockney, runs):
    words = ("run", *CASES, "--machine", "fake:seed=31;refuse=bcast bytes=1024 ranks=4", "--out", "runs/bad")
    hockney(*words, "--launches", "8", "--budget", "20s", "--seed", "1", "-q")
    said = hockney("compare", "runs/old-1", "runs/bad", "--json")
    document = json.loads(said.out)
    assert said.code == 4 and document["verdict"] == "undecided"
    (failed,) = document["only_a"]
    assert failed["failure"] == "refused" and "bytes=1024" in failed["case"]
    root = xml.fromstring(hockney("compare", "runs/old-1", "runs/bad", "--format", "junit").out)
    assert root.get("errors") == "1"


def test_a_published_machine(hockney, runs):
    said = hockney("compare", "published:t3e", "runs/old-1", "--json")
    document = json.loads(said.out)
    assert said.code == 0 and document["verdict"] == "faster" and document["a"]["runs"] == ["t3e"]
    assert "few-launches" not in {each["code"] for each in document["warnings"]}


def test_what_differs_and_warnings(hockney, runs):
    machine = Path("runs/new-1/machine.json")
    machine.write_text(machine.read_text().replace('"governor": "",', '"governor": "powersave",'))
    records = Path("runs/new-1/records.jsonl")
    records.write_text(records.read_text().replace('"outside_cores":null', '"outside_cores":1.5', 3))
    catalog = Path("runs/new-1/catalog.json")
    catalog.write_text(catalog.read_text().replace('"role": "collective"', '"role": "other"', 1))
    reseal(Path("runs/new-1"))
    document = json.loads(hockney("compare", "runs/old-1", "runs/new-1", "--json").out)
    differences = {each["what"]: (each["a"], each["b"]) for each in document["differences"]}
    assert differences["governor"] == ("not recorded", "powersave")
    assert differences["launches under load"] == ("0 of 16", "3 of 16")
    assert {each["code"] for each in document["warnings"]} >= {"loaded-launches", "workload-redefined"}
    mixed = json.loads(hockney("compare", "runs/old-1", "--", "runs/new-1", "runs/new-2", "--json").out)
    assert "mixed-environment" in {each["code"] for each in mixed["warnings"]}


def test_the_terminal(hockney, runs, golden):
    golden("compare.txt", hockney("compare", "runs/old-1", "runs/new-1").out, DATES)
    words = ("compare", "runs/old-1", "runs/part", "--tolerance", "0.2%")
    golden("compare_undecided.txt", hockney(*words).out, DATES)
    assert hockney(*words, "--all").out.count("barrier") == hockney(*words).out.count("barrier")
    everything = hockney("compare", "runs/old-1", "runs/new-1", "--all").out
    assert everything.count(", 2 ranks") > hockney("compare", "runs/old-1", "runs/new-1").out.count(
        ", 2 ranks"
    )


def test_the_document(hockney, runs, golden):
    document = json.loads(hockney("compare", "runs/old-1", "runs/new-1", "--json").out)
    document["cases"] = document["cases"][:2]
    golden("compare.json", json.dumps(document, indent=1), ROUNDED)


def test_junit(hockney, runs, golden):
    said = hockney("compare", "runs/old-1", "runs/new-1", "--format", "junit")
    root = xml.fromstring(said.out)
    assert said.code == 1
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == ("16", "2", "0")
    assert {suite.get("name") for suite in root} == {"pingpong", "bcast", "allreduce", "barrier"}
    failing = {test.get("classname") for test in root.iter("testcase") if test.find("failure") is not None}
    assert failing == {"allreduce"}
    golden("compare.xml", said.out, DATES)


def test_markdown(hockney, runs, golden):
    words = ("compare", "runs/old-1", "--", "runs/new-1", "--format", "markdown")
    golden("compare.md", hockney(*words).out, DATES)


def test_hostile_text_is_only_displayed(hockney, runs):
    plan = Path("runs/new-1/plan.txt")
    plan.write_text(plan.read_text().replace("new stack", "a | <b>`x` @all"))
    reseal(Path("runs/new-1"))
    shown = hockney("compare", "runs/old-1", "runs/new-1", "--format", "markdown").out
    assert "\\| \\<b\\>\\`x\\` \\@all" in shown
    xml.fromstring(hockney("compare", "runs/old-1", "runs/new-1", "--format", "junit").out)


@pytest.mark.page
def test_the_page(hockney, runs):
    said = hockney("compare", "runs/old-1", "runs/new-1", "--report", "page.html")
    assert said.code == 1 and said.out.splitlines()[-1] == "report: page.html"
    text = Path("page.html").read_text()
    assert "<h1>B compared with A</h1>" in text
    quiet = hockney("compare", "runs/old-1", "runs/new-1", "--report", "second.html", "--json")
    json.loads(quiet.out)
    assert Path("second.html").exists()


def test_a_check_refuses_its_files_before_it_measures(hockney, runs):
    words = ("run", "barrier", "--check", "runs/old-1", "--out", "new", "--junit", "runs/old-2/records.jsonl")
    assert hockney(*words).error.code == "file-of-a-run" and not Path("new").exists()


@pytest.mark.page
@pytest.mark.parametrize("words", [("compare", "runs/old-1", "runs/old-2"), ("history", "show")])
def test_pages_do_not_replace_measurements(hockney, runs, words):
    hockney("history", "add", "runs/old-1")
    (archived,) = (path for path in Path("history").iterdir() if path.is_dir())
    for page in ("runs/old-2/records.jsonl", str(archived / "plan.txt"), "history/index.sqlite"):
        before = Path(page).read_bytes()
        said = hockney(*words, "--report", page)
        assert (said.code, said.error.code) == (2, "file-of-a-run") and Path(page).read_bytes() == before
