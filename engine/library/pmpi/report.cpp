// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "library/pmpi/report.hpp"

#include <mpi.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "library/coll/link.hpp"
#include "library/coll/operations.hpp"

namespace hockney {
namespace {

struct Count {
  std::atomic<std::uint64_t> calls, bytes;
};

// Whether several threads may count at the same time.
bool is_multithreaded() {
  static const bool is_multithreaded = [] {
    int level = MPI_THREAD_MULTIPLE;
    if (is_mpi_started()) PMPI_Query_thread(&level);
    return level == MPI_THREAD_MULTIPLE;
  }();
  return is_multithreaded;
}

void add(std::atomic<std::uint64_t>& sum, std::uint64_t addend) {
  if (is_multithreaded())
    sum.fetch_add(addend, std::memory_order_relaxed);
  else  // takes a quarter of the time
    sum.store(sum.load(std::memory_order_relaxed) + addend, std::memory_order_relaxed);
}

// Maximum number of algorithms of an operation, including MPI's own.
std::size_t choices() {
  static const std::size_t all = [] {
    std::size_t most = 0;
    for (const NamedOperation& operation : operations_with_names())
      most = std::max(most, operation.algorithms.size());
    return most + 1;
  }();
  return all;
}

// By operation, then by algorithm, with MPI's own first.
std::vector<Count>& counts() {
  static std::vector<Count> all(operations_with_names().size() * choices());
  return all;
}

struct Close {
  void operator()(std::FILE* file) const {
    if (file != stderr) std::fclose(file);
  }
};

std::unique_ptr<std::FILE, Close> descriptor() {
  const char* const name = std::getenv("HOCKNEY_PMPI_REPORT");
  if (name && *name) {
    std::unique_ptr<std::FILE, Close> file(std::fopen(name, "w"));
    if (file) return file;
    std::fprintf(stderr, "hockney: %s cannot be written: %s\n", name, std::strerror(errno));
  }
  return std::unique_ptr<std::FILE, Close>(stderr);
}

}  // namespace

void count_call(int operation, int algorithm, long long bytes) {
  if (InternalCall::now()) return;
  Count& count =
      counts()[static_cast<std::size_t>(operation) * choices() + static_cast<std::size_t>(algorithm + 1)];
  add(count.calls, 1);
  if (bytes > 0) add(count.bytes, static_cast<std::uint64_t>(bytes));
}

void write_report() {
  std::vector<std::uint64_t> own;
  for (const Count& count : counts()) own.insert(own.end(), {count.calls.load(), count.bytes.load()});
  std::vector<std::uint64_t> all(own.size());
  int rank = 0, size = 1;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &size);
  PMPI_Reduce(own.data(), all.data(), static_cast<int>(own.size()), MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank > 0) return;
  const auto file = descriptor();
  const char* const table = std::getenv("HOCKNEY_CHOICES");
  std::fprintf(file.get(),
               "# hockney-pmpi: collectives of %d ranks, calls and bytes added up over the ranks\n", size);
  std::fprintf(file.get(), "# table: %s\n", table && *table ? table : "none (HOCKNEY_CHOICES is not set)");
  for (std::size_t k = 0; k < operations_with_names().size(); ++k) {
    const NamedOperation& operation = operations_with_names()[k];
    for (std::size_t choice = 0; choice <= operation.algorithms.size(); ++choice) {
      const std::uint64_t* const sums = &all[(k * choices() + choice) * 2];
      const std::string name(choice ? operation.algorithms[choice - 1] : "mpi");
      if (sums[0])
        std::fprintf(file.get(), "operation=%s algorithm=%s calls=%llu bytes=%llu\n",
                     std::string(operation.name).c_str(), name.c_str(),
                     static_cast<unsigned long long>(sums[0]), static_cast<unsigned long long>(sums[1]));
    }
  }
}

}  // namespace hockney
