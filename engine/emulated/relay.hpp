// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "emulated/medium.hpp"

namespace hockney::emulated {

// Reads the frames that hosts send into the ports, and writes them to their receivers when the medium has
// carried them. Frames from and to the launcher's host are forwarded immediately, so that control messages do
// not use the medium.
class Relay {
 public:
  // One port for each host, in order; `front` is that of the launcher's host.
  Relay(std::unique_ptr<Medium> medium, const std::vector<std::string>& ports, const std::string& front);
  [[noreturn]] void run();

 private:
  void receive(int port);
  void deliver(const Frame& frame) const;
  void write(int port, const Frame& frame) const;
  void wait();

  std::unique_ptr<Medium> medium_;
  std::vector<int> sockets_;  // the last one is the front's
  int timer_ = -1;
  int events_ = -1;
};

}  // namespace hockney::emulated
