# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Common parts of machine descriptions in TOML: files by name, values with units, tables of keys."""
