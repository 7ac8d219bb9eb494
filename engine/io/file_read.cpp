// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "io/files.hpp"

namespace hockney::io {
namespace {

// In a shared file, each rank reads the part that its right neighbor has written.
class FileRead final : public FileBase {
 public:
  using FileBase::FileBase;

  void prepare(int) override {
    if (published_) return;
    publish();
    published_ = true;
  }

  void run() override { read(); }

  void fill(const Payload& payload) override {
    write_bytes(outgoing_->upcoming(), payload, static_cast<std::uint64_t>(comm_.rank));
    write();
    spoil(incoming_->upcoming(), payload);
    published_ = false;
  }

  Check verify(const Payload& payload) override { return compare(payload, "what was read from the file"); }

 private:
  bool published_ = false;
};

constexpr Parameter file_read_parameters[] = {parameters::bytes("bytes that each rank reads"), file, calls,
                                              parameters::sync};

}  // namespace

extern constinit const WorkloadInfo file_read{
    .name = "file_read",
    .role = "io",
    .operation = "file_read",
    .size = "bytes",
    .help = "reading a file, or one for each rank, with MPI-IO, in the folder HOCKNEY_IO_FOLDER",
    .time = "the longest over the ranks; bandwidth is of all ranks",
    .parameters = file_read_parameters,
    .metrics = file_metrics,
    .make = make<FileRead>,
};

}  // namespace hockney::io
