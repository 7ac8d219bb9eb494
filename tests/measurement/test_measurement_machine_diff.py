# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What a machine has no room for is refused, and differences between machines are found."""

from dataclasses import replace

import pytest
from msgspec.structs import replace as replace_fields
from raising import raises_code

from hockney import measurement
from hockney.core.case import Case
from hockney.core.errors import UsageError
from hockney.machines import simulated
from hockney.measurement.bench import refuse_too_many_ranks, refuse_too_much_memory
from hockney.measurement.machine_diff import resume_differences


def test_too_many_ranks_are_refused_before_they_start():
    bench = measurement.fake_bench("fake")
    with raises_code("ranks-exceed-machine", limit=64):
        refuse_too_many_ranks(9999999, bench.machine)
    refuse_too_many_ranks(64, bench.machine)


def test_messages_that_no_memory_holds_are_refused_before_ranks_start():
    machine = replace_fields(measurement.fake_bench("fake").machine, memory_bytes=1 << 33)
    fits, large = Case.of("pingpong", 2, bytes=1 << 32), Case.of("pingpong", 2, bytes=3 << 31)
    refuse_too_much_memory([fits], machine)
    with pytest.raises(UsageError) as caught:
        refuse_too_much_memory([fits, large], machine)
    assert caught.value.code == "message-exceeds-memory"
    assert caught.value.fields == {"bytes": 3 << 31, "ranks": 2, "memory": 1 << 33}
    refuse_too_much_memory([large], replace_fields(machine, scheduler="slurm"))  # perhaps on two hosts
    with pytest.raises(UsageError):
        refuse_too_much_memory([Case.of("pingpong", 2, bytes=1 << 34)], machine)
    refuse_too_much_memory([large], replace_fields(machine, memory_bytes=0))  # unknown


def test_memory_of_a_simulated_machine_has_no_limit():
    bench = measurement.fake_bench("fake")
    case = bench.catalog.case("pingpong bytes=1TiB")
    with pytest.raises(UsageError):
        measurement.check_memory(bench, [case])
    t3e = replace_fields(bench.machine, platform=simulated.platform("t3e"))
    measurement.check_memory(replace(bench, machine=t3e), [case])


def test_a_run_resumed_elsewhere_says_what_changed():
    here = measurement.fake_bench("fake").machine
    assert resume_differences(here, here) == ()
    there = replace_fields(here, host="other", compiler="new")
    assert [difference.field for difference in resume_differences(here, there)] == ["host", "compiler"]
