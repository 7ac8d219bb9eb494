// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "bpram/exchanger.hpp"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/clock.hpp"
#ifdef HOCKNEY_SMPI
#include "smpi/library_costs.hpp"
#endif

namespace hockney::bpram::inline v1 {
namespace {

// MPI counts are ints, so a longer block is sent in pieces of this size; the last one is shorter, and may be
// empty.
constexpr std::size_t piece_bytes = std::size_t{1} << 30;
constexpr int exit_status = 6;

bool requests_checks(const Settings& settings) {
  const char* const value = std::getenv("HOCKNEY_BPRAM_CHECK");
  return settings.check || (value && std::strcmp(value, "0") != 0 && *value);
}

// On a simulated machine, Comm::duplicate() returns the same communicator, in which a block from any process
// could match a message of the program.
Comm duplicate(MPI_Comm comm) {
  MPI_Comm copy;
  MPI_Comm_dup(comm, &copy);
  // Allows errors to be reported here before MPI reports them.
  MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN);
  return Comm::owner(copy);
}

// Number of available tags.
int tags(MPI_Comm comm) {
  void* limit = nullptr;
  int has = 0;
  MPI_Comm_get_attr(comm, MPI_TAG_UB, static_cast<void*>(&limit), &has);
  constexpr int guaranteed = 32767;
  return has && limit ? std::min(*static_cast<int*>(limit), 1 << 20) : guaranteed;
}

}  // namespace

Exchanger::Exchanger(MPI_Comm comm, const Settings& settings)
    : comm_(duplicate(comm)), checks_(requests_checks(settings)), max_tags_(tags(comm)), start_s_(now()) {}

void Exchanger::fail(const char* format, ...) const {
  char text[512];
  std::va_list values;
  va_start(values, format);
  std::vsnprintf(text, sizeof text, format, values);
  va_end(values);
  // Prints with a single call, so that the lines of several processes do not mix.
  std::fprintf(stderr, "hockney-bpram: step %llu, process %d: %s\n", static_cast<unsigned long long>(steps_),
               comm_.rank, text);
  std::fflush(stderr);
  MPI_Abort(MPI_COMM_WORLD, exit_status);
  std::abort();
}

// A process that does not wait for others may be many steps ahead of them. The tag is the number of the step,
// so that its block is not mistaken for one of an earlier step.
Received Exchanger::step(int to, std::span<const std::byte> block, bool receives, std::span<std::byte> room) {
  if (to < nobody || to >= comm_.size)
    fail("the destination is process %d, but there are %d processes, from 0", to, comm_.size);
  if (checks_) check({block.size(), room.size(), to, receives ? 1 : 0});
#ifdef HOCKNEY_SMPI
  // Only a processor that communicates in this step pays for it.
  if (receives || to != nobody) smpi::spend(smpi::library_costs().step);
#endif
  const int tag = static_cast<int>(steps_ % static_cast<std::uint64_t>(max_tags_));
  Received received;
  if (to == comm_.rank) {
    if (!receives) fail("it sends a block to itself, but receives nothing");
    if (block.size() > room.size())
      fail("a block of %zu bytes arrives, but there is room for %zu", block.size(), room.size());
    if (!block.empty()) std::memcpy(room.data(), block.data(), block.size());
    received = {to, block.size()};
  } else {
    if (to != nobody) start_sends(to, block, tag);
    if (receives) received = receive(room, tag);
    MPI_Waitall(static_cast<int>(sending_.size()), sending_.data(), MPI_STATUSES_IGNORE);
    sending_.clear();
  }
  ++steps_;
  return received;
}

void Exchanger::start_sends(int to, std::span<const std::byte> block, int tag) {
  for (;;) {
    const std::size_t bytes = std::min(block.size(), piece_bytes);
    sending_.emplace_back();
    MPI_Isend(block.data(), static_cast<int>(bytes), MPI_BYTE, to, tag, comm_.handle, &sending_.back());
    if (bytes < piece_bytes) break;
    block = block.subspan(bytes);
  }
}

Received Exchanger::receive(std::span<std::byte> room, int tag) {
  Received received{MPI_ANY_SOURCE, 0};
  for (;;) {
    const std::size_t remaining = room.size() - received.bytes;
    MPI_Status status;
    const int error =
        MPI_Recv(room.data() + received.bytes, static_cast<int>(std::min(remaining, piece_bytes)), MPI_BYTE,
                 received.from, tag, comm_.handle, &status);
    if (error != MPI_SUCCESS)
      fail(
          "a block arrives that is larger than the room for it, %zu bytes (or MPI reports another error: %d)",
          room.size(), error);
    int count = 0;
    MPI_Get_count(&status, MPI_BYTE, &count);
    received.from = status.MPI_SOURCE;
    received.bytes += static_cast<std::size_t>(count);
    if (static_cast<std::size_t>(count) < piece_bytes) return received;
  }
}

void Exchanger::check(const Call& call) const {
  std::vector<Call> calls(static_cast<std::size_t>(comm_.size));
  MPI_Allgather(&call, sizeof call, MPI_BYTE, calls.data(), sizeof call, MPI_BYTE, comm_.handle);
  // One process reports errors that all have found.
  if (comm_.root()) require_permutation(calls);
  comm_.barrier();
}

void Exchanger::require_permutation(const std::vector<Call>& calls) const {
  std::vector<int> senders(calls.size(), nobody);
  for (int from = 0; from < comm_.size; ++from) {
    const Call& call = calls[static_cast<std::size_t>(from)];
    if (call.to == nobody) continue;
    int& sender = senders[static_cast<std::size_t>(call.to)];
    if (sender != nobody) fail("processes %d and %d both send a block to process %d", sender, from, call.to);
    sender = from;
    const Call& target = calls[static_cast<std::size_t>(call.to)];
    if (!target.receives)
      fail("process %d sends a block to process %d, which receives nothing", from, call.to);
    if (call.bytes > target.room)
      fail("process %d sends %llu bytes to process %d, which has room for %llu", from,
           static_cast<unsigned long long>(call.bytes), call.to,
           static_cast<unsigned long long>(target.room));
  }
  for (int to = 0; to < comm_.size; ++to)
    if (calls[static_cast<std::size_t>(to)].receives && senders[static_cast<std::size_t>(to)] == nobody)
      fail("process %d receives a block, but no process sends one to it", to);
}

}  // namespace hockney::bpram::inline v1
