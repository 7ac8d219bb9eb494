# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Makes tests/real_mpi.py importable, also when only these tests run."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
