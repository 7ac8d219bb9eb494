# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""This machine: its MPIs, its hardware, its load."""
