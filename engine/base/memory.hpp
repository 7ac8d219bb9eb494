// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace hockney {

// Bytes this host can still give without swapping (Linux: MemAvailable, and what the cgroup leaves); a large number where
// the system does not tell.
std::uint64_t available_memory();

// Size of the largest cache level in bytes; 32 MiB where the system does not tell.
std::uint64_t last_level_cache();

}  // namespace hockney
