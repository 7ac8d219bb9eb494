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

// Counts the released links, whose communicators' handles may be reused.
std::atomic<unsigned> released_links = 0;

// Destroyed when MPI_Finalize begins. Nobody frees MPI_COMM_WORLD, so the data attached to it are released
// here; communicators that the program has not freed by then are left to MPI.
struct LinkReleaser {
  LinkReleaser() = default;
  LinkReleaser(const LinkReleaser&) = delete;
  LinkReleaser& operator=(const LinkReleaser&) = delete;
  ~LinkReleaser() {
    if (Link* const link = CommState<Link>::find(MPI_COMM_WORLD)) link->release();
    finalizing = true;
    released_links.fetch_add(1, std::memory_order_relaxed);
  }
};

// A thread's most recent communicators: looking up MPI's attributes may take longer than a short collective.
struct RecentLinks {
  bool matches(MPI_Comm other) const {
    return comm == other && released_links_seen == released_links.load(std::memory_order_relaxed);
  }

  MPI_Comm comm = {};
  Link* link = nullptr;
  unsigned released_links_seen = 0;
};

}  // namespace

bool is_mpi_started() {
  static std::atomic<bool> found = false;
  if (found.load(std::memory_order_relaxed)) return true;
  int initialized = 0;
  MPI_Initialized(&initialized);
  if (initialized) found.store(true, std::memory_order_relaxed);
  return initialized;
}

Link* Link::any(MPI_Comm comm) {
#ifdef HOCKNEY_SMPI  // whose ranks share a thread, and MPI_COMM_WORLD
  return look_up(comm);
#else
  HOCKNEY_KEPT types::FactCache<RecentLinks> recent_links;
  if (const RecentLinks* const found = recent_links.find(comm)) return found->link;
  const unsigned before = released_links.load(std::memory_order_relaxed);
  Link* const link = look_up(comm);
  if (link) recent_links.keep({comm, link, before});
  return link;
#endif
}

Link* Link::look_up(MPI_Comm comm) {
  if (comm == MPI_COMM_NULL || finalizing || !is_mpi_started()) return nullptr;
  if (Link* const link = CommState<Link>::find(comm)) return link;
  int is_inter = 0;  // the handle of an invalid communicator may later be reused
  if (MPI_Comm_test_inter(comm, &is_inter) != MPI_SUCCESS) return nullptr;
  static const LinkReleaser& ending = RankState<LinkReleaser>::get();  // created once per process
  static_cast<void>(ending);
  return &CommState<Link>::keep(comm, std::make_unique<Link>(comm));
}

Link::Link(MPI_Comm comm) {
  int is_inter = 0;
  MPI_Comm_test_inter(comm, &is_inter);
  if (is_inter) return;
  MPI_Comm_size(comm, &ranks);
  MPI_Comm_rank(comm, &rank);
}

Link::~Link() {
  released_links.fetch_add(1, std::memory_order_relaxed);
  if (!finalizing) release();
}

void Link::release() {
  barrier_.reset();
  is_barrier_requested_ = false;
  if (own_ != MPI_COMM_NULL) MPI_Comm_free(&own_);
}

Barrier* Link::barrier(MPI_Comm comm, std::string_view name) {
  if (is_barrier_requested_) return barrier_.get();
  MPI_Comm messages = MPI_COMM_NULL;
  if (own(comm, messages) != MPI_SUCCESS) return nullptr;
  is_barrier_requested_ = true;
  const InternalCall inside;
  try {
    barrier_ = name == best ? best_barrier(messages) : make_barrier(name, messages);
  } catch (const std::runtime_error&) {
  }
  return barrier_.get();
}

bool Link::has_same_table(MPI_Comm comm) {
  if (tables_ == Tables::unknown) {
    // The maximum of the complement gives the minimum.
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
