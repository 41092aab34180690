#pragma once
#include <cstdint>
#include <memory>

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

  /// Encodes `count` >= 1 records as a chunk, valid until the next call. `records` is not changed. Cancel: 1024 points.
  Span<const std::uint8_t> encode(std::uint8_t* records, std::size_t count, const OpContext& ctx);

 private:
  void append(Span<const std::uint8_t> bytes);
  void finish_layers(const std::uint8_t* first, std::size_t count);

  LazItems items_;
  std::unique_ptr<LayeredCodec<RangeEncoder>> layered_;
  std::unique_ptr<PointwiseCodec> pointwise_;
  RangeEncoder stream_;
  BulkVector<std::uint8_t> out_;
  std::size_t used_ = 0;
};

}  // namespace pc::io::laz
