# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Published machines: what papers have printed, number by number, as data that figures and fits can use.

One `<paper>.csv` with every printed number as printed (key, unit, where it stands, the engine's case that
asks the same, if there is one) and one `<paper>.toml` with the citation, the formulas, what was decided in
copying and what does not agree with itself.
"""

from hockney.reference.load import machine_names, names, paper_of, published
from hockney.reference.published import About, Formula, FormulaPiece, PrintedRow, Published
from hockney.reference.run import TRAITS, run_of

__all__ = [
    "TRAITS",
    "About",
    "Formula",
    "FormulaPiece",
    "PrintedRow",
    "Published",
    "machine_names",
    "names",
    "paper_of",
    "published",
    "run_of",
]
