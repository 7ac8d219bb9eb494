# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Checksums of lines and files: what was changed and where, and the effect of a crash."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from raising import raises_code

from hockney import api
from hockney.core.errors import EnvironmentProblem
from hockney.store import RunFolder, appender, salvage
from hockney.store.checksums import (
    NO_CHECKSUM,
    plan_sums,
    seal_line,
    seal_of,
    sealed_plan,
)

PLAN = '# A plan.\n# measurements = 1\nstudy = "cases"\n\n0 0 barrier ranks=2\n'


@given(st.dictionaries(st.text(), st.text()), st.integers(0, 2**32 - 1))
def test_a_sealed_line_is_json_and_fits(values, number):
    before = f"{number:08x}"
    line = seal_line(json.dumps({"kind": "x", **values}).encode(), before)
    seal = seal_of(line + b"\n")
    assert seal is not None and seal.matches and seal.previous == before
    assert json.loads(line)["sum"] == f"{seal.checksum}-{before}"


@given(st.integers(0), st.integers(0, 7))
def test_a_flipped_bit_is_seen(at, bit):
    line = seal_line(b'{"kind":"record","times_s":[1e-6,2e-6]}', NO_CHECKSUM)
    changed = bytearray(line)
    changed[at % len(line)] ^= 1 << bit
    seal = seal_of(bytes(changed))
    assert seal is None or not seal.matches


def test_every_flipped_bit_of_a_plan_is_seen():
    """Also of a line feed that becomes a vertical tab, which ends a line for Python."""
    good = sealed_plan(PLAN, {"machine.json": b"{}"}).encode()
    for bit in range(8 * len(good)):
        text = bytearray(good)
        text[bit // 8] ^= 1 << bit % 8
        sums = plan_sums(text.decode("utf-8", "replace"))
        assert not (sums.matches and len(sums.files) == 1), bytes(text)


def test_a_plan_and_its_files():
    text = sealed_plan(PLAN, {"machine.json": b"{}", "catalog.json": b"[]"})
    assert plan_sums(text).matches
    assert set(plan_sums(text).files) == {"machine.json", "catalog.json"}
    assert plan_sums(text.replace("\n", "\r\n")).matches, "the ends of lines say nothing"
    for old, new in (("cases", "case"), ("ranks=2", "ranks=3"), ("# machine.json = ", "# machine.json = 0")):
        assert not plan_sums(text.replace(old, new)).matches
    assert not plan_sums(text + f"# checksum = {plan_sums(text).checksum}\n").matches
    *head, last = (line for line in text.splitlines(keepends=True) if line.startswith("#"))
    assert plan_sums(text).checksum in last
    assert not plan_sums("".join([last, *head]) + text.partition(last)[2]).matches, "moved"
    assert not plan_sums(PLAN).matches


@pytest.fixture
def run(tmp_path) -> Path:
    api.run("pingpong bytes=0:16", api.RunOptions(machine="fake", launches=2, seed=1), out=tmp_path / "r")
    return tmp_path / "r"


def edit(run: Path, change) -> None:
    path = run / "records.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    change(lines)
    path.write_bytes(b"".join(lines))


def refused(run: Path) -> tuple[str, object]:
    with pytest.raises(EnvironmentProblem) as problem:
        RunFolder.open(run).read()
    with pytest.raises(EnvironmentProblem), RunFolder.open(run).append():
        pass
    return problem.value.code, problem.value.fields["line"]


def swap(lines: list[bytes]) -> None:
    lines[2], lines[3] = lines[3], lines[2]


@pytest.mark.parametrize(
    ("change", "code", "line"),
    [
        (lambda lines: lines.__setitem__(3, lines[3].replace(b'"batch":', b'"batch":1')), "line-changed", 4),
        (lambda lines: lines.pop(2), "line-out-of-order", 3),
        (lambda lines: lines.pop(0), "record-without-launch", 1),
        (swap, "line-out-of-order", 3),
        (lambda lines: lines.insert(3, lines[3]), "record-repeated", 5),
        (
            lambda lines: lines.__setitem__(4, lines[4][: lines[4].index(b',"sum"')] + b"}\n"),
            "line-changed",
            5,
        ),
    ],
)
def test_edits_are_named(run, change, code, line):
    edit(run, change)
    assert refused(run) == (code, line)


def test_a_crash_is_no_edit(run):
    path = run / "records.jsonl"
    whole = path.read_bytes()
    count = len(RunFolder.open(run).read().run.records)
    path.write_bytes(whole[: len(whole) * 2 // 3])
    reading = RunFolder.open(run).read()
    assert 0 < len(reading.run.records) < count and reading.checksum_problem is None
    api.resume(run, replacements=api.Replacements(machine="fake"))
    assert len(RunFolder.open(run).read().run.records) == count


def test_records_of_another_plan(run, tmp_path):
    api.run("pingpong bytes=0:16", api.RunOptions(machine="fake", launches=2, seed=2), out=tmp_path / "s")
    (run / "plan.txt").write_bytes((tmp_path / "s" / "plan.txt").read_bytes())
    (run / "machine.json").write_bytes((tmp_path / "s" / "machine.json").read_bytes())
    assert refused(run) == ("line-out-of-order", 1)


@pytest.mark.parametrize("name", ["machine.json", "catalog.json", "plan.txt"])
def test_a_changed_file_is_named(run, name):
    path = run / name
    path.write_bytes(path.read_bytes().replace(b"seed = 1", b"seed = 2") + b"\n" * (name != "plan.txt"))
    folder = RunFolder.open(run)
    read = {"machine.json": folder.machine, "catalog.json": folder.catalog, "plan.txt": folder.plan}[name]
    with raises_code("file-changed", path=str(path)):
        read()


def test_salvage_keeps_what_is_intact(run, tmp_path):
    whole = RunFolder.open(run).read().run.records
    edit(run, lambda lines: lines.__setitem__(3, lines[3].replace(b'"batch":', b'"batch":1')))
    edit(run, lambda lines: lines.insert(5, lines[5]))
    edit(run, lambda lines: lines.append(b"{garbage}\n"))
    saved = salvage(RunFolder.open(run), tmp_path / "new")
    assert saved.dropped[0] == 4 and len(saved.dropped) == 3
    kept = saved.folder.read()
    assert kept.count == saved.kept
    assert set(r.case for r in kept.run.records) <= {r.case for r in whole}
    assert len(kept.run.records) == len(whole) - 1
    api.resume(tmp_path / "new", replacements=api.Replacements(machine="fake"))
    assert len(saved.folder.read().run.records) == len(whole)


def test_salvage_believes_no_line_without_its_checksum(run, tmp_path):
    """As left by a program that reads, changes and writes JSON."""

    def rewrite(lines: list[bytes]) -> None:
        fields = json.loads(lines[3])
        lines[3] = json.dumps(fields | {"batch": 77}).encode() + b"\n"
        del fields["sum"]
        lines[4] = json.dumps(fields).encode() + b"\n"

    edit(run, rewrite)
    saved = salvage(RunFolder.open(run), tmp_path / "new")
    assert saved.dropped == (4, 5)
    assert all(record.batch != 77 for record in saved.folder.read().run.records)


def test_salvage_takes_no_lines_of_another_run(run, tmp_path):
    api.run("pingpong bytes=0:16", api.RunOptions(machine="fake", launches=2, seed=2), out=tmp_path / "s")
    for name in ("plan.txt", "machine.json"):
        (run / name).write_bytes((tmp_path / "s" / name).read_bytes())
    with raises_code("line-out-of-order"):
        salvage(RunFolder.open(run), tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_lines_that_are_no_records_are_kept_once(run, tmp_path):
    edit(run, lambda lines: lines.insert(1, lines[0]))
    edit(run, lambda lines: lines.append(lines[-1]))
    saved = salvage(RunFolder.open(run), tmp_path / "new")
    assert len(saved.dropped) == 2
    launches = [launch.launch for launch in saved.folder.read().run.launches]
    assert len(set(launches)) == len(launches)


def test_a_file_that_the_plan_does_not_list_is_not_believed(run):
    (run / "survey.json").write_text("{}")
    with pytest.raises(EnvironmentProblem):
        RunFolder.open(run).surveyed()


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError])
def test_an_interrupt_while_a_line_goes_to_the_disk_breaks_nothing(run, monkeypatch, error):
    """The end of the launch is still written in that case."""
    folder = RunFolder.open(run)
    before = folder.read()
    with folder.append() as out:
        with monkeypatch.context() as patch:
            patch.setattr(appender, "through_to_disk", lambda descriptor: (_ for _ in ()).throw(error()))
            with pytest.raises((error, EnvironmentProblem)):
                out.append(before.run.closes[0])
        out.append(before.run.closes[0])
    assert RunFolder.open(run).read().count == before.count + 1
