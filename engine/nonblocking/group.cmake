# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
#
# Collectives that are started and completed: their time without computing, and what computing in between hides.
