// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "comm/affinity.hpp"

#include <sched.h>

#include <bit>

namespace hockney {

std::optional<Processors> affinity() {
#if defined(__linux__) && !defined(HOCKNEY_SMPI)
  // A cpu_set_t has 1024 bits; the system call accepts larger masks.
  alignas(cpu_set_t) Processors mask{};
  if (sched_getaffinity(0, mask.size(), reinterpret_cast<cpu_set_t*>(mask.data())) == 0) return mask;
#endif
  return std::nullopt;
}

int count(const Processors& processors) {
  int total = 0;
  for (const unsigned char byte : processors) total += std::popcount(byte);
  return total;
}

std::string list_of(const Processors& processors) {
  const auto in_set = [&processors](int cpu) {
    return cpu < most_processors && (processors[static_cast<std::size_t>(cpu) / 8] >> (cpu % 8) & 1) != 0;
  };
  std::string list;
  for (int cpu = 0; cpu < most_processors; ++cpu) {
    if (!in_set(cpu)) continue;
    int last = cpu;
    while (in_set(last + 1)) ++last;
    if (!list.empty()) list += ',';
    list += std::to_string(cpu);
    if (last > cpu) list += '-' + std::to_string(last);
    cpu = last;
  }
  return list;
}

}  // namespace hockney
