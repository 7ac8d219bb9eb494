// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <ranges>
#include <span>
#include <type_traits>

#if defined(__GNUC__) || defined(__clang__)
#define HOCKNEY_BPRAM_API __attribute__((visibility("default")))
#else
#define HOCKNEY_BPRAM_API
#endif

// Programs for the message-passing block PRAM (Aggarwal, Chandra, Snir 1989; Juurlink 1998) in C++20, on any
// MPI communicator:
//
//   hockney::bpram::Process bpram(MPI_COMM_WORLD);
//   std::vector<double> mine(1000), theirs(1000);
//   bpram.exchange((bpram.pid() + 1) % bpram.nprocs(), mine, theirs);
//
// There is a single primitive, a step: every process calls it, sends one block to a process that it names,
// and receives one from any process. The pattern is a partial permutation: no two processes name the same
// one, a process may send nothing or receive nothing. A step with blocks of at most m bytes costs sigma m +
// l. bpram.h is the same in C.
namespace hockney::bpram {
inline namespace v1 {

// For the destination: sends nothing. As a source: received nothing.
inline constexpr int nobody = -1;

struct Settings {
  // Before each step the processes compare what they call, so that every violation of the pattern is an error
  // that names the processes. Otherwise some of them leave processes waiting forever.
  bool check = false;  // HOCKNEY_BPRAM_CHECK=1
};

struct Received {
  int from = nobody;
  std::size_t bytes = 0;
};

class Exchanger;

// This process of a program, as long as the object lives. Collective over the communicator, of which a
// duplicate is used. It is created after MPI_Init and destroyed before MPI_Finalize, and used by one thread.
// Errors end all processes of MPI_COMM_WORLD, with a message on stderr that begins with "hockney-bpram:".
class HOCKNEY_BPRAM_API Process {
 public:
  explicit Process(MPI_Comm comm, const Settings& settings = {});
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  int pid() const { return pid_; }
  int nprocs() const { return nprocs_; }
  // Seconds since the object was created, by the clock of this process.
  double time() const;
  // Steps that have ended.
  std::uint64_t steps() const;
  [[noreturn]] void abort(const char* text) const;

  // The primitive, in the four forms that a process may take part in a step. `room` has to be as large as the
  // block that arrives, or larger; block and room do not overlap. Each returns when the block has been sent,
  // and the other one received.
  Received exchange_bytes(int to, std::span<const std::byte> block, std::span<std::byte> room);
  void send_bytes(int to, std::span<const std::byte> block);
  Received receive_bytes(std::span<std::byte> room);
  void pass();

  // The same for contiguous ranges of elements that may be copied as bytes, such as std::vector<double>.
  template <std::ranges::contiguous_range Block, std::ranges::contiguous_range Room>
  Received exchange(int to, const Block& block, Room&& room) {
    return exchange_bytes(to, std::as_bytes(std::span(block)), std::as_writable_bytes(std::span(room)));
  }
  template <std::ranges::contiguous_range Block>
  void send(int to, const Block& block) {
    send_bytes(to, std::as_bytes(std::span(block)));
  }
  template <std::ranges::contiguous_range Room>
  Received receive(Room&& room) {
    return receive_bytes(std::as_writable_bytes(std::span(room)));
  }

 private:
  std::unique_ptr<Exchanger> exchanger_;
  int pid_ = 0;
  int nprocs_ = 1;
};

}  // namespace v1
}  // namespace hockney::bpram
