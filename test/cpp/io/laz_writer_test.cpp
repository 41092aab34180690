#include <gtest/gtest.h>

#include <chrono>

#include "core/memory.h"
#include "io/las_checks.h"
#include "support/cancel.h"

namespace pc::io {
namespace {

using namespace las_test;

/// Columns of every kind a writer places: time, colour, standard fields, extra dimensions.
struct Cloud {
  Column<Vec3d> positions;
  Column<Rgb16> colors;
  Column<std::uint16_t> intensity;
  Column<double> timestamps;
  AnyColumn classes, distances, ids;
  std::vector<std::uint8_t> skip;

  explicit Cloud(std::size_t n) : positions(n), colors(n), intensity(n), timestamps(n) {
    Column<std::uint8_t> c(n);
    Column<float> d(n);
    Column<std::uint32_t> id(n);
    for (std::size_t i = 0; i < n; ++i) {
      const std::uint64_t dice = random_u64(3, i);
      positions[i] = {500000 + 0.01 * static_cast<double>(i % 1000) + static_cast<double>(dice % 50) * 0.001,
                      0.2 * static_cast<double>(i / 1000), static_cast<double>(dice >> 8 & 2047) * 0.001};
      colors[i] = {static_cast<std::uint16_t>(dice >> 16), static_cast<std::uint16_t>(dice >> 20),
                   static_cast<std::uint16_t>(i)};
      intensity[i] = static_cast<std::uint16_t>(dice >> 40);
      timestamps[i] = 1e5 + static_cast<double>(i / 3) * 1e-5;
      c[i] = static_cast<std::uint8_t>(dice >> 50 & 3);
      d[i] = static_cast<float>(dice & 4095) * 0.01F;
      id[i] = static_cast<std::uint32_t>(i / 100);
      skip.push_back(dice % 11 == 0);
    }
    classes = AnyColumn(std::move(c));
    distances = AnyColumn(std::move(d));
    ids = AnyColumn(std::move(id));
  }

  CloudView view(bool colored, bool timed) const {
    CloudView v;
    v.positions = positions.view();
    v.intensity = intensity.view();
    if (colored) v.colors = colors.view();
    if (timed) v.timestamps = timestamps.view();
    v.scalars = {{"classification", "", &classes}, {"distance", "", &distances}, {"tree", "", &ids}};
    return v;
  }
};

LasWriteResult write(const CloudView& view, LasWriteParams params, const std::string& path, int threads) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, threads);
  return write_las(view, params, path, ctx);
}

TEST(LazWriter, HoldsWhatTheLasFileHolds) {
  const Cloud cloud(120000);  // three chunks
  for (const LasVersion version : {LasVersion::k12, LasVersion::k14}) {
    for (const bool colored : {false, true}) {
      for (const bool timed : {false, true}) {
        CloudView view = cloud.view(colored, timed);
        if (colored) view.skip = {cloud.skip.data(), cloud.skip.size()};
        if (timed) view.stride = 2;
        LasWriteParams params;
        params.version = version;
        const TempFile las("a.las"), laz("a.laz");
        write(view, params, las.path(), 2);
        params.compressed = true;
        const LasWriteResult result = write(view, params, laz.path(), 2);
        const LasCloud a = read(las.path()), b = read(laz.path(), {}, 2);
        expect_same(b.table, a.table, std::to_string(result.point_format));
        EXPECT_TRUE(b.header.compressed);
        EXPECT_TRUE(b.table.warnings.empty()) << joined(b.table.warnings);
        EXPECT_EQ(b.header.points_by_return, a.header.points_by_return);
        EXPECT_EQ(result.bytes, std::filesystem::file_size(laz.path()));
        EXPECT_LT(result.bytes, std::filesystem::file_size(las.path()) / 2);
      }
    }
  }
}

TEST(LazWriter, BytesDoNotDependOnThreads) {
  const Cloud cloud(260000);
  LasWriteParams params;
  params.compressed = true;
  const TempFile one("one.laz"), many("many.laz");
  write(cloud.view(true, true), params, one.path(), 1);
  write(cloud.view(true, true), params, many.path(), 4);
  EXPECT_EQ(read_file(one.path()), read_file(many.path()));
}

TEST(LazWriter, NoRowsGiveAValidFile) {
  const Cloud cloud(0);
  for (const LasVersion version : {LasVersion::k12, LasVersion::k14}) {
    LasWriteParams params;
    params.version = version;
    params.compressed = true;
    const TempFile laz("none.laz");
    write(cloud.view(true, true), params, laz.path(), 2);
    EXPECT_EQ(read(laz.path()).table.positions.size(), 0U);
  }
}

TEST(LazWriter, WideRecordsMakeSmallerChunks) {
  const Cloud cloud(30000);
  CloudView view = cloud.view(false, false);
  for (int i = 0; i < 300; ++i) view.scalars.push_back({"d" + std::to_string(i), "", &cloud.distances});
  LasWriteParams params;
  params.compressed = true;
  const TempFile las("wide.las"), laz("wide.laz");
  write(view, params, laz.path(), 2);
  params.compressed = false;
  write(view, params, las.path(), 2);
  expect_same(read(laz.path(), {}, 2).table, read(las.path()).table, "wide");
  for (int i = 0; i < 250; ++i) view.scalars.push_back({"e" + std::to_string(i), "", &cloud.distances});
  view.scalars.resize(341);
  for (auto& scalar : view.scalars) scalar.values = &cloud.ids;
  Column<double> wide(30000);
  const AnyColumn eight(std::move(wide));
  for (auto& scalar : view.scalars) scalar.values = &eight;
  params.compressed = true;
  std::string what;
  EXPECT_EQ(code_of([&] { write(view, params, laz.path(), 2); }, &what), ErrorCode::kUnsupported);
  EXPECT_NE(what.find("at most 2048"), std::string::npos) << what;
}

TEST(LazWriter, CancelIsSeenInTime) {
  const Cloud cloud(400000);
  LasWriteParams params;
  params.compressed = true;
  const TempFile laz("cancel.laz");
  const CloudView view = cloud.view(true, true);
  const auto run = [&](OpContext& ctx) {
    for (;;) write_las(view, params, laz.path(), ctx);
  };
  test::expect_cancel_in_time(run, {"Writing points", 0, std::chrono::milliseconds(3), 2});
}

TEST(LazWriter, AFullDiskIsReportedAsSuch) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  const Cloud cloud(200000);
  LasWriteParams params;
  params.compressed = true;
  const ErrorCode code = code_of([&] { write(cloud.view(true, true), params, "/dev/full", 3); });
  EXPECT_TRUE(code == ErrorCode::kNoSpace || code == ErrorCode::kIo) << to_string(code);
}

}  // namespace
}  // namespace pc::io
