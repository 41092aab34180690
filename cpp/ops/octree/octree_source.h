#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include "core/memory.h"
#include "core/span.h"

namespace pc {

/// A finished octree as input of an op: the files that an OctreeSink received.
class OctreeSource {
 public:
  virtual ~OctreeSource() = default;
  /// Size of octree.bin.
  virtual std::uint64_t node_bytes() const = 0;
  /// Path of octree.bin, UTF-8; empty if it is not a file.
  virtual std::string node_path() const { return {}; }
  /// Fills `bytes` from octree.bin at `offset`; thread-safe. Throws kInvalidFile if the file ends before.
  virtual void read_nodes(std::uint64_t offset, Span<std::byte> bytes) const = 0;
  /// A complete small file; throws kNotFound.
  virtual BulkVector<std::byte> file(const std::string& name) const = 0;
};

}  // namespace pc
