// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "npb/frame/account.hpp"

#include <algorithm>
#include <climits>
#include <cstring>
#include <numeric>

#include "base/expect.hpp"

namespace hockney::npb {
namespace {

constexpr int tag = 1;
constexpr int settling_tag = 2;
// Maximum number of message copies in flight; beyond it, an old one is completed first.
constexpr std::size_t max_copies = 64;

int to_count(std::size_t bytes) {
  HOCKNEY_EXPECT(bytes <= static_cast<std::size_t>(INT_MAX));
  return static_cast<int>(bytes);
}

}  // namespace

Account::Account(const Comm& comm, std::size_t phases, std::unique_ptr<Barrier> barrier)
    : comm_(comm),
      barrier_(std::move(barrier)),
      phases_(phases),
      computed_(phases),
      sent_times_(static_cast<std::size_t>(comm.size)) {}

void Account::begin() {
  events_.clear();
  received_from_.clear();
  for (std::vector<double>& moments : sent_times_) moments.clear();
  std::fill(computed_.begin(), computed_.end(), 0.0);
  phase_ = 0;
  traffic_ = {};
  readings_ = 0;
  counter_.begin();
  resumed_ = counter_.read();
}

void Account::end() {
  const double entered = enter();
  if (!copies_.empty()) {
    for (Copy& copy : copies_)
      if (copy.request != MPI_REQUEST_NULL) MPI_Wait(&copy.request, MPI_STATUS_IGNORE);
    finish_call(TimeKind::messages, entered);
  }
  counter_.end();
}

void Account::phase(std::size_t number) {
  if (number == phase_) return;
  resumed_ = enter();
  phase_ = number;
}

void Account::compute([[maybe_unused]] double operations, [[maybe_unused]] double rate) {
#ifdef HOCKNEY_SMPI
  if (rate > 0) pass(operations / rate);
#endif
}

// Ends a period of computation.
double Account::enter() {
  ++readings_;
  const double time = counter_.read();
  computed_[phase_] += time - resumed_;
  return time;
}

void Account::finish_call(TimeKind kind, double entered, std::size_t messages) {
  ++readings_;
  resumed_ = counter_.read();
  events_.push_back({entered, resumed_, phase_, kind, messages});
}

void Account::sends(int to, std::size_t bytes, double entered) {
  sent_times_[static_cast<std::size_t>(to)].push_back(entered);
  traffic_.messages += 1;
  traffic_.bytes += static_cast<double>(bytes);
}

void Account::add_traffic(std::size_t bytes) {
  traffic_.collectives += 1;
  traffic_.collective_bytes += static_cast<double>(bytes);
}

// ---- Messages ----

void Account::exchange(std::span<const Outgoing> outgoing, std::span<const Incoming> incoming) {
  const double entered = enter();
  requests_.clear();
  for (const Incoming& each : incoming) {
    requests_.push_back(MPI_REQUEST_NULL);
    MPI_Irecv(each.data, to_count(each.bytes), MPI_BYTE, each.from, tag, comm_.handle, &requests_.back());
    received_from_.push_back(each.from);
  }
  for (const Outgoing& each : outgoing) {
    requests_.push_back(MPI_REQUEST_NULL);
    MPI_Isend(each.data, to_count(each.bytes), MPI_BYTE, each.to, tag, comm_.handle, &requests_.back());
    sends(each.to, each.bytes, entered);
  }
  MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
  finish_call(TimeKind::messages, entered, incoming.size());
}

void Account::send(int to, const void* data, std::size_t bytes) {
  const double entered = enter();
  Copy& copy = find_free_copy();
  if (copy.data.size() < bytes) copy.data.resize(bytes);
  if (bytes) std::memcpy(copy.data.data(), data, bytes);
  MPI_Isend(copy.data.data(), to_count(bytes), MPI_BYTE, to, tag, comm_.handle, &copy.request);
  sends(to, bytes, entered);
  finish_call(TimeKind::messages, entered);
}

// Returns the oldest copy if its message has been sent, otherwise another one.
Account::Copy& Account::find_free_copy() {
  int is_sent = 0;
  if (!copies_.empty()) MPI_Test(&copies_[oldest_].request, &is_sent, MPI_STATUS_IGNORE);
  if (!is_sent && copies_.size() < max_copies) return copies_.emplace_back(Copy{MPI_REQUEST_NULL, {}});
  if (!is_sent) MPI_Wait(&copies_[oldest_].request, MPI_STATUS_IGNORE);
  Copy& copy = copies_[oldest_];
  oldest_ = (oldest_ + 1) % copies_.size();
  return copy;
}

void Account::receive(int from, void* data, std::size_t bytes) {
  const double entered = enter();
  MPI_Recv(data, to_count(bytes), MPI_BYTE, from, tag, comm_.handle, MPI_STATUS_IGNORE);
  received_from_.push_back(from);
  finish_call(TimeKind::messages, entered, 1);
}

// ---- Collectives ----

void Account::sum(double* values, int count) {
  const double entered = enter();
  MPI_Allreduce(MPI_IN_PLACE, values, count, MPI_DOUBLE, MPI_SUM, comm_.handle);
  finish_call(TimeKind::collectives, entered);
  add_traffic(static_cast<std::size_t>(count) * sizeof *values);
}

void Account::sum(std::int64_t* values, int count) {
  const double entered = enter();
  MPI_Allreduce(MPI_IN_PLACE, values, count, MPI_INT64_T, MPI_SUM, comm_.handle);
  finish_call(TimeKind::collectives, entered);
  add_traffic(static_cast<std::size_t>(count) * sizeof *values);
}

void Account::allgather(const void* send_data, void* receive_data, std::span<const int> counts,
                        std::span<const int> places) {
  const double entered = enter();
  MPI_Allgatherv(send_data, counts[static_cast<std::size_t>(comm_.rank)], MPI_BYTE, receive_data,
                 counts.data(), places.data(), MPI_BYTE, comm_.handle);
  finish_call(TimeKind::collectives, entered);
  add_traffic(static_cast<std::size_t>(counts[static_cast<std::size_t>(comm_.rank)]));
}

void Account::alltoall(const void* send_data, std::span<const int> sent_counts,
                       std::span<const int> sent_places, void* receive_data, std::span<const int> counts,
                       std::span<const int> places) {
  const double entered = enter();
  MPI_Alltoallv(send_data, sent_counts.data(), sent_places.data(), MPI_BYTE, receive_data, counts.data(),
                places.data(), MPI_BYTE, comm_.handle);
  finish_call(TimeKind::collectives, entered);
  add_traffic(std::accumulate(sent_counts.begin(), sent_counts.end(), std::size_t{0}));
}

void Account::synchronise() {
  const double entered = enter();
  barrier_->wait();
  finish_call(TimeKind::barriers, entered);
}

// ---- Waiting ----

void Account::settle_run() {
  for (std::size_t i = 0; i < phases_.size(); ++i)
    phases_[i][static_cast<std::size_t>(TimeKind::computation)] += counter_.seconds(computed_[i]);
  if (comm_.size > 1) {
    adjust_clock();
    for (std::vector<double>& moments : sent_times_)
      for (double& time : moments) time = global(time);
  }
  settle_messages();
  settle_collectives();
}

double Account::global(double time) const {
  return clock_.to_global(counter_.moment_s(time));
}

// Synchronising takes many messages, but the clocks of two hosts drift apart by a microsecond per second.
void Account::adjust_clock() {
  if (GlobalClock::is_global()) return;
  bool is_due = now() - synchronised_ > 1;
  comm_.broadcast(is_due);
  if (!is_due) return;
  clock_.synchronise(comm_);
  synchronised_ = now();
}

// Each rank sends the other ranks the times at which it sent them messages.
void Account::settle_messages() {
  std::vector<std::vector<double>> send_times(sent_times_.size());
  for (const int from : received_from_) send_times[static_cast<std::size_t>(from)].push_back(0);
  requests_.clear();
  for (std::size_t other = 0; other < sent_times_.size(); ++other) {
    const int rank = static_cast<int>(other);
    for (std::vector<double>* moments : {&send_times[other], &sent_times_[other]}) {
      if (moments->empty()) continue;
      requests_.push_back(MPI_REQUEST_NULL);
      const int count = to_count(moments->size());
      if (moments == &send_times[other])
        MPI_Irecv(moments->data(), count, MPI_DOUBLE, rank, settling_tag, comm_.handle, &requests_.back());
      else
        MPI_Isend(moments->data(), count, MPI_DOUBLE, rank, settling_tag, comm_.handle, &requests_.back());
    }
  }
  MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);

  std::vector<std::size_t> used_counts(sent_times_.size(), 0);
  std::size_t at = 0;
  for (const Event& event : events_) {
    if (event.kind != TimeKind::messages) continue;
    double last = global(event.entered);
    for (std::size_t i = 0; i < event.message_count; ++i) {
      const auto from = static_cast<std::size_t>(received_from_[at++]);
      last = std::max(last, send_times[from][used_counts[from]++]);
    }
    spend(event, last);
  }
}

// All ranks have the same sequence of collectives.
void Account::settle_collectives() {
  std::vector<double> latest;
  for (const Event& event : events_)
    if (event.kind != TimeKind::messages) latest.push_back(global(event.entered));
  if (comm_.size > 1)
    MPI_Allreduce(MPI_IN_PLACE, latest.data(), to_count(latest.size()), MPI_DOUBLE, MPI_MAX, comm_.handle);
  std::size_t at = 0;
  for (const Event& event : events_)
    if (event.kind != TimeKind::messages) spend(event, latest[at++]);
}

// `last` is the time, by the global clock, at which the last rank that this communication needs entered it.
void Account::spend(const Event& event, double last) {
  const double seconds = counter_.seconds(event.left_at - event.entered);
  const double waited = std::clamp(last - global(event.entered), 0.0, std::max(0.0, seconds));
  phases_[event.phase][static_cast<std::size_t>(TimeKind::waiting)] += waited;
  phases_[event.phase][static_cast<std::size_t>(event.kind)] += seconds - waited;
}

double Account::spent(TimeKind kind) const {
  double seconds = 0;
  for (const auto& phase : phases_) seconds += phase[static_cast<std::size_t>(kind)];
  return seconds;
}

void Account::clear() {
  for (auto& phase : phases_) phase.fill(0);
}

}  // namespace hockney::npb
