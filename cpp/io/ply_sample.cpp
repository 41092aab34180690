#include <algorithm>
#include <bit>

#include "io/ply.h"
#include "io/ply_body.h"
#include "io/record_sample.h"
#include "io/record_value.h"

namespace pc::io {

namespace {

using Rows = std::vector<std::vector<std::string>>;

/// The scalar values among a line's words.
std::vector<std::string> scalars_of(const std::vector<PlyProperty>& properties,
                                    std::vector<std::string>&& words) {
  std::vector<std::string> values;
  std::size_t word = 0;
  for (const PlyProperty& property : properties) {
    if (word >= words.size()) break;
    std::uint64_t count = 0;
    if (property.is_list) {
      const std::string& text = words[word];
      if (!record_value::parse_integer(text.data(), text.data() + text.size(), count)) break;
      count = std::min<std::uint64_t>(count, words.size());
    } else {
      values.push_back(std::move(words[word]));
    }
    word += 1 + static_cast<std::size_t>(count);
  }
  return values;
}

Rows text_rows(const platform::File& file, const PlyHeader& header, std::uint64_t max_rows) {
  std::uint64_t before = 0;
  for (const PlyElement& element : header.elements) {
    if (&element == header.vertex()) break;
    if (element.properties.empty()) continue;  // its rows are blank lines
    before = element.count > kAllRows - before ? kAllRows : before + element.count;
  }
  Rows rows = first_lines(file, header.body_offset, header.line_end, before, max_rows);
  for (auto& row : rows) row = scalars_of(header.vertex()->properties, std::move(row));
  return rows;
}

Rows binary_rows(const platform::File& file, const PlyHeader& header, std::uint64_t max_rows,
                 OpContext& ctx) {
  const bool file_is_big = header.format == PlyFormat::kBinaryBigEndian;
  const bool swap_bytes = file_is_big != (std::endian::native == std::endian::big);
  const PlyElement& vertex = *header.vertex();
  PlyRowWalker walker(file, header.body_offset, swap_bytes);
  for (const PlyElement& element : header.elements) {
    if (&element == &vertex) break;
    if (row_size(element).has_list || !walker.skip(element, ctx))
      return {};  // would require a walk over them
  }
  std::vector<std::size_t> offsets;
  std::size_t bytes = 0;
  for (const PlyProperty& property : vertex.properties) {
    offsets.push_back(bytes);
    bytes += property.is_list ? 0 : dtype_size(property.type);
  }
  std::vector<std::byte> record(bytes);
  Rows rows;
  while (rows.size() < max_rows && walker.read_row(vertex, record.data(), offsets)) {
    std::vector<std::string> values;
    for (std::size_t i = 0; i < vertex.properties.size(); ++i) {
      const PlyProperty& property = vertex.properties[i];
      if (!property.is_list)
        values.push_back(scalar_text(record.data() + offsets[i], property.type, swap_bytes));
    }
    rows.push_back(std::move(values));
  }
  return rows;
}

}  // namespace

Rows read_ply_sample_rows(const std::string& path, const PlyHeader& header, std::size_t max_rows,
                          OpContext& ctx) {
  if (header.vertex() == nullptr || header.vertex()->properties.empty()) return {};
  const platform::File file = platform::File::open_read(path);
  const std::uint64_t rows = std::min<std::uint64_t>(max_rows, header.vertex_count());
  return header.format == PlyFormat::kAscii ? text_rows(file, header, rows)
                                            : binary_rows(file, header, rows, ctx);
}

}  // namespace pc::io
