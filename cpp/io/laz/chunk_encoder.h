#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "core/memory.h"
#include "core/op_context.h"
#include "core/span.h"
#include "io/laz/layered_codec.h"
#include "io/laz/laz_items.h"
#include "io/laz/pointwise_codec.h"
#include "io/laz/range_encoder.h"

namespace pc::io::laz {

/// Compresses chunks one at a time; one object per thread. Allocates no memory per point.
class ChunkEncoder {
 public:
  /// `items` of version 2 (pointwise; waveforms 1) or versions 3 and 4 (layered).
  explicit ChunkEncoder(const LazItems& items);

  /// Starts a chunk.
  void start();
  /// Encodes the next `count` records of the chunk. `records` is not changed. Cancel: 1024 points.
  void add(std::uint8_t* records, std::size_t count, const OpContext& ctx);
  /// The bytes of the chunk, which has at least one record; valid until the next start().
  Span<const std::uint8_t> finish();

 private:
  void append(Span<const std::uint8_t> bytes);
  void finish_layers();
  void begin(const std::uint8_t* first);

  LazItems items_;
  std::unique_ptr<LayeredCodec<RangeEncoder>> layered_;
  std::unique_ptr<PointwiseCodec> pointwise_;
  std::vector<RangeEncoder*> streams_;  ///< of the layers, in any order
  RangeEncoder stream_;
  std::vector<std::uint8_t> first_;  ///< the first record of the chunk
  std::uint64_t count_ = 0;          ///< records of the chunk so far
  BulkVector<std::uint8_t> out_;
  std::size_t used_ = 0;
};

}  // namespace pc::io::laz
