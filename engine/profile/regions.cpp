// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "profile/regions.hpp"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "profile/session.hpp"

namespace hockney::profile {

std::uint16_t region = 0;

namespace {

std::uint64_t paused_since = 0;  // MPI_Pcontrol(0)
Region* regions[256];
std::uint32_t region_count = 0;

// A copy of a text argument, "" if there is none: a program may call MPI_Pcontrol(2) without further
// arguments.
const char* region_name(std::uint64_t address, char* copy, std::size_t size) {
  copy[0] = 0;
  if (address < page_bytes) return copy;
  for (std::size_t k = 0; k + 1 < size; ++k) {
    const std::uint64_t at = address + k;
    if (k == 0 || at % page_bytes == 0) {
      char first = 0;
      const iovec here{&first, 1}, there{reinterpret_cast<void*>(at), 1};
      const ssize_t read = process_vm_readv(getpid(), &here, 1, &there, 1, 0);
      if (read < 0 && errno != ENOSYS && errno != EPERM) return copy[0] = 0, copy;
    }
    copy[k] = *reinterpret_cast<const char*>(at);
    copy[k + 1] = 0;
    if (!copy[k]) return copy;
    if (static_cast<unsigned char>(copy[k]) < ' ') return copy[0] = 0, copy;  // not a text
  }
  return copy;
}

void change_region(ThreadState& thread, const char* name) {
  const std::uint64_t now = ticks();
  if (region) {
    Region& left = *regions[region];
    left.ticks += now - thread.region_since;
    left.in_mpi += thread.in_mpi - thread.region_in_mpi;
    region = 0;
  }
  if (!name || !*name) return;
  std::uint32_t k = 1;
  while (k <= region_count && strncmp(regions[k]->name, name, sizeof regions[k]->name - 1) != 0) ++k;
  if (k > region_count) {
    if (region_count == 255) return;
    Region* const added = thread.region_pages.add(thread.id);
    if (!added) return;
    added->id = static_cast<std::uint16_t>(k);
    snprintf(added->name, sizeof added->name, "%s", name);
    thread.region_pages.finish();
    regions[k] = added;
    region_count = k;
  }
  ++regions[k]->entered;
  region = static_cast<std::uint16_t>(k);
  thread.region_since = now;
  thread.region_in_mpi = thread.in_mpi;
}

}  // namespace

void control(const Call& call, ThreadState& thread) {
  const int level = call.integer(level_);
  if (level == 0 && recording) {
    recording = false;
    paused_since = ticks();
  } else if (level == 1 && !recording) {
    recording = true;
    header->paused += ticks() - paused_since;
  } else if (level == 2 && !call.fortran()) {
    char name[sizeof(Region::name)];
    change_region(thread, region_name(call.argument(1), name, sizeof name));
  } else if (level == -2) {
    change_region(thread, nullptr);
  }
}

}  // namespace hockney::profile
