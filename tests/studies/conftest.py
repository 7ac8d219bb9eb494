# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Makes tests/real_mpi.py importable, also when only these tests run."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))
