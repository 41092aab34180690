#pragma once
#include <algorithm>
#include <memory>
#include <vector>

#include "core/op_context.h"
#include "io/las_builder.h"
#include "io/laz/chunk_encoder.h"
#include "io/laz/integer_model.h"
#include "io/laz/laz_items.h"
#include "io/laz/range_encoder.h"

/// Converts LAS files to every kind of LAZ file that a reader meets, including kinds that this program never writes.
namespace pc::las_test {

enum class ChunkTable { kNormal, kPositionAtEnd, kZeroAndAtEnd, kNone, kPointsBeyond };

struct LazOptions {
  std::uint32_t chunk_rows = 50000;
  bool variable = false;    ///< chunks of chunk_rows, chunk_rows + 1, ... rows
  bool pointwise = false;   ///< compressor 1: one stream, no chunks, no table
  int layered_version = 3;  ///< 2, 3 or 4
  ChunkTable table = ChunkTable::kNormal;
  std::uint32_t last_chunk_lie = 0;  ///< the table states so many bytes less for the last chunk
};

/// Records that look like a scan: each byte and coordinate a little different from the point before.
inline void scan_points(LasFile& file, std::uint64_t n, std::uint64_t seed) {
  file.random_points(n, seed);
  const std::size_t stride = file.record_bytes();
  for (std::size_t i = stride; i < file.points.size(); i += stride) {
    std::uint8_t* record = file.points.data() + i;
    const std::uint8_t* last = record - stride;
    for (std::size_t k = 0; k < stride; ++k) {
      const std::uint64_t dice = random_u64(seed + 1, i + k);
      record[k] =
          static_cast<std::uint8_t>(last[k] + (dice % 8 == 0 ? static_cast<int>(dice >> 8 & 3) - 1 : 0));
    }
    for (std::size_t axis = 0; axis < 3; ++axis) {
      std::int32_t value;
      std::memcpy(&value, last + 4 * axis, sizeof value);
      const std::uint64_t dice = random_u64(seed + 2, i + axis);
      const std::uint32_t step = dice % 97 == 0 ? static_cast<std::uint32_t>(dice >> 20)
                                                : static_cast<std::uint32_t>(dice >> 20 & 1023) - 500U;
      value = static_cast<std::int32_t>(static_cast<std::uint32_t>(value) + step);
      std::memcpy(record + 4 * axis, &value, sizeof value);
    }
  }
}

inline Bytes table_bytes(const std::vector<std::uint32_t>& rows, const std::vector<std::uint32_t>& bytes,
                         bool variable) {
  Bytes out(8);
  put(out, 4, static_cast<std::uint32_t>(bytes.size()));
  io::laz::RangeEncoder encoder;
  encoder.start();
  auto model = std::make_unique<io::laz::IntegerModel<32, 2>>();
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (variable) model->code(encoder, i == 0 ? 0 : rows[i - 1], rows[i], 0);
    model->code(encoder, i == 0 ? 0 : bytes[i - 1], bytes[i], 1);
  }
  const auto coded = encoder.finish();
  out.insert(out.end(), coded.begin(), coded.end());
  return out;
}

/// The LASzip record of a file according to `options`.
inline Record laszip_record(const LasFile& file, const LazOptions& options) {
  Bytes payload = io::laz::items_payload(file.format, file.record_bytes());
  put(payload, 12, options.variable ? 0xFFFFFFFFU : options.chunk_rows);
  if (options.pointwise) put(payload, 0, std::uint16_t{1});
  if (file.format >= 6) {
    for (std::size_t at = 38; at < payload.size(); at += 6) {
      put(payload, at, static_cast<std::uint16_t>(options.layered_version));
    }
  }
  return {io::laz::kVlrUser, io::laz::kVlrId, payload};
}

/// The compressed points from the position of the chunk table on; `at` is their byte in the file.
inline Bytes compressed_points(const LasFile& file, const LazOptions& options, std::uint64_t at) {
  io::laz::LazItems items = io::laz::written_items(file.format, file.record_bytes());
  if (file.format >= 6) {
    items.point_version = items.rgb_version = items.wave_version = items.extra_version =
        options.layered_version;
  }
  JobControl control;
  const OpContext ctx(control, Device::kCpu, 1);
  io::laz::ChunkEncoder encoder(items);
  std::vector<std::uint32_t> rows, bytes;
  Bytes out(options.pointwise ? 0 : 8), points = file.points;
  for (std::uint64_t row = 0; row < file.count;) {
    std::uint64_t count =
        options.pointwise ? file.count : options.chunk_rows + (options.variable ? rows.size() : 0);
    count = std::min(count, file.count - row);
    encoder.start();
    encoder.add(points.data() + row * file.record_bytes(), static_cast<std::size_t>(count), ctx);
    const auto chunk = encoder.finish();
    out.insert(out.end(), chunk.begin(), chunk.end());
    rows.push_back(static_cast<std::uint32_t>(count));
    bytes.push_back(static_cast<std::uint32_t>(chunk.size));
    row += count;
  }
  if (options.pointwise) return out;
  const auto table_at = static_cast<std::int64_t>(at + out.size());
  if (!bytes.empty()) bytes.back() -= options.last_chunk_lie;
  if (options.table != ChunkTable::kNone) append(out, table_bytes(rows, bytes, options.variable));
  put(out, 0,
      options.table == ChunkTable::kNormal         ? table_at
      : options.table == ChunkTable::kPointsBeyond ? table_at + (std::int64_t{1} << 40)
      : options.table == ChunkTable::kZeroAndAtEnd ? 0
                                                   : std::int64_t{-1});
  if (options.table == ChunkTable::kPositionAtEnd || options.table == ChunkTable::kZeroAndAtEnd) {
    put(out, out.size(), table_at);
  }
  return out;
}

/// `file` as LAZ.
inline Bytes compress(const LasFile& file, const LazOptions& options = {}) {
  LasFile plain = file;
  plain.vlrs.push_back(laszip_record(file, options));
  plain.points.clear();
  plain.evlrs.clear();
  Bytes head = plain.build();
  LasFile whole = file;
  whole.vlrs = plain.vlrs;
  whole.points = compressed_points(file, options, head.size());
  Bytes bytes = whole.build();
  bytes[104] |= 128;
  return bytes;
}

}  // namespace pc::las_test
