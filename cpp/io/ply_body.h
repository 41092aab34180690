#pragma once
#include <cstdint>
#include <vector>

#include "core/memory.h"
#include "core/op_context.h"
#include "core/platform.h"
#include "io/ply.h"

namespace pc::io {

/// Reads the rows of binary PLY elements one after the other, which lists of different lengths require.
class PlyRowWalker {
 public:
  PlyRowWalker(const platform::File& file, std::uint64_t offset, bool swap_bytes)
      : file_(file), offset_(offset), swap_bytes_(swap_bytes) {}

  std::uint64_t offset() const { return offset_; }

  /// Skips a whole element. False if the file ends inside it.
  bool skip(const PlyElement& element, OpContext& ctx);

  /// Reads one row: scalar i to record + offsets[i] in file byte order; lists are skipped (record may be null). False
  /// if the file ends before the row. Throws kInvalidFile for a negative list count.
  bool read_row(const PlyElement& element, std::byte* record, const std::vector<std::size_t>& offsets);

  /// Reads one row: the values of its list `list` are appended to `out` as indices (kNoIndex for a value that is none),
  /// the rest is skipped. False if the file ends before the row. Throws kInvalidFile for a negative list count,
  /// kUnsupported beyond kMaxFaceCorners.
  bool read_list(const PlyElement& element, std::size_t list, BulkVector<std::uint32_t>& out);

 private:
  /// The next `bytes` (at most 8), or nullptr at the end of the file.
  const std::byte* take(std::size_t bytes);
  bool advance(std::uint64_t bytes);
  std::uint64_t list_count(const PlyProperty& property, const std::byte* at) const;

  const platform::File& file_;
  std::uint64_t offset_;
  bool swap_bytes_;
  BulkVector<std::byte> buffer_;
  std::uint64_t buffer_offset_ = 0;
  std::size_t held_ = 0;
};

/// Size of the scalars of a row, and whether it has lists; `shortest` counts every list as empty.
struct PlyRowSize {
  std::uint64_t scalars = 0;
  std::uint64_t shortest = 0;
  bool has_list = false;
};
PlyRowSize row_size(const PlyElement& element);

}  // namespace pc::io
