# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Boost's headers, needed to compile SimGrid and programs that run on it."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from hockney.build.compilers import Compilers
from hockney.core.errors import EnvironmentProblem, one_line

OLDEST = 105900
"""As required by SimGrid's CMakeLists.txt."""
USED = (
    "boost/algorithm/string.hpp", "boost/core/demangle.hpp", "boost/heap/pairing_heap.hpp",
    "boost/intrusive/list.hpp", "boost/intrusive_ptr.hpp", "boost/lockfree/queue.hpp", "boost/optional.hpp",
    "boost/range/algorithm.hpp", "boost/tokenizer.hpp",
)  # fmt: skip
"""Headers that SimGrid includes: distributions package the parts of Boost separately."""
NEW_ENOUGH = "#include <boost/version.hpp>\n#if BOOST_VERSION < {}\n#error this Boost is too old\n#endif\n"
PUBLIC = "#include <simgrid/s4u.hpp>\n#include <smpi/smpi.h>\n"


def compiler_has_boost(compilers: Compilers) -> bool:
    """Whether the compiler finds complete and sufficiently new headers, by itself or via $CPATH."""
    program = NEW_ENOUGH.format(OLDEST) + "".join(f"#include <{header}>\n" for header in USED)
    return compilers.preprocess(program, "-fsyntax-only").ok


def write_config(folder: Path, include: Path | None) -> Path:
    """A CMake package with headers only, those at `include` or the compiler's own.

    CMake's own search differs between versions (without FindBoost since policy CMP0167), and would also link
    any Boost libraries it finds, which a later update of the system may remove.
    """
    folder.mkdir()
    headers = f'set(Boost_INCLUDE_DIRS "{include}")\n' if include else ""
    (folder / "BoostConfig.cmake").write_text(f"set(Boost_FOUND TRUE)\n{headers}")
    (folder / "BoostConfigVersion.cmake").write_text("set(PACKAGE_VERSION_COMPATIBLE TRUE)\n")
    return folder


def keep_headers(compilers: Compilers, include: Path | None, prefix: Path) -> None:
    """Copy the parts of Boost that the public headers need into `prefix`, so that it is self-contained.

    Whole parts of Boost: which files in them are read depends on the compiler.
    """
    places = [prefix / "include", prefix / "include" / "smpi", *([include] if include else [])]
    done = compilers.preprocess(PUBLIC, "-M", *(f"-I{place}" for place in places))
    files = [Path(re.sub(r"\\(.)", r"\1", word)) for word in re.findall(r"(?:\\.|\S)+", done.out)]
    root = next((file.parent for file in files if file.parts[-2:] == ("boost", "intrusive_ptr.hpp")), None)
    if not done.ok or root is None:
        raise EnvironmentProblem(
            "SimGrid was built, but its headers do not compile",
            one_line(done.err)[:200] or "Boost is missing",
            code="simgrid-headers-do-not-compile",
        )
    for part in sorted({file.relative_to(root).parts[0] for file in files if file.is_relative_to(root)}):
        target = prefix / "include" / "boost" / part
        target.parent.mkdir(exist_ok=True)
        if (root / part).is_dir():
            shutil.copytree(root / part, target)
        else:
            shutil.copy(root / part, target)
