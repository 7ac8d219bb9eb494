// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "emulated/medium.hpp"

namespace hockney::emulated {

struct Settings {
  int hosts = 2;
  double bits_per_second = 10e6;
  std::string medium = "bus";
  int mtu = 1500;
  double delay_s = 0;
  Trunk trunk;
  std::vector<Fault> faults;  // hosts are numbered from 0
  long send_buffer = 0;       // bytes of a connection's send buffer; 0: the system's default
};

// Creates the hosts and the network, runs `words` on the launcher's host and returns its exit code. However
// this process ends, the kernel removes everything: it belongs to one process-id namespace whose first
// process dies with this one.
int run_inside(const Settings& settings, const std::vector<std::string>& words);

// Exit code if the network cannot be created.
inline constexpr int setup_failed = 125;

// Environment variable that tells the agent which process holds each host's namespaces: "h1=5 h2=6".
inline constexpr const char* holders_variable = "HOCKNEY_ETHERNET_HOLDERS";
// Folder for temporary files of hosts, which does not outlive them.
inline constexpr const char* temporary_folder = "/dev/shm";

}  // namespace hockney::emulated
