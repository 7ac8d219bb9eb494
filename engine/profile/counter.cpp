// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "profile/counter.hpp"

#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace hockney::profile {
namespace {

Counter counter = Counter::none;
int event = -1;
const volatile perf_event_mmap_page* page = nullptr;
std::uint64_t last_count = 0;

bool open_event(std::uint32_t type, std::uint64_t config) {
  perf_event_attr attributes;
  memset(&attributes, 0, sizeof attributes);
  attributes.size = sizeof attributes;
  attributes.type = type;
  attributes.config = config;
  attributes.exclude_kernel = attributes.exclude_hv = 1;
  attributes.pinned = type == PERF_TYPE_HARDWARE;  // the counter is not time-shared with other events
  event = static_cast<int>(syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC));
  return event >= 0;
}

#if defined(__x86_64__)
// As linux/perf_event.h describes: the kernel changes `lock` when it changes the page.
std::uint64_t count_on_page() {
  std::uint32_t lock;
  std::uint64_t count;
  do {
    lock = page->lock;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    count = static_cast<std::uint64_t>(page->offset);
    if (const std::uint32_t index = page->index) {
      const int unused = 64 - page->pmc_width;
      const auto value = static_cast<std::uint64_t>(__builtin_ia32_rdpmc(static_cast<int>(index - 1)));
      count += static_cast<std::uint64_t>(static_cast<std::int64_t>(value << unused) >> unused);
    }
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
  } while (page->lock != lock);
  return count;
}

bool open_instructions() {
  if (!open_event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS)) return false;
  const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* const memory = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, event, 0);
  if (memory != MAP_FAILED) {
    page = static_cast<const volatile perf_event_mmap_page*>(memory);
    if (page->cap_user_rdpmc && page->index) return true;
    munmap(memory, bytes);
    page = nullptr;
  }
  close(event);
  event = -1;
  return false;
}
#else
std::uint64_t count_on_page() {
  return 0;
}
bool open_instructions() {
  return false;
}
#endif

}  // namespace

Counter open_counter(bool shares_cores) {
  const char* const given = getenv("HOCKNEY_PROFILE_COUNTER");
  const bool any = !given || !*given || strcmp(given, "auto") == 0;
  const auto names = [given](const char* name) { return given && strcmp(given, name) == 0; };
  counter = Counter::none;
  if ((any || names("instructions")) && open_instructions())
    counter = Counter::instructions;
  else if (names("instructions"))
    fprintf(stderr,
            "hockney profile: this processor's counter of instructions cannot be read; none are counted\n");
  else if (names("task-clock") && open_event(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK))
    counter = Counter::task_clock;
  else if ((any && shares_cores) || names("cpu-time"))
    counter = Counter::cpu_time;
  else if (!any && !names("none"))
    fprintf(stderr, "hockney profile: HOCKNEY_PROFILE_COUNTER=%s is unknown or not available; use %s\n",
            given, "auto, instructions, cpu-time, task-clock or none");
  return counter;
}

std::uint64_t counted() {
  switch (counter) {
    case Counter::instructions: return count_on_page();
    case Counter::cpu_time: {
      timespec time;
      clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
      return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
             static_cast<std::uint64_t>(time.tv_nsec);
    }
    case Counter::task_clock:
      // A program that closes all descriptors ends the count.
      if (std::uint64_t count = 0; read(event, &count, sizeof count) == sizeof count) last_count = count;
      return last_count;
    case Counter::none: break;
  }
  return 0;
}

std::uint64_t counter_bias() {
  std::uint64_t least = ~std::uint64_t{0};
  for (int k = 0; k < 64; ++k) {
    const std::uint64_t before = counted(), passed = counted() - before;
    if (passed < least) least = passed;
  }
  return least;
}

}  // namespace hockney::profile
