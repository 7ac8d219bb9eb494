# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Questions asked of a machine. Each module here that has NAME, HELP, plan and page is one study."""

from __future__ import annotations

import importlib
import pkgutil

from hockney.core.parameters import StudyParameter
from hockney.pages.evidence import Evidence, Options, Study
from hockney.studies import messages

__all__ = ["Evidence", "Options", "Study", "all_studies", "parameters_of", "refines", "study"]


def all_studies() -> dict[str, Study]:
    """Every study on the shelf, by name."""
    modules = (importlib.import_module(f"{__name__}.{each.name}") for each in pkgutil.iter_modules(__path__))
    complete = [m for m in modules if all(hasattr(m, word) for word in ("NAME", "HELP", "plan", "page"))]
    return {m.NAME: m for m in sorted(complete, key=lambda m: m.NAME)}


def parameters_of(study: Study) -> tuple[StudyParameter, ...]:
    """The parameters of its own that it declares."""
    return getattr(study, "PARAMETERS", ())


def refines(study: Study) -> bool:
    """Whether it adds sizes between those planned where a cost changes: a question about certain sizes is
    answered as it was asked."""
    return getattr(study, "REFINES", False)


def study(name: str) -> Study:
    shelf = all_studies()
    if name not in shelf:
        raise messages.unknown_study(name, shelf)
    return shelf[name]
