#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include "core/span.h"
#include "ops/octree/octree_source.h"

namespace pc {

/// Receives the output of octree_build. Calls come in this order: begin once; write_nodes any number of times, from
/// several threads, at disjoint offsets that together cover [0, total_bytes); then `file` for hierarchy.bin, for
/// attribute_labels.json and, last, for metadata.json. An octree with metadata.json is therefore complete. An exception
/// thrown by any call ends the build, which rethrows it.
class OctreeSink {
 public:
  virtual ~OctreeSink() = default;
  /// `total_bytes` is the size of octree.bin.
  virtual void begin(std::uint64_t total_bytes) = 0;
  /// Bytes of octree.bin at `offset`; thread-safe.
  virtual void write_nodes(std::uint64_t offset, Span<const std::byte> bytes) = 0;
  /// Called instead of `begin` and `write_nodes`: uses the octree.bin of another octree as shared data. Returns false,
  /// and does nothing, if that is not possible.
  virtual bool share_nodes(const OctreeSource& source) {
    static_cast<void>(source);
    return false;
  }
  /// A small file, complete.
  virtual void file(const std::string& name, Span<const std::byte> bytes) = 0;
};

}  // namespace pc
