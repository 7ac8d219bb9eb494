# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
#
# Collectives whose blocks have a size for each rank, and the prefix sum that leaves out the rank's own part.
