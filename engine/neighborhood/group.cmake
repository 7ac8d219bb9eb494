# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
#
# Collectives among the neighbours of a topology.
