# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney's command line on the front end of a cluster, and a copy of what its engine prints."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from slurm_rig import Done, Rig

from hockney.store import Reading, RunFolder


@dataclass(frozen=True)
class Front:
    """hockney on the cluster's front end, in a folder of the test."""

    rig: Rig
    folder: Path
    environ: Mapping[str, str]

    @property
    def words(self) -> tuple[str, ...]:
        return sys.executable, "-m", "hockney"

    def __call__(self, *words: str, before: tuple[str, ...] = (), code: int | None = 0, **env: str) -> Done:
        """Run it, after the words `before` (salloc ...), and check its exit code."""
        all_words = (*before, *self.words, *words)
        done = self.rig.run(*all_words, cwd=self.folder, env={**self.environ, **env}, check=False)
        assert code is None or done.code == code, done
        return done

    def begin(self, *words: str, before: tuple[str, ...] = ()) -> subprocess.Popen[str]:
        return self.rig.begin(*before, *self.words, *words, cwd=self.folder, env=self.environ)

    def lines(self, run: str, kind: str) -> int:
        """How many of this kind the run and its shares have now, complete or not."""
        files = list((self.folder / run).glob("records*.jsonl"))
        return sum(file.read_bytes().count(f'"kind":"{kind}"'.encode()) for file in files)

    def records(self, run: str) -> int:
        return self.lines(run, "record")

    def reading(self, run: str) -> Reading:
        return RunFolder(self.folder / run).read()

    def hosts(self, run: str) -> set[str]:
        return {rank.host for launch in self.reading(run).run.launches for rank in launch.ranks}

    def keys(self, run: str) -> set[tuple[str, str]]:
        """Launch and case of the records, as often as they are there."""
        records = self.reading(run).run.records
        found = {(record.launch, record.case) for record in records}
        assert len(found) == len(records), "nothing is measured twice"
        return found

    def job(self, run: str) -> str:
        """The number of the run's job."""
        return str(json.loads((self.folder / run / "job.json").read_text())["number"])

    def log(self, run: str) -> str:
        return "".join(path.read_text() for path in sorted((self.folder / run).glob("job-*.log")))

    def has_ended(self, run: str) -> bool:
        """Whether its job has; a run without one has not."""
        if not (self.folder / run / "job.json").exists():
            return False
        return self.rig.state(self.job(run)) not in ("RUNNING", "COMPLETING", "PENDING", "CONFIGURING")

    def until_ended(self, run: str) -> None:
        self.rig.wait_for(lambda: self.has_ended(run), "the job has ended")

    def until_records(self, run: str, count: int) -> None:
        """Or until its job has ended with fewer, as on a busy machine."""

        def there() -> bool:
            found = self.records(run)
            return found >= count or bool(found and self.has_ended(run))

        try:
            self.rig.wait_for(there, f"{count} records")
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.rig.run('squeue', '-a').out}\n{self.log(run)}") from error


@dataclass(frozen=True)
class Printed:
    """What engines printed in jobs, as it is on the way from mpiexec to hockney: one file for each launch."""

    folder: Path

    def launches(self) -> list[list[dict[str, Any]]]:
        """The complete lines of each launch that has begun."""
        texts = [path.read_bytes() for path in self.folder.glob("*.out")]
        whole = [text[: text.rfind(b"\n") + 1].splitlines() for text in texts]
        found = [[json.loads(line) for line in lines if line.startswith(b'{"kind"')] for lines in whole]
        return [lines for lines in found if lines]

    def keys(self) -> set[tuple[str, str]]:
        """Launch and case of the records."""
        lines = [line for launch in self.launches() for line in launch if line["kind"] == "record"]
        return {(line["launch"], line["case"]) for line in lines}
