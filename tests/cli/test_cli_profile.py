# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney profile, with a launcher whose ranks have left files before, and with real MPIs."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from command_line import one_error
from fake_profile import script

from hockney.api.profile import load_profile
from hockney.core.machine import Mpi
from hockney.profiles.manifest import read_manifest


def run(hockney, *words: str):
    return hockney("profile", "--out", "p", *words)


@pytest.mark.page
def test_a_profile_has_a_summary_a_page_and_a_manifest(hockney, fake_mpi):
    done = run(hockney, "-q", "--", "mpiexec", "-n", "8", "./app", "x")
    assert done.code == 0 and done.out == "", "stdout is the program's"
    lines = done.err.splitlines()
    assert lines[0].startswith("The 8 ranks spend ") and lines[-1] == "report: p/report.html"
    assert "solver.py:120" in done.err and "waiting for rank 3" in done.err.replace("\n", " ")
    assert Path("p/report.html").stat().st_size > 10_000
    manifest = read_manifest(Path("p"))
    assert manifest.command == ["mpiexec", "-n", "8", "./app", "x"] and manifest.program == "app"
    assert (manifest.mpi.family, manifest.mpi.version) == ("openmpi", "5.0.11")
    assert [launch.exit_code for launch in manifest.launches] == [0]


def test_a_profile_is_shown_again(hockney, fake_mpi):
    first = run(hockney, "-q", "--", "mpiexec", "-n", "8", "./app")
    again = hockney("profile", "p")
    assert again.code == 0 and again.out.splitlines() == first.err.splitlines()
    assert hockney("report", "p").out.splitlines() == ["p/report.html"]
    assert hockney("profile", "p", "--report", "x.html").code == 2, "options come before the command"
    assert hockney("profile", "--report", "x.html", "p").code == 0 and Path("x.html").exists()
    assert one_error(hockney("report", "p", "--cost", "undisturbed"), 2)


def test_several_launches(hockney, fake_mpi):
    done = run(hockney, "--repeat", "3", "--json", "--", "mpiexec", "-n", "8", "./app")
    document = json.loads(done.out)
    assert document["exit_code"] == 0 and document["ranks_count"] == 8 and document["overhead"] is None
    assert document["call_sites"][0]["function"] == "MPI_Allreduce"
    assert document["launches"] == 3 and document["elapsed_s"]["low"] is not None
    assert "launch 3 of 3" in done.err


def test_the_overhead_is_that_of_launches_in_random_order(hockney, fake_mpi):
    done = run(hockney, "--overhead", "--json", "--", "mpiexec", "-n", "8", "./app")
    overhead = json.loads(done.out)["overhead"]
    assert overhead["pairs"] == 5 and overhead["ratio"]["low"] <= overhead["ratio"]["value"]
    launches = read_manifest(Path("p")).launches
    assert sum(launch.profiled for launch in launches) == 5 and len(launches) == 10
    for launch in launches:
        assert bool(list(Path("p", launch.folder).glob("*.hkp"))) == launch.profiled
    assert "Recording changes the elapsed time by " in hockney("profile", "p").out


def test_a_program_that_fails_is_profiled(hockney, fake_mpi, tmp_path):
    script(tmp_path / "app", "#!/bin/sh\nexit 7\n")
    done = run(hockney, "-q", "--", "mpiexec", "-n", "8", "./app")
    assert done.code == 1 and "The program ended with exit code 7." in done.err
    assert json.loads(hockney("profile", "--json", "p").out)["exit_code"] == 7


def test_ranks_that_are_missing(hockney, fake_mpi):
    next(fake_mpi.glob("rank-00005*")).unlink()
    done = run(hockney, "-q", "--", "mpiexec", "-n", "8", "./app")
    assert done.code == 4 and "1 of 8 ranks have no profile" in done.err


def test_a_trace_is_asked_for(hockney, fake_mpi):
    """These ranks leave none."""
    for option, mode in (("--trace", "all"), ("--trace=summary", "summary")):
        done = run(hockney, option, "--", "mpiexec", "-n", "8", "./app")
        assert done.code == 0 and "launch-1 has no traces" in done.err
        assert json.loads(Path("p/profile.json").read_text())["trace"] == mode
        shutil.rmtree("p")
    run(hockney, "--", "mpiexec", "-n", "8", "./app")
    assert hockney("profile", "--trace=all", "p").error.code == "option-without-launch"


def test_nothing_was_recorded(hockney, fake_mpi, tmp_path):
    for file in fake_mpi.iterdir():
        file.unlink()
    (fake_mpi / "other").touch()
    script(tmp_path / "app", "#!/bin/sh\ntouch has-run\n")
    done = run(hockney, "-q", "--", "mpiexec", "-n", "8", "./app")
    assert done.error.code == "profile-nothing-recorded" and done.code == 3
    assert Path("has-run").exists()
    again = hockney("profile", "p")
    assert again.code == 3 and again.error.code


def test_srun_and_a_program_without_a_launcher(hockney, fake_mpi, tmp_path):
    assert run(hockney, "-q", "--", "srun", "-n", "8", "./app").code == 0
    copies = f'#!/bin/sh\ncp {fake_mpi}/* "$HOCKNEY_PROFILE_FOLDER"\n'
    script(tmp_path / "alone", copies)
    assert hockney("profile", "--out", "q", "./alone").code == 0


def test_errors_before_anything_starts(hockney, fake_mpi):
    for words, code in {
        (): "profile-without-command",
        ("--", "no-such-launcher", "./app"): "profile-command-not-found",
        ("--live", "p", "./app"): "option-without-launch",
        ("--survey", "nowhere", "./app"): "no-run-folder",
        ("--repeat", "0", "./app"): "integer-out-of-range",
    }.items():
        done = run(hockney, *words) if "--live" not in words else hockney("profile", *words)
        assert done.code == 2 and done.error.code == code, (words, done.err)
        assert not Path("p").exists()
    Path("taken").mkdir()
    Path("taken/file").touch()
    assert hockney("profile", "--out", "taken", "./app").error.code == "run-folder-not-empty"
    done = hockney("profile", "--out", "/proc/p", "--", "mpiexec", "./app")
    assert (done.code, done.error.code) == (3, "profile-folder-not-writable") and done.out == ""


def test_a_survey_explains_the_profile(hockney, fake_mpi, surveyed):
    """The survey of the fake machine counts as one of any machine and MPI."""
    document = json.loads(run(hockney, "--json", "--", "mpiexec", "-n", "8", "./app").out)
    assert document["survey"].endswith("runs/first")
    without = json.loads(hockney("profile", "--survey", "none", "--json", "p").out)
    assert without["survey"] is None
    done = hockney("profile", "--out", "q", "--survey", "none", "--json", "--", "mpiexec", "./app")
    assert json.loads(done.out)["survey"] is None
    again = json.loads(hockney("profile", "--survey", surveyed, "--json", "q").out)
    assert again["survey"].endswith("runs/first")
    assert hockney("profile", "--survey", "new", "q").error.code == "survey-of-profile"


def test_two_profiles_are_compared(hockney, fake_mpi):
    for name in ("a", "b"):
        hockney("profile", "-q", "--repeat", "5", "--out", name, "--", "mpiexec", "-n", "8", "./app")
    done = hockney("compare", "a", "b")
    assert done.code == 0 and done.out.startswith("B takes as long as A"), done.err
    assert json.loads(hockney("compare", "a", "b", "--json").out)["verdict"] == "same"
    assert hockney("compare", "a", "b", "--format", "junit").error.code == "option-of-runs"
    assert hockney("compare", "a", "b", "--", "b").error.code == "several-profiles"
    assert hockney("compare", "a", "nowhere").code == 2


def test_in_python(fake_mpi):
    import hockney

    profile = hockney.profile("mpiexec -n 8 ./app", out="p", survey="none")
    assert profile.exit_code == 0 and profile.headline[0].startswith("The 8 ranks")
    frame = profile.frame("calls", "pandas")
    assert frame.loc[0, "function"] == "MPI_Allreduce" and frame.loc[0, "calls"] == 400
    assert len(profile.table("ranks").columns["rank"]) == 8
    with pytest.raises(hockney.UsageError):
        profile.table("others")
    assert hockney.load_profile("p").document["call_sites"] == profile.document["call_sites"]
    with pytest.raises(hockney.UsageError):
        hockney.load_profile("nowhere")


COUNTED = """
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  char buffer[64] = {0};
  for (int k = 0; k < 100 && size > 1; ++k) {
    if (rank == 0) {
      MPI_Send(buffer, 8, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    } else if (rank == 1) {
      MPI_Recv(buffer, 8, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
  }
  int sum = 0;
  for (int k = 0; k < 30; ++k) MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("sum %d of %d\\n", sum, size);
  fflush(stdout);
  MPI_Finalize();  // before it no rank fails, as the launcher would end the other one
  return argc > 1 ? 3 : 0;
}
"""


def as_root() -> dict[str, str]:
    return {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_btl": "^ofi"}


def compiled(mpi: Mpi, folder: Path, *options: str) -> Path:
    path = folder / "counted"
    (folder / "counted.c").write_text(COUNTED)
    words = [
        mpi.mpicxx.replace("mpicxx", "mpicc"),
        "-g",
        *options,
        "-o",
        str(path),
        str(folder / "counted.c"),
    ]
    subprocess.run(words, check=True)
    return path


def profiled(folder: Path, *words: str | Path, **environ: str) -> subprocess.CompletedProcess[str]:
    """hockney profile as a new process."""
    command = [sys.executable, "-m", "hockney", "profile", *map(str, words)]
    env = {name: value for name, value in os.environ.items() if name != "HOCKNEY_MACHINE"}
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, env={**env, **as_root(), **environ}, timeout=120
    )


@pytest.mark.mpi
def test_a_real_program_on_2_ranks(mpi, tmp_path):
    """Its output and exit code are those of the program without hockney."""
    words = [mpi.mpiexec, "-n", "2", compiled(mpi, tmp_path), "fail"]
    bare = subprocess.run(
        list(map(str, words)), capture_output=True, text=True, env={**os.environ, **as_root()}, cwd=tmp_path
    )
    done = profiled(tmp_path, "-q", "--out", "p", "--", *words)
    assert done.stdout == bare.stdout and "sum 1 of 2" in bare.stdout
    assert bare.returncode != 0 and done.returncode == 1, done.stderr
    assert read_manifest(tmp_path / "p").launches[0].exit_code == bare.returncode
    document = msgspec.to_builtins(load_profile(tmp_path / "p").document)
    assert document["mpi"]["family"] == mpi.family and document["ranks_count"] == 2
    calls = {each["function"]: each for each in document["call_sites"]}
    assert {name: calls[name]["calls"] for name in ("MPI_Send", "MPI_Recv", "MPI_Allreduce")} == {
        "MPI_Send": 100,
        "MPI_Recv": 100,
        "MPI_Allreduce": 60,
    }
    assert calls["MPI_Send"]["file"].endswith("counted.c") and calls["MPI_Recv"]["time_s"] > 0
    assert document["matrix"] == [{"from": "0", "to": "1", "messages": 100, "bytes": 800.0}]


@pytest.mark.slow
@pytest.mark.mpi
def test_a_singleton_and_a_script(mpi, tmp_path):
    path = compiled(mpi, tmp_path)
    done = profiled(tmp_path, "--json", "--out", "p", path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["ranks_count"] == 1
    assert "sum 0 of 1\n" in done.stderr, "the program's output, as stdout is the document"
    text = f"#!/bin/sh\n{mpi.mpiexec} -n 2 {path}\n"
    run_script = script(tmp_path / "run.sh", text)
    folder = Path(mpi.mpiexec).parent
    done = profiled(
        tmp_path, "--json", "--out", "q", run_script, PATH=f"{folder}{os.pathsep}{os.environ['PATH']}"
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["ranks_count"] == 2
