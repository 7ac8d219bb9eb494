// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>

#include "bsp/transport.hpp"
#include "comm/comm.hpp"
#include "comm/wait_policy.hpp"
#include "hockney/bsp.hpp"

namespace hockney::bsp::inline v1 {

// Transport by MPI messages. Collective, like the next function.
std::unique_ptr<Transport> message_transport(const Comm& comm, WaitPolicy wait_policy, Headers headers);

// Transport by memory that the processes of a node share. `bytes` is the capacity for one process in one
// superstep; 0 selects a default. Throws InvalidCase on all processes if they do not share memory.
std::unique_ptr<Transport> shared_transport(const Comm& comm, WaitPolicy wait_policy, std::size_t bytes);

}  // namespace hockney::bsp::inline v1
