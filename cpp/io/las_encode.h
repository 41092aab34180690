#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/memory.h"
#include "core/op_context.h"
#include "io/las_format.h"

/// Parts of the writer; not part of the interface of las.h.
namespace pc::io::las {

/// The rows that a CloudView writes, in blocks of source rows: which rows of a block, and their positions in the file.
class RowBlocks {
 public:
  /// Counts the rows; blocks have `grain` source rows.
  RowBlocks(const CloudView& view, std::size_t grain, OpContext& ctx);
  std::size_t grain() const { return grain_; }
  std::uint64_t total() const { return total_; }
  /// True if every source row is written.
  bool all() const { return view_.skip.empty() && view_.stride == 1; }
  /// File row of the block's first written row.
  std::uint64_t first(std::size_t block) const {
    return (kept_before(block) + view_.stride - 1) / view_.stride;
  }
  /// Lists the source rows to write from [begin, end), which is one block.
  void collect(std::size_t begin, std::size_t end, std::vector<std::size_t>& rows) const;

 private:
  std::uint64_t kept_before(std::size_t block) const {
    return kept_before_.empty() ? static_cast<std::uint64_t>(block) * grain_ : kept_before_[block];
  }
  const CloudView& view_;
  std::size_t grain_;
  BulkVector<std::uint64_t> kept_before_;  ///< per block; empty if every row is kept
  std::uint64_t total_ = 0;
};

/// Position of a column of the view in the record.
struct Target {
  const AnyColumn* values;
  std::uint16_t offset;
  std::uint8_t shift, bits;        ///< bits > 0: stored as a whole number in bits of the byte at `offset`
  std::uint8_t bytes;              ///< bits == 0: width in the record
  bool as_integer;                 ///< convert to an integer of `bytes`; else copy the column's own bytes
  std::optional<Coding> coding{};  ///< if set, how to encode the values
};

/// Description of an extra bytes dimension.
struct ExtraDimension {
  std::string name, description;
  DType dtype;
  std::optional<LasExtraRecord> record{};  ///< scale, offset and no-data
};

/// Encoding of a column's values according to `record`; nothing if the record is for another type of column.
std::optional<Coding> coding_of(const LasExtraRecord& record, DType column);
/// True if every written value would be read back bit for bit.
bool coding_fits(const Coding& coding, const AnyColumn& values, const RowBlocks& blocks, OpContext& ctx);

/// Layout of the record to write: format, columns, sizes.
struct RecordPlan {
  int point_format = 6;
  std::size_t record_bytes = 0;
  std::vector<Target> targets;
  std::vector<ExtraDimension> extras;
  std::vector<std::uint8_t> blank;      ///< (record_bytes) the constants; every other byte is 0
  bool has_return_number = false;       ///< false: 1 in every point
  bool has_return_count = false;        ///< false: 1 in every point
  const AnyColumn* gps_time = nullptr;  ///< a scalar to be stored in gps_time; otherwise view.timestamps
  std::uint16_t origin_offset = 0;      ///< 0 = no beam origins
};

/// Number of points per return number; [0] counts all return numbers outside 1..15.
using ReturnCounts = std::array<std::uint64_t, 16>;

/// Encodes the given source rows into `records` (plan.record_bytes each) and counts their returns.
void encode_rows(const CloudView& view, const RecordPlan& plan, const Vec3d& scale, const Vec3d& offset,
                 Span<const std::size_t> rows, std::uint8_t* records, ReturnCounts& returns);

/// Data for the header and VLRs, which precede the points.
struct HeaderFacts {
  const LasWriteParams& params;
  const RecordPlan& plan;
  Vec3d scale, offset;
  Box3d bounds;  ///< file coordinates; zeros for no points
  std::uint64_t point_count;
  ReturnCounts returns;
};
std::vector<std::uint8_t> header_bytes(const HeaderFacts& facts);
/// Length of header and VLRs, which does not depend on the points.
std::size_t header_length(const LasWriteParams& params, const RecordPlan& plan);
/// True if the file states its CRS as WKT or repeats given GeoTIFF records.
bool writes_wkt(const LasWriteParams& params);
bool writes_verbatim_geotiff(const LasWriteParams& params);
/// Longest WKT text that fits in a VLR, including its terminating NUL.
constexpr std::size_t kMaxWktBytes = 65534;
constexpr std::size_t kMaxExtraDimensions = 65535 / kExtraBytesRecord;

}  // namespace pc::io::las
