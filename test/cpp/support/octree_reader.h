#pragma once
#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include "ops/octree/octree_sink.h"

/// Slow, obvious reader of the files octree_build writes, after the format and the viewer's loader alone.
namespace pc::test {

/// Keeps the files in memory and checks the order of calls and that node bytes are written exactly once.
class MemorySink final : public OctreeSink {
 public:
  std::map<std::string, std::string> files;
  std::vector<std::string> order;  ///< names in the order of arrival

  void begin(std::uint64_t total_bytes) override {
    if (!order.empty()) throw std::logic_error("begin comes first");
    order.push_back("octree.bin");
    files["octree.bin"].assign(total_bytes, '\0');
    written_.assign(total_bytes, 0);
  }
  void write_nodes(std::uint64_t offset, Span<const std::byte> bytes) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (bytes.size > std::size_t{2} << 20) throw std::logic_error("block is larger than 2 MiB");
    std::string& to = files.at("octree.bin");
    for (std::size_t i = 0; i < bytes.size; ++i) {
      to.at(offset + i) = static_cast<char>(bytes[i]);
      ++written_.at(offset + i);
    }
  }
  void file(const std::string& name, Span<const std::byte> bytes) override {
    order.push_back(name);
    files[name].assign(reinterpret_cast<const char*>(bytes.data), bytes.size);
  }
  bool every_byte_once() const {
    for (const std::uint8_t count : written_) {
      if (count != 1) return false;
    }
    return true;
  }

 private:
  std::mutex mutex_;
  std::vector<std::uint8_t> written_;
};

/// The number or the numbers that follow `"key":` at or after `from` in a JSON text.
inline std::vector<double> json_numbers(const std::string& json, const std::string& key,
                                        std::size_t from = 0) {
  const std::size_t at = json.find("\"" + key + "\":", from);
  if (at == std::string::npos) throw std::runtime_error("no key " + key);
  const char* text = json.c_str() + at + key.size() + 3;
  while (*text == ' ' || *text == '[') ++text;
  std::vector<double> values;
  for (;;) {
    char* end = nullptr;
    values.push_back(std::strtod(text, &end));
    if (end == text) throw std::runtime_error("no number for key " + key);
    while (*end == ' ') ++end;
    if (*end != ',' || end[1] == '\n' || end[2] == '"') return values;
    text = end + 1;
  }
}

struct ReadNode {
  std::string name;  ///< "r", "r0", ...
  int level;
  std::array<std::uint64_t, 3> at;  ///< node coordinates at its level
  std::uint8_t type;                ///< 0 inner, 1 leaf
  std::uint8_t child_mask;
  std::uint32_t points;
  std::uint64_t offset, bytes;
};

class HierarchyReader {
 public:
  explicit HierarchyReader(const std::string& bytes) : bytes_(bytes) {}
  std::vector<ReadNode> nodes;
  std::size_t chunks = 0, proxies = 0;

  void read(std::uint64_t first_chunk_bytes) {
    read_chunk(0, first_chunk_bytes, {"r", 0, {0, 0, 0}, 2, 0, 0, 0, 0});
    if (covered_ != bytes_.size()) throw std::runtime_error("hierarchy.bin has bytes that no chunk uses");
  }

 private:
  template <class T>
  T get(std::uint64_t at) const {
    T value;
    if (at + sizeof value > bytes_.size()) throw std::runtime_error("hierarchy.bin is too short");
    std::memcpy(&value, bytes_.data() + at, sizeof value);
    return value;
  }
  void read_chunk(std::uint64_t offset, std::uint64_t size, const ReadNode& first) {
    if (size == 0 || size % 22 != 0) throw std::runtime_error("chunk is not a number of records");
    ++chunks;
    covered_ += size;
    std::vector<ReadNode> queue{first};
    for (std::uint64_t i = 0; i < size / 22; ++i) {
      if (i >= queue.size()) throw std::runtime_error("record that belongs to no node");
      ReadNode node = queue[i];
      const std::uint64_t at = offset + 22 * i;
      node.type = get<std::uint8_t>(at);
      node.child_mask = get<std::uint8_t>(at + 1);
      node.points = get<std::uint32_t>(at + 2);
      node.offset = get<std::uint64_t>(at + 6);
      node.bytes = get<std::uint64_t>(at + 14);
      if (node.type > 2) throw std::runtime_error("unknown node type");
      if (node.type == 2) {
        if (i == 0) throw std::runtime_error("chunk opens with a proxy");
        ++proxies;
        read_chunk(node.offset, node.bytes, node);
        continue;
      }
      if ((node.type == 1) != (node.child_mask == 0))
        throw std::runtime_error("node type and child mask disagree");
      nodes.push_back(node);
      for (unsigned c = 0; c < 8; ++c) {
        if ((node.child_mask >> c & 1) == 0) continue;
        queue.push_back(
            {node.name + std::to_string(c),
             node.level + 1,
             {node.at[0] * 2 + (c >> 2 & 1), node.at[1] * 2 + (c >> 1 & 1), node.at[2] * 2 + (c & 1)},
             0,
             0,
             0,
             0,
             0});
      }
    }
    if (queue.size() != size / 22) throw std::runtime_error("chunk lacks records of nodes it announces");
  }
  const std::string& bytes_;
  std::uint64_t covered_ = 0;
};

/// A stored point: its node, integers, and where its record is.
struct ReadPoint {
  std::uint32_t node;
  std::array<std::int32_t, 3> at;
  std::uint64_t record;
};

struct ReadOctree {
  std::vector<ReadNode> nodes;
  std::vector<ReadPoint> points;
  std::size_t chunks = 0, proxies = 0;
  std::array<double, 3> scale, offset, cube_min, cube_max;
  double spacing = 0;
  std::uint64_t point_count = 0;
  std::uint32_t depth = 0;
  std::string octree_bin;

  template <class T>
  T value(const ReadPoint& point, std::size_t offset_in_record) const {
    T v;
    std::memcpy(&v, octree_bin.data() + point.record + offset_in_record, sizeof v);
    return v;
  }
  double coordinate(const ReadPoint& point, std::size_t axis) const {
    return point.at[axis] * scale[axis] + offset[axis];
  }
};

inline ReadOctree read_octree(const std::map<std::string, std::string>& files, std::uint32_t record_bytes) {
  ReadOctree tree;
  const std::string& json = files.at("metadata.json");
  const auto triple = [&](const std::string& key, std::size_t from = 0) {
    const auto v = json_numbers(json, key, from);
    if (v.size() != 3) throw std::runtime_error(key + " is not a triple");
    return std::array<double, 3>{v[0], v[1], v[2]};
  };
  tree.scale = triple("scale");
  tree.offset = triple("offset");
  const std::size_t box = json.find("\"boundingBox\"");
  tree.cube_min = triple("min", box);
  tree.cube_max = triple("max", box);
  tree.spacing = json_numbers(json, "spacing").at(0);
  tree.point_count = static_cast<std::uint64_t>(json_numbers(json, "points").at(0));
  tree.depth = static_cast<std::uint32_t>(json_numbers(json, "depth").at(0));
  tree.octree_bin = files.at("octree.bin");
  HierarchyReader hierarchy(files.at("hierarchy.bin"));
  hierarchy.read(static_cast<std::uint64_t>(json_numbers(json, "firstChunkSize").at(0)));
  tree.nodes = hierarchy.nodes;
  tree.chunks = hierarchy.chunks;
  tree.proxies = hierarchy.proxies;
  for (std::uint32_t n = 0; n < tree.nodes.size(); ++n) {
    const ReadNode& node = tree.nodes[n];
    if (node.bytes != std::uint64_t{node.points} * record_bytes)
      throw std::runtime_error("node bytes are not points x record");
    if (node.offset + node.bytes > tree.octree_bin.size())
      throw std::runtime_error("node lies outside octree.bin");
    for (std::uint32_t i = 0; i < node.points; ++i) {
      ReadPoint point{n, {}, node.offset + std::uint64_t{i} * record_bytes};
      std::memcpy(point.at.data(), tree.octree_bin.data() + point.record, 12);
      tree.points.push_back(point);
    }
  }
  if (tree.points.size() * record_bytes != tree.octree_bin.size())
    throw std::runtime_error("octree.bin has unused bytes");
  return tree;
}

}  // namespace pc::test
