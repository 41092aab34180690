#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "core/memory.h"
#include "core/op_context.h"
#include "core/platform.h"
#include "io/laz/chunk_table.h"
#include "io/laz/layered_codec.h"
#include "io/laz/laz_items.h"
#include "io/laz/pointwise_codec.h"
#include "io/laz/range_decoder.h"

namespace pc::io::laz {

/// Receives `count` records, the first of which is row `first_row` of the file.
using RecordSink =
    std::function<void(const std::uint8_t* records, std::uint64_t first_row, std::size_t count)>;

/// Decodes chunks one at a time; one object per thread. Allocates no memory per point.
class ChunkDecoder {
 public:
  /// used_bytes  the bytes of a record that are needed; layers without such a byte are skipped.
  ChunkDecoder(const platform::File& file, const LazItems& items, const std::vector<bool>& used_bytes);

  /// Decodes those of rows [from, to) of the file that are in `chunk`.
  void decode(const Chunk& chunk, std::uint64_t from, std::uint64_t to, const RecordSink& sink,
              const OpContext& ctx);
  /// As decode() for each of two chunks, at the same time: faster than one after the other, because each symbol of a
  /// chunk waits for the previous one.
  void decode_both(const Chunk& a, const Chunk& b, std::uint64_t from, std::uint64_t to,
                   const RecordSink& sink, const OpContext& ctx);

  struct Stream {
    std::uint64_t rows = 0;     ///< rows decoded; some may be wrong if `missing` is not 0
    std::uint64_t sure = 0;     ///< rows decoded before the first byte was missing
    std::uint64_t next_at = 0;  ///< byte after the chunk
    std::uint64_t missing = 0;  ///< number of bytes missing at the end of the stream
  };
  /// Decodes rows [from, to) of a pointwise chunk whose end is unknown; stops at the end of the bytes.
  Stream decode_open(const Chunk& chunk, std::uint64_t from, std::uint64_t to, const RecordSink& sink,
                     const OpContext& ctx);

 private:
  /// A chunk being decoded.
  struct Lane {
    std::unique_ptr<LayeredCodec<RangeDecoder>> layered;
    std::unique_ptr<PointwiseCodec> pointwise;
    RangeDecoder stream;
    std::vector<std::uint8_t> head;
    BulkVector<std::uint8_t> bytes;    ///< layered: the layers in use; pointwise: the piece being decoded
    BulkVector<std::uint8_t> records;  ///< one tile
  };

  Lane make_lane() const;
  void start_layers(Lane& lane, const Chunk& chunk) const;
  void finish_tile(const Lane& lane, const Chunk& chunk, std::uint64_t row, std::size_t count,
                   std::uint64_t from, const RecordSink& sink) const;
  void decode_layers(Lane& lane, const Chunk& chunk, std::uint64_t row, std::uint64_t from, std::uint64_t to,
                     const RecordSink& sink, const OpContext& ctx) const;
  /// Two pointwise chunks; false if the bytes of one end early.
  bool decode_both_streams(const Chunk& a, const Chunk& b, std::uint64_t from, std::uint64_t to,
                           const RecordSink& sink, const OpContext& ctx);
  [[noreturn]] void fail(const Chunk& chunk, const std::string& why) const;
  void read(const Chunk& chunk, std::uint64_t at, std::uint8_t* out, std::size_t bytes) const;

  const platform::File& file_;
  LazItems items_;
  std::size_t tile_rows_;
  std::vector<bool> wanted_layers_;
  std::vector<Lane> lanes_;  ///< the second is made when it is needed
};

}  // namespace pc::io::laz
