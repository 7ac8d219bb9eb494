# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Several processes that use an archive at the same time lose nothing, wherever they are killed."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from hockney.api.judgements.history import History
from hockney.archive import Archive
from hockney.archive.copying import COPY_PREFIX
from hockney.store import RunFolder

WRITER = """
import sys
from pathlib import Path
from hockney.archive import Archive
from hockney.store import RunFolder

archive = Archive.open(Path(sys.argv[1]), create=True)
print("ready", flush=True)
for run in sys.argv[2:]:
    print(archive.add(RunFolder(Path(run))).entry.name, flush=True)
"""


def start(archive: Path, runs: list[Path]) -> subprocess.Popen[str]:
    words = [sys.executable, "-c", WRITER, str(archive), *map(str, runs)]
    return subprocess.Popen(words, stdout=subprocess.PIPE, text=True)


def ended(writer: subprocess.Popen[str]) -> list[str]:
    out, _ = writer.communicate(timeout=60)
    assert writer.returncode == 0
    return out.split()[1:]


def whole(archive: Archive, names: set[str]) -> None:
    contents = archive.contents()
    assert not contents.damaged
    assert {entry.name for entry in contents.entries} == names
    for entry in contents.entries:
        assert len(archive.folder(entry).read().run.records) == entry.records == 9


def test_several_writers_and_a_reader(runs, tmp_path):
    path = tmp_path / "archive"
    orders = [runs, runs[::-1], [*runs[3:], *runs[:3]]]
    writers = [start(path, order) for order in orders]
    while any(writer.poll() is None for writer in writers):
        if path.exists():
            archive = Archive.open(path)
            assert not archive.contents().damaged
        time.sleep(0.01)
    printed = [ended(writer) for writer in writers]
    assert {frozenset(names) for names in printed} == {frozenset(printed[0])}
    whole(Archive.open(path), set(printed[0]))
    assert not list(path.glob(".*"))


DYING = """
import os, signal, sys
from pathlib import Path
from hockney.archive import Archive
from hockney.store import RunFolder

archive, run, last = Path(sys.argv[1]), RunFolder(Path(sys.argv[2])), int(sys.argv[3])
steps = 0

def step(event, args):
    global steps
    written = event == "open" and isinstance(args[2], int) and args[2] & (os.O_WRONLY | os.O_RDWR)
    if written or event in ("os.rename", "os.mkdir", "os.remove", "os.rmdir"):
        if any(str(archive) in str(each) for each in args):
            steps += 1
            if steps == last:
                os.kill(os.getpid(), signal.SIGKILL)

sys.addaudithook(step)
Archive.open(archive, create=True).add(run)
print(steps)
"""


def dying(archive: Path, run: Path, last: int) -> subprocess.CompletedProcess[str]:
    """A writer that is killed right before its step `last` that changes the archive; 0 for never."""
    words = [sys.executable, "-c", DYING, str(archive), str(run), str(last)]
    return subprocess.run(words, stdout=subprocess.PIPE, text=True, timeout=60, check=False)


def test_writers_that_are_killed(runs, tmp_path):
    """At each of several steps, while a run is copied, moved and indexed."""
    Archive.open(tmp_path / "counted", create=True)
    steps = int(dying(tmp_path / "counted", runs[0], 0).stdout)
    assert steps > 10, "files, the folder, the index"
    path = tmp_path / "archive"
    there = Archive.open(path, create=True).add(RunFolder(runs[1])).entry.name
    name = Archive.open(tmp_path / "counted").contents().entries[0].name
    seen, killed = set(), 0
    for last in sorted({*range(2, steps, max(1, steps // 8)), *range(steps - 3, steps + 1)}):
        code = dying(path, runs[0], last).returncode
        assert code in (-signal.SIGKILL, 0), "0: it had fewer steps than the one that was counted"
        killed += code != 0
        contents = Archive.open(path).contents()
        assert not contents.damaged
        found = {entry.name for entry in contents.entries}
        assert found in ({there}, {there, name}) if code else found == {there, name}
        if code:
            seen.add(name in found)
        Archive.open(path).remove([name])
    assert seen == {False, True}, "killed before it was there, and after"
    assert killed > 6
    left = {each.name for each in path.glob(".*")}
    assert left and all(each.startswith((COPY_PREFIX, ".index-")) for each in left)
    whole(Archive.open(path), {there})
    assert Archive.open(path).add(RunFolder(runs[0])).entry.name == name
    whole(Archive.open(path), {there, name})


def early_state(run: Path, into: Path) -> Path:
    """The run after its first five lines."""
    shutil.copytree(run, into)
    records = into / "records.jsonl"
    records.write_bytes(b"".join(records.read_bytes().splitlines(keepends=True)[:5]))
    return into


def test_an_earlier_and_a_later_state_at_once(runs, tmp_path):
    path = tmp_path / "archive"
    early = [early_state(run, tmp_path / "early" / run.name) for run in runs]
    writers = [start(path, order) for order in (early, runs, early[::-1], runs[::-1])]
    printed = [ended(writer) for writer in writers]
    assert set(printed[1]) == set(printed[3])
    whole(Archive.open(path), set(printed[1]))
    folders = {each.name for each in path.iterdir() if each.is_dir()}
    assert folders == set(printed[1]), "whoever came second removed the earlier state"


def test_prune_while_runs_are_added(runs, tmp_path):
    path = tmp_path / "archive"
    Archive.open(path, create=True)
    writers = [start(path, order * 3) for order in (runs, runs[::-1])]
    pruned: set[str] = set()
    while any(writer.poll() is None for writer in writers):
        pruned |= {each.name for each in History(path).prune(keep_last=2)}
    printed = [ended(writer) for writer in writers]
    pruned |= {each.name for each in History(path).prune(keep_last=2)}
    assert pruned and pruned <= set(printed[0])
    whole(Archive.open(path), set(printed[0][4:6]))
    assert not list(path.glob(".*"))


def test_reindex_while_runs_are_added(runs, tmp_path):
    path = tmp_path / "archive"
    Archive.open(path, create=True)
    writers = [start(path, order) for order in (runs, runs[::-1])]
    while any(writer.poll() is None for writer in writers):
        assert not Archive.open(path).reindex().damaged
    printed = [ended(writer) for writer in writers]
    whole(Archive.open(path), set(printed[0]))
    assert Archive.open(path).reindex() == Archive.open(path).contents()
