// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>

namespace hockney {

// `blocks` blocks of a program's buffer as consecutive bytes, so that ranks with different datatypes can
// divide and forward each other's blocks. For dense types this is the buffer itself, otherwise a copy: pack()
// reads the buffer, unpack() writes it. If `data` is MPI_IN_PLACE, it is unchanged.
class Packed {
 public:
  Packed(const void* data, int count, MPI_Datatype type, int blocks);

  void* data() const { return copy_ ? copy_.get() : data_; }
  int pack();
  int unpack() const;

 private:
  char* block(int place) const { return static_cast<char*>(data_) + extent_ * count_ * place; }

  void* data_;
  int count_;
  MPI_Datatype type_;
  int blocks_;
  int bytes_ = 0;  // of a block
  MPI_Aint extent_ = 0;
  std::unique_ptr<std::byte[]> copy_;
};

}  // namespace hockney
