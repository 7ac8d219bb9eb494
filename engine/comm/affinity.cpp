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

int lowest_processor(const Processors& processors) {
  for (std::size_t byte = 0; byte < processors.size(); ++byte)
    if (processors[byte]) return static_cast<int>(8 * byte) + std::countr_zero(processors[byte]);
  return -1;
}

bool includes(const Processors& set, const Processors& subset) {
  for (std::size_t byte = 0; byte < set.size(); ++byte)
    if (subset[byte] & ~set[byte]) return false;
  return true;
}

std::string to_list(const Processors& processors) {
  const auto in_set = [&processors](int cpu) {
    return cpu < max_processors && (processors[static_cast<std::size_t>(cpu) / 8] >> (cpu % 8) & 1) != 0;
  };
  std::string list;
  for (int cpu = 0; cpu < max_processors; ++cpu) {
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

std::optional<Processors> parse_list(std::string_view list) {
  Processors processors{};
  const auto skip_separator = [&list](char separator) {
    const bool is_present = list.starts_with(separator);
    if (is_present) list.remove_prefix(1);
    return is_present;
  };
  do {
    const std::optional<int> first = take_leading_number(list);
    const std::optional<int> last = first && skip_separator('-') ? take_leading_number(list) : first;
    if (!first || !last || *first < 0 || *last < *first || *last >= max_processors) return std::nullopt;
    for (int cpu = *first; cpu <= *last; ++cpu)
      processors[static_cast<std::size_t>(cpu) / 8] |= static_cast<unsigned char>(1 << cpu % 8);
  } while (skip_separator(','));
  return list.empty() ? std::optional(processors) : std::nullopt;
}

}  // namespace hockney
