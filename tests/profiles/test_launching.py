# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Command lines with the recording library, and launches by launchers that tests make up."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from launchers import compiled, environment, launcher, program
from signals import heed_interrupts

from hockney.core.errors import EnvironmentProblem
from hockney.profiles import launching
from hockney.profiles.launching import launch_all, launch_command, measure_overhead, plan_launches
from hockney.profiles.manifest import Manifest, ProfiledLaunch, ProfiledMpi, read_manifest
from hockney.profiles.program import parse_command

FOLDER = Path("/runs/p/launch-1")
HERE = Path(__file__).parent


def words_of(line: str, environ: dict[str, str]) -> str:
    command = parse_command(line, environ)
    return " ".join(launch_command(command, "/lib/h.so", FOLDER, environ).words)


def variables_of(line: str, environ: dict[str, str]) -> dict[str, str]:
    changed = launch_command(parse_command(line, environ), "/lib/h.so", FOLDER, environ).environ
    return {name: value for name, value in changed.items() if environ.get(name) != value}


@pytest.fixture
def app(tmp_path) -> str:
    return str(program(tmp_path / "app"))


@pytest.fixture
def environ(tmp_path):
    """environ("mpich") has a mpiexec of this family on PATH."""

    def make(family: str, **more: str) -> dict[str, str]:
        return environment(launcher(tmp_path, family).parent) | more

    return make


HYDRA = "-genv LD_PRELOAD /lib/h.so -genv HOCKNEY_PROFILE_FOLDER /runs/p/launch-1"
OMPI = "-x LD_PRELOAD=/lib/h.so -x HOCKNEY_PROFILE_FOLDER=/runs/p/launch-1"
IN_ENVIRONMENT = {"LD_PRELOAD": "/lib/h.so", "HOCKNEY_PROFILE_FOLDER": "/runs/p/launch-1"}


@pytest.mark.parametrize(("family", "options"), [("openmpi", OMPI), ("mpich", HYDRA), ("intel", HYDRA)])
def test_variables_are_options_of_the_launcher(environ, app, family, options):
    env = environ(family)
    assert words_of(f"mpiexec -n 2 {app} x", env) == f"mpiexec {options} -n 2 {app} x"
    assert variables_of(f"mpiexec -n 2 {app}", env) == {}, "the launcher itself is not changed"
    assert words_of(f"env A=B timeout 9 mpiexec {app}", env) == f"env A=B timeout 9 mpiexec {options} {app}"


def test_traces_have_variables_of_their_own(environ, app):
    env = environ("openmpi", HOCKNEY_PROFILE_TRACE_LIMIT="64", HOCKNEY_PROFILE_COUNTER="cpu-time")
    command = parse_command(f"mpiexec -n 2 {app}", env)
    words = " ".join(launch_command(command, "/lib/h.so", FOLDER, env, "summary").words)
    traced = "-x HOCKNEY_PROFILE_TRACE=summary -x HOCKNEY_PROFILE_TRACE_LIMIT=64"
    traced += " -x HOCKNEY_PROFILE_COUNTER=cpu-time"
    assert words == f"mpiexec {OMPI} {traced} -n 2 {app}"


def test_several_programs_of_one_launch(environ, app):
    line = f"mpiexec -n 1 {app} : -n 1 {app}"
    assert words_of(line, environ("openmpi")) == f"mpiexec {OMPI} -n 1 {app} : {OMPI} -n 1 {app}"
    assert words_of(line, environ("mpich")) == f"mpiexec {HYDRA} -n 1 {app} : -n 1 {app}"


def test_otherwise_variables_are_in_the_environment(environ, app, tmp_path):
    env = environ("unknown")
    for line in (f"mpiexec -n 2 {app}", f"{app} x", "sh run.sh"):
        assert words_of(line, env) == line and variables_of(line, env) == IN_ENVIRONMENT


def test_libraries_that_the_user_preloads_are_kept(environ, app):
    env = environ("openmpi", LD_PRELOAD="/lib/u.so")
    both = OMPI.replace("h.so", "h.so:/lib/u.so")
    assert words_of(f"mpiexec -n 2 {app}", env) == f"mpiexec {both} -n 2 {app}"
    folder = "-x HOCKNEY_PROFILE_FOLDER=/runs/p/launch-1"
    line = f"mpiexec {folder} -x LD_PRELOAD=/lib/h.so:/lib/u.so -n 2 {app}"
    assert words_of(f"mpiexec -x LD_PRELOAD -n 2 {app}", env) == line
    assert words_of(f"mpiexec -x LD_PRELOAD=/lib/u.so -n 2 {app}", environ("openmpi")) == line
    mpich = environ("mpich")
    folder = "-genv HOCKNEY_PROFILE_FOLDER /runs/p/launch-1"
    for option in ("-genv", "-env"):
        line = f"mpiexec {folder} {option} LD_PRELOAD /lib/h.so:/lib/u.so -n 2 {app}"
        assert words_of(f"mpiexec {option} LD_PRELOAD /lib/u.so -n 2 {app}", mpich) == line
    line = f"mpiexec {HYDRA} -n 2 env LD_PRELOAD=/lib/h.so:/lib/u.so {app}"
    assert words_of(f"mpiexec -n 2 env LD_PRELOAD=/lib/u.so {app}", mpich) == line
    alone = variables_of(app, environment() | {"LD_PRELOAD": "/lib/u.so"})
    assert alone["LD_PRELOAD"] == "/lib/h.so:/lib/u.so"


ADDED = "LD_PRELOAD,HOCKNEY_PROFILE_FOLDER"


@pytest.mark.parametrize(
    ("options", "site", "changed"),
    [
        ("", "", ""),
        ("--export=ALL", "", "--export=ALL"),
        ("--export=ALL,A=1", "", "--export=ALL,A=1"),
        ("--export=NONE", "", f"--export={ADDED}"),
        ("--export=nil", "", f"--export={ADDED}"),
        ("--export A,B", "", f"--export A,B,{ADDED}"),
        ("--export=A --export=B=1", "", f"--export=A,{ADDED} --export=B=1,{ADDED}"),
        ("--export=all,LD_PRELOAD=/u.so", "", "--export=all,LD_PRELOAD=/lib/h.so:/u.so"),
        ("--export=LD_PRELOAD=/u.so", "", "--export=LD_PRELOAD=/lib/h.so:/u.so,HOCKNEY_PROFILE_FOLDER"),
        ("--export=LD_PRELOAD", "A", f"--export={ADDED}"),
        ("", "A", f"--export=A,{ADDED}"),
    ],
)
def test_srun_exports_them(tmp_path, app, options, site, changed):
    program(tmp_path / "srun")
    env = environment(tmp_path) | ({"SLURM_EXPORT_ENV": site} if site else {})
    line = " ".join(filter(None, ["srun", options, "-n 2", app]))
    assert words_of(line, env) == " ".join(filter(None, ["srun", changed, "-n 2", app]))
    assert variables_of(line, env) == IN_ENVIRONMENT
    own = f"{app} --export=NONE"
    assert words_of(f"srun {own}", env).endswith(f" {own}"), "which is the program's"


def test_a_path_that_cannot_be_preloaded_is_replaced(tmp_path):
    for name in ("a b", "a:b"):
        (tmp_path / name).mkdir()
        library = tmp_path / name / "libhockney-profile.so"
        library.write_text("library")
        with launching.preloadable(library) as path:
            assert not {":", " "} & {*path} and Path(path).read_text() == "library"
        assert not Path(path).exists()
    with launching.preloadable(tmp_path / "lib.so") as path:
        assert path == str(tmp_path / "lib.so")


def manifest(*launches: ProfiledLaunch) -> Manifest:
    return Manifest(
        command=["x"], program="x", started="", hockney="0", mpi=ProfiledMpi(family="openmpi"), cores=2,
        functions=["Init"], launches=[*launches],
    )  # fmt: skip


def launched(tmp_path: Path, line: str, environ: dict[str, str], plan=(True,), **more):
    command = parse_command(line, environ)
    library = tmp_path / "lib.so"
    return launch_all(command, library, tmp_path / "p", manifest(), plan, environ, **more)


def test_each_launch_is_noted_before_and_after(tmp_path, environ):
    """The launcher keeps the manifest as it is while the program runs."""
    env = environ("openmpi")
    look = f"cp {tmp_path}/p/profile.json {tmp_path}/seen.json; exit 7"
    line = f"mpiexec {program(tmp_path / 'app')}"
    launcher(tmp_path, "openmpi", look)
    manifest, received = launched(tmp_path, line, env)
    seen = json.loads((tmp_path / "seen.json").read_text())["launches"]
    assert [(each["folder"], each["exit_code"], each["ended_ns"]) for each in seen] == [("launch-1", None, 0)]
    before = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    (ended,) = manifest.launches
    assert before - 60 * 10**9 < ended.ended_ns <= before
    assert ended.kernel == f"{launching.kernel_here():x}"
    (entry,) = read_manifest(tmp_path / "p").launches
    assert (entry.exit_code, received) == (7, None) and entry.seconds > 0
    assert manifest == read_manifest(tmp_path / "p")


def test_ranks_get_the_variables_and_the_command_only_when_profiled(tmp_path):
    script = program(
        tmp_path / "app", f'#!/bin/sh\necho "$HOCKNEY_PROFILE_FOLDER $LD_PRELOAD" >> {tmp_path}/out\n'
    )
    (tmp_path / "lib.so").write_text("")
    launched(tmp_path, str(script), environment(), plan=[True, False, True])
    launched(tmp_path, str(script), environment(), preloaded=[Path("/lib/a.so"), Path("/lib/b.so")])
    first, second, third, fourth = (tmp_path / "out").read_text().splitlines()
    assert fourth.endswith(f" {tmp_path}/lib.so:/lib/a.so:/lib/b.so")
    assert first == f"{tmp_path}/p/launch-1 {tmp_path}/lib.so"
    assert second == " " and third.startswith(f"{tmp_path}/p/launch-3 ")


@pytest.mark.parametrize("piped", [True, False])
def test_each_launch_has_the_streams_and_descriptors_of_hockney_and_the_whole_input(tmp_path, piped):
    (tmp_path / "other").write_text("other\n")
    (tmp_path / "file").write_text("skipped\ninput\n")
    with (tmp_path / "other").open() as other, (tmp_path / "file").open("rb", buffering=0) as file:
        file.seek(len("skipped\n"))
        number = other.fileno()
        text = f"#!/bin/sh\ncat\ncat /proc/self/fd/{number}\nprintf 'no newline'\necho error >&2\n"
        given = {"input": "input\n"} if piped else {"stdin": file}
        script = program(tmp_path / "app", text)
        done = in_process(script, tmp_path, 2, pass_fds=[number], **given)
    assert done.stdout == 2 * "input\nother\nno newline" and "error\n" in done.stderr, done.stderr


IN_PROCESS = """
import os, sys
from pathlib import Path
from test_launching import manifest
from hockney.profiles.launching import launch_all
from hockney.profiles.program import parse_command

command = parse_command([sys.argv[1]], os.environ)
plan = [True] * int(sys.argv[3])
ended, received = launch_all(command, None, Path(sys.argv[2]), manifest(), plan, dict(os.environ))
print(received, [launch.exit_code for launch in ended.launches], file=sys.stderr)
"""


ENVIRON = dict(os.environ) | {"PYTHONPATH": os.pathsep.join([str(HERE), *sys.path])}


def words_in_process(script: Path, tmp_path: Path, launches: int) -> list[str]:
    return [sys.executable, "-c", IN_PROCESS, str(script), str(tmp_path / "p"), str(launches)]


def in_process(
    script: Path, tmp_path: Path, launches: int, env=ENVIRON, **more
) -> subprocess.CompletedProcess[str]:
    words = words_in_process(script, tmp_path, launches)
    return subprocess.run(words, capture_output=True, text=True, env=env, **more)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_program_and_not_hockney(tmp_path, number):
    script = program(
        tmp_path / "app",
        "#!/bin/sh\ntrap 'exit 9' INT TERM\nsleep 30 >/dev/null 2>&1 & touch started; wait\n",
    )
    with subprocess.Popen(
        words_in_process(script, tmp_path, 2),
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
        env=ENVIRON,
        start_new_session=True,
        preexec_fn=heed_interrupts,
    ) as started:
        for _ in range(1000):
            if (tmp_path / "started").exists():
                break
            time.sleep(0.01)
        started.send_signal(number)
        assert started.stderr is not None
        text = started.stderr.read()
    assert text.strip().splitlines()[-1] == f"{int(number)} [9]", "the second launch is left out"


HANDLING = """#include <signal.h>
static void handle(int number) {}
__attribute__((constructor)) static void start(void) { signal(SIGHUP, handle); }
"""
"""As some MPI libraries do, and hockney has them if a tool that the user preloads depends on one."""


@pytest.mark.compiler
def test_beside_a_library_that_handles_a_signal(tmp_path):
    handling = compiled(tmp_path / "handling.so", HANDLING, "-shared", "-fPIC")
    script = program(tmp_path / "app", "#!/bin/sh\nexit 3\n")
    done = in_process(script, tmp_path, 1, ENVIRON | {"LD_PRELOAD": str(handling)})
    assert (done.returncode, done.stderr.strip().splitlines()[-1:]) == (0, ["None [3]"])


def test_a_program_that_a_signal_ends(tmp_path):
    script = program(tmp_path / "app", "#!/bin/sh\nkill -SEGV $$\n")
    done, received = launched(tmp_path, str(script), environment(), plan=[False])
    assert done.launches[0].exit_code == 128 + signal.SIGSEGV and received is None


def test_in_another_thread(tmp_path):
    """As from a notebook's executor, where signals have no handlers."""
    codes: list[int | None] = []
    script = program(tmp_path / "app", "#!/bin/sh\nexit 4\n")

    def run() -> None:
        done, _ = launched(tmp_path, str(script), environment(), plan=[False])
        codes.append(done.launches[0].exit_code)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert codes == [4]


def test_a_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    for folder in (tmp_path / "file" / "p", Path("/proc/p")):
        with pytest.raises(EnvironmentProblem) as caught:
            launching.create_folder(folder, manifest())
        assert caught.value.code == "profile-folder-not-writable"


def test_the_order_of_pairs_is_random():
    assert plan_launches(3, False, 1) == [True, True, True]
    plans = {tuple(plan_launches(1, True, seed)) for seed in range(20)}
    assert len(plans) > 5
    for plan in plans:
        assert len(plan) == 2 * launching.MIN_PAIRS
        assert all(plan[k] != plan[k + 1] for k in range(0, len(plan), 2))
    assert len(plan_launches(9, True, 1)) == 18


def test_the_overhead_is_a_ratio_of_pairs():
    def pair(k: int, profiled_s: float, bare_s: float, code: int = 0) -> list[ProfiledLaunch]:
        both = [
            ProfiledLaunch(folder=f"launch-{2 * k}", exit_code=code, seconds=profiled_s),
            ProfiledLaunch(folder=f"launch-{2 * k + 1}", exit_code=0, seconds=bare_s, profiled=False),
        ]
        return both if k % 2 else both[::-1]

    drifting = [each for k in range(6) for each in pair(k, 1.02 * 2**k, 2**k)]
    found = measure_overhead(manifest(*drifting))
    assert found is not None and found.pairs == 6
    assert found.ratio.value == pytest.approx(1.02) and found.ratio.high == pytest.approx(1.02)
    failed = measure_overhead(manifest(*pair(0, 1, 1, code=1), *pair(1, 1.1, 1)))
    assert failed is not None and failed.pairs == 1 and failed.ratio.low is None
    assert measure_overhead(manifest(ProfiledLaunch(folder="launch-1", exit_code=0, seconds=1.0))) is None
