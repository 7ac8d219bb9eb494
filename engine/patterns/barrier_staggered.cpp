// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "base/clock.hpp"
#include "base/random.hpp"
#include "measure/barriers.hpp"
#include "measure/parameters.hpp"

namespace hockney::patterns {
namespace {

// The ranks arrive one after another, spread evenly over `delay`, in a different order each time, so that
// every rank is last equally often.
class Staggered final : public Workload {
 public:
  Staggered(const Place& place, const Values& values)
      : comm_(place.comm), barrier_(make_chosen_barrier(place, values)), delay_s_(values.real("delay")) {}

  void prepare(int) override {
    // The same order on all ranks: rotated, and reversed every other time.
    const std::uint64_t random = mix(++repetition_);
    const int size = comm_.size;
    const int rotated_rank = static_cast<int>((static_cast<std::uint64_t>(comm_.rank) + (random >> 1)) %
                                              static_cast<std::uint64_t>(size));
    const int place = random & 1U ? size - 1 - rotated_rank : rotated_rank;
    lateness_s_ = size == 1 ? delay_s_ : delay_s_ * place / (size - 1);
  }
  void run() override {
    spin(lateness_s_);
    entered_ = now();
    barrier_->wait();
  }
  double entry_time() const override { return entered_; }

 private:
  const Comm& comm_;
  const std::unique_ptr<Barrier> barrier_;
  const double delay_s_;
  std::uint64_t repetition_ = 0;
  double lateness_s_ = 0;
  double entered_ = 0;
};

constexpr Parameter barrier_staggered_parameters[] = {
    parameters::algorithm,
    {"delay", Kind::real, "s", "2e-05", 0, 1, "",
     "time between the first rank's entry and the last rank's entry"},
    parameters::sync_barrier};

}  // namespace

extern constinit const WorkloadInfo barrier_staggered{
    .name = "barrier_staggered",
    .role = "arrival",
    .operation = "barrier",
    .help = "a barrier that the ranks enter one after another",
    .time = "from the last rank's entry to the last exit",
    .min_ranks = 1,
    .timing = Timing::last_entry,
    .parameters = barrier_staggered_parameters,
    .make = make<Staggered>,
};

}  // namespace hockney::patterns
