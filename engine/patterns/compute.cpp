// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "base/compute.hpp"

#include "measure/parameters.hpp"
#include "measure/workload.hpp"

namespace hockney::patterns {
namespace {

class Compute final : public Pattern {
 public:
  Compute(const Place&, const Values& values) : computing_(values.real("work")) {}

  void prepare(int) override { computing_.recheck(); }
  void run() override { computing_.run(); }
  std::optional<Work> work() const override { return Work::of(computing_); }

 private:
  Computing computing_;
};

constexpr Parameter parameters[] = {parameters::work("processor time each rank consumes"),
                                    parameters::sync_each};

}  // namespace

extern constinit const Workload compute{"compute",
                                        "patterns",
                                        "each rank consumes a preset amount of processor time",
                                        "the longest over the ranks",
                                        1,
                                        0,
                                        Timing::longest,
                                        parameters,
                                        make<Compute>};

}  // namespace hockney::patterns
