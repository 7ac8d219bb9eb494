// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "comm/topology.hpp"

#include <fstream>
#include <optional>
#include <string_view>

#include "base/leading_number.hpp"

namespace hockney {
namespace {

// The first line of a file; empty if there is none.
std::string first_line(const std::string& file) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  return line;
}

// -1 if the file has no number that is at least 0.
int read_number(const std::string& file) {
  const std::string line = first_line(file);
  std::string_view text = line;
  const int number = take_leading_number(text).value_or(-1);
  return number >= 0 ? number : -1;
}

// A processor's entries in sysfs (Linux, Documentation/ABI/stable/sysfs-devices-system-cpu).
class Cpu {
 public:
  Cpu(const std::string& system, int number)
      : folder_(system + "/devices/system/cpu/cpu" + std::to_string(number)) {}

  // The processors of its core. The file was named thread_siblings_list before Linux 5.3.
  std::optional<Processors> core() const {
    for (const char* const name : {"core_cpus_list", "thread_siblings_list"})
      if (auto found = parse_list(first_line(folder_ + "/topology/" + name))) return found;
    return std::nullopt;
  }

  // The processors that share its last-level cache, which is at least an L2, because an L1 belongs to a core.
  std::optional<Processors> cache() const {
    int last = 1;
    std::optional<Processors> processors;
    for (int index = 0;; ++index) {
      const std::string cache = folder_ + "/cache/index" + std::to_string(index);
      const int level = read_number(cache + "/level");
      if (level < 0) return processors;
      if (level <= last) continue;
      if (auto found = parse_list(first_line(cache + "/shared_cpu_list"))) {
        last = level;
        processors = found;
      }
    }
  }

  int socket() const { return read_number(folder_ + "/topology/physical_package_id"); }

 private:
  std::string folder_;
};

}  // namespace

Core core_of(const Processors& allowed, const std::string& system) {
  const int first = lowest_processor(allowed);
  if (first < 0) return {};
  const std::optional<Processors> threads = Cpu(system, first).core();
  if (!threads || !includes(*threads, allowed)) return {};
  Core found;
  found.core = lowest_processor(*threads);
  const std::optional<Processors> processors = Cpu(system, found.core).cache();
  if (processors && includes(*processors, *threads)) found.cache = lowest_processor(*processors);
  // In some virtual machines each processor is a separate socket, but shares a cache with others.
  found.socket = Cpu(system, found.cache < 0 ? found.core : found.cache).socket();
  return found;
}

}  // namespace hockney
