# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
#
# Ping-pongs that send, or receive, in MPI's other ways.
