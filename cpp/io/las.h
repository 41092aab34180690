#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "core/op_context.h"
#include "io/cloud_table.h"
#include "io/cloud_view.h"
#include "io/las_crs.h"

/// LAS 1.0 to 1.5 (ASPRS), point formats 0 to 10, and its compressed form LAZ. Field names and units follow the ASPRS
/// LAS specification 1.4 R15; the additions of 1.5 (header time offset) follow its published draft.
namespace pc::io {

/// A variable length record (VLR) or extended one (EVLR), with the position of its payload.
struct LasVlr {
  std::string user_id;
  std::uint16_t record_id = 0;
  std::string description;
  std::uint64_t payload_offset = 0;  ///< bytes from the start of the file
  std::uint64_t payload_bytes = 0;
  bool extended = false;
};

/// What the Extra Bytes record states about a dimension in addition to its values.
struct LasExtraRecord {
  std::string name;
  std::string description;  ///< as in the file
  DType stored = DType::kU8;
  std::optional<double> scale, offset;        ///< value = stored * scale + offset
  std::optional<std::uint64_t> no_data_bits;  ///< u64, i64 or f64 according to `stored`
};

/// A column of the file, without its values.
struct LasDimension {
  std::string name;
  std::string description;
  bool extra = false;  ///< extra bytes
  DType dtype = DType::kU8;
  std::optional<LasExtraRecord> record;  ///< of numeric extra bytes with a description
};

/// The header and records of a LAS file.
struct LasHeader {
  int version_major = 0, version_minor = 0;
  int point_format = 0;
  bool compressed = false;  ///< LAZ
  std::uint16_t record_bytes = 0;
  std::uint16_t global_encoding = 0;
  std::uint16_t file_source_id = 0;
  std::string
      gps_time_encoding;  ///< "gps_week", "adjusted_standard" (GPS time - 1e9 s), or "" without GPS time
  std::string system_identifier, generating_software;
  int creation_day_of_year = 0, creation_year = 0;  ///< 0 = not stated
  std::uint64_t header_bytes = 0;
  std::uint64_t points_offset = 0;        ///< bytes from the start of the file
  Vec3d scale{1, 1, 1}, offset{0, 0, 0};  ///< file coordinate = integer * scale + offset
  Box3d declared_bounds;                  ///< file units, as stated in the header (may be wrong)
  std::uint64_t declared_point_count = 0;
  std::uint64_t legacy_point_count = 0;
  std::uint64_t present_point_count =
      0;  ///< complete records in the file, at most the declared number; for LAZ set by read_las
  std::array<std::uint64_t, 15> points_by_return{};
  std::uint64_t waveform_offset = 0;          ///< start of the waveform data packet record (1.3+), 0 = none
  std::uint16_t time_offset_megaseconds = 0;  ///< LAS 1.5 time offset, 10^6 s; 0 = none
  std::vector<LasVlr> vlrs;                   ///< VLRs, then EVLRs
  std::vector<LasDimension> dimensions;       ///< every column except the positions, in record order
  LasCrs crs;
  std::vector<std::string> warnings;  ///< what the problem was, where, and what was done
};

struct LasReadParams {
  PositionFrame frame;
  std::uint64_t first_row = 0;
  std::uint64_t row_count = std::numeric_limits<std::uint64_t>::max();
  /// Selects the columns to read in addition to the positions; empty = all.
  std::function<bool(const LasDimension&)> wanted;
};

struct LasCloud {
  CloudTable table;
  LasHeader header;
};

/// Reads header, records, CRS and the list of columns, but no points. Works for LAZ too.
///
/// Memory   A few KiB plus the records named above; every declared count is checked against the file size
///          first.
/// Errors   kNotFound, kIo; kInvalidFile if it is not a LAS file or a field makes the points unreadable (header shorter
///          than 227 bytes, record shorter than its format, scale zero or not finite, offset not finite); kUnsupported
///          for versions other than 1.0-1.5 and point formats above 10.
LasHeader read_las_header(const std::string& path);

/// Reads a LAS file into columns: rgb, nir, intensity, return_number, number_of_returns, scan_direction_flag,
/// edge_of_flight_line, classification, synthetic, key_point, withheld, overlap, scanner_channel,
/// scan_angle_rank (degrees) or scan_angle (0.006 degree), user_data, point_source_id, gps_time (seconds),
/// the wave packet fields, then the extra bytes (`extra` = true).
///
/// Extra bytes: with scale or offset -> f64, no-data -> NaN; floats keep their type, no-data -> NaN; plain integers are
/// not changed and the description states the no-data value. Arrays become name[0], name[1], ...; bytes without a
/// description become u8 columns extra_bytes_<i>, with i counted from the first extra byte.
///
/// Rows     In file order; rows [first_row, first_row + row_count). A file with fewer records than declared gives the
///          complete records and a warning with both counts and the byte offset.
/// LAZ      Point formats 0 to 10 with items of every version, pointwise, in chunks and in layers (including COPC
///          files). All threads decode; only the layers that `wanted` requires are decoded. The rules for rows apply;
///          io/laz/laz_reader.h states how they apply to chunks.
/// Order    Does not depend on threads.
/// Cost     O(rows) time: one pass over the point data in blocks of 1 MiB per thread; memory: the columns and one block
///          per thread. LAZ: one compressed chunk and up to 6 MiB per thread.
/// Cancel   Within one block per thread; LAZ: 2048 points.
/// Errors   As read_las_header; kInvalidFile if points are declared and none is present, the file shrinks while it is
///          read, or compressed points are damaged; kUnsupported for compressed points of an unknown compressor, coder
///          or item version, or with more than 2048 extra bytes; kCanceled.
/// Source   ASPRS LAS 1.4 R15, sections 2.4-2.7 and "Extra Bytes" (including the deprecated array types
///          11-30); LASzip specification for LAZ.
LasCloud read_las(const std::string& path, const LasReadParams& params, OpContext& ctx);

enum class LasVersion { k12, k14 };

/// Destination of a scalar of the view.
struct LasPlacement {
  std::string slug;                      ///< of the scalar
  std::string field;                     ///< standard field to use if its values fit; "" = none
  std::optional<LasExtraRecord> record;  ///< how it was stored; written as an extra dimension
};

/// A field of the point records with the same value in every point.
struct LasConstant {
  std::string field;  ///< name as read_las gives it; "rgb": the points have colours, all black
  double value;
};

/// A grid of coordinates: integer * scale + offset, file frame.
struct LasGrid {
  Vec3d scale, offset;
};

struct LasWriteParams {
  LasVersion version = LasVersion::k14;  ///< 1.2 has formats 0 to 3
  bool legacy_points = false;            ///< 1.4 with formats 0 to 3, else 6 to 8
  double scale_m = 0.001;                ///< coarsest coordinate step
  bool step_known = false;      ///< no coordinate is more exact than scale_m, the step of their source
  std::optional<LasGrid> grid;  ///< used for each axis on which every written coordinate lies on it
  std::vector<LasPlacement> placements;  ///< scalars not listed here use the standard field of their slug
  std::vector<LasConstant> constants;    ///< values of fields that no column of the view fills
  bool adjusted_standard_time = false;   ///< gps_time is adjusted standard GPS time, else GPS week time
  int epsg = 0;                          ///< 0 = unknown
  bool epsg_is_geographic = false;
  std::string wkt;                                     ///< OGC WKT for 1.4, "" = none
  GeotiffRecords geotiff;                              ///< written verbatim; empty = created from epsg
  std::string system_identifier, generating_software;  ///< at most 32 bytes each
  int creation_day_of_year = 0, creation_year = 0;     ///< 0 = not stated
  bool compressed = false;                             ///< LAZ: the points are compressed without loss
};

struct LasWriteResult {
  std::uint64_t point_count = 0;
  std::uint64_t bytes = 0;
  int point_format = 0;
  Vec3d scale{0, 0, 0}, offset{0, 0, 0};
  std::vector<std::string> warnings;
};

/// Writes the rows of `view` to `path` (created or replaced; if it fails, the caller deletes the file).
///
/// Columns  Positions + view.offset, rounded to the nearest step. A scalar for a standard field of the format
///          (return_number, classification, point_source_id, ...) is stored there if every written value is a whole
///          number that fits. Every other scalar becomes an extra bytes dimension of its own type: name = slug,
///          description = label, both cut to 32 bytes, names unique. beam_origins become origin_x, origin_y, origin_z
///          (f64). Without return_number and number_of_returns every point is return 1 of 1, and the header flag
///          "synthetic" is set.
/// Steps    Each axis has its own: that of `grid` if every coordinate lies on it. Otherwise the coarsest of scale_m,
///          0.0001 and 0.00001 of which every coordinate is a multiple (to 0.4 % of it), so that a file has the digits of
///          the text that its points came from. Coordinates with more digits than that have steps of scale_m, or a power of
///          ten of at most a tenth of the estimated spacing of the points if that is finer and not `step_known`: no
///          coordinate moves by more than a twentieth of the spacing, and by no more than half of scale_m. A step with
///          which 32 bits do not hold the range is enlarged tenfold until they do. A warning says by how much that moves
///          how many points, if the step is larger than scale_m or a move exceeds a hundredth of the spacing. The
///          offset of a step that is not that of `grid` is floor(min).
/// Constants A constant goes to its field if no column fills that field. One other than 0 that the point format has no
///          field for, or that its field cannot hold, becomes an extra bytes dimension; colours need a format with
///          colours, near infrared one with both.
/// Records  A scalar with a record is stored as the record states, under its name: NaN as the no-data value, other
///          values by scale and offset. If that would not reproduce every written value bit for bit, the values are
///          stored unscaled, with a warning.
/// Header   Bounds and counts by return are those of the written records, exactly.
/// CRS      1.4: `wkt` if given, with GeoTIFF keys in addition only if it does not name `epsg`. Otherwise the GeoTIFF
///          keys, verbatim or created from `epsg`. Formats 6 to 8 should have WKT: without it the keys are written
///          with the WKT flag set and a warning (docs/adr/0011).
/// LAZ      With `compressed`: version 2 items in chunks of 50000 points (1.2), version 3 items in layers (1.4).
/// Order    The bytes do not depend on threads.
/// Cost     O(rows) time: two passes over the rows (bounds, then records), a third over coordinates that are not on
///          `grid`, and one per axis that is warned of; memory: one 1 MiB block per thread + 8 bytes per block + at
///          most 1 MiB. LAZ: a chunk of records, its compressed bytes and models (at most 40 MiB) per thread.
/// Cancel   Within one block per thread (LAZ: 1024 points); the file is left incomplete.
/// Errors   kInvalidArgument: bad scale, column lengths that differ, a position that is not finite or a
///          coordinate range that no step can represent; kUnsupported: more than 341 extra dimensions or, in LAZ, 2048
///          extra bytes, more points than the version can count; kIo, kNoSpace, kCanceled.
LasWriteResult write_las(const CloudView& view, const LasWriteParams& params, const std::string& path,
                         OpContext& ctx);

}  // namespace pc::io
