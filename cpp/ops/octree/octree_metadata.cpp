#include "ops/octree/octree_metadata.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include "core/parse_double.h"

namespace pc::octree {

namespace {

constexpr std::uint32_t kMaxAttributeBytes = 24;

std::string number(double value) {
  std::array<char, 32> text;
  const auto end =
      std::to_chars(text.data(), text.data() + text.size(), value);  // shortest that reads back the same
  return std::string(text.data(), end.ptr);
}

std::string array(const std::vector<double>& values) {
  std::string out = "[";
  for (std::size_t i = 0; i < values.size(); ++i) out += (i == 0 ? "" : ", ") + number(values[i]);
  return out + "]";
}

std::string array(const Vec3d& v) { return array(std::vector<double>{v.x, v.y, v.z}); }

std::string quoted(const std::string& text) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20) {
      out += "\\u00";
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string attribute_json(const OctreeAttributeInfo& attribute) {
  return "    {\"name\": " + quoted(attribute.name) + ", \"description\": " + quoted(attribute.label) +
         ", \"size\": " + std::to_string(attribute.size) +
         ", \"numElements\": " + std::to_string(attribute.num_elements) +
         ", \"elementSize\": " + std::to_string(attribute.element_size) +
         ", \"type\": " + quoted(attribute.type) + ", \"min\": " + array(attribute.min) +
         ", \"max\": " + array(attribute.max) + "}";
}

/// Reads the output of metadata_json from front to back. Any other text clears `good`; reads then return empty values.
class Reader {
 public:
  explicit Reader(const std::string& text) : at_(text.data()), end_(text.data() + text.size()) {}
  bool good = true;

  /// Consumes `wanted` if the text continues with it.
  bool take(const char* wanted) {
    const std::size_t length = std::strlen(wanted);
    if (static_cast<std::size_t>(end_ - at_) < length || std::memcmp(at_, wanted, length) != 0) return false;
    at_ += length;
    return true;
  }
  void expect(const char* wanted) { good = good && take(wanted); }

  template <class T>
  T number() {
    T value{};
    if constexpr (std::is_same_v<T, double>) {
      const ParsedDouble read = parse_double(at_, end_);
      good = good && read.end != at_ && std::isfinite(read.value);
      value = read.value;
      at_ = read.end;
    } else {
      const auto [end, error] = std::from_chars(at_, end_, value);
      good = good && error == std::errc{};
      at_ = end;
    }
    return value;
  }
  std::vector<double> numbers() {
    std::vector<double> values;
    expect("[");
    do {
      values.push_back(number<double>());
    } while (good && take(", "));
    expect("]");
    return values;
  }
  Vec3d triple() {
    const std::vector<double> values = numbers();
    good = good && values.size() == 3;
    return good ? Vec3d{values[0], values[1], values[2]} : Vec3d{0, 0, 0};
  }
  std::string quoted_text() {
    std::string out;
    expect("\"");
    while (good && at_ < end_ && *at_ != '"') {
      if (take("\\u00")) {
        unsigned byte = 0;
        const char* const last = at_ + std::min<std::ptrdiff_t>(2, end_ - at_);
        good = std::from_chars(at_, last, byte, 16).ptr == last;
        at_ = last;
        out += static_cast<char>(byte);
        continue;
      }
      take("\\");
      if (at_ < end_) out += *at_++;
    }
    expect("\"");
    return out;
  }

 private:
  const char* at_;
  const char* end_;
};

OctreeAttributeInfo read_attribute(Reader& in) {
  OctreeAttributeInfo info{};
  in.expect("    {\"name\": ");
  info.name = in.quoted_text();
  in.expect(", \"description\": ");
  info.label = in.quoted_text();
  in.expect(", \"size\": ");
  info.size = in.number<std::uint32_t>();
  in.expect(", \"numElements\": ");
  info.num_elements = in.number<std::uint32_t>();
  in.expect(", \"elementSize\": ");
  info.element_size = in.number<std::uint32_t>();
  in.expect(", \"type\": ");
  info.type = in.quoted_text();
  in.expect(", \"min\": ");
  info.min = in.numbers();
  in.expect(", \"max\": ");
  info.max = in.numbers();
  info.has_range = true;
  in.expect("}");
  in.good = in.good && info.size <= kMaxAttributeBytes;  // their sum is the size of a record
  return info;
}

}  // namespace

std::optional<OctreeResult> parse_metadata_json(const std::string& text) {
  OctreeResult result{};
  Reader in(text);
  in.expect("{\n  \"version\": \"2.0\",\n  \"name\": \"\",\n  \"description\": \"\",\n  \"points\": ");
  result.point_count = in.number<std::uint64_t>();
  in.expect(",\n  \"projection\": \"\",\n  \"hierarchy\": {\"firstChunkSize\": ");
  result.first_chunk_bytes = in.number<std::uint64_t>();
  in.expect(", \"stepSize\": 4, \"depth\": ");
  result.depth = in.number<std::uint32_t>();
  in.expect("},\n  \"offset\": ");
  result.offset = in.triple();
  in.expect(",\n  \"scale\": ");
  result.scale = in.triple();
  in.expect(",\n  \"spacing\": ");
  result.spacing = in.number<double>();
  in.expect(",\n  \"boundingBox\": {\"min\": ");
  result.bounds.min = in.triple();
  in.expect(", \"max\": ");
  result.bounds.max = in.triple();
  in.expect("},\n  \"encoding\": \"DEFAULT\",\n  \"attributes\": [\n");
  do {
    result.attributes.push_back(read_attribute(in));
    result.record_bytes += result.attributes.back().size;
  } while (in.good && in.take(",\n"));
  const std::vector<double>&low = result.attributes[0].min, &high = result.attributes[0].max;
  // Writing the result again must give the same text: nothing is lost, whatever the reader accepted.
  if (!in.good || low.size() != 3 || high.size() != 3 || metadata_json(result) != text) return std::nullopt;
  result.tight_bounds = {{low[0], low[1], low[2]}, {high[0], high[1], high[2]}};
  return result;
}

std::string metadata_json(const OctreeResult& result) {
  std::string out = "{\n  \"version\": \"2.0\",\n  \"name\": \"\",\n  \"description\": \"\",\n";
  out += "  \"points\": " + std::to_string(result.point_count) + ",\n  \"projection\": \"\",\n";
  out += "  \"hierarchy\": {\"firstChunkSize\": " + std::to_string(result.first_chunk_bytes) +
         ", \"stepSize\": 4, \"depth\": " + std::to_string(result.depth) + "},\n";
  out += "  \"offset\": " + array(result.offset) + ",\n  \"scale\": " + array(result.scale) + ",\n";
  out += "  \"spacing\": " + number(result.spacing) + ",\n";
  out += "  \"boundingBox\": {\"min\": " + array(result.bounds.min) +
         ", \"max\": " + array(result.bounds.max) + "},\n";
  out += "  \"encoding\": \"DEFAULT\",\n  \"attributes\": [\n";
  for (std::size_t i = 0; i < result.attributes.size(); ++i) {
    out += attribute_json(result.attributes[i]) + (i + 1 < result.attributes.size() ? ",\n" : "\n");
  }
  return out + "  ]\n}\n";
}

std::string labels_json(const OctreeResult& result) {
  std::string out = "{";
  for (const OctreeAttributeInfo& attribute : result.attributes) {
    if (attribute.label.empty()) continue;
    out += (out.size() > 1 ? ",\n  " : "\n  ") + quoted(attribute.name) + ": " + quoted(attribute.label);
  }
  return out + (out.size() > 1 ? "\n}\n" : "}\n");
}

}  // namespace pc::octree
