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
// that the measured call stays visible. The functions here serve the steps around the measurement. It is
// movable, and frees the communicator at its end if it owns it, unless MPI has ended before.
struct Comm {
  MPI_Comm handle = MPI_COMM_NULL;
  int rank = 0;
  int size = 1;

  Comm() = default;
  Comm(Comm&& other) noexcept { *this = std::move(other); }
  Comm& operator=(Comm&& other) noexcept;
  ~Comm();

  // Owns a duplicate of `parent`, so that messages of different uses cannot match. SMPI's duplicates hold a
  // table of all ranks in every rank, gigabytes at 16,384 ranks; there it is a view of `parent`, which
  // suffices because every step receives all its messages before the next one begins.
  static Comm duplicate(MPI_Comm parent);
  static Comm owner(MPI_Comm handle);
  static Comm view(MPI_Comm handle);

  bool root() const { return rank == 0; }
  void barrier() const { MPI_Barrier(handle); }

  // The steps around a measurement send plain messages along binomial trees, one or two per rank. They avoid
  // MPI's collectives because these are what is measured: a simulated machine selects an algorithm for each,
  // which may send P log P messages, cost what that machine's collectives cost, or not support every size.
  // Each message carries a checksum.

  // Rank 0's value on every rank, which run the same program.
  template <class T>
  void broadcast(T& value) const {
    static_assert(std::is_trivially_copyable_v<T>, "it is sent as bytes");
    broadcast(&value, sizeof value);
  }
  void broadcast(void* data, std::size_t bytes) const;
  // Waits for the next broadcast asleep: between two looks a sixteenth of the time waited so far, from 0.1 to
  // 5 ms.
  void await_broadcast() const;

  // Collective; no rank leaves before all have entered.
  bool all(bool value) const;
  void sum_each(std::uint64_t* values, int count) const;
  int lowest(int value) const;

  // Each rank's own element of rank 0's `values`, which has one for each rank.
  int scattered(std::vector<int> values) const;

  // The result on rank 0, a partial result elsewhere.
  double longest(double value) const;
  void longest_each(double* values, int count) const;
  void lowest_each(double* values, int count) const;
  void total_each(double* values, int count) const;
  // The values of all ranks in rank order; every rank contributes the same number.
  std::vector<double> gathered(const std::vector<double>& values) const;
  // The texts of all ranks in rank order.
  std::string joined(std::string text) const;

  // The same, on every rank.
  std::string joined_everywhere(std::string text) const;

 private:
  bool owned_ = false;
};

// `bytes` bytes as count and datatype. MPI counts are int, so beyond 2 GiB an element of the type covers
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
