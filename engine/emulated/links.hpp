// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <string>

// Network interfaces, configured in the calling thread's network namespace through rtnetlink(7): one message
// for what would be one start of ip(8).
namespace hockney::emulated {

// The number of a host on the network: hosts are 1, 2, ...; this one is where the launcher runs.
inline constexpr int front_number = 254;

// A pair of virtual interfaces: `port` here, and eth0 of the host with this number in the network namespace
// of process `holder` (0: here as well).
void create_pair(const std::string& port, int number, int mtu, pid_t holder);

void bring_up(const std::string& name);
// Its address is 10.99.0.`number`/24.
void give_address(const std::string& name, int number);
// Frames as on a wire: no segmentation or checksums left to the adapter.
void without_offloads(const std::string& name);

}  // namespace hockney::emulated
