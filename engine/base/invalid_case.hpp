// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>

namespace hockney {

// A case that cannot be run: unknown name, invalid number, wrong number of ranks. Every rank parses the same
// line, so all ranks throw it.
struct InvalidCase : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A buffer that does not fit into the available memory. It may be thrown on some ranks only.
struct OutOfMemory : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace hockney
