// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "comm/affinity.hpp"

#include <sched.h>

#include <bit>

#include "base/leading_number.hpp"

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

int lowest(const Processors& processors) {
  for (std::size_t byte = 0; byte < processors.size(); ++byte)
    if (processors[byte]) return static_cast<int>(8 * byte) + std::countr_zero(processors[byte]);
  return -1;
}

bool includes(const Processors& all, const Processors& some) {
  for (std::size_t byte = 0; byte < all.size(); ++byte)
    if (some[byte] & ~all[byte]) return false;
  return true;
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

std::optional<Processors> listed(std::string_view list) {
  Processors processors{};
  const auto passed = [&list](char separator) {
    const bool there = list.starts_with(separator);
    if (there) list.remove_prefix(1);
    return there;
  };
  do {
    const std::optional<int> first = take_leading_number(list);
    const std::optional<int> last = first && passed('-') ? take_leading_number(list) : first;
    if (!first || !last || *first < 0 || *last < *first || *last >= most_processors) return std::nullopt;
    for (int cpu = *first; cpu <= *last; ++cpu)
      processors[static_cast<std::size_t>(cpu) / 8] |= static_cast<unsigned char>(1 << cpu % 8);
  } while (passed(','));
  return list.empty() ? std::optional(processors) : std::nullopt;
}

}  // namespace hockney
