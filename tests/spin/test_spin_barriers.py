# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""SPIN on models of the two barriers that keep flags between episodes (Mellor-Crummey and Scott's).

Safety: no rank leaves an episode that another has not entered, none waits forever (no deadlock), and no more
than two messages are in flight between two ranks. Liveness: every rank that enters an episode leaves it (no
acceptance cycle, with weakly fair scheduling). The models are finite although their episodes never end, so
each search is exhaustive.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from hockney import process

pytestmark = pytest.mark.needs("SPIN", "compiler")

HERE = Path(__file__).parent
SYNC = HERE.parents[1] / "engine" / "sync"
MODELS = ("dissemination_mcs", "tournament_mcs")
LARGEST = {"dissemination_mcs": 4, "tournament_mcs": 5}
"""With five ranks dissemination takes 12 s and 1 GB."""


@pytest.fixture
def sizes(pytestconfig) -> tuple[int, ...]:
    """Rank counts of the searches that have no parameter for them."""
    return (2, 4) if pytestconfig.getoption("--all") else (2,)


def search(folder: Path, model: str, *options: str, who: int | None = None) -> str:
    """The result of searching all states or, with `who`, all cycles in which that rank stays inside."""
    for path in HERE.glob("*.pml"):
        shutil.copy(path, folder)
    defined = [f"-D{option}" for option in options]
    run = [str(folder / "pan"), "-m400000", "-w20"]
    if who is not None:
        defined.append(f"-DWHO={who}")
        # a rank that is stuck stays inside as well: a state without progress counts as a cycle
        run += ["-a", "-f", "-E", "-N", "leaves"]
    compiled = ["-DSAFETY"] if who is None else ["-DNFAIR=3"]
    generate = ["spin", "-a", *defined, f"{model}.pml"]
    for words in (generate, ["gcc", "-O0", "-w", *compiled, "-o", "pan", "pan.c"], run):
        done = process.capture(words, cwd=folder, timeout=1200)
        assert done.ok and "Error" not in done.out, f"{' '.join(words)}: {done.out}{done.err}"
    return done.out


def holds(told: str) -> bool:
    assert "errors: " in told and "max search depth too small" not in told, told
    return "errors: 0" in told


def searched() -> list[object]:
    """Models and ranks; a model's largest takes longer than all others together."""
    sizes = [(model, ranks) for model in MODELS for ranks in range(2, LARGEST[model] + 1)]
    return [pytest.param(*s, marks=[pytest.mark.slow] if s[1] == LARGEST[s[0]] else []) for s in sizes]


@pytest.mark.parametrize(("model", "ranks"), searched())
def test_nobody_leaves_before_all_have_entered_and_nobody_is_stuck(model, ranks, tmp_path):
    assert holds(search(tmp_path, model, f"RANKS={ranks}"))


@pytest.mark.slow
@pytest.mark.parametrize("option", ["SYNCHRONOUS", "EAGER"])
@pytest.mark.parametrize("model", MODELS)
def test_whenever_mpi_completes_a_send_or_delivers_a_message(model, option, sizes, tmp_path):
    for ranks in sizes:
        assert holds(search(tmp_path, model, f"RANKS={ranks}", option)), ranks


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
def test_whoever_enters_leaves(model, tmp_path):
    for ranks, who in ((2, 1), (3, 0), (3, 2)):
        assert holds(search(tmp_path, model, f"RANKS={ranks}", who=who)), (ranks, who)


WRONG = {
    "sense is not reversed": ("SAME_SENSE", "dissemination_mcs", "assertion violated"),
    "no parity": ("NO_PARITY", "dissemination_mcs", "invalid end state"),
    "sense is not reversed in a tournament": ("SAME_SENSE", "tournament_mcs", "assertion violated"),
    "losers do not wait": ("NO_WAKE_UP", "tournament_mcs", "assertion violated"),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", WRONG)
def test_the_search_finds_what_is_wrong(case, sizes, tmp_path):
    option, model, why = WRONG[case]
    for ranks in sizes:
        told = search(tmp_path, model, f"RANKS={ranks}", "EAGER", option)
        assert not holds(told) and why in told, told


@pytest.mark.slow
def test_the_search_finds_who_never_leaves(tmp_path):
    told = search(tmp_path, "dissemination_mcs", "RANKS=2", "NO_PARITY", "EAGER", who=0)
    assert not holds(told) and "acceptance cycle" in told, told


@pytest.mark.slow
def test_parity_is_there_for_messages_that_are_taken_early(tmp_path):
    """Without it dissemination is correct if a rank only receives what it waits for; a tournament always
    is."""
    assert holds(search(tmp_path, "dissemination_mcs", "RANKS=4", "NO_PARITY"))
    assert holds(search(tmp_path, "tournament_mcs", "RANKS=4", "NO_PARITY", "EAGER"))


@pytest.mark.parametrize("model", MODELS)
def test_the_model_is_of_the_barrier_as_it_is_written(model):
    """The C++ in the model's margin is in the source, and all of wait() is in the margin."""

    def tight(text: str) -> str:
        return re.sub(r"\s+", "", re.sub(r"//.*", "", text))

    source = tight((SYNC / f"{model}.cpp").read_text("utf-8"))
    margin = re.findall(
        r"^(?=.{56}/\*).{56}/\*(.*)\*/", (HERE / f"{model}.pml").read_text("utf-8"), re.MULTILINE
    )
    assert len(margin) > 12
    said = [tight(line) for line in margin]
    assert [line for line in said if line not in source] == []
    body = source.partition("voidwait()override{")[2].partition("private:")[0]
    for line in sorted(said, key=len, reverse=True):
        body = body.replace(line, "")
    rest = re.sub(r"[{};]", "", body)
    assert (
        re.sub(r"constint(size|rank)=signals_\.\w+\(\),?|size=signals_\.size\(\)|MPI_Request", "", rest) == ""
    )
