// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
//
// MPI_Pcontrol: pauses, and regions that the program names.
#pragma once

#include "profile/call.hpp"
#include "profile/threads.hpp"

namespace hockney::profile {

extern std::uint16_t region;  // the current one; 0: none

void control(const Call& call, ThreadState& thread);

}  // namespace hockney::profile
