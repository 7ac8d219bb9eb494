# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Nodes, links and the machine as a whole compared with a baseline, on fake clusters with known changes."""

from __future__ import annotations

import json
import xml.etree.ElementTree as xml
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from hockney import api, measurement
from hockney.api.judgements.baseline import without_faults
from hockney.cli.start import guarded
from hockney.core.errors import Inconclusive
from hockney.core.platform import Fault, Network, NodeGroup, Noise, Platform, Segment

Run = Callable[..., str]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("changes")

    def measured(name: str, machine: str, measures: str = "latency,bandwidth", code: int = 0) -> str:
        path = folder / name
        if not path.exists():
            options = ("--ranks-per-node", "1", "--launches", "6", "--budget", "10s", "--out", str(path))
            question = ("run", "nodes", f"measure={measures}", "--machine", f"fake:{machine}", "-q")
            assert guarded([*question, *options]) == code
        return str(path)

    measured("base", "nodes=10;seed=1")
    return measured


def changed(comparison: api.Comparison) -> dict[tuple[str, str], str]:
    """The state of each part that is not the same."""
    return {(o.workload, o.level): o.state for o in comparison.operations if o.state != "same"}


def test_a_node_and_a_link_that_became_slower(run: Run):
    slower = run("slower", "nodes=10;seed=2;node=3:1.12;link=2-5:1.5", code=1)
    comparison = api.compare(run("base", ""), slower)
    assert comparison.verdict == "slower"
    assert changed(comparison) == {
        ("node", "fakehost3"): "slower",
        ("link", "fakehost2 - fakehost5"): "slower",
    }
    by_part = {case.part: case for case in comparison.cases}
    ratio = by_part["latency of fakehost3"].ratio
    assert ratio.low is not None and ratio.high is not None and ratio.low < 1.12 < ratio.high
    assert by_part["latency of fakehost3"].launches == (6, 6)
    assert {case.part.split(" of ")[0] for case in comparison.changes if case.level == "fakehost3"} == {
        "latency", "sending", "receiving",
    }  # fmt: skip
    suites = {suite.get("name"): suite for suite in xml.fromstring(comparison.junit).iter("testsuite")}
    assert suites["node fakehost3"].get("failures") == "3" and suites["node fakehost4"].get("failures") == "0"
    assert "machine as a whole" in suites and "link fakehost2 - fakehost5" in suites
    operations = {(o["operation"], o["level"]): o for o in comparison.document["operations"]}
    assert operations["node", "fakehost3"]["mean_ratio"] == pytest.approx(1.12, abs=0.01)
    assert "node fakehost3" in comparison.compared.overall_sentence
    assert "node fakehost3" in comparison.markdown and comparison.page.lead is not None
    reverse = api.compare(slower, run("base", ""))
    assert reverse.verdict == "faster" and set(changed(reverse).values()) == {"faster"}


def test_a_fault_that_did_not_change_is_no_change(run: Run):
    first = run("slow", "nodes=10;seed=3;node=4:1.3", code=1)
    second = run("slow again", "nodes=10;seed=4;node=4:1.3", code=1)
    comparison = api.compare(first, second)
    assert comparison.verdict == "same" and changed(comparison) == {}


def test_a_cluster_that_became_slower_everywhere(run: Run):
    slower = "slow=node_pingpong:1.2;slow=node_stream:1.2"
    everywhere = run("everywhere", f"nodes=10;seed=5;{slower};node=7:1.1", code=1)
    comparison = api.compare(run("base", ""), everywhere)
    assert changed(comparison) == {("machine", "as a whole"): "slower", ("node", "fakehost7"): "slower"}
    machine = next(o for o in comparison.operations if o.workload == "machine")
    assert machine.ratio.value == pytest.approx(1.2, abs=0.01)


def test_nodes_are_identified_by_name(run: Run):
    """The new run has one node more; the nodes of the old one are compared."""
    more = run("more", "nodes=11;seed=6;node=2:1.2", code=1)
    comparison = api.compare(run("base", ""), more)
    assert changed(comparison) == {("node", "fakehost2"): "slower"}
    document = comparison.document
    assert document["parts_only_b"] == ["node fakehost10"] and document["parts_only_a"] == []
    assert any("fakehost10" in text for text in comparison.compared.missing_result_sentences)
    cases = xml.fromstring(comparison.junit).iter("testcase")
    assert [c.get("name") for c in cases if c.find("skipped") is not None] == ["node fakehost10"]
    with pytest.raises(Inconclusive) as error:
        api.compare(run("base", ""), run("other", "nodes=10;seed=1", "bidirectional"))
    assert error.value.code == "no-common-measure"


def test_the_check_of_a_new_run(run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    base = run("base", "")
    words = ["measure=latency", "--ranks-per-node", "1", "--budget", "10s", "--check", base, "--json", "-q"]
    report = tmp_path / "junit.xml"

    def check(machine: str, name: str) -> tuple[int, dict]:
        options = ["--machine", f"fake:{machine}", "--out", str(tmp_path / name), "--junit", str(report)]
        code = guarded(["run", "nodes", *words, *options])
        return code, json.loads(capsys.readouterr().out)["comparison"]

    capsys.readouterr()
    code, document = check("nodes=10;seed=8", "same")
    assert (code, document["verdict"]) == (0, "same")
    code, document = check("nodes=10;seed=9;node=6:1.2", "slow")
    assert (code, document["verdict"]) == (1, "slower")
    slower = [o["level"] for o in document["operations"] if o["verdict"] == "slower"]
    assert slower == ["fakehost6"] and report.read_text().count("<failure") == 1, "a slow node has no delays"
    code, document = check("nodes=9;seed=9", "fewer")
    assert code == 0 and document["parts_only_a"] == ["node fakehost9"]


def test_a_fault_in_a_description_makes_no_other_machine(run: Run):
    machine = api.load(run("base", "")).evidence.machine
    network = Network(nodes=(NodeGroup(count=4),))
    described = Platform(name="m", title="M", network=network, segments=(Segment(latency_s=1e-6),))
    noisy = replace(described, noise=Noise(relative=0.1, seed=3))
    faulty = replace(noisy, faults=(Fault(nodes=(1,), slowdown=1.1),), noise=Noise(relative=0.1, seed=4))
    healthy, broken, other = (replace(machine, platform=p) for p in (noisy, faulty, described))
    assert measurement.survey_differences(healthy, broken)
    assert not measurement.survey_differences(without_faults(healthy), without_faults(broken))
    assert measurement.survey_differences(without_faults(healthy), without_faults(other))
