# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney verify, and records that the engine cannot have written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from golden_files import numbers
from resealed import reseal

from hockney import api
from hockney.measurement import Finding


def codes(said) -> dict[str, str]:
    return {f["code"]: f["verdict"] for f in json.loads(said.out)["findings"]}


def test_a_good_run(hockney, mine, golden):
    said = hockney("verify", mine)
    assert said.code == 0 and said.err == ""
    golden("verify.txt", said.out, numbers)
    verdicts = codes(hockney("verify", mine, "--json"))
    assert verdicts.pop("derived-files") == "note" and set(verdicts.values()) == {"good"}
    Path(mine, "notes.txt").touch()
    assert codes(hockney("verify", mine, "--json"))["foreign-files"] == "note"


def test_derived_files_are_not_checked(hockney, mine):
    def derived() -> list[str]:
        found = json.loads(hockney("verify", mine, "--json").out)["findings"]
        return [
            name for each in found if each["code"] == "derived-files" for name in each["numbers"]["names"]
        ]

    report = Path(mine, "report.html")
    assert derived() == ["fits.json", "report.html"]
    report.write_text(report.read_text().replace("</body>", "a lie</body>"))
    assert derived() == ["fits.json", "report.html"] and hockney("verify", mine).code == 0
    report.unlink()
    assert derived() == ["fits.json"]
    Path(mine, "fits.json").unlink()
    assert derived() == [] and hockney("verify", mine).code == 0


def test_what_is_missing_is_inconclusive(hockney, mine):
    path = Path(mine, "records.jsonl")
    path.write_bytes(path.read_bytes()[:-3000])
    said = hockney("verify", mine, "--json")
    assert said.code == 4 and codes(said)["measurements-missing"] == "note"
    assert hockney("resume", mine, "-q").code == 0 and hockney("verify", mine).code == 0


def test_what_was_changed_does_not_fit(hockney, mine):
    path = Path(mine, "records.jsonl")
    path.write_bytes(path.read_bytes().replace(b'"batch":2', b'"batch":3', 1))
    said = hockney("verify", mine, "--json")
    assert said.code == 1 and codes(said)["line-changed"] == "bad"
    for verb in (["models"], ["report"], ["export", "--csv", "-"], ["resume"]):
        assert hockney(*verb, mine).error.code == "line-changed", verb


def test_records_that_were_removed_are_damage(hockney, mine):
    """Before the first launch they are an empty file, so a run without it has lost them."""
    path = Path(mine, "records.jsonl")
    path.write_bytes(b"")
    assert hockney("verify", mine).code == 4 and hockney("resume", mine, "-q").code == 0
    path.unlink()
    said = hockney("verify", mine, "--json")
    assert said.code == 1 and codes(said)["records-missing"] == "bad"
    predict = ("predict", "--work", "1ms", "--message", "8", "--run", mine)
    named = [(verb, mine) for verb in ("report", "models", "resume", "barrier", "guidelines", "calibrate")]
    for words in (*named, ("export", mine, "--csv", "-"), ("tune", mine, "--out", "t"), predict):
        refused = hockney(*words)
        assert (refused.code, refused.error.code) == (3, "records-missing"), words
    salvaging = hockney("verify", mine, "--salvage", "new")
    assert salvaging.error.code == "records-missing" and not Path("new").exists()
    assert hockney("run", "granularity", f"survey={mine}").error.code == "records-missing"


def payload(run: str) -> Finding:
    return next(finding for finding in api.verify(run) if finding.subject == "payload")


def test_how_much_payload_was_compared(hockney, mine):
    path = Path(mine, "records.jsonl")
    path.write_text(path.read_text().replace('"runs":0,"of_runs":0', '"runs":2,"of_runs":50'))
    reseal(Path(mine))
    records = [json.loads(line) for line in path.read_text().splitlines()]
    verified = [record["verified"] for record in records if record["kind"] == "record"]
    found = payload(mine)
    assert (found.code, found.verdict) == ("payload-verified", "good")
    for field in ("bytes", "runs", "of_runs"):
        assert found.numbers[field] == sum(each[field] for each in verified)
    assert found.numbers["bytes"] > 0 and found.numbers["errors"] == 0
    assert found.numbers["runs"] == 2 * len(verified)
    assert codes(hockney("verify", mine, "--json"))["payload-verified"] == "good"
    assert hockney("run", "barrier", "--out", "b", "--seed", "1", "-q").code == 0
    assert payload("b").code == "no-payload"


def test_salvage(hockney, mine, golden):
    path = Path(mine, "records.jsonl")
    path.write_bytes(path.read_bytes().replace(b'"batch":2', b'"batch":3', 1))
    said = hockney("verify", mine, "--salvage", "new")
    assert said.code == 1
    golden("salvage.txt", said.out, numbers)
    assert hockney("verify", "new").code == 4, "a measurement is missing there"
    assert hockney("verify", mine, "--salvage", "new").code == 2, "it is not new any more"


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ('"started_s":', '"started_s":1e300,"was":', 0),
        ("buffers=hot bytes=8 ", "buffers=hot bytes=x ", 3),
        ("pingpong buffers=hot bytes=8 ", "prtt bytes=8 delay=0 messages=y ", 3),
    ],
)
def test_records_that_the_engine_cannot_have_written(hockney, mine, old, new, code):
    path = Path(mine, "records.jsonl")
    path.write_text(path.read_text().replace(old, new))
    reseal(path.parent)
    said = hockney("report", mine)
    assert said.code == code and "bug" not in said.err and "bug" not in hockney("models", mine).err
