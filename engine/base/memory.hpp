// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace hockney {

// Bytes that this host can still provide without swapping (Linux: MemAvailable, limited by this process's
// control groups); a large number if unknown. `root` replaces / for /proc and /sys in tests.
std::uint64_t available_memory(const std::filesystem::path& root = "/");

// Formats a size for messages: "512 B", "1.5 GiB", "1 TiB".
std::string readable_bytes(std::uint64_t bytes);

// Size of the last-level cache in bytes; 32 MiB if unknown.
std::uint64_t last_level_cache();

}  // namespace hockney
