// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "app/options.hpp"
#include "base/invalid_case.hpp"
#include "base/words.hpp"

namespace {

using hockney::InvalidCase;

TEST(Words, AreSplitAtAnyBlank) {
  EXPECT_EQ(hockney::split_words("  a  b=1\tc "), (std::vector<std::string>{"a", "b=1", "c"}));
  EXPECT_TRUE(hockney::split_words("  ").empty());
}

TEST(Words, WithoutNameOrValueAreRefused) {
  for (const char* bad : {"bytes", "=8", "bytes="})
    EXPECT_THROW(hockney::named_words({"x", bad}, 1), InvalidCase) << bad;
  EXPECT_THROW(hockney::named_words({"x", "a=1", "a=2"}, 1), InvalidCase);
}

TEST(Numbers, AreReadWholeOrNotAtAll) {
  EXPECT_EQ(hockney::to_integer("1048576", "bytes"), 1048576);
  EXPECT_EQ(hockney::to_integer("1e3", "bytes"), 1000);
  for (const char* bad : {"", "8x", "x8", "1.5", "nan", "inf", "1e300", "0x"})
    EXPECT_THROW(hockney::to_integer(bad, "bytes"), InvalidCase) << bad;
  EXPECT_DOUBLE_EQ(hockney::to_real("1e-06", "delay"), 1e-6);
}

TEST(Options, RefuseWhatCannotBeMeant) {
  using Words = std::vector<std::string>;
  for (const Words& bad :
       {Words{"--budget"}, Words{"--budget", "-1"}, Words{"--budget", "0"}, Words{"--nonsense", "1"},
        Words{"--max-repetitions", "0"}, Words{"--precision", "x"}, Words{"--index", "-1"}})
    EXPECT_THROW(hockney::parse_options(bad), InvalidCase) << bad[0];
}

TEST(Options, TakeTheRestAsOneCase) {
  const hockney::Options options = hockney::parse_options({"--budget", "2", "pingpong", "bytes=8"});
  EXPECT_EQ(options.task, hockney::Options::Task::single_case);
  EXPECT_EQ(options.case_arguments, (std::vector<std::string>{"pingpong", "bytes=8"}));
  EXPECT_EQ(options.budget_s, 2);
}

}  // namespace
