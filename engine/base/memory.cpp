// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "base/memory.hpp"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

namespace hockney {
namespace {

std::uint64_t first_number(const char* path) {
  std::ifstream file(path);
  std::uint64_t value = 0;
  return file >> value ? value : std::numeric_limits<std::uint64_t>::max();
}

std::uint64_t meminfo_available() {
  std::ifstream file("/proc/meminfo");
  std::string word;
  std::uint64_t kib = 0;
  while (file >> word) {
    if (word == "MemAvailable:" && file >> kib) return kib * 1024;
  }
  return std::numeric_limits<std::uint64_t>::max();
}

}  // namespace

std::uint64_t available_memory() {
  std::uint64_t left = meminfo_available();
  const std::uint64_t limit = first_number("/sys/fs/cgroup/memory.max");
  if (limit != std::numeric_limits<std::uint64_t>::max()) {
    const std::uint64_t used = first_number("/sys/fs/cgroup/memory.current");
    left = std::min(left, limit > used ? limit - used : 0);
  }
  return left;
}

std::uint64_t last_level_cache() {
#ifdef _SC_LEVEL3_CACHE_SIZE
  for (const int level : {_SC_LEVEL4_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE, _SC_LEVEL2_CACHE_SIZE}) {
    const long size = sysconf(level);
    if (size > 0) return static_cast<std::uint64_t>(size);
  }
#endif
  return std::uint64_t{32} << 20;
}

}  // namespace hockney
