// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace hockney::smpi {

// Lets time pass: the cost of a call of `operation` with `bytes` on this rank in addition to its messages,
// from HOCKNEY_CALLS: "gather 8 9.5e-08 64 1.5e-07;scan 8 ...", pairs of bytes and seconds with ascending
// bytes. Linear between the pairs, constant below the first, proportional to bytes beyond the last.
void spend_call(const char* operation, double bytes);

}  // namespace hockney::smpi
