// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <string>

// Network interfaces, configured in the calling thread's network namespace through rtnetlink(7): one message
// instead of one run of ip(8).
namespace hockney::emulated {

// The network number of the host that runs the launcher; the emulated hosts are 1, 2, ...
inline constexpr int front_number = 254;

// Creates a pair of virtual interfaces: `port` in this namespace, and eth0 of the host with this number in
// the network namespace of process `holder_pid` (0: in this namespace as well).
void create_pair(const std::string& port, int number, int mtu, pid_t holder_pid);

void bring_up(const std::string& name);
// Assigns the address 10.99.0.`number`/24.
void assign_address(const std::string& name, int number);
// Disables segmentation and checksums in the adapter, so that frames are the same as on a wire.
void disable_offloads(const std::string& name);

}  // namespace hockney::emulated
