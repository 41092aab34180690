#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <set>
#include <string>

#include "core/memory.h"
#include "io/octree_directory.h"
#include "support/cancel.h"
#include "support/octree_clouds.h"
#include "support/octree_reader.h"

/// Cancel, memory, errors, the id and the folder writer.
namespace pc::test {
namespace {

std::string hash_of(const OctreeInput& input, OctreeParams params = {.scale = 0.001, .leaf_capacity = 10000},
                    int threads = 2) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, threads);
  std::string hex;
  for (const std::uint8_t byte : octree_content_hash(input, params, ctx)) {
    char text[3];
    std::snprintf(text, sizeof text, "%02x", byte);
    hex += text;
  }
  return hex;
}

ErrorCode code_of(const std::function<void()>& call, std::string* message = nullptr) {
  try {
    call();
  } catch (const Error& error) {
    if (message != nullptr) *message = error.what();
    return error.code();
  }
  ADD_FAILURE() << "no error was thrown";
  return ErrorCode::kInternal;
}

/// Swallows everything: for tests of time and memory.
class NullSink final : public OctreeSink {
 public:
  std::atomic<bool> has_metadata{false};
  void begin(std::uint64_t) override {}
  void write_nodes(std::uint64_t, Span<const std::byte>) override {}
  void file(const std::string& name, Span<const std::byte>) override {
    if (name == "metadata.json") has_metadata = true;
  }
};

TEST(OctreeLimits, CancelEndsWithin250MsInEveryPhaseAndReturnsItsMemory) {
  const NamedCloud cloud{"plot", plot_positions(150000), 0.001, {}};
  const AttributeColumns columns(cloud.points.size());
  for (const char* phase :
       {"Measuring attributes", "Counting points", "Sorting points", "Sampling octree", "Writing octree"}) {
    expect_cancel_in_phase(phase, [&](OpContext& ctx) {
      NullSink sink;
      try {
        octree_build(input_of(cloud, columns.attributes()), {.scale = 0.001, .leaf_capacity = 1000}, sink,
                     ctx);
      } catch (const Error&) {
        EXPECT_FALSE(sink.has_metadata) << phase;
        throw;
      }
      EXPECT_TRUE(sink.has_metadata) << phase;
    });
  }
}

TEST(OctreeLimits, ScratchStaysBelowItsCost) {
  const std::size_t n = 400000;
  const NamedCloud cloud{"box", random_box(n, {0, 0, 0}, {30, 30, 2}, 1), 0.001, {}};
  NullSink sink;
  JobControl control;
  OpContext ctx(control, Device::kCpu, 2);
  const std::uint64_t before = bulk_bytes_in_use();
  reset_bulk_bytes_peak();
  const OctreeResult result =
      octree_build(input_of(cloud), {.scale = 0.001, .leaf_capacity = 10000}, sink, ctx);
  const OctreeCost cost = octree_build_cost(n, 12);
  EXPECT_LT(bulk_bytes_peak() - before, cost.scratch_bytes);
  EXPECT_EQ(cost.output_bytes, result.node_bytes);
  EXPECT_EQ(bulk_bytes_in_use(), before);
}

TEST(OctreeLimits, AnExceptionOfTheSinkEndsTheBuild) {
  class Full final : public OctreeSink {
   public:
    void begin(std::uint64_t) override {}
    void write_nodes(std::uint64_t, Span<const std::byte>) override {
      throw Error(ErrorCode::kNoSpace, "disk full");
    }
    void file(const std::string&, Span<const std::byte>) override {
      ADD_FAILURE() << "no file after a failed write";
    }
  } sink;
  const NamedCloud cloud{"box", random_box(5000, {0, 0, 0}, {1, 1, 1}, 1), 0.001, {}};
  JobControl control;
  OpContext ctx(control, Device::kCpu, 3);
  const std::uint64_t before = bulk_bytes_in_use();
  EXPECT_EQ(
      code_of([&] { octree_build(input_of(cloud), {.scale = 0.001, .leaf_capacity = 100}, sink, ctx); }),
      ErrorCode::kNoSpace);
  EXPECT_EQ(bulk_bytes_in_use(), before);
}

TEST(OctreeLimits, RefusesBadInputWithAMessage) {
  NamedCloud cloud{"box", random_box(100, {0, 0, 0}, {1, 1, 1}, 1), 0.001, {}};
  const AnyColumn good(DType::kU8, 100), shorter(DType::kU8, 99), vectors(DType::kVec3d, 100),
      colors(DType::kRgb16, 100);
  const auto refused = [&](const OctreeInput& input, const OctreeParams& params) {
    std::string message;
    Built built;
    JobControl control;
    OpContext ctx(control, Device::kCpu, 2);
    EXPECT_EQ(code_of([&] { octree_build(input, params, built.sink, ctx); }, &message),
              ErrorCode::kInvalidArgument);
    EXPECT_TRUE(built.sink.order.empty());
    return message;
  };
  const OctreeParams fine{.scale = 0.001, .leaf_capacity = 100};
  for (const double scale : {0.0, -1.0, static_cast<double>(NAN), static_cast<double>(INFINITY)}) {
    refused(input_of(cloud), {.scale = scale, .leaf_capacity = 100});
  }
  refused(input_of(cloud), {.scale = 0.001, .leaf_capacity = 0});
  refused(input_of(cloud), {.scale = 0.001, .leaf_capacity = (1u << 20) + 1});
  EXPECT_NE(refused(input_of(cloud, {{"a", "", &good}, {"a", "", &good}}), fine).find("\"a\""),
            std::string::npos);
  refused(input_of(cloud, {{"position", "", &good}}), fine);
  refused(input_of(cloud, {{"", "", &good}}), fine);
  refused(input_of(cloud, {{"a", "", nullptr}}), fine);
  refused(input_of(cloud, {{"a", "", &shorter}}), fine);
  refused(input_of(cloud, {{"a", "", &vectors}}), fine);
  refused(input_of(cloud, {{"a", "", &colors}}), fine);
  refused(input_of(cloud, {{"rgb", "", &good}}), fine);
  NamedCloud mask = cloud;
  mask.skip.assign(99, 0);
  refused(input_of(mask), fine);
  NamedCloud lost = cloud;
  lost.points[42].y = NAN;
  EXPECT_NE(refused(input_of(lost), fine).find("row 42"), std::string::npos);
  NamedCloud wide = cloud;
  wide.points[0].x = -1.7e308;
  wide.points[1].x = 1.7e308;
  refused(input_of(wide), fine);
}

TEST(OctreeLimits, ExtremeExtentsBuild) {
  for (const double far : {1e12, 1e100, 1e307}) {
    NamedCloud cloud{"far", random_box(500, {0, 0, 0}, {1, 1, 1}, 1), 0.001, {}};
    cloud.points.push_back({far, 1, -far / 3});
    Built built;
    build(input_of(cloud), 1e-4, 50, 2, built);
    const ReadOctree tree = read_octree(built.sink.files, built.result.record_bytes);
    EXPECT_EQ(tree.points.size(), 501u);
    EXPECT_GE(built.result.scale.x * 1073741824.0, far);
  }
}

TEST(OctreeLimits, IdIsAFunctionOfTheContent) {
  NamedCloud cloud{"box", random_box(200000, {0, 0, 0}, {1, 1, 1}, 1), 0.001, {}};
  Column<std::uint8_t> values(cloud.points.size());
  const AnyColumn column(std::move(values));
  const auto id = [&](const std::string& name, const std::string& label) {
    return hash_of(input_of(cloud, {{name, label, &column}}));
  };
  const std::string base = id("a", "A");
  EXPECT_EQ(base.size(), 40u);
  EXPECT_EQ(base, id("a", "A"));
  for (const int threads : {1, 3, 8}) {
    EXPECT_EQ(
        hash_of(input_of(cloud, {{"a", "A", &column}}), {.scale = 0.001, .leaf_capacity = 10000}, threads),
        base);
  }
  std::set<std::string> ids{base};
  const auto expect_new = [&](const std::string& what, const std::string& id) {
    EXPECT_TRUE(ids.insert(id).second) << what;
  };
  expect_new("name", id("b", "A"));
  expect_new("label", id("a", "B"));
  expect_new("name and label cut elsewhere", id("aA", ""));
  expect_new("no attribute", hash_of(input_of(cloud)));
  expect_new("attribute twice", hash_of(input_of(cloud, {{"a", "A", &column}, {"b", "A", &column}})));
  expect_new("scale",
             hash_of(input_of(cloud, {{"a", "A", &column}}), {.scale = 0.01, .leaf_capacity = 10000}));
  expect_new("leaf capacity",
             hash_of(input_of(cloud, {{"a", "A", &column}}), {.scale = 0.001, .leaf_capacity = 9999}));
  for (const std::size_t row :
       {std::size_t{0}, std::size_t{65535}, std::size_t{65536}, cloud.points.size() - 1}) {
    AnyColumn changed(DType::kU8, cloud.points.size());
    changed.as_mutable<std::uint8_t>()[row] = 1;
    expect_new("attribute of row " + std::to_string(row), hash_of(input_of(cloud, {{"a", "A", &changed}})));
    NamedCloud moved = cloud;
    moved.points[row].z = std::nextafter(moved.points[row].z, 2.0);
    expect_new("position of row " + std::to_string(row), hash_of(input_of(moved, {{"a", "A", &column}})));
    NamedCloud skipped = cloud;
    skipped.skip.assign(cloud.points.size(), 0);
    EXPECT_EQ(hash_of(input_of(skipped, {{"a", "A", &column}})), base) << "a mask that skips nothing";
    skipped.skip[row] = 1;
    expect_new("skipped row " + std::to_string(row), hash_of(input_of(skipped, {{"a", "A", &column}})));
  }
  NamedCloud swapped = cloud;
  std::swap(swapped.points[10], swapped.points[11]);
  expect_new("order", hash_of(input_of(swapped, {{"a", "A", &column}})));
  AnyColumn same_bytes(DType::kI8, cloud.points.size());
  expect_new("type", hash_of(input_of(cloud, {{"a", "A", &same_bytes}})));
}

TEST(OctreeLimits, IdSeesTheSelectionOnly) {
  const NamedCloud plain{"plain", random_box(150000, {0, 0, 0}, {1, 1, 1}, 1), 0.001, {}};
  NamedCloud masked{"masked", {}, 0.001, {}};
  for (std::size_t i = 0; i < plain.points.size(); ++i) {
    for (std::uint64_t k = random_u64(1, i) % 3; k > 0; --k) {
      masked.points.push_back({NAN, 0, 0});
      masked.skip.push_back(7);
    }
    masked.points.push_back(plain.points[i]);
    masked.skip.push_back(0);
  }
  EXPECT_EQ(hash_of(input_of(masked)), hash_of(input_of(plain)));
  const NamedCloud none{"none", {}, 0.001, {}};
  const NamedCloud all_skipped{"all skipped", {{1, 2, 3}}, 0.001, {1}};
  EXPECT_EQ(hash_of(input_of(none)), hash_of(input_of(all_skipped)));
}

TEST(OctreeDirectory, WritesTheSameBytesIntoAFolder) {
  const auto folder =
      std::filesystem::temp_directory_path() /
      ("octree_directory_" + std::to_string(std::chrono::steady_clock::now().time_since_epoch().count()));
  std::filesystem::create_directory(folder);
  const NamedCloud cloud{"plot", plot_positions(20000), 0.001, {}};
  for (const NamedCloud& source : {cloud, NamedCloud{"empty", {}, 0.001, {}}}) {
    Built built;
    build(input_of(source), 0.001, 500, 2, built);
    JobControl control;
    OpContext ctx(control, Device::kCpu, 3);
    io::OctreeDirectory sink(folder.string());
    octree_build(input_of(source), {.scale = 0.001, .leaf_capacity = 500}, sink, ctx);
    for (const auto& [name, bytes] : built.sink.files) {
      std::ifstream file(folder / name, std::ios::binary);
      const std::string read{std::istreambuf_iterator<char>(file), {}};
      EXPECT_EQ(read == bytes, true) << source.name << " " << name;
    }
  }
  std::filesystem::remove_all(folder);
  io::OctreeDirectory gone(folder.string());
  EXPECT_EQ(code_of([&] { gone.begin(10); }), ErrorCode::kNotFound);
}

}  // namespace
}  // namespace pc::test
