# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Where a run was made."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from msgspec.structs import replace as replace_struct
from visited import LINE, evidence

from hockney.pages import environment


def test_the_launch_shown_has_the_most_ranks():
    """A run of granularity begins with one rank, which is bound in another way."""
    seen = evidence({LINE: [np.full(4, 1e-6)] * 3})
    two, other, last = seen.run.launches
    one = replace_struct(two, ranks=two.ranks[:1], command=["mpiexec", "-n", "1"], binding="none")
    several = replace_struct(other, command=["mpiexec", "-n", "2"], binding="core")
    run = replace(seen.run, launches=(one, several, last))
    facts = dict(environment.facts(replace(seen, run=run)))
    assert facts["command"] == "mpiexec -n 2" and facts["binding"] == "core"
