// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "base/clock.hpp"
#include "bpram/exchanger.hpp"
#include "hockney/bpram.hpp"

namespace hockney::bpram::inline v1 {

Process::Process(MPI_Comm comm, const Settings& settings)
    : exchanger_(std::make_unique<Exchanger>(comm, settings)),
      pid_(exchanger_->comm().rank),
      nprocs_(exchanger_->comm().size) {}

Process::~Process() = default;

double Process::time() const {
  return now() - exchanger_->start_s();
}

std::uint64_t Process::steps() const {
  return exchanger_->steps();
}

void Process::abort(const char* text) const {
  exchanger_->fail("%s", text);
}

Received Process::exchange_bytes(int to, std::span<const std::byte> block, std::span<std::byte> room) {
  return exchanger_->step(to, block, true, room);
}

void Process::send_bytes(int to, std::span<const std::byte> block) {
  exchanger_->step(to, block, false, {});
}

Received Process::receive_bytes(std::span<std::byte> room) {
  return exchanger_->step(nobody, {}, true, room);
}

void Process::pass() {
  exchanger_->step(nobody, {}, false, {});
}

}  // namespace hockney::bpram::inline v1
