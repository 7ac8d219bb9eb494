// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "library/coll/link.hpp"

#include <atomic>
#include <cstdio>
#include <stdexcept>

#include "comm/rank_state.hpp"
#include "library/coll/operations.hpp"

namespace hockney {
namespace {

std::atomic<bool> finalizing = false;

// Counts the links that have gone, whose communicators' handles may be used again.
std::atomic<unsigned> gone = 0;

// Destroyed when MPI_Finalize begins. Nobody frees MPI_COMM_WORLD, so what is kept with it is released here;
// communicators that the program has not freed by then are left to MPI.
struct Ending {
  Ending() = default;
  Ending(const Ending&) = delete;
  Ending& operator=(const Ending&) = delete;
  ~Ending() {
    if (Link* const link = CommState<Link>::find(MPI_COMM_WORLD)) link->release();
    finalizing = true;
    gone.fetch_add(1, std::memory_order_relaxed);
  }
};

// A thread's last communicators: MPI's attributes take longer to look up than a short collective may take.
struct Recent {
  bool about(MPI_Comm other) const {
    return comm == other && links_gone == gone.load(std::memory_order_relaxed);
  }

  MPI_Comm comm = {};
  Link* link = nullptr;
  unsigned links_gone = 0;
};

}  // namespace

bool started() {
  static std::atomic<bool> found = false;
  if (found.load(std::memory_order_relaxed)) return true;
  int initialized = 0;
  MPI_Initialized(&initialized);
  if (initialized) found.store(true, std::memory_order_relaxed);
  return initialized;
}

Link* Link::any(MPI_Comm comm) {
#ifdef HOCKNEY_SMPI  // whose ranks share a thread, and MPI_COMM_WORLD
  return looked_up(comm);
#else
  HOCKNEY_KEPT types::Kept<Recent> recent;
  if (const Recent* const found = recent.find(comm)) return found->link;
  const unsigned before = gone.load(std::memory_order_relaxed);
  Link* const link = looked_up(comm);
  if (link) recent.keep({comm, link, before});
  return link;
#endif
}

Link* Link::looked_up(MPI_Comm comm) {
  if (comm == MPI_COMM_NULL || finalizing || !started()) return nullptr;
  if (Link* const link = CommState<Link>::find(comm)) return link;
  int inter = 0;  // what MPI refuses may be another communicator's handle later
  if (MPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS) return nullptr;
  // Once for the process, whichever thread is first: a second one would replace, and so end, the first.
  static const Ending& ending = RankState<Ending>::get();
  static_cast<void>(ending);
  return &CommState<Link>::keep(comm, std::make_unique<Link>(comm));
}

Link::Link(MPI_Comm comm) {
  int inter = 0;
  MPI_Comm_test_inter(comm, &inter);
  if (inter) return;
  MPI_Comm_size(comm, &ranks);
  MPI_Comm_rank(comm, &rank);
}

Link::~Link() {
  gone.fetch_add(1, std::memory_order_relaxed);
  if (!finalizing) release();
}

void Link::release() {
  barrier_.reset();
  asked_ = false;
  if (own_ != MPI_COMM_NULL) MPI_Comm_free(&own_);
}

Barrier* Link::barrier(MPI_Comm comm, std::string_view name) {
  if (asked_) return barrier_.get();
  MPI_Comm messages = MPI_COMM_NULL;
  if (own(comm, messages) != MPI_SUCCESS) return nullptr;
  asked_ = true;
  const Inside inside;
  try {
    barrier_ = name == best ? best_barrier(messages) : make_barrier(name, messages);
  } catch (const std::runtime_error&) {
  }
  return barrier_.get();
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
