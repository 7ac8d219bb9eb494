// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "base/compute.hpp"
#include "onesided/one_sided_base.hpp"

namespace hockney::onesided {
namespace {

// Rank 0 puts into the memory of rank 1, which computes meanwhile and enters MPI only afterwards. Compared
// with put epoch=flush, where the target waits in MPI, the time shows whether the target must make progress.
class PutPassive final : public Workload {
 public:
  PutPassive(const Place& place, const Values& values)
      : comm_(place.comm),
        block_(values.bytes()),
        computing_(comm_.root() ? 0 : values.real("work")),
        work_s_(values.real("work")),
        window_(place, values.word("memory"), values.bytes()),
        target_(window_.partner_base(1 - comm_.rank)) {
    run_on_all_ranks(comm_, [&] { outgoing_.emplace(place.arena, values.bytes(), "hot"); });
  }
  ~PutPassive() override {
    if (locked_) MPI_Win_unlock_all(window_.handle());
  }

  void prepare(int) override {
    const MPI_Win window = window_.handle();
    if (!locked_) MPI_Win_lock_all(0, window);
    locked_ = true;
    computing_.recheck();
    MPI_Win_sync(window);
    MPI_Barrier(comm_.handle);
    MPI_Win_sync(window);
  }

  void run() override {
    if (!comm_.root()) {
      computing_.run();
      return;
    }
    MPI_Put(outgoing_->next(), block_.count, block_.type, 1, target_, block_.count, block_.type,
            window_.handle());
    MPI_Win_flush(1, window_.handle());
  }

  void fill(const Payload& payload) override {
    if (comm_.root())
      write_bytes(outgoing_->upcoming(), payload, 0);
    else
      spoil(window_.memory(), payload);
  }

  Check verify(const Payload& payload) override {
    MPI_Barrier(comm_.handle);
    MPI_Win_sync(window_.handle());
    return comm_.root() ? Check{} : check_bytes(window_.memory(), payload, 0, "what was put");
  }

  bool keeps_payload() const override { return false; }
  std::uint64_t bytes_moved() const override { return block_.bytes; }
  void report(MetricValues& values) override { values.set("work", work_s_); }

 private:
  const Comm& comm_;
  const Block block_;
  Computing computing_;
  const double work_s_;
  Window window_;
  const MPI_Aint target_;
  std::optional<Buffer> outgoing_;
  bool locked_ = false;
};

constexpr Parameter put_passive_parameters[] = {
    parameters::bytes("bytes written"),
    parameters::work("processor time that the target computes in each repetition"), memory,
    parameters::sync_each};

constexpr Metric put_passive_metrics[] = {
    {.name = "work", .unit = "s", .help = "preset processor time of the target's computation"},
};

}  // namespace

extern constinit const WorkloadInfo put_passive{
    .name = "put_passive",
    .role = "one-sided",
    .operation = "put_passive",
    .size = "bytes",
    .help = "MPI_Put and MPI_Win_flush while the target computes instead of waiting in MPI",
    .time = "the put and its completion at the origin",
    .min_ranks = 2,
    .max_ranks = 2,
    .timing = Timing::root,
    .parameters = put_passive_parameters,
    .metrics = put_passive_metrics,
    .make = make<PutPassive>,
};

}  // namespace hockney::onesided
