#include "io/laz/chunk_decoder.h"

#include <algorithm>

#include "core/error.h"
#include "io/las_format.h"

namespace pc::io::laz {

namespace {

constexpr std::size_t kTileRows = 2048, kTileBytes = std::size_t{128} << 10;
constexpr std::size_t kPieceBytes = std::size_t{64} << 10;
/// An encoder may leave out this many zero bytes at the end: a decoder reads four before its first symbol, of which at
/// least one is written.
constexpr std::uint64_t kMaxMissing = 3;

/// The layers that contain a needed byte. x, y and the returns are in the first layer.
std::vector<bool> layers_of(const LazItems& items, const std::vector<bool>& used) {
  const auto any = [&](std::size_t from, std::size_t bytes) {
    return std::find(used.begin() + static_cast<std::ptrdiff_t>(from),
                     used.begin() + static_cast<std::ptrdiff_t>(from + bytes),
                     true) != used.begin() + static_cast<std::ptrdiff_t>(from + bytes);
  };
  std::vector<bool> layers = {true,       any(8, 4),  any(16, 1), any(15, 1), any(12, 2),
                              any(18, 2), any(17, 1), any(20, 2), any(22, 8)};
  if (items.rgb_at != 0) layers.push_back(any(items.rgb_at, 6));
  if (items.nir_at != 0) layers.push_back(any(items.nir_at, 2));
  if (items.wave_at != 0) layers.push_back(any(items.wave_at, WavePacketModel::kBytes));
  for (std::size_t i = 0; i < items.extra_bytes; ++i) layers.push_back(any(items.extra_at + i, 1));
  return layers;
}

}  // namespace

ChunkDecoder::ChunkDecoder(const platform::File& file, const LazItems& items,
                           const std::vector<bool>& used_bytes)
    : file_(file),
      items_(items),
      tile_rows_(std::clamp<std::size_t>(kTileBytes / items.record_bytes, 1, kTileRows)) {
  if (items.layered()) {
    wanted_layers_ = layers_of(items, used_bytes);
    layered_ = std::make_unique<LayeredCodec<RangeDecoder>>(items);
    head_.resize(layered_head_bytes(items, wanted_layers_.size()));
  } else {
    pointwise_ = std::make_unique<PointwiseCodec>(items);
    bytes_.resize(kPieceBytes);
  }
  records_.resize(tile_rows_ * items.record_bytes);
}

void ChunkDecoder::fail(const Chunk& chunk, const std::string& why) const {
  throw Error(ErrorCode::kInvalidFile,
              file_.path() + ": the chunk of points " + std::to_string(chunk.first_row) + " to " +
                  std::to_string(chunk.first_row + chunk.rows - 1) + " at byte " + std::to_string(chunk.at) +
                  ": " + why + "; the file is damaged, copy it again or restore it from its source");
}

void ChunkDecoder::read(const Chunk& chunk, std::uint64_t at, std::uint8_t* out, std::size_t bytes) const {
  if (file_.read_at(at, out, bytes) != bytes)
    fail(chunk, "the file ends before byte " + std::to_string(at + bytes));
}

void ChunkDecoder::start_layers(const Chunk& chunk) {
  const std::size_t layers = wanted_layers_.size();
  read(chunk, chunk.at, head_.data(), head_.size());
  const std::uint8_t* counts = head_.data() + items_.record_bytes;
  const auto rows = las::load<std::uint32_t>(counts);
  if (rows < chunk.rows) {
    fail(chunk,
         "it holds " + std::to_string(rows) + " points, the chunk table says " + std::to_string(chunk.rows));
  }
  std::uint64_t at = chunk.at + head_.size(), used = 0;
  std::vector<std::uint64_t> starts(layers);
  for (std::size_t i = 0; i < layers; ++i) {
    const auto bytes = las::load<std::uint32_t>(counts + kChunkCountBytes + 4 * i);
    starts[i] = at;
    at += bytes;
    layered_->on[i] = wanted_layers_[i] && bytes != 0;
    if (layered_->on[i] != 0) used += bytes;
  }
  if (at > chunk.end) {
    fail(chunk,
         "its layers end at byte " + std::to_string(at) + ", the chunk at byte " + std::to_string(chunk.end));
  }
  if (layered_->on[kXy] == 0 && chunk.rows > 1) fail(chunk, "its first layer, x and y, is empty");
  bytes_.reserve(static_cast<std::size_t>(used));
  std::uint8_t* to = bytes_.data();
  for (std::size_t i = 0; i < layers; ++i) {
    if (layered_->on[i] == 0) continue;
    const auto bytes = las::load<std::uint32_t>(counts + kChunkCountBytes + 4 * i);
    read(chunk, starts[i], to, bytes);
    layered_->coders[i].start(to, bytes);
    to += bytes;
  }
  layered_->begin(head_.data());
}

void ChunkDecoder::decode_layers(const Chunk& chunk, std::uint64_t from, std::uint64_t to,
                                 const RecordSink& sink, const OpContext& ctx) {
  start_layers(chunk);
  const std::uint64_t stop = std::min(chunk.rows, to - chunk.first_row);
  std::memcpy(records_.data(), head_.data(), items_.record_bytes);
  for (std::uint64_t row = 0; row < stop;) {
    ctx.checkpoint();
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(tile_rows_, stop - row));
    std::uint8_t* record = records_.data();
    for (std::size_t i = row == 0 ? 1 : 0; i < count; ++i) layered_->code(record + i * items_.record_bytes);
    for (std::size_t i = 0; i < wanted_layers_.size(); ++i) {
      if (layered_->on[i] != 0 && layered_->coders[i].missing() > kMaxMissing) {
        fail(chunk, "layer " + std::to_string(i + 1) + " ends before its points do");
      }
    }
    const std::uint64_t first = chunk.first_row + row;
    const std::uint64_t skip = from > first ? std::min<std::uint64_t>(from - first, count) : 0;
    if (skip < count) {
      sink(record + skip * items_.record_bytes, first + skip, count - static_cast<std::size_t>(skip));
    }
    row += count;
  }
}

void ChunkDecoder::decode(const Chunk& chunk, std::uint64_t from, std::uint64_t to, const RecordSink& sink,
                          const OpContext& ctx) {
  if (items_.layered()) return decode_layers(chunk, from, to, sink, ctx);
  const Stream stream = decode_open(chunk, from, to, sink, ctx);
  if (stream.rows < std::min(chunk.rows, to - chunk.first_row)) {
    fail(chunk, "its bytes end after " + std::to_string(stream.rows) + " points");
  }
}

ChunkDecoder::Stream ChunkDecoder::decode_open(const Chunk& chunk, std::uint64_t from, std::uint64_t to,
                                               const RecordSink& sink, const OpContext& ctx) {
  const std::size_t stride = items_.record_bytes;
  const std::uint64_t stop = std::min(chunk.rows, to - chunk.first_row);
  std::uint8_t* record = records_.data();
  FileBytes source(file_, chunk.at, chunk.end);
  for (std::size_t got = 0; got < stride;) {
    const std::size_t more = source.read(record + got, stride - got);
    if (more == 0) return {0, 0, chunk.at, 0};
    got += more;
  }
  pointwise_->begin(record);
  stream_.start(bytes_.data(), 0, &source, bytes_.data(), bytes_.size());
  std::uint64_t sure = stream_.missing() == 0 ? chunk.rows : 1;  // rows decoded before a byte was missing
  for (std::uint64_t row = 0; row < stop;) {
    ctx.checkpoint();
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(tile_rows_, stop - row));
    std::size_t i = row == 0 ? 1 : 0;
    for (; i < count && stream_.missing() <= kMaxMissing; ++i) {
      pointwise_->decode(stream_, record + i * stride);
      if (stream_.missing() != 0 && sure == chunk.rows) [[unlikely]]
        sure = row + i;
    }
    const bool short_of = stream_.missing() > kMaxMissing;
    const std::uint64_t first = chunk.first_row + row;
    const std::uint64_t end = short_of ? std::min(first + i, chunk.first_row + sure) : first + i;
    const std::uint64_t begin = std::max(first, from);
    if (begin < end) sink(record + (begin - first) * stride, begin, static_cast<std::size_t>(end - begin));
    if (short_of) return {sure, sure, 0, stream_.missing()};
    row += count;
  }
  return {stop, std::min(sure, stop), source.at() - stream_.unread(), stream_.missing()};
}

}  // namespace pc::io::laz
