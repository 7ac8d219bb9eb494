// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "profile/rank_file.hpp"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace hockney::profile {

bool counts_ticks = false;
Header* header = nullptr;

namespace {

int file = -1;
dev_t file_device;
ino_t file_number;
std::size_t page_limit = most_pages;
bool closed = false;
bool kept = true;

unsigned char* page_at(std::size_t k) {
  return reinterpret_cast<unsigned char*>(header) + k * page_bytes;
}

bool invariant_counter() {
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (!__get_cpuid(0x80000007, &a, &b, &c, &d)) return false;
  return d >> 8 & 1;
#elif defined(__aarch64__)
  return true;
#else
  return false;
#endif
}

// Whether the descriptor is still that of the rank's file: a program may close all that it finds open.
bool is_own_file() {
  struct stat now;
  return file >= 0 && fstat(file, &now) == 0 && now.st_dev == file_device && now.st_ino == file_number;
}

bool write_all(int to, const unsigned char* from, std::size_t bytes) {
  while (bytes > 0) {
    const ssize_t written = ::write(to, from, bytes);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    from += written;
    bytes -= static_cast<std::size_t>(written);
  }
  return true;
}

}  // namespace

std::uint64_t monotonic_ns() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1000000000u + static_cast<std::uint64_t>(now.tv_nsec);
}

void* private_memory(std::size_t bytes) {
  void* const memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

void release_memory(void* memory, std::size_t bytes) {
  munmap(memory, bytes);
}

bool reserve_rank_file() {
  if (header) return true;
  void* const memory = private_memory(most_pages * page_bytes);
  if (!memory) return false;
  auto* const first = static_cast<Header*>(memory);
  memcpy(first->magic, "HKPROFIL", 8);
  first->version = version;
  first->page_bytes = page_bytes;
  first->state = State::running;
  first->pages = 1;
  first->rank = -1;
  first->core = first->package = -1;
  first->pid = static_cast<std::uint32_t>(getpid());
  gethostname(first->hostname, sizeof first->hostname - 1);
  const ssize_t length = readlink("/proc/self/exe", first->program, sizeof first->program - 1);
  if (length < 0) first->program[0] = 0;
  counts_ticks = invariant_counter();
  if (!counts_ticks) first->flags |= ticks_of_kernel;
  header = first;
  first->first = first->last = {ticks(), monotonic_ns()};
  return true;
}

void set_flag(std::uint32_t flag) {
  __atomic_fetch_or(&header->flags, flag, __ATOMIC_RELAXED);
}

[[gnu::cold, gnu::noinline]] void update_clock() {
  header->last = {ticks(), monotonic_ns()};
}

void open_rank_file(const char* folder, int rank) {
  char path[4096];
  snprintf(path, sizeof path, "%s/rank-%05d-%d.hkp", folder, rank, static_cast<int>(getpid()));
  const std::size_t used = header->pages * page_bytes;
  rlimit limit;
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur / page_bytes < page_limit)
    page_limit = limit.rlim_cur / page_bytes;
  if (page_limit < header->pages) {
    fprintf(stderr, "hockney profile: files may not be large enough (ulimit -f); rank %d is not profiled\n",
            rank);
    return;
  }
  const int opened = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (opened < 0 || !write_all(opened, page_at(0), used) ||
      ftruncate(opened, static_cast<off_t>(page_limit * page_bytes)) != 0) {
    fprintf(stderr, "hockney profile: %s cannot be written: %s; rank %d is not profiled\n", path,
            strerror(errno), rank);
    if (opened >= 0) {
      unlink(path);
      close(opened);
    }
    return;
  }
  void* const mapped =
      mmap(header, page_limit * page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, opened, 0);
  if (mapped == MAP_FAILED) {
    fprintf(stderr, "hockney profile: %s cannot be mapped: %s\n", path, strerror(errno));
    unlink(path);
    close(opened);
    return;
  }
  struct stat own;
  if (fstat(opened, &own) != 0) return;
  file_device = own.st_dev;
  file_number = own.st_ino;
  file = opened;
}

void close_rank_file() {
  closed = true;
  if (!is_own_file()) return;
  const std::size_t used = __atomic_load_n(&header->pages, __ATOMIC_ACQUIRE);
  if (ftruncate(file, static_cast<off_t>((used < page_limit ? used : page_limit) * page_bytes)) != 0) return;
  close(file);
  file = -1;
}

void keep_pages(bool keep) {
  kept = keep;
}

[[gnu::cold, gnu::noinline]] PageHeader* new_page(Kind kind, std::uint16_t record_bytes,
                                                  std::uint32_t thread) {
  if (!kept) return static_cast<PageHeader*>(private_memory(page_bytes));
  if (closed) return nullptr;
  const std::uint32_t k = __atomic_load_n(&header->pages, __ATOMIC_RELAXED) < page_limit
                              ? __atomic_fetch_add(&header->pages, 1, __ATOMIC_ACQ_REL)
                              : page_limit;
  if (k >= page_limit) {
    if (k > page_limit) __atomic_store_n(&header->pages, page_limit, __ATOMIC_RELAXED);
    set_flag(file_full);
    return nullptr;
  }
  if (file >= 0 && !is_own_file()) file = -1;
  if (file >= 0 && posix_fallocate(file, static_cast<off_t>(k * page_bytes), page_bytes) != 0) {
    // A page without room on the disk must not be touched. Others may have taken the next one by now.
    set_flag(disk_full);
    closed = true;
    return nullptr;
  }
  auto* const page = reinterpret_cast<PageHeader*>(page_at(k));
  page->record_bytes = record_bytes;
  page->thread = thread;
  __atomic_store_n(&page->kind, kind, __ATOMIC_RELEASE);
  update_clock();
  return page;
}

}  // namespace hockney::profile
