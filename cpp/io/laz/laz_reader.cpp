#include "io/laz/laz_reader.h"

#include <algorithm>
#include <memory>

#include "core/error.h"
#include "core/parallel.h"
#include "io/las_rows.h"
#include "io/laz/chunk_decoder.h"
#include "io/laz/chunk_table.h"

namespace pc::io::laz {

namespace {

/// Columns up to this size, plus this many bytes per byte of the file, are allocated before anything is decoded.
constexpr std::uint64_t kFreeColumnBytes = std::uint64_t{32} << 20, kColumnBytesPerByte = 8;

LazItems read_items(const platform::File& file, const LasHeader& header) {
  for (const LasVlr& vlr : header.vlrs) {
    if (vlr.record_id != kVlrId || vlr.user_id != kVlrUser) continue;
    std::vector<std::uint8_t> payload(
        static_cast<std::size_t>(std::min<std::uint64_t>(vlr.payload_bytes, 65535)));
    payload.resize(file.read_at(vlr.payload_offset, payload.data(), payload.size()));
    return parse_items(file.path(), vlr.payload_offset, {payload.data(), payload.size()}, header.point_format,
                       header.record_bytes);
  }
  throw Error(ErrorCode::kInvalidFile,
              file.path() +
                  ": the points are compressed (LAZ: bit 7 of byte 104), but the record that says how ('" +
                  kVlrUser + "' " + std::to_string(kVlrId) + ") is missing; the file is damaged");
}

/// The read of one file: assigns rows of the file to rows of the columns.
class LazRead {
 public:
  LazRead(const platform::File& file, las::Opened& opened, const LasReadParams& params, OpContext& ctx)
      : file_(file),
        header_(opened.header),
        ctx_(ctx),
        items_(read_items(file, opened.header)),
        plan_(find_chunks(file, items_, header_.points_offset, opened.points_end,
                          header_.declared_point_count)),
        from_(std::min(params.first_row, plan_.rows)),
        to_(from_ + std::min(params.row_count, plan_.rows - from_)),
        columns_(opened, params, 0) {
    check_found(plan_.rows);
    const std::uint64_t free_rows =
        (kFreeColumnBytes + kColumnBytesPerByte * file.size()) / columns_.row_bytes();
    columns_.grow(static_cast<std::size_t>(std::min(to_ - from_, free_rows)));
  }

  CloudTable run() {
    ctx_.begin_phase("Reading points", 0);
    if (plan_.open_ended) {
      read_open();
    } else {
      read_chunks();
    }
    report();
    return columns_.take(static_cast<std::size_t>(to_ - from_));
  }

 private:
  ChunkDecoder make_decoder() const { return ChunkDecoder(file_, items_, columns_.used_bytes()); }

  /// Stores records while no other thread does, enlarging the columns as the points are found to exist.
  void put_growing(const std::uint8_t* records, std::uint64_t first_row, std::size_t count) {
    const auto end = static_cast<std::size_t>(first_row - from_) + count;
    if (end > columns_.rows()) {
      columns_.grow(static_cast<std::size_t>(
          std::min<std::uint64_t>(to_ - from_, std::max<std::uint64_t>(end, 2 * columns_.rows()))));
    }
    columns_.put(records, static_cast<std::size_t>(first_row - from_), count);
  }

  void read_chunks() {
    std::size_t next = 0;
    const auto& chunks = plan_.chunks;
    while (next < chunks.size() && chunks[next].first_row + chunks[next].rows <= from_) ++next;
    while (next < chunks.size() && chunks[next].first_row < to_) {
      std::size_t stop = fitting(next);
      if (stop == next) {
        columns_.grow(static_cast<std::size_t>(std::min<std::uint64_t>(to_ - from_, 2 * columns_.rows())));
        stop = fitting(next);
      }
      if (stop == next) {
        read_alone(chunks[next++]);
      } else {
        read_together(next, stop);
        next = stop;
      }
    }
  }

  /// The first chunk at or after `next` whose rows exceed the allocated columns.
  std::size_t fitting(std::size_t next) const {
    const std::uint64_t room_end = from_ + columns_.rows();
    while (next < plan_.chunks.size() && plan_.chunks[next].first_row < to_ &&
           std::min(to_, plan_.chunks[next].first_row + plan_.chunks[next].rows) <= room_end) {
      ++next;
    }
    return next;
  }

  void read_together(std::size_t begin, std::size_t end) {
    const std::size_t count = end - begin, threads = static_cast<std::size_t>(ctx_.threads());
    const std::size_t lanes = count >= 2 * threads ? 2 : 1;  // each thread should have something to do
    std::vector<std::unique_ptr<ChunkDecoder>> decoders(threads);
    const RecordSink sink = [&](const std::uint8_t* records, std::uint64_t row, std::size_t rows) {
      columns_.put(records, static_cast<std::size_t>(row - from_), rows);
    };
    ctx_.begin_phase("Reading points", (count + lanes - 1) / lanes);
    parallel_for_worker(
        ctx_, (count + lanes - 1) / lanes, 1, [&](std::size_t first, std::size_t last, int worker) {
          auto& decoder = decoders[static_cast<std::size_t>(worker)];
          if (decoder == nullptr) decoder = std::make_unique<ChunkDecoder>(make_decoder());
          for (std::size_t i = begin + lanes * first; i < std::min(end, begin + lanes * last); i += lanes) {
            if (i + 1 < end && lanes == 2) {
              decoder->decode_both(plan_.chunks[i], plan_.chunks[i + 1], from_, to_, sink, ctx_);
            } else {
              decoder->decode(plan_.chunks[i], from_, to_, sink, ctx_);
            }
          }
        });
  }

  void read_alone(const Chunk& chunk) {
    ChunkDecoder decoder = make_decoder();
    decoder.decode(
        chunk, from_, to_,
        [&](const std::uint8_t* records, std::uint64_t row, std::size_t count) {
          put_growing(records, row, count);
        },
        ctx_);
  }

  /// Reads chunks of a known number of rows and unknown size, each of which starts where the previous one ended.
  void read_open() {
    ChunkDecoder decoder = make_decoder();
    Chunk chunk = plan_.chunks[0];
    const std::uint64_t chunk_rows =
        items_.compressor == Compressor::kPointwise ? plan_.rows : items_.chunk_rows;
    ctx_.begin_phase("Reading points", to_);
    while (chunk.first_row < to_) {
      chunk.rows = std::min(chunk_rows, plan_.rows - chunk.first_row);
      const auto stream = decoder.decode_open(
          chunk, from_, to_,
          [&](const std::uint8_t* records, std::uint64_t row, std::size_t count) {
            put_growing(records, row, count);
            ctx_.advance(count);
          },
          ctx_);
      const std::uint64_t end = chunk.first_row + stream.rows;
      if (stream.missing != 0 || stream.rows == 0) {
        note_end(end == plan_.rows ? end : chunk.first_row + stream.sure, stream.missing);
        break;
      }
      chunk.first_row = end;
      chunk.at = stream.next_at;
    }
  }

  /// Notes that the bytes of an open-ended file ended at row `rows`.
  void note_end(std::uint64_t rows, std::uint64_t missing) {
    if (rows < to_) {
      plan_.rows = rows;
      from_ = std::min(from_, rows);
      to_ = rows;
      plan_.missing += (plan_.missing.empty() ? "" : "; ") + std::string("the compressed data ends there");
      check_found(rows);
    } else {
      header_.warnings.push_back("the compressed points end " + std::to_string(missing) +
                                 " bytes early; the last of them may be wrong");
    }
  }

  void check_found(std::uint64_t rows) const {
    if (header_.declared_point_count == 0 || rows != 0) return;
    throw Error(ErrorCode::kInvalidFile, file_.path() + ": the header declares " +
                                             std::to_string(header_.declared_point_count) +
                                             " points, but none can be decompressed: " + plan_.missing +
                                             "; the file was cut off or damaged, copy it again");
  }

  void report() {
    const std::uint64_t declared = header_.declared_point_count;
    header_.present_point_count = plan_.rows;
    if (plan_.rows < declared) {
      header_.warnings.push_back("the file is incomplete: the header declares " + std::to_string(declared) +
                                 " points, but only " + std::to_string(plan_.rows) +
                                 " can be decompressed: " + plan_.missing + "; " +
                                 std::to_string(declared - plan_.rows) + " points are missing");
    } else if (!plan_.missing.empty()) {
      header_.warnings.push_back("the chunk table cannot be used: " + plan_.missing +
                                 "; the points were found without it");
    }
  }

  const platform::File& file_;
  LasHeader& header_;
  OpContext& ctx_;
  LazItems items_;
  ChunkPlan plan_;
  std::uint64_t from_, to_;  ///< rows to read
  las::RowColumns columns_;
};

}  // namespace

CloudTable read_laz(const platform::File& file, las::Opened& opened, const LasReadParams& params,
                    OpContext& ctx) {
  return LazRead(file, opened, params, ctx).run();
}

}  // namespace pc::io::laz
