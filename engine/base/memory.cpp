// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "base/memory.hpp"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iomanip>
#include <iterator>
#include <limits>
#include <sstream>
#include <string>
#include <string_view>

namespace hockney {
namespace {

constexpr std::uint64_t unlimited_bytes = std::numeric_limits<std::uint64_t>::max();

std::uint64_t first_number(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::uint64_t value = 0;
  return file >> value ? value : unlimited_bytes;
}

// The number that follows `name` in a file of names and numbers; `fallback` if there is none.
std::uint64_t number_after(const std::filesystem::path& path, std::string_view name, std::uint64_t fallback) {
  std::ifstream file(path);
  std::uint64_t value = 0;
  for (std::string word; file >> word;)
    if (word == name && file >> value) return value;
  return fallback;
}

// Memory that a control group (version 2) still allows. The kernel drops clean file pages before it refuses
// memory, so inactive ones count as free; otherwise a container that has just read its files would appear to
// have no memory left.
std::uint64_t available_in(const std::filesystem::path& group) {
  const std::uint64_t limit = first_number(group / "memory.max");
  const std::uint64_t used_bytes = first_number(group / "memory.current");
  if (limit == unlimited_bytes || used_bytes == unlimited_bytes) return unlimited_bytes;
  const std::uint64_t held =
      used_bytes - std::min(used_bytes, number_after(group / "memory.stat", "inactive_file", 0));
  return limit - std::min(limit, held);
}

// This process's control group relative to the mount, from /proc ("0::/slice/job"); empty if unknown.
std::filesystem::path own_group(const std::filesystem::path& root) {
  std::ifstream file(root / "proc/self/cgroup");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("0::/")) return line.substr(4);
  return {};
}

}  // namespace

std::uint64_t available_memory(const std::filesystem::path& root) {
  const std::uint64_t kib = number_after(root / "proc/meminfo", "MemAvailable:", unlimited_bytes);
  std::uint64_t remaining = kib == unlimited_bytes ? unlimited_bytes : kib * 1024;
  const std::filesystem::path mount = root / "sys/fs/cgroup";
  for (std::filesystem::path group = own_group(root);; group = group.parent_path()) {
    remaining = std::min(remaining, available_in(mount / group));
    if (group.empty()) return remaining;
  }
}

std::string readable_bytes(std::uint64_t bytes) {
  constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < std::size(units); ++unit) value /= 1024;
  std::ostringstream text;
  text << std::setprecision(4) << value << ' ' << units[unit];
  return text.str();
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
