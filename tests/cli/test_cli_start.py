# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A verb's module is imported when the verb is used, and what is costly to import where it is needed."""

from __future__ import annotations

import os
import pkgutil
import subprocess
import sys

import pytest

from hockney.cli import verbs

HEAVY = ("numpy", "scipy", "jinja2", "matplotlib", "plotly", "rich", "msgspec")
MAIN = """
import sys
from hockney.cli.errors import guarded
code = guarded(sys.argv[1:])
print(code, *sys.modules, sep="\\n", file=sys.stderr)
"""


def start(*words: str, **environ: str) -> tuple[int, set[str], str]:
    """Exit code, modules imported at the end, and stdout of hockney in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", MAIN, *words],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "HOCKNEY_MACHINE": "fake", **environ},
    )
    code, *modules = done.stderr[done.stderr.rindex("\n0\n") + 1 if "\n0\n" in done.stderr else 0 :].split(
        "\n"
    )
    return int(code), set(modules), done.stdout


@pytest.mark.parametrize("verb", verbs.VERBS)
def test_the_help_of_a_verb_in_the_table_is_its_own(verb):
    own = verbs.load(verb)
    assert own.name == verb
    assert own.get_short_help_str(1000) == verbs.VERBS[verb]


def test_every_module_of_a_verb_is_in_the_table():
    assert {module.name for module in pkgutil.iter_modules(verbs.__path__)} == set(verbs.VERBS)
