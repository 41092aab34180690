#include "ops/octree/octree_translate.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>

#include "io/octree_directory.h"
#include "ops/octree/octree_metadata.h"
#include "support/cancel.h"
#include "support/columns.h"
#include "support/octree_clouds.h"
#include "support/octree_reader.h"

namespace pc::test {
namespace {

using Files = std::map<std::string, std::string>;

/// Files of a sink as a source.
class MemorySource final : public OctreeSource {
 public:
  explicit MemorySource(Files files) : files_(std::move(files)) {}
  std::uint64_t node_bytes() const override { return files_.at("octree.bin").size(); }
  void read_nodes(std::uint64_t offset, Span<std::byte> bytes) const override {
    const std::string& from = files_.at("octree.bin");
    if (offset + bytes.size > from.size()) throw Error(ErrorCode::kInvalidFile, "octree.bin ends too early");
    std::memcpy(bytes.data, from.data() + offset, bytes.size);
  }
  BulkVector<std::byte> file(const std::string& name) const override {
    const auto found = files_.find(name);
    if (found == files_.end()) throw Error(ErrorCode::kNotFound, name);
    BulkVector<std::byte> bytes(found->second.size());
    if (!found->second.empty()) std::memcpy(bytes.data(), found->second.data(), bytes.size());
    return bytes;
  }

 private:
  Files files_;
};

struct Moved {
  MemorySink sink;
  OctreeResult result;
};

void translate(const Files& files, const Vec3d& delta, int threads, Moved& out) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, threads);
  out.result = octree_translate(MemorySource(files), delta, out.sink, ctx);
}

ErrorCode code_for(const Files& files, const Vec3d& delta = {1, 2, 3}) {
  return code_of([&] {
    Moved moved;
    translate(files, delta, 2, moved);
  });
}

std::array<double, 3> axes_of(const Vec3d& v) { return {v.x, v.y, v.z}; }

/// The text with its first `from` replaced.
std::string with(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  if (at == std::string::npos) throw std::logic_error("nothing to replace: " + from);
  return text.replace(at, from.size(), to);
}

void expect_moved(const ReadOctree& before, const ReadOctree& after, const Vec3d& delta,
                  const std::string& name) {
  ASSERT_EQ(before.points.size(), after.points.size()) << name;
  EXPECT_EQ(before.spacing, after.spacing) << name;
  const std::array<double, 3> move = axes_of(delta);
  for (std::size_t a = 0; a < 3; ++a) {
    EXPECT_EQ(after.scale[a], before.scale[a]) << name;
    EXPECT_EQ(after.cube_min[a], before.cube_min[a] + move[a]) << name;
    EXPECT_EQ(after.cube_max[a], before.cube_max[a] + move[a]) << name;
    EXPECT_EQ(after.offset[a], before.offset[a] + move[a]) << name;
  }
  for (std::size_t i = 0; i < before.points.size(); ++i) {
    ASSERT_EQ(before.points[i].node, after.points[i].node);
    ASSERT_EQ(before.points[i].record, after.points[i].record);
    for (std::size_t a = 0; a < 3; ++a) {
      const double old = before.points[i].at[a] * before.scale[a] + before.offset[a];
      // The rounding of sums of this size, no step of the octree.
      const double size = std::abs(old) + std::abs(move[a]) + std::abs(before.offset[a]);
      ASSERT_NEAR(after.coordinate(after.points[i], a), old + move[a], size * 5e-16)
          << name << " point " << i << " axis " << a;
    }
  }
}

TEST(OctreeTranslate, MovesPositionsAndNothingElse) {
  const std::vector<Vec3d> deltas{
      {0, 0, 0}, {1, -2, 3}, {0.0005, -0.0015, 12.3456789}, {4e6, -5e6, 1234.5}, {-512345.678, 1e-9, 7}};
  for (const NamedCloud& cloud : adversarial_clouds()) {
    const AttributeColumns columns(cloud.points.size());
    Built built;
    build(input_of(cloud, columns.attributes()), cloud.scale, 40, 2, built);
    const ReadOctree before = read_octree(built.sink.files, built.result.record_bytes);
    const std::string& old_bytes = built.sink.files.at("octree.bin");
    for (const Vec3d& delta : deltas) {
      Moved moved;
      translate(built.sink.files, delta, 2, moved);
      EXPECT_TRUE(moved.sink.every_byte_once());
      EXPECT_EQ(moved.sink.order, built.sink.order);
      const Files& files = moved.sink.files;
      EXPECT_EQ(files.at("hierarchy.bin") == built.sink.files.at("hierarchy.bin"), true);
      EXPECT_EQ(files.at("attribute_labels.json"), built.sink.files.at("attribute_labels.json"));
      const ReadOctree after = read_octree(files, built.result.record_bytes);
      expect_moved(before, after, delta, cloud.name);
      if (::testing::Test::HasFatalFailure()) return;
      ASSERT_EQ(files.at("octree.bin") == old_bytes, true) << cloud.name;
    }
  }
}

TEST(OctreeTranslate, MetadataChangesOnlyWhatMoves) {
  const NamedCloud cloud{"plot", plot_positions(3000), 0.001, {}};
  const AttributeColumns columns(cloud.points.size());
  Built built;
  build(input_of(cloud, columns.attributes()), 0.001, 100, 2, built);
  Moved moved;
  const Vec3d delta{10.5, -20.25, 0.125};
  translate(built.sink.files, delta, 2, moved);
  OctreeResult wanted = built.result;
  const Vec3d low = wanted.tight_bounds.min + delta, high = wanted.tight_bounds.max + delta;
  wanted.bounds = {wanted.bounds.min + delta, wanted.bounds.max + delta};
  wanted.attributes[0].min = {low.x, low.y, low.z};
  wanted.attributes[0].max = {high.x, high.y, high.z};
  wanted.offset = wanted.offset + delta;
  EXPECT_EQ(moved.sink.files.at("metadata.json"), octree::metadata_json(wanted));
  EXPECT_EQ(moved.result.tight_bounds.min, low);
  EXPECT_EQ(moved.result.node_bytes, built.result.node_bytes);
}

TEST(OctreeTranslate, BytesDoNotDependOnThreads) {
  const NamedCloud cloud{"box", random_box(300'000, {0, 0, 0}, {30, 30, 5}, 3), 0.001, {}};
  Built built;
  build(input_of(cloud), 0.001, 1000, 2, built);
  Moved one;
  translate(built.sink.files, {1, 2, 3}, 1, one);
  for (const int threads : {2, 5}) {
    Moved many;
    translate(built.sink.files, {1, 2, 3}, threads, many);
    EXPECT_EQ(many.sink.files == one.sink.files, true) << threads;
  }
}

TEST(OctreeTranslate, AnEmptyOctreeKeepsItsExtrema) {
  Built built;
  build(input_of({"empty", {}, 0.001, {}}), 0.001, 100, 1, built);
  Moved moved;
  translate(built.sink.files, {5, 6, 7}, 1, moved);
  EXPECT_EQ(moved.sink.files.at("octree.bin"), "");
  EXPECT_EQ(moved.result.attributes[0].min, (std::vector<double>{0, 0, 0}));
  EXPECT_EQ(moved.result.offset, (Vec3d{5, 6, 7}));
}

TEST(OctreeTranslate, TheReaderTakesBackEveryMetadata) {
  for (const NamedCloud& cloud : adversarial_clouds()) {
    AttributeColumns columns(cloud.points.size());
    std::vector<OctreeAttribute> attributes = columns.attributes();
    attributes[0].label = "Quoted \"label\", back\\slash, \n\x01 and \xc3\xa9";
    attributes[2].name = "a{}[]: b";
    Built built;
    build(input_of(cloud, attributes), cloud.scale, 100, 1, built);
    const std::string& text = built.sink.files.at("metadata.json");
    const auto parsed = octree::parse_metadata_json(text);
    ASSERT_TRUE(parsed) << cloud.name;
    EXPECT_EQ(octree::metadata_json(*parsed), text);
    EXPECT_EQ(octree::labels_json(*parsed), built.sink.files.at("attribute_labels.json"));
    EXPECT_EQ(parsed->record_bytes, built.result.record_bytes);
    EXPECT_EQ(parsed->tight_bounds.min, built.result.tight_bounds.min);
    for (std::size_t length = 0; length < text.size(); length += 1 + text.size() / 500)
      EXPECT_FALSE(octree::parse_metadata_json(text.substr(0, length)));
    for (std::size_t at = 0; at < text.size(); at += 1 + text.size() / 500) {
      std::string changed = text;
      changed[at] = '~';
      const auto result = octree::parse_metadata_json(changed);  // a name may hold anything
      EXPECT_TRUE(!result || octree::metadata_json(*result) == changed);
    }
  }
}

TEST(OctreeTranslate, RefusesWhatThisBuilderDidNotWrite) {
  const NamedCloud cloud{"box", random_box(100, {0, 0, 0}, {1, 1, 1}, 1), 0.001, {}};
  const AttributeColumns columns(cloud.points.size());
  Built built;
  build(input_of(cloud, columns.attributes()), 0.001, 100, 1, built);
  const Files& good = built.sink.files;
  const auto changed = [&](const std::string& from, const std::string& to) {
    Files files = good;
    files["metadata.json"] = with(good.at("metadata.json"), from, to);
    return code_for(files);
  };
  constexpr auto kUnsupported = ErrorCode::kUnsupported;
  EXPECT_EQ(changed("DEFAULT", "BROTLI"), kUnsupported);
  EXPECT_EQ(changed("\"version\": \"2.0\"", "\"version\": \"2.1\""), kUnsupported);
  EXPECT_EQ(changed("\"projection\"", "\"more\": 1,\n  \"projection\""), kUnsupported);
  EXPECT_EQ(changed("\"stepSize\": 4", "\"stepSize\": 5"), kUnsupported);
  EXPECT_EQ(changed("\"scale\": [0.001", "\"scale\": [0"), kUnsupported);
  EXPECT_EQ(changed("\"scale\": [0.001", "\"scale\": [-0.001"), kUnsupported);
  EXPECT_EQ(changed("\"name\": \"position\"", "\"name\": \"positions\""), kUnsupported);
  EXPECT_EQ(changed("\"type\": \"int32\"", "\"type\": \"int64\""), kUnsupported);
  EXPECT_EQ(changed("\"size\": 12", "\"size\": 24"), kUnsupported);
  EXPECT_EQ(changed("\"points\": 100", "\"points\": 99"), kUnsupported);
  EXPECT_EQ(changed("\"points\": 100", "\"points\": 1e2"), kUnsupported);
  EXPECT_EQ(changed("\"points\": 100", "\"points\": 18446744073709551615"), kUnsupported);
  Files longer = good, shorter = good, text = good;
  longer["octree.bin"] += "x";
  shorter["octree.bin"].resize(good.at("octree.bin").size() - built.result.record_bytes);
  text["metadata.json"] = "";
  for (const Files& files : {longer, shorter, text}) EXPECT_EQ(code_for(files), kUnsupported);
  for (const char* name : {"metadata.json", "hierarchy.bin", "attribute_labels.json"}) {
    Files files = good;
    files.erase(name);
    EXPECT_EQ(code_for(files), ErrorCode::kNotFound) << name;
  }
}

TEST(OctreeTranslate, RefusesSizesWhoseSumOverflows) {
  const NamedCloud cloud{"box", random_box(100, {0, 0, 0}, {1, 1, 1}, 1), 0.001, {}};
  const AnyColumn bytes(DType::kU8, 100);
  Built built;
  build(input_of(cloud, {{"u8", "", &bytes}}), 0.001, 100, 1, built);
  // Records of 12 + (2^32 - 8) = 4 bytes, modulo 2^32: shorter than a position.
  Files files = built.sink.files;
  std::string& text = files["metadata.json"];
  text = with(with(text, "\"size\": 1,", "\"size\": 4294967288,"), "\"points\": 100", "\"points\": 325");
  EXPECT_EQ(code_for(files), ErrorCode::kUnsupported);
}

TEST(OctreeTranslate, RefusesMovesThatLeaveTheNumbers) {
  const NamedCloud cloud{"box", random_box(100, {0, 0, 0}, {1, 1, 1}, 1), 0.001, {}};
  Built built;
  build(input_of(cloud), 0.001, 100, 1, built);
  constexpr double kMax = std::numeric_limits<double>::max();
  EXPECT_EQ(code_for(built.sink.files, {1e300, 0, 0}), ErrorCode::kUnsupported);
  EXPECT_EQ(code_for(built.sink.files, {0, -kMax, 0}), ErrorCode::kUnsupported);
  EXPECT_EQ(code_for(built.sink.files, {0, 0, std::nan("")}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code_for(built.sink.files, {0, 0, HUGE_VAL}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code_for(built.sink.files, {0, 1e13, 0}),
            ErrorCode::kUnsupported);  // doubles are 2 mm apart there
  Moved near;
  translate(built.sink.files, {0, 1e12, 0}, 1, near);  // 0.1 mm: finer than the step
  EXPECT_EQ(near.result.point_count, 100U);
}

TEST(OctreeTranslate, CancelEndsInTimeAndLeavesNoMetadata) {
  const NamedCloud cloud{"box", random_box(400'000, {0, 0, 0}, {30, 30, 5}, 3), 0.001, {}};
  const AttributeColumns columns(cloud.points.size());
  Built built;
  build(input_of(cloud, columns.attributes()), 0.001, 10'000, 2, built);
  const MemorySource source(built.sink.files);
  class Sink final : public OctreeSink {
   public:
    std::atomic<bool> has_metadata{false};
    void begin(std::uint64_t) override {}
    void write_nodes(std::uint64_t, Span<const std::byte>) override {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    void file(const std::string& name, Span<const std::byte>) override {
      has_metadata = name == "metadata.json";
    }
  };
  expect_cancel_in_time([&](OpContext& ctx) {
    Sink sink;
    try {
      octree_translate(source, {1, 2, 3}, sink, ctx);
    } catch (const Error&) {
      EXPECT_FALSE(sink.has_metadata);
      throw;
    }
  });
}

TEST(OctreeTranslate, FoldersReadAndWriteTheSameBytes) {
  const std::filesystem::path base = std::filesystem::temp_directory_path() / "pc_octree_translate_test";
  std::filesystem::remove_all(base);
  std::filesystem::create_directories(base / "from");
  std::filesystem::create_directories(base / "to");
  const NamedCloud cloud{"box", random_box(20'000, {5, 6, 7}, {30, 30, 5}, 3), 0.001, {}};
  const AttributeColumns columns(cloud.points.size());
  Built built;
  build(input_of(cloud, columns.attributes()), 0.001, 1'000, 2, built);
  for (const auto& [name, bytes] : built.sink.files)
    std::ofstream(base / "from" / name, std::ios::binary) << bytes;
  Moved wanted;
  translate(built.sink.files, {1, 2, 3}, 2, wanted);
  JobControl control;
  OpContext ctx(control, Device::kCpu, 2);
  {
    const io::OctreeDirectoryReader source((base / "from").string());
    io::OctreeDirectory sink((base / "to").string());
    octree_translate(source, {1, 2, 3}, sink, ctx);
  }
  EXPECT_TRUE(
      std::filesystem::equivalent(base / "from/octree.bin", base / "to/octree.bin"));  // one file, two names
  for (const auto& [name, bytes] : wanted.sink.files) {
    std::ifstream in(base / "to" / name, std::ios::binary);
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}) == bytes, true) << name;
  }
  EXPECT_EQ(code_of([&] { io::OctreeDirectoryReader((base / "none").string()); }), ErrorCode::kNotFound);
  std::filesystem::remove_all(base);
}

}  // namespace
}  // namespace pc::test
