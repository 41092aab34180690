#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>

#include "core/error.h"
#include "core/parallel.h"
#include "core/platform.h"
#include "io/decimal.h"
#include "io/stl.h"

namespace pc::io {

namespace {

constexpr std::uint64_t kHeadBytes = 84, kRecordBytes = 50;
constexpr std::size_t kBlockTriangles = std::size_t{1} << 15;
constexpr std::size_t kTextBlock = std::size_t{1} << 20;
/// Bytes that tell an ASCII file from a binary one.
constexpr std::size_t kSolidHead = 4096;
constexpr std::size_t kLongestNumber = 1000;

std::string counted(std::uint64_t count, const char* text) { return std::to_string(count) + text; }

Vec3d stored(const Vec3d& p, const Vec3d& shift) {
  constexpr double kMost = std::numeric_limits<float>::max(), kNan = std::numeric_limits<double>::quiet_NaN();
  const Vec3d q{p.x - shift.x, p.y - shift.y, p.z - shift.z};
  const bool fits = std::fabs(q.x) <= kMost && std::fabs(q.y) <= kMost && std::fabs(q.z) <= kMost;
  return fits ? q : Vec3d{kNan, kNan, kNan};
}

/// Whether a normal of the file points against the winding of its triangle.
bool is_against(const Vec3d& normal, const Vec3d& a, const Vec3d& b, const Vec3d& c) {
  const Vec3d u{b.x - a.x, b.y - a.y, b.z - a.z}, v{c.x - a.x, c.y - a.y, c.z - a.z};
  return normal.x * (u.y * v.z - u.z * v.y) + normal.y * (u.z * v.x - u.x * v.z) +
             normal.z * (u.x * v.y - u.y * v.x) <
         0;
}

void check_count(const std::string& path, std::uint64_t triangles) {
  if (3 * triangles <= kMaxMeshVertices) return;
  throw Error(ErrorCode::kUnsupported, path + " has " + std::to_string(3 * triangles) +
                                           " vertices, more than " + std::to_string(kMaxMeshVertices));
}

/// Corners and faces of `count` triangles with vertices of their own.
void number_corners(PolygonMesh& mesh, std::size_t count, OpContext& ctx) {
  mesh.corner_position.resize(3 * count);
  mesh.face_first.resize(count + 1);
  parallel_for(ctx, count, kBlockTriangles, [&](std::size_t begin, std::size_t end) {
    for (std::size_t t = begin; t < end; ++t) {
      mesh.face_first[t] = 3 * t;
      for (std::size_t k = 3 * t; k < 3 * t + 3; ++k) mesh.corner_position[k] = static_cast<std::uint32_t>(k);
    }
  });
  mesh.face_first[count] = 3 * count;
}

void warn_normals(PolygonMesh& mesh, std::uint64_t against) {
  if (against != 0) {
    mesh.warnings.push_back(
        counted(against, " triangle(s) have a normal against their winding: the winding counts"));
  }
}

PolygonMesh read_binary(const platform::File& file, std::uint64_t declared, const Vec3d& shift,
                        OpContext& ctx) {
  const std::uint64_t body = file.size() - kHeadBytes, present = body / kRecordBytes;
  if (declared == 0) throw Error(ErrorCode::kInvalidFile, file.path() + ": the header declares no triangles");
  const std::uint64_t count = std::min(declared, present);
  if (count == 0) throw Error(ErrorCode::kInvalidFile, file.path() + ": no complete triangle in the file");
  check_count(file.path(), count);
  PolygonMesh mesh;
  mesh.positions = Column<Vec3d>(3 * count);
  std::atomic<std::uint64_t> against{0}, colored{0};
  ctx.begin_phase("Reading mesh", count);
  parallel_for(ctx, count, kBlockTriangles, [&](std::size_t begin, std::size_t end) {
    BulkVector<unsigned char> bytes(kRecordBytes * (end - begin));
    const std::size_t got =
        file.read_at(kHeadBytes + kRecordBytes * begin, bytes.data(), kRecordBytes * (end - begin));
    if (got != kRecordBytes * (end - begin))
      throw Error(ErrorCode::kInvalidFile, file.path() + " became shorter while it was read");
    std::uint64_t turned = 0, painted = 0;
    for (std::size_t t = begin; t < end; ++t) {
      const unsigned char* const record = bytes.data() + kRecordBytes * (t - begin);
      std::array<float, 12> values;
      static_assert(std::endian::native == std::endian::little);
      std::memcpy(values.data(), record, sizeof values);
      Vec3d* const corner = mesh.positions.view().data + 3 * t;
      for (std::size_t k = 0; k < 3; ++k)
        corner[k] = stored({values[3 + 3 * k], values[4 + 3 * k], values[5 + 3 * k]}, shift);
      turned += is_against({values[0], values[1], values[2]}, corner[0], corner[1], corner[2]) ? 1 : 0;
      painted += (record[48] | record[49]) != 0 ? 1 : 0;
    }
    against += turned;
    colored += painted;
  });
  number_corners(mesh, count, ctx);
  if (present < declared) {
    mesh.warnings.push_back("the header declares " + std::to_string(declared) +
                            " triangles, the file holds " + std::to_string(present) +
                            " complete ones: the rest is missing");
  } else if (body > kRecordBytes * declared) {
    mesh.warnings.push_back(
        counted(body - kRecordBytes * declared, " byte(s) after the last declared triangle are not read"));
  }
  warn_normals(mesh, against);
  if (colored != 0)
    mesh.warnings.push_back(
        counted(colored, " triangle(s) have attribute bytes (colours of some programs), which are not used"));
  return mesh;
}

bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

bool same_word(std::string_view word, std::string_view lower) {
  return std::equal(word.begin(), word.end(), lower.begin(), lower.end(),
                    [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a + 32 : a) == b; });
}

/// The words of a text, one after the other.
class Words {
 public:
  Words(std::string_view text, OpContext& ctx) : text_(text), ctx_(ctx) {}

  /// Empty at the end.
  std::string_view next() {
    while (at_ < text_.size() && is_blank(text_[at_])) step();
    const std::size_t first = at_;
    while (at_ < text_.size() && !is_blank(text_[at_])) step();
    return text_.substr(first, at_ - first);
  }

  void skip_line() {
    while (at_ < text_.size() && text_[at_] != '\n' && text_[at_] != '\r') step();
  }

  /// Three numbers; false leaves the words after those that were read.
  bool triple(Vec3d& out) {
    for (double* const value : {&out.x, &out.y, &out.z}) {
      const std::size_t before = at_;
      const std::string_view word = next();
      const auto number = word.size() > kLongestNumber ? std::nullopt : parse_decimal(word, '.');
      if (!number) {
        at_ = before;
        return false;
      }
      *value = *number;
    }
    return true;
  }

 private:
  void step() {
    if (++at_ % kTextBlock != 0) return;
    ctx_.advance(kTextBlock);
    ctx_.checkpoint();
  }

  std::string_view text_;
  OpContext& ctx_;
  std::size_t at_ = 0;
};

/// The facets of an ASCII file, read word by word: programs break lines where they like.
class AsciiStl {
 public:
  AsciiStl(std::string_view text, const Vec3d& shift, OpContext& ctx) : words_(text, ctx), shift_(shift) {}

  PolygonMesh read(const std::string& path, OpContext& ctx) {
    for (std::string_view word = words_.next(); !word.empty(); word = words_.next()) {
      take(word);
      if (vertices_.size() > kMaxMeshVertices) check_count(path, vertices_.size() / 3);
    }
    if (is_open_) ++broken_;
    const std::size_t count = vertices_.size() / 3;
    if (count == 0) throw Error(ErrorCode::kInvalidFile, path + ": no complete facet in the file");
    check_count(path, count);
    PolygonMesh mesh;
    mesh.positions = Column<Vec3d>(vertices_.size());
    std::copy(vertices_.begin(), vertices_.end(), mesh.positions.view().data);
    vertices_.reset();
    number_corners(mesh, count, ctx);
    if (broken_ != 0)
      mesh.warnings.push_back(
          counted(broken_, " facet(s) do not have three vertices of three numbers and are left out"));
    if (!is_closed_)
      mesh.warnings.push_back("the file ends before the word endsolid: the rest may be missing");
    if (unknown_ != 0) mesh.warnings.push_back(counted(unknown_, " word(s) were not understood"));
    warn_normals(mesh, against_);
    return mesh;
  }

 private:
  void take(std::string_view word) {
    if (same_word(word, "vertex")) {
      Vec3d p{};
      if (!words_.triple(p)) is_bad_ = true;
      if (corner_count_ < 3) corners_[corner_count_] = stored(p, shift_);
      ++corner_count_;
    } else if (same_word(word, "facet")) {
      if (is_open_) ++broken_;
      is_open_ = true;
      is_bad_ = false;
      corner_count_ = 0;
      normal_ = {0, 0, 0};
    } else if (same_word(word, "normal")) {
      if (!words_.triple(normal_)) normal_ = {0, 0, 0};
    } else if (same_word(word, "endfacet")) {
      end_facet();
    } else if (same_word(word, "solid") || same_word(word, "endsolid")) {
      is_closed_ = word.size() == 8;
      words_.skip_line();  // its name
    } else if (!same_word(word, "outer") && !same_word(word, "loop") && !same_word(word, "endloop")) {
      unknown_ += is_bad_ ? 0 : 1;  // the rest of a vertex that was not understood is none
    }
  }

  void end_facet() {
    if (!is_open_ || is_bad_ || corner_count_ != 3) {
      ++broken_;
    } else {
      for (const Vec3d& corner : corners_) vertices_.push_back(corner);
      against_ += is_against(normal_, corners_[0], corners_[1], corners_[2]) ? 1 : 0;
    }
    is_open_ = false;
  }

  Words words_;
  Vec3d shift_;
  BulkVector<Vec3d> vertices_;
  std::array<Vec3d, 3> corners_{};
  Vec3d normal_{};
  std::size_t corner_count_ = 0;
  std::uint64_t broken_ = 0, unknown_ = 0, against_ = 0;
  bool is_open_ = false, is_bad_ = false, is_closed_ = true;
};

/// Whether the first bytes of a file are those of an ASCII file: the word solid, then text or a facet.
bool looks_ascii(std::string_view head, OpContext& ctx) {
  if (head.substr(0, 3) == "\xef\xbb\xbf") head.remove_prefix(3);
  Words words(head, ctx);
  if (!same_word(words.next(), "solid")) return false;
  const auto is_control = [](char c) { return c >= 0 && c < ' ' && !is_blank(c); };
  if (std::none_of(head.begin(), head.end(), is_control)) return true;
  words.skip_line();
  for (std::string_view word = words.next(); !word.empty(); word = words.next()) {
    if (same_word(word, "facet") || same_word(word, "endsolid")) return true;
  }
  return false;
}

PolygonMesh read_ascii(const platform::File& file, const Vec3d& shift, OpContext& ctx) {
  const auto size = static_cast<std::size_t>(file.size());
  ctx.begin_phase("Reading mesh", 2 * size);
  BulkVector<char> text(size);
  char* const data = text.data();
  std::size_t got = 0;
  while (got < size) {
    const std::size_t read = file.read_at(got, data + got, std::min(kTextBlock, size - got));
    if (read == 0) break;
    got += read;
    ctx.advance(read);
    ctx.checkpoint();
  }
  std::string_view words(data, got);
  if (words.substr(0, 3) == "\xef\xbb\xbf") words.remove_prefix(3);
  return AsciiStl(words, shift, ctx).read(file.path(), ctx);
}

}  // namespace

PolygonMesh read_stl(const std::string& path, const Vec3d& shift, OpContext& ctx) {
  const auto file = platform::File::open_read(path);
  std::array<char, kSolidHead> head{};
  const std::size_t got = file.read_at(0, head.data(), head.size());
  std::uint32_t declared = 0;
  if (got >= kHeadBytes) std::memcpy(&declared, head.data() + 80, sizeof declared);
  const bool exact = got >= kHeadBytes && file.size() == kHeadBytes + kRecordBytes * declared;
  if (!exact && looks_ascii({head.data(), got}, ctx)) return read_ascii(file, shift, ctx);
  if (got < kHeadBytes) {
    throw Error(ErrorCode::kInvalidFile,
                path +
                    " is no STL file: it has neither a facet after the word solid nor the 84 bytes of a "
                    "binary header");
  }
  return read_binary(file, declared, shift, ctx);
}

}  // namespace pc::io
