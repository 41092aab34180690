#include "io/laz/chunk_decoder.h"

#include <algorithm>
#include <array>

#include "core/error.h"
#include "io/las_format.h"
#include "io/laz/layer_passes.h"

namespace pc::io::laz {

namespace {

constexpr std::size_t kTileRows = LayeredCodec<RangeDecoder>::kTileRows, kTileBytes = std::size_t{128} << 10;
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
  if (items.layered()) wanted_layers_ = layers_of(items, used_bytes);
  lanes_.push_back(make_lane());
}

ChunkDecoder::Lane ChunkDecoder::make_lane() const {
  Lane lane;
  if (items_.layered()) {
    lane.layered = std::make_unique<LayeredCodec<RangeDecoder>>(items_);
    lane.head.resize(layered_head_bytes(items_, wanted_layers_.size()));
  } else {
    lane.pointwise = std::make_unique<PointwiseCodec>(items_);
    lane.bytes.resize(kPieceBytes);
  }
  lane.records.resize(tile_rows_ * items_.record_bytes);
  return lane;
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

/// Reads the layers in use and sets all records of the tile to the first one.
void ChunkDecoder::start_layers(Lane& lane, const Chunk& chunk) const {
  const std::size_t layers = wanted_layers_.size();
  LayeredCodec<RangeDecoder>& codec = *lane.layered;
  read(chunk, chunk.at, lane.head.data(), lane.head.size());
  const std::uint8_t* counts = lane.head.data() + items_.record_bytes;
  const auto rows = las::load<std::uint32_t>(counts);
  if (rows < chunk.rows) {
    fail(chunk,
         "it holds " + std::to_string(rows) + " points, the chunk table says " + std::to_string(chunk.rows));
  }
  std::uint64_t at = chunk.at + lane.head.size(), used = 0;
  std::vector<std::uint64_t> starts(layers);
  for (std::size_t i = 0; i < layers; ++i) {
    const auto bytes = las::load<std::uint32_t>(counts + kChunkCountBytes + 4 * i);
    starts[i] = at;
    at += bytes;
    codec.on[i] = wanted_layers_[i] && bytes != 0;
    if (codec.on[i] != 0) used += bytes;
  }
  if (at > chunk.end) {
    fail(chunk,
         "its layers end at byte " + std::to_string(at) + ", the chunk at byte " + std::to_string(chunk.end));
  }
  if (codec.on[kXy] == 0 && chunk.rows > 1) fail(chunk, "its first layer, x and y, is empty");
  lane.bytes.reserve(static_cast<std::size_t>(used));
  std::uint8_t* to = lane.bytes.data();
  for (std::size_t i = 0; i < layers; ++i) {
    if (codec.on[i] == 0) continue;
    const auto bytes = las::load<std::uint32_t>(counts + kChunkCountBytes + 4 * i);
    read(chunk, starts[i], to, bytes);
    codec.coders[i].start(to, bytes);
    to += bytes;
  }
  codec.begin(lane.head.data());
  const std::size_t stride = items_.record_bytes;
  for (std::size_t i = 0; i < tile_rows_; ++i)
    std::memcpy(lane.records.data() + i * stride, lane.head.data(), stride);
}

/// Hands over the records of a tile, which starts at row `row` of the chunk.
void ChunkDecoder::finish_tile(const Lane& lane, const Chunk& chunk, std::uint64_t row, std::size_t count,
                               std::uint64_t from, const RecordSink& sink) const {
  for (std::size_t i = 0; i < wanted_layers_.size(); ++i) {  // none in a pointwise chunk
    if (lane.layered->on[i] != 0 && lane.layered->coders[i].missing() > kMaxMissing) {
      fail(chunk, "layer " + std::to_string(i + 1) + " ends before its points do");
    }
  }
  const std::uint64_t first = chunk.first_row + row;
  const std::uint64_t skip = from > first ? std::min<std::uint64_t>(from - first, count) : 0;
  if (skip < count) {
    sink(lane.records.data() + skip * items_.record_bytes, first + skip,
         count - static_cast<std::size_t>(skip));
  }
}

/// Decodes a started chunk from row `row` on.
void ChunkDecoder::decode_layers(Lane& lane, const Chunk& chunk, std::uint64_t row, std::uint64_t from,
                                 std::uint64_t to, const RecordSink& sink, const OpContext& ctx) const {
  const std::uint64_t stop = std::min(chunk.rows, to - chunk.first_row);
  while (row < stop) {
    ctx.checkpoint();
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(tile_rows_, stop - row));
    const std::size_t known = row == 0 ? 1 : 0;  // the first record is stored uncompressed
    LayerPasses<RangeDecoder>::code<1>(
        {{{lane.layered.get(), lane.records.data() + known * items_.record_bytes}}}, count - known);
    finish_tile(lane, chunk, row, count, from, sink);
    row += count;
  }
}

void ChunkDecoder::decode(const Chunk& chunk, std::uint64_t from, std::uint64_t to, const RecordSink& sink,
                          const OpContext& ctx) {
  if (items_.layered()) {
    start_layers(lanes_[0], chunk);
    return decode_layers(lanes_[0], chunk, 0, from, to, sink, ctx);
  }
  const Stream stream = decode_open(chunk, from, to, sink, ctx);
  if (stream.rows < std::min(chunk.rows, to - chunk.first_row)) {
    fail(chunk, "its bytes end after " + std::to_string(stream.rows) + " points");
  }
}

void ChunkDecoder::decode_both(const Chunk& a, const Chunk& b, std::uint64_t from, std::uint64_t to,
                               const RecordSink& sink, const OpContext& ctx) {
  if (lanes_.size() < 2) lanes_.push_back(make_lane());
  if (!items_.layered()) {
    if (decode_both_streams(a, b, from, to, sink, ctx)) return;
    decode(a, from, to, sink, ctx);
    return decode(b, from, to, sink, ctx);
  }
  Lane &first = lanes_[0], &second = lanes_[1];
  start_layers(first, a);
  start_layers(second, b);
  const std::uint64_t stop = std::min({a.rows, to - a.first_row, b.rows, to - b.first_row});
  const std::size_t stride = items_.record_bytes;
  std::uint64_t row = 0;
  while (row < stop) {
    ctx.checkpoint();
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(tile_rows_, stop - row));
    const std::size_t known = row == 0 ? 1 : 0;
    LayerPasses<RangeDecoder>::code<2>({{{first.layered.get(), first.records.data() + known * stride},
                                         {second.layered.get(), second.records.data() + known * stride}}},
                                       count - known);
    finish_tile(first, a, row, count, from, sink);
    finish_tile(second, b, row, count, from, sink);
    row += count;
  }
  decode_layers(first, a, row, from, to, sink, ctx);
  decode_layers(second, b, row, from, to, sink, ctx);
}

bool ChunkDecoder::decode_both_streams(const Chunk& a, const Chunk& b, std::uint64_t from, std::uint64_t to,
                                       const RecordSink& sink, const OpContext& ctx) {
  const std::array<const Chunk*, 2> chunks = {&a, &b};
  const std::size_t stride = items_.record_bytes;
  std::array<FileBytes, 2> sources = {FileBytes(file_, a.at, a.end), FileBytes(file_, b.at, b.end)};
  std::array<std::uint64_t, 2> stops;
  for (std::size_t t = 0; t < 2; ++t) {
    Lane& lane = lanes_[t];
    if (sources[t].read(lane.records.data(), stride) != stride) return false;
    lane.pointwise->begin(lane.records.data());
    lane.stream.start(lane.bytes.data(), 0, &sources[t], lane.bytes.data(), lane.bytes.size());
    stops[t] = std::min(chunks[t]->rows, to - chunks[t]->first_row);
  }
  const std::uint64_t both = std::min(stops[0], stops[1]);
  for (std::uint64_t row = 0; row < std::max(stops[0], stops[1]);) {
    ctx.checkpoint();
    const std::uint64_t left = row < both ? both - row : std::max(stops[0], stops[1]) - row;
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(tile_rows_, left));
    const std::size_t alone = stops[0] > both ? 0 : 1;
    for (std::size_t i = row == 0 ? 1 : 0; i < count; ++i) {
      if (row < both) {
        PointwiseCodec::decode_both(*lanes_[0].pointwise, lanes_[0].stream,
                                    lanes_[0].records.data() + i * stride, *lanes_[1].pointwise,
                                    lanes_[1].stream, lanes_[1].records.data() + i * stride);
      } else {
        lanes_[alone].pointwise->decode(lanes_[alone].stream, lanes_[alone].records.data() + i * stride);
      }
    }
    for (std::size_t t = 0; t < 2; ++t) {
      if (row >= stops[t]) continue;
      if (lanes_[t].stream.missing() > kMaxMissing) return false;
      finish_tile(lanes_[t], *chunks[t], row, count, from, sink);
    }
    row += count;
  }
  return true;
}

ChunkDecoder::Stream ChunkDecoder::decode_open(const Chunk& chunk, std::uint64_t from, std::uint64_t to,
                                               const RecordSink& sink, const OpContext& ctx) {
  const std::size_t stride = items_.record_bytes;
  const std::uint64_t stop = std::min(chunk.rows, to - chunk.first_row);
  std::uint8_t* record = lanes_[0].records.data();
  RangeDecoder& in = lanes_[0].stream;
  BulkVector<std::uint8_t>& bytes = lanes_[0].bytes;
  PointwiseCodec& codec = *lanes_[0].pointwise;
  FileBytes source(file_, chunk.at, chunk.end);
  for (std::size_t got = 0; got < stride;) {
    const std::size_t more = source.read(record + got, stride - got);
    if (more == 0) return {0, 0, chunk.at, 0};
    got += more;
  }
  codec.begin(record);
  in.start(bytes.data(), 0, &source, bytes.data(), bytes.size());
  std::uint64_t sure = in.missing() == 0 ? chunk.rows : 1;  // rows decoded before a byte was missing
  for (std::uint64_t row = 0; row < stop;) {
    ctx.checkpoint();
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(tile_rows_, stop - row));
    std::size_t i = row == 0 ? 1 : 0;
    for (; i < count && in.missing() <= kMaxMissing; ++i) {
      codec.decode(in, record + i * stride);
      if (in.missing() != 0 && sure == chunk.rows) [[unlikely]]
        sure = row + i;
    }
    const bool short_of = in.missing() > kMaxMissing;
    const std::uint64_t first = chunk.first_row + row;
    const std::uint64_t end = short_of ? std::min(first + i, chunk.first_row + sure) : first + i;
    const std::uint64_t begin = std::max(first, from);
    if (begin < end) sink(record + (begin - first) * stride, begin, static_cast<std::size_t>(end - begin));
    if (short_of) return {sure, sure, 0, in.missing()};
    row += count;
  }
  return {stop, std::min(sure, stop), source.at() - in.unread(), in.missing()};
}

}  // namespace pc::io::laz
