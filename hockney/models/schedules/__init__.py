# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Message schedules: each algorithm of a barrier or a collective operation, independent of any machine."""

from hockney.models.schedules import barriers, collectives, reductions
from hockney.models.schedules.closed_form import ClosedForm
from hockney.models.schedules.schedule import (
    CLOSED_FORMS,
    SCHEDULES,
    Layer,
    Mode,
    NotModelled,
    Step,
    Tally,
    algorithm_names,
    relation,
)
