// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "io/files.hpp"

namespace hockney::io {
namespace {

// Each rank reads the part of the shared file that its right neighbor has written or, with a shared pointer,
// the next part.
class FileRead final : public FileBase {
 public:
  using FileBase::FileBase;

  // A shared pointer advances with every run, so the file has a part for each run.
  void prepare(int count) override {
    const MPI_Offset parts = pointer() == Pointer::shared ? count : 1;
    if (file_turns_ < parts) {
      for (; file_turns_ < parts; ++file_turns_) write_part(file_turns_);
      is_published_ = false;
    }
    if (!is_published_) publish();
    is_published_ = true;
    rewind();
  }

  void run() override { read(); }
  void start(MPI_Request* request) override { read(request); }

  void fill(const Payload& payload) override {
    write_bytes(outgoing_->upcoming(), payload, static_cast<std::uint64_t>(comm_.rank));
    write_part();
    spoil(incoming_->upcoming(), payload);
    file_turns_ = std::max<MPI_Offset>(file_turns_, 1);
    is_published_ = false;
  }

  Check verify(const Payload& payload) override {
    return check_read(payload, "what was read from the file", source_rank());
  }

 private:
  bool is_published_ = false;
  MPI_Offset file_turns_ = 0;  // for which the file has parts
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
