#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/op_context.h"
#include "io/cloud_table.h"

/// E57 1.0 (ASTM E2807-11), read only. Element names and units follow the standard: metres, radians, seconds.
namespace pc::io {

enum class E57FieldType : std::uint8_t { kInteger, kScaledInteger, kFloat32, kFloat64, kString };

/// One terminal of a scan's record: what a point carries.
struct E57Field {
  std::string name;  ///< with the prefix of its extension ("nor:normalX"); nested ones joined by '/'
  E57FieldType type = E57FieldType::kFloat64;
  std::int64_t minimum = 0, maximum = 0;  ///< of the stored integers
  double scale = 1, offset = 0;           ///< value = stored * scale + offset, scaled integers only
  unsigned bits = 0;                      ///< bits a value takes in the file; 0 = constant, or a string
};

struct E57Limits {
  double minimum, maximum;
};

/// Angles of a scan in its own frame: azimuth counter-clockwise from +x about +z, elevation up from the xy
/// plane.
struct E57SphericalBounds {
  std::optional<E57Limits> range_m, elevation_rad;
  std::optional<double> azimuth_start_rad, azimuth_end_rad;
};

struct E57IndexBounds {
  std::optional<std::int64_t> row_minimum, row_maximum, column_minimum, column_maximum;
};

/// What the XML section says about one scan (an entry of data3D). Bounds, limits and times only inform: what
/// is no finite number counts as absent.
struct E57Scan {
  std::string name, guid, description, sensor_vendor, sensor_model;
  std::uint64_t point_count = 0;
  std::vector<E57Field> fields;  ///< in record order
  bool has_pose = false;
  std::array<double, 4> rotation{1, 0, 0, 0};  ///< scanner to file frame, unit quaternion w x y z
  Vec3d translation{0, 0, 0};                  ///< the scanner's place in the file frame, metres
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
  std::string guid, writer_version, coordinate_metadata;  ///< coordinate_metadata: CRS as the writer put it
  std::optional<double> creation_time_s;                  ///< GPS time
  std::vector<E57Scan> scans;
  std::uint64_t image_count = 0;      ///< entries of images2D; their pixels are not read
  std::vector<std::string> warnings;  ///< what was odd, where, what was done
};

struct E57ReadParams {
  PositionFrame frame;
  std::optional<std::uint32_t> scan_index;  ///< this scan only; empty = all
};

/// A scan as it was read: its rows in the table and its raster.
struct E57ScanResult {
  std::uint32_t scan_index = 0;  ///< in E57Header::scans
  std::uint64_t first_row = 0, row_count = 0;
  std::uint64_t miss_count = 0;              ///< rows that are misses
  std::uint64_t unplaceable_miss_count = 0;  ///< of these, without a direction: they lie at the origin
  bool has_pose = false;
  Vec3d origin_stored{0, 0, 0};          ///< scanner place, stored frame, metres
  std::uint64_t n_theta = 0, n_phi = 0;  ///< rows and columns of the raster; 0 = the points carry no raster
  /// Zenith range of the sweep, about the scanner's own axis; absent when the file states none or no angles.
  std::optional<double> theta_min_rad, theta_max_rad;
  /// Range of bearings, clockwise from +y of the file frame (atan2(dx, dy)): the file's azimuth, which runs
  /// counter-clockwise from +x, turned by the heading of the pose. phi_min in [0, 2 pi), phi_max - phi_min in
  /// [0, 2 pi]; a full circle is 0 .. 2 pi.
  std::optional<double> phi_min_rad, phi_max_rad;
  double tilt_rad = 0;  ///< of the pose: angle between the scanner's axis and the vertical
};

struct E57Cloud {
  CloudTable table;
  E57Header header;
  std::vector<E57ScanResult> scans;  ///< the scans that were read, in file order
  std::uint64_t unplaceable_miss_count = 0;
};

/// Distance at which a miss with a known direction is placed from its scanner, metres (contract cloud-import,
/// 13.1).
inline constexpr double kE57MissDistanceM = 20000.0;

/// Reads the file header and the XML section; touches no point.
///
/// Memory   The XML section (at most 64 MiB), an index of its elements and the records above.
/// Errors   kNotFound, kIo; kInvalidFile when it is no E57 file, is cut off, a page checksum is wrong, or the
///          XML breaks a rule the points depend on; kUnsupported for versions other than 1 and pages other
///          than 1024 bytes.
/// Source   ASTM E2807-11, Standard Specification for 3D Imaging Data Exchange, tables 1 (file header), 2 to
///          4 (numbers), 12 to 14 (root, scans, points), 18 to 20 (pose), 26 to 30 (bounds and limits).
E57Header read_e57_header(const std::string& path);

/// Box around a scan's declared bounds in the file frame: the box of the corners moved by the pose. Absent
/// without bounds, and for bounds that are no box.
std::optional<Box3d> file_bounds(const E57Scan& scan);
/// True when the scan can mark cells as misses; whether it does only its points tell.
bool may_have_misses(const E57Scan& scan);

/// The first points of a scan, as many as were asked for and are there.
struct E57Sample {
  std::vector<Vec3d> positions;  ///< file frame, metres; NaN for misses and scans without coordinates
  std::vector<std::vector<double>> values;  ///< per field of the scan as the file has them; text fields: none
};
inline constexpr std::size_t kE57MaxSampleRows = 1000;

/// Reads the first `max_rows` points of a scan (at most kE57MaxSampleRows).
///
/// header  of the same file.
/// Cost    The packets up to the last of these points, whatever the size of the file.
/// Errors  As read_e57, for the packets it touches; kInvalidArgument for a scan that is not there.
E57Sample read_e57_sample(const std::string& path, const E57Header& header, std::size_t scan_index,
                          std::size_t max_rows, OpContext& ctx);

/// Reads the points of all scans, or of one, each moved by its own pose.
///
/// Columns  rgb (kRgb16), intensity (u16), row_index and column_index (i32, -1 where a scan has none),
///          is_miss (u8, only when there is a miss), timestamp (f64, seconds since the scan's acquisition
///          start; NaN where unknown), target_index (i32, zero based; 0 where unknown) and target_count (i32;
///          1), scan_index (u16, when several scans were read), then every other field under its own name
///          (`extra`): integers in the smallest type that holds them, scaled integers and doubles as f64,
///          floats as f32; where only some scans have it, f64 with NaN.
/// Scaling  Per scan. Colour: by 255 / largest channel value when that is above 255 or in (0, 1], rounded,
///          clipped to 8 bits, x 256; misses and cells with isColorInvalid are black and do not count.
///          Intensity: smallest to largest valid value maps linearly to 0..65535; misses and invalid cells
///          are 0, as is everything when all values are equal.
/// Misses   A cell whose cartesianInvalidState (else sphericalInvalidState) is not zero. Its direction comes
///          from the spherical angles, else from a Cartesian vector that is not zero; it is placed 20 000 m
///          from the scanner. State 2 ("nothing is meaningful") with all angles zero gives no direction.
///          Without one it lies at the scanner and is counted.
/// Rows     In file order; valid cells with a coordinate that is not finite are left out and counted.
/// Order    Does not depend on threads.
/// Cost     Every page of the points is read and checked once, those of intensity and colour twice. Memory:
///          the columns, 10 bytes a field for each packet (a packet has up to 64 KiB) and about 3 MiB a
///          thread.
/// Cancel   Within 50 ms; no partial result.
/// Errors   As read_e57_header; kInvalidArgument for a scan_index beyond the file; kInvalidFile when a scan
///          has no complete coordinates, its packets hold fewer values than declared, two scans share bytes,
///          or the points would take more memory than any file of that size can need; kUnsupported for codecs
///          other than bitPackCodec, more than 1,024 columns or more than 65,536 scans with points.
/// Source   ASTM E2807-11, binary sections and table 14 (points); contract cloud-import, sections 6 and 13.1,
///          for scaling and misses. A page's checksum covers its first 1,020 bytes and follows them high byte
///          first, as the reference implementation of the standard writes it.
E57Cloud read_e57(const std::string& path, const E57ReadParams& params, OpContext& ctx);

}  // namespace pc::io
