// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "smpi/platform_zone.hpp"

#include <algorithm>

namespace hockney::platform {

Zone::Zone(const Description& description, std::size_t nodes)
    : NetZoneImpl("machine"), shape_(make_shape(description)), slowdowns_(nodes, 1.0) {
  attach_zone(*this);
  for (const Fault& fault : description.faults)
    if (fault.nodes.size() == 1 && !fault.is_uplink) slowdowns_[fault.nodes.front()] *= fault.slowdown;
  for (std::size_t node = 0; node < nodes; ++node) {
    sg::Host* const host = make_host(*get_iface(), "n" + std::to_string(node), description.flops);
    host->seal();
  }
  if (description.nic < unlimited_rate) {
    outbound_ = make_links("out", nodes, description.nic, slowdowns_);
    inbound_ = description.half_duplex ? outbound_ : make_links("in", nodes, description.nic, slowdowns_);
    nic_rate_ = description.nic;
  }
  if (description.link < unlimited_rate && shape_->cables() > 0) {
    cables_ = make_links("cable", shape_->cables(), description.link);
    cable_rate_ = description.link;
  }
}

Zone::Links Zone::make_links(const std::string& name, std::size_t count, double rate,
                             const std::vector<double>& slowdowns) {
  Links links;
  links.reserve(count);
  for (std::size_t number = 0; number < count; ++number) {
    sg::Link* const link = make_link(*get_iface(), name + std::to_string(number),
                                     slowdowns.empty() ? rate : rate / slowdowns[number]);
    link->seal();
    links.push_back(link->get_impl());
  }
  return links;
}

const Path& Zone::path(std::size_t from, std::size_t to) {
  if (from != from_ || to != to_) {
    from_ = from;
    to_ = to;
    path_.clear();
    if (from != to) shape_->route(from, to, path_);
  }
  return path_;
}

Route Zone::route(std::size_t from, std::size_t to) {
  if (from == to) return {};
  const double nic_rate = nic_rate_ / std::max(slowdowns_[from], slowdowns_[to]);
  const bool cables_limit = cable_rate_ > 0 && (nic_rate == 0 || cable_rate_ < nic_rate);
  return {path(from, to).size(), cables_limit ? cable_rate_ : nic_rate};
}

void Zone::get_local_route(const NetPoint* from, const NetPoint* to, simgrid::kernel::routing::Route* result,
                           double* latency) {
  if (latency) *latency += unit_s;
  const std::size_t source = from->id(), destination = to->id();
  if (source == destination) return;
  auto& links = result->link_list_;
  if (!outbound_.empty()) links.push_back(outbound_[source]);
  if (!cables_.empty())
    for (std::size_t cable : path(source, destination)) links.push_back(cables_[cable]);
  if (!inbound_.empty()) links.push_back(inbound_[destination]);
}

}  // namespace hockney::platform
