// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>

namespace hockney {

// A checksum that depends on every bit of `data` and on its length.
std::uint64_t checksum(const void* data, std::size_t bytes);

// Control messages of hockney carry a checksum. A rank that receives a corrupt message prints its own number
// and the sender's to standard error, in a line that the front end parses, and aborts the job, because no
// decision can be based on such a message. In SMPI, all ranks share one memory and messages cannot be
// corrupted, so they are sent without checksums; simulated times then only include the messages themselves.
void send_checked(const void* data, std::size_t bytes, int to, int tag, MPI_Comm comm);
void receive_checked(void* data, std::size_t bytes, int from, int tag, MPI_Comm comm);

inline constexpr int corrupted_exit_code = 76;  // EX_PROTOCOL

}  // namespace hockney
