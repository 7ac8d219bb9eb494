# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
#
# Comparisons of nodes: messages of every pair of nodes, and the computing and memory rates of every node.
set(options -O3)
