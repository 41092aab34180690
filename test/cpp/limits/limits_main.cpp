// Runs the core under Electron's allocator limits (limit_malloc.cpp, preloaded by scripts/test-limits.mjs).
// usage: pc_limits real | scaled
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <new>
#include <string>

#include "core/column.h"
#include "core/radix_sort.h"
#include "core/random.h"
#include "io/ascii_table.h"
#include "io/column_file.h"
#include "io/las.h"
#include "io/octree_directory.h"
#include "io/text_writer.h"
#include "ops/cloud/cloud_stats.h"
#include "ops/cloud/column_stats.h"
#include "ops/cloud/point_spacing.h"
#include "ops/octree/octree_build.h"

namespace {

using namespace pc;  // a test program of one file

void expect(bool ok, const char* what) {
  if (ok) return;
  std::fprintf(stderr, "FAILED: %s\n", what);
  std::exit(1);
}

/// The limit is in force: without this the test would pass with the library missing.
void expect_limited(std::size_t bytes) {
  bool refused = false;
  try {
    char* volatile block = new char[bytes];  // volatile: the pair must not be optimised away
    delete[] block;
  } catch (const std::bad_alloc&) {
    refused = true;
  }
  expect(refused, "new beyond the limit must fail; is the preload library in place?");
}

void real_limits() {
  expect_limited(std::size_t{2046} << 20);
  const std::size_t three_gib = std::size_t{3} << 30;
  Column<double> column(three_gib / sizeof(double));
  column[column.size() - 1] = 7;
  expect(column[column.size() - 1] == 7, "a column of 3 GiB");
  BulkVector<std::uint64_t> vector;
  vector.resize(three_gib / sizeof(std::uint64_t));
  vector[vector.size() - 1] = 9;
  expect(vector.back() == 9, "scratch of 3 GiB");
}

struct Cloud {
  Column<Vec3d> positions;
  Column<Rgb16> colors;
  Column<std::uint16_t> intensity;
  Column<double> times;
  AnyColumn classes;
};

Cloud make_cloud(std::size_t n) {
  Cloud cloud{Column<Vec3d>(n), Column<Rgb16>(n), Column<std::uint16_t>(n), Column<double>(n),
              AnyColumn(DType::kU8, n)};
  const auto classes = cloud.classes.as_mutable<std::uint8_t>();
  for (std::size_t i = 0; i < n; ++i) {
    const auto draw = [&](std::uint64_t k) { return random_unit(k, i); };
    cloud.positions[i] = {500000 + 80 * draw(1), 5000000 + 80 * draw(2),
                          draw(3) < 0.5 ? draw(4) : 20 * draw(4)};
    cloud.colors[i] = {static_cast<std::uint16_t>(random_u64(5, i)), static_cast<std::uint16_t>(i), 0};
    cloud.intensity[i] = static_cast<std::uint16_t>(random_u64(6, i));
    cloud.times[i] = static_cast<double>(i) * 1e-6;
    classes[i] = static_cast<std::uint8_t>(random_u64(7, i) % 7);
  }
  return cloud;
}

io::CloudView view_of(const Cloud& cloud) {
  io::CloudView view;
  view.positions = cloud.positions.view();
  view.colors = cloud.colors.view();
  view.intensity = cloud.intensity.view();
  view.timestamps = cloud.times.view();
  view.scalars.push_back({"classification", "Classification", &cloud.classes});
  return view;
}

/// Every operation an import and an export use, on enough points that any scratch of 2 bytes a point shows.
void scaled_limits(const std::string& folder) {
  expect_limited(std::size_t{9} << 20);
  JobControl control;
  OpContext ctx(control);
  const Cloud cloud = make_cloud(5'000'000);
  const auto view = view_of(cloud);
  io::LasWriteParams las;
  io::write_las(view, las, folder + "/a.las", ctx);
  io::LasReadParams read;
  const auto back = io::read_las(folder + "/a.las", read, ctx);
  expect(back.table.positions.size() == cloud.positions.size(), "points of the LAS file");

  io::write_text(view, io::cloud_export_layout(io::TextFormat::kTxt), folder + "/a.txt", ctx);
  io::TextReadParams text{io::TextDelimiter::kWhitespace, false, 1, 8, 0, 1, 2, {}, {}, 0};
  for (std::uint32_t i = 3; i < 8; ++i)
    text.columns.push_back({i, "c" + std::to_string(i), io::TextColumnType::kAuto});
  expect(io::read_text(folder + "/a.txt", text, ctx).positions.size() == cloud.positions.size(),
         "points of the text file");

  std::filesystem::create_directory(folder + "/octree");
  io::OctreeDirectory sink(folder + "/octree");
  const OctreeInput input{cloud.positions.view(), {}, {{"classification", "", &cloud.classes}}};
  expect(octree_build(input, {0.001, 10'000}, sink, ctx).point_count == cloud.positions.size(),
         "points of the octree");
  octree_content_hash(input, {0.001, 10'000}, ctx);

  expect(point_spacing(HitPoints::assume_hits(cloud.positions.view()), {20'000, 1}, ctx).median_m.has_value(),
         "point spacing");
  expect(cloud_stats(cloud.positions.view(), {}, ctx).ground_z_m.has_value(), "cloud statistics");
  expect(column_stats(cloud.classes, {}, ctx).distinct->size() == 7, "column statistics");
  BulkVector<std::uint64_t> keys(cloud.positions.size());
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = random_u64(1, i);
  expect(radix_sort_order(keys.view(), 64, ctx).size() == keys.size(), "radix sort");
  io::write_column_file(cloud.classes, folder + "/a.col", ctx);
  expect(io::verify_column_file(folder + "/a.col", ctx), "column file");
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "real") {
    real_limits();
  } else if (what == "scaled" && argc > 2) {
    scaled_limits(argv[2]);
  } else {
    std::fprintf(stderr, "usage: pc_limits real | scaled FOLDER\n");
    return 2;
  }
  std::puts("ok");
  return 0;
}
