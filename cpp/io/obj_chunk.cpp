#include "io/obj_chunk.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "io/decimal.h"
#include "io/header_lines.h"
#include "io/obj.h"
#include "io/record_value.h"

namespace pc::io {

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr std::uint64_t kPollLines = 1 << 14;

bool is_blank(char c) { return record_value::is_blank(c); }

/// The text from `p` on without blanks at either end.
std::string rest_of(const char* p, const char* end) {
  p = record_value::skip_blanks(p, end);
  while (end != p && is_blank(end[-1])) --end;
  return {p, end};
}

/// A position that float32 holds, or one that is not finite.
Vec3d checked(const Vec3d& p) {
  constexpr double kMost = std::numeric_limits<float>::max();
  const bool fits = std::fabs(p.x) <= kMost && std::fabs(p.y) <= kMost && std::fabs(p.z) <= kMost;
  return fits ? p : Vec3d{kNan, kNan, kNan};
}

/// Statements of the format without meaning for a mesh, in alphabetical order.
bool is_ignored(std::string_view word) {
  static constexpr std::string_view kIgnored[] = {"bevel",      "c_interp", "d_interp",  "g",      "lod",
                                                  "maplib",     "mg",       "o",         "s",      "scmp",
                                                  "shadow_obj", "shinyobj", "trace_obj", "usemap", "vp"};
  return std::binary_search(std::begin(kIgnored), std::end(kIgnored), word);
}

class LineParser {
 public:
  LineParser(const Vec3d& shift, const std::string& path, ObjChunk& out)
      : shift_(shift), path_(path), out_(out) {}

  void parse(const char* p, const char* end, std::uint64_t line) {
    line_ = line;
    p = record_value::skip_blanks(p, end);
    if (p == end || *p == '#') return;
    const char* const word_end = record_value::token_end(p, end);
    const std::string_view word(p, static_cast<std::size_t>(word_end - p));
    if (word == "v") {
      vertex(word_end, end);
    } else if (word == "vt") {
      texture_coordinate(word_end, end);
    } else if (word == "vn") {
      normal(word_end, end);
    } else if (word == "f" || word == "fo") {
      face(word_end, end);
    } else if (word == "usemtl") {
      out_.switches.push_back({out_.face_corners.size(), name(word_end, end, kMaxMaterialNameBytes)});
    } else if (word == "mtllib") {
      library(name(word_end, end, kMaxLibraryBytes));
    } else if (word == "l" || word == "p") {
      out_.faults.add(ObjFault::kElement, line_);
    } else if (!is_ignored(word)) {
      unknown(word);
    }
  }

 private:
  /// Reads up to `most` numbers, up to the first token that is none (a comment, say); returns how many.
  static int numbers(const char* p, const char* end, double* out, int most) {
    int count = 0;
    for (p = record_value::skip_blanks(p, end); p != end && count < most; ++count) {
      Decimal number;
      const char* stop = scan_decimal(p, '.', number);
      if (stop != nullptr && stop <= end && (stop == end || is_blank(*stop))) {
        out[count] = number.value;
      } else {
        stop = record_value::token_end(p, end);
        if (!record_value::parse_double(p, stop, out[count])) return count;
      }
      p = record_value::skip_blanks(stop, end);
    }
    return count;
  }

  void vertex(const char* p, const char* end) {
    double v[6];
    const int count = numbers(p, end, v, 6);
    if (count == 6) {
      while (out_.colors.size() < 3 * out_.positions.size()) out_.colors.push_back(static_cast<float>(kNan));
      for (int i = 3; i < 6; ++i) out_.colors.push_back(static_cast<float>(v[i]));
    }
    if (count < 3) {
      out_.faults.add(ObjFault::kVertex, line_);
      out_.positions.push_back({kNan, kNan, kNan});
    } else {
      out_.positions.push_back(checked(Vec3d{v[0], v[1], v[2]} - shift_));
    }
  }

  void texture_coordinate(const char* p, const char* end) {
    double v[2] = {0, 0};
    const bool ok = numbers(p, end, v, 2) >= 1 && std::isfinite(v[0]) && std::isfinite(v[1]);
    if (!ok) out_.faults.add(ObjFault::kUv, line_);
    for (const double c : v) out_.uvs.push_back(ok ? static_cast<float>(c) : 0.0f);
  }

  void normal(const char* p, const char* end) {
    double v[3];
    const bool ok = numbers(p, end, v, 3) == 3 && is_finite(checked({v[0], v[1], v[2]}));
    if (!ok) out_.faults.add(ObjFault::kNormal, line_);
    for (const double c : v) out_.normals.push_back(ok ? static_cast<float>(c) : 0.0f);
  }

  /// Reads a whole number up to '/' or `end`; 0 if there is none.
  static std::int64_t index_at(const char*& p, const char* end) {
    const bool negative = p != end && *p == '-';
    if (p != end && (*p == '-' || *p == '+')) ++p;
    std::int64_t value = 0;
    bool good = p != end && *p != '/';
    for (; p != end && *p != '/'; ++p) {
      const bool digit = *p >= '0' && *p <= '9';
      good = good && digit && value < (std::int64_t{1} << 40);
      if (good) value = 10 * value + (*p - '0');
    }
    return !good ? 0 : negative ? -value : value;
  }

  static std::uint32_t coded(std::int64_t index, std::size_t count) {
    if (index > 0) return obj_index::absolute(index - 1);
    return index == 0 ? kNoIndex : obj_index::relative(static_cast<std::int64_t>(count) + index);
  }

  void face(const char* p, const char* end) {
    std::size_t corners = 0;
    for (p = record_value::skip_blanks(p, end); p != end && *p != '#';
         p = record_value::skip_blanks(p, end)) {
      const char* const token = record_value::token_end(p, end);
      std::int64_t index[3] = {0, 0, 0};
      for (int part = 0; part < 3 && p != token; ++part) {
        index[part] = index_at(p, token);
        if (p != token) ++p;
      }
      p = token;
      out_.corner_position.push_back(coded(index[0], out_.positions.size()));
      out_.corner_uv.push_back(coded(index[1], out_.uvs.size() / 2));
      out_.corner_normal.push_back(coded(index[2], out_.normals.size() / 3));
      if (++corners > kMaxFaceCorners) {
        throw Error(ErrorCode::kUnsupported, path_ + ": a face has more than " +
                                                 std::to_string(kMaxFaceCorners) +
                                                 " corners; split it into smaller ones");
      }
    }
    if (corners < 3) {
      out_.faults.add(ObjFault::kShortFace, line_);
      const std::size_t kept = out_.corner_position.size() - corners;
      out_.corner_position.resize(kept);
      out_.corner_uv.resize(kept);
      out_.corner_normal.resize(kept);
      return;
    }
    out_.face_corners.push_back(static_cast<std::uint32_t>(corners));
    out_.face_lines.push_back(static_cast<std::uint32_t>(
        std::min<std::uint64_t>(line_, std::numeric_limits<std::uint32_t>::max())));
  }

  std::string name(const char* p, const char* end, std::size_t most) const {
    std::string text = rest_of(p, end);
    if (text.size() <= most) return text;
    throw Error(ErrorCode::kUnsupported, path_ + ": the name " + quoted(text) + " has " +
                                             std::to_string(text.size()) + " bytes, more than " +
                                             std::to_string(most));
  }

  void library(std::string names) {
    if (names.empty()) return unknown("mtllib");
    if (out_.libraries.size() <= kMaxMaterialLibraries) out_.libraries.push_back(std::move(names));
  }

  void unknown(std::string_view word) {
    ObjFaults::Fault& fault = out_.faults[ObjFault::kUnknown];
    if (fault.count == 0) fault.text = quoted(std::string(word.substr(0, 100)));
    out_.faults.add(ObjFault::kUnknown, line_);
  }

  const Vec3d& shift_;
  const std::string& path_;
  ObjChunk& out_;
  std::uint64_t line_ = 0;
};

}  // namespace

ObjChunk parse_obj_lines(Span<const char> lines, const Vec3d& shift, const std::string& path,
                         OpContext& ctx) {
  ObjChunk out;
  LineParser parser(shift, path, out);
  std::uint64_t polled = 0;
  for (const char *p = lines.begin(), *end = lines.end(); p != end;) {
    if (polled++ % kPollLines == 0) ctx.checkpoint();
    const auto* mark =
        static_cast<const char*>(std::memchr(p, '\n', static_cast<std::size_t>(end - p)));  // the last byte
    parser.parse(p, mark, out.lines);
    out.lines += 1 + static_cast<std::uint64_t>(std::count(p, mark, '\v'));
    p = mark + 1;
  }
  return out;
}

}  // namespace pc::io
