#include "io/obj.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <string>
#include <vector>

#include "io/record_support.h"
#include "support/cancel.h"

namespace {

using namespace pc;
using namespace pc::record_test;

constexpr std::uint32_t kNone = kNoIndex;
using List = std::vector<std::uint32_t>;

PolygonMesh read(const std::string& text, std::size_t chunk_bytes = io::kObjChunkBytes, int threads = 2,
                 const Vec3d& shift = {0, 0, 0}) {
  const ScratchFile file(text, ".obj");
  return with_context(threads,
                      [&](OpContext& ctx) { return io::read_obj(file.path(), shift, chunk_bytes, ctx); });
}

template <class T>
std::vector<T> list(const BulkVector<T>& values) {
  return {values.begin(), values.end()};
}
template <class T>
std::vector<T> list(const Column<T>& values) {
  return {values.view().begin(), values.view().end()};
}

/// Everything of a mesh as text, so that two can be compared; NaN equals NaN.
std::string told(const PolygonMesh& mesh) {
  std::string out;
  const auto add = [&](const char* name, const auto& values) {
    out += name;
    for (const auto value : values) out += " " + std::to_string(value);
    out += "\n";
  };
  for (const Vec3d& p : list(mesh.positions)) add("v", std::vector<double>{p.x, p.y, p.z});
  add("vt", list(mesh.uvs));
  add("vn", list(mesh.normals));
  add("rgb", list(mesh.colors));
  add("cp", list(mesh.corner_position));
  add("ct", list(mesh.corner_uv));
  add("cn", list(mesh.corner_normal));
  add("faces", list(mesh.face_first));
  add("material", list(mesh.face_material));
  for (const auto* texts : {&mesh.material_names, &mesh.libraries, &mesh.warnings}) {
    for (const std::string& text : *texts) out += text + "\n";
    out += "--\n";
  }
  return out;
}

const std::string kEverything =
    "# head \\\n continued comment\r\n"
    "mtllib my lib.mtl\nmtllib b.mtl\n"
    "v 0 0 0\nv +1 0. 0 1\nv 1e0 1 .0\nv 0 1 0 0.25 0.5 1\nv 1 2\n"
    "vt 0.5\nvt 0.25 0.75 0\nvn 0 0 2\n"
    "usemtl red\nf 1/1/1 2/2/1 3//1 4\n"
    "usemtl big  blue \nf -5 -4 -3\nl 1 2\n"
    "v 5 5 5\nv 6 5 5\nvt 9 9\nvn 1 0 0\nf -1/-1/-1 -2/-2/-2 -7/-3\n"
    "f 1 2\nf 1 2 99\nf 1/9/9 2 3\nusemtl red\nf 1 \\\r\n 2 \\\n 3\nusemtl\nf 3 2 1\nfrob 1\nv nan 1 2\n"
    "f 0 1 2\ng grp\no obj\ns 1\nf 1 2 6";

TEST(Obj, ReadsFacesWithAbsoluteRelativeAndMissingIndices) {
  const PolygonMesh mesh = read(kEverything);
  EXPECT_EQ(mesh.positions.size(), 8u);
  EXPECT_EQ(mesh.positions[1], (Vec3d{1, 0, 0}));
  EXPECT_TRUE(std::isnan(mesh.positions[4].x));  // two numbers only, but it keeps its number
  EXPECT_EQ(mesh.positions[5], (Vec3d{5, 5, 5}));
  EXPECT_EQ(list(mesh.uvs), (std::vector<float>{0.5f, 0, 0.25f, 0.75f, 9, 9}));
  EXPECT_EQ(list(mesh.normals), (std::vector<float>{0, 0, 2, 1, 0, 0}));
  EXPECT_EQ(list(mesh.face_first), (std::vector<std::uint64_t>{0, 4, 7, 10, 13, 16, 19, 22, 25, 28}));
  EXPECT_EQ(list(mesh.corner_position), (List{0, 1, 2, 3, 0, 1, 2, 6, 5,     0, 0, 1, kNone, 0,
                                              1, 2, 0, 1, 2, 2, 1, 0, kNone, 0, 1, 0, 1,     5}));
  EXPECT_EQ(list(mesh.corner_uv), (List{0,     1,     kNone, kNone, kNone, kNone, kNone, 2,     1,     0,
                                        kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone,
                                        kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone}));
  EXPECT_EQ(list(mesh.corner_normal)[7], 1u);
  EXPECT_EQ(list(mesh.face_material), (List{0, 1, 1, 1, 1, 0, kNone, kNone, kNone}));
  EXPECT_EQ(mesh.material_names, (std::vector<std::string>{"red", "big  blue"}));
  EXPECT_EQ(mesh.libraries, (std::vector<std::string>{"my lib.mtl", "b.mtl"}));
  const auto colors = list(mesh.colors);
  EXPECT_TRUE(std::isnan(colors[0]));
  EXPECT_EQ((std::vector<float>{colors[9], colors[10], colors[11]}), (std::vector<float>{0.25f, 0.5f, 1}));
  EXPECT_EQ(
      mesh.warnings,
      (std::vector<std::string>{
          "1 vertex line(s) could not be read; faces with these vertices are left out (first: line 9)",
          "1 face(s) have fewer than three corners and are left out (first: line 23)",
          "2 face(s) name a vertex that does not exist; their triangles with it are left out (first: line "
          "24)",
          "1 face(s) name a texture coordinate or normal that does not exist; it is taken as missing (first: "
          "line 25)",
          "1 line or point element(s) are left out (first: line 17)",
          "1 line(s) with statements that are not read (first: line 32, \"frob\")"}));
}

TEST(Obj, DoesNotDependOnChunksAndThreads) {
  const std::string expected = told(read(kEverything));
  for (std::size_t bytes = 1; bytes <= 40; ++bytes) {
    EXPECT_EQ(told(read(kEverything, bytes, 1 + static_cast<int>(bytes % 3))), expected) << bytes;
  }
  std::string crs = "mtllib a\rv 0 0 0\rv 1 0 0\rv 0 1 0\rf 1 2 3\r";
  EXPECT_EQ(list(read(crs, 7).corner_position), (List{0, 1, 2}));
}

TEST(Obj, SubtractsTheShiftInDoubleAndRefusesWhatFloat32CannotHold) {
  const PolygonMesh mesh = read("v 4000000.125 0 0\nv 1e39 0 0\nf 1 1 2\n", 5, 1, {4000000, -1, 0});
  EXPECT_EQ(mesh.positions[0], (Vec3d{0.125, 1, 0}));
  EXPECT_FALSE(is_finite(mesh.positions[1]));
}

TEST(Obj, ReadsLinesWithCommentsBehindThem) {
  const PolygonMesh mesh =
      read("v 1 2 3 # a\nvt 1 2 # b\nvn 0 0 1 # c\nf 1 1 1 # d\nv 1 2 x 3\nvt #\nvn 1 2 #\n");
  EXPECT_EQ(mesh.positions[0], (Vec3d{1, 2, 3}));
  EXPECT_FALSE(is_finite(mesh.positions[1]));
  EXPECT_EQ(list(mesh.corner_position), (List{0, 0, 0}));
  EXPECT_EQ(mesh.warnings.size(), 3u);
}

TEST(Obj, ScalesColoursOfBytes) {
  const PolygonMesh mesh = read("v 0 0 0 255 0 51\nv 0 0 0 300 0 0\nv 0 0 0 nan nan nan\n");
  EXPECT_EQ((std::vector<float>{mesh.colors[0], mesh.colors[1], mesh.colors[2]}),
            (std::vector<float>{1, 0, 0.2f}));
  EXPECT_TRUE(std::isnan(mesh.colors[3]) && std::isnan(mesh.colors[8]));
  EXPECT_EQ(mesh.warnings, (std::vector<std::string>{
                               "the vertex colours were taken as 0..255",
                               "1 vertices have a colour outside of 0..1 or 0..255, which is ignored"}));
}

TEST(Obj, LimitsCorners) {
  std::string text = "v 0 0 0\nf";
  for (std::size_t i = 0; i <= kMaxFaceCorners; ++i) text += " 1";
  const Error error = error_of([&] { read(text); });
  EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
  EXPECT_MESSAGE(error, "more than 20000 corners");
}

TEST(Obj, LimitsNames) {
  const std::string face = "v 0 0 0\nusemtl " + std::string(256, 'm');
  EXPECT_EQ(read(face + "\nf 1 1 1").material_names[0].size(), 256u);
  EXPECT_EQ(error_of([&] { read(face + "m\nf 1 1 1"); }).code(), ErrorCode::kUnsupported);
  EXPECT_EQ(error_of([&] { read("mtllib " + std::string(4097, 'l')); }).code(), ErrorCode::kUnsupported);
  std::string many = "v 0 0 0\n", libraries;
  for (std::size_t i = 0; i <= kMaxMeshMaterials; ++i) many += "usemtl " + std::to_string(i) + "\nf 1 1 1\n";
  EXPECT_EQ(error_of([&] { read(many); }).code(), ErrorCode::kUnsupported);
  for (std::size_t i = 0; i <= io::kMaxMaterialLibraries; ++i) libraries += "mtllib a\n";
  EXPECT_EQ(error_of([&] { read(libraries); }).code(), ErrorCode::kUnsupported);
}

TEST(Obj, RefusesWhatIsNoText) {
  EXPECT_EQ(error_of([&] { read(std::string("v 0 0\0 0\n", 9)); }).code(), ErrorCode::kInvalidFile);
  EXPECT_EQ(read("").face_count(), 0u);
  EXPECT_EQ(error_of([&] { read("f " + std::string(std::size_t{17} << 20, '1')); }).code(),
            ErrorCode::kInvalidFile);
}

TEST(Obj, CancelEndsSoon) {
  std::string text = "v 0 0 0\nv 1 0 0\nv 0 1 0\n";
  for (int i = 0; i < 4'000'000; ++i) text += "f 1 2 3 1 2 3\n";
  const ScratchFile file(text, ".obj");
  test::expect_cancel_after(std::chrono::milliseconds(30), [&](OpContext& ctx) {
    io::read_obj(file.path(), {0, 0, 0}, ctx);
  });
}

}  // namespace
