// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>

namespace hockney {

// Bytes this host can still give without swapping (Linux: MemAvailable, and what
// this process's control groups leave); a large number where the system does not
// tell. `root` is another place for /proc and /sys, for tests.
std::uint64_t available_memory(const std::filesystem::path& root = "/");

// Size of the largest cache level in bytes; 32 MiB where the system does not tell.
std::uint64_t last_level_cache();

}  // namespace hockney
