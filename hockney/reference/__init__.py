# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Published machines: the numbers printed in papers, as data for figures and fits.

One `<paper>.csv` with every printed number as printed (key, unit, position in the paper, the engine's
equivalent case, if there is one) and one `<paper>.toml` with the citation, the formulas, decisions made in
copying and inconsistencies.
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
