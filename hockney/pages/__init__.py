# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Building blocks of a study's page: evidence, caveats, tables, figures and shared sections."""
