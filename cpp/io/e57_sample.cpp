#include <algorithm>
#include <limits>

#include "core/error.h"
#include "io/e57_scan.h"

namespace pc::io {

namespace e57 {

namespace {

/// Positions of the first points, misses as NaN.
std::vector<Vec3d> sample_positions(const Pages& pages, const ScanPlan& plan, const PacketIndex& index,
                                    OpContext& ctx) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  const auto rows = static_cast<std::size_t>(plan.scan->point_count);
  std::vector<Vec3d> positions(rows, Vec3d{kNan, kNan, kNan});
  if (!plan.cartesian() && !plan.spherical()) return positions;
  std::vector<std::uint8_t> is_miss(rows);
  OutputColumns out;
  out.positions = positions.data();
  out.is_miss = is_miss.data();
  std::vector<NamedColumn> no_table;
  store_points(pages, plan, index, ChannelRange(), PositionFrame(), out, no_table, ctx);
  for (std::size_t i = 0; i < rows; ++i) {
    if (is_miss[i] != 0) positions[i] = {kNan, kNan, kNan};
  }
  return positions;
}

}  // namespace

}  // namespace e57

E57Sample read_e57_sample(const std::string& path, const E57Header& header, std::size_t scan_index,
                          std::size_t max_rows, OpContext& ctx) {
  require(scan_index < header.scans.size(), "the scan of a sample must be one of the file's");
  const auto file = platform::File::open_read(path);
  const e57::Pages pages(file, e57::read_file_header(file).physical_bytes);
  E57Scan head = header.scans[scan_index];  // only its first points: later packets are not read
  head.point_count = std::min<std::uint64_t>(head.point_count, std::min(max_rows, kE57MaxSampleRows));
  E57Sample sample;
  sample.values.resize(head.fields.size());
  if (head.point_count == 0) return sample;
  const e57::PacketIndex index(pages, head, ctx);
  const e57::ScanPlan plan{&head, 0, e57::roles_of(head), {}, static_cast<std::uint16_t>(scan_index)};
  sample.positions = e57::sample_positions(pages, plan, index, ctx);
  std::vector<std::size_t> fields;
  for (std::size_t f = 0; f < head.fields.size(); ++f) {
    if (head.fields[f].type != E57FieldType::kString) fields.push_back(f);
  }
  const auto rows = static_cast<std::size_t>(head.point_count);
  e57::BlockReader reader(pages, head, index, fields);
  for (const std::size_t field : fields) sample.values[field].resize(rows);
  const std::size_t block = e57::block_points(head);
  for (std::size_t begin = 0; begin < rows; begin += block) {
    ctx.checkpoint();
    const std::size_t count = std::min(block, rows - begin);
    reader.load(begin, count);
    for (std::size_t slot = 0; slot < fields.size(); ++slot) {
      reader.decode(slot, 0, count, sample.values[fields[slot]].data() + begin);
    }
  }
  return sample;
}

std::optional<Box3d> file_bounds(const E57Scan& scan) {
  if (!scan.cartesian_bounds) return std::nullopt;
  const Box3d& box = *scan.cartesian_bounds;
  if (!(box.min.x <= box.max.x && box.min.y <= box.max.y && box.min.z <= box.max.z)) return std::nullopt;
  const e57::Rotation rotation(scan.rotation);
  Box3d moved;
  for (unsigned corner = 0; corner < 8; ++corner) {
    const Vec3d p{(corner & 1) != 0 ? box.max.x : box.min.x, (corner & 2) != 0 ? box.max.y : box.min.y,
                  (corner & 4) != 0 ? box.max.z : box.min.z};
    const Vec3d placed = rotation.apply(p) + scan.translation;
    if (!is_finite(placed)) return std::nullopt;
    moved.add(placed);
  }
  return moved;
}

bool has_origin(const E57Scan& scan) {
  return scan.has_pose || e57::roles_of(scan)[e57::kRange] != e57::kNoField || may_have_misses(scan);
}

bool may_have_misses(const E57Scan& scan) {
  return std::any_of(scan.fields.begin(), scan.fields.end(), [](const E57Field& field) {
    const bool marks = field.name == "cartesianInvalidState" || field.name == "sphericalInvalidState";
    const bool always_zero = field.type == E57FieldType::kInteger && field.bits == 0 && field.minimum == 0;
    return marks && !always_zero;
  });
}

}  // namespace pc::io
