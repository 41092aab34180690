#include "ops/octree/octree_metadata.h"

#include <array>
#include <charconv>
#include <cstdint>

namespace pc::octree {

namespace {

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

}  // namespace

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
