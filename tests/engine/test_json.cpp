// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "base/json.hpp"

namespace {

using hockney::Json;
using hockney::json_string;

TEST(Json, EscapesWhatWouldEndTheString) {
  EXPECT_EQ(json_string("a\"b\\c"), R"("a\"b\\c")");
}

TEST(Json, EscapesControlCharacters) {
  EXPECT_EQ(json_string("a\n\x1b[31m\x7f"), "\"a\\u000a\\u001b[31m\\u007f\"");
}

TEST(Json, KeepsWellFormedUtf8) {
  EXPECT_EQ(json_string("µs €"), "\"µs €\"");
}

TEST(Json, ReplacesBytesThatAreNotUtf8) {
  EXPECT_EQ(json_string("a\xff"
                        "b"),
            "\"a\\ufffdb\"");
  EXPECT_EQ(json_string("\xc3"), "\"\\ufffd\"");                     // cut off
  EXPECT_EQ(json_string("\xc0\xaf"), "\"\\ufffd\\ufffd\"");          // overlong
  EXPECT_EQ(json_string("\xed\xa0\x80").substr(0, 7), "\"\\ufffd");  // surrogate
}

TEST(Json, WritesOneObjectInTheOrderOfTheCalls) {
  EXPECT_EQ(Json().field("b", 1).field("a", "x").null("c").field("d", std::vector<double>{1e-9, 2.5}).str(),
            R"({"b":1,"a":"x","c":null,"d":[1e-09,2.5]})");
}

TEST(Json, HasNoNumberForWhatIsNotFinite) {
  EXPECT_EQ(Json().field("x", std::numeric_limits<double>::quiet_NaN()).field("y", INFINITY).str(),
            R"({"x":null,"y":null})");
}

TEST(Json, KeepsNanosecondsInASecond) {
  EXPECT_EQ(hockney::json_number(1.000001), "1.000001");
}

}  // namespace
