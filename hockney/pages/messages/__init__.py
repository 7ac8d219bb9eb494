# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The caveats of every run, by theme, and the columns of tables."""
