#include "io/laz/laz_items.h"

#include <algorithm>

#include "core/error.h"
#include "io/las_format.h"

namespace pc::io::laz {

namespace {

/// Item types of the LASzip record.
enum ItemType : std::uint16_t {
  kByte = 0,
  kPoint10 = 6,
  kGpsTime11 = 7,
  kRgb12 = 8,
  kWavePacket13 = 9,
  kPoint14 = 10,
  kRgb14 = 11,
  kRgbNir14 = 12,
  kWavePacket14 = 13,
  kByte14 = 14
};

struct Item {
  std::uint16_t type, bytes, version;
};
constexpr std::size_t kHeadBytes = 34, kItemBytes = 6;
constexpr std::size_t kMaxChunkRecordBytes = std::size_t{16} << 20;

std::uint16_t written_version(std::uint16_t type) {
  return type >= kPoint14 ? 3 : type == kWavePacket13 ? 1 : 2;
}

/// The items of a record of this format, in order; with version 0.
std::vector<Item> expected_items(int point_format, std::size_t record_bytes) {
  const las::PointLayout& layout = las::kPointLayouts[point_format];
  std::vector<Item> items;
  if (point_format >= 6) {
    items.push_back({kPoint14, 30, 0});
    if (layout.nir != 0) {
      items.push_back({kRgbNir14, 8, 0});
    } else if (layout.rgb != 0) {
      items.push_back({kRgb14, 6, 0});
    }
    if (layout.wave != 0) items.push_back({kWavePacket14, 29, 0});
  } else {
    items.push_back({kPoint10, 20, 0});
    if (layout.gps_time != 0) items.push_back({kGpsTime11, 8, 0});
    if (layout.rgb != 0) items.push_back({kRgb12, 6, 0});
    if (layout.wave != 0) items.push_back({kWavePacket13, 29, 0});
  }
  if (record_bytes > layout.bytes) {
    items.push_back({static_cast<std::uint16_t>(point_format >= 6 ? kByte14 : kByte),
                     static_cast<std::uint16_t>(record_bytes - layout.bytes), 0});
  }
  return items;
}

bool version_known(const Item& item) {
  if (item.type == kWavePacket13) return item.version == 1;
  if (item.type >= kPoint14)
    return item.version >= 2 && item.version <= 4;  // 2: prototype of 3, same streams
  return item.version == 1 || item.version == 2;
}

LazItems layout_of(int point_format, std::size_t record_bytes) {
  const las::PointLayout& layout = las::kPointLayouts[point_format];
  LazItems items;
  items.point_format = point_format;
  items.record_bytes = record_bytes;
  items.extra_bytes = record_bytes - layout.bytes;
  items.gps_at = layout.gps_time;
  items.rgb_at = layout.rgb;
  items.nir_at = layout.nir;
  items.wave_at = layout.wave;
  items.extra_at = items.extra_bytes == 0 ? std::uint16_t{0} : layout.bytes;
  return items;
}

void set_version(LazItems& items, const Item& item) {
  const int version = item.version;
  switch (item.type) {
    case kPoint10:
    case kPoint14:
      items.point_version = version;
      break;
    case kGpsTime11:
      items.gps_version = version;
      break;
    case kRgb12:
    case kRgb14:
    case kRgbNir14:
      items.rgb_version = version;
      break;
    case kWavePacket13:
    case kWavePacket14:
      items.wave_version = version;
      break;
    default:
      items.extra_version = version;
  }
}

/// Checks that depend on compressor and items together.
template <class Fail>
void check_compressor(const LazItems& items, const Fail& fail) {
  if (items.layered() != (items.point_format >= 6)) {
    fail(ErrorCode::kUnsupported, 0,
         "compressor " + std::to_string(static_cast<int>(items.compressor)) + " for point format " +
             std::to_string(items.point_format) +
             "; formats 0 to 5 are pointwise (1, 2), 6 to 10 layered (3)");
  }
  if (items.compressor != Compressor::kPointwise && items.chunk_rows == 0) {
    fail(ErrorCode::kInvalidFile, 12, "chunks of 0 points; the file is damaged");
  }
  if (items.extra_bytes > kMaxExtraBytes) {
    fail(ErrorCode::kUnsupported, 0,
         std::to_string(items.extra_bytes) + " extra bytes a point; at most " +
             std::to_string(kMaxExtraBytes) + " are decompressed. Decompress the file to .las first");
  }
}

}  // namespace

LazItems parse_items(const std::string& path, std::uint64_t at, Span<const std::uint8_t> payload,
                     int point_format, std::size_t record_bytes) {
  const auto fail = [&](ErrorCode code, std::size_t offset, const std::string& why) {
    throw Error(code, path + ": the LASzip record at byte " + std::to_string(at) + ": " + why + " (byte " +
                          std::to_string(at + offset) + ")");
  };
  if (payload.size < kHeadBytes) {
    fail(ErrorCode::kInvalidFile, 0,
         std::to_string(payload.size) + " bytes, at least 34 are needed; the file is damaged");
  }
  const auto compressor = las::load<std::uint16_t>(payload.data);
  const auto coder = las::load<std::uint16_t>(payload.data + 2);
  if (compressor < 1 || compressor > 3) {
    fail(ErrorCode::kUnsupported, 0, "compressor " + std::to_string(compressor) + "; 1 to 3 are read");
  }
  if (coder != 0) {
    fail(ErrorCode::kUnsupported, 2,
         "coder " + std::to_string(coder) + "; only 0, arithmetic coding, exists");
  }
  LazItems items = layout_of(point_format, record_bytes);
  items.compressor = static_cast<Compressor>(compressor);
  items.chunk_rows = las::load<std::uint32_t>(payload.data + 12);
  const std::vector<Item> expected = expected_items(point_format, record_bytes);
  const std::size_t count = las::load<std::uint16_t>(payload.data + 32);
  const std::string format = "point format " + std::to_string(point_format) + " with records of " +
                             std::to_string(record_bytes) + " bytes";
  if (count != expected.size() || payload.size < kHeadBytes + count * kItemBytes) {
    fail(ErrorCode::kInvalidFile, 32,
         std::to_string(count) + " items, but " + format + " has " + std::to_string(expected.size()));
  }
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t offset = kHeadBytes + i * kItemBytes;
    const auto item = las::load<Item>(payload.data + offset);
    const std::string what = "item " + std::to_string(i + 1) + " has type " + std::to_string(item.type) +
                             ", " + std::to_string(item.bytes) + " bytes, version " +
                             std::to_string(item.version);
    if (item.type != expected[i].type || item.bytes != expected[i].bytes) {
      fail(ErrorCode::kInvalidFile, offset,
           what + "; " + format + " needs type " + std::to_string(expected[i].type) + " with " +
               std::to_string(expected[i].bytes) + " bytes there");
    }
    if (!version_known(item)) {
      fail(ErrorCode::kUnsupported, offset + 4, what + "; this version of it is not known");
    }
    set_version(items, item);
  }
  check_compressor(items, fail);
  return items;
}

LazItems written_items(int point_format, std::size_t record_bytes) {
  LazItems items = layout_of(point_format, record_bytes);
  items.compressor = point_format >= 6 ? Compressor::kLayered : Compressor::kChunked;
  items.chunk_rows =
      std::min(kDefaultChunkRows, static_cast<std::uint32_t>(kMaxChunkRecordBytes / record_bytes));
  for (Item item : expected_items(point_format, record_bytes)) {
    item.version = written_version(item.type);
    set_version(items, item);
  }
  return items;
}

std::vector<std::uint8_t> items_payload(int point_format, std::size_t record_bytes) {
  const LazItems written = written_items(point_format, record_bytes);
  std::vector<Item> items = expected_items(point_format, record_bytes);
  std::vector<std::uint8_t> out(kHeadBytes + items.size() * kItemBytes);
  las::store(out.data(), static_cast<std::uint16_t>(written.compressor));
  out[4] = written.layered() ? 3 : 2;  // the software version that introduced these items: 3.4 and 2.2
  out[5] = written.layered() ? 4 : 2;
  las::store(out.data() + 12, written.chunk_rows);
  las::store(out.data() + 16, std::int64_t{-1});
  las::store(out.data() + 24, std::int64_t{-1});
  las::store(out.data() + 32, static_cast<std::uint16_t>(items.size()));
  for (std::size_t i = 0; i < items.size(); ++i) {
    items[i].version = written_version(items[i].type);
    las::store(out.data() + kHeadBytes + i * kItemBytes, items[i]);
  }
  return out;
}

}  // namespace pc::io::laz
