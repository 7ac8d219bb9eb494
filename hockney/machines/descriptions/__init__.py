# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What descriptions of machines in TOML have in common: files by name, values with units, tables of keys."""
