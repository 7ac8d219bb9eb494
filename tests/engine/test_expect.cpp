// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#define HOCKNEY_CONTRACTS
#include <gtest/gtest.h>

#include "base/expect.hpp"

namespace {

TEST(ExpectDeathTest, EndsTheProgramWithTheConditionThatDoesNotHold) {
  const int ranks = 0;
  HOCKNEY_EXPECT(ranks == 0);
  EXPECT_DEATH(HOCKNEY_EXPECT(ranks > 0), "ranks > 0");
}

}  // namespace
