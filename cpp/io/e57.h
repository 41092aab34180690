#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/op_context.h"
#include "io/cloud_table.h"

/// E57 1.0 (ASTM E2807-11). Element names and units follow the standard: metres, radians, seconds.
namespace pc::io {

enum class E57FieldType : std::uint8_t { kInteger, kScaledInteger, kFloat32, kFloat64, kString };

/// Most elements of a point record that are read and written.
inline constexpr std::size_t kE57MaxFields = 1024;
/// Longest name of a field that is read, without the prefix of own columns; longer names of columns are written shortened.
inline constexpr std::size_t kE57MaxNameBytes = 4096;

/// One element of a scan's point record.
struct E57Field {
  std::string
      name;  ///< with the prefix of its extension ("nor:normalX") unless it is ours (e57_pages.h); nested names
             ///< joined by '/'
  E57FieldType type = E57FieldType::kFloat64;
  std::int64_t minimum = 0, maximum = 0;  ///< of the stored integers
  double scale = 1, offset = 0;           ///< value = stored * scale + offset, scaled integers only
  unsigned bits = 0;                      ///< bits per value in the file; 0 = constant, or a string
};

struct E57Limits {
  double minimum, maximum;
};

/// Angles of a scan in its own frame: azimuth counter-clockwise from +x about +z, elevation up from the xy plane.
struct E57SphericalBounds {
  std::optional<E57Limits> range_m, elevation_rad;
  std::optional<double> azimuth_start_rad, azimuth_end_rad;
};

struct E57IndexBounds {
  std::optional<std::int64_t> row_minimum, row_maximum, column_minimum, column_maximum;
};

/// One scan as described in the XML section (an entry of data3D). Bounds, limits and times are informative only: a
/// value that is not a finite number counts as absent.
struct E57Scan {
  std::string name, guid, description, sensor_vendor, sensor_model;
  std::uint64_t point_count = 0;
  std::vector<E57Field> fields;  ///< in record order
  bool has_pose = false;
  std::array<double, 4> rotation{1, 0, 0, 0};  ///< scanner to file frame, unit quaternion w x y z
  Vec3d translation{0, 0, 0};                  ///< position of the scanner in the file frame, metres
  std::optional<Box3d> cartesian_bounds;       ///< scanner frame
  std::optional<E57SphericalBounds> spherical_bounds;
  std::optional<E57IndexBounds> index_bounds;
  std::optional<E57Limits> intensity_limits;
  std::optional<std::array<E57Limits, 3>> color_limits;  ///< red, green, blue
  std::optional<double> acquisition_start_s;             ///< GPS time
  std::uint64_t section_offset = 0;                      ///< physical byte of the points' binary section

  const E57Field* field(const std::string& name) const;
};

struct E57Header {
  std::uint32_t version_major = 0, version_minor = 0;
  std::string guid, writer_version, coordinate_metadata;  ///< coordinate_metadata: CRS as written in the file
  std::optional<double> creation_time_s;                  ///< GPS time
  std::vector<E57Scan> scans;
  std::uint64_t image_count = 0;      ///< entries of images2D; pixels are not read
  std::vector<std::string> warnings;  ///< what the problem was, where, and what was done
};

struct E57ReadParams {
  PositionFrame frame;
  std::optional<std::uint32_t> scan_index;  ///< this scan only; empty = all
};

/// Result for one scan: its rows in the table and its raster.
struct E57ScanResult {
  std::uint32_t scan_index = 0;  ///< in E57Header::scans
  std::uint64_t first_row = 0, row_count = 0;
  std::uint64_t miss_count = 0;              ///< rows that are misses
  std::uint64_t unplaceable_miss_count = 0;  ///< of these, misses without a direction: they lie at the origin
  bool has_pose = false;
  bool has_origin = false;               ///< the scanner's position is known: see has_origin()
  Vec3d origin_stored{0, 0, 0};          ///< position of the scanner, stored frame, metres
  std::uint64_t n_theta = 0, n_phi = 0;  ///< rows and columns of the raster; 0 = the points have no raster
  /// Zenith range of the sweep, about the scanner's own axis; absent if the file states no range or has no angles.
  std::optional<double> theta_min_rad, theta_max_rad;
  /// Range of bearings, clockwise from +y of the file frame (atan2(dx, dy)): the file's azimuth, which is
  /// counter-clockwise from +x, rotated by the heading of the pose. phi_min in [0, 2 pi), phi_max - phi_min in [0, 2
  /// pi]; a full circle is 0 .. 2 pi.
  std::optional<double> phi_min_rad, phi_max_rad;
  double tilt_rad = 0;  ///< of the pose: angle between the scanner's axis and the vertical
};

struct E57Cloud {
  CloudTable table;
  E57Header header;
  std::vector<E57ScanResult> scans;  ///< the scans that were read, in file order
  std::uint64_t unplaceable_miss_count = 0;
};

/// Distance from the scanner at which misses with a known direction are placed, metres (contract cloud-import, 13.1).
inline constexpr double kE57MissDistanceM = 20000.0;

/// Reads the file header and the XML section, but no points.
///
/// Memory   The XML section (at most 64 MiB), an index of its elements and the records above.
/// Errors   kNotFound, kIo; kInvalidFile if it is not an E57 file, is cut off, a page checksum is wrong, or the XML
///          violates a rule that the points depend on; kUnsupported for versions other than 1 and page sizes other than
///          1024 bytes.
/// Source   ASTM E2807-11, Standard Specification for 3D Imaging Data Exchange, tables 1 (file header), 2 to
///          4 (numbers), 12 to 14 (root, scans, points), 18 to 20 (pose), 26 to 30 (bounds and limits).
E57Header read_e57_header(const std::string& path);

/// Bounding box, in the file frame, of a scan's declared bounds: of their corners moved by the pose. Absent without
/// bounds and for invalid bounds.
std::optional<Box3d> file_bounds(const E57Scan& scan);
/// True if the position of the scanner is known: from the pose or, without one, because the points are measured from it
/// (spherical coordinates, or cells that can be misses); then it is the zero of the file frame. Cartesian points without
/// a pose may be in any frame.
bool has_origin(const E57Scan& scan);
/// True if the scan can mark cells as misses; only its points show whether it does.
bool may_have_misses(const E57Scan& scan);

/// The first points of a scan: as many as were requested, or all if there are fewer.
struct E57Sample {
  std::vector<Vec3d> positions;  ///< file frame, metres; NaN for misses and scans without coordinates
  std::vector<std::vector<double>> values;  ///< per field of the scan, as in the file; none for text fields
};
inline constexpr std::size_t kE57MaxSampleRows = 1000;

/// Reads the first `max_rows` points of a scan (at most kE57MaxSampleRows).
///
/// header  of the same file.
/// Cost    Reads the packets up to the last of these points, for any file size.
/// Errors  As read_e57, for the packets it reads; kInvalidArgument if the scan does not exist.
E57Sample read_e57_sample(const std::string& path, const E57Header& header, std::size_t scan_index,
                          std::size_t max_rows, OpContext& ctx);

/// Reads the points of all scans or of one scan and transforms them by the pose of their scan.
///
/// Columns  rgb (kRgb16), intensity (u16), row_index and column_index (i32, -1 where a scan has none),
///          is_miss (u8, only when there is a miss), timestamp (f64, seconds since the scan's acquisition
///          start; NaN where unknown), target_index (i32, zero based; 0 where unknown) and target_count (i32;
///          1), scan_index (u16, when several scans were read), then every other field under its own name
///          (`extra`): integers in the smallest type that holds them, scaled integers and doubles as f64,
///          floats as f32; where only some scans have it, f64 with NaN.
/// Scaling  Per scan. Colour: each channel's range in colorLimits maps linearly to 0..255, without usable limits the
///          values are multiplied by 255 / largest channel value if that is above 255 or in (0, 1]; rounded, clipped
///          to 8 bits, x 256; misses and cells with isColorInvalid are black and do not count. Intensity: the range in
///          intensityLimits, without usable limits the smallest to largest valid value, maps linearly to 0..65535;
///          misses and invalid cells are 0, and so are all values if the range is empty. Limits that are empty or that
///          the values exceed are not usable; the latter gives a warning.
/// Misses   A cell is a miss if its cartesianInvalidState (without one, sphericalInvalidState) is not zero. Its
///          direction comes from the spherical angles, otherwise from a Cartesian vector other than zero; it is placed
///          20 000 m from the scanner. State 2 ("nothing is meaningful") with all angles zero gives no direction. A
///          miss without a direction is placed at the scanner and counted.
/// Rows     In file order; valid cells with a coordinate that is not finite are left out and counted.
/// Order    Does not depend on threads.
/// Cost     O(bytes) time: every page of the points is read and checked once, those of intensity and colour twice.
///          Memory: the columns, 10 bytes per field and packet (a packet has up to 64 KiB) and about 3 MiB per thread.
/// Cancel   Within 50 ms; no partial result.
/// Errors   As read_e57_header; kInvalidArgument for a scan_index beyond the file; kInvalidFile if a scan has no
///          complete coordinates, its packets contain fewer values than declared, two scans share bytes, or the points
///          would take more memory than any valid file of that size; kUnsupported for codecs other than bitPackCodec,
///          more than 1,024 columns or more than 65,536 scans with points.
/// Source   ASTM E2807-11, binary sections and table 14 (points); contract cloud-import, sections 6 and 13.1, for
///          scaling and misses. A page's checksum covers its first 1,020 bytes and follows them, high byte first, as
///          in files of the standard's reference implementation.
E57Cloud read_e57(const std::string& path, const E57ReadParams& params, OpContext& ctx);

}  // namespace pc::io
