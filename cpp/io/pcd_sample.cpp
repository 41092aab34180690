#include <algorithm>
#include <cstring>

#include "core/error.h"
#include "io/pcd.h"
#include "io/pcd_body.h"
#include "io/record_sample.h"
#include "io/record_table.h"
#include "io/record_value.h"

namespace pc::io {

namespace {

using Row = std::vector<std::string>;

/// Red, green, blue, and alpha for "rgba".
void append_color(std::uint32_t bits, const PcdField& field, Row& row) {
  for (const unsigned shift : {16U, 8U, 0U, 24U}) {
    if (shift != 24 || same_name(field.name, "rgba")) row.push_back(std::to_string(bits >> shift & 0xff));
  }
}

std::vector<PcdColumn> columns_of(const PcdHeader& header) {
  std::vector<PcdColumn> columns;
  for (const PcdField& field : header.fields) {
    if (field.padding()) continue;
    if (is_packed_color(field)) {
      for (const char* name : {"red", "green", "blue"}) columns.push_back({name, DType::kU8});
      if (same_name(field.name, "rgba")) columns.push_back({"alpha", DType::kU8});
      continue;
    }
    for (std::uint32_t k = 0; k < field.count; ++k) {
      columns.push_back(
          {field.count == 1 ? field.name : field.name + "[" + std::to_string(k) + "]", field.type});
    }
  }
  return columns;
}

void append_value(const std::byte* from, const PcdField& field, Row& row) {
  if (!is_packed_color(field)) {
    row.push_back(scalar_text(from, field.type, false));
    return;
  }
  std::uint32_t bits;
  std::memcpy(&bits, from, sizeof bits);
  append_color(bits, field, row);
}

/// The values of a line of text; fewer if the line is too short.
Row text_row(const PcdHeader& header, const Row& words) {
  Row row;
  std::size_t word = 0;
  for (const PcdField& field : header.fields) {
    for (std::uint32_t k = 0; k < field.count; ++k) {
      if (word == words.size()) return row;
      const std::string& text = words[word++];
      if (field.padding()) continue;
      if (!is_packed_color(field)) {
        row.push_back(text);
        continue;
      }
      std::uint32_t bits = 0;
      const bool is_float = field.type == DType::kF32;
      if (!record_value::parse_packed_color(text.data(), text.data() + text.size(), is_float, bits))
        return row;
      append_color(bits, field, row);
    }
  }
  return row;
}

std::vector<Row> binary_rows(const platform::File& file, const PcdHeader& header, std::size_t rows) {
  std::size_t stride = 0;
  for (const PcdField& field : header.fields) stride += dtype_size(field.type) * field.count;
  std::vector<std::byte> record(stride);
  std::vector<Row> out;
  for (std::size_t i = 0; i < rows; ++i) {
    if (file.read_at(header.body_offset + i * stride, record.data(), stride) != stride) break;
    Row& row = out.emplace_back();
    const std::byte* at = record.data();
    for (const PcdField& field : header.fields) {
      for (std::uint32_t k = 0; k < field.count; ++k, at += dtype_size(field.type)) {
        if (!field.padding()) append_value(at, field, row);
      }
    }
  }
  return out;
}

std::vector<Row> compressed_rows(const platform::File& file, const PcdHeader& header, std::size_t rows,
                                 OpContext& ctx) {
  if (file.size() - header.body_offset > kPcdMaxSampleBody) {
    throw Error(
        ErrorCode::kUnsupported,
        file.path() +
            ": the first points of a compressed file of this size are not shown; an import reads them");
  }
  const PcdBody body = unpack_body(file, header, ctx);
  std::vector<Row> out(rows);
  std::size_t start = 0;
  for (const PcdField& field : header.fields) {
    if (field.padding() && !body.padded) continue;
    const std::size_t size = dtype_size(field.type), stride = size * field.count;
    for (std::size_t i = 0; i < rows && !field.padding(); ++i) {
      for (std::uint32_t k = 0; k < field.count; ++k) {
        append_value(body.bytes.data() + start + i * stride + k * size, field, out[i]);
      }
    }
    start += static_cast<std::size_t>(header.points) * stride;
  }
  return out;
}

}  // namespace

PcdSample read_pcd_sample(const std::string& path, const PcdHeader& header, std::size_t max_rows,
                          OpContext& ctx) {
  const platform::File file = platform::File::open_read(path);
  const auto rows = static_cast<std::size_t>(std::min<std::uint64_t>(max_rows, header.points));
  PcdSample sample{columns_of(header), {}};
  if (rows == 0) return sample;
  switch (header.data) {
    case PcdData::kAscii:
      sample.rows = first_lines(file, header.body_offset, header.line_end, 0, rows);
      for (Row& row : sample.rows) row = text_row(header, row);
      break;
    case PcdData::kBinary:
      sample.rows = binary_rows(file, header, rows);
      break;
    case PcdData::kBinaryCompressed:
      sample.rows = compressed_rows(file, header, rows, ctx);
      break;
  }
  return sample;
}

}  // namespace pc::io
