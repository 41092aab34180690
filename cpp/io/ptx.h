#pragma once
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "core/op_context.h"
#include "io/cloud_table.h"
#include "io/cloud_view.h"

/// PTX (Leica Cyclone): one or several scans as text, each a complete raster. Lines of a scan:
///
/// | lines | content |
/// |---|---|
/// | 1 | number of columns |
/// | 1 | number of rows |
/// | 1 | scanner position after registration, x y z |
/// | 3 | scanner axes after registration, x y z each |
/// | 4 | 4x4 matrix for row vectors: [x y z 1] M gives the point in the file frame |
/// | columns x rows | x y z, intensity 0..1, and r g b 0..255 if the scan has colour; column by column |
///
/// Cells without a return are "0 0 0 0.5" (and "0 0 0" for the colour).
namespace pc::io {

/// The header of a scan.
struct PtxScan {
  std::uint64_t columns = 0, rows = 0;
  Vec3d registered_position{0, 0, 0};
  std::array<Vec3d, 3> registered_axes{};
  std::array<double, 16> T_file_scanner{};  ///< row-major, for column vectors: transpose of the
                                            ///< file's matrix
  std::uint64_t first_line = 0;             ///< of its header, counted from 1
};

struct PtxReadParams {
  PositionFrame frame;
  std::optional<std::uint32_t> scan_index;  ///< this scan only; empty = all
};

struct PtxScanResult {
  PtxScan header;
  std::uint32_t scan_index = 0;
  std::uint64_t first_row = 0, row_count = 0;
  std::uint64_t miss_count = 0;  ///< empty cells; all of them lie at the origin
  Vec3d origin_stored{0, 0, 0};  ///< the scanner's zero, moved by the matrix, stored frame, metres
};

struct PtxCloud {
  CloudTable table;
  std::vector<PtxScanResult> scans;  ///< the scans that were read, in file order
  std::uint64_t scan_count = 0;      ///< number of scans in the file
  std::uint64_t unplaceable_miss_count = 0;
};

/// A scan found by a walk over the file.
struct PtxListedScan {
  PtxScan header;
  bool has_empty_cells = false;  ///< among the cells that the walk has passed
};
/// The line of a cell.
struct PtxSampleRow {
  Vec3d position;  ///< file frame; NaN for an empty or unreadable cell
  std::vector<std::string> words;
};
struct PtxHead {
  std::vector<PtxListedScan> scans;  ///< in file order, at least one
  bool complete = false;             ///< the walk reached the end: there are no other scans
  std::vector<PtxSampleRow> sample;  ///< first cells of the first scan
  std::vector<std::string> warnings;
};

/// Lists the scans without reading their points. Only the preceding lines show where a scan starts, so the file is
/// walked line by line, up to `max_bytes`. A wrong header after the first scan ends the list with a warning.
///
/// Cost    About one second per GiB on one thread.
/// Cancel  Within 50 ms.
/// Errors  kNotFound, kIo; kInvalidFile with the line in which the first header differs from the table above.
PtxHead read_ptx_head(const std::string& path, std::size_t max_rows, std::uint64_t max_bytes, OpContext& ctx);

/// Transforms a point from the scanner frame to the file frame.
Vec3d file_position(const PtxScan& scan, const Vec3d& point);

/// Reads all scans or one scan and transforms them by their matrices.
///
/// Columns  rgb (kRgb16; 0 for cells without colour) and intensity (u16) if any cell has them, row_index and
///          column_index (i32), is_miss (u8, if there is an empty cell), scan_index (u16, if several scans are read).
/// Scaling  Colour 0..255 x 256. If no value of the file is above 1 and some are not whole numbers: 0..1 x 255,
///          rounded, x 256. Intensity 0..1 x 65535; if a value of the file lies outside, smallest to largest maps
///          linearly to 0..65535.
/// Misses   A cell at 0 0 0 or with a coordinate that is not finite. It is placed at the scanner's origin, because the
///          file states no direction; it is black, has intensity 0, keeps row and column, and is counted.
/// Rows     In file order; lines with fewer than three numbers or a word that is not a number are left out and counted
///          (malformed_dropped); a warning names the first. A last scan that is cut off gives its complete cells and a
///          warning.
/// Order    Does not depend on threads.
/// Cost     O(bytes) time: two passes over the text in 256 KiB chunks, a third if colour or intensity has an unusual
///          range. Memory: the columns, 16 bytes per chunk and less than 1 MiB per thread.
/// Cancel   Within 50 ms; no partial result.
/// Errors   As read_ptx_head, for the header of every scan; kInvalidArgument for a scan_index beyond the file;
///          kInvalidFile if cells are declared but none is present or none can be read, or the file has more than
///          65,535 scans.
/// Source   "Leica Cyclone PTX format" as published with Leica Cyclone (position, axes, matrix, raster).
PtxCloud read_ptx(const std::string& path, const PtxReadParams& params, OpContext& ctx);

/// Directions of a raster as seen from the scanner: row i is at zenith angle theta_min + i theta_step, column j at
/// bearing phi_min + j phi_step (clockwise from +y: atan2(dx, dy)).
struct PtxSweep {
  std::uint64_t n_theta, n_phi;
  double theta_min_rad, theta_step_rad;
  double phi_min_rad, phi_step_rad;
};

struct PtxWriteScan {
  CloudView view;
  Vec3d origin_stored{0, 0, 0};   ///< position of the scanner, stored frame, metres
  std::optional<PtxSweep> sweep;  ///< required without row_index and column_index
};

struct PtxWriteParams {
  std::uint64_t max_cells;  ///< per scan, at most 2^32 - 2
};

enum class PtxRasterSource : std::uint8_t { kIndexes, kSweep };

/// Result for one scan.
struct PtxWrittenScan {
  std::uint64_t rows = 0, columns = 0;
  std::uint64_t first_row = 0, first_column = 0;  ///< indices at which the file's raster starts
  std::uint64_t filled = 0;                       ///< cells with a point
  std::uint64_t collapsed = 0;                    ///< points left out because another point has their cell
  std::uint64_t unplaced = 0;                     ///< points outside the raster, at the origin or not finite
  PtxRasterSource source = PtxRasterSource::kIndexes;
  std::uint32_t scan_index = 0;  ///< of write_ptx_cloud; 0 for a cloud of one scan
};

struct PtxWriteResult {
  std::vector<PtxWrittenScan> scans;
  std::uint64_t bytes = 0;
  std::uint64_t without_scan = 0;  ///< points whose scan_index is not a whole number from 0 to 65534
  bool colors_cut = false;         ///< a written cloud has colours that 8 bits per channel cannot represent
};

/// Writes scans as PTX.
///
/// Raster   From the integer scalars row_index and column_index of the view if it has both (from the smallest to the
///          largest index, misses included; from 0 to the sweep's counts if these are larger), otherwise from the
///          sweep. One point per cell: the one with the lowest target_index, then the lowest row. Rows with is_miss
///          are empty cells.
/// Frame    Points relative to the origin, identity rotation, translation origin + view.offset.
/// Numbers  Coordinates with 6 decimals; intensity u16 / 65535 with 6 decimals (0.5 without intensity); colour: the
///          high byte of the u16, if the view has colour. Empty cells "0 0 0 0.5", with colour "0 0 0 0.5 0 0 0".
/// Order    The bytes do not depend on threads.
/// Cost     Time: one pass over the rows to measure, one to place, and for every further 4 million cells one more over
///          the blocks of rows that reach into them. Memory: 32 MiB of cells, 16 bytes per 16384 rows, 2 MiB per
///          thread.
/// Cancel   Within 50 ms; the file is then incomplete, as after any error.
/// Errors   kInvalidArgument: no scan, column lengths, stride 0, an origin that is not finite, no raster (the message
///          says what is missing), more cells than max_cells; kNoSpace, kIo.
PtxWriteResult write_ptx(const std::vector<PtxWriteScan>& scans, const PtxWriteParams& params,
                         const std::string& path, OpContext& ctx);

struct PtxScanOrigin {
  std::uint32_t scan_index;
  Vec3d origin_stored;
};

struct PtxCloudWriteParams {
  std::uint64_t max_cells;             ///< per scan, at most 2^32 - 2
  Vec3d origin_stored{0, 0, 0};        ///< scanner position of scans not in `origins`, stored frame
  std::vector<PtxScanOrigin> origins;  ///< scanner positions, stored frame, metres
  std::optional<PtxSweep> sweep{};     ///< for a cloud of one scan without row_index and column_index
};

/// Writes one cloud as PTX: a scan for every value of the integer scalar scan_index, in ascending order, or one scan
/// if there is no such scalar. Everything else as in write_ptx; 2 MiB more memory per thread.
PtxWriteResult write_ptx_cloud(const CloudView& view, const PtxCloudWriteParams& params,
                               const std::string& path, OpContext& ctx);

}  // namespace pc::io
