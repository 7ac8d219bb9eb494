# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The observed detours of a run as a noise trace, which machine files include (docs/studies/noise.md)."""

from __future__ import annotations

from pathlib import Path

from hockney.core.errors import UsageError
from hockney.machines.simulated.detours import trace_text
from hockney.models.noise.observations import FIXED_WORK, ROLE, cores_of, trace_of
from hockney.pages.evidence import Evidence
from hockney.system.files import write_user_file


def save_noise_trace(evidence: Evidence, path: Path) -> None:
    """Write the detours of every core of a run. On a machine with more ranks, the cores repeat. Raises
    UsageError if the run observed no noise."""
    workloads = {w.name for w in evidence.catalog.workloads if w.performs(ROLE, FIXED_WORK)}
    records = [r for r in evidence.run.records if r.parse_case().workload in workloads]
    cores = cores_of(records, evidence.run.launches)
    if not cores:
        raise UsageError(
            "the run observed no noise of cores",
            "a noise trace contains their detours",
            "give a run of 'hockney run noise'",
            code="no-noise-observed",
        )
    traces = [trace_of(core, first_rank=k, rank_step=len(cores)) for k, core in enumerate(cores)]
    comments = ["hockney noise trace", *(f"rank {k}: {core.name}" for k, core in enumerate(cores))]
    text = trace_text([trace for trace in traces if trace is not None], comments)
    write_user_file(path, text.encode("utf-8"))
