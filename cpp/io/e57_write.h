#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/op_context.h"
#include "io/cloud_view.h"

namespace pc::io {

struct E57ScanOrigin {
  std::uint32_t scan_index;
  Vec3d origin_stored;
};

struct E57WriteParams {
  std::string name;                    ///< of the scan; several scans are "name 0", "name 1", ...
  std::string guid;                    ///< of the file, unique; the scans' are derived from it
  std::string writer;                  ///< program and version
  std::string coordinate_metadata;     ///< coordinate reference system as WKT; "" = unknown
  double creation_time_s = 0;          ///< GPS time
  std::optional<Vec3d> origin_stored;  ///< scanner position of a cloud of one scanner, stored frame, metres
  std::vector<E57ScanOrigin> origins;  ///< scanner positions by scan_index, stored frame, metres
};

struct E57WriteResult {
  std::uint64_t rows = 0;   ///< points written, misses included
  std::uint64_t bytes = 0;  ///< size of the file
  std::uint64_t scans = 0;
  std::uint64_t misses = 0;
  std::uint64_t misses_from_zero =
      0;  ///< misses of scans without a known position: directions from the file's zero
  std::uint64_t directionless = 0;    ///< misses at the scanner itself
  std::uint64_t without_scan = 0;     ///< points without a valid scan_index, in a scan of their own
  bool renumbered = false;            ///< the values of scan_index are not 0, 1, 2 ...
  bool colors_cut = false;            ///< a written colour has a channel that 8 bits change
  std::vector<std::string> warnings;  ///< columns that were renamed or became real numbers
};

/// Writes the selected rows of a view as E57 1.0.
///
/// Scans     One for every value of the scalar scan_index, ascending, or one of all rows.
/// Pose      Scans whose scanner position is known have it as the translation, and points relative to it; others have
///           none, and points in the file frame (stored + view.offset).
///
/// | field | type | present |
/// |---|---|---|
/// | cartesianX/Y/Z | float32 if that is exact for every coordinate of the scan, otherwise float64, metres | always |
/// | cartesianInvalidState | 0 = hit, 1 = miss, the coordinates are its direction, 2 = miss at the scanner | scans with is_miss |
/// | intensity | integers 0..65535, with limits | with intensity |
/// | colorRed, colorGreen, colorBlue | integers 0..255, with limits | with colour |
/// | timeStamp | float64, seconds; isTimeStampInvalid where it is not finite | with timestamps |
/// | rowIndex, columnIndex, returnIndex, returnCount | integers | row_index, column_index, target_index, target_count of whole numbers |
/// | column:origin_x, _y, _z | float64, file frame | with beam origins |
/// | column:<slug> | integers of the range of the scan's values, float32, float64 | other scalars |
///
/// Rounding  Colours: 8 bits per channel are kept. Coordinates of scans with a pose: to the last bit of a double.
///           Integers above 2^63 become float64.
/// Order     Row order within a scan; the bytes do not depend on threads.
/// Cost      O(rows x columns) time: two passes over the rows. Memory: some MiB per thread; with scan_index also 8
///           bytes per row.
/// Cancel    Within one block of 1 MiB per thread; the file is then incomplete, as after any error.
/// Errors    kInvalidArgument: column lengths, stride 0, no rows, a scanner position that is not finite, more than 65,535 scans,
///           more than 1024 fields or eight points beyond 64 KiB, a description beyond 64 MiB; kNoSpace, kIo.
/// Source    ASTM E2807-11, tables 1 (file header) and 12 to 30 (XML), binary sections. The index packet and the byte
///           order of checksums are those of the standard's reference implementation.
E57WriteResult write_e57(const CloudView& view, const E57WriteParams& params, const std::string& path,
                         OpContext& ctx);

}  // namespace pc::io
