// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "measure/collective_base.hpp"

// The data that each collective sends and must receive. It does not depend on how the collective is called:
// by MPI, by an algorithm of coll/, nonblocking or with a persistent request.
namespace hockney {

class BcastBase : public CollectiveBase {
 public:
  BcastBase(const Place& place, const Values& values) : CollectiveBase(place, values, 0, 1) {}
  void fill(const Payload& payload) override;
  Check verify(const Payload& payload) override;
};

class GatherBase : public CollectiveBase {
 public:
  GatherBase(const Place& place, const Values& values)
      : CollectiveBase(place, values, 1, is_root(place, values) ? ranks_of(place) : 0) {}
  void fill(const Payload& payload) override;
  Check verify(const Payload& payload) override;
};

// The block for rank r carries r's payload, so that a block delivered to the wrong rank is detected.
class ScatterBase : public CollectiveBase {
 public:
  ScatterBase(const Place& place, const Values& values)
      : CollectiveBase(place, values, is_root(place, values) ? ranks_of(place) : 0, 1) {}
  void fill(const Payload& payload) override;
  Check verify(const Payload& payload) override;
};

class AllgatherBase : public CollectiveBase {
 public:
  AllgatherBase(const Place& place, const Values& values)
      : CollectiveBase(place, values, 1, ranks_of(place)) {}
  void fill(const Payload& payload) override;
  Check verify(const Payload& payload) override;
};

// Each pair of ranks has a different payload, so that blocks in the wrong order are detected.
class AlltoallBase : public CollectiveBase {
 public:
  AlltoallBase(const Place& place, const Values& values)
      : CollectiveBase(place, values, ranks_of(place), ranks_of(place)) {}
  void fill(const Payload& payload) override;
  Check verify(const Payload& payload) override;
};

class ReduceBase : public Reduction {
 public:
  ReduceBase(const Place& place, const Values& values) : Reduction(place, values, 1, 1) {}
  Check verify(const Payload& payload) override;
};

class AllreduceBase : public Reduction {
 public:
  AllreduceBase(const Place& place, const Values& values) : Reduction(place, values, 1, 1) {}
  Check verify(const Payload& payload) override;
};

class ReduceScatterBlockBase : public Reduction {
 public:
  ReduceScatterBlockBase(const Place& place, const Values& values)
      : Reduction(place, values, ranks_of(place), 1) {}
  Check verify(const Payload& payload) override;
};

class ScanBase : public Reduction {
 public:
  ScanBase(const Place& place, const Values& values) : Reduction(place, values, 1, 1) {}
  Check verify(const Payload& payload) override;
};

class ExscanBase : public Reduction {
 public:
  ExscanBase(const Place& place, const Values& values) : Reduction(place, values, 1, 1) {}
  Check verify(const Payload& payload) override;
};

}  // namespace hockney
