# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Published machines: numbers printed in papers, as data for figures and fits.

Each paper has a `<paper>.csv` with the numbers as printed (key, unit, position in the paper, equivalent case
of the engine, if any) and a `<paper>.toml` with the citation, the formulas, transcription decisions and
inconsistencies.
"""

from hockney.reference.papers import (
    Formula,
    PrintedRow,
    Published,
    machine_names,
    names,
    paper_of,
    published,
)
from hockney.reference.run import TRAITS, run_of
