// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
//
// The rank's file in memory: pages for the records of each thread, and the clock.
#pragma once

#include <cstdint>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "profile/format.hpp"

namespace hockney::profile {

constexpr std::size_t most_pages = 16384;  // 64 MiB

extern bool counts_ticks;  // the processor's counter is invariant
std::uint64_t monotonic_ns();

inline std::uint64_t ticks() {
#if defined(__x86_64__)
  if (counts_ticks) return __rdtsc();
#elif defined(__aarch64__)
  std::uint64_t count;
  asm volatile("mrs %0, cntvct_el0" : "=r"(count));
  return count;
#endif
  return monotonic_ns();
}

// In memory of this process from the first call on, and in the file from open_rank_file on.
extern Header* header;

// Memory for the pages; false if there is none. Later calls do nothing.
bool reserve_rank_file();

// Writes what is recorded so far to a new file, and maps the file in place of the memory. On failure it
// prints a message and everything stays in memory.
void open_rank_file(const char* folder, int rank);

// Cuts the file behind its last page, when nothing more will be recorded.
void close_rank_file();

// A new page, or nullptr if the file or the disk is full.
PageHeader* new_page(Kind kind, std::uint16_t record_bytes, std::uint32_t thread);

// Whether new pages are part of the file.
void keep_pages(bool keep);

void set_flag(std::uint32_t flag);
void update_clock();

// Memory that is not part of the file, filled with zeros and never released; nullptr if there is none.
void* private_memory(std::size_t bytes);
void release_memory(void* memory, std::size_t bytes);

// The records of one type that one thread writes.
template <class Record>
struct Pages {
  Kind kind;
  PageHeader* last = nullptr;

  // A new record filled with zeros, complete only once `finish` is called; nullptr if there is no room.
  Record* add(std::uint32_t thread) {
    constexpr std::uint32_t most = (page_bytes - sizeof(PageHeader)) / sizeof(Record);
    if (!last || last->records == most) {
      PageHeader* const page = new_page(kind, sizeof(Record), thread);
      if (!page) return nullptr;
      last = page;
    }
    return reinterpret_cast<Record*>(last + 1) + last->records;
  }
  void finish() { __atomic_store_n(&last->records, last->records + 1, __ATOMIC_RELEASE); }
};

}  // namespace hockney::profile
