#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "io/las_checks.h"

/// A LAS file that is read, written and read again says the same.
namespace pc::io {
namespace {

using namespace las_test;

LasWriteResult write(const CloudView& view, const LasWriteParams& params, const std::string& path,
                     int threads = 2) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, threads);
  return write_las(view, params, path, ctx);
}

/// The view of a read file, and the parameters that keep what the file says.
struct Copy {
  LasCloud cloud;
  std::vector<AnyColumn> changed;
  CloudView view;
  LasWriteParams params;

  explicit Copy(LasCloud source) : cloud(std::move(source)) {
    view.positions = cloud.table.positions.view();
    params.version = cloud.header.version_minor >= 4 ? LasVersion::k14 : LasVersion::k12;
    params.legacy_points = cloud.header.point_format < 6;
    params.grid = LasGrid{cloud.header.scale, cloud.header.offset};
    params.wkt = cloud.header.crs.wkt;
    params.epsg = cloud.header.crs.epsg.value_or(0);
    params.epsg_is_geographic = cloud.header.crs.is_geographic;
    params.geotiff = cloud.header.crs.geotiff;
    for (std::size_t i = 0; i < cloud.table.columns.size(); ++i) {
      const NamedColumn& c = cloud.table.columns[i];
      if (c.name == "rgb" && !c.extra) {
        view.colors = c.values.as<Rgb16>();
      } else if (c.name == "intensity" && !c.extra) {
        view.intensity = c.values.as<std::uint16_t>();
      } else if (c.name == "gps_time" && !c.extra) {
        view.timestamps = c.values.as<double>();
      } else {
        const std::string slug = "column " + std::to_string(i);
        view.scalars.push_back({slug, c.description, &c.values});
        params.placements.push_back({slug, c.extra ? "" : c.name, cloud.header.dimensions[i].record});
      }
    }
  }
  LasCloud again(LasWriteResult* result = nullptr) const {
    const TempFile file("again.las");
    const LasWriteResult written = write(view, params, file.path());
    if (result != nullptr) *result = written;
    return read(file.path());
  }
};

void expect_same_records(const LasHeader& a, const LasHeader& b) {
  ASSERT_EQ(a.dimensions.size(), b.dimensions.size());
  for (std::size_t i = 0; i < a.dimensions.size(); ++i) {
    const LasDimension &x = a.dimensions[i], &y = b.dimensions[i];
    EXPECT_EQ(x.name, y.name);
    EXPECT_EQ(x.description, y.description);
    EXPECT_EQ(x.dtype, y.dtype) << x.name;
    ASSERT_EQ(x.record.has_value(), y.record.has_value()) << x.name;
    if (!x.record) continue;
    EXPECT_EQ(x.record->name, y.record->name);
    EXPECT_EQ(x.record->description, y.record->description);
    EXPECT_EQ(x.record->stored, y.record->stored) << x.name;
    EXPECT_EQ(x.record->scale, y.record->scale) << x.name;
    EXPECT_EQ(x.record->offset, y.record->offset) << x.name;
    EXPECT_EQ(x.record->no_data_bits, y.record->no_data_bits) << x.name;
  }
}

/// One dimension of every type, in every combination of scale, offset and no-data.
LasFile every_record(std::uint64_t points) {
  constexpr std::uint8_t kBytes[10] = {1, 1, 2, 2, 4, 4, 8, 8, 4, 8};
  LasFile file;
  std::vector<Extra> extras;
  for (int type = 1; type <= 10; ++type) {
    for (const int options : {0, 1, 8, 9, 16, 17, 24, 25}) {
      Extra extra;
      extra.type = static_cast<std::uint8_t>(type);
      extra.options = static_cast<std::uint8_t>(options);
      extra.name = "t" + std::to_string(type) + "_" + std::to_string(options);
      extra.description = "about " + extra.name;
      extra.no_data[0] = type >= 9 ? std::bit_cast<std::uint64_t>(-9999.0) : 77;
      extra.scale[0] = 0.01 * type;
      extra.offset[0] = 1234.5 - type;
      extras.push_back(extra);
      file.extra_bytes = static_cast<std::uint16_t>(file.extra_bytes + kBytes[type - 1]);
    }
  }
  file.vlrs = {extra_record(extras)};
  file.random_points(points, 17);
  std::size_t at = kRecordBytes[file.format];
  for (const Extra& extra : extras) {
    for (std::uint64_t i = 0; i < points; ++i) {
      std::uint8_t* to = file.points.data() + i * file.record_bytes() + at;
      // Finite numbers of a sensible size, and the no-data value now and then.
      const double real = i % 7 == 3 ? -9999.0 : std::sin(static_cast<double>(i)) * 1e4;
      const auto single = static_cast<float>(real);
      if (extra.type == 9) std::memcpy(to, &single, 4);
      if (extra.type == 10) std::memcpy(to, &real, 8);
      if (extra.type < 9 && i % 7 == 3) std::memcpy(to, extra.no_data, kBytes[extra.type - 1]);
    }
    at += kBytes[extra.type - 1];
  }
  return file;
}

TEST(LasFidelity, ExtraRecordsComeBackWithTheirValues) {
  const Copy copy(read(every_record(20'000).build()));
  LasWriteResult result;
  const LasCloud again = copy.again(&result);
  EXPECT_EQ(joined(result.warnings), "");
  EXPECT_EQ(again.header.record_bytes, copy.cloud.header.record_bytes) << "stored as narrow as they were";
  expect_same_records(copy.cloud.header, again.header);
  expect_same(copy.cloud.table, again.table, "every record");
}

TEST(LasFidelity, ValuesThatTheRecordCannotHoldAreStoredAsTheyAre) {
  Copy copy(read(every_record(100).build()));
  for (std::size_t i = 0; i < copy.view.scalars.size(); ++i) {
    const AnyColumn& values = *copy.view.scalars[i].values;
    if (values.dtype() != DType::kF64) continue;
    Column<double> other(values.size());
    for (std::size_t k = 0; k < values.size(); ++k) other[k] = values.as<double>()[k];
    other[50] = 0.12345;  // no multiple of any step
    copy.changed.emplace_back(std::move(other));
  }
  std::size_t used = 0, scaled_integers = 0;
  for (std::size_t i = 0; i < copy.view.scalars.size(); ++i) {
    if (copy.view.scalars[i].values->dtype() != DType::kF64) continue;
    copy.view.scalars[i].values = &copy.changed[used++];
    const auto& record = copy.params.placements[i].record;
    scaled_integers += record && record->stored != DType::kF64 && record->stored != DType::kF32 ? 1 : 0;
  }
  LasWriteResult result;
  const LasCloud again = copy.again(&result);
  std::size_t warned = 0;
  for (const std::string& warning : result.warnings)
    warned += warning.find("stored as they are") != std::string::npos;
  EXPECT_GE(warned, scaled_integers);
  for (std::size_t i = 0; i < copy.view.scalars.size(); ++i) {
    const AnyColumn& want = *copy.view.scalars[i].values;
    const std::string& slug = copy.view.scalars[i].slug;
    const std::size_t at = static_cast<std::size_t>(std::stoi(slug.substr(7)));
    const AnyColumn& got = column(again.table, copy.cloud.table.columns[at].name).values;
    ASSERT_EQ(got.dtype(), want.dtype()) << copy.cloud.table.columns[at].name;
    EXPECT_EQ(std::memcmp(got.data(), want.data(), want.bytes()), 0) << copy.cloud.table.columns[at].name;
  }
}

TEST(LasFidelity, ANumberThatEqualsTheNoDataValueKeepsItsValue) {
  LasFile file;
  file.extra_bytes = 4;
  Extra extra;
  extra.type = 9;
  extra.options = 1;
  extra.name = "depth";
  extra.no_data[0] = std::bit_cast<std::uint64_t>(-9999.0);
  file.vlrs = {extra_record({extra})};
  file.random_points(3, 1);
  Copy copy(read(file.build()));
  Column<float> values(3);
  values[0] = -9999;
  values[1] = std::numeric_limits<float>::quiet_NaN();
  values[2] = 1.5;
  copy.changed.emplace_back(std::move(values));
  for (auto& scalar : copy.view.scalars) {
    if (scalar.values->dtype() == DType::kF32) scalar.values = &copy.changed[0];
  }
  LasWriteResult result;
  const LasCloud again = copy.again(&result);
  EXPECT_NE(joined(result.warnings).find("no-data value of its source"), std::string::npos);
  EXPECT_EQ(column(again.table, "depth").values.as<float>()[0], -9999.0F);
  EXPECT_TRUE(std::isnan(column(again.table, "depth").values.as<float>()[1]));
}

TEST(LasFidelity, NamesOfTheSourceAreKeptAlsoWhereAFieldHasThem) {
  LasFile file;
  file.extra_bytes = 2;
  Extra one, two;
  one.name = "classification";
  two.name = "Height (m), a name of 32 letters";
  two.description = "and a description of 32 letters";
  file.vlrs = {extra_record({one, two})};
  file.random_points(10, 3);
  const Copy copy(read(file.build()));
  LasWriteResult result;
  const LasCloud again = copy.again(&result);
  EXPECT_EQ(joined(result.warnings), "");
  expect_same_records(copy.cloud.header, again.header);
}

/// Steps and begins that no default has; the frames a session can put between reading and writing.
TEST(LasFidelity, CoordinatesKeepTheirIntegers) {
  for (const double scale : {0.01, 0.001, 0.00025, 1e-7, 1.0 / 3}) {
    for (const Vec3d shift : {Vec3d{0, 0, 0}, Vec3d{500'000, 5'400'000, 100}, Vec3d{0.1, -0.7, 1e7}}) {
      for (const Vec3d move : {Vec3d{0, 0, 0}, Vec3d{-500'000.125, 17, 0.3}}) {
        LasFile file;
        file.format = 0;
        file.minor = 2;
        for (int axis = 0; axis < 3; ++axis) {
          file.scale[axis] = axis == 2 ? scale / 2 : scale;
          file.offset[axis] = 500'000.37 * axis + 0.3;
        }
        file.random_points(3000, 5);
        put(file.points, 0, std::numeric_limits<std::int32_t>::min());
        put(file.points, 4, std::numeric_limits<std::int32_t>::max());
        LasReadParams frame;
        frame.frame.shift = shift;
        const TempFile source("source.las", file.build());
        Copy copy(read(source.path(), frame));
        copy.view.offset = shift + move;
        copy.params.grid->offset = copy.params.grid->offset + move;
        const TempFile out("out.las");
        const LasWriteResult result = write(copy.view, copy.params, out.path());
        EXPECT_EQ(joined(result.warnings), "");
        const Bytes bytes = read_file(out.path());
        const LasHeader header = read_las_header(out.path());
        EXPECT_EQ(header.scale, (Vec3d{file.scale[0], file.scale[1], file.scale[2]}));
        for (std::size_t i = 0; i < 3000; ++i) {
          ASSERT_EQ(std::memcmp(bytes.data() + header.points_offset + i * header.record_bytes,
                                file.points.data() + i * file.record_bytes(), 12),
                    0)
              << i << " " << scale << " " << shift.x << " " << move.x;
        }
        if (move == Vec3d{0, 0, 0}) {
          const LasCloud again = read(out.path(), frame);
          EXPECT_EQ(std::memcmp(again.table.positions.view().data, copy.cloud.table.positions.view().data,
                                again.table.positions.bytes()),
                    0)
              << scale << " " << shift.x;
        }
      }
    }
  }
}

TEST(LasFidelity, AnAxisThatLeftTheStepsGetsFineOnes) {
  LasFile file;
  file.scale[0] = file.scale[1] = file.scale[2] = 0.25;
  file.offset[0] = 0.125;
  file.random_points(100, 9);
  Copy copy(read(file.build()));
  Column<Vec3d> moved(100);
  for (std::size_t i = 0; i < 100; ++i) {
    moved[i] = copy.cloud.table.positions[i];
    moved[i].y = static_cast<double>(i) / 1000;
  }
  copy.view.positions = moved.view();
  const TempFile out("out.las");
  const LasWriteResult result = write(copy.view, copy.params, out.path());
  EXPECT_EQ(result.scale, (Vec3d{0.25, 0.001, 0.25}));
  EXPECT_EQ(result.offset, (Vec3d{0.125, 0, 0}));
  const LasCloud again = read(out.path());
  for (std::size_t i = 0; i < 100; ++i) {
    EXPECT_EQ(again.table.positions[i].x, moved[i].x);
    EXPECT_NEAR(again.table.positions[i].y, moved[i].y, 1e-12);
  }
  copy.params.grid = LasGrid{{0, NAN, 0.25}, {0, 0, 0}};
  EXPECT_EQ(write(copy.view, copy.params, out.path()).scale.y, 0.001) << "a grid that is none";
}

constexpr const char* kUtm =
    R"(PROJCS["WGS 84 / UTM zone 33N",GEOGCS["WGS 84",DATUM["WGS_1984",SPHEROID["WGS 84",6378137,298.257223563]],PRIMEM["Greenwich",0],UNIT["degree",0.0174532925199433]],PROJECTION["Transverse_Mercator"],UNIT["metre",1],AUTHORITY["EPSG","32633"]])";

TEST(LasFidelity, OlderPointFormatsWithWkt) {
  for (const int format : {0, 1, 2, 3}) {
    for (const bool compressed : {false, true}) {
      LasFile file;
      file.format = format;
      file.global_encoding = 16;
      file.vlrs = {wkt_record(kUtm)};
      file.random_points(5000, 23);
      Copy copy(read(file.build()));
      copy.params.compressed = compressed;
      LasWriteResult result;
      const LasCloud again = copy.again(&result);
      EXPECT_EQ(joined(result.warnings), "");
      EXPECT_EQ(again.header.version_minor, 4);
      EXPECT_EQ(again.header.point_format, format);
      EXPECT_EQ(again.header.global_encoding & 16, 16);
      EXPECT_EQ(again.header.declared_point_count, 5000u);
      EXPECT_EQ(again.header.legacy_point_count, 5000u) << "a reader of 1.2 finds them too";
      EXPECT_EQ(again.header.crs.wkt, kUtm);
      EXPECT_NE(find_column(again.table, "scan_angle_rank"), nullptr);
      expect_same(copy.cloud.table, again.table, "format " + std::to_string(format));
    }
  }
}

TEST(LasFidelity, GeotiffRecordsAreRepeated) {
  // Projected 32633, a vertical code, a citation and a size in doubles.
  LasFile file;
  file.minor = 2;
  file.format = 1;
  Record keys =
      geotiff_record({1, 1, 0, 4, 1024, 0, 1, 1, 3072, 0, 1, 32633, 1026, 34737, 5, 0, 4096, 0, 1, 5773});
  const Record doubles{"LASF_Projection", 34736, Bytes(16, 7)};
  const Record ascii{"LASF_Projection", 34737, Bytes{'h', 'e', 'r', 'e', '|', 0}};
  file.vlrs = {keys, doubles, ascii};
  file.random_points(10, 2);
  Copy copy(read(file.build()));
  for (const bool modern : {false, true}) {
    copy.params.version = modern ? LasVersion::k14 : LasVersion::k12;
    copy.params.legacy_points = !modern;
    LasWriteResult result;
    const LasCrs crs = copy.again(&result).header.crs;
    EXPECT_EQ(crs.epsg, 32633);
    EXPECT_EQ(crs.vertical_epsg, 5773);
    EXPECT_EQ(crs.citation, "here");
    EXPECT_EQ(crs.geotiff.directory, keys.payload);
    EXPECT_EQ(crs.geotiff.doubles, doubles.payload);
    EXPECT_EQ(crs.geotiff.ascii, ascii.payload);
    const bool said =
        joined(result.warnings).find("EPSG:32633 is in the file as GeoTIFF keys") != std::string::npos;
    EXPECT_EQ(said, modern) << joined(result.warnings);
  }
}

TEST(LasFidelity, AnEpsgCodeAloneIsFoundAgainInEveryFormat) {
  LasFile file;
  file.random_points(10, 2);
  Copy copy(read(file.build()));
  copy.params.epsg = 2154;
  for (const bool modern : {false, true}) {
    copy.params.version = modern ? LasVersion::k14 : LasVersion::k12;
    copy.params.legacy_points = !modern;
    const LasHeader header = copy.again().header;
    EXPECT_EQ(header.crs.epsg, 2154);
    EXPECT_EQ(header.global_encoding & 16, modern ? 16 : 0)
        << "readers refuse formats 6 to 8 without the flag";
  }
  copy.params.version = LasVersion::k14;
  copy.params.wkt = kUtm;
  EXPECT_EQ(copy.again().header.crs.geotiff.directory.size(), 32u) << "the WKT names another code";
  copy.params.epsg = 32633;
  EXPECT_TRUE(copy.again().header.crs.geotiff.directory.empty()) << "the WKT says it";
}

}  // namespace
}  // namespace pc::io
