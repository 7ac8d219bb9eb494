// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "io/files.hpp"

namespace hockney::io {
namespace {

class FileWrite final : public FileBase {
 public:
  FileWrite(const Place& place, const Values& values)
      : FileBase(place, values), to_storage_(values.has("storage") && values.word("storage") == "yes") {}

  void prepare(int) override { rewind(); }

  void run() override {
    write();
    if (to_storage_) note_error(MPI_File_sync(file_));
  }
  void start(MPI_Request* request) override { write(request); }

  void fill(const Payload& payload) override {
    write_bytes(outgoing_->upcoming(), payload, static_cast<std::uint64_t>(comm_.rank));
    spoil(incoming_->upcoming(), payload);
  }

  // With an unordered shared pointer, a part of the file may belong to any rank.
  Check verify(const Payload& payload) override {
    publish();
    read_part();
    return check_read(payload, "what was written to the file",
                      source_rank() == any_rank ? any_rank : neighbor());
  }

 private:
  const bool to_storage_;
};

constexpr Parameter file_write_parameters[] = {
    parameters::bytes("bytes that each rank writes"),
    file,
    calls,
    pointer,
    {"storage", Kind::choice, "", "no", 0, 0, "no|yes",
     "yes: the time includes MPI_File_sync, which transfers the data to the storage device"},
    parameters::sync};

}  // namespace

extern constinit const WorkloadInfo file_write{
    .name = "file_write",
    .role = "io",
    .operation = "file_write",
    .size = "bytes",
    .help =
        "writing one shared file, or one file per rank, with MPI-IO in the folder "
        "$HOCKNEY_IO_FOLDER",
    .time = "the maximum over the ranks; the bandwidth counts all ranks",
    .parameters = file_write_parameters,
    .metrics = file_metrics,
    .make = make<FileWrite>,
};

}  // namespace hockney::io
