#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include "core/span.h"
#include "ops/octree/octree_source.h"

namespace pc {

/// Where octree_build puts its bytes. Calls come in this order: begin once; write_nodes any number of times,
/// from several threads, at disjoint offsets that together cover [0, total_bytes); then `file` for
/// hierarchy.bin, for attribute_labels.json and, last of all, for metadata.json: an octree with metadata.json
/// is complete. An exception of any call ends the build and is rethrown by it.
class OctreeSink {
 public:
  virtual ~OctreeSink() = default;
  /// `total_bytes` is the size of octree.bin.
  virtual void begin(std::uint64_t total_bytes) = 0;
  /// Bytes of octree.bin at `offset`; thread-safe.
  virtual void write_nodes(std::uint64_t offset, Span<const std::byte> bytes) = 0;
  /// Instead of `begin` and `write_nodes`: the octree.bin of another octree, shared with it. False, and nothing done, when
  /// that cannot be.
  virtual bool share_nodes(const OctreeSource& source) {
    static_cast<void>(source);
    return false;
  }
  /// One small whole file.
  virtual void file(const std::string& name, Span<const std::byte> bytes) = 0;
};

}  // namespace pc
