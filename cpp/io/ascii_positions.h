#pragma once
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "core/column.h"
#include "core/memory.h"
#include "core/op_context.h"
#include "core/vec3.h"

namespace pc::io {

/// Joins the positions of the chunks of a table in file order while other chunks are still being parsed, so that the
/// buffers of few chunks are in use at a time. Thread-safe up to take().
class PositionJoin {
 public:
  /// `expected` rows: space for them is reserved; the pages are used as rows arrive. Chunks beyond it wait for take().
  PositionJoin(std::size_t chunks, std::size_t expected) : chunks_(chunks), column_(expected) {}

  std::uint64_t reserved_bytes() const { return column_.bytes(); }
  /// A buffer for the positions of a chunk, of any size.
  BulkVector<Vec3d> buffer();
  /// Takes over a chunk's buffer, of which the first `rows` are its positions.
  void finish(std::size_t chunk, std::size_t rows, BulkVector<Vec3d>&& positions);
  /// All positions, `rows` in total; chunks that were not finished have none. No call may follow.
  Column<Vec3d> take(std::size_t rows, OpContext& ctx);

 private:
  struct Chunk {
    BulkVector<Vec3d> positions;
    std::size_t rows = 0, first = 0;
    bool finished = false;
  };

  std::mutex mutex_;
  std::vector<Chunk> chunks_;
  std::vector<BulkVector<Vec3d>> free_;
  std::size_t next_ = 0;    ///< first chunk whose first row is not known yet
  std::size_t rows_ = 0;    ///< of the chunks before it
  std::size_t joined_ = 0;  ///< rows in `column_`
  Column<Vec3d> column_;
};

}  // namespace pc::io
