#include "io/ply_faces.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/parallel.h"
#include "core/polygon_mesh.h"
#include "io/ply_body.h"
#include "io/record_lines.h"
#include "io/record_value.h"

namespace pc::io {

namespace {

using record_value::skip_blanks;
using record_value::token_end;

/// The faces of one chunk of text.
struct TextFaces {
  BulkVector<std::uint32_t> corners, counts;
  std::uint64_t unread = 0, first_unread = 0;
};

/// Skips one value (or list) of a row. False if the row ends before.
bool skip_value(const PlyProperty& property, const char*& p, const char* end) {
  std::uint64_t values = 1;
  p = skip_blanks(p, end);
  const char* stop = token_end(p, end);
  if (p == stop) return false;
  if (property.is_list && !record_value::parse_integer(p, stop, values)) return false;
  p = stop;
  for (std::uint64_t i = 0; property.is_list && i < values; ++i) {
    p = skip_blanks(p, end);
    stop = token_end(p, end);
    if (p == stop) return false;
    p = stop;
  }
  return true;
}

/// Appends the list of a row to `out`; false and nothing if it cannot be read.
bool parse_row(const PlyElement& element, std::size_t list, const char* p, const char* end,
               const std::string& path, TextFaces& out) {
  for (std::size_t i = 0; i < list; ++i) {
    if (!skip_value(element.properties[i], p, end)) return false;
  }
  std::uint64_t count = 0;
  p = skip_blanks(p, end);
  const char* stop = token_end(p, end);
  if (!record_value::parse_integer(p, stop, count)) return false;
  if (count > kMaxFaceCorners) fail_face_corners(path, count);
  const std::size_t held = out.corners.size();
  for (std::uint64_t i = 0; i < count; ++i) {
    p = skip_blanks(stop, end);
    stop = token_end(p, end);
    std::int64_t index = -1;
    if (p == stop || !record_value::parse_integer(p, stop, index)) {
      out.corners.resize(held);
      return false;
    }
    out.corners.push_back(index >= 0 && index < kNoIndex ? static_cast<std::uint32_t>(index) : kNoIndex);
  }
  out.counts.push_back(static_cast<std::uint32_t>(count));
  return true;
}

/// Calls line(first, last) for every line of a chunk.
template <class Line>
void for_each_line(const RecordLines& chunk, char line_end, Line&& line) {
  for (const char *p = chunk.begin(), *end = chunk.end(); p != end;) {
    const auto* mark = static_cast<const char*>(std::memchr(p, line_end, static_cast<std::size_t>(end - p)));
    line(p, mark == nullptr ? end : mark);
    p = mark == nullptr ? end : mark + 1;
  }
}

/// Rows of text before the element, as far as a file can have them.
std::uint64_t rows_before(const PlyHeader& header, std::size_t element) {
  std::uint64_t rows = 0;
  for (std::size_t i = 0; i < element; ++i) {
    if (header.elements[i].properties.empty()) continue;
    rows = header.elements[i].count > kAllRows - rows ? kAllRows : rows + header.elements[i].count;
  }
  return rows;
}

void append(const TextFaces& part, PlyFaces& faces) {
  const std::size_t at = faces.corners.size();
  faces.corners.resize(at + part.corners.size());
  std::copy(part.corners.begin(), part.corners.end(), faces.corners.begin() + at);
  for (const std::uint32_t count : part.counts) faces.firsts.push_back(faces.firsts.back() + count);
}

PlyFaces read_text_faces(const platform::File& file, const PlyHeader& header, std::size_t element,
                         std::size_t list, OpContext& ctx) {
  const std::size_t chunks = RecordLines::count(file, header.body_offset);
  std::vector<RecordLines> scratch(static_cast<std::size_t>(ctx.threads()));
  std::vector<std::uint64_t> rows(chunks + 1, 0), lines(chunks + 1, 0);
  const auto load = [&](std::size_t index, int worker) -> const RecordLines& {
    RecordLines& chunk = scratch[static_cast<std::size_t>(worker)];
    chunk.load(file, header.body_offset, header.line_end, index);
    return chunk;
  };
  ctx.begin_phase("Counting faces", chunks);
  parallel_for_worker(ctx, chunks, 1, [&](std::size_t index, std::size_t, int worker) {
    for_each_line(load(index, worker), header.line_end, [&](const char* p, const char* end) {
      rows[index + 1] += skip_blanks(p, end) == end ? 0 : 1;
      ++lines[index + 1];
    });
  });
  for (std::size_t i = 0; i < chunks; ++i) {
    rows[i + 1] += rows[i];
    lines[i + 1] += lines[i];
  }
  const PlyElement& face = header.elements[element];
  const std::uint64_t first = rows_before(header, element);
  const std::uint64_t last = face.count > kAllRows - first ? kAllRows : first + face.count;
  std::vector<TextFaces> parts(chunks);
  ctx.begin_phase("Reading faces", chunks);
  parallel_for_worker(ctx, chunks, 1, [&](std::size_t index, std::size_t, int worker) {
    if (rows[index + 1] <= first || rows[index] >= last) return;
    std::uint64_t row = rows[index], line = header.line_count + lines[index];
    TextFaces& part = parts[index];
    for_each_line(load(index, worker), header.line_end, [&](const char* p, const char* end) {
      ++line;
      if (skip_blanks(p, end) == end) return;
      const std::uint64_t this_row = row++;
      if (this_row < first || this_row >= last) return;
      if (!parse_row(face, list, p, end, file.path(), part) && part.unread++ == 0) part.first_unread = line;
    });
  });
  PlyFaces faces;
  faces.firsts.push_back(0);
  for (TextFaces& part : parts) {
    ctx.checkpoint();
    append(part, faces);
    if (faces.unread_count == 0) faces.first_unread_line = part.first_unread;
    faces.unread_count += part.unread;
    part = TextFaces();
  }
  return faces;
}

PlyFaces read_binary_faces(const platform::File& file, const PlyHeader& header, std::size_t element,
                           std::size_t list, OpContext& ctx) {
  const bool file_is_big = header.format == PlyFormat::kBinaryBigEndian;
  PlyRowWalker walker(file, header.body_offset, file_is_big != (std::endian::native == std::endian::big));
  PlyFaces faces;
  faces.firsts.push_back(0);
  ctx.begin_phase("Finding the faces", 0);
  for (std::size_t i = 0; i < element; ++i) {
    if (!walker.skip(header.elements[i], ctx)) return faces;
  }
  const PlyElement& face = header.elements[element];
  ctx.begin_phase("Reading faces", face.count);
  constexpr std::uint64_t kPollRows = 4096;
  for (std::uint64_t row = 0; row < face.count; ++row) {
    if (row % kPollRows == 0) {
      ctx.checkpoint();
      ctx.advance(kPollRows);
    }
    const std::size_t held = faces.corners.size();
    if (!walker.read_list(face, list, faces.corners)) {
      faces.corners.resize(held);
      break;
    }
    faces.firsts.push_back(faces.corners.size());
  }
  return faces;
}

}  // namespace

void fail_face_corners(const std::string& path, std::uint64_t corners) {
  throw Error(ErrorCode::kUnsupported, path + ": a face has " + std::to_string(corners) +
                                           " corners, more than " + std::to_string(kMaxFaceCorners) +
                                           "; split it into smaller ones");
}

PlyFaces read_ply_faces(const platform::File& file, const PlyHeader& header, std::size_t element,
                        std::size_t list, OpContext& ctx) {
  return header.format == PlyFormat::kAscii ? read_text_faces(file, header, element, list, ctx)
                                            : read_binary_faces(file, header, element, list, ctx);
}

}  // namespace pc::io
