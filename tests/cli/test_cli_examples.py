# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Documentation is executed: the example at the end of every help text runs; the reference page is up to
date."""

import shlex
import shutil
from pathlib import Path

import pytest

from hockney.cli.reference import make_reference
from hockney.cli.verbs import VERBS, history, load
from hockney.core.errors import ExitCode


def examples(text: str) -> list[list[str]]:
    """The commands after the last line "Example:"."""
    assert text.count("Example:") == 1, "every help ends in an example"
    tail = text.partition("Example:")[2]
    lines = [line.strip() for line in tail.splitlines() if line.strip()]
    assert lines and all(line.startswith("hockney ") for line in lines)
    return [shlex.split(line)[1:] for line in lines]


OF_FAKE = {
    "calibrate": ExitCode.ANSWER_IS_NO,
    "guidelines": ExitCode.ANSWER_IS_NO,
    "history check": ExitCode.INCONCLUSIVE,
    "replay": ExitCode.INCONCLUSIVE,
    "tune": ExitCode.USAGE,
}
"""The fake machine reads the clock more often than the engine that simulates its twin. Its MPI violates
guidelines, and its table, of barriers, cannot be checked without the library. One run is no archive. Calls in
a trace that was made up take other times than on the fake machine."""


OF_ARCHIVES = [f"history {verb}" for verb in history.VERBS]
COPIES = {"compare": ("old", "old-2", "new"), "survey": ("baseline",)}
"""The runs that the examples name."""


def with_its_tools(verb: str) -> object:
    """The twin of a machine is simulated, the evaluator of traced programs is compiled."""
    marks = {
        "calibrate": pytest.mark.simgrid,
        "predict": pytest.mark.needs("compiler"),
        "replay": pytest.mark.needs("compiler"),
    }
    return pytest.param(verb, marks=marks[verb]) if verb in marks else verb


@pytest.mark.parametrize("verb", [with_its_tools(verb) for verb in ("", *VERBS, *OF_ARCHIVES)])
def test_the_examples_of_every_help_run(hockney, mine, verb, request):
    if verb == "survey":  # which submits a job
        request.getfixturevalue("slurm")
    said = hockney(*verb.split(), "--help")
    assert said.code == 0 and said.err == ""
    if verb == "profile":
        request.getfixturevalue("fake_mpi")
    for name in COPIES.get(verb, ()):
        shutil.copytree(mine, f"runs/{name}")
    if verb in OF_ARCHIVES:
        assert hockney("history", "add", mine, "-q").code == 0
    if verb == "import":
        write_logs()
    if verb in ("predict", "replay"):
        request.getfixturevalue("traced")
        request.getfixturevalue("surveyed")
    if verb == "predict":
        request.getfixturevalue("profiles_by_ranks")
        shutil.copy(Path(__file__).parents[2] / "examples" / "programs" / "jacobi.toml", "jacobi.toml")
    for words in examples(said.out):
        done = hockney(*words)
        assert done.code in (ExitCode.SUCCESS, OF_FAKE.get(verb)), (words, done.err)
        assert done.out or words[0] in ("export", "profile")


def write_logs() -> None:
    """Those that the examples name."""
    Path("logs").mkdir()
    for name, latency in (("osu_latency", 1.25), ("osu_1", 1.5), ("osu_2", 1.75)):
        text = f"# OSU MPI Latency Test v7.5\n# Size       Avg Latency(us)\n8 {latency}\n64 {latency + 1}\n"
        Path(f"logs/{name}.log").write_text(text)


def test_the_reference_is_fresh():
    path = Path(__file__).parents[2] / "docs" / "reference" / "cli.md"
    assert path.read_text() == make_reference(), (
        "make it again: python -m hockney.cli.reference > docs/reference/cli.md"
    )


def test_every_option_is_explained(hockney):
    for verb in (*map(load, VERBS), *map(history.load, history.VERBS)):
        assert verb.help
        for parameter in verb.params:
            explained = parameter.param_type_name == "argument" or parameter.help or parameter.hidden
            assert explained, (verb.name, parameter.name)


def test_version(hockney):
    """Identifies which of several installed hockneys this is."""
    import hockney as package

    printed = hockney("--version").out
    assert printed.startswith(f"hockney {package.__version__} from {Path(package.__file__).parent} ")
    nothing = hockney()
    assert nothing.code == 2 and nothing.out == "" and examples(nothing.err)
