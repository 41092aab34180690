#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/op_context.h"
#include "core/platform.h"
#include "io/cloud_table.h"
#include "io/ply.h"

namespace pc::io {

enum class PcdData : std::uint8_t { kAscii, kBinary, kBinaryCompressed };

struct PcdField {
  std::string name;
  DType type;
  std::uint32_t count = 1;  ///< values per point
  bool padding() const { return name == "_"; }
};

/// What the header of a PCD file says.
struct PcdHeader {
  std::string version;
  std::vector<PcdField> fields;
  std::uint64_t width = 0, height = 1;
  std::uint64_t points = 0;  ///< as declared; not checked against the file
  PcdData data = PcdData::kAscii;
  bool has_viewpoint = false;
  Vec3d viewpoint{0, 0, 0};                       ///< sensor position, file frame
  std::array<double, 4> orientation{1, 0, 0, 0};  ///< sensor attitude, quaternion w x y z
  std::uint64_t body_offset = 0;                  ///< first byte after the DATA line
  std::uint64_t line_count = 0;                   ///< lines of the header
  char line_end = '\n';
  std::vector<std::string> warnings;  ///< odd but readable
};

struct PcdReadParams {
  PositionFrame frame;
  std::uint64_t first_row;  ///< first point wanted, 0-based
  std::uint64_t row_count;  ///< points wanted; kAllRows = to the end
};

struct PcdCloud {
  CloudTable table;
  bool has_viewpoint = false;      ///< the file has a VIEWPOINT line
  bool default_viewpoint = false;  ///< it is 0 0 0 1 0 0 0, as writers fill in when they know none
  Vec3d scan_origin{0, 0, 0};      ///< its translation, stored frame, metres
  std::array<double, 4> orientation{1, 0, 0, 0};  ///< its quaternion, w x y z
};

/// Reads the header only.
///
/// Errors  kNotFound; kInvalidFile naming the header line that is wrong (no PCD keyword, FIELDS, SIZE, TYPE and COUNT
///         of different lengths, unknown type, no point count, more than 4,096 values per point); kUnsupported for
///         versions other than .5, .6 and .7.
/// Source  "The PCD (Point Cloud Data) file format", Point Cloud Library documentation.
PcdHeader read_pcd_header(const std::string& path);
PcdHeader read_pcd_header(const platform::File& file);

/// A column of a point as the import sees it.
struct PcdColumn {
  std::string
      name;  ///< of the field; name[0], name[1], ... where COUNT > 1; red, green, blue (alpha) of packed colour
  DType type;
};
/// The first points as text.
struct PcdSample {
  std::vector<PcdColumn> columns;  ///< without padding
  std::vector<std::vector<std::string>>
      rows;  ///< a value a column; ascii lines that are too short give fewer
};
/// A compressed body has all values of a field together, so that its first point needs all of it: beyond this size it
/// is not looked at.
inline constexpr std::uint64_t kPcdMaxSampleBody = std::uint64_t{64} << 20;

/// Reads the first `max_rows` points as the file has them, also those without finite coordinates.
///
/// header  of the same file.
/// Cost    The head of the file; of compressed ones the whole body when it has at most kPcdMaxSampleBody bytes.
/// Cancel  Within 250 ms.
/// Errors  As read_pcd for compressed bodies; kUnsupported for those that are larger. Others give the rows that are
///         there.
PcdSample read_pcd_sample(const std::string& path, const PcdHeader& header, std::size_t max_rows,
                          OpContext& ctx);

/// Reads an ascii, binary or binary_compressed PCD file.
///
/// Returns  Positions from x, y, z of any numeric type (ascii: the text as float64). A 4-byte "rgb" or "rgba" field is
///          packed colour 0xAARRGGBB, whatever its type says, and becomes the kRgb16 column "rgb" (8 bits x 256), the
///          alpha of "rgba" the kU8 column "alpha"; separate r, g, b fields as merge_rgb says. Other fields keep type
///          and name; COUNT > 1 gives name[0], name[1], ... Padding ("_") is read over. Points with a NaN or infinite
///          coordinate are dropped and counted. A body of type ascii or binary that ends early gives the complete
///          points and a warning.
/// Order    File order; does not depend on threads.
/// Cost     O(file); memory: the result, plus 1 MiB per thread; compressed bodies once compressed and once unpacked.
/// Cancel   Within 250 ms; no partial result.
/// Errors   As read_pcd_header; kInvalidFile when x, y or z is missing, points are declared but none is there, none can
///          be read, or the compressed body is cut short or does not unpack to the declared size.
PcdCloud read_pcd(const std::string& path, const PcdReadParams& params, OpContext& ctx);

}  // namespace pc::io
