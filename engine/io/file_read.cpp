// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "io/files.hpp"

namespace hockney::io {
namespace {

// Of the shared file each rank reads the part that its right neighbor has written or, with a shared pointer,
// the part that is its turn.
class FileRead final : public FileBase {
 public:
  using FileBase::FileBase;

  // A shared pointer moves on with every run, so the file has a part for each.
  void prepare(int count) override {
    const MPI_Offset needed = pointer() == Pointer::shared ? count : 1;
    if (turns_ < needed) {
      for (; turns_ < needed; ++turns_) write_part(turns_);
      published_ = false;
    }
    if (!published_) publish();
    published_ = true;
    rewind();
  }

  void run() override { read(); }
  void start(MPI_Request* request) override { read(request); }

  void fill(const Payload& payload) override {
    write_bytes(outgoing_->upcoming(), payload, static_cast<std::uint64_t>(comm_.rank));
    write_part();
    spoil(incoming_->upcoming(), payload);
    turns_ = std::max<MPI_Offset>(turns_, 1);
    published_ = false;
  }

  Check verify(const Payload& payload) override {
    return compare(payload, "what was read from the file", reads_from());
  }

 private:
  bool published_ = false;
  MPI_Offset turns_ = 0;  // that the file has parts for
};

constexpr Parameter file_read_parameters[] = {parameters::bytes("bytes that each rank reads"), file, calls,
                                              pointer, parameters::sync};

}  // namespace

extern constinit const WorkloadInfo file_read{
    .name = "file_read",
    .role = "io",
    .operation = "file_read",
    .size = "bytes",
    .help =
        "reading one shared file, or one file per rank, with MPI-IO in the folder "
        "$HOCKNEY_IO_FOLDER",
    .time = "the maximum over the ranks; the bandwidth counts all ranks",
    .parameters = file_read_parameters,
    .metrics = file_metrics,
    .make = make<FileRead>,
};

}  // namespace hockney::io
