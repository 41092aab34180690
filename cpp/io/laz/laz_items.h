#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/span.h"

namespace pc::io::laz {

constexpr const char* kVlrUser = "laszip encoded";
constexpr std::uint16_t kVlrId = 22204;
constexpr std::uint32_t kDefaultChunkRows = 50000;
constexpr std::uint32_t kVariableChunks = 0xFFFFFFFFU;
/// Limit of extra bytes per point: each needs a distribution of 1.2 KiB for each scanner channel.
constexpr std::size_t kMaxExtraBytes = 2048;

/// Compressor of the LASzip record.
enum class Compressor : std::uint16_t { kPointwise = 1, kChunked = 2, kLayered = 3 };

/// How the records of a file are compressed: the LASzip record, checked against the point format. Items that the
/// records do not have are version 0.
struct LazItems {
  Compressor compressor = Compressor::kChunked;
  std::uint32_t chunk_rows = kDefaultChunkRows;  ///< kVariableChunks: the chunk table states the rows
  int point_format = 0;
  std::size_t record_bytes = 0;
  std::size_t extra_bytes = 0;
  std::uint16_t gps_at = 0, rgb_at = 0, nir_at = 0, wave_at = 0, extra_at = 0;  ///< byte offsets; 0 = absent
  int point_version = 0, gps_version = 0, rgb_version = 0, wave_version = 0, extra_version = 0;

  bool layered() const { return compressor == Compressor::kLayered; }
};

/// Reads and checks the payload of a LASzip record.
///
///   offset size  meaning
///   0      2     compressor: 1 pointwise, 2 pointwise in chunks, 3 layered in chunks
///   2      2     coder: 0 arithmetic
///   4      4     version of the software: major, minor, revision (2)
///   8      4     options
///   12     4     rows per chunk; 2^32 - 1 = chunks of variable size
///   16     16    number and offset of special EVLRs, or -1
///   32     2     number of items
///   34     6 each  item type, bytes, version
///
/// Errors   kInvalidFile, kUnsupported; the message starts with `path` and gives the field, its value and the rule.
/// Source   LASzip specification, "LASzip VLR".
LazItems parse_items(const std::string& path, std::uint64_t at, Span<const std::uint8_t> payload,
                     int point_format, std::size_t record_bytes);

/// The items of written files: version 2 in chunks for formats 0 to 3, version 3 in layers for 6 to 8. Chunks have
/// 50000 points, or fewer if 16 MiB of records hold fewer.
LazItems written_items(int point_format, std::size_t record_bytes);

/// Payload of the LASzip record of written_items().
std::vector<std::uint8_t> items_payload(int point_format, std::size_t record_bytes);

}  // namespace pc::io::laz
