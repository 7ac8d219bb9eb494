// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
//
// Counts the work of the calling thread between two calls, also if ranks share cores: instructions, where
// user space may read the processor's counter, and otherwise nanoseconds of processor time.
#pragma once

#include <cstdint>

namespace hockney::profile {

enum class Counter : std::uint32_t {
  none,
  instructions,  // in user space
  cpu_time,      // CLOCK_THREAD_CPUTIME_ID
  task_clock,    // processor time as well, by perf_event_open
};

// Opens the counter that HOCKNEY_PROFILE_COUNTER names: "instructions", "cpu-time", "task-clock" or "none".
// By default instructions if reading them needs no system call, and processor time if the rank shares its
// cores: a system call at each call would otherwise cost more than it shows. Returns what is counted.
Counter open_counter(bool shares_cores);

// The count of the calling thread, which opened the counter.
std::uint64_t counted();

// The least difference of two counts with nothing in between.
std::uint64_t counter_bias();

}  // namespace hockney::profile
