// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "hockney/barrier.hpp"

namespace hockney::sync {

// The hierarchical barrier with nodes given by a colour, for testing several nodes on one.
std::unique_ptr<Barrier> make_hierarchical(MPI_Comm comm, int colour);

}  // namespace hockney::sync
