// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "traffic_seen.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <tuple>

namespace seen {
namespace {

bool watching = false;
std::vector<Event> events;

// Pending receives: what is known about them when their request is complete. Persistent requests keep it.
std::map<MPI_Request, Event> open, prepared;

constexpr int broadcast_tag = 30000;

void sent(int to, int tag) {
  if (watching) events.push_back({1, to, tag});
}
void received(int from, int tag) {
  if (watching) events.push_back({0, from, tag});
}
void completed(MPI_Request request, const MPI_Status& status) {
  const auto found = open.find(request);
  if (found == open.end()) return;
  const bool any = found->second.other == MPI_ANY_SOURCE;
  received(any ? status.MPI_SOURCE : found->second.other, any ? status.MPI_TAG : found->second.tag);
  open.erase(found);
}
void started(MPI_Request request) {
  const auto found = prepared.find(request);
  if (found == prepared.end()) return;
  if (found->second.sends)
    sent(found->second.other, found->second.tag);
  else
    open[request] = found->second;
}
void broadcast(int root, MPI_Comm comm) {
  int rank = 0, size = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  if (rank != root) return received(root, broadcast_tag);
  for (int other = 0; other < size; ++other)
    if (other != root) sent(other, broadcast_tag);
}

}  // namespace

void start() {
  events.clear();
  watching = true;
}

std::vector<Event> stop() {
  watching = false;
  return events;
}

Counted counted(const std::vector<Event>& mine, MPI_Comm comm) {
  int size = 1;
  MPI_Comm_size(comm, &size);
  // All ranks' events on every rank: their numbers, then the events.
  const int count = static_cast<int>(mine.size() * 3);
  std::vector<int> counts(static_cast<std::size_t>(size)), places(counts.size());
  PMPI_Allgather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, comm);
  int total = 0;
  for (std::size_t rank = 0; rank < counts.size(); ++rank) {
    places[rank] = total / 3;
    total += counts[rank];
  }
  std::vector<Event> all(static_cast<std::size_t>(total / 3));
  std::vector<int> offsets(places);
  for (int& offset : offsets) offset *= 3;
  PMPI_Allgatherv(mine.data(), count, MPI_INT, all.data(), counts.data(), offsets.data(), MPI_INT, comm);

  // Processes each rank's events in turn, until one waits for a message not yet sent: a logical clock
  // (Lamport 1978).
  Counted result;
  std::map<std::tuple<int, int, int>, std::deque<int>> under_way;
  std::vector<int> clock(counts.size(), 0), done(counts.size(), 0);
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t r = 0; r < counts.size(); ++r) {
      const int rank = static_cast<int>(r);
      for (; done[r] < counts[r] / 3; ++done[r]) {
        const Event& event = all[static_cast<std::size_t>(places[r] + done[r])];
        if (event.sends) {
          under_way[{rank, event.other, event.tag}].push_back(clock[r] + 1);
          ++result.messages;
        } else {
          std::deque<int>& from = under_way[{event.other, rank, event.tag}];
          if (from.empty()) break;
          clock[r] = std::max(clock[r], from.front());
          from.pop_front();
        }
        moved = true;
      }
    }
  }
  result.depth = *std::max_element(clock.begin(), clock.end());
  result.busiest = *std::max_element(counts.begin(), counts.end()) / 3;
  return result;
}

}  // namespace seen

// One name for each MPI call that the barriers use.
extern "C" {

int MPI_Send(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  seen::sent(to, tag);
  return PMPI_Send(data, count, type, to, tag, comm);
}
int MPI_Isend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request* request) {
  seen::sent(to, tag);
  return PMPI_Isend(data, count, type, to, tag, comm, request);
}
int MPI_Recv(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status* status) {
  MPI_Status found;
  const int code = PMPI_Recv(data, count, type, from, tag, comm, &found);
  seen::received(found.MPI_SOURCE, found.MPI_TAG);
  if (status != MPI_STATUS_IGNORE) *status = found;
  return code;
}
int MPI_Irecv(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
              MPI_Request* request) {
  const int code = PMPI_Irecv(data, count, type, from, tag, comm, request);
  seen::open[*request] = {0, from, tag};
  return code;
}
int MPI_Sendrecv(const void* out, int sends, MPI_Datatype type, int to, int tag, void* in, int receives,
                 MPI_Datatype its, int from, int from_tag, MPI_Comm comm, MPI_Status* status) {
  seen::sent(to, tag);
  const int code = PMPI_Sendrecv(out, sends, type, to, tag, in, receives, its, from, from_tag, comm, status);
  seen::received(from, from_tag);
  return code;
}
int MPI_Send_init(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                  MPI_Request* request) {
  const int code = PMPI_Send_init(data, count, type, to, tag, comm, request);
  seen::prepared[*request] = {1, to, tag};
  return code;
}
int MPI_Recv_init(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                  MPI_Request* request) {
  const int code = PMPI_Recv_init(data, count, type, from, tag, comm, request);
  seen::prepared[*request] = {0, from, tag};
  return code;
}
int MPI_Request_free(MPI_Request* request) {
  seen::prepared.erase(*request);
  return PMPI_Request_free(request);
}
int MPI_Startall(int count, MPI_Request* requests) {
  for (int k = 0; k < count; ++k) seen::started(requests[k]);
  return PMPI_Startall(count, requests);
}
int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  const MPI_Request waited = *request;
  MPI_Status found{};
  const int code = PMPI_Wait(request, &found);
  seen::completed(waited, found);
  if (status != MPI_STATUS_IGNORE) *status = found;
  return code;
}
int MPI_Test(MPI_Request* request, int* done, MPI_Status* status) {
  const MPI_Request tested = *request;
  MPI_Status found{};
  const int code = PMPI_Test(request, done, &found);
  if (*done) seen::completed(tested, found);
  if (status != MPI_STATUS_IGNORE) *status = found;
  return code;
}
int MPI_Waitall(int count, MPI_Request* requests, MPI_Status* statuses) {
  const std::vector<MPI_Request> waited(requests, requests + count);
  const int code = PMPI_Waitall(count, requests, statuses);
  for (const MPI_Request request : waited) seen::completed(request, MPI_Status{});
  return code;
}
int MPI_Testall(int count, MPI_Request* requests, int* done, MPI_Status* statuses) {
  const std::vector<MPI_Request> tested(requests, requests + count);
  const int code = PMPI_Testall(count, requests, done, statuses);
  if (*done)
    for (const MPI_Request request : tested) seen::completed(request, MPI_Status{});
  return code;
}
int MPI_Bcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  seen::broadcast(root, comm);
  return PMPI_Bcast(data, count, type, root, comm);
}
int MPI_Ibcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request* request) {
  seen::broadcast(root, comm);
  return PMPI_Ibcast(data, count, type, root, comm, request);
}
int MPI_Put(const void* data, int count, MPI_Datatype type, int to, MPI_Aint place, int its_count,
            MPI_Datatype its, MPI_Win window) {
  seen::sent(to, 0);
  return PMPI_Put(data, count, type, to, place, its_count, its, window);
}

}  // extern "C"
