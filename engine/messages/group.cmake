# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
#
# Many messages: between many pairs of ranks, from many to one, and past many others that wait.
