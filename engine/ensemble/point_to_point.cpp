// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "ensemble/point_to_point.hpp"

#include "ensemble/tags.hpp"

namespace hockney::annealing {
namespace {

class Master final : public Channel {
 public:
  Master(Part& part, int depth)
      : part_(part),
        depth_(static_cast<std::size_t>(depth)),
        ranks_(static_cast<std::size_t>(part.comm.size)),
        rounds_(static_cast<std::size_t>(part.options.rounds)),
        statistics_(depth_ * ranks_),
        arrived_(ranks_),
        receives_(ranks_, MPI_REQUEST_NULL),
        completed_(ranks_),
        schedules_(depth_),
        sends_(depth_ * ranks_, MPI_REQUEST_NULL) {}

  void give(const Statistics& statistics, bool) override {
    if (arrived_[0] == 0)
      for (std::size_t rank = 1; rank < ranks_; ++rank) expect(rank);
    *place_of(0) = statistics;
    ++arrived_[0];
  }

  const Statistics* collect(bool wait) override {
    while (!complete())
      if (!some_arrived(wait)) return nullptr;
    const Statistics* const all = &statistics_[collected_ % depth_ * ranks_];
    ++collected_;
    next_ = 0;
    return all;
  }

  void announce(const Schedule& schedule) override {
    const std::size_t slot = set_pending_++ % depth_;
    MPI_Request* const requests = &sends_[slot * ranks_];
    part_.wait_policy.finish_all(part_.comm.size, requests);  // long since received
    schedules_[slot] = schedule;
    for (int rank = 1; rank < part_.comm.size; ++rank)
      MPI_Isend(&schedules_[slot], 1, types_.schedule, rank, schedule_tag, part_.comm.handle,
                &requests[rank]);
  }

  std::optional<Schedule> receive(bool) override { return std::nullopt; }

  void shorten(int rounds) override { rounds_ = static_cast<std::size_t>(rounds); }

  void finish() override { part_.wait_policy.finish_all(static_cast<int>(sends_.size()), sends_.data()); }

 private:
  Statistics* place_of(std::size_t rank) { return &statistics_[arrived_[rank] % depth_ * ranks_ + rank]; }

  void expect(std::size_t rank) {
    if (arrived_[rank] >= rounds_) return;
    const Spending posting(part_.account, Spent::posting);
    MPI_Irecv(place_of(rank), 1, types_.statistics, static_cast<int>(rank), statistics_tag, part_.comm.handle,
              &receives_[rank]);
  }

  // Whether the statistics of the round to be collected are there. Ranks below `next_` have been seen.
  bool complete() {
    while (next_ < ranks_ && arrived_[next_] > collected_) ++next_;
    return next_ == ranks_;
  }

  // Whether any statistics have arrived.
  bool some_arrived(bool wait) {
    int count = 0;
    const auto test = [&] {
      MPI_Testsome(part_.comm.size, receives_.data(), &count, completed_.data(), MPI_STATUSES_IGNORE);
      return count != 0;  // also if there is no request
    };
    if (!wait)
      test();
    else if (part_.wait_policy.oversubscribed())
      part_.wait_policy.until(test);
    else
      MPI_Waitsome(part_.comm.size, receives_.data(), &count, completed_.data(), MPI_STATUSES_IGNORE);
    if (count == MPI_UNDEFINED) return false;
    for (int i = 0; i < count; ++i) {
      const auto rank = static_cast<std::size_t>(completed_[static_cast<std::size_t>(i)]);
      ++arrived_[rank];
      expect(rank);
    }
    return count > 0;
  }

  Part& part_;
  const MessageTypes types_;
  const std::size_t depth_;
  const std::size_t ranks_;
  std::size_t rounds_;
  std::vector<Statistics> statistics_;  // by round modulo depth, and by rank
  std::vector<std::size_t> arrived_;    // rounds from each rank
  std::size_t collected_ = 0;           // rounds
  std::size_t next_ = 0;
  std::vector<MPI_Request> receives_;
  std::vector<int> completed_;
  std::vector<Schedule> schedules_;
  std::vector<MPI_Request> sends_;  // by schedule modulo depth, and by rank
  std::size_t set_pending_ = 0;
};

class Worker final : public Channel {
 public:
  Worker(Part& part, int depth)
      : part_(part),
        statistics_(static_cast<std::size_t>(depth)),
        sends_(static_cast<std::size_t>(depth), MPI_REQUEST_NULL) {}

  void give(const Statistics& statistics, bool) override {
    const std::size_t slot = given_rounds_++ % statistics_.size();
    part_.wait_policy.finish(sends_[slot]);  // long since received
    statistics_[slot] = statistics;
    MPI_Isend(&statistics_[slot], 1, types_.statistics, 0, statistics_tag, part_.comm.handle, &sends_[slot]);
  }

  const Statistics* collect(bool) override { return nullptr; }
  void announce(const Schedule&) override {}

  std::optional<Schedule> receive(bool wait) override {
    if (expected_ == MPI_REQUEST_NULL) {
      const Spending posting(part_.account, Spent::posting);
      MPI_Irecv(&schedule_, 1, types_.schedule, 0, schedule_tag, part_.comm.handle, &expected_);
    }
    int arrived = 1;
    if (wait)
      part_.wait_policy.finish(expected_);
    else
      MPI_Test(&expected_, &arrived, MPI_STATUS_IGNORE);
    if (!arrived) return std::nullopt;
    return schedule_;
  }

  void finish() override { part_.wait_policy.finish_all(static_cast<int>(sends_.size()), sends_.data()); }

 private:
  Part& part_;
  const MessageTypes types_;
  std::vector<Statistics> statistics_;
  std::vector<MPI_Request> sends_;
  std::size_t given_rounds_ = 0;
  Schedule schedule_{};
  MPI_Request expected_ = MPI_REQUEST_NULL;
};

}  // namespace

std::unique_ptr<Channel> point_to_point(Part& part, int depth) {
  if (part.comm.root()) return std::make_unique<Master>(part, depth);
  return std::make_unique<Worker>(part, depth);
}

}  // namespace hockney::annealing
