# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""records.jsonl: what is written is read, a truncated end is tolerated, anything else is an error with its
line."""

import errno
import json
import multiprocessing
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from raising import raises_code

from hockney.core.errors import EnvironmentProblem
from hockney.core.record import (
    SCHEMA,
    Clock,
    Close,
    Failure,
    Launch,
    Rank,
    Record,
    Stop,
    Sync,
    Verified,
    encode_line,
)
from hockney.store import Appender, appender
from hockney.store.record_reader import read_lines


def launch(host: str = "a", name: str = "0.0") -> Launch:
    return Launch(
        schema=SCHEMA,
        launch=name,
        index=0,
        origin="fake",
        started_s=0.0,
        ranks=[Rank(host=host, pid=1, cpus="0")],
        mpi_standard="4.1",
        library=host,
        engine="0",
        compiler="c",
        clock=Clock(overhead_s=1e-8, resolution_s=1e-9),
    )


def record(case: str = "barrier ranks=2 sync=barrier", times: list[float] | None = None) -> Record:
    return Record(
        schema=SCHEMA,
        launch="0.0",
        origin="fake",
        position=0,
        case=case,
        started_s=0.0,
        times_s=times or [1e-6],
        batch=1,
        warmup_s=[],
        bytes_moved=0,
        sync=Sync(kind="none"),
        stop=Stop(reason="precision", precision=0.02, achieved=0.01),
        verified=Verified(bytes=0, errors=0),
    )


LINES = [
    launch(),
    record(),
    Failure(schema=SCHEMA, launch="0.0", case="x", reason="hung", message="m"),
    Close(schema=SCHEMA, launch="0.0", seconds=1.0, exit_code=0),
]


def write(path: Path, lines=LINES) -> Path:
    with Appender(path) as out:
        for line in lines:
            out.append(line)
    return path


def test_what_is_appended_is_read_back_in_order(tmp_path):
    reading = read_lines(write(tmp_path / "r"))
    assert [*reading.run.launches, *reading.run.records, *reading.run.failures, *reading.run.closes] == LINES
    assert reading.notices == ()


@given(st.text(max_size=60))
@settings(max_examples=60, deadline=None)
def test_hostile_host_names_survive(tmp_path_factory, host):
    path = write(tmp_path_factory.mktemp("r") / "r", [launch(host), record()])
    assert read_lines(path).run.launches[0].ranks[0].host == host
    assert path.read_bytes().count(b"\n") == 2, "whatever a host is called, a record is one line"


@given(st.integers(0, 10**6))
@settings(max_examples=80, deadline=None)
def test_cut_anywhere_nothing_whole_is_lost_and_nothing_merges(tmp_path_factory, seed):
    path = write(tmp_path_factory.mktemp("r") / "r")
    data = path.read_bytes()
    cut = seed % (len(data) + 1)
    path.write_bytes(data[:cut])
    whole = data[:cut].count(b"\n")
    before = read_lines(path)
    kept = sum(map(len, (before.run.launches, before.run.records, before.run.failures, before.run.closes)))
    complete_without_end = cut < len(data) and data[cut : cut + 1] == b"\n"
    assert kept == whole + complete_without_end
    assert bool(before.notices) == (data[:cut].rpartition(b"\n")[2] != b"" and not complete_without_end)
    with Appender(path) as out:
        assert out.reading.run == before.run
        out.append(record("after ranks=1"))
    after = read_lines(path)
    assert after.notices == ()
    assert after.run.records == (*before.run.records, record("after ranks=1"))


@pytest.mark.parametrize(
    "bad", [b"{}\n", b"\n", b"\xff\xfe\n", b'{"kind":"record"}\n', b"\x00\x00\n", b"[" * 5000 + b"\n"]
)
def test_a_bad_line_in_the_middle_is_named(tmp_path, bad):
    path = tmp_path / "r"
    good = encode_line(record()) + b"\n"
    path.write_bytes(good + bad + good)
    with raises_code("record-damaged", line=2):
        read_lines(path)


@pytest.mark.parametrize(
    "case", ["", "x", "barrier ranks=0", "barrier ranks=" + "9" * 5000, "<b>", "barrier ranks=2 a=1 a=2"]
)
def test_a_record_of_no_case_is_named(tmp_path, case):
    path = tmp_path / "r"
    path.write_bytes(encode_line(launch()) + b"\n" + encode_line(record(case)) + b"\n")
    with raises_code("record-damaged", line=2):
        read_lines(path)


@pytest.mark.parametrize("seconds", [-1.0, 0.0, 5e-324, 1e300])
def test_a_time_that_is_impossible_is_damage(tmp_path, seconds):
    path = tmp_path / "r"
    line = json.loads(encode_line(record())) | {"times_s": [1e-6, seconds]}
    path.write_bytes(encode_line(launch()) + b"\n" + json.dumps(line).encode() + b"\n")
    with raises_code("record-damaged", line=2):
        read_lines(path)
    path.write_bytes(json.dumps(line | {"origin": "simulated", "times_s": [0.0]}).encode() + b"\n")
    assert read_lines(path).run.records[0].times_s == [0.0]


def test_a_newer_schema_is_not_guessed_at(tmp_path):
    path = tmp_path / "r"
    line = json.loads(encode_line(record()))
    path.write_text(json.dumps(line | {"schema": SCHEMA + 1}) + "\n")
    with raises_code("line-of-newer-hockney", schema=SCHEMA + 1):
        read_lines(path)
    path.write_text('{"schema": 7, "kind": "symphony"}\n')
    with raises_code("line-of-newer-hockney", schema=7):
        read_lines(path)


def _try_to_append(path: str, codes) -> None:
    try:
        with Appender(Path(path)):
            codes.put("entered")
    except EnvironmentProblem as error:
        codes.put(error.code)


def test_two_writers_do_not_mix(tmp_path):
    context = multiprocessing.get_context("spawn")
    codes = context.SimpleQueue()
    with Appender(tmp_path / "r"):
        other = context.Process(target=_try_to_append, args=(str(tmp_path / "r"), codes))
        other.start()
        other.join()
    assert codes.get() == "records-locked"
    with Appender(tmp_path / "r"):
        pass  # the lock was released with its holder


def test_a_file_system_without_locks_is_written_to_all_the_same(tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError(errno.ENOSYS, "Function not implemented")

    monkeypatch.setattr("fcntl.flock", refuse)
    path = tmp_path / "r.jsonl"
    with Appender(path) as out:
        assert out.reading.notices[0].code == "records-not-locked"
        out.append(launch())
    assert read_lines(path).run.launches == (launch(),)


CLOSE = Close(schema=SCHEMA, launch="0.0", seconds=1.0, exit_code=0)


@pytest.mark.parametrize(("apart_s", "syncs"), [(0.0, 8), (1e9, 3)])
def test_lines_that_arrive_together_wait_for_the_disk_together(tmp_path, monkeypatch, apart_s, syncs):
    """The beginning and the end of a launch do not wait, nor does the end of writing."""
    seen = []
    monkeypatch.setattr(appender, "through_to_disk", lambda file: seen.append(os.fstat(file).st_size))
    monkeypatch.setattr(appender, "SYNC_S", apart_s)
    path = tmp_path / "r.jsonl"
    with Appender(path) as out:
        for line in (launch(), *(record() for _ in range(5)), CLOSE):
            out.append(line)
        assert seen[-1] == path.stat().st_size, "all of the launch"
    assert len(seen) == syncs


def test_a_system_without_fdatasync_can_append(tmp_path):
    """Such as macOS."""
    program = """
import os, sys
del os.fdatasync
from pathlib import Path
from hockney.core.record import decode_line
from hockney.store import Appender, appender
with Appender(Path(sys.argv[1])) as out:
    out.append(decode_line(sys.argv[2]))
"""
    path = tmp_path / "r.jsonl"
    subprocess.run([sys.executable, "-c", program, str(path), encode_line(launch()).decode()], check=True)
    assert read_lines(path).run.launches == (launch(),)


def test_a_full_disk_leaves_whole_lines_only(tmp_path):
    """RLIMIT_FSIZE replaces the full disk: the write is cut short, then refused."""
    path = write(tmp_path / "r")
    size = path.stat().st_size
    script = (
        "import resource, sys; sys.path[:0] = sys.argv[2:]; from pathlib import Path\n"
        "from test_store_lines import Appender, record\n"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({size + 300}, resource.RLIM_INFINITY))\n"
        "from hockney.core.errors import EnvironmentProblem\n"
        "try:\n"
        "    with Appender(Path(sys.argv[1])) as out: out.append(record(times=[1e-6] * 4000))\n"
        "except EnvironmentProblem as error: print(error.code, error.fields['errno'])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(path), *map(str, Path(__file__).parents[:2])],
        capture_output=True,
        text=True,
    )
    assert done.stdout.split() == ["file-not-writable", str(errno.EFBIG)], done.stderr
    assert path.stat().st_size == size
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY
    assert read_lines(path).notices == ()


def test_a_disk_without_space(tmp_path):
    with Appender(tmp_path / "r") as out:
        full = os.open("/dev/full", os.O_RDWR)
        os.dup2(full, out._file)
        os.close(full)
        with pytest.raises(EnvironmentProblem) as caught:
            out.append(record())
    assert caught.value.code == "file-not-writable" and caught.value.fields["errno"] == errno.ENOSPC


@pytest.mark.parametrize("device", ["/dev/full", "/dev/zero"])
def test_a_device_is_no_records_file(device):
    with raises_code("records-not-a-file"), Appender(Path(device)):
        pass


def test_appending_to_an_unfinished_whole_line_ends_it_first(tmp_path):
    path = tmp_path / "r"
    path.write_bytes(write(path, [record()]).read_bytes().removesuffix(b"\n"))
    with Appender(path) as out:
        out.append(record("b ranks=1"))
    assert [r.case for r in read_lines(path).run.records] == ["barrier ranks=2 sync=barrier", "b ranks=1"]
    assert os.path.getsize(path) == len(path.read_bytes())
