// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace hockney::smpi {

// Lets pass what a call of `operation` with `bytes` costs this rank beyond its messages, as HOCKNEY_CALLS
// says: "gather 8 9.5e-08 64 1.5e-07;scan 8 ...", pairs of bytes and seconds, bytes ascending. On a line from
// pair to pair, as the first below it, beyond the last in proportion.
void spend_call(const char* operation, double bytes);

}  // namespace hockney::smpi
