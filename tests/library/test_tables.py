# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The tables that `hockney tune` writes, read by the programs they are for: hockney's library and Open MPI.

Whether Open MPI follows a rule is seen without timing: it returns an error if the rule selects an algorithm
that does not exist.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from installed import HERE, built_example, did, run
from needs import missing
from real_mpi import engine_for

from hockney import api
from hockney.api.tuning import CHOICES, DYNAMIC_RULES, RETURNED_SUFFIX, TuningTables, check_gains
from hockney.core.errors import UsageError
from hockney.core.fit import Estimate
from hockney.core.freed_memory import RETURNED_VARIABLES
from hockney.core.machine import Mpi
from hockney.models.tuning import openmpi
from hockney.models.tuning.rules import ChoiceRule, format_choices
from hockney.mpi import environment_of
from hockney.studies.tuning.results import Tuning

pytestmark = pytest.mark.mpi
HALF = Estimate(0.5, 0.45, 0.55)
SIZES = (8, 56, 64, 72, 128, 504, 512, 520, 4096)


@pytest.fixture
def only_openmpi(mpi_name: str) -> None:
    if mpi_name != "openmpi":
        pytest.skip("rules of Open MPI")


@pytest.fixture(scope="module")
def ruled(mpi: Mpi, tmp_path_factory) -> Path:
    program = tmp_path_factory.mktemp("ruled") / "ruled"
    did([str(Path(mpi.mpicxx).with_name("mpicc")), str(HERE / "ruled.c"), "-o", str(program)])
    return program


def failures(mpi: Mpi, program: Path, ranks: int, file: Path) -> dict[str, list[int]]:
    lines = run(mpi, program, ranks, *map(str, SIZES), **openmpi.rules_file_variables(str(file))).splitlines()
    return {line.split()[0]: [int(size) for size in line.split()[1:]] for line in lines}


@pytest.mark.usefixtures("only_openmpi")
def test_open_mpi_uses_a_rule_for_its_ranks_and_sizes_only(mpi, ruled, tmp_path):
    rules = [ChoiceRule(operation, 2, "tuned1", (64, 512), (HALF, HALF)) for operation in openmpi.ALGORITHMS]
    good = openmpi.format_dynamic_rules(rules, ["a comment"])
    file = tmp_path / openmpi.PREFIX
    file.write_text(good)
    none: dict[str, list[int]] = {operation: [] for operation in openmpi.ALGORITHMS}
    assert failures(mpi, ruled, 2, file) == none
    file.write_text(re.sub(r"^(\d+) 1 4 0 #", r"\1 99 4 0 #", good, flags=re.MULTILINE))
    inside = [size for size in SIZES if 64 <= size <= 512]
    assert failures(mpi, ruled, 2, file) == dict.fromkeys(openmpi.ALGORITHMS, inside)
    assert failures(mpi, ruled, 3, file) == none


@pytest.mark.usefixtures("only_openmpi")
def test_the_names_are_those_of_open_mpi(mpi):
    program = Path(mpi.mpicxx).with_name("ompi_info")
    if not program.exists():
        missing("ompi_info")
    parameters = did([str(program), "--all", "--parsable"], environment_of(mpi))
    for operation, names in openmpi.ALGORITHMS.items():
        listed = re.findall(
            rf"coll_tuned_{operation}_algorithm:enumerator:value:(\d+):(\S+)", parameters, re.MULTILINE
        )
        assert [(int(number), name) for number, name in listed] == list(enumerate(("ignore", *names)))


@pytest.mark.slow
def test_the_library_reads_the_table(mpi, prefix, tmp_path):
    """The example sums 80 kB."""
    work = built_example(prefix, "coll", tmp_path / "work")
    table = tmp_path / "table"
    for size, chosen in ((80_000, "rabenseifner"), (80_008, "mpi")):
        table.write_text(
            format_choices([ChoiceRule("allreduce", 2, "rabenseifner", (size,), (HALF,))], ["a run"])
        )
        printed = run(mpi, work / "sums", 2, HOCKNEY_CHOICES=str(table))
        assert printed.endswith(f"by the table: {chosen}\n")


@pytest.fixture
def tuned(tmp_path) -> TuningTables:
    """Tables of both kinds."""
    ours = (
        ChoiceRule("allreduce", 2, "ring", (64, 4096), (HALF, HALF)),
        ChoiceRule("barrier", 2, "shm_tree", (0,), (HALF,)),
    )
    theirs = ChoiceRule("bcast", 2, "tuned3", (1024,), (HALF,))
    (tmp_path / CHOICES).write_text(format_choices(ours, []))
    (tmp_path / DYNAMIC_RULES).write_text(openmpi.format_dynamic_rules([theirs], []))
    found = Tuning((), ours, (), (theirs,))
    return TuningTables(found, tmp_path / CHOICES, tmp_path / DYNAMIC_RULES)


@pytest.mark.slow
@pytest.mark.usefixtures("only_openmpi")
def test_the_gain_is_measured_with_and_without_the_tables(mpi, prefix, tuned, tmp_path):
    engine_for(mpi)
    options = api.RunOptions(mpi="openmpi", launches=1, budget=2, bind=False)
    first = api.run("bcast bytes=8 ranks=2", options, out=tmp_path / "first")
    with pytest.raises(UsageError) as caught:
        check_gains(first, tuned, 2, tmp_path / "nowhere")
    assert caught.value.code == "no-preload-library"

    again, gains = check_gains(first, tuned, 12, prefix, launches=2, out=tmp_path / "again")
    places = [(gain.setting, gain.operation, gain.ranks, gain.size) for gain in gains]
    assert places == [
        ("preloaded", "allreduce", 2, 64),
        ("preloaded", "allreduce", 2, 4096),
        ("preloaded", "barrier", 2, 0),
        ("ruled", "bcast", 2, 1024),
    ]
    ratios = [each for gain in gains for each in gain.memories.values()]
    assert all(each.ratio.value > 0 and min(each.seconds) > 0 for each in ratios)
    launches = {launch.setting: dict(launch.variables) for launch in again.reading.run.launches}
    assert set(launches) == {
        f"{name}{end}" for name in ("plain", "preloaded", "ruled") for end in ("", RETURNED_SUFFIX)
    }
    assert launches["plain"] == {} and launches[f"plain{RETURNED_SUFFIX}"] == RETURNED_VARIABLES
    assert launches["ruled"] == openmpi.rules_file_variables(str(tmp_path / DYNAMIC_RULES))
    assert launches[f"ruled{RETURNED_SUFFIX}"] == {**launches["ruled"], **RETURNED_VARIABLES}
    assert launches["preloaded"]["HOCKNEY_CHOICES"] == str(tmp_path / CHOICES)
    assert not again.wrong and again.settings.bind is False
