# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Tables of collective algorithms from measurements, and their texts for the programs that read them."""
