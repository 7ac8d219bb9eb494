// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "library/coll/link.hpp"

#include <atomic>
#include <cstdio>

#include "comm/rank_state.hpp"

namespace hockney {
namespace {

std::atomic<bool> finalizing = false;

// Destroyed when MPI_Finalize begins. Nobody frees MPI_COMM_WORLD, so what is kept with it is released here;
// communicators that the program has not freed by then are left to MPI.
struct Ending {
  Ending() = default;
  Ending(const Ending&) = delete;
  Ending& operator=(const Ending&) = delete;
  ~Ending() {
    if (Link* const link = CommState<Link>::find(MPI_COMM_WORLD)) link->release();
    finalizing = true;
  }
};

// Known to be of no use to us; kept so that it is asked only once.
struct Foreign {};

}  // namespace

bool started() {
  static std::atomic<bool> found = false;
  if (found.load(std::memory_order_relaxed)) return true;
  int initialized = 0;
  MPI_Initialized(&initialized);
  if (initialized) found.store(true, std::memory_order_relaxed);
  return initialized;
}

Link* Link::of(MPI_Comm comm) {
  if (comm == MPI_COMM_NULL || !started()) return nullptr;
  if (Link* const link = CommState<Link>::find(comm)) return link;
  if (CommState<Foreign>::find(comm)) return nullptr;
  int inter = 0, size = 1;
  MPI_Comm_test_inter(comm, &inter);
  MPI_Comm_size(comm, &size);
  if (inter || size == 1) {
    CommState<Foreign>::keep(comm, std::make_unique<Foreign>());
    return nullptr;
  }
  // Once for the process, whichever thread is first: a second one would replace, and so end, the first.
  static const Ending& ending = RankState<Ending>::get();
  static_cast<void>(ending);
  return &CommState<Link>::keep(comm, std::make_unique<Link>(comm, size));
}

Link::Link(MPI_Comm comm, int size) : ranks(size) {
  MPI_Comm_rank(comm, &rank);
}

Link::~Link() {
  if (!finalizing) release();
}

void Link::release() {
  if (own_ != MPI_COMM_NULL) MPI_Comm_free(&own_);
}

bool Link::same_table(MPI_Comm comm) {
  if (tables_ == Tables::unknown) {
    // The maximum of the complement shows the minimum.
    const std::uint64_t sum = coll::environment_table().checksum();
    const std::uint64_t ends[2] = {sum, ~sum};
    std::uint64_t most[2] = {};
    if (PMPI_Allreduce(ends, most, 2, MPI_UINT64_T, MPI_MAX, comm) != MPI_SUCCESS) return false;
    tables_ = most[0] == ~most[1] ? Tables::same : Tables::different;
    if (tables_ == Tables::different && rank == 0)
      std::fprintf(stderr, "hockney: HOCKNEY_CHOICES is not used: the table is not the same on all ranks\n");
  }
  return tables_ == Tables::same;
}

int Link::own(MPI_Comm comm, MPI_Comm& found) {
  if (own_ == MPI_COMM_NULL) {
    // Not MPI_Comm_dup, which would call the program's copy functions.
    const int error = MPI_Comm_split(comm, 0, rank, &own_);
    if (error != MPI_SUCCESS) return error;
    MPI_Comm_set_errhandler(own_, MPI_ERRORS_RETURN);
  }
  found = own_;
  return MPI_SUCCESS;
}

}  // namespace hockney
