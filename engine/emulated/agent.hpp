// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace hockney::emulated {

// A remote shell for launchers, with ssh's arguments: [OPTIONS] HOST COMMAND... Enters the host's namespaces
// and runs the command, joined by blanks, in a shell. Returns only on failure.
int run_on_host(const std::vector<std::string>& words);

}  // namespace hockney::emulated
