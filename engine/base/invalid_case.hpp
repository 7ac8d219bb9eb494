// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>

namespace hockney {

// A case that cannot be run: unknown name, invalid number, wrong number of ranks. Thrown on all ranks alike,
// because every rank parses the same line.
struct InvalidCase : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A buffer does not fit into the available memory. May be thrown on some ranks only.
struct OutOfMemory : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace hockney
