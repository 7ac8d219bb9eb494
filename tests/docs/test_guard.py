# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The examples for CI systems: their files are read, and their steps run in a shell, on the fake machine.

What only the service itself can do (checking out, caches between jobs, artifacts) is not done here; its files
stay in the folder from job to job, as a cache would bring them.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as xml

import pytest
from needs import need_module
from tiers import slow

from hockney import api

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples" / "guard"
SLOWER = "fake:seed=3;slow=allreduce:1.3"
QUICK = {"5m": "20s", "2m": "10s"}
"""Budgets in the examples, and here."""


def read(name: str) -> dict[Any, Any]:
    """On the fake machine budgets are simulated seconds, which real ones are shorter than."""
    text = (EXAMPLES / name).read_text("utf-8")
    for long, short in QUICK.items():
        text = text.replace(f"--budget {long}", f"--budget {short}")
    found: dict[Any, Any] = need_module("yaml").safe_load(text)
    return found


CASES = ("allreduce bytes=64,1KiB ranks=2", "pingpong")
WRAPPER = f"""#!/bin/sh
case " $* " in
  *" baseline.new "*)
    [ -z "$CANCELLED" ] || {{ mkdir -p baseline.new; touch baseline.new/plan.txt; exit 143; }} ;;
esac
case " $* " in
  *" --check "* | " compare "* | " --version "*) ;;
  *) shift; set -- run "{CASES[0]}" {CASES[1]} --launches 8 --machine fake:seed=1 "$@" ;;
esac
exec {sys.executable} -m hockney "$@"
"""
"""Baselines have few cases, and are always of the normal machine."""


@pytest.fixture(scope="module")
def baseline(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("guard") / "baseline"
    api.run(CASES, api.RunOptions(machine="fake:seed=1", launches=8, budget=10.0, seed=1), out=folder)
    return folder


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """That of a job on the slower machine."""
    programs = tmp_path / "bin"
    programs.mkdir()
    hockney = programs / "hockney"
    hockney.write_text(WRAPPER)
    hockney.chmod(0o755)
    pipx = programs / "pipx"
    pipx.write_text("#!/bin/sh\necho $* > installed\n")
    pipx.chmod(0o755)
    keep = {k: v for k, v in os.environ.items() if not k.startswith(("HOCKNEY_", "GITHUB_", "CI_"))}
    path = os.pathsep.join([str(programs), keep.get("PATH", "")])
    return keep | {"PATH": path, "PYTHONPATH": str(ROOT), "HOCKNEY_MACHINE": SLOWER, "NO_COLOR": "1"}


def shell(words: Sequence[str], script: str, folder: Path, environ: Mapping[str, str]) -> tuple[int, str]:
    done = subprocess.run(
        [*words, script],
        cwd=folder,
        env=dict(environ),
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=120,
    )
    return done.returncode, done.stdout


def expression(text: str, folder: Path, failed: bool) -> bool:
    """Those conditions of GitHub Actions that the examples use."""
    if text == "always()":
        return True
    found = re.fullmatch(r"hashFiles\('([^']+)'\) == ''", text)
    assert found, f"unknown condition: {text}"
    return not failed and not (folder / found[1]).exists()


def github(
    name: str, folder: Path, environ: dict[str, str], **variables: str
) -> Iterator[tuple[str, int, str]]:
    """Runs the steps of the only job as GitHub Actions does; yields name, exit code and output of each."""
    (job,) = read(name)["jobs"].values()
    own = {"GITHUB_SHA": "0123abc", "GITHUB_STEP_SUMMARY": str(folder / "summary.md")}
    failed = False
    for step in job["steps"]:
        assert step["name"] and ("run" in step) != ("uses" in step)
        if "run" not in step or not (expression(step["if"], folder, failed) if "if" in step else not failed):
            continue
        assert "${{" not in step["run"], "this would paste text into a script"
        code, out = shell(
            ("bash", "-e", "-c"), step["run"], folder, environ | own | job.get("env", {}) | variables
        )
        failed |= code != 0
        yield step["name"], code, out


@pytest.mark.slow
def test_github(tmp_path, environment):
    done = {name: code for name, code, _ in github("github.yml", tmp_path, environment)}
    assert done == {"Versions": 0, "Measure the baseline": 0, "Check": 1, "Summary": 0}
    assert "allreduce" in (tmp_path / "summary.md").read_text()
    failures = xml.parse(tmp_path / "junit.xml").getroot().get("failures")
    assert failures is not None and int(failures) > 0


@pytest.mark.slow
@pytest.mark.parametrize("service", ["github", "gitlab"])
def test_a_job_that_is_cancelled_leaves_no_baseline(tmp_path, environment, service):
    """With a baseline that measured nothing, no later job would notice anything."""

    def job(environ: dict[str, str]) -> int:
        if service == "gitlab":
            return gitlab(tmp_path, environ)[0]
        return max(code for _, code, _ in github("github.yml", tmp_path, environ))

    assert job(environment | {"CANCELLED": "1"}) == 143
    assert (tmp_path / "baseline.new" / "plan.txt").exists() and not (tmp_path / "baseline").exists()
    assert job(environment) == 1, "it finds that this machine is slower"
    assert (tmp_path / "baseline" / "records.jsonl").stat().st_size and not (
        tmp_path / "baseline.new"
    ).exists()


def test_hosted_runners_install_what_they_use():
    """They have no hockney; one that is always the same machine has."""
    hosted = 0
    for path in sorted(EXAMPLES.glob("github*.yml")):
        (job,) = read(path.name)["jobs"].values()
        if job["runs-on"] != "ubuntu-latest":
            assert "self-hosted" in job["runs-on"], path.name
            continue
        hosted += 1
        steps = job["steps"]
        fetch, install = (
            next(k for k, each in enumerate(steps) if test(each))
            for test in (
                lambda each: each.get("uses", "").startswith("actions/checkout@"),
                lambda each: "pipx install" in each.get("run", ""),
            )
        )
        first = next(k for k, each in enumerate(steps) if each.get("run", "").startswith("hockney "))
        assert fetch < install < first, path.name
        assert steps[install]["run"].strip() == f"pipx install ./{steps[fetch]['with']['path']}"
    assert hosted


@pytest.mark.slow
def test_an_undecided_check_passes_with_a_warning_on_github(tmp_path, environment, baseline):
    """An operation is slower by exactly the tolerance."""
    shutil.copytree(baseline, tmp_path / "baseline")
    environment["HOCKNEY_MACHINE"] = "fake:seed=2;slow=allreduce:1.05"
    said = {name: (code, out) for name, code, out in github("github.yml", tmp_path, environment)}
    assert said.keys() == {"Versions", "Check", "Summary"}
    assert said["Check"][0] == 0 and "::warning::" in said["Check"][1]


@pytest.mark.slow
def test_github_in_turns(tmp_path, environment):
    sides = {"BEFORE": "--machine fake:seed=1", "AFTER": "--machine 'fake:seed=2;slow=allreduce:1.3'"}
    done = {name: code for name, code, _ in github("github-interleaved.yml", tmp_path, environment, **sides)}
    assert done == {"Install": 0, "Versions": 0, "Compare with interleaved launches": 1, "Summary": 0}
    assert (tmp_path / "pair" / "a" / "plan.txt").exists()
    assert "allreduce" in (tmp_path / "summary.md").read_text()


def gitlab(folder: Path, environ: Mapping[str, str]) -> tuple[int, str]:
    """The script of the only job, line by line in one shell that ends at the first error."""
    (job,) = read("gitlab-ci.yml").values()
    own = {"CI_PROJECT_DIR": str(folder), "CI_COMMIT_SHA": "0123abc", "CI_RUNNER_ID": "7"}
    known = {name: value.replace("$CI_PROJECT_DIR", str(folder)) for name, value in job["variables"].items()}
    return shell(
        ("bash", "-e", "-c"),
        "\n".join([*job["before_script"], *job["script"]]),
        folder,
        {**environ, **own, **known},
    )


@pytest.mark.slow
def test_gitlab(tmp_path, environment):
    code, out = gitlab(tmp_path, environment)
    assert code == 1, out
    (job,) = read("gitlab-ci.yml").values()
    assert job["allow_failure"] == {"exit_codes": 4}
    for name in (*job["artifacts"]["paths"], job["artifacts"]["reports"]["junit"], job["cache"]["paths"][0]):
        assert (tmp_path / name).exists(), name


def reframe(folder: Path, baseline: Path, environ: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    program = "import sys; from reframe.frontend.cli import main; sys.exit(main())"
    words = [sys.executable, "-c", program, "-c", str(EXAMPLES / "hockney_reframe.py"), "-r", "--nocolor"]
    return subprocess.run(
        [*words, f"--prefix={folder}", "-S", f"baseline={baseline}", "-S", "budget=5s"],
        cwd=folder,
        env={**environ, "HOME": str(folder)},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=120,
    )


@pytest.mark.slow
@pytest.mark.parametrize(("machine", "code"), [*slow(("fake:seed=2", 0)), (SLOWER, 1)])
def test_reframe(tmp_path, environment, baseline, machine, code):
    """End to end: ReFrame's own system, whose jobs are processes on this host."""
    need_module("reframe")
    done = reframe(tmp_path, baseline, environment | {"HOCKNEY_MACHINE": machine})
    assert done.returncode == code, done.stdout
    assert ("B is slower than A in 1 of 2 operations" in done.stdout) == bool(code), done.stdout
    assert re.search(r"P: pingpong: [01]\.\d+ ratio", done.stdout) or code, done.stdout


@pytest.mark.slow
def test_reframe_fails_if_data_arrived_wrong(tmp_path, environment, baseline):
    """The times are as usual."""
    need_module("reframe")
    done = reframe(tmp_path, baseline, environment | {"HOCKNEY_MACHINE": "fake:seed=2;corrupt=pingpong"})
    assert done.returncode == 1 and "Data arrived corrupted in" in done.stdout, done.stdout


def test_the_documentation_shows_these_files():
    page = (ROOT / "docs" / "regression.md").read_text("utf-8")
    shown = re.findall(r"```(?:yaml|python)\n(.*?)```", page, re.DOTALL)
    for path in filter(Path.is_file, EXAMPLES.iterdir()):  # no compiled ones
        text = path.read_text("utf-8").partition("Apache-2.0\n")[2]
        assert any(block.strip() == text.strip() for block in shown) or path.name in page, path.name
