#include "ops/octree/octree_build.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "support/octree_clouds.h"
#include "support/octree_reader.h"

namespace pc::test {
namespace {

constexpr std::uint32_t kSmallLeaf = 40;  // more than four levels from a few thousand points

double axis_of(const Vec3d& p, std::size_t axis) { return axis == 0 ? p.x : axis == 1 ? p.y : p.z; }

/// Checks every stored value against its source row, bit for bit. 64-bit values are floats but for the GPS time.
void expect_row(const ReadOctree& tree, const ReadPoint& point, const AttributeColumns& source,
                std::size_t row) {
  std::size_t offset = 12;
  for (const auto& [name, column] : source.columns) {
    const std::size_t size = dtype_size(column.dtype());
    if (size == 8 && name != "gps-time") {
      const float wanted = visit_scalar(column, [&](auto values) { return static_cast<float>(values[row]); });
      ASSERT_EQ(std::bit_cast<std::uint32_t>(tree.value<float>(point, offset)),
                std::bit_cast<std::uint32_t>(wanted))
          << name;
      offset += sizeof(float);
      continue;
    }
    ASSERT_EQ(std::memcmp(tree.octree_bin.data() + point.record + offset, column.data() + row * size, size),
              0)
        << name << " of row " << row;
    offset += size;
  }
}

void expect_in_node(const ReadOctree& tree, const ReadPoint& point) {
  const ReadNode& node = tree.nodes[point.node];
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const double side = std::ldexp(tree.cube_max[axis] - tree.cube_min[axis], -node.level);
    const double from_low =
        tree.coordinate(point, axis) - (tree.cube_min[axis] + static_cast<double>(node.at[axis]) * side);
    // Rounding of coordinates as large as the offset, twice; far below a step.
    const double slack = 4 * std::abs(tree.offset[axis]) * 2.3e-16 + 1e-9 * side;
    ASSERT_GE(from_low, -slack) << node.name;
    ASSERT_LE(from_low, side + slack) << node.name;
  }
}

void expect_faithful(const NamedCloud& cloud, std::uint32_t leaf_capacity) {
  SCOPED_TRACE(cloud.name + ", leaf capacity " + std::to_string(leaf_capacity));
  const AttributeColumns columns(cloud.points.size());
  Built built;
  build(input_of(cloud, columns.attributes()), cloud.scale, leaf_capacity, 2, built);
  ASSERT_TRUE(built.sink.every_byte_once());
  EXPECT_EQ(built.sink.order, (std::vector<std::string>{"octree.bin", "hierarchy.bin",
                                                        "attribute_labels.json", "metadata.json"}));
  const ReadOctree tree = read_octree(built.sink.files, built.result.record_bytes);
  std::vector<std::uint8_t> seen(cloud.points.size());
  for (const ReadPoint& point : tree.points) {
    const auto row = tree.value<std::uint32_t>(point, 12);
    ASSERT_LT(row, cloud.points.size());
    ++seen[row];
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const double wanted = axis_of(cloud.points[row], axis);
      // Half a step, plus the rounding of two double operations at this distance from zero.
      ASSERT_NEAR(tree.coordinate(point, axis), wanted,
                  tree.scale[axis] * 0.5000001 + std::abs(wanted) * 4.5e-16);
    }
    expect_in_node(tree, point);
    expect_row(tree, point, columns, row);
    if (::testing::Test::HasFatalFailure()) return;
  }
  std::uint64_t selected = 0;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    const bool wanted = cloud.skip.empty() || cloud.skip[i] == 0;
    selected += wanted;
    ASSERT_EQ(seen[i], wanted ? 1 : 0) << "row " << i;
  }
  EXPECT_EQ(tree.point_count, selected);
  EXPECT_EQ(built.result.point_count, selected);
  EXPECT_EQ(built.result.node_count, tree.nodes.size());
  std::uint32_t depth = 0;
  for (const ReadNode& node : tree.nodes) depth = std::max(depth, static_cast<std::uint32_t>(node.level));
  EXPECT_EQ(tree.depth, depth);
  EXPECT_EQ(built.result.depth, depth);
}

TEST(OctreeBuild, StoresEveryRowOnceWithItsValues) {
  for (const NamedCloud& cloud : adversarial_clouds()) {
    expect_faithful(cloud, kSmallLeaf);
    expect_faithful(cloud, 10000);
  }
}

/// True when all points of a node lie at one place.
bool at_one_place(const std::vector<ReadPoint>& points) {
  return std::all_of(points.begin(), points.end(), [&](const ReadPoint& p) { return p.at == points[0].at; });
}

/// True when all pairs are at least `distance` apart: the node took everything its children had.
bool spaced(const ReadOctree& tree, const std::vector<ReadPoint>& points, double distance) {
  for (std::size_t i = 0; i < points.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      double squared = 0;
      for (std::size_t axis = 0; axis < 3; ++axis) {
        squared += std::pow(tree.coordinate(points[i], axis) - tree.coordinate(points[j], axis), 2);
      }
      if (std::sqrt(squared) < distance * 0.99999) return false;
    }
  }
  return true;
}

TEST(OctreeBuild, LeavesHoldAtMostTheirCapacityUnlessInseparable) {
  for (const NamedCloud& cloud : adversarial_clouds()) {
    Built built;
    build(input_of(cloud), cloud.scale, kSmallLeaf, 2, built);
    const ReadOctree tree = read_octree(built.sink.files, built.result.record_bytes);
    std::vector<std::vector<ReadPoint>> held(tree.nodes.size());
    for (const ReadPoint& point : tree.points) held[point.node].push_back(point);
    for (std::size_t n = 0; n < tree.nodes.size(); ++n) {
      const ReadNode& node = tree.nodes[n];
      if (node.type != 1) continue;
      // A node without children may also be an inner one that took all its children had.
      EXPECT_TRUE(node.points <= kSmallLeaf || at_one_place(held[n]) ||
                  spaced(tree, held[n], std::ldexp(tree.spacing, -node.level)))
          << cloud.name << " " << node.name << " holds " << node.points;
      EXPECT_TRUE(node.points > 0 || node.level == 0) << cloud.name << " " << node.name;
    }
  }
}

TEST(OctreeBuild, CutsTheHierarchyIntoChunksOfFourLevels) {
  const NamedCloud cloud{"clusters", clusters(40, 300), 0.00001, {}};
  Built built;
  build(input_of(cloud), cloud.scale, kSmallLeaf, 2, built);
  const ReadOctree tree = read_octree(built.sink.files, built.result.record_bytes);
  EXPECT_GE(tree.depth, 9u);
  std::size_t expected = 0;
  for (const ReadNode& node : tree.nodes)
    expected += node.level > 0 && node.level % 4 == 0 && node.child_mask != 0;
  EXPECT_GT(expected, 10u);
  EXPECT_EQ(tree.proxies, expected);
  EXPECT_EQ(tree.chunks, expected + 1);
}

TEST(OctreeBuild, BytesDoNotDependOnThreads) {
  for (const NamedCloud& cloud : adversarial_clouds()) {
    const AttributeColumns columns(cloud.points.size());
    Built one;
    build(input_of(cloud, columns.attributes()), cloud.scale, 100, 1, one);
    for (const int threads : {2, 3, 8}) {
      Built many;
      build(input_of(cloud, columns.attributes()), cloud.scale, 100, threads, many);
      for (const auto& [name, bytes] : one.sink.files) {
        EXPECT_EQ(many.sink.files.at(name) == bytes, true)
            << cloud.name << " " << name << " with " << threads << " threads";
      }
    }
  }
}

TEST(OctreeBuild, RowOrderOutsideTheSelectionDoesNotMatter) {
  // The same selected rows with and without skipped rows between them give the same bytes.
  const NamedCloud plain{"plain", plot_positions(8000), 0.001, {}};
  NamedCloud masked{"masked", {}, 0.001, {}};
  for (std::size_t i = 0; i < plain.points.size(); ++i) {
    for (std::uint64_t k = random_u64(1, i) % 3; k > 0; --k) {
      masked.points.push_back({1e9, 0, 0});
      masked.skip.push_back(1);
    }
    masked.points.push_back(plain.points[i]);
    masked.skip.push_back(0);
  }
  Built a, b;
  build(input_of(plain), 0.001, 500, 2, a);
  build(input_of(masked), 0.001, 500, 2, b);
  EXPECT_EQ(a.sink.files == b.sink.files, true);
}

TEST(OctreeBuild, ReportsExactRangesAndTypes) {
  const NamedCloud cloud{"plot", plot_positions(5000), 0.001, {}};
  const AttributeColumns columns(cloud.points.size());
  Built built;
  build(input_of(cloud, columns.attributes()), 0.001, 500, 2, built);
  ASSERT_EQ(built.result.attributes.size(), columns.columns.size() + 1);
  EXPECT_EQ(built.result.attributes[0].name, "position");
  EXPECT_EQ(built.result.attributes[0].type, "int32");
  EXPECT_EQ(built.result.attributes[0].size, 12u);
  const std::vector<std::string> types{"uint32", "uint16", "uint8", "int8",  "uint16", "int16",
                                       "int32",  "float",  "float", "float", "float",  "double"};
  std::uint32_t bytes = 12;
  for (std::size_t a = 0; a < columns.columns.size(); ++a) {
    const OctreeAttributeInfo& info = built.result.attributes[a + 1];
    EXPECT_EQ(info.name, columns.columns[a].first);
    EXPECT_EQ(info.type, types[a]);
    EXPECT_EQ(info.size, info.num_elements * info.element_size);
    EXPECT_TRUE(info.has_range);
    bytes += info.size;
    if (info.num_elements == 3) continue;
    double low = HUGE_VAL, high = -HUGE_VAL;
    visit_scalar(columns.columns[a].second, [&](auto values) {
      for (const auto v : values) {
        const bool single = info.type == "float";
        const auto d = single ? static_cast<double>(static_cast<float>(v)) : static_cast<double>(v);
        if (!std::isfinite(d)) continue;
        low = std::min(low, d);
        high = std::max(high, d);
      }
    });
    EXPECT_EQ(info.min, std::vector<double>{low}) << info.name;
    EXPECT_EQ(info.max, std::vector<double>{high}) << info.name;
    const std::size_t at = built.sink.files.at("metadata.json").find("\"name\": \"" + info.name + "\"");
    EXPECT_EQ(json_numbers(built.sink.files.at("metadata.json"), "min", at).at(0), low);
    EXPECT_EQ(json_numbers(built.sink.files.at("metadata.json"), "max", at).at(0), high);
  }
  EXPECT_EQ(built.result.record_bytes, bytes);
  Box3d box;
  for (const Vec3d& p : cloud.points) box.add(p);
  EXPECT_EQ(built.result.tight_bounds.min, box.min);
  EXPECT_EQ(built.result.tight_bounds.max, box.max);
}

TEST(OctreeBuild, RangeOfColoursIsPerChannelAndOfNotFiniteValuesZero) {
  NamedCloud cloud{"two", {{0, 0, 0}, {1, 1, 1}, {2, 2, 2}}, 0.001, {0, 0, 1}};
  Column<Rgb16> rgb(3);
  rgb[0] = {1, 200, 30};
  rgb[1] = {10, 20, 300};
  rgb[2] = {0, 65535, 0};  // skipped
  Column<float> lost(3);
  for (std::size_t i = 0; i < 3; ++i) lost[i] = std::numeric_limits<float>::quiet_NaN();
  const AnyColumn a(std::move(rgb)), b(std::move(lost));
  Built built;
  build(input_of(cloud, {{"rgb", "", &a}, {"lost", "Lost \"quoted\"\n", &b}}), 0.001, 10, 1, built);
  EXPECT_EQ(built.result.attributes[1].min, (std::vector<double>{1, 20, 30}));
  EXPECT_EQ(built.result.attributes[1].max, (std::vector<double>{10, 200, 300}));
  EXPECT_FALSE(built.result.attributes[2].has_range);
  EXPECT_EQ(built.result.attributes[2].min, std::vector<double>{0});
  const std::string& json = built.sink.files.at("metadata.json");
  EXPECT_EQ(json.find("nan"), std::string::npos);
  EXPECT_EQ(json.find("inf"), std::string::npos);
  EXPECT_EQ(built.sink.files.at("attribute_labels.json"),
            "{\n  \"lost\": \"Lost \\\"quoted\\\"\\u000a\"\n}\n");
}

TEST(OctreeBuild, ChoosesCubeScaleAndOffset) {
  for (const NamedCloud& cloud : adversarial_clouds()) {
    Built built;
    build(input_of(cloud), cloud.scale, 1000, 2, built);
    const OctreeResult& r = built.result;
    const ReadOctree tree = read_octree(built.sink.files, r.record_bytes);
    const Vec3d size = r.tight_bounds.max - r.tight_bounds.min;
    const double largest = std::max({size.x, size.y, size.z});
    const double side = tree.cube_max[0] - tree.cube_min[0];
    // The largest extent and at most a step at each end; 128 steps at least.
    EXPECT_NEAR(side, std::max(largest + r.scale.x, 128 * r.scale.x), 1.01 * r.scale.x + 1e-9) << cloud.name;
    // The box's ends are rounded to doubles of the offset's size.
    EXPECT_NEAR(r.spacing, side / 128, 1e-16 * (std::abs(tree.cube_min[0]) + side)) << cloud.name;
    EXPECT_EQ(tree.spacing, r.spacing) << cloud.name;
    if (cloud.name == "1e7 m wide") {
      EXPECT_EQ(r.scale.x, 0.01);
    } else {
      EXPECT_EQ(r.scale.x, cloud.scale) << cloud.name;
    }
  }
}

TEST(OctreeBuild, MillimetreSourcesKeepTheirLattice) {
  // Coordinates that are whole millimetres come back as the same doubles a LAS reader would give.
  NamedCloud cloud{"millimetres", {}, 0.001, {}};
  for (std::size_t i = 0; i < 500; ++i) {
    const auto mm = [&](std::uint64_t axis) {
      return static_cast<double>(random_u64(5, 3 * i + axis) % 100000) / 1000;
    };
    cloud.points.push_back({mm(0), mm(1), mm(2)});
  }
  Built built;
  build(input_of(cloud), 0.001, 10000, 1, built);
  const ReadOctree tree = read_octree(built.sink.files, built.result.record_bytes);
  for (std::size_t i = 0; i < tree.points.size(); ++i) {
    const double x = tree.coordinate(tree.points[i], 0);
    EXPECT_NEAR(x, std::rint(x * 1000) / 1000, 1e-12);
  }
}

}  // namespace
}  // namespace pc::test
