#include "io/laz/chunk_table.h"

#include <algorithm>
#include <memory>

#include "core/error.h"
#include "io/las_format.h"
#include "io/laz/integer_model.h"
#include "io/laz/layered_codec.h"
#include "io/laz/range_decoder.h"
#include "io/laz/range_encoder.h"

namespace pc::io::laz {

namespace {

using SizeModel = IntegerModel<32, 2>;
constexpr std::uint32_t kRowsContext = 0, kBytesContext = 1;
/// Upper bound of the points per byte for any encoder: a point is at least four symbols (changes, three or two bit
/// widths), and the most probable of n symbols takes at least log2(32768 / (32768 - n + 1)) bits, together 0.0075 bits
/// per point.
constexpr std::uint64_t kMaxRowsPerByte = 1100;

/// Writers leave single empty chunks behind; thousands of them would only delay a reader.
constexpr unsigned kMaxEmptyChunks = 64;

struct Search {
  const platform::File& file;
  const LazItems& items;
  std::uint64_t points, points_end, declared;
  std::uint64_t first_chunk() const { return points + (items.compressor == Compressor::kPointwise ? 0 : 8); }
  std::size_t least_chunk() const {
    return items.layered() ? layered_head_bytes(items, layer_count(items)) : items.record_bytes;
  }
};

std::string at_byte(std::uint64_t byte) { return std::to_string(byte); }

/// Position of the chunk table, or 0 with the reason.
std::uint64_t table_position(const Search& search, std::string& why) {
  std::uint8_t raw[8];
  if (search.file.read_at(search.points, raw, sizeof raw) != sizeof raw) {
    why = "the file ends before its points";
    return 0;
  }
  auto at = las::load<std::int64_t>(raw);
  if ((at == -1 || at == 0) && search.file.size() >= search.first_chunk() + 8 &&
      search.file.read_at(search.file.size() - 8, raw, sizeof raw) == sizeof raw) {
    at = las::load<std::int64_t>(raw);
  }
  const auto position = static_cast<std::uint64_t>(at);
  if (at <= 0 || position < search.first_chunk() || position > search.file.size() ||
      search.file.size() - position < 8) {
    why = "its chunk table, said to be at byte " + std::to_string(at) + ", is not there";
    return 0;
  }
  return position;
}

/// Appends a chunk to the plan; false if the declared rows are already complete.
bool append(const Search& search, ChunkPlan& plan, std::uint64_t at, std::uint64_t end, std::uint64_t rows) {
  const std::uint64_t left = search.declared - plan.rows;
  if (left == 0) return false;
  plan.chunks.push_back({at, end, plan.rows, std::min(rows, left)});
  plan.rows += std::min(rows, left);
  return true;
}

/// The reason why a chunk is not inside the file or cannot hold its rows; empty if it is valid.
std::string doubt(const Search& search, std::uint64_t at, std::uint64_t end, std::uint64_t rows) {
  if (rows == 0) return "holds no points";
  if (end - at < search.least_chunk() || (end - at) * kMaxRowsPerByte < rows - 1) {
    return std::to_string(end - at) + " bytes are too few for " + std::to_string(rows) + " points";
  }
  return "";
}

/// Reads the table at `table`. The plan ends before the first invalid chunk; true if all chunks are valid.
bool read_table(const Search& search, std::uint64_t table, ChunkPlan& plan) {
  std::uint8_t head[8];
  search.file.read_at(table, head, sizeof head);
  const auto version = las::load<std::uint32_t>(head), count = las::load<std::uint32_t>(head + 4);
  if (version != 0) {
    plan.missing = "its chunk table at byte " + at_byte(table) + " has version " + std::to_string(version);
    return false;
  }
  std::vector<std::uint8_t> buffer(std::size_t{1} << 14);
  FileBytes bytes(search.file, table + 8, search.file.size());
  RangeDecoder decoder;
  decoder.start(buffer.data(), 0, &bytes, buffer.data(), buffer.size());
  auto sizes = std::make_unique<SizeModel>();
  sizes->reset();
  std::uint32_t last_rows = 0, last_bytes = 0;
  std::uint64_t at = search.first_chunk();
  unsigned empty = 0;
  std::uint32_t i = 0;
  for (; i < count && plan.rows < search.declared; ++i) {
    if (search.items.chunk_rows == kVariableChunks) {
      last_rows = sizes->code(decoder, last_rows, 0, kRowsContext);
    } else {
      last_rows = search.items.chunk_rows;
    }
    last_bytes = sizes->code(decoder, last_bytes, 0, kBytesContext);
    const std::uint64_t limit = std::min(search.points_end, table);
    std::string why;
    if (decoder.missing() > 4 || last_bytes > limit - at) {
      why = "is said to be " + std::to_string(last_bytes) + " bytes, but the point data ends at byte " +
            at_byte(limit);
    } else if ((last_rows != 0 || last_bytes != 0) || ++empty > kMaxEmptyChunks) {
      why =
          doubt(search, at, at + last_bytes, std::min<std::uint64_t>(last_rows, search.declared - plan.rows));
    }
    if (!why.empty()) {
      plan.missing = "chunk " + std::to_string(i + 1) + " at byte " + at_byte(at) + " " + why;
      return false;
    }
    if (last_rows != 0) append(search, plan, at, at + last_bytes, last_rows);
    at += last_bytes;
  }
  if (i == count && at != table) {  // also detects a cut-off table whose last byte is missing
    plan.missing = "the chunks of its table end at byte " + at_byte(at) +
                   ", not where the table starts, at byte " + at_byte(table);
    return false;
  }
  if (plan.rows < search.declared) {
    plan.missing =
        "the " + std::to_string(count) + " chunks of the table at byte " + at_byte(table) + " end there";
  }
  return true;
}

/// Walks through layered chunks, which state their rows and the sizes of their layers.
void walk_layers(const Search& search, ChunkPlan& plan) {
  const std::size_t layers = layer_count(search.items);
  const std::size_t head_bytes = layered_head_bytes(search.items, layers);
  std::vector<std::uint8_t> head(head_bytes);
  std::uint64_t at = search.first_chunk();
  while (plan.rows < search.declared) {
    std::uint64_t bytes = head_bytes, rows = 0;
    const std::uint64_t room = search.points_end > at ? search.points_end - at : 0;
    const bool complete =
        room >= head_bytes && search.file.read_at(at, head.data(), head_bytes) == head_bytes;
    if (complete) {
      const std::uint8_t* counts = head.data() + search.items.record_bytes;
      rows = las::load<std::uint32_t>(counts);
      for (std::size_t i = 0; i < layers; ++i)
        bytes += las::load<std::uint32_t>(counts + kChunkCountBytes + 4 * i);
    }
    if (!complete || bytes > room || !doubt(search, at, at + bytes, rows).empty()) {
      plan.missing += "; the chunks end at byte " + at_byte(at) + ", where no complete one follows";
      return;
    }
    append(search, plan, at, at + bytes, rows);
    at += bytes;
  }
}

}  // namespace

ChunkPlan find_chunks(const platform::File& file, const LazItems& items, std::uint64_t file_points,
                      std::uint64_t points_end, std::uint64_t declared) {
  const Search search{file, items, file_points, std::min(points_end, file.size()), declared};
  ChunkPlan plan;
  if (declared == 0) return plan;
  if (search.first_chunk() + items.record_bytes > search.points_end) {
    plan.missing = "the file ends at byte " + at_byte(search.points_end) + ", before the first of them";
    return plan;
  }
  if (items.compressor != Compressor::kPointwise) {
    std::string why;
    const std::uint64_t table = table_position(search, why);
    if (table != 0 && read_table(search, table, plan)) return plan;
    if (table == 0) plan.missing = why;
  }
  if (items.layered()) {
    plan.chunks.clear();
    plan.rows = 0;
    walk_layers(search, plan);
    return plan;
  }
  if (items.compressor == Compressor::kChunked && items.chunk_rows == kVariableChunks) {
    if (plan.chunks.empty()) {
      throw Error(
          ErrorCode::kUnsupported,
          file.path() + ": " + plan.missing +
              "; its chunks have different sizes, which only the table states. Decompress the file with the "
              "software that wrote it, or copy it again if it was cut off");
    }
    return plan;
  }
  plan.chunks.clear();
  plan.open_ended = true;
  const std::uint64_t bytes = search.points_end - search.first_chunk();
  plan.rows = std::min(declared, bytes * kMaxRowsPerByte);
  plan.chunks.push_back({search.first_chunk(), search.points_end, 0, plan.rows});
  return plan;
}

std::vector<std::uint8_t> chunk_table_bytes(const BulkVector<std::uint32_t>& bytes) {
  std::vector<std::uint8_t> out(8);
  las::store(out.data() + 4, static_cast<std::uint32_t>(bytes.size()));
  RangeEncoder encoder;
  encoder.start();
  auto sizes = std::make_unique<SizeModel>();
  sizes->reset();
  std::uint32_t last = 0;
  for (const std::uint32_t size : bytes) {
    sizes->code(encoder, last, size, kBytesContext);
    last = size;
  }
  const auto coded = encoder.finish();
  out.insert(out.end(), coded.begin(), coded.end());
  return out;
}

}  // namespace pc::io::laz
