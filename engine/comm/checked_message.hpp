// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>

namespace hockney {

// A number that a change of any bit of `data`, or of its length, changes.
std::uint64_t checksum(const void* data, std::size_t bytes);

// hockney's own messages carry their checksum. A rank that receives one that arrived wrong names itself and
// the sender on standard error, in a line that the front end understands, and ends the job: what it would
// decide by that message cannot be trusted. In SMPI all ranks share one memory and nothing can be damaged on
// the way; there the messages are bare, so that simulated times are those of the messages alone.
void send_checked(const void* data, std::size_t bytes, int to, int tag, MPI_Comm comm);
void receive_checked(void* data, std::size_t bytes, int from, int tag, MPI_Comm comm);

inline constexpr int corrupted_exit_code = 76;  // EX_PROTOCOL

}  // namespace hockney
