// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace hockney {

// A communicator with its rank and size. Deliberately thin: workloads call MPI themselves with `handle`, so
// that the measured call stays visible. The functions here support the steps around the measurement. The
// object is movable. If it owns the communicator, it frees it on destruction, unless MPI has been finalized.
struct Comm {
  MPI_Comm handle = MPI_COMM_NULL;
  int rank = 0;
  int size = 1;

  Comm() = default;
  Comm(Comm&& other) noexcept { *this = std::move(other); }
  Comm& operator=(Comm&& other) noexcept;
  ~Comm();

  // Returns an owned duplicate of `parent`, so that messages of different uses cannot match. In SMPI,
  // duplicates hold a table of all ranks in every rank, gigabytes at 16,384 ranks; there the result is a view
  // of `parent`, which suffices because every step receives all its messages before the next one begins.
  static Comm duplicate(MPI_Comm parent);
  static Comm owner(MPI_Comm handle);
  static Comm view(MPI_Comm handle);

  bool root() const { return rank == 0; }
  void barrier() const { MPI_Barrier(handle); }

  // Communication around a measurement uses plain messages along binomial trees, one or two per rank. It
  // avoids MPI's collectives because these are what is measured: a simulated machine selects an algorithm for
  // each of them, which may send P log P messages, cost as much as that machine's collectives, or not support
  // every size. Each message carries a checksum.

  // Sends rank 0's value to every rank. All ranks must run the same program.
  template <class T>
  void broadcast(T& value) const {
    static_assert(std::is_trivially_copyable_v<T>, "it is sent as bytes");
    broadcast(&value, sizeof value);
  }
  void broadcast(void* data, std::size_t bytes) const;
  // Waits for the next broadcast while sleeping. Each pause between polls is a sixteenth of the time waited
  // so far, from 0.1 to 5 ms.
  void await_broadcast() const;

  // Whether `value` is true on all ranks. Collective; no rank leaves before all have entered.
  bool all(bool value) const;
  void allreduce_sum(std::uint64_t* values, int count) const;
  int reduce_min(int value) const;

  // Returns each rank's element of rank 0's `values`, which contains one element per rank.
  int scatter(std::vector<int> values) const;

  // Reduces to rank 0; other ranks get a partial result.
  double reduce_max(double value) const;
  void reduce_max(double* values, int count) const;
  void reduce_min(double* values, int count) const;
  void reduce_sum(double* values, int count) const;
  // The values of all ranks in rank order, on rank 0; every rank contributes the same number.
  std::vector<double> gather(const std::vector<double>& values) const;
  // The texts of all ranks in rank order, on rank 0.
  std::string gather_text(std::string text) const;

  // The texts of all ranks in rank order, on every rank.
  std::string allgather_text(std::string text) const;

 private:
  bool owned_ = false;
};

// Count and datatype for `bytes` bytes. MPI counts are ints, so beyond 2 GiB an element of the type covers
// several bytes.
class Block {
 public:
  explicit Block(std::uint64_t bytes);
  ~Block();
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  const std::uint64_t bytes;
  MPI_Datatype type = MPI_BYTE;
  int count = 0;
};

}  // namespace hockney
