// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "hockney/barrier.hpp"

namespace hockney::sync {

// The hierarchical barrier of ranks whose node is said by a colour, for tests of several nodes on one.
std::unique_ptr<Barrier> make_hierarchical(MPI_Comm comm, int colour);

}  // namespace hockney::sync
