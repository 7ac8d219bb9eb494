# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Which package imports which, in both languages, and imports that go up. docs/architecture.md shows the
layers."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

PYTHON = {
    "core": 0,
    "process": 1, "mpi": 1,
    "system": 2,
    "discovery": 3, "build": 3, "launch": 3, "store": 3, "models": 3, "reference": 3, "draw": 3,
    "machines": 3, "batch": 3,
    "pages": 4, "measurement": 4, "imports": 4,
    "reproductions": 5, "judgements": 5,
    "studies": 6, "archive": 6,
    "report": 7, "profiles": 7,
    "replay": 8,
    "extrapolation": 9,
    "api": 10,
    "suites": 11,
    "cli": 12,
}  # fmt: skip
ENGINE = {
    "include": 0,
    "base": 0,
    "emulated": 0,
    "profile": 0,
    "replay": 0,
    "abilities": 1,
    "smpi": 0,
    "comm": 1,
    "sync": 2,
    "coll": 2,
    "bsp": 2,
    "bpram": 2,
    "ensemble": 2,
    "local": 2,
    "measure": 3,
    "library": 3,
    "patterns": 4,
    "app": 5,
}
GROUPS = (
    "kernels", "neighborhood", "nonblocking", "persistent", "send_modes", "vector_collectives",
    "onesided", "messages", "datatypes", "threads", "startup", "io", "npb", "annealing", "replayer",
    "nodes", "congestion", "noise",
)  # fmt: skip
"""Folders of workloads that are compiled on first use. Their files may share headers of their folder."""
PLUG_INS = ("sync", "coll", "patterns", *GROUPS)
ENGINE |= dict.fromkeys(GROUPS, 4)
OFFERED = (
    "sync/algorithm.hpp", "sync/tree.hpp", "coll/algorithm.hpp", "coll/elements.hpp",
    "coll/halving.hpp", "coll/outgoing.hpp", "coll/pipeline.hpp", "coll/places.hpp",
)  # fmt: skip
"""What a plug-in folder's files have in common, and by which others find them."""
PURE = ("core", "mpi", "models", "reference", "draw", "machines", "pages", "reproductions")
"""The only packages that a study may use: it plans and evaluates, but starts nothing and writes nothing."""
FRONT_DOOR = ("core", "api")
"""The only packages whose names hockney's own `__init__` may export. `__main__` imports the command line."""

STARTERS = ("subprocess", "pty", "multiprocessing")
STARTING_CALLS = re.compile(r"(exec|spawn)[lv]p?e?|fork|forkpty|posix_spawnp?|system|popen|startfile")
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)


@dataclass(frozen=True)
class Import:
    """`file` (relative to the tree) uses `target`, a package of the same tree; `what` is the import as
    written."""

    file: str
    line: int
    source: str
    target: str
    what: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.source} uses {self.target} ({self.what})"


def modules(package: Path) -> Iterator[Path]:
    """The package's modules, without the tests of suites."""
    return (path for path in sorted(package.rglob("*.py")) if "tests" not in path.relative_to(package).parts)


@cache
def nodes(text: str) -> tuple[ast.AST, ...]:
    """Those nodes of a module's syntax tree that may import something or start a process."""
    kinds = (ast.Import, ast.ImportFrom, ast.Call, ast.Attribute)
    return tuple(node for node in ast.walk(ast.parse(text)) if isinstance(node, kinds))


def python_imports(package: Path) -> Iterator[Import]:
    """Every import of another package, also inside functions. The own `__init__` is no package here."""
    for path in modules(package):
        parts = path.relative_to(package).parts
        source = _package_of(parts) if len(parts) > 1 else ""
        for node in nodes(path.read_text("utf-8")):
            for name in _imported(node, (package.name, *parts[:-1])):
                words = name.split(".")
                if words[0] != package.name or len(words) < 2:
                    continue
                target = _package_of(words[1:])
                if (package / target).is_dir() and target != source:
                    yield Import("/".join(parts), node.lineno, source, target, name)


def _package_of(parts: Sequence[str]) -> str:
    """Each suite is a package of its own."""
    return "/".join(parts[: 2 if parts[0] == "suites" else 1])


def _layer(package: str, layers: Mapping[str, int]) -> int | None:
    return layers.get(package.partition("/")[0])


def _imported(node: ast.AST, here: tuple[str, ...]) -> list[str]:
    """Full dotted names; `from hockney import x` may mean the package x, so the names are joined."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        base = ".".join(here[: len(here) - node.level + 1]) if node.level else ""
        module = ".".join(filter(None, (base, node.module or "")))
        return [f"{module}.{alias.name}" for alias in node.names]
    if isinstance(node, ast.Call) and node.args and _called(node.func) in ("import_module", "__import__"):
        word = node.args[0]
        return [word.value] if isinstance(word, ast.Constant) and isinstance(word.value, str) else []
    return []


def _called(function: ast.expr) -> str:
    return getattr(function, "attr", getattr(function, "id", ""))


def engine_includes(engine: Path) -> Iterator[Import]:
    """Every #include "folder/file", without the file's name."""
    for path in sorted(p for p in engine.rglob("*") if p.suffix in (".cpp", ".hpp", ".h")):
        parts = path.relative_to(engine).parts
        if len(parts) < 2:
            continue
        text = path.read_text("utf-8")
        for match in INCLUDE.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            # Public headers are included by their installed name.
            what = f"include/{match[1]}" if match[1].startswith("hockney/") else match[1]
            target = what.split("/")[0] if "/" in what else parts[0]
            yield Import("/".join(parts), line, parts[0], target, what)


def climbing(imports: Iterator[Import], layers: Mapping[str, int]) -> list[str]:
    """Imports that do not go down, and packages that are in no layer."""
    found = []
    for each in imports:
        if each.source == each.target:
            continue
        unknown = [name for name in (each.source, each.target) if name and _layer(name, layers) is None]
        if unknown:
            found.append(f"{each}: {unknown[0]} is in no layer")
        elif not each.source:
            if each.target not in (("cli",) if each.file == "__main__.py" else FRONT_DOOR):
                found.append(str(each))
        elif each.target.startswith("suites") or _layer(each.target, layers) >= _layer(each.source, layers):
            found.append(str(each))
    return found


def starting(package: Path, allowed: str = "process") -> list[str]:
    """Code that starts processes outside of the only package that may."""
    found = []
    for path in modules(package):
        parts = path.relative_to(package).parts
        if parts[0] == allowed:
            continue
        for node in nodes(path.read_text("utf-8")):
            names = [name.split(".") for name in _imported(node, (package.name, *parts[:-1]))]
            bad = [".".join(n) for n in names if n[0] in STARTERS or "ProcessPoolExecutor" in n]
            bad += [".".join(n) for n in names if n[0] == "os" and STARTING_CALLS.fullmatch(n[-1])]
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                if node.value.id == "os" and STARTING_CALLS.fullmatch(node.attr):
                    bad.append(f"os.{node.attr}")
                elif node.attr in ("create_subprocess_exec", "create_subprocess_shell"):
                    bad.append(node.attr)
            found += [f"{'/'.join(parts)}:{node.lineno}: {name}" for name in bad]
    return found
