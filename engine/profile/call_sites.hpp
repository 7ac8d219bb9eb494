// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
//
// Call sites, identified by return address, stack pointer and Python instruction. The stack is unwound once
// for each site.
#pragma once

#include <cstdint>

#include "profile/format.hpp"

namespace hockney::profile {

struct ThreadState;
struct Call;

struct SiteState {
  std::uint64_t key = 0;
  Site* record = nullptr;
  std::uint32_t calls = 0;
  // The entry of the last call.
  std::uint64_t entry_key = 0;
  Entry* entry = nullptr;
};

constexpr std::uint32_t most_sites = 2048;  // of a thread

// The call site of a call. If there is no room, the site for lost calls, which has no record.
SiteState* site_of(ThreadState& thread, const Call& call);

// Loads what unwinding needs, so that unwinding does not allocate later.
void prepare_call_sites();

}  // namespace hockney::profile
