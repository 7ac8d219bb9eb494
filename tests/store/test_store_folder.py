# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The run folder: created once, rejected if it is not one, files replaced atomically, plan.txt read back."""

import errno
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from raising import raises_code
from test_store_lines import launch, record

from hockney.core.case import Case
from hockney.core.errors import EnvironmentProblem, HockneyError, UsageError
from hockney.core.fit import Estimate, Fits, Summary, UsedSurvey
from hockney.core.machine import Machine
from hockney.core.record import SCHEMA, RunRecords
from hockney.core.settings import Settings
from hockney.store import Item, Plan, RunFolder, default_path, salvage, unmeasured_items
from hockney.store.plan import parse_plan
from hockney.system.bundled import bundled_catalog

MACHINE = Machine(
    schema=1, kind="fake", host="<b>h\x1b[31m", system="s", cpu="c", cores=2, threads=2, hockney="0"
)
CASE = Case.of("pingpong", 2, bytes=8, buffers="hot")
PLAN = Plan(
    Settings("survey", seed=7),
    (Item(0, 0, CASE), Item(1, 0, CASE), Item(1, 1, Case.of("barrier", 2, sync="window"))),
)


def code(action: Callable[[], object]) -> str:
    """The code of the error that `action` raises."""
    with pytest.raises(HockneyError) as caught:
        action()
    return caught.value.code


def test_a_run_is_read_back(tmp_path):
    made = RunFolder.create(tmp_path / "runs" / "a", PLAN, MACHINE)
    again = RunFolder.open(made.path)
    assert again.plan() == PLAN
    assert again.machine() == MACHINE
    assert again.read().run.records == ()


def test_a_run_without_its_records_is_damaged(tmp_path):
    """Before the first launch they are an empty file."""
    folder = RunFolder.create(tmp_path / "a", PLAN, MACHINE)
    assert folder.records_path.read_bytes() == b"" and "records.jsonl" not in folder.sums.files
    assert unmeasured_items(folder.plan(), folder.read().run) == PLAN.items
    folder.records_path.unlink()
    for action in (folder.read, lambda: salvage(folder, tmp_path / "b")):
        assert code(action) == "records-missing"
    assert not (tmp_path / "b").exists()


def test_what_the_user_added_is_read_back_and_not_written_where_there_is_nothing():
    added = ("mpiexec_args", "variables", "label", "nodes", "ranks_per_node", "hosts", "starter", "agent")
    assert not any(name in PLAN.text for name in added), "a plan that older versions read"
    settings = replace(
        PLAN.settings, mpiexec_args="--mca btl 'self,tcp'", variables=("A=1", "B=x y"), label="tuned"
    )
    settings = replace(settings, nodes=2, ranks_per_node=4, hosts=("n1:4", "n2:4"), starter="srun")
    settings = replace(settings, agent="a b")
    text = Plan(settings, PLAN.items).text
    assert parse_plan(text, "plan.txt").settings == settings and 'variables = ["A=1", "B=x y"]' in text
    for wrong in ('"A=1"', "[1]", "{}"):
        with raises_code("plan-without-settings"):
            parse_plan(text.replace('["A=1", "B=x y"]', wrong), "plan.txt")


def test_fits_are_written_whole(tmp_path):
    folder = RunFolder.create(tmp_path / "a", PLAN, MACHINE)
    summary = Summary(
        case=CASE.line,
        typical=Estimate(1.0, None, None),
        quartiles=(1, 1, 1, 1),
        within=0.0,
        between=None,
        repetitions=1,
        launches=1,
        bytes_moved=8,
        verified_bytes=8,
        errors=0,
    )
    fits = Fits(schema=SCHEMA, summaries=[summary], fits=[])
    folder.save_fits(fits)
    assert msgspec.json.decode(folder.fits_path.read_bytes(), type=Fits) == fits
    assert [p.name for p in folder.path.iterdir() if p.name.startswith(".")] == [], "nothing left beside"


def test_folders_that_are_no_runs(tmp_path):
    assert code(lambda: RunFolder.open(tmp_path / "nothing")) == "no-run-folder"
    assert code(lambda: RunFolder.open(tmp_path)) == "not-a-run-folder"
    (tmp_path / "file").touch()
    assert code(lambda: RunFolder.open(tmp_path / "file")) == "not-a-run-folder"
    for hostile in ("\0", "a\0b", "x" * 5000):
        with pytest.raises(UsageError):
            RunFolder.open(tmp_path / hostile)
    assert code(lambda: RunFolder.create(tmp_path, PLAN, MACHINE)) == "run-folder-not-empty"
    assert code(lambda: RunFolder.create(tmp_path / "file", PLAN, MACHINE)) == "run-not-a-folder"
    with raises_code("file-not-writable", errno=errno.ENOTDIR):
        RunFolder.create(tmp_path / "file" / "deeper", PLAN, MACHINE)


def test_a_place_without_permission_is_an_environment_problem(tmp_path):
    """As another user if the tests run as root, to whom permissions do not apply."""
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o555)
    script = (
        "import sys, pathlib\nsys.path[:0] = sys.argv[2:]\n"
        "from hockney.store.folder import RunFolder\nfrom hockney.core.errors import EnvironmentProblem\n"
        "from test_store_folder import PLAN, MACHINE\n"
        "import os\n"
        "if os.geteuid() == 0: os.setuid(65534)\n"
        "try: RunFolder.create(pathlib.Path(sys.argv[1]), PLAN, MACHINE)\n"
        "except EnvironmentProblem as error: print(error.code, error.fields['errno'])\n"
    )
    for parent in tmp_path.parents:
        if os.geteuid() == 0 and os.stat(parent).st_uid == 0 and parent.name.startswith("pytest-"):
            os.chmod(parent, 0o755)
    os.chmod(tmp_path, 0o755)
    done = subprocess.run(
        [sys.executable, "-c", script, str(closed / "run"), *map(str, Path(__file__).parents[:2])],
        capture_output=True,
        text=True,
    )
    assert done.stdout.split() == ["file-not-writable", str(errno.EACCES)], done.stderr


def test_a_damaged_machine_and_a_newer_one(tmp_path):
    folder = RunFolder.create(tmp_path / "a", PLAN, MACHINE)
    folder.machine_path.write_bytes(msgspec.json.encode(msgspec.structs.replace(MACHINE, schema=9)))
    assert code(folder.machine) == "file-of-newer-hockney"
    folder.machine_path.write_bytes(b"{")
    with raises_code("file-damaged", path=str(folder.machine_path)):
        folder.machine()
    folder.machine_path.unlink()
    with raises_code("file-not-readable", errno=errno.ENOENT):
        folder.machine()


def test_default_places_do_not_collide(tmp_path):
    now = datetime(2030, 1, 2, 3, 4, 5, tzinfo=timezone.utc)
    first = default_path("survey", now, tmp_path)
    assert first.name == "survey-20300102T030405Z"
    first.mkdir()
    assert default_path("survey", now, tmp_path).name == "survey-20300102T030405Z-2"


def test_a_study_keeps_the_survey_it_goes_by(tmp_path):
    workloads = bundled_catalog().workloads[:2]
    fits = Fits(schema=SCHEMA, summaries=[], fits=[], workloads=workloads)
    surveyed = UsedSurvey(fits, MACHINE, "runs/s", ("host a, here b",))
    folder = RunFolder.create(tmp_path / "a", PLAN, MACHINE, surveyed)
    assert folder.surveyed() == surveyed
    assert RunFolder.create(tmp_path / "b", PLAN, MACHINE).surveyed() is None
    folder.survey_path.write_bytes(msgspec.json.encode(msgspec.structs.replace(surveyed, schema=9)))
    assert code(folder.surveyed) == "file-of-newer-hockney"
    folder.survey_path.write_bytes(b"{}")
    assert code(folder.surveyed) == "file-damaged"


@given(
    st.text(max_size=30),
    st.text(max_size=30),
    st.floats(1e-3, 1e6),
    st.integers(0, 2**63 - 1),
    st.booleans(),
    st.floats(0, 1e6),
    st.floats(0, 1e6),
)
@settings(max_examples=80, deadline=None)
def test_plans_are_read_back_whatever_was_typed(mpi, machine, budget, seed, bind, every, through):
    asked = Settings(
        "survey",
        budget_s=budget,
        seed=seed,
        bind=bind,
        mpi=mpi,
        machine=machine,
        every_s=every,
        through_s=through,
    )
    plan = Plan(asked, PLAN.items)
    assert parse_plan(plan.text, "plan.txt") == plan


def test_the_time_for_all_rounds():
    asked = Settings("cases", budget_s=10.0, launches=6, every_s=60.0)
    assert asked.total_s == 60 and "every_s = 60.0" in Plan(asked, ()).text
    assert PLAN.settings.total_s == PLAN.settings.budget_s


@pytest.mark.parametrize(
    ("old", "new", "code", "number"),
    [
        (f"schema = {SCHEMA}", f"schema = {SCHEMA + 1}", "file-of-newer-hockney", None),
        (f"schema = {SCHEMA}", f"schema = {SCHEMA - 1}", "plan-without-settings", None),
        (f"schema = {SCHEMA}\n", "", "plan-without-settings", None),
        ("seed = 7", 'seed = "x"', "plan-without-settings", None),
        ("seed = 7", "tempo = 7", "plan-without-settings", None),
        ("seed = 7", "seed = " + "[" * 100_000, "plan-without-settings", None),
        ("1 1 barrier", "1 x barrier", "plan-damaged", 17),
        ("ranks=2 sync", "ranks=0 sync", "plan-damaged", 17),
        ("1 1 barrier", "what is this", "plan-damaged", 17),
        ("1 1 barrier", "# 1 1 barrier", "plan-of-other-length", None),
        ("# measurements = ", "# measurements = 1", "plan-of-other-length", None),
    ],
)
def test_a_damaged_plan_is_named_by_line(old, new, code, number):
    text = PLAN.text
    assert old in text
    with pytest.raises(EnvironmentProblem) as caught:
        parse_plan(text.replace(old, new), "plan.txt")
    assert caught.value.code == code and caught.value.fields.get("line") == number


def test_left_is_what_is_not_done():
    again = [launch(name="0.1"), record(CASE.line), record(PLAN.items[2].case.line)]
    own = msgspec.structs.replace(again[1], launch="0.1")
    assert unmeasured_items(PLAN, RunRecords.of([again[0], own, again[2]])) == PLAN.items[1:], (
        "a launch of its own, and a stray record"
    )
    assert unmeasured_items(PLAN, RunRecords()) == PLAN.items
    assert PLAN.cases == (CASE, PLAN.items[2].case)
