// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "kernels/local_base.hpp"
#include "measure/buffer.hpp"
#include "measure/checking.hpp"

namespace hockney::kernels {
namespace {

class LocalCopy final : public LocalBase {
 public:
  LocalCopy(const Place& place, const Values& values)
      : LocalBase(values),
        rank_(static_cast<std::uint64_t>(place.comm.rank)),
        bytes_(values.bytes()),
        from_(place.arena, bytes_, "hot"),
        to_(place.arena, bytes_, "hot") {}

  void fill(const Payload& payload) override {
    write_bytes(from_.upcoming(), payload, rank_);
    spoil(to_.upcoming(), payload);
  }
  Check verify(const Payload& payload) override {
    return check_bytes(to_.upcoming(), payload, rank_, "the copy");
  }
  std::uint64_t bytes_moved() const override { return bytes_; }

 private:
  void compute() override {
    if (bytes_) std::memcpy(to_.upcoming().data(), from_.upcoming().data(), bytes_);
  }
  double operation_count() const override { return static_cast<double>(bytes_); }

  const std::uint64_t rank_;
  const std::uint64_t bytes_;
  Buffer from_;
  Buffer to_;
};

constexpr Parameter local_copy_parameters[] = {parameters::bytes("bytes that each rank copies"),
                                               local_rate_parameter, parameters::sync_each};

}  // namespace

extern constinit const WorkloadInfo local_copy{
    .name = "local_copy",
    .role = "local",
    .operation = "copy",
    .size = "bytes",
    .help = "every rank copies memory by itself: an operation for each byte",
    .time = "one copy, the maximum over the ranks",
    .min_ranks = 1,
    .timing = Timing::longest,
    .parameters = local_copy_parameters,
    .metrics = local_metrics,
    .make = make<LocalCopy>,
};

}  // namespace hockney::kernels
