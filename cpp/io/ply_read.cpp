#include <algorithm>
#include <bit>
#include <utility>

#include "core/parallel.h"
#include "io/header_lines.h"
#include "io/ply.h"
#include "io/ply_body.h"
#include "io/record_blocks.h"
#include "io/record_lines.h"
#include "io/record_text.h"
#include "io/record_value.h"

namespace pc::io {

namespace {

constexpr std::size_t kBlockBytes = std::size_t{1} << 19;

/// The scalar properties of the vertices as table fields. Throws unless each of x, y, z occurs exactly once.
std::vector<TableField> vertex_fields(const std::string& path, const PlyHeader& header) {
  const PlyElement* const vertex = header.vertex();
  if (vertex == nullptr) {
    std::string found;
    for (const PlyElement& element : header.elements) found += (found.empty() ? "" : ", ") + element.name;
    throw Error(ErrorCode::kInvalidFile, path + ": the PLY header declares no vertex element (found: " +
                                             (found.empty() ? "no element" : found) + ")");
  }
  std::vector<TableField> fields;
  int seen[3] = {0, 0, 0};
  std::string names;
  for (const PlyProperty& property : vertex->properties) {
    names += (names.empty() ? "" : " ") + (names.size() < 200 ? property.name : std::string());
    if (property.is_list) continue;
    const FieldUse use = use_of_name(property.name);
    if (use != FieldUse::kColumn) ++seen[static_cast<int>(use) - static_cast<int>(FieldUse::kX)];
    fields.push_back({property.name, property.type, use, is_extra_name(property.name)});
  }
  for (int axis = 0; axis < 3; ++axis) {
    if (seen[axis] == 1) continue;
    throw Error(ErrorCode::kInvalidFile, path + ": the vertices must have one scalar property " +
                                             "xyz"[axis] + ", this file declares " +
                                             std::to_string(seen[axis]) +
                                             " (properties: " + (names.empty() ? "none" : names) + ")");
  }
  return fields;
}

TextBody text_body(const PlyHeader& header, const PlyReadParams& params) {
  TextBody body{header.body_offset, header.line_count + 1, header.line_end, 0, header.vertex_count(), 0,
                params.first_row,   params.row_count};
  bool before = true;
  for (const PlyElement& element : header.elements) {
    if (&element == header.vertex()) {
      before = false;
      continue;
    }
    if (element.properties.empty()) continue;  // its rows are blank lines
    std::uint64_t& rows = before ? body.skip_rows : body.following_rows;
    rows = element.count > kAllRows - rows ? kAllRows : rows + element.count;
  }
  return body;
}

CloudTable read_ascii(const platform::File& file, const PlyHeader& header, const PlyReadParams& params,
                      OpContext& ctx) {
  TextLayout layout{vertex_fields(file.path(), header), {}, "vertices", params.keep_invalid};
  std::size_t field = 0;
  for (const PlyProperty& property : header.vertex()->properties) {
    layout.tokens.push_back({property.type, property.is_list, property.is_list ? 0 : field, false});
    if (!property.is_list) ++field;
  }
  return read_record_text(file, text_body(header, params), std::move(layout), params.frame, ctx);
}

[[noreturn]] void fail_empty(const std::string& path, std::uint64_t declared) {
  throw Error(ErrorCode::kInvalidFile, path + ": the header declares " + std::to_string(declared) +
                                           " vertices, the file ends before the first one is complete");
}

void warn_missing(std::uint64_t declared, std::uint64_t present, CloudTable& table) {
  if (present >= declared) return;
  table.warnings.push_back("the header declares " + std::to_string(declared) + " vertices, the file holds " +
                           std::to_string(present) + " complete ones: the rest is missing");
}

/// Reads rows of different lengths one after the other and gathers their scalars in blocks.
CloudTable read_lists(const platform::File& file, const PlyElement& vertex, PlyRowWalker& walker,
                      std::vector<TableField> fields, const PlyReadParams& params, bool swap_bytes,
                      OpContext& ctx) {
  const PlyRowSize size = row_size(vertex);
  const std::uint64_t left = file.size() - std::min(file.size(), walker.offset());
  const std::uint64_t possible = std::min(vertex.count, left / size.shortest);
  std::vector<std::size_t> offsets;
  std::vector<RecordSlot> slots;
  std::size_t bytes = 0;
  for (const PlyProperty& property : vertex.properties) {
    offsets.push_back(bytes);
    if (property.is_list) continue;
    slots.push_back({slots.size(), bytes});
    bytes += dtype_size(property.type);
  }
  const std::uint64_t first = std::min(params.first_row, possible);
  TableBuilder builder(std::move(fields), params.frame,
                       static_cast<std::size_t>(std::min(params.row_count, possible - first)), swap_bytes);
  const std::size_t per_block = std::max<std::size_t>(1, kBlockBytes / bytes);
  BulkVector<std::byte> block(per_block * bytes);
  ctx.begin_phase("Reading points", possible);
  std::uint64_t row = 0, stored = 0;
  std::size_t held = 0;
  const auto flush = [&] {
    put_records(builder, slots, block.data(), bytes, static_cast<std::size_t>(stored), held);
    stored += std::exchange(held, 0);
  };
  for (; row < vertex.count; ++row) {
    if (row % 4096 == 0) ctx.checkpoint();
    const bool wanted = row >= first && stored + held < builder.rows();
    if (!walker.read_row(vertex, wanted ? block.data() + held * bytes : nullptr, offsets)) break;
    ctx.advance(1);
    if (wanted && ++held == per_block) flush();
  }
  flush();
  if (row == 0 && vertex.count != 0) fail_empty(file.path(), vertex.count);
  CloudTable table = builder.finish(static_cast<std::size_t>(stored), ctx, params.keep_invalid);
  warn_missing(vertex.count, row, table);
  return table;
}

CloudTable read_binary(const platform::File& file, const PlyHeader& header, const PlyReadParams& params,
                       OpContext& ctx) {
  const bool file_is_big = header.format == PlyFormat::kBinaryBigEndian;
  const bool swap_bytes = file_is_big != (std::endian::native == std::endian::big);
  std::vector<TableField> fields = vertex_fields(file.path(), header);
  const PlyElement& vertex = *header.vertex();
  PlyRowWalker walker(file, header.body_offset, swap_bytes);
  ctx.begin_phase("Finding the vertices", 0);
  for (const PlyElement& element : header.elements) {
    if (&element == &vertex) break;
    if (!walker.skip(element, ctx) && vertex.count != 0) fail_empty(file.path(), vertex.count);
  }
  const PlyRowSize size = row_size(vertex);
  if (size.has_list) return read_lists(file, vertex, walker, std::move(fields), params, swap_bytes, ctx);

  const std::uint64_t start = walker.offset();
  const std::uint64_t present =
      std::min(vertex.count, (file.size() - std::min(file.size(), start)) / size.scalars);
  if (present == 0 && vertex.count != 0) fail_empty(file.path(), vertex.count);
  const std::uint64_t first = std::min(params.first_row, present);
  const auto rows = static_cast<std::size_t>(std::min(params.row_count, present - first));
  std::vector<RecordSlot> slots;
  std::size_t offset = 0;
  for (const TableField& field : fields) {
    slots.push_back({slots.size(), offset});
    offset += dtype_size(field.type);
  }
  TableBuilder builder(std::move(fields), params.frame, rows, swap_bytes);
  read_record_blocks(file, start + first * size.scalars, offset, slots, rows, builder, ctx);
  CloudTable table = builder.finish(rows, ctx, params.keep_invalid);
  warn_missing(vertex.count, present, table);
  return table;
}

}  // namespace

CloudTable read_ply(const std::string& path, const PlyReadParams& params, OpContext& ctx) {
  const platform::File file = platform::File::open_read(path);
  const PlyHeader header = read_ply_header(file);
  CloudTable table = header.format == PlyFormat::kAscii ? read_ascii(file, header, params, ctx)
                                                        : read_binary(file, header, params, ctx);
  for (const PlyProperty& property : header.vertex()->properties) {
    if (!property.is_list) continue;
    table.warnings.push_back("vertex property " + quoted(property.name) +
                             " is a list; its values are not kept");
  }
  merge_rgb(table, ctx);
  return table;
}

}  // namespace pc::io
