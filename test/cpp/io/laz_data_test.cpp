#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>

#include "io/las_checks.h"

/// Real LAZ files of the shared test data (data_folder()); skipped, saying so, where the folder is absent.
namespace pc::io {
namespace {

using namespace las_test;

#define SKIP_WITHOUT_DATA() \
  if (data_folder().empty()) GTEST_SKIP() << "no shared test data: set APP_TEST_DATA to its folder"

std::string data(const std::string& path) { return data_folder() + "/" + path; }

const std::pair<const char*, const char*> kTwins[] = {
    {"las/formats/1_4_w_evlr.laz", "las/formats/1_4_w_evlr.las"},
    {"las/formats/pdrf4-1.3.laz", "las/formats/pdrf4-1.3.las"},
    {"las/formats/pdrf6-1.4.laz", "las/formats/pdrf6-1.4.las"},
    {"las/formats/pdrf8-1.4.laz", "las/formats/pdrf8-1.4.las"},
    {"las/formats/pdrf10-1.4.laz", "las/formats/pdrf10-1.4.las"},
    {"las/formats/point10.las.laz", "las/formats/point10.las"},
    {"las/formats/point-time.las.laz", "las/formats/point-time.las"},
    {"las/formats/point-time-1.4.las.laz", "las/formats/point-time.las"},
    {"las/formats/point-color.las.laz", "las/formats/point-color.las"},
    {"las/formats/point-color-time.las.laz", "las/formats/point-color-time.las"},
    {"las/formats/point-version-1-point-wise.laz", "las/formats/point-version-1-point-wise.las"},
    {"las/extra_bytes/extra_bytes_scalar_types.laz", "las/extra_bytes/extra_bytes_scalar_types.las"},
    {"las/extra_bytes/lazperf_extrabytes.laz", "las/extra_bytes/pdal_extrabytes.las"},
};

TEST(LazData, TwinsHoldTheSamePoints) {
  SKIP_WITHOUT_DATA();
  for (const auto& [laz, las] : kTwins) {
    const LasCloud a = read(data(laz), {}, 2), b = read(data(las));
    expect_same(a.table, b.table, laz);
    for (std::size_t i = 0; i < std::min(a.table.columns.size(), b.table.columns.size()); ++i) {
      EXPECT_EQ(a.table.columns[i].name, b.table.columns[i].name) << laz;
    }
    for (const std::string& w : a.table.warnings) EXPECT_EQ(w.find("chunk"), std::string::npos) << laz << w;
  }
}

/// Every LAZ of the manifest's LAS folder has a twin above, or is named here with what checks it.
TEST(LazData, NoFileIsWithoutACheck) {
  SKIP_WITHOUT_DATA();
  const std::set<std::string> others = {"copc/ellipsoid.laz", "copc/ellipsoid.copc.laz",  // below
                                        "malformed/broken_coder.laz", "malformed/broken_size.laz"};
  std::set<std::string> paired;
  for (const auto& twin : kTwins) paired.insert(twin.first + std::strlen("las/"));
  std::size_t found = 0;
  const std::filesystem::path root = data("las");
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    if (entry.path().extension() != ".laz") continue;
    const std::string name = std::filesystem::relative(entry.path(), root).generic_string();
    EXPECT_TRUE(paired.count(name) + others.count(name) == 1) << name;
    ++found;
  }
  EXPECT_EQ(found, paired.size() + others.size());
}

TEST(LazData, TheCopcHoldsThePointsOfThePlainFile) {
  SKIP_WITHOUT_DATA();
  // Its points are sorted by octree node: the sorted coordinates are the same to half a step of the coarser file.
  std::vector<Vec3d> sorted[2];
  double step = 0;
  for (int i = 0; i < 2; ++i) {
    const LasCloud cloud =
        read(data(i == 0 ? "las/copc/ellipsoid.laz" : "las/copc/ellipsoid.copc.laz"), {}, 2);
    step = std::max(step, cloud.header.scale.z);
    sorted[i] = {cloud.table.positions.view().begin(), cloud.table.positions.view().end()};
    std::sort(sorted[i].begin(), sorted[i].end(), [](const Vec3d& a, const Vec3d& b) { return a.z < b.z; });
  }
  ASSERT_EQ(sorted[0].size(), sorted[1].size());
  double worst = 0;
  for (std::size_t i = 0; i < sorted[0].size(); ++i) {
    worst = std::max(worst, std::abs(sorted[0][i].z - sorted[1][i].z));
  }
  EXPECT_LE(worst, step * 1.01);
}

TEST(LazData, CountsAndClasses) {
  SKIP_WITHOUT_DATA();
  using Classes = std::map<int, std::uint64_t>;
  const Classes ellipsoid = {{2, 1656},  {3, 5135},  {4, 10307},  {5, 32904},
                             {15, 1656}, {16, 5135}, {17, 10307}, {18, 32900}};
  const struct {
    const char* path;
    std::uint64_t rows;
    Classes classes;
  } files[] = {
      {"las/copc/ellipsoid.laz", 100000, ellipsoid},
      {"las/copc/ellipsoid.copc.laz", 100000, ellipsoid},
      {"als/autzen_trim.laz", 110000, {{1, 83893}, {2, 26107}}},
      {"als/pyfor_pine_200m.laz", 217222, {{1, 33827}, {2, 101536}, {5, 81853}, {7, 6}}},
      {"trees_composite/composite_plot_a.laz", 300658, {{2, 54000}, {5, 246658}}},
      {"trees_tls/treeiso_LPine1_demo.laz", 1544202, {{0, 1544202}}},
  };
  for (const auto& file : files) {
    const LasCloud cloud = read(data(file.path), {}, 2);
    EXPECT_EQ(cloud.table.positions.size(), file.rows) << file.path;
    Classes counts;
    for (const std::uint8_t c : column(cloud.table, "classification").values.as<std::uint8_t>()) ++counts[c];
    EXPECT_EQ(counts, file.classes) << file.path;
    Box3d box;
    for (const Vec3d& p : cloud.table.positions.view()) box.add(p);
    const LasHeader& h = cloud.header;
    EXPECT_NEAR(box.min.x, h.declared_bounds.min.x, h.scale.x * 0.51) << file.path;
    EXPECT_NEAR(box.max.y, h.declared_bounds.max.y, h.scale.y * 0.51) << file.path;
    EXPECT_NEAR(box.max.z, h.declared_bounds.max.z, h.scale.z * 0.51) << file.path;
  }
}

TEST(LazData, DamagedFilesAreRefusedWithTheirField) {
  SKIP_WITHOUT_DATA();
  for (const auto& [name, field] : {std::pair<const char*, const char*>{"broken_coder.laz", "coder 15"},
                                    {"broken_size.laz", "version 6"}}) {
    const std::string path = data(std::string("las/malformed/") + name);
    EXPECT_TRUE(read_las_header(path).compressed);
    std::string what;
    EXPECT_EQ(code_of([&] { read(path); }, &what), ErrorCode::kUnsupported);
    EXPECT_NE(what.find(field), std::string::npos) << what;
  }
}

}  // namespace
}  // namespace pc::io
