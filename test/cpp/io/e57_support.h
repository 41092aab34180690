#pragma once
#include <string>
#include <utility>
#include <vector>

#include "io/e57.h"
#include "io/e57_builder.h"
#include "io/record_support.h"

/// What the tests of the E57 reader share.
namespace pc::e57_test {

using namespace pc::record_test;
using io::E57Cloud;
using io::E57ReadParams;

inline E57Cloud read_path(const std::string& path, const E57ReadParams& params = {}, int threads = 2) {
  return with_context(threads, [&](OpContext& ctx) { return io::read_e57(path, params, ctx); });
}

inline E57Cloud read_bytes(const Bytes& bytes, const E57ReadParams& params = {}, int threads = 2) {
  return read_path(ScratchFile(text_of(bytes), ".e57").path(), params, threads);
}

inline E57Cloud read_scans(std::vector<Scan> scans, const E57ReadParams& params = {}, int threads = 2) {
  E57File file;
  file.scans = std::move(scans);
  return read_bytes(file.build(), params, threads);
}

/// cartesianX, cartesianY and cartesianZ as doubles.
inline Scan cartesian(const std::vector<Vec3d>& points) {
  std::vector<double> x, y, z;
  for (const Vec3d& p : points) {
    x.push_back(p.x);
    y.push_back(p.y);
    z.push_back(p.z);
  }
  Scan scan;
  scan.fields = {Field::real("cartesianX", x), Field::real("cartesianY", y), Field::real("cartesianZ", z)};
  return scan;
}

inline std::string pose_xml(double w, double x, double y, double z, const Vec3d& t) {
  const auto number = [](const char* name, double v) {
    return std::string("<") + name + " type=\"Float\">" + std::to_string(v) + "</" + name + ">";
  };
  return "<pose type=\"Structure\"><rotation type=\"Structure\">" + number("w", w) + number("x", x) +
         number("y", y) + number("z", z) + "</rotation><translation type=\"Structure\">" + number("x", t.x) +
         number("y", t.y) + number("z", t.z) + "</translation></pose>";
}

inline void expect_near(const Vec3d& a, const Vec3d& b, double bound) {
  EXPECT_NEAR(a.x, b.x, bound);
  EXPECT_NEAR(a.y, b.y, bound);
  EXPECT_NEAR(a.z, b.z, bound);
}

}  // namespace pc::e57_test
