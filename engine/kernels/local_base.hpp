// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "kernels/kernel_base.hpp"

namespace hockney::kernels {

// Base class of computations that every rank performs by itself, as part of a kernel, at a rate that
// predictions need.
class LocalBase : public Workload {
 public:
  explicit LocalBase(const Values& values) : rate_(simulated_rate(values, "rate")) {}

  void run() final {
    compute();
#ifdef HOCKNEY_SMPI
    if (rate_ > 0) pass(operation_count() / rate_);
#endif
  }
  bool keeps_payload() const final { return true; }
  void report(MetricValues& values) final {
    values.set("operations", operation_count());
    if (*library()) values.label("local_library", library());
  }

 protected:
  virtual void compute() = 0;
  // Number of operations of one run.
  virtual double operation_count() const = 0;
  virtual const char* library() const { return ""; }

 private:
  [[maybe_unused]] const double rate_;
};

inline constexpr Metric local_metrics[] = {
    {.name = "operations",
     .help = "operations of one repetition on one rank; divided by the time they give the rate"}};

inline constexpr Parameter local_rate_parameter =
    rate_of("rate", "simulated machines: operations per second");

// Sizes of a product of an n x k and a k x m matrix, which is n x m.
struct Sizes {
  explicit Sizes(const Values& values)
      : n(static_cast<std::size_t>(values.integer("n"))), m(or_n(values, "m")), k(or_n(values, "k")) {}
  std::size_t n;
  std::size_t m;
  std::size_t k;

 private:
  std::size_t or_n(const Values& values, const char* name) const {
    const std::int64_t value = values.integer(name);
    return value ? static_cast<std::size_t>(value) : n;
  }
};

inline constexpr Parameter product_n{"n", Kind::integer, "", "256", 1, 1e6, "", "rows of the result"};
inline constexpr Parameter product_m{"m", Kind::integer, "", "0", 0, 1e6, "", "columns of the result; 0: n"};
inline constexpr Parameter product_k{"k", Kind::integer, "", "0", 0, 1e6, "", "inner dimension; 0: n"};

// Compares the result with the expected one at a few random places.
template <class Expected>
Check check_some(const char* description, std::size_t places, std::size_t size, std::size_t element_bytes,
                 std::uint64_t seed, Expected is_expected) {
  Check result;
  for (std::size_t t = 0; t < places; ++t) {
    const std::size_t place = mix(seed + t) % size;
    result.bytes += element_bytes;
    if (is_expected(place)) continue;
    ++result.errors;
    if (result.first.empty())
      result.first = std::string(description) + ": element " + std::to_string(place) + " is wrong";
  }
  return result;
}

}  // namespace hockney::kernels
