#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/op_context.h"
#include "io/cloud_table.h"

namespace pc::io {

/// Most scalar columns that a PLY or PCD file may declare. Each column takes at least one page, so the number is
/// limited before anything is allocated. The widest published PCD feature (SHOT colour) has 1,344.
inline constexpr std::size_t kMaxColumns = 4096;

/// How one scalar field of a file's records is used.
enum class FieldUse : std::uint8_t { kSkip, kX, kY, kZ, kColumn };

/// One scalar field of a file's records.
struct TableField {
  std::string name;  ///< the file's name for it
  DType type;        ///< scalar type as stored
  FieldUse use;
  bool extra;  ///< NamedColumn::extra of a kColumn field
};

/// Converts records of any layout (interleaved, one array per field, either byte order) to a CloudTable. put() may be
/// called from several threads for disjoint rows.
class TableBuilder {
 public:
  /// rows          upper bound of the number of rows; the caller must have checked it against the file's size.
  /// swap_bytes    the records have the opposite byte order of this machine.
  TableBuilder(std::vector<TableField> fields, const PositionFrame& frame, std::size_t rows, bool swap_bytes);

  const std::vector<TableField>& fields() const { return fields_; }
  std::size_t rows() const { return table_.positions.size(); }

  /// Stores `count` values of one field in rows [row, row + count); value i is at first + i * stride, unaligned.
  void put(std::size_t field, const std::byte* first, std::size_t stride, std::size_t row, std::size_t count);

  /// The table of the first `rows` rows. Rows whose stored position is not finite are left out and counted in
  /// nonfinite_dropped; with `keep_invalid` they are counted but stay. The builder is empty afterwards.
  CloudTable finish(std::size_t rows, OpContext& ctx, bool keep_invalid = false);

 private:
  void drop_nonfinite(std::size_t rows, OpContext& ctx);

  std::vector<TableField> fields_;
  std::vector<std::size_t> column_of_field_;
  PositionFrame frame_;
  bool swap_bytes_;
  CloudTable table_;
};

/// Case-insensitive name comparison, ASCII letters only.
bool same_name(const std::string& a, const std::string& b);
/// x, y, z -> kX, kY, kZ (case-insensitive), anything else kColumn.
FieldUse use_of_name(const std::string& name);
/// False for names with a defined meaning: colour channels, alpha, intensity and its aliases.
bool is_extra_name(const std::string& name);

/// Replaces the first complete colour triple (red green blue, diffuse_red..., r g b) by one kRgb16 column "rgb" at the
/// position of its first channel. 8-bit integers x 256; 16-bit unchanged; other integers and floats by their maximum:
/// floats up to 1 x 65535, up to 255 x 256, above that unchanged (with a warning). NaN and negative values become 0.
void merge_rgb(CloudTable& table, OpContext& ctx);

}  // namespace pc::io
