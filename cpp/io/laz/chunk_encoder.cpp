#include "io/laz/chunk_encoder.h"

#include <algorithm>
#include <vector>

#include "io/las_format.h"
#include "io/laz/chunk_table.h"
#include "io/laz/layer_passes.h"

namespace pc::io::laz {

namespace {

constexpr std::size_t kPollRows = LayeredCodec<RangeEncoder>::kTileRows;

}  // namespace

ChunkEncoder::ChunkEncoder(const LazItems& items) : items_(items) {
  if (items.layered()) {
    layered_ = std::make_unique<LayeredCodec<RangeEncoder>>(items);
    for (RangeEncoder& coder : layered_->coders) streams_.push_back(&coder);
  } else {
    pointwise_ = std::make_unique<PointwiseCodec>(items);
  }
}

void ChunkEncoder::append(Span<const std::uint8_t> bytes) {
  if (used_ + bytes.size > out_.size()) out_.resize((used_ + bytes.size) * 3 / 2);
  std::memcpy(out_.data() + used_, bytes.data, bytes.size);
  used_ += bytes.size;
}

/// Writes record, rows, layer sizes and layers. A layer that never changed is left out; its size is 0.
void ChunkEncoder::finish_layers() {
  const std::size_t layers = layer_count(items_);
  std::vector<std::uint8_t> head(layered_head_bytes(items_, layers));
  std::memcpy(head.data(), first_.data(), items_.record_bytes);
  std::uint8_t* counts = head.data() + items_.record_bytes;
  las::store(counts, static_cast<std::uint32_t>(count_));
  append({head.data(), head.size()});
  for (std::size_t i = 0; i < layers; ++i) {
    if (layered_->changed[i] == 0 && i != kXy) continue;
    const auto bytes = layered_->coders[i].finish();
    las::store(counts + kChunkCountBytes + 4 * i, static_cast<std::uint32_t>(bytes.size));
    append(bytes);
  }
  std::memcpy(out_.data(), head.data(), head.size());
}

void ChunkEncoder::start() {
  used_ = 0;
  count_ = 0;
  stream_.start();
  for (RangeEncoder* coder : streams_) coder->start();
}

void ChunkEncoder::begin(const std::uint8_t* first) {
  first_.assign(first, first + items_.record_bytes);
  if (items_.layered()) {
    layered_->begin(first);
  } else {
    pointwise_->begin(first);
  }
}

void ChunkEncoder::add(std::uint8_t* records, std::size_t count, const OpContext& ctx) {
  const std::size_t stride = items_.record_bytes;
  const bool starts = count_ == 0 && count != 0;
  if (starts) begin(records);
  count_ += count;
  for (std::size_t row = starts ? 1 : 0; row < count;) {
    ctx.checkpoint();
    const std::size_t stop = std::min(count, row + kPollRows);
    if (items_.layered()) {
      LayerPasses<RangeEncoder>::code<1>({{{layered_.get(), records + row * stride}}}, stop - row);
      RangeEncoder::flush_all(streams_);
    }
    for (; row < stop && !items_.layered(); ++row) pointwise_->encode(stream_, records + row * stride);
    row = stop;
  }
}

Span<const std::uint8_t> ChunkEncoder::finish() {
  if (items_.layered()) {
    finish_layers();
  } else {
    append({first_.data(), first_.size()});
    append(stream_.finish());
  }
  return {out_.data(), used_};
}

}  // namespace pc::io::laz
