// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "emulated/agent.hpp"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string>
#include <vector>

#include "emulated/room.hpp"

namespace hockney::emulated {

namespace {

constexpr int refusal_code = 255;  // as ssh

std::string find_holder(const std::string& host) {
  const char* held = std::getenv(holders_variable);
  std::istringstream pairs(held == nullptr ? "" : held);
  for (std::string pair; pairs >> pair;) {
    const std::size_t equals = pair.find('=');
    if (pair.substr(0, equals) == host) return pair.substr(equals + 1);
  }
  return "";
}

bool enter(const std::string& holder_pid) {
  // all are opened before the mount namespace changes, and with it what /proc shows
  std::vector<int> namespaces;
  for (const char* kind : {"net", "uts", "ipc", "mnt"})
    namespaces.push_back(open(("/proc/" + holder_pid + "/ns/" + kind).c_str(), O_RDONLY | O_CLOEXEC));
  for (const int each : namespaces)
    if (each < 0 || setns(each, 0) != 0) return false;
  return true;
}

}  // namespace

int run_on_host(const std::vector<std::string>& words) {
  const std::string options_with_value = "lpoiF";
  std::size_t next = 0;
  while (next < words.size() && words[next].starts_with('-')) {
    const bool separate =
        words[next].size() == 2 && options_with_value.find(words[next][1]) != std::string::npos;
    next += separate ? 2 : 1;
  }
  if (next + 1 >= words.size()) {
    std::fputs("usage: hockney-ethernet-agent [OPTIONS] HOST COMMAND...\n", stderr);
    return 2;
  }
  const std::string& host = words[next];
  const std::string holder_pid = find_holder(host);
  if (holder_pid.empty()) {
    std::fprintf(stderr, "hockney-ethernet-agent: unknown host %s\n", host.c_str());
    return refusal_code;
  }
  std::string line;
  for (std::size_t k = next + 1; k < words.size(); ++k) line += (k == next + 1 ? "" : " ") + words[k];
  char* folder = getcwd(nullptr, 0);
  if (!enter(holder_pid)) {
    std::fprintf(stderr, "hockney-ethernet-agent: entry of a host: %s: %s\n", host.c_str(),
                 std::strerror(errno));
    return refusal_code;
  }
  if (folder == nullptr || chdir(folder) != 0) static_cast<void>(chdir("/"));
  execl("/bin/sh", "sh", "-c", line.c_str(), static_cast<char*>(nullptr));
  std::perror("/bin/sh");
  return refusal_code;
}

}  // namespace hockney::emulated
