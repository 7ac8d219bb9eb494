// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "profile/trace.hpp"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "profile/communicators.hpp"
#include "profile/rank_file.hpp"

namespace hockney::profile {

bool tracing = false, counting = false;

namespace {

constexpr std::uint64_t default_limit = std::uint64_t{1} << 30;  // bytes of a rank's file
constexpr std::uint32_t slots = 1 << 16, ways = 4;
constexpr std::uint32_t most_parts = 1 << 20;

struct TraceEnvironment {
  bool wanted = false;
  std::uint64_t limit = default_limit;
  TraceEnvironment() {
    const char* const how = getenv("HOCKNEY_PROFILE_TRACE");
    wanted = how && *how;
    if (const char* const mebibytes = getenv("HOCKNEY_PROFILE_TRACE_LIMIT"))
      if (const long long given = atoll(mebibytes); given > 0)
        limit = static_cast<std::uint64_t>(given) << 20;
  }
} asked;

char trace_path[4096];
TraceHeader* header_page = nullptr;
std::uint32_t used_chunks = 0;

// Where the next records of one kind are written: the remainder of a chunk.
struct Window {
  ChunkKind kind;
  std::uint32_t number;
  unsigned char* chunk;
  std::size_t used;
};

struct Writer {
  Window events{ChunkKind::events, 0, nullptr, chunk_bytes};
  Window definitions{ChunkKind::definitions, 0, nullptr, chunk_bytes};
  Window counts{ChunkKind::counts, 0, nullptr, chunk_bytes};
  std::uint64_t count;  // of events
  std::uint64_t clock;  // the end of the last event as it is written
  std::uint64_t* last;  // the last event
  std::uint64_t last_enter;
  bool last_missed;
  std::uint64_t counted_enter, counted_leave;  // at the begin of this call, and at the end of the last one
};
Writer writer, put_aside;
bool aside = false;

std::uint64_t* keys = nullptr;  // hashes of the calls in the slots, in sets of `ways`
std::uint32_t victim = 0;
std::uint32_t starts = 0;

TracePart* parts = nullptr;
std::uint32_t part_count = 0;
std::uint64_t parts_hash = 0;

std::uint64_t fold(std::uint64_t a, std::uint64_t b) {
  const auto product = static_cast<unsigned __int128>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

std::uint64_t hash_of(std::uint64_t before, const void* words_, int count) {
  const auto* words = static_cast<const std::uint64_t*>(words_);
  for (int k = 0; k < count; k += 2)
    before = fold(before ^ words[k] ^ 0xa0761d6478bd642fULL, words[k + 1] ^ 0xe7037ed1a0b428dbULL);
  return before;
}

// Maps a part of the file. Its blocks are allocated first, so that a full disk is reported here and not by a
// signal.
unsigned char* mapped(std::size_t at, std::size_t bytes, std::uint32_t* why) {
  *why = limit_reached;
  rlimit most;
  if (at + bytes > asked.limit) return nullptr;
  if (getrlimit(RLIMIT_FSIZE, &most) == 0 && at + bytes > most.rlim_cur) return nullptr;
  *why = no_space;
  // Opened each time: programs may close all descriptors that they find.
  const int file = open(trace_path, O_RDWR | O_CLOEXEC);
  if (file < 0) return nullptr;
  void* memory = MAP_FAILED;
  if (posix_fallocate(file, static_cast<off_t>(at), static_cast<off_t>(bytes)) == 0)
    memory =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file, static_cast<off_t>(at));
  close(file);
  return memory == MAP_FAILED ? nullptr : static_cast<unsigned char*>(memory);
}

bool next_chunk(Window& window) {
  if (aside) {
    if (!window.chunk) window.chunk = static_cast<unsigned char*>(private_memory(chunk_bytes));
    window.used = sizeof(ChunkHeader);
    return window.chunk != nullptr;
  }
  std::uint32_t why = 0;
  unsigned char* const chunk = mapped(trace_page + used_chunks * chunk_bytes, chunk_bytes, &why);
  if (!chunk) {
    end_trace(why);
    return false;
  }
  ++used_chunks;
  if (window.chunk) munmap(window.chunk, chunk_bytes);
  auto* const head = reinterpret_cast<ChunkHeader*>(chunk);
  head->number = window.number++;
  __atomic_store_n(&head->kind, window.kind, __ATOMIC_RELEASE);
  window.chunk = chunk;
  window.used = sizeof(ChunkHeader);
  return true;
}

template <class Record>
Record* room(Window& window) {
  if (window.used + sizeof(Record) > chunk_bytes && !next_chunk(window)) return nullptr;
  auto* const record = reinterpret_cast<Record*>(window.chunk + window.used);
  window.used += sizeof(Record);
  return record;
}

bool define(std::uint32_t slot, std::uint16_t function, std::uint32_t site, bool miss) {
  for (std::uint32_t k = 0; k < (part_count ? part_count : 1); ++k) {
    auto* const row = room<Definition>(writer.definitions);
    if (!row) return false;
    row->site = site;
    row->slot = static_cast<std::uint16_t>(slot);
    row->function = function;
    row->place = k;
    row->parts = part_count;
    row->misses = miss;
    row->part = part_count ? parts[k] : TracePart{};
    __atomic_store_n(&row->event, writer.count + 1, __ATOMIC_RELEASE);
  }
  return true;
}

// The slot of a call with this hash; 0 if it cannot be written.
std::uint32_t slot_of(std::uint64_t hash, std::uint16_t function, std::uint32_t site, bool miss) {
  const std::uint32_t first = static_cast<std::uint32_t>(hash >> 50) * ways % slots;
  for (std::uint32_t k = first; k < first + ways; ++k)
    if (keys[k] == hash) return k;
  std::uint32_t slot = first;
  while (slot < first + ways && (keys[slot] || slot == 0)) ++slot;
  if (slot == first + ways) slot = first + (first ? victim++ % ways : 1 + victim++ % (ways - 1));
  keys[slot] = hash;
  return define(slot, function, site, miss) ? slot : 0;
}

}  // namespace

void open_trace(const char* folder, std::uint64_t begin, bool shares_cores) {
  if (!asked.wanted || header_page) return;
  snprintf(trace_path, sizeof trace_path, "%s/rank-%05d-%d.trace", folder, world.rank,
           static_cast<int>(getpid()));
  keys = static_cast<std::uint64_t*>(private_memory(slots * sizeof *keys));
  parts = static_cast<TracePart*>(private_memory(most_parts * sizeof *parts));
  if (!keys || !parts) return;
  const int file = open(trace_path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file >= 0) close(file);
  std::uint32_t why = 0;
  unsigned char* const page = file < 0 ? nullptr : mapped(0, trace_page, &why);
  if (!page) {
    fprintf(stderr, "hockney profile: %s cannot be written: %s; rank %d is not traced\n", trace_path,
            strerror(errno), world.rank);
    if (file >= 0) ::unlink(trace_path);
    return;
  }
  header_page = reinterpret_cast<TraceHeader*>(page);
  memcpy(header_page->magic, "HKTRACES", 8);
  header_page->version = trace_version;
  header_page->chunk_bytes = chunk_bytes;
  header_page->rank = world.rank;
  header_page->size = world.size;
  header_page->begin = writer.clock = begin;
  header_page->counter = open_counter(shares_cores);
  counting = header_page->counter != Counter::none;
  if (counting) header_page->bias = counter_bias();
  tracing = true;
}

void end_trace(std::uint32_t why) {
  tracing = false;
  if (header_page && !aside) __atomic_fetch_or(&header_page->flags, why, __ATOMIC_RELAXED);
}

void set_trace_aside(bool now) {
  if (!header_page || (now && !tracing)) return;
  if (now) {
    put_aside = writer;
    writer = Writer{};
    writer.clock = ticks();
  } else if (aside) {
    if (writer.events.chunk) release_memory(writer.events.chunk, chunk_bytes);
    if (writer.definitions.chunk) release_memory(writer.definitions.chunk, chunk_bytes);
    if (writer.counts.chunk) release_memory(writer.counts.chunk, chunk_bytes);
    writer = put_aside;
    tracing = true;
  }
  aside = now;
}

namespace trace {

void add(const TracePart& part) {
  if (!tracing || several_threads) return;
  if (part_count == most_parts) return end_trace(calls_not_known);
  parts[part_count++] = part;
  parts_hash = hash_of(parts_hash, &part, sizeof part / sizeof(std::uint64_t));
}

std::uint32_t start(TracePart part) {
  if (!tracing) return 0;
  add(part);
  if (++starts == 0) ++starts;
  return starts;
}

TracePart part_of(const Part& message, What what) {
  TracePart part{};
  part.what = what;
  part.by = message.function;
  part.communicator = message.communicator;
  part.peer = message.distance == Distance::none ? -2 : message.peer;
  part.tag = message.tag == mpi.any_tag ? -1 : message.tag;
  part.root = -1;
  part.bytes = message.bytes;
  if (message.wildcard) part.flags = any_source_or_tag;
  if (message.role == Role::collective) {
    part.root = message.peer;
    part.peer = -1;
    part.tag = message.tag > 0 ? message.tag : -1;
  }
  return part;
}

std::uint32_t start(const Part& request) {
  // Requests of files, or of the program itself, communicate nothing.
  if (!tracing || request.communicator == 0) return 0;
  return start(part_of(request, request.role == Role::send      ? What::start_send
                                : request.role == Role::receive ? What::start_receive
                                                                : What::start_collective));
}

void end(const PendingRequest& request) {
  if (!tracing || request.started == 0) return;
  TracePart part{};
  part.peer = part.tag = -1;
  if (request.role == Role::receive) part = part_of(request, What::end);
  part.what = What::end;
  part.root = -1;
  part.by = 0;
  if (request.cancelled) part.flags |= cancelled_message;
  part.age = starts - request.started + 1;
  add(part);
  if (!request.sends_too) return;
  part = {};
  part.what = What::end;
  part.peer = part.tag = part.root = -1;
  part.age = starts - request.started + 2;
  add(part);
}

void count_enter() {
  writer.counted_enter = counted();
}
void count_leave() {
  writer.counted_leave = counted();
}

void call(const Call& call, std::uint32_t site, bool miss, std::uint64_t enter, std::uint64_t leave) {
  const std::uint64_t hash_of_parts = parts_hash;
  if (several_threads) return end_trace(threads_called);
  if (!site) return end_trace(calls_not_known);
  Writer& w = writer;
  const std::uint64_t took = leave - enter;
  parts_hash = 0;
  if (miss && w.last_missed && enter <= w.clock + 8 * took) {
    // A loop of tests that find nothing is one event, unless the program computes in between.
    const std::uint64_t code = coded(leave - w.last_enter);
    __atomic_store_n(w.last, (*w.last & ~std::uint64_t{0xffffff}) | code, __ATOMIC_RELEASE);
    w.clock = w.last_enter + decoded(code);
    part_count = 0;
    return;
  }
  const std::uint16_t function = call.called().function;
  const std::uint64_t words[2] = {static_cast<std::uint64_t>(site) << 32 | function | miss << 16,
                                  hash_of_parts ^ part_count};
  const std::uint64_t hash = hash_of(hash_of_parts, words, 2) | 1;
  const std::uint32_t slot = slot_of(hash, function, site, miss);
  part_count = 0;
  if (!slot) return;
  if (counting) {
    auto* const count = room<std::uint32_t>(w.counts);
    if (!count) return;
    *count = static_cast<std::uint32_t>(
        w.counted_enter > w.counted_leave ? coded(w.counted_enter - w.counted_leave) : 0);
  }
  auto* const event = room<std::uint64_t>(w.events);
  if (!event) return;
  const std::uint64_t gap = enter > w.clock ? coded(enter - w.clock) : 0, duration = coded(took);
  __atomic_store_n(event, static_cast<std::uint64_t>(slot) << 48 | gap << 24 | duration, __ATOMIC_RELEASE);
  w.last = event;
  w.last_enter = w.clock + decoded(gap);
  w.last_missed = miss;
  w.clock = w.last_enter + decoded(duration);
  ++w.count;
}

}  // namespace trace
}  // namespace hockney::profile
