# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The library that makes MPI wait asleep: it saves processor time, and a launch without it is refused."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hosts import BUS, LONGEST_S, programs
from raising import raises_code

from hockney import measurement
from hockney.core.launcher_options import parse_launcher_options
from hockney.launch.launcher import LaunchFailed, LaunchOptions
from hockney.machines import emulated

BLOCKED = r"""
#include <mpi.h>
#include <time.h>
#include <unistd.h>
#include <cstdio>

double processor() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return time.tv_sec + 1e-9 * time.tv_nsec;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, byte = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Barrier(MPI_COMM_WORLD);
  const double before = processor();
  if (rank == 1) {
    sleep(2);
    MPI_Send(&byte, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  } else if (rank == 0) {
    MPI_Recv(&byte, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    std::printf("blocked %f\n", processor() - before);
    std::fflush(stdout);
  }
  MPI_Finalize();
}
"""


def machine_file(folder: Path) -> str:
    programs()
    path = folder / "bus.toml"
    path.write_text(emulated.write(BUS))
    return f"lan:{path}"


@pytest.mark.slow(40)
@pytest.mark.mpi
def test_a_blocked_rank_leaves_the_processor_to_others(mpi, mpi_name, tmp_path):
    """The user's -x chooses the longest sleep; 0 is an MPI that polls."""
    source, program = tmp_path / "blocked.cpp", tmp_path / "blocked"
    source.write_text(BLOCKED)
    subprocess.run([mpi.mpicxx, str(source), "-o", str(program)], check=True, capture_output=True)

    def processor_s(wait_us: int) -> float:
        options = parse_launcher_options("", [f"HOCKNEY_WAIT_US={wait_us}"])
        bench = measurement.prepare(machine_file(tmp_path), mpi_name, launcher=options)
        bench.launcher.engine = program
        made = bench.launcher.describe(2)
        environ = {**os.environ, **dict(made.environment)}
        done = subprocess.run(made.words, env=environ, capture_output=True, text=True, timeout=LONGEST_S)
        (line,) = (line for line in done.stdout.splitlines() if line.startswith("blocked "))
        return float(line.split()[1])

    assert processor_s(0) > 5 * processor_s(5000)


@pytest.mark.slow
@pytest.mark.mpi
def test_a_launch_without_the_library_is_refused(mpi_name, engine, tmp_path):
    """Its ranks would poll, and hold up each other's messages."""
    bench = measurement.prepare(machine_file(tmp_path), mpi_name)
    bench.launcher._cluster = replace(bench.launcher.cluster, preload="/nowhere/libhockney-waiting.so")
    case = bench.catalog.case("pingpong bytes=0 ranks=2")
    with pytest.raises(LaunchFailed) as caught:
        list(bench.launcher.run([case], 2, LaunchOptions("L", 0, budget_s=1.0, origin="emulated")))
    assert "libhockney-waiting.so was not loaded" in str(caught.value) + "".join(caught.value.tail)


POLLING = """
import ctypes, os, signal, struct
signal.signal(signal.SIGALRM, lambda *_: None)
readable, _ = os.pipe()
waiting = ctypes.create_string_buffer(struct.pack("ihh", readable, 1, 0x7F))
poll = ctypes.CDLL(None).poll
signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
found = poll(waiting, 1, 0)
signal.setitimer(signal.ITIMER_REAL, 0)
print(found, struct.unpack("ihh", waiting.raw[:8])[2])
"""


@pytest.mark.compiler
def test_a_signal_is_no_error_of_a_poll_that_does_not_wait():
    environ = {**os.environ, "LD_PRELOAD": str(programs().waiting), "HOCKNEY_WAIT_US": "2000000"}
    done = subprocess.run(
        [sys.executable, "-c", POLLING], env=environ, capture_output=True, text=True, timeout=60
    )
    assert done.stdout == "0 0\n", done.stderr


@pytest.mark.compiler
@pytest.mark.parametrize("name", ["a b", "a:b"])
def test_a_cache_that_cannot_be_preloaded_from_is_refused(name, tmp_path, monkeypatch):
    machine = machine_file(tmp_path)
    cache = tmp_path / name
    shutil.copytree(programs().waiting.parents[1], cache / "emulated", symlinks=True)
    monkeypatch.setenv("HOCKNEY_CACHE", str(cache))
    with raises_code("library-not-preloadable"):
        measurement.prepare(machine)


@pytest.mark.slow
@pytest.mark.mpi
def test_a_folder_that_hosts_do_not_see_is_refused(mpi_name, engine, tmp_path, monkeypatch):
    machine = machine_file(tmp_path)
    monkeypatch.chdir("/dev/shm")
    with raises_code("hidden-on-emulated-hosts"):
        measurement.prepare(machine, mpi_name)
