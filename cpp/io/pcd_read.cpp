#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

#include "core/parallel.h"
#include "io/pcd.h"
#include "io/pcd_body.h"
#include "io/record_blocks.h"
#include "io/record_text.h"

namespace pc::io {

namespace {

constexpr std::size_t kRowGrain = std::size_t{1} << 16;
static_assert(std::endian::native == std::endian::little, "PCD bodies are little endian");

/// The table's fields and their sources.
struct Layout {
  std::vector<TableField> fields;
  std::vector<std::size_t> source;       ///< per field, index into PcdHeader::fields
  std::vector<std::uint32_t> component;  ///< per field, index within COUNT
  std::optional<std::size_t> color;      ///< field with the packed colour
};

Layout make_layout(const std::string& path, const PcdHeader& header) {
  Layout layout;
  int seen[3] = {0, 0, 0};
  std::string names;
  for (std::size_t i = 0; i < header.fields.size(); ++i) {
    const PcdField& field = header.fields[i];
    if (names.size() < 200) names += (names.empty() ? "" : " ") + field.name;
    if (field.padding()) continue;
    const FieldUse use = use_of_name(field.name);
    if (use != FieldUse::kColumn) {
      if (field.count != 1) {
        throw Error(ErrorCode::kInvalidFile, path + ": field " + field.name + " has COUNT " +
                                                 std::to_string(field.count) + ", a coordinate is one value");
      }
      ++seen[static_cast<int>(use) - static_cast<int>(FieldUse::kX)];
    }
    const bool color = is_packed_color(field) && !layout.color;
    if (color) layout.color = layout.fields.size();
    for (std::uint32_t k = 0; k < field.count; ++k) {
      const std::string name = field.count == 1 ? field.name : field.name + "[" + std::to_string(k) + "]";
      layout.fields.push_back({name, color ? DType::kU32 : field.type, use, is_extra_name(name)});
      layout.source.push_back(i);
      layout.component.push_back(k);
    }
  }
  for (int axis = 0; axis < 3; ++axis) {
    if (seen[axis] == 1) continue;
    throw Error(ErrorCode::kInvalidFile, path + ": a point must have one field " + "xyz"[axis] +
                                             ", this file has " + std::to_string(seen[axis]) +
                                             " (fields: " + names + ")");
  }
  return layout;
}

[[noreturn]] void fail_body(const std::string& path, const std::string& problem) {
  throw Error(ErrorCode::kInvalidFile, path + ": " + problem);
}

CloudTable read_ascii(const platform::File& file, const PcdHeader& header, Layout layout,
                      const PcdReadParams& params, OpContext& ctx) {
  const TextBody body{header.body_offset, header.line_count + 1, header.line_end, 0, header.points, 0,
                      params.first_row,   params.row_count};
  TextLayout text{std::move(layout.fields), {}, "points"};
  std::size_t field = 0;
  text.fields.push_back({"_", DType::kF64, FieldUse::kSkip, false});
  for (const PcdField& entry : header.fields) {
    for (std::uint32_t k = 0; k < entry.count; ++k) {
      const bool color = layout.color == field && !entry.padding();
      text.tokens.push_back({entry.padding() ? DType::kF64 : entry.type, false,
                             entry.padding() ? text.fields.size() - 1 : field, color});
      if (!entry.padding()) ++field;
    }
  }
  return read_record_text(file, body, std::move(text), params.frame, ctx);
}

CloudTable read_binary(const platform::File& file, const PcdHeader& header, Layout layout,
                       const PcdReadParams& params, OpContext& ctx) {
  std::vector<std::size_t> starts;
  std::size_t stride = 0;
  for (const PcdField& field : header.fields) {
    starts.push_back(stride);
    stride += dtype_size(field.type) * field.count;
  }
  const std::uint64_t present = std::min(header.points, (file.size() - header.body_offset) / stride);
  if (present == 0 && header.points != 0) {
    fail_body(file.path(), "the header declares " + std::to_string(header.points) + " points of " +
                               std::to_string(stride) +
                               " bytes, the file ends before the first one is complete");
  }
  const std::uint64_t first = std::min(params.first_row, present);
  const auto rows = static_cast<std::size_t>(std::min(params.row_count, present - first));
  std::vector<RecordSlot> slots;
  for (std::size_t f = 0; f < layout.fields.size(); ++f) {
    slots.push_back({f, starts[layout.source[f]] + layout.component[f] * dtype_size(layout.fields[f].type)});
  }
  TableBuilder builder(std::move(layout.fields), params.frame, rows, false);
  read_record_blocks(file, header.body_offset + first * stride, stride, slots, rows, builder, ctx);
  CloudTable table = builder.finish(rows, ctx);
  if (present < header.points) {
    table.warnings.push_back("the header declares " + std::to_string(header.points) +
                             " points, the file holds " + std::to_string(present) +
                             " complete ones: the rest is missing");
  }
  return table;
}

CloudTable read_compressed(const platform::File& file, const PcdHeader& header, Layout layout,
                           const PcdReadParams& params, OpContext& ctx) {
  const PcdBody body = unpack_body(file, header, ctx);
  std::vector<std::size_t> starts;
  std::size_t start = 0;
  for (const PcdField& field : header.fields) {
    starts.push_back(start);
    if (body.padded || !field.padding())
      start += static_cast<std::size_t>(header.points) * dtype_size(field.type) * field.count;
  }
  const std::uint64_t first = std::min(params.first_row, header.points);
  const auto rows = static_cast<std::size_t>(std::min(params.row_count, header.points - first));
  TableBuilder builder(std::move(layout.fields), params.frame, rows, false);
  ctx.begin_phase("Storing points", rows);
  parallel_for(ctx, rows, kRowGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t f = 0; f < builder.fields().size(); ++f) {
      const PcdField& field = header.fields[layout.source[f]];
      const std::size_t size = dtype_size(field.type), stride = size * field.count;
      const std::size_t row = static_cast<std::size_t>(first) + begin;
      const std::byte* const from =
          body.bytes.data() + starts[layout.source[f]] + row * stride + layout.component[f] * size;
      builder.put(f, from, stride, begin, end - begin);
    }
  });
  return builder.finish(rows, ctx);
}

/// Replaces the packed colour column `name` by rgb, and alpha for "rgba".
void unpack_color(CloudTable& table, const std::string& name, OpContext& ctx) {
  const auto at = std::find_if(table.columns.begin(), table.columns.end(), [&](const NamedColumn& column) {
    return column.name == name && column.values.dtype() == DType::kU32;
  });
  table.color_full = 65280;
  const std::size_t rows = table.positions.size();
  const Span<const std::uint32_t> packed = std::as_const(at->values).as<std::uint32_t>();
  Column<Rgb16> rgb(rows);
  Column<std::uint8_t> alpha(same_name(name, "rgba") ? rows : 0);
  const Span<Rgb16> to = rgb.view();
  const Span<std::uint8_t> to_alpha = alpha.view();
  parallel_for(ctx, rows, kRowGrain, [&](std::size_t begin, std::size_t end) {
    const auto channel = [](std::uint32_t bits) { return static_cast<std::uint16_t>((bits & 0xff) << 8); };
    for (std::size_t i = begin; i < end; ++i) {
      const std::uint32_t bits = packed[i];
      to[i] = {channel(bits >> 16), channel(bits >> 8), channel(bits)};
      if (!to_alpha.empty()) to_alpha[i] = static_cast<std::uint8_t>(bits >> 24);
    }
  });
  const bool with_alpha = same_name(name, "rgba");
  *at = NamedColumn{"rgb", "", false, AnyColumn(std::move(rgb))};
  if (with_alpha) table.columns.insert(at + 1, NamedColumn{"alpha", "", false, AnyColumn(std::move(alpha))});
}

}  // namespace

PcdCloud read_pcd(const std::string& path, const PcdReadParams& params, OpContext& ctx) {
  const platform::File file = platform::File::open_read(path);
  const PcdHeader header = read_pcd_header(file);
  const Layout layout = make_layout(path, header);
  PcdCloud cloud;
  cloud.table = header.data == PcdData::kAscii    ? read_ascii(file, header, layout, params, ctx)
                : header.data == PcdData::kBinary ? read_binary(file, header, layout, params, ctx)
                                                  : read_compressed(file, header, layout, params, ctx);
  cloud.table.warnings.insert(cloud.table.warnings.begin(), header.warnings.begin(), header.warnings.end());
  if (layout.color) {
    unpack_color(cloud.table, layout.fields[*layout.color].name, ctx);
  } else {
    merge_rgb(cloud.table, ctx);
  }
  cloud.has_viewpoint = header.has_viewpoint;
  cloud.default_viewpoint = header.has_viewpoint && header.viewpoint == Vec3d{0, 0, 0} &&
                            header.orientation == std::array<double, 4>{1, 0, 0, 0};
  cloud.scan_origin = params.frame.apply(header.viewpoint);
  cloud.orientation = header.orientation;
  return cloud;
}

}  // namespace pc::io
