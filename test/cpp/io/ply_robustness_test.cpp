#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <iostream>
#include <random>

#include "core/memory.h"
#include "io/ply_support.h"
#include "support/cancel.h"

namespace {

using namespace pc;
using namespace pc::record_test;

TEST(Ply, GivesTheCompleteRowsOfAFileCutAnywhere) {
  std::vector<std::string> files;
  for (const std::string format : kFormats) {
    files.push_back(mixed_file(format));
    std::string fixed = header(format, 4, {"float x", "float y", "float z", "ushort v"});
    for (int i = 0; i < 4; ++i) {
      for (int k = 0; k < 3; ++k) fixed += encode(format, i + 0.125f);
      fixed += encode(format, static_cast<std::uint16_t>(1000 + i)) + row_end(format);
    }
    files.push_back(fixed);
  }
  for (const std::string& whole : files) {
    const CloudTable full = read(whole);
    const std::vector<Vec3d> expected = points_of(full);
    const std::uint64_t in_use = bulk_bytes_in_use();
    std::size_t rescued = 0;
    for (std::size_t length = 0; length < whole.size(); ++length) {
      try {
        const CloudTable cut = read(whole.substr(0, length));
        const std::vector<Vec3d> points = points_of(cut);
        ASSERT_LE(points.size(), expected.size());
        for (std::size_t i = 0; i < points.size(); ++i) {
          // Only the very last number of a text body can be cut without a trace.
          const bool last_text = i + 1 == expected.size() && whole.find("ascii") != std::string::npos;
          if (!last_text) {
            ASSERT_EQ(points[i], expected[i]) << "length " << length;
          }
        }
        if (points.size() < expected.size()) {
          ++rescued;
          ASSERT_FALSE(cut.warnings.empty());
        }
      } catch (const Error& error) {
        ASSERT_EQ(error.code(), ErrorCode::kInvalidFile) << error.what();
      }
    }
    EXPECT_GT(rescued, 0u);
    EXPECT_EQ(bulk_bytes_in_use(), in_use);
  }
}

TEST(Ply, SurvivesEveryByteReplaced) {
  std::vector<std::string> files;
  for (const std::string format : kFormats) files.push_back(mixed_file(format));
  reset_bulk_bytes_peak();
  const std::uint64_t before = bulk_bytes_peak();
  std::size_t refused = 0;
  for (const std::string& whole : files) {
    for (std::size_t i = 0; i < whole.size(); ++i) {
      for (const char c : {'\0', '9', '\xff', '\n'}) {
        std::string changed = whole;
        changed[i] = c;
        try {
          read(changed, {{}, 0, kAllRows}, 1);
        } catch (const Error& error) {
          ++refused;
          ASSERT_NE(error.code(), ErrorCode::kInternal) << error.what();
        }
      }
    }
  }
  EXPECT_GT(refused, 0u);
  EXPECT_LT(bulk_bytes_peak() - before, std::uint64_t{64} << 20);
}

TEST(Ply, DoesNotBelieveHugeCounts) {
  reset_bulk_bytes_peak();
  const std::uint64_t before = bulk_bytes_peak();
  for (const std::string format : kFormats) {
    std::string f = header(format, 1, kXyz);
    f.replace(f.find("vertex 1\n"), 9, "vertex 18446744073709551615\n");
    for (int k = 0; k < 3; ++k) f += encode(format, 1.f);
    const CloudTable table = read(f + row_end(format));
    EXPECT_EQ(table.positions.size(), 1u);
    ASSERT_EQ(table.warnings.size(), 1u);
    EXPECT_NE(table.warnings[0].find("declares 18446744073709551615 vertices, the file holds 1"),
              std::string::npos);
    f.replace(f.find("element vertex"), 14,
              "element face 18446744073709551615\nproperty float a\nelement vertex");
    EXPECT_EQ(error_of([&] { read(f); }).code(), ErrorCode::kInvalidFile);
  }
  EXPECT_LT(bulk_bytes_peak() - before, std::uint64_t{16} << 20);
}

/// A file of several chunks with bad rows here and there.
std::string big_file(const std::string& format, int rows) {
  std::mt19937 random(7);
  std::string f =
      header(format, static_cast<std::size_t>(rows),
             {"double x", "float y", "float z", "uchar red", "uchar green", "uchar blue", "uint id"});
  for (int i = 0; i < rows; ++i) {
    const double x = i % 1000 == 77 ? std::nan("") : static_cast<double>(random()) / 65536.0;
    if (format == "ascii" && i % 5000 == 4321) {
      f += "oops\n\n";
      continue;
    }
    f += encode(format, x) + encode(format, i * 0.5f) + encode(format, -1.f);
    for (int k = 0; k < 3; ++k) f += encode(format, static_cast<std::uint8_t>(random()));
    f += encode(format, static_cast<std::uint32_t>(i)) + row_end(format);
  }
  return f;
}

TEST(Ply, DoesNotDependOnThreads) {
  for (const std::string format : kFormats) {
    const ScratchFile file(big_file(format, 30000), ".ply");
    const CloudTable one = read_path(file.path(), {{}, 0, kAllRows}, 1);
    EXPECT_EQ(one.nonfinite_dropped, 30u);
    EXPECT_EQ(one.positions.size(), 30000u - 30 - one.malformed_dropped);
    std::uint32_t previous = 0;
    for (const std::uint32_t id : values_of<std::uint32_t>(one, "id")) {
      ASSERT_TRUE(id == 0 || id > previous);
      previous = id;
    }
    for (const int threads : {2, 5}) expect_same(one, read_path(file.path(), {{}, 0, kAllRows}, threads));
    const CloudTable window = read_path(file.path(), {{}, 9000, 15000}, 5);
    EXPECT_EQ(values_of<std::uint32_t>(window, "id").front(), 9000u);
    EXPECT_EQ(values_of<std::uint32_t>(window, "id").back(), 23999u);
  }
}

TEST(Ply, StopsSoonWhenCanceled) {
  const ScratchFile file(
      "ply\nformat binary_little_endian 1.0\nelement face 9000000000\nproperty list uchar int v\n"
      "element vertex 1\nproperty float x\nproperty float y\nproperty float z\nend_header\n");
  std::filesystem::resize_file(file.path(), std::uint64_t{1} << 30);  // sparse: a billion empty lists
  test::expect_cancel_after(std::chrono::milliseconds(30), [&](OpContext& ctx) {
    io::read_ply(file.path(), {{}, 0, kAllRows}, ctx);
  });
  for (const std::string format : kFormats) {
    const ScratchFile small(big_file(format, 10), ".ply");
    JobControl control;
    control.cancel_requested = true;
    OpContext ctx(control);
    EXPECT_EQ(error_of([&] {
                io::read_ply(small.path(), {{}, 0, kAllRows}, ctx);
              }).code(),
              ErrorCode::kCanceled);
  }
}

std::string missing_data() {
  std::cout << "shared test data are absent (APP_TEST_DATA), skipped\n";
  return "shared test data are absent";
}

TEST(PlyData, OpensEveryCollectedFile) {
  if (data_file("ply").empty()) GTEST_SKIP() << missing_data();
  const struct {
    const char* name;
    std::size_t points;
    std::size_t columns;
  } files[] = {{"ply/assimp_issue623.ply", 24, 3},
               {"ply/pdal_issue_2421.ply", 1, 1},
               {"ply/platonic_shelf.ply", 50, 0},
               {"ply/platonic_shelf_ascii.ply", 50, 0},
               {"ply/platonic_shelf_big_endian.ply", 50, 0},
               {"ply/trimesh_BoxTextured.ply", 24, 5},
               {"ply/trimesh_cube_blender_uv.ply", 24, 5},
               {"ply/trimesh_empty.ply", 0, 3},
               {"ply/trimesh_metadata.ply", 4, 0},
               {"ply/trimesh_points_ascii_with_lists.ply", 5, 0},
               {"ply/trimesh_points_bin.ply", 5, 0},
               {"als/csf_sample.ply", 100000, 0},
               {"trees_tls/itsme_tree1.ply", 30826, 0},
               {"plants/maize_03-13.ply", 338874, 0},
               {"registration/small_gicp_source.ply", 69792, 1},
               {"registration/small_gicp_target.ply", 69088, 1}};
  for (const auto& file : files) {
    SCOPED_TRACE(file.name);
    ASSERT_FALSE(data_file(file.name).empty());
    const CloudTable table = read_path(data_file(file.name));
    EXPECT_EQ(table.positions.size() + table.nonfinite_dropped, file.points);
    EXPECT_EQ(table.malformed_dropped, 0u);
    EXPECT_EQ(table.columns.size(), file.columns);
    expect_same(table, read_path(data_file(file.name), {{}, 0, kAllRows}, 5));
  }
}

TEST(PlyData, RefusesBrokenFilesWithTheReason) {
  if (data_file("ply").empty()) GTEST_SKIP() << missing_data();
  const struct {
    const char* name;
    const char* part;
  } files[] = {
      {"ply/assimp_crash-30d6d0f7c529b3b66b4131700b7a4580cd7082df.ply", "line 7: "},
      {"ply/pdal_sized_dims.ply", "one scalar property z, this file declares 0 (properties: x y j i)"},
      {"ply/trimesh_ply_empty_header.ply", "no vertex element"}};
  for (const auto& file : files) {
    const Error error = error_of([&] { read_path(data_file(file.name)); });
    EXPECT_EQ(error.code(), ErrorCode::kInvalidFile);
    EXPECT_MESSAGE(error, file.part);
  }
}

TEST(PlyData, SameMeshInThreeFormats) {
  if (data_file("ply").empty()) GTEST_SKIP() << missing_data();
  const std::vector<Vec3d> little = points_of(read_path(data_file("ply/platonic_shelf.ply")));
  EXPECT_EQ(little, points_of(read_path(data_file("ply/platonic_shelf_big_endian.ply"))));
  const std::vector<Vec3d> text = points_of(read_path(data_file("ply/platonic_shelf_ascii.ply")));
  ASSERT_EQ(text.size(), little.size());
  for (std::size_t i = 0; i < text.size(); ++i)
    EXPECT_LT(squared_distance(text[i], little[i]), 1e-10);  // 6 digits
}

TEST(PlyData, SameTreeAsItsTextTwin) {
  if (data_file("trees_tls/itsme_tree1.txt").empty()) GTEST_SKIP() << missing_data();
  const CloudTable table = read_path(data_file("trees_tls/itsme_tree1.ply"));
  std::ifstream text(data_file("trees_tls/itsme_tree1.txt"));
  std::size_t rows = 0;
  for (Vec3d p; text >> p.x >> p.y >> p.z; ++rows) {
    ASSERT_LT(rows, table.positions.size());
    ASSERT_LT(squared_distance(p, table.positions[rows]), 1e-6) << rows;  // float32 against five decimals
  }
  EXPECT_EQ(rows, table.positions.size());
}

}  // namespace
