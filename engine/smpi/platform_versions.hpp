// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
//
// Differences between SimGrid 3.32 to 3.36 and SimGrid 4 that affect the plug-in.
#pragma once

#include <simgrid/version.h>

#include <simgrid/kernel/routing/NetZoneImpl.hpp>
#include <simgrid/s4u.hpp>
#if SIMGRID_VERSION < 40000
#include <simgrid/kernel/resource/NetworkModelIntf.hpp>
#endif

#include <string>
#include <unordered_set>
#include <vector>

namespace hockney::platform {

namespace sg = simgrid::s4u;

#if SIMGRID_VERSION < 33300
using Engine = const sg::Engine;
#else
using Engine = sg::Engine;
#endif

inline sg::Host* make_host(sg::NetZone& zone, const std::string& name, double flops) {
#if SIMGRID_VERSION < 40000
  return zone.create_host(name, flops);
#else
  return zone.add_host(name, flops);
#endif
}

inline sg::Link* make_link(sg::NetZone& zone, const std::string& name, double rate) {
#if SIMGRID_VERSION < 40000
  return zone.create_link(name, rate);
#else
  return zone.add_link(name, rate);
#endif
}

// The first zone created is SimGrid 3's root; SimGrid 4 has already created one, and others are inside it.
inline void attach_zone([[maybe_unused]] simgrid::kernel::routing::NetZoneImpl& zone) {
#if SIMGRID_VERSION >= 40000
  zone.set_parent(sg::Engine::get_instance()->get_netzone_root()->get_impl());
#endif
}

using Factor = double(double, const sg::Host*, const sg::Host*, const std::vector<sg::Link*>&,
                      const std::unordered_set<sg::NetZone*>&);

inline void set_factors([[maybe_unused]] sg::NetZone& zone, [[maybe_unused]] Engine& engine, Factor* latency,
                        Factor* bandwidth) {
#if SIMGRID_VERSION < 40000
  zone.get_network_model()->set_lat_factor_cb(latency);
  zone.get_network_model()->set_bw_factor_cb(bandwidth);
#else
  engine.get_netzone_root()->set_latency_factor_cb(latency);
  engine.get_netzone_root()->set_bandwidth_factor_cb(bandwidth);
#endif
}

}  // namespace hockney::platform
