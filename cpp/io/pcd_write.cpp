#include "io/pcd_write.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <charconv>
#include <cstring>

#include "core/parallel.h"
#include "io/cloud_view_checks.h"
#include "io/column_names.h"
#include "io/ordered_output.h"

namespace pc::io {

namespace {

static_assert(std::endian::native == std::endian::little, "PCD bodies are little endian");

constexpr std::size_t kBlockBytes = std::size_t{1} << 20;
constexpr std::size_t kMinBlockRows = 16, kMaxBlockRows = 65536;

struct Field {
  std::string name;
  DType type;
};

struct PcdRecord {
  std::vector<Field> fields;
  std::size_t bytes = 0;
};

char type_letter(DType type) {
  switch (type) {
    case DType::kU8:
    case DType::kU16:
    case DType::kU32:
    case DType::kU64:
      return 'U';
    case DType::kI8:
    case DType::kI16:
    case DType::kI32:
    case DType::kI64:
      return 'I';
    default:
      return 'F';
  }
}

PcdRecord make_record(const CloudView& view, DType axis, std::vector<std::string>& warnings) {
  PcdRecord record;
  const auto add = [&](const std::string& name, DType type) {
    record.fields.push_back({name, type});
    record.bytes += dtype_size(type);
  };
  for (const char* name : {"x", "y", "z"}) add(name, axis);
  if (!view.colors.empty()) add("rgb", DType::kF32);
  if (!view.intensity.empty()) add("intensity", DType::kU16);
  if (!view.timestamps.empty()) add("timestamp", DType::kF64);
  if (!view.beam_origins.empty()) {
    for (const char* name : {"origin_x", "origin_y", "origin_z"}) add(name, DType::kF64);
  }
  // "_" is padding, and "rgb" and "rgba" are packed colour: columns of the view must not have these names.
  ColumnNames names{"_", "x", "y", "z", "rgb", "rgba"};
  for (const Field& field : record.fields) names.reserve(field.name);
  for (const ScalarView& scalar : view.scalars) {
    add(names.take(scalar.slug, one_word(scalar.slug), warnings), scalar.values->dtype());
  }
  return record;
}

/// The shortest text that reads back as the same number.
std::string exact(double value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

std::string header_text(const PcdRecord& record, std::uint64_t rows, const std::string& viewpoint) {
  std::string fields, size, type, count;
  for (const Field& field : record.fields) {
    fields += " " + field.name;
    size += " " + std::to_string(dtype_size(field.type));
    type += std::string(" ") + type_letter(field.type);
    count += " 1";
  }
  const std::string points = std::to_string(rows);
  return "# .PCD v0.7 - Point Cloud Data file format\nVERSION 0.7\nFIELDS" + fields + "\nSIZE" + size +
         "\nTYPE" + type + "\nCOUNT" + count + "\nWIDTH " + points + "\nHEIGHT 1\nVIEWPOINT " + viewpoint +
         " 1 0 0 0\nPOINTS " + points + "\nDATA binary\n";
}

constexpr const char* kWideAxes =
    "x, y, z: 64-bit numbers, since 32 bits would move points; programs that read 32-bit coordinates only, "
    "those of PCL among them, find no points: export ply or laz for them.";

/// True if float32 represents every written coordinate exactly.
bool fits_float(const CloudView& view, const RowSelection& rows, OpContext& ctx) {
  std::atomic<bool> fits{true};
  const auto same = [](double value) {
    return static_cast<double>(static_cast<float>(value)) == value || value != value;
  };
  parallel_for(ctx, view.positions.size, rows.block_rows(), [&](std::size_t begin, std::size_t end) {
    if (!fits.load(std::memory_order_relaxed)) return;
    bool good = true;
    rows.for_each(begin, end, [&](std::size_t row) {
      const Vec3d p = view.positions[row] + view.offset;
      good = good && same(p.x) && same(p.y) && same(p.z);
    });
    if (!good) fits = false;
  });
  return fits;
}

/// Writes the records of a block field by field.
class Scatter {
 public:
  Scatter(const std::vector<std::size_t>& rows, std::size_t stride, char* records)
      : rows_(rows), stride_(stride), at_(records) {}

  /// value(row) returns the value of the next field.
  template <class Value>
  void put(Value&& value) {
    char* to = at_;
    for (const std::size_t row : rows_) {
      const auto field = value(row);
      std::memcpy(to, &field, sizeof field);
      to += stride_;
    }
    at_ += sizeof(decltype(value(std::size_t{0})));
  }

 private:
  const std::vector<std::size_t>& rows_;
  std::size_t stride_;
  char* at_;
};

template <class Axis>
void put_positions(const CloudView& view, Scatter& scatter) {
  struct Place {
    Axis x, y, z;
  };
  scatter.put([&](std::size_t row) {
    const Vec3d p = view.positions[row] + view.offset;
    return Place{static_cast<Axis>(p.x), static_cast<Axis>(p.y), static_cast<Axis>(p.z)};
  });
}

void put_records(const CloudView& view, DType axis, Scatter scatter) {
  axis == DType::kF32 ? put_positions<float>(view, scatter) : put_positions<double>(view, scatter);
  if (!view.colors.empty()) {
    scatter.put([&](std::size_t row) -> std::uint32_t {
      const Rgb16& color = view.colors[row];
      return (color.r >> 8U << 16U) | (color.g >> 8U << 8U) | (color.b >> 8U);
    });
  }
  if (!view.intensity.empty()) scatter.put([&](std::size_t row) { return view.intensity[row]; });
  if (!view.timestamps.empty()) scatter.put([&](std::size_t row) { return view.timestamps[row]; });
  if (!view.beam_origins.empty()) {
    scatter.put([&](std::size_t row) { return view.beam_origins[row] + view.offset; });
  }
  for (const ScalarView& scalar : view.scalars) {
    visit_scalar(*scalar.values,
                 [&](auto values) { scatter.put([&](std::size_t row) { return values[row]; }); });
  }
}

}  // namespace

PcdWriteResult write_pcd(const CloudView& view, const PcdWriteParams& params, const std::string& path,
                         OpContext& ctx) {
  check_columns(view);
  std::string viewpoint = "0 0 0";
  if (params.viewpoint_stored) {
    const Vec3d place = *params.viewpoint_stored + view.offset;
    require(is_finite(place), "the viewpoint must be finite");
    viewpoint = exact(place.x) + " " + exact(place.y) + " " + exact(place.z);
  }
  std::vector<std::string> unused;
  const std::size_t widest = make_record(view, DType::kF64, unused).bytes;
  const std::size_t block_rows = std::clamp(kBlockBytes / widest, kMinBlockRows, kMaxBlockRows);
  const RowSelection selection(view, block_rows, ctx);
  ctx.begin_phase("Looking at the columns", 2 * view.positions.size);
  const DType axis = fits_float(view, selection, ctx) ? DType::kF32 : DType::kF64;
  PcdWriteResult result;
  result.colors_cut = colors_need_16_bits(view, selection, ctx);
  const PcdRecord record = make_record(view, axis, result.warnings);
  if (axis == DType::kF64) result.warnings.emplace_back(kWideAxes);
  platform::File file = platform::File::create(path);
  const std::string header = header_text(record, selection.selected_count(), viewpoint);
  file.write_at(0, header.data(), header.size());
  ctx.begin_phase("Writing points", view.positions.size);
  result.bytes =
      write_in_order(file, header.size(), view.positions.size, block_rows, ctx,
                     [&](std::size_t begin, std::size_t end, BlockBuffer& buffer) {
                       std::vector<std::size_t> rows;
                       rows.reserve(end - begin);
                       selection.for_each(begin, end, [&](std::size_t row) { rows.push_back(row); });
                       char* records = buffer.room(rows.size() * record.bytes);
                       put_records(view, axis, Scatter(rows, record.bytes, records));
                       buffer.end_at(records + rows.size() * record.bytes);
                     });
  file.close_checked();
  result.rows = selection.selected_count();
  return result;
}

}  // namespace pc::io
