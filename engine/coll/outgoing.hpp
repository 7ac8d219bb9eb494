// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "coll/elements.hpp"

namespace hockney::coll {

// The blocks that a rank sends. For MPI_IN_PLACE, a copy of the blocks in `incoming`, which is overwritten.
class Outgoing {
 public:
  Outgoing(const void* outgoing, int send_count, MPI_Datatype type, const Blocks& incoming, int ranks)
      : blocks(outgoing, send_count, outgoing == MPI_IN_PLACE ? incoming.type : type) {
    if (outgoing != MPI_IN_PLACE) return;
    copied_.emplace(static_cast<long long>(ranks) * incoming.count, incoming.type);
    blocks = Blocks(copied_->data(), incoming.count, incoming.type);
    copy(incoming, 0, blocks, 0, ranks);
  }

  Blocks blocks;

 private:
  std::optional<Elements> copied_;
};

}  // namespace hockney::coll
