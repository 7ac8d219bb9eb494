# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The method is described as it was: visits, long operations, launches beyond the plan."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from msgspec.structs import replace as replace_struct
from visited import LINE, evidence

from hockney.core.freed_memory import KEPT_VARIABLES
from hockney.pages import method
from hockney.pages.evidence import Evidence

LONG = "pingpong buffers=hot bytes=4194304 ranks=2"
STEADY = [np.full(40, 1e-6)] * 10


def told(seen: Evidence) -> str:
    return " ".join(method.method_sentences(seen))


def test_visits_are_counted_and_long_operations_named(golden):
    seen = evidence({LINE: STEADY, LONG: [[2.0]] * 10})
    golden("method.txt", "\n".join(method.method_sentences(seen)))
    assert "40 visits" in told(seen) and "400 in all" in told(seen) and " 1 case was " in told(seen)
    assert "undisturbed" in told(seen) and "every visit" in told(seen)
    assert "only once" not in told(evidence({LINE: STEADY}))
    assert " 20 ended " in told(seen) and " 0 " not in told(seen)


def test_runs_without_visits_are_told_as_such():
    text = told(evidence({LINE: STEADY}, visits=False))
    assert "visits of a case" not in text and "undisturbed" not in text and "every launch" in text


def test_launches_beyond_the_plan_are_named():
    seen = evidence({LINE: STEADY})
    fewer = replace(seen, settings=replace(seen.settings, launches=8))
    assert "up to 10 launches of a case where 8" in told(fewer) and "up to" not in told(seen)


def test_the_time_of_all_sittings_is_not_compared_with_the_budget_of_one(golden):
    """Ten launches of 5 s each, planned for 20 s: the run was resumed."""
    seen = evidence({LINE: STEADY})
    resumed = replace(seen, settings=replace(seen.settings, budget_s=20.0))
    first = method.method_sentences(resumed)[0]
    golden("method_of_resumed_run.txt", first)
    assert "50.0 s" in first and "20.0 s" in first and "resume" in first
    assert "resume" not in told(seen)


def test_freed_memory_is_a_matter_of_real_machines():
    seen = evidence({LINE: STEADY})
    (text,) = method.memory_sentences(seen)
    assert all(name in text for name in KEPT_VARIABLES)
    for origin in ("simulated", "published"):
        other = replace_struct(seen.machine, traits=replace_struct(seen.machine.traits, origin=origin))
        assert method.memory_sentences(replace(seen, machine=other)) == ()
