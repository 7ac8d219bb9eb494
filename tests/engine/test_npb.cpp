// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
// What the NAS Parallel Benchmarks of the engine compute with: random numbers and Fourier transforms.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

#include "npb/frame/random.hpp"
#include "npb/ft/transform.hpp"

namespace {

using namespace hockney::npb;

// pow(5**13, n, 2**46) in Python.
struct Power {
  std::uint64_t n, value;
};
constexpr Power powers[] = {
    {0u, 1u},
    {1u, 1220703125u},
    {2u, 57961422730425u},
    {45u, 59388820512869u},
    {46u, 38172802546121u},
    {1000u, 18904382368481u},
    {8388609u, 6229426598805u},
    {8589934591u, 14508236160957u},
    {17592186044415u, 49452090081213u},
    {17592186044416u, 1u},
    {9223372036854788153u, 21428452326069u},
};

TEST(Random, JumpsToAnyNumber) {
  for (const Power& power : powers) {
    EXPECT_EQ(multiplier_power(power.n), power.value) << power.n;
    Random random(314159265);
    random.skip(power.n);
    EXPECT_EQ(random.state(), 314159265 * power.value & modulus_mask) << power.n;
  }
}

TEST(Random, JumpsWhereSteppingLeads) {
  Random stepping(271828183), jumping(271828183);
  for (int k = 0; k < 1000; ++k) stepping.next();
  jumping.skip(1000);
  EXPECT_EQ(stepping.state(), jumping.state());
  EXPECT_EQ(stepping.next(), jumping.next());
}

TEST(Random, FillsWithTheNumbersAfterTheFirstOnes) {
  constexpr std::uint64_t seed = 314159265, first = 1000000000007;
  for (const std::size_t count : {0u, 1u, 63u, 64u, 200u}) {
    std::vector<double> numbers(count + 1, -1);
    fill_random(numbers.data(), count, seed, first);
    Random random(seed);
    random.skip(first);
    for (std::size_t k = 0; k < count; ++k) EXPECT_EQ(numbers[k], random.next()) << k;
    EXPECT_EQ(numbers[count], -1);
  }
  // 314159265 * pow(5**13, first + 200, 2**46) % 2**46
  std::vector<double> numbers(200);
  fill_random(numbers.data(), 200, seed, first);
  EXPECT_EQ(numbers[199], 17926957595805 * 0x1p-46);
}

// Of a number per line that depends on line and place.
std::complex<double> given(std::size_t k, std::size_t line) {
  return {std::cos(1.0 + static_cast<double>(k * k + line)),
          std::sin(2.0 + static_cast<double>(3 * k * line))};
}

void expect_transform(std::size_t length, int sign) {
  constexpr std::size_t lines = Transform::lines;
  Transform transform(length);
  for (int again = 0; again < 2; ++again) {
    for (std::size_t k = 0; k < length; ++k)
      for (std::size_t line = 0; line < lines; ++line) {
        transform.values().real[k * lines + line] = given(k, line).real();
        transform.values().imaginary[k * lines + line] = given(k, line).imag();
      }
    sign < 0 ? transform.forward_message() : transform.inverse();
    for (std::size_t k = 0; k < length; k += 1 + length / 32)
      for (const std::size_t line : {std::size_t{0}, lines - 1}) {
        std::complex<double> sum = 0;
        for (std::size_t j = 0; j < length; ++j)
          sum += given(j, line) *
                 std::polar(1.0, sign * 2 * std::numbers::pi * static_cast<double>(j * k % length) /
                                     static_cast<double>(length));
        EXPECT_NEAR(transform.values().real[k * lines + line], sum.real(),
                    1e-12 * static_cast<double>(length));
        EXPECT_NEAR(transform.values().imaginary[k * lines + line], sum.imag(),
                    1e-12 * static_cast<double>(length));
      }
  }
}

TEST(Transform, IsTheSumOfItsDefinition) {
  for (std::size_t length = 1; length <= 1024; length *= 2)
    for (const int sign : {-1, 1}) expect_transform(length, sign);
}

}  // namespace
