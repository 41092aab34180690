#include "io/stl.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "io/ply_support.h"

namespace {

using namespace pc;
using namespace pc::record_test;

struct Triangle {
  float normal[3];
  float corners[9];
  std::uint16_t attribute = 0;
};

PolygonMesh read_mesh(const std::string& bytes, const Vec3d& shift = {0, 0, 0}, int threads = 2) {
  const ScratchFile file(bytes, ".stl");
  return with_context(threads, [&](OpContext& ctx) { return io::read_stl(file.path(), shift, ctx); });
}

std::string binary(std::string header, const std::vector<Triangle>& triangles, std::uint32_t count) {
  header.resize(80);
  header.append(reinterpret_cast<const char*>(&count), 4);
  for (const Triangle& t : triangles) {
    header.append(reinterpret_cast<const char*>(t.normal), 12);
    header.append(reinterpret_cast<const char*>(t.corners), 36);
    header.append(reinterpret_cast<const char*>(&t.attribute), 2);
  }
  return header;
}

const std::vector<Triangle> kTwo = {{{0, 0, 1}, {0, 0, 0, 1, 0, 0, 0, 1, 0}},
                                    {{0, 0, 1}, {1, 0, 0, 1, 1, 0, 0, 1, 0.5f}}};

std::string facet(const std::string& last) {
  return "  facet normal 0 0 1\n    outer loop\n      vertex 0 0 0\n      vertex 1 0 0\n      vertex " +
         last + "\n    endloop\n  endfacet\n";
}

TEST(Stl, ReadsBinaryAlsoWithTheWordSolidInItsHeader) {
  for (const char* const header : {"made by a program", "solid a\nfacet normal", "solid"}) {
    SCOPED_TRACE(header);
    const PolygonMesh mesh = read_mesh(binary(header, kTwo, 2), {1, 0, 0});
    EXPECT_EQ(mesh.face_count(), 2u);
    EXPECT_EQ(mesh.positions[5], (Vec3d{-1, 1, 0.5}));
    EXPECT_EQ(mesh.corner_position[5], 5u);
    EXPECT_EQ(mesh.warnings, std::vector<std::string>{});
  }
}

TEST(Stl, ReadsAsciiInAnyCaseAndLineBreaks) {
  const std::string text =
      "\xef\xbb\xbfSOLID my part\r\nFACET NORMAL 0 0 -1 OUTER LOOP VERTEX 0 0 0 vertex\n1 0 0\tvertex "
      "0 1 +1e-1 ENDLOOP ENDFACET ENDSOLID my part\nsolid facet vertex 9 9 9\n" +
      facet("0 1 0") + "endsolid\n";
  const PolygonMesh mesh = read_mesh(text);
  EXPECT_EQ(mesh.face_count(), 2u);
  EXPECT_EQ(mesh.positions[2], (Vec3d{0, 1, 0.1}));
  EXPECT_EQ(
      mesh.warnings,
      (std::vector<std::string>{"1 triangle(s) have a normal against their winding: the winding counts"}));
}

TEST(Stl, KeepsDigitsOfAsciiCoordinatesBeyondFloat32) {
  const PolygonMesh mesh =
      read_mesh("solid\n" + facet("476123.4567 5429000.001 0") + "endsolid\n", {476000, 5429000, 0});
  EXPECT_NEAR(mesh.positions[2].x, 123.4567, 1e-9);
  EXPECT_NEAR(mesh.positions[2].y, 0.001, 1e-9);
}

TEST(Stl, NamesWhatIsMissingOrNotUsed) {
  const auto warning = [](const std::string& bytes) {
    const PolygonMesh mesh = read_mesh(bytes);
    return mesh.warnings.size() == 1 ? mesh.warnings[0] : std::to_string(mesh.warnings.size()) + " warnings";
  };
  EXPECT_EQ(warning(binary("", kTwo, 3)),
            "the header declares 3 triangles, the file holds 2 complete ones: the rest is missing");
  EXPECT_EQ(warning(binary("", kTwo, 0xffffffffu)),
            "the header declares 4294967295 triangles, the file holds 2 complete ones: the rest is missing");
  EXPECT_EQ(warning(binary("", kTwo, 1)), "50 byte(s) after the last declared triangle are not read");
  auto painted = kTwo;
  painted[1].attribute = 0x8000;
  EXPECT_EQ(warning(binary("", painted, 2)),
            "1 triangle(s) have attribute bytes (colours of some programs), which are not used");
  EXPECT_EQ(warning("solid\n" + facet("0 1 0") + facet("0 x 1") + facet("1 2") + "endsolid"),
            "2 facet(s) do not have three vertices of three numbers and are left out");
  EXPECT_EQ(warning("solid\n" + facet("0 1 0") + facet("0 1 0 vertex 2 2 2") + "endsolid"),
            "1 facet(s) do not have three vertices of three numbers and are left out");
  EXPECT_EQ(warning("solid\n" + facet("0 1 0")),
            "the file ends before the word endsolid: the rest may be missing");
}

TEST(Stl, VerticesThatAreNotFiniteMakeTheirTriangleUnusable) {
  auto wild = kTwo;
  wild[0].corners[4] = std::nanf("");
  const PolygonMesh mesh = read_mesh(binary("", wild, 2));
  EXPECT_FALSE(is_finite(mesh.positions[1]));
  EXPECT_TRUE(is_finite(mesh.positions[3]));
  EXPECT_FALSE(is_finite(read_mesh("solid\n" + facet("1e300 0 0") + "endsolid").positions[2]));
}

TEST(Stl, AFileCutAtAnyByteIsReadInPartOrRefused) {
  const std::string text = "solid cut\n" + facet("0 1 0") + facet("0 2 0") + "endsolid cut\n";
  for (const std::string& whole : {binary("header", kTwo, 2), binary("solid header", kTwo, 2), text}) {
    const std::size_t tail = whole == text ? 13 : 0;  // what follows the last facet
    for (std::size_t size = 0; size < whole.size(); ++size) {
      SCOPED_TRACE(size);
      const std::string cut = whole.substr(0, size);
      std::size_t faces = 0;
      std::vector<std::string> warnings;
      try {
        const PolygonMesh mesh = read_mesh(cut);
        faces = mesh.face_count();
        warnings = mesh.warnings;
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::kInvalidFile) << error.what();
        continue;
      }
      if (size + tail + 1 < whole.size()) {
        EXPECT_LT(faces, 3u - (whole != text ? 1u : 0u));
      }
      if (size + tail < whole.size()) {
        EXPECT_FALSE(warnings.empty());
      }
    }
  }
}

TEST(Stl, RefusesWhatIsNoStlFile) {
  EXPECT_MESSAGE(error_of([] { read_mesh(""); }), "no STL file");
  EXPECT_MESSAGE(error_of([] { read_mesh("hello"); }), "no STL file");
  EXPECT_MESSAGE(error_of([] { read_mesh("solid\nendsolid\n"); }), "no complete facet");
  EXPECT_MESSAGE(error_of([] { read_mesh(binary("", {}, 0)); }), "declares no triangles");
  EXPECT_MESSAGE(error_of([] { read_mesh(binary("", {}, 5)); }), "no complete triangle");
}

TEST(Stl, DoesNotDependOnThreads) {
  std::vector<Triangle> many;
  for (int i = 0; i < 100'000; ++i) {
    const auto f = static_cast<float>(i);
    many.push_back({{0, 0, i % 3 == 0 ? -1.0f : 1.0f}, {f, 0, 0, f + 1, 0, 0, f, 1, f}});
  }
  const std::string bytes = binary("", many, 100'000);
  const PolygonMesh one = read_mesh(bytes, {0, 0, 0}, 1), three = read_mesh(bytes, {0, 0, 0}, 3);
  EXPECT_EQ(one.warnings, three.warnings);
  EXPECT_EQ(one.warnings, (std::vector<std::string>{
                              "33334 triangle(s) have a normal against their winding: the winding counts"}));
  ASSERT_EQ(one.positions.size(), three.positions.size());
  for (std::size_t i = 0; i < one.positions.size(); ++i) ASSERT_EQ(one.positions[i], three.positions[i]);
}

}  // namespace
