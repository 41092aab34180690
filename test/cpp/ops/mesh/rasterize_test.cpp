#include "ops/mesh/rasterize.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "io/record_support.h"
#include "ops/mesh/raster_triangle.h"
#include "spatial/bvh_queries.h"
#include "support/cancel.h"
#include "support/meshes.h"

namespace {

using namespace pc;
using record_test::error_of;
using record_test::with_context;

constexpr RasterLight kHeadlight{{0, 0, -1}, 0.2, false, {255, 255, 255, 255}};
constexpr RasterLight kAmbient{{0, 0, -1}, 1, false, {0, 0, 0, 255}};

/// Arrays that a PaintedMesh looks at.
struct Drawn {
  std::vector<float> vertices, normals, colors, uvs;
  std::vector<std::uint32_t> indices, images;
  std::vector<std::uint8_t> texels;
  std::uint32_t texture_width = 0, texture_height = 0;

  PaintedMesh view() const {
    PaintedMesh mesh{{vertices.data(), vertices.size()},
                     {indices.data(), indices.size()},
                     {normals.data(), normals.size()},
                     {colors.data(), colors.size()},
                     {uvs.data(), uvs.size()},
                     {images.data(), images.size()},
                     {}};
    if (!texels.empty())
      mesh.textures.push_back({texture_width, texture_height, {texels.data(), texels.size()}});
    return mesh;
  }
};

Drawn drawn(const test::Mesh& mesh) {
  Drawn out;
  for (const Vec3d& p : mesh.vertices)
    for (const double value : {p.x, p.y, p.z}) out.vertices.push_back(static_cast<float>(value));
  out.indices = mesh.indices;
  return out;
}

/// The square [0, side]^2 at z = 0, seen from above with y downwards in the picture.
Drawn square(float side) {
  Drawn out;
  out.vertices = {0, 0, 0, side, 0, 0, side, side, 0, 0, side, 0};
  out.uvs = {0, 0, 1, 0, 1, 1, 0, 1};
  out.indices = {0, 1, 2, 0, 2, 3};
  return out;
}

/// Looks along z; the left upper corner is at (0, 0), one pixel is one metre.
RasterCamera flat_camera(std::uint32_t width, std::uint32_t height) {
  return {{1, 0, 0, -0.5 * width, 0, 1, 0, -0.5 * height, 0, 0, 1, 10}, false, 1, 0, width, height};
}

/// Turned by `angle` about y, `distance` away from the origin, 400 pixels per metre at 1 m distance.
RasterCamera turned_camera(double angle, double distance, bool perspective) {
  const double c = std::cos(angle), s = std::sin(angle);
  return {
      {c, 0, s, 0, 0, 1, 0, 0, -s, 0, c, distance}, perspective, perspective ? 400.0 : 120.0, 0.01, 320, 200};
}

MeshPicture draw(const Drawn& mesh, const RasterCamera& camera, const RasterLight& light = kAmbient,
                 unsigned samples = 1, int threads = 2) {
  return with_context(
      threads, [&](OpContext& ctx) { return rasterize_mesh(mesh.view(), camera, light, samples, ctx); });
}

std::vector<std::uint8_t> pixel(const MeshPicture& picture, std::size_t at) {
  return {&picture.rgba[4 * at], &picture.rgba[4 * at] + 4};
}
using Bytes = std::vector<std::uint8_t>;

TEST(Rasterize, APlaceOnASharedEdgeBelongsToOneTriangle) {
  // A fan whose corners and edges lie on samples; every sample inside belongs to exactly one triangle.
  for (const bool perspective : {false, true}) {
    const RasterCamera camera{{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 1}, perspective, 1, 0.01, 64, 64};
    const std::vector<Vec3d> rim{{-16, -16, 1}, {0, -16, 1}, {16, -16, 1}, {16, 0, 1},
                                 {16, 16, 1},   {0, 16, 1},  {-16, 16, 1}, {-16, 0, 1}};
    const Vec3d center{-4, 4, 1};
    int inside = 0;
    for (double y = -18; y <= 18; y += 0.5) {
      for (double x = -18; x <= 18; x += 0.5) {
        int owners = 0;
        RasterPlace place;
        for (std::size_t i = 0; i < rim.size(); ++i) {
          std::array<Vec3d, 3> corners{center, rim[i], rim[(i + 1) % rim.size()]};
          if (i % 2 == 1) std::swap(corners[1], corners[2]);  // wound either way
          owners += RasterTriangle(corners, camera).covers(x, y, place);
        }
        const bool within = std::abs(x) < 16 && std::abs(y) < 16;
        if (within) {
          EXPECT_EQ(owners, 1) << x << " " << y;
        } else {
          EXPECT_LE(owners, 1) << x << " " << y;
        }
        inside += owners;
      }
    }
    EXPECT_EQ(inside, 64 * 64) << "one of two opposite borders belongs to the square";
  }
}

TEST(Rasterize, SeesWhatARayHitsFirst) {
  test::Mesh scene = test::soup(3000, 2, 0.4, 7);
  const test::Mesh ball = test::sphere(24, {0.1, 0.2, 0.3}, 0.5);
  for (const auto index : ball.indices)
    scene.indices.push_back(index + static_cast<std::uint32_t>(scene.vertices.size()));
  scene.vertices.insert(scene.vertices.end(), ball.vertices.begin(), ball.vertices.end());
  for (Vec3d& p : scene.vertices)
    p = {static_cast<float>(p.x), static_cast<float>(p.y), static_cast<float>(p.z)};
  with_context(2, [&](OpContext& ctx) {
    const Bvh tree(scene.view(), ctx);
    for (const bool perspective : {false, true}) {
      // With perspective the camera stands among the triangles: some reach behind it.
      const RasterCamera camera = turned_camera(0.7, perspective ? 0.4 : 5, perspective);
      const MeshPicture picture = draw(drawn(scene), camera);
      const auto& m = camera.view;
      const auto to_mesh = [&](double x, double y, double z) {
        return Vec3d{m[0] * x + m[4] * y + m[8] * z, m[1] * x + m[5] * y + m[9] * z,
                     m[2] * x + m[6] * y + m[10] * z};
      };
      int hits = 0, others = 0;
      for (std::uint32_t row = 0; row < camera.height; ++row)
        for (std::uint32_t column = 0; column < camera.width; ++column) {
          const double x = (column + 0.5 - 160) / camera.scale, y = (row + 0.5 - 100) / camera.scale;
          const Vec3d from =
              perspective ? to_mesh(-m[3], -m[7], -m[11]) : to_mesh(x - m[3], y - m[7], -m[11]);
          const Vec3d along = perspective ? to_mesh(x, y, 1) : to_mesh(0, 0, 1);
          const Ray ray{from, along, camera.near_m, HUGE_VAL};
          RayHit hit;
          portable_bvh_queries().first_hits(tree.view(), &ray, 1, &hit);
          const std::size_t at = std::size_t{row} * camera.width + column;
          hits += hit.triangle != bvh::kNone;
          if (hit.triangle == bvh::kNone ? picture.triangles[at] == kNoTriangle
                                         : std::abs(picture.depth[at] - hit.t) <= 1e-6 * hit.t)
            continue;
          ++others;  // a ray that passes within rounding of an edge
        }
      EXPECT_GT(hits, 20000);
      EXPECT_LE(others, 2) << perspective;
    }
  });
}

TEST(Rasterize, DoesNotDependOnThreads) {
  const Drawn mesh = drawn(test::soup(2000, 2, 0.5, 3));
  const auto list = [&](int threads) {
    const MeshPicture picture = draw(mesh, turned_camera(0.3, 3, true), kHeadlight, 2, threads);
    const auto depth = picture.depth.view();
    return std::make_tuple(
        Bytes(picture.rgba.view().begin(), picture.rgba.view().end()),
        std::vector<float>(depth.begin(), depth.end()),
        std::vector<std::uint32_t>(picture.triangles.view().begin(), picture.triangles.view().end()));
  };
  const auto one = list(1);
  for (const int threads : {2, 3, 7}) EXPECT_EQ(list(threads), one);
}

TEST(Rasterize, ATextureAtItsOwnSizeIsCopied) {
  Drawn mesh = square(8);
  mesh.images = {0, 0};
  mesh.texture_width = mesh.texture_height = 8;
  for (int i = 0; i < 64; ++i)
    for (const int value : {3 * i, 255 - i, (i * 37) % 256, 255})
      mesh.texels.push_back(static_cast<std::uint8_t>(value));
  const MeshPicture picture = draw(mesh, flat_camera(8, 8));
  EXPECT_EQ(Bytes(picture.rgba.view().begin(), picture.rgba.view().end()), mesh.texels);
}

TEST(Rasterize, AFineTextureIsAveragedInLinearLight) {
  Drawn mesh = square(4);
  mesh.images = {0, 0};
  mesh.texture_width = mesh.texture_height = 64;
  for (int i = 0; i < 64 * 64; ++i)
    for (int k = 0; k < 4; ++k) mesh.texels.push_back(k == 3 || i % 4 == 0 ? 255 : 0);
  const MeshPicture picture = draw(mesh, flat_camera(4, 4));
  for (std::size_t i = 0; i < 16; ++i)
    for (int k = 0; k < 3; ++k)
      EXPECT_NEAR(picture.rgba[4 * i + k], 137, 1);  // sRGB of a quarter of the light
}

TEST(Rasterize, HolesOfATextureShowWhatIsBehind) {
  Drawn mesh = square(4);
  mesh.images = {0, 0, kNoTriangleImage, kNoTriangleImage};
  mesh.texture_width = 2;
  mesh.texture_height = 1;
  mesh.texels = {10, 200, 30, 255, 10, 200, 30, 0};  // the right half is a hole
  for (const float value : {0.f, 0.f, 5.f, 4.f, 0.f, 5.f, 4.f, 4.f, 5.f, 0.f, 4.f, 5.f})
    mesh.vertices.push_back(value);
  mesh.uvs.resize(16);
  for (const std::uint32_t index : {4, 5, 6, 4, 6, 7}) mesh.indices.push_back(index);
  const MeshPicture picture = draw(mesh, flat_camera(4, 4));
  EXPECT_EQ(picture.triangles[5], 0u + (picture.triangles[5] == 1u));
  EXPECT_FLOAT_EQ(picture.depth[5], 10);
  EXPECT_FLOAT_EQ(picture.depth[6], 15);
  EXPECT_EQ(pixel(picture, 5), (Bytes{10, 200, 30, 255}));
  EXPECT_EQ(pixel(picture, 6), (Bytes{204, 204, 204, 255}));  // grey without a colour
}

TEST(Rasterize, LightFallsWithTheCosine) {
  // A plane tilted by 60 degrees reflects 0.2 + 0.8 * 0.5 of white, from both sides.
  Drawn mesh = square(4);
  mesh.colors.assign(12, 1.0f);
  RasterCamera camera = flat_camera(4, 4);
  const double c = 0.5, s = std::sqrt(0.75);
  camera.view = {c, 0, -s, 0, 0, 1, 0, -2, s, 0, c, 10};
  camera.scale = 2;
  const double expected = 255 * (1.055 * std::pow(0.6, 1 / 2.4) - 0.055);
  const MeshPicture above = draw(mesh, camera, kHeadlight);
  std::swap(mesh.indices[0], mesh.indices[1]);
  std::swap(mesh.indices[3], mesh.indices[4]);
  const MeshPicture below = draw(mesh, camera, kHeadlight);
  const std::size_t middle = 4 * 2 + 2;
  ASSERT_NE(above.triangles[middle], kNoTriangle);
  EXPECT_NEAR(above.rgba[4 * middle], expected, 0.51);
  EXPECT_EQ(pixel(above, middle), pixel(below, middle));
}

TEST(Rasterize, NormalsOfTheVerticesAreMixed) {
  Drawn mesh = square(4);
  mesh.colors.assign(12, 1.0f);
  for (int i = 0; i < 4; ++i) mesh.normals.insert(mesh.normals.end(), {0, 1, 0});  // away from the light
  RasterLight light = kHeadlight;
  light.ambient = 0;
  EXPECT_EQ(pixel(draw(mesh, flat_camera(4, 4), light), 5), (Bytes{255, 255, 255, 255}));
  light.is_smooth = true;
  EXPECT_EQ(pixel(draw(mesh, flat_camera(4, 4), light), 5), (Bytes{0, 0, 0, 255}));
  mesh.normals.assign(12, 0.0f);  // none: that of the triangle
  EXPECT_EQ(pixel(draw(mesh, flat_camera(4, 4), light), 5), (Bytes{255, 255, 255, 255}));
}

TEST(Rasterize, SamplesAreMixedInLinearLight) {
  Drawn mesh = square(2);
  mesh.colors.assign(12, 1.0f);
  RasterCamera camera = flat_camera(4, 2);
  camera.view[3] += 0.5;  // from 0.5 to 2.5: the first and the third pixel are half covered
  const MeshPicture picture = draw(mesh, camera, kAmbient, 2);
  EXPECT_EQ(pixel(picture, 0), (Bytes{188, 188, 188, 255}));
  EXPECT_EQ(pixel(picture, 1), (Bytes{255, 255, 255, 255}));
  EXPECT_EQ(pixel(picture, 2), (Bytes{188, 188, 188, 255}));
  EXPECT_EQ(pixel(picture, 3), (Bytes{0, 0, 0, 255}));
  RasterLight clear = kAmbient;
  clear.background[3] = 0;
  EXPECT_EQ(pixel(draw(mesh, camera, clear, 2), 0), (Bytes{255, 255, 255, 128}));
  EXPECT_EQ(pixel(draw(mesh, camera, clear, 2), 3), (Bytes{0, 0, 0, 0}));
}

TEST(Rasterize, LeavesOutWhatCannotBeSeen) {
  Drawn mesh = square(4);
  mesh.vertices[0] = std::numeric_limits<float>::quiet_NaN();  // of both triangles
  const auto blank = [](const MeshPicture& picture) {
    const auto ids = picture.triangles.view();
    return std::all_of(ids.begin(), ids.end(), [](std::uint32_t id) { return id == kNoTriangle; });
  };
  EXPECT_TRUE(blank(draw(mesh, flat_camera(4, 4))));
  Drawn huge = square(3e38f);
  EXPECT_FALSE(blank(draw(huge, flat_camera(4, 4))));
  Drawn line = square(4);
  line.indices = {0, 1, 1, 2, 2, 2};
  EXPECT_TRUE(blank(draw(line, flat_camera(4, 4))));
  EXPECT_TRUE(blank(draw(Drawn{}, flat_camera(4, 4))));
  RasterCamera behind = turned_camera(0, -5, true);
  EXPECT_TRUE(blank(draw(square(4), behind)));
}

TEST(Rasterize, RefusesWhatDoesNotFit) {
  const auto refused = [](const Drawn& mesh, const RasterCamera& camera, const RasterLight& light,
                          unsigned samples) { return error_of([&] { draw(mesh, camera, light, samples); }); };
  const RasterCamera camera = flat_camera(4, 4);
  Drawn mesh = square(4);
  mesh.indices[2] = 4;
  EXPECT_MESSAGE(refused(mesh, camera, kAmbient, 1), "index");
  mesh = square(4);
  mesh.images = {0, 1};
  mesh.texture_width = mesh.texture_height = 1;
  mesh.texels = {1, 2, 3, 4};
  EXPECT_MESSAGE(refused(mesh, camera, kAmbient, 1), "image");
  mesh.texels.pop_back();
  EXPECT_MESSAGE(refused(mesh, camera, kAmbient, 1), "rgba");
  mesh = square(4);
  mesh.colors.resize(3);
  EXPECT_MESSAGE(refused(mesh, camera, kAmbient, 1), "colors");
  mesh = square(4);
  EXPECT_MESSAGE(refused(mesh, camera, kAmbient, 0), "samples");
  EXPECT_MESSAGE(refused(mesh, camera, kAmbient, 5), "samples");
  EXPECT_MESSAGE(refused(mesh, flat_camera(0, 4), kAmbient, 1), "width");
  EXPECT_MESSAGE(refused(mesh, flat_camera(4, 32769), kAmbient, 1), "width");
  RasterCamera bad = camera;
  bad.view[5] = NAN;
  EXPECT_MESSAGE(refused(mesh, bad, kAmbient, 1), "finite");
  bad = camera;
  bad.perspective = true;
  EXPECT_MESSAGE(refused(mesh, bad, kAmbient, 1), "near_m");
  RasterLight dark = kAmbient;
  dark.toward = {0, 0, 0};
  EXPECT_MESSAGE(refused(mesh, camera, dark, 1), "toward");
}

TEST(Rasterize, CancelsAmongLargeTriangles) {
  Drawn mesh;
  const Drawn one = square(2000);
  for (int i = 0; i < 20000; ++i)
    mesh.indices.insert(mesh.indices.end(), one.indices.begin(), one.indices.end());
  mesh.vertices = one.vertices;
  test::expect_cancel_in_phase("Drawing", [&](OpContext& ctx) {
    rasterize_mesh(mesh.view(), flat_camera(2000, 2000), kHeadlight, 4, ctx);
  });
}

}  // namespace
