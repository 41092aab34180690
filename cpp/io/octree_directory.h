#pragma once
#include <memory>
#include <string>
#include <utility>

#include "core/platform.h"
#include "ops/octree/octree_sink.h"
#include "ops/octree/octree_source.h"

namespace pc::io {

/// Writes an octree to an existing folder: octree.bin at the given offsets, the other files as a whole. Nothing is
/// flushed to the disk: an octree lost in a power failure can be built again.
class OctreeDirectory final : public OctreeSink {
 public:
  /// `path` is an existing folder, UTF-8. Files of an earlier octree in it are replaced.
  explicit OctreeDirectory(std::string path) : path_(std::move(path)) {}

  void begin(std::uint64_t total_bytes) override;
  void write_nodes(std::uint64_t offset, Span<const std::byte> bytes) override;
  /// Creates a hard link to the source's octree.bin, which is never written again once it is complete.
  bool share_nodes(const OctreeSource& source) override;
  void file(const std::string& name, Span<const std::byte> bytes) override;

 private:
  std::string path_;
  std::unique_ptr<platform::File> nodes_;
};

/// Reads an octree's folder.
class OctreeDirectoryReader final : public OctreeSource {
 public:
  /// Opens octree.bin in `path`, UTF-8. Errors: kNotFound, kIo.
  explicit OctreeDirectoryReader(std::string path)
      : path_(std::move(path)), nodes_(platform::File::open_read(path_ + "/octree.bin")) {}

  std::uint64_t node_bytes() const override { return nodes_.size(); }
  std::string node_path() const override { return nodes_.path(); }
  void read_nodes(std::uint64_t offset, Span<std::byte> bytes) const override;
  BulkVector<std::byte> file(const std::string& name) const override;

 private:
  std::string path_;
  platform::File nodes_;
};

}  // namespace pc::io
