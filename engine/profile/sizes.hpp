// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
//
// How many bytes a call sends or receives; -1 if that is not known.
#pragma once

#include "profile/communicators.hpp"
#include "profile/threads.hpp"

namespace hockney::profile {

std::int64_t size_of_type(ThreadState& thread, Handle type);
std::int64_t bytes_of(const Call& call, ThreadState& thread, Parameter how_many, Parameter type);

// Bytes of one block of a collective operation. Arguments that MPI ignores, because of MPI_IN_PLACE or the
// rank, are not read.
std::int64_t block_bytes(const Call& call, ThreadState& thread, const CommunicatorState& on);

}  // namespace hockney::profile
