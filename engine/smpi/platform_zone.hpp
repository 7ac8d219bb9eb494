// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <simgrid/kernel/routing/NetPoint.hpp>
#include <simgrid/kernel/routing/NetZoneImpl.hpp>

#include "smpi/platform_shape.hpp"
#include "smpi/platform_versions.hpp"

namespace hockney::platform {

// A route through the machine, with the data that determine the cost of a message.
struct Route {
  std::size_t cables = 0;
  double rate = 0;  // of its slowest link; 0 if nothing is shared
};

// All of the machine's nodes and links in one zone, so that routes are computed without tables. A custom zone
// type, since SimGrid's types multiply a latency by the number of links, have no mesh, and need a separate
// zone for every node's link to the network.
class Zone final : public simgrid::kernel::routing::NetZoneImpl {
 public:
  // Every route has this latency; a message's actual latency is obtained by a factor.
  static constexpr double unit_s = 1.0;

  Zone(const Description& description, std::size_t nodes);

  Route route(std::size_t from, std::size_t to);

  static std::size_t node(const sg::Host* host) { return host->get_netpoint()->id(); }

 private:
  using NetPoint = simgrid::kernel::routing::NetPoint;
  using Links = std::vector<simgrid::kernel::resource::StandardLinkImpl*>;

  void get_local_route(const NetPoint* from, const NetPoint* to, simgrid::kernel::routing::Route* result,
                       double* latency) override;
  void get_graph(const s_xbt_graph_t*, std::map<std::string, xbt_node_t, std::less<>>*,
                 std::map<std::string, xbt_edge_t, std::less<>>*) override {}

  Links make_links(const std::string& name, std::size_t count, double rate,
                   const std::vector<double>& slowdowns = {});
  const Path& path(std::size_t from, std::size_t to);

  std::unique_ptr<Shape> shape_;
  std::vector<double> slowdowns_;         // of each node's links to the network
  double nic_rate_ = 0, cable_rate_ = 0;  // 0 without links
  Links outbound_, inbound_, cables_;
  // The last route requested: SimGrid requests a message's links, then its cost.
  std::size_t from_ = 0, to_ = 0;
  Path path_;
};

}  // namespace hockney::platform
