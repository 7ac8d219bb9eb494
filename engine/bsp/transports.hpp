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

// MPI messages. Collective, as the next one.
std::unique_ptr<Transport> message_transport(const Comm& comm, WaitPolicy wait_policy, Headers headers);

// Memory that the processes of a node share: `bytes` for the communication of one process in one superstep, a
// default if 0. Throws InvalidCase on all processes if they do not share memory.
std::unique_ptr<Transport> shared_transport(const Comm& comm, WaitPolicy wait_policy, std::size_t bytes);

}  // namespace hockney::bsp::inline v1
