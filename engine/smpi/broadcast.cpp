// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "smpi/broadcast.hpp"

#include <simgrid/semaphore.h>

#include <cstddef>
#include <map>
#include <vector>

#include "smpi/setting.hpp"

namespace hockney::smpi {
namespace {

// A broadcast that has not yet reached all ranks. Deliberately shared by all ranks: they share the memory of
// one process and run one at a time.
struct Announcement {
  sg_sem_t arrived = sg_sem_init(0);
  std::vector<std::byte> data;
  int remaining_ranks = 0;  // ranks that have not yet taken the data
};
std::map<long, Announcement> announcements;

// Number of broadcasts in which each rank has taken part.
long next_broadcast(int rank) {
  static std::map<int, long> counts;
  return counts[rank]++;
}

std::vector<std::byte> packed(const void* data, int count, MPI_Datatype type, MPI_Comm comm) {
  int bytes = 0, position = 0;
  PMPI_Pack_size(count, type, comm, &bytes);
  std::vector<std::byte> all(static_cast<std::size_t>(bytes));
  PMPI_Pack(data, count, type, all.data(), bytes, &position, comm);
  return all;
}

}  // namespace

bool has_medium_broadcast() {
  static const bool value = setting("HOCKNEY_BROADCAST", 0) > 0;
  return value;
}

int broadcast_by_medium(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  constexpr int tag = 29;
  int rank = 0, size = 1;
  PMPI_Comm_rank(comm, &rank);
  PMPI_Comm_size(comm, &size);
  const long number = next_broadcast(rank);
  const int listener = (root + 1) % size;
  if (rank == root) return PMPI_Send(data, count, type, listener, tag, comm);
  Announcement& announcement = announcements[number];
  if (rank == listener) {
    const int error = PMPI_Recv(data, count, type, root, tag, comm, MPI_STATUS_IGNORE);
    announcement.data = packed(data, count, type, comm);
    announcement.remaining_ranks = size - 2;
    for (int other = 0; other < size - 2; ++other) sg_sem_release(announcement.arrived);
    return error;
  }
  sg_sem_acquire(announcement.arrived);
  int position = 0;
  const int error = PMPI_Unpack(announcement.data.data(), static_cast<int>(announcement.data.size()),
                                &position, data, count, type, comm);
  if (--announcement.remaining_ranks == 0) {
    sg_sem_destroy(announcement.arrived);
    announcements.erase(number);
  }
  return error;
}

}  // namespace hockney::smpi
