// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <type_traits>

#include "base/invalid_case.hpp"
#include "hockney/bpram.hpp"
#include "hockney/bsp.hpp"
#include "kernels/ledger.hpp"
#include "local/product.hpp"
#include "local/sort.hpp"
#include "measure/agreement.hpp"
#include "measure/parameters.hpp"
#include "measure/workload.hpp"

namespace hockney::kernels {

// Operations per second of a simulated machine; 0: computing takes no time. A real machine computes at its
// own rate.
inline double simulated_rate(const Values& values, const char* name) {
  const double rate = values.real(name);
#ifndef HOCKNEY_SMPI
  if (rate > 0)
    throw InvalidCase(std::string(name) +
                      " is the speed of a simulated machine; a real one computes at its own");
#endif
  return rate;
}

constexpr Parameter rate_of(const char* name, const char* help) {
  return {name, Kind::real, "", "0", 0, 1e18, "", help};
}

// A kernel in one of three styles, with the library that its style needs.
class KernelBase : public Workload {
 public:
  KernelBase(const Place& place, const Values& values)
      : comm_(place.comm),
        style_(values.word("style")),
        packet_(static_cast<std::size_t>(values.integer("packet"))),
        ranks_(static_cast<std::size_t>(comm_.size)) {
    if (packet_ > 0 && style_ != "bsp") throw InvalidCase("packet is the size of puts in style=bsp");
  }

  // The libraries are set up here, because that is collective, and a constructor may reject the case on some
  // ranks only.
  void prepare(int) override {
    if (style_ == "bsp" && !bsp_) {
      bsp_.emplace(comm_.handle);
      register_areas(*bsp_);
      bsp_->sync();
    }
    if (style_ == "bpram" && !bpram_) bpram_.emplace(comm_.handle);
    if (style_ == "mpi") make_communicators();
  }

  void run() final {
    if (bsp_) bsp_->record(true);
    ledger_.begin();
    if (style_ == "bsp")
      run_bsp(*bsp_);
    else if (style_ == "bpram")
      run_bpram(*bpram_);
    else
      run_mpi();
    ledger_.end();
  }

  bool keeps_payload() const override { return true; }
  void sample(MetricValues& values) override { ledger_.sample(values); }
  void report(MetricValues& values) override { ledger_.report(values); }

 protected:
  virtual void register_areas(bsp::Process& bsp) = 0;
  virtual void make_communicators() {}
  virtual void run_bsp(bsp::Process& bsp) = 0;
  virtual void run_bpram(bpram::Process& bpram) = 0;
  virtual void run_mpi() = 0;

  // Number of elements in a packet; unlimited if the case gives no packet size.
  template <class T>
  std::size_t packet(std::size_t elements) const {
    if (packet_ % sizeof(T) != 0)
      throw InvalidCase("packet=" + std::to_string(packet_) + " is not a whole number of elements of " +
                        std::to_string(sizeof(T)) + " bytes");
    return packet_ > 0 ? packet_ / sizeof(T) : elements;
  }
  // Sends a block to process `to`, in packets or by a single unbuffered put.
  template <class T>
  void put(bsp::Process& bsp, int to, std::span<const std::type_identity_t<T>> block,
           const bsp::Area<T>& area, std::size_t first) {
    ledger_.end_computing();
    if (packet_ == 0) {
      bsp.hpput<T>(to, block, area, first);
      return;
    }
    const std::size_t max_elements = packet<T>(block.size());
    for (std::size_t at = 0; at < block.size(); at += max_elements)
      bsp.put<T>(to, block.subspan(at, std::min(max_elements, block.size() - at)), area, first + at);
  }
  // Ends a superstep.
  void sync(bsp::Process& bsp) {
    ledger_.end_computing();
    bsp.sync();
    ledger_.add_superstep(bsp.supersteps().back());
  }
  // A step of the BPRAM in which this rank sends to `to`, which may be nobody, and receives if `receives` is
  // true.
  bpram::Received step(bpram::Process& bpram, int to, std::span<const std::byte> block, bool receives,
                       std::span<std::byte> room) {
    ledger_.end_computing();
    bpram::Received received;
    if (to != bpram::nobody && receives)
      received = bpram.exchange_bytes(to, block, room);
    else if (to != bpram::nobody)
      bpram.send_bytes(to, block);
    else if (receives)
      received = bpram.receive_bytes(room);
    else
      bpram.pass();
    const bool sends = to != bpram::nobody && to != comm_.rank;
    const bool is_from_other = received.from != bpram::nobody && received.from != comm_.rank;
    ledger_.end_superstep(sends ? block.size() : 0, is_from_other ? received.bytes : 0, sends ? 1 : 0,
                          sends ? 1 : 0);
    return received;
  }
  template <class T>
  bpram::Received exchange(bpram::Process& bpram, int to, std::span<const T> block, std::span<T> room) {
    return step(bpram, to, std::as_bytes(block), true, std::as_writable_bytes(room));
  }

  int rank_plus(std::size_t distance) const {
    return static_cast<int>((static_cast<std::size_t>(comm_.rank) + distance) % ranks_);
  }

  const Comm& comm_;
  const std::string style_;
  const std::size_t packet_;  // bytes; 0: whole blocks
  const std::size_t ranks_;
  Ledger ledger_;

 private:
  // Destroyed after the objects that the derived class registers with it; they are therefore held as
  // `std::optional`.
  std::optional<bsp::Process> bsp_;
  std::optional<bpram::Process> bpram_;
};

inline constexpr Parameter packet_parameter{
    "packet", Kind::integer, "B", "0",
    0,        1e9,           "",  "with style=bsp: bytes of each put or message; 0: a block at once",
    "4"};

inline constexpr Parameter copy_rate_parameter =
    rate_of("copy_rate", "simulated machines: bytes per second that a rank copies in its memory");

inline constexpr Parameter style_parameter{
    "style",
    Kind::choice,
    "",
    "bsp",
    0,
    0,
    "bsp|bpram|mpi",
    "bsp: on BSPlib; bpram: steps in which each rank sends one block; mpi: calls of MPI"};

}  // namespace hockney::kernels
