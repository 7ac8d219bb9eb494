# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney models: the fitted parameters of a run."""

from __future__ import annotations

from pathlib import Path

from hockney.api import Run
from hockney.cli.output.progress import load_and_note
from hockney.cli.output.results import print_fits
from hockney.cli.output.tables import print_json, print_line
from hockney.cli.output.terminal import echo
from hockney.core.errors import Inconclusive
from hockney.core.fit import Cost
from hockney.pages.quality import select_fits


def action(run: Path | Run, cost: Cost, quiet: bool, as_json: bool) -> int:
    fits = load_and_note(run, cost, quiet=quiet, fits_models=True).fits
    if as_json:
        print_json(fits)
    elif not fits.fits:
        raise Inconclusive(
            "no model fits this run",
            "it has no cases that a model describes",
            "'hockney survey' measures such cases",
            code="no-fits",
        )
    else:
        if cost == "undisturbed":
            print_line(undisturbed_costs())
            echo()
        print_fits(select_fits(fits.fits), reasons=True)
        if any(fit.two_modes is not None for fit in fits.fits):
            echo()
            print_line(
                "Where launches were in two modes of the machine, chance decides how many are in each: "
                "use the fast mode (--cost undisturbed), or measure again or with more time (--budget)."
            )
    return 0


def undisturbed_costs() -> str:
    return "The models use undisturbed costs: those of each case in its fastest mode."
