// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "hockney/barrier.hpp"

namespace hockney::sync {

// Makes a hierarchical barrier whose nodes are given by a colour, to test several nodes on one.
std::unique_ptr<Barrier> make_hierarchical(MPI_Comm comm, int colour);

}  // namespace hockney::sync
