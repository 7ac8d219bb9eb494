# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The whole way on emulated hosts: a survey of both levels, and a measurement by an ordinary user."""

from __future__ import annotations

import json
import math
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from hosts import BUS, LONGEST_S, SETUP_FAILED, nobody, programs, readable_programs

from hockney import api, measurement
from hockney.core.case import parse_canonical
from hockney.core.layout import NETWORK
from hockney.machines import emulated
from hockney.models.applications.message_costs import chosen_fits

pytestmark = pytest.mark.mpi

SLOWEST, FASTEST = 0.8, 1.03
"""A busy machine delays frames; without their headers, a wire would be 6% faster."""


def machine_file(folder: Path) -> str:
    programs()
    path = folder / "bus.toml"
    path.write_text(emulated.write(BUS))
    return f"lan:{path}"


@pytest.mark.slow
def test_a_survey_tells_messages_on_a_host_from_those_between_hosts(mpi_name, engine, tmp_path):
    """Between hosts, the asymptotic rate is the payload rate. On a busy machine the model may fit poorly, but
    the fastest messages show the rate as well."""
    options = api.RunOptions(
        machine=machine_file(tmp_path), mpi=mpi_name, nodes=2, ranks_per_node=2, budget=60.0
    )
    run = api.survey(options, out=tmp_path / "r")
    chosen = chosen_fits(run.fits)
    assert chosen is not None and chosen.within_node_fit is not None
    assert chosen.main_fit.subject.get("place") == NETWORK
    near, far = (fit.segments[-1].per_byte.value for fit in (chosen.within_node_fit, chosen.main_fit))
    assert near < far / 5
    if chosen.main_fit.verdict != "poor":
        assert SLOWEST < 1 / far / BUS.payload_rate < FASTEST
    fastest_s: dict[int, float] = {}
    for record in run.records:
        case = parse_canonical(record.case)
        if case.workload == "pingpong" and record.place == NETWORK and case.bytes >= 4096:
            fastest_s[case.bytes] = min(fastest_s.get(case.bytes, math.inf), *record.times_s)
    few, many = min(fastest_s), max(fastest_s)
    rate = (many - few) / (fastest_s[many] - fastest_s[few])
    assert many >= 4 * few and SLOWEST < rate / BUS.payload_rate < FASTEST


@pytest.mark.slow
def test_an_ordinary_user_measures(mpi_name, engine, tmp_path):
    """With MPI, which then runs as root of a user namespace."""
    launch = measurement.prepare(machine_file(tmp_path), mpi_name).launcher
    before: tuple[str, ...] = ()
    if os.geteuid() == 0:
        before = nobody()
        if subprocess.run([*before, "test", "-x", launch.mpi.mpiexec]).returncode:
            pytest.skip("an ordinary user cannot read this MPI")
    with readable_programs() as tools:
        folder = tools.ethernet.parent
        plan = folder / "plan.txt"
        plan.write_text("pingpong bytes=1000 ranks=2\n")
        made = launch.describe(2)
        replaced = {str(launch.engine): shutil.copy(launch.engine, folder), "FILE": str(plan)}
        for own, copy in zip(
            (programs().ethernet, programs().agent, programs().waiting),
            (tools.ethernet, tools.agent, tools.waiting),
            strict=True,
        ):
            replaced[str(own)] = str(copy)
            replaced[f"LD_PRELOAD={own}"] = f"LD_PRELOAD={copy}"
        words = [*before, *(replaced.get(word, word) for word in made.words)]
        environ = {**os.environ, **dict(made.environment), "HOME": str(folder)}
        options = ["--budget", "1", "--waits", "asleep"]
        done = subprocess.run(
            [*words, *options], env=environ, capture_output=True, text=True, timeout=LONGEST_S, cwd="/"
        )
    if done.returncode == SETUP_FAILED and "user namespace" in done.stderr:
        pytest.skip(done.stderr)
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    (record,) = (line for line in lines if line["kind"] == "record")
    assert record["verified"]["errors"] == 0 and record["verified"]["bytes"] > 0
    assert min(record["times_s"]) > BUS.wire_s(1000) * 0.98, done.stderr
