# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Building blocks of pages and printed results: evidence, caveats, tables, figures and shared sections."""
