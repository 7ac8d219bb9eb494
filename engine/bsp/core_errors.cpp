// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
// Reports which rule of BSPlib a call has broken.
#include <cstdarg>
#include <string>

#include "bsp/core.hpp"

namespace hockney::bsp::inline v1 {
namespace {

bool is_negative(std::size_t bytes) {
  return static_cast<std::ptrdiff_t>(bytes) < 0;
}

}  // namespace

std::string Core::name(Call call) const {
  return std::string(place_.prefix) + name_of(call);
}

void Core::fail(Call call, const char* format, ...) const {
  std::va_list values;
  va_start(values, format);
  bsp::fail(place_, call, format, values);
}

void Core::check_pid(Call call, int pid) const {
  if (pid < 0 || pid >= comm_.size) fail(call, "process %d (expected 0 to %d)", pid, comm_.size - 1);
}

void Core::check_size(Call call, const char* what, std::size_t bytes) const {
  if (is_negative(bytes))
    fail(call, "%s of %td bytes (expected 0 or more)", what, static_cast<std::ptrdiff_t>(bytes));
}

void Core::refuse(Call call, int pid, std::uint32_t number, const void* area, std::size_t offset,
                  std::size_t bytes, const void* own) const {
  check_pid(call, pid);
  check_size(call, "size", bytes);
  check_size(call, "offset", offset);
  if (!registry_.is_in_force(number)) {
    const std::string push = name(Call::push_reg);
    if (area && registry_.is_pushed_now(area))
      fail(call, "%p was registered in this superstep (expected an area registered before the last %s)", area,
           name(Call::sync).c_str());
    if (area)
      fail(call, "%p is not registered (expected the start of an area given to %s)", area, push.c_str());
    if (registry_.is_pushed_now(number))
      fail(call, "registration %u is new in this superstep (expected one made before the last %s)", number,
           name(Call::sync).c_str());
    fail(call, "the remote area is NULL or not registered (expected an area given to %s)", push.c_str());
  }
  if (!own) fail(call, "the local memory is NULL (expected %zu bytes)", bytes);
  const Memory& memory = registry_.of(number, pid);
  if (memory.base == 0)
    fail(call, "process %d has registered NULL (expected an area of at least %zu bytes)", pid,
         offset + bytes);
  fail(call,
       "%zu bytes at offset %zu, but process %d has registered %zu bytes (expected offset + size <= %zu)",
       bytes, offset, pid, static_cast<std::size_t>(memory.bytes), static_cast<std::size_t>(memory.bytes));
}

void Core::report(const Disagreement& found) const {
  const int one = found.pid, other = found.other;
  const Agreement &a = found.first, &b = found.second;
  const auto report_difference = [&](Call call, std::uint32_t first, std::uint32_t second) {
    if (first != second)
      fail(Call::sync,
           "%s was called %u times on process %d and %u times on process %d in this superstep "
           "(expected the same number on all processes)",
           name(call).c_str(), first, one, second, other);
  };
  if (a.ending != b.ending)
    fail(a.ending ? Call::end : Call::sync,
         "process %d is in %s, process %d in %s (expected all in the same call)", one,
         name(a.ending ? Call::end : Call::sync).c_str(), other,
         name(b.ending ? Call::end : Call::sync).c_str());
  report_difference(Call::push_reg, a.pushes, b.pushes);
  report_difference(Call::pop_reg, a.pops, b.pops);
  report_difference(Call::set_tagsize, a.tag_calls, b.tag_calls);
  fail(Call::sync,
       "%s was called with %llu on process %d and with %llu on process %d (expected the same size)",
       name(Call::set_tagsize).c_str(), static_cast<unsigned long long>(a.tag_bytes), one,
       static_cast<unsigned long long>(b.tag_bytes), other);
}

}  // namespace hockney::bsp::inline v1
