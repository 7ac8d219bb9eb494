# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Lines of a run: read back as written, and the schema in contract/ agrees with the classes."""

import json
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from hockney.core.record import (
    SCHEMA,
    Clock,
    Close,
    End,
    Failure,
    Launch,
    Rank,
    Record,
    RunRecords,
    Start,
    Stop,
    Sync,
    Verified,
    decode_engine_line,
    decode_line,
    encode_line,
    json_schema,
)

LAUNCH = Launch(
    schema=SCHEMA,
    launch="0.0",
    index=0,
    origin="fake",
    started_s=1.5,
    ranks=[Rank(host="h", pid=1, cpus="0")],
    mpi_standard="4.1",
    library="l",
    engine="e",
    compiler="c",
    clock=Clock(overhead_s=1e-8, resolution_s=1e-9),
)


def record(case: str, launch: str = "0.0") -> Record:
    return Record(
        schema=SCHEMA,
        launch=launch,
        origin="fake",
        position=0,
        case=case,
        started_s=2.0,
        times_s=[1e-6, 2.5e-7],
        batch=3,
        warmup_s=[4e-6],
        bytes_moved=8,
        sync=Sync(kind="window", error_s=1e-8, late=2),
        stop=Stop(reason="precision", precision=0.02, achieved=0.01),
        verified=Verified(bytes=8, errors=0),
    )


LINES = [
    LAUNCH,
    record("pingpong bytes=8 ranks=2"),
    Failure(
        schema=SCHEMA,
        launch="0.0",
        case="barrier ranks=2",
        reason="hung",
        message="<b>\u2028",
        silent_ranks=[1],
    ),
    Close(schema=SCHEMA, launch="0.0", seconds=2.0, exit_code=0, outside_cores=0.1, steal=None),
]


@pytest.mark.parametrize("line", LINES, ids=lambda line: type(line).__name__)
def test_lines_are_read_back(line):
    assert decode_line(encode_line(line)) == line
    assert b"\n" not in encode_line(line)


def test_only_the_engine_says_start_and_end():
    for line in (Start(case="barrier ranks=2", position=0), End(cases=1)):
        assert decode_engine_line(encode_line(line)) == line
        with pytest.raises(msgspec.ValidationError):
            decode_line(encode_line(line))
    with pytest.raises(msgspec.ValidationError):
        decode_engine_line(encode_line(LINES[3]))


def test_a_place_is_one_of_the_levels():
    line = encode_line(replace(record("pingpong bytes=8 ranks=2"), place="network"))
    assert decode_line(line).place == "network"
    with pytest.raises(msgspec.ValidationError):
        decode_line(line.replace(b"network", b"\x7fnode"))


def test_the_contracts_schema_is_made_from_the_classes():
    path = Path(__file__).parents[2] / "contract" / "records.schema.json"
    assert json.loads(path.read_text()) == json.loads(json.dumps(json_schema())), (
        "make it again with json_schema()"
    )


def test_a_run_groups_what_it_reads():
    run = RunRecords.of([*LINES, record("pingpong bytes=8 ranks=2", "1.0"), record("barrier ranks=2")])
    assert [len(part) for part in (run.launches, run.records, run.failures, run.closes)] == [1, 3, 1, 1]
    assert [len(group) for group in run.by_case().values()] == [2, 1]
    assert run.records[0].parse_case()["bytes"] == 8
