#include "ops/mesh/rasterize.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "core/parallel.h"
#include "ops/mesh/mip_chain.h"
#include "ops/mesh/raster_triangle.h"

namespace pc {

namespace {

constexpr std::uint32_t kLongestSide = 32768;
constexpr std::uint32_t kBandRows = 16;
constexpr std::uint64_t kSamplesPerLook = 1 << 20;
constexpr LinearColor kGrey{0.604f, 0.604f, 0.604f, 1};  // 0.8 of sRGB

template <class T>
void require_length(const Span<T>& values, std::size_t length, const char* name, bool optional) {
  if (values.size == length || (optional && values.empty())) return;
  throw Error(ErrorCode::kInvalidArgument, std::string(name) + " must have " + std::to_string(length) +
                                               " elements, not " + std::to_string(values.size));
}

void require(bool condition, const char* message) {
  if (!condition) throw Error(ErrorCode::kInvalidArgument, message);
}

void check_camera(const RasterCamera& camera, const RasterLight& light, unsigned samples) {
  bool finite = std::isfinite(camera.scale) && std::isfinite(camera.near_m) && is_finite(light.toward);
  for (const double value : camera.view) finite = finite && std::isfinite(value);
  require(finite, "the camera and the light must be finite");
  require(camera.scale > 0, "scale must be greater than 0");
  require(!camera.perspective || camera.near_m > 0, "near_m must be greater than 0 with perspective");
  require(dot(light.toward, light.toward) > 0, "toward must not be zero");
  require(light.ambient >= 0 && light.ambient <= 1, "ambient must be from 0 to 1");
  require(samples >= 1 && samples <= 4, "samples must be from 1 to 4");
  const auto side = [](std::uint32_t pixels) { return pixels >= 1 && pixels <= kLongestSide; };
  require(side(camera.width) && side(camera.height), "width and height must be from 1 to 32768");
}

void check_mesh(const PaintedMesh& mesh) {
  require(mesh.vertices.size % 3 == 0, "vertices must have three numbers each");
  require(mesh.indices.size % 3 == 0, "indices must have three numbers per triangle");
  const std::size_t vertices = mesh.vertices.size / 3, triangles = mesh.indices.size / 3;
  require(triangles < kNoTriangle, "too many triangles");
  require_length(mesh.normals, 3 * vertices, "normals", true);
  require_length(mesh.colors, 3 * vertices, "colors", true);
  require_length(mesh.uvs, 2 * vertices, "uvs", true);
  require_length(mesh.triangle_image, triangles, "triangle_image", true);
  require(mesh.triangle_image.empty() || triangles == 0 || !mesh.uvs.empty(), "triangle_image needs uvs");
  for (const auto& texture : mesh.textures) {
    require(texture.width > 0 && texture.height > 0, "a texture needs at least one texel");
    require_length(texture.rgba, std::size_t{4} * texture.width * texture.height, "rgba", false);
  }
}

class Painter {
 public:
  Painter(const PaintedMesh& mesh, const RasterCamera& camera, const RasterLight& light, unsigned samples,
          OpContext& ctx)
      : mesh_(mesh), camera_(camera), light_(light), samples_(samples), ctx_(ctx) {
    textures_.reserve(mesh.textures.size());
    for (const auto& texture : mesh.textures) textures_.emplace_back(texture, ctx);
    toward_ = light.toward * (1 / std::sqrt(dot(light.toward, light.toward)));
    for (int i = 0; i < 3; ++i)
      background_[i] = linear_of_srgb(static_cast<float>(light.background[i]) / 255);
    background_[3] = static_cast<float>(light.background[3]) / 255;
  }

  MeshPicture run() {
    find_boxes();
    const std::size_t pixels = std::size_t{camera_.width} * camera_.height;
    MeshPicture out{Column<std::uint8_t>(4 * pixels), Column<float>(pixels), Column<std::uint32_t>(pixels)};
    ctx_.begin_phase("Drawing triangles", camera_.height);
    std::vector<Band> bands(static_cast<std::size_t>(ctx_.threads()));
    parallel_for_worker(ctx_, camera_.height, kBandRows, [&](std::size_t begin, std::size_t end, int worker) {
      Band& band = bands[static_cast<std::size_t>(worker)];
      band.begin = static_cast<std::uint32_t>(begin);
      band.end = static_cast<std::uint32_t>(end);
      draw(band);
      resolve(band, out);
    });
    return out;
  }

 private:
  /// Samples of a few rows of pixels.
  struct Band {
    std::uint32_t begin = 0, end = 0;  ///< rows of pixels
    BulkVector<float> depth;
    BulkVector<std::uint32_t> triangle;
    std::uint64_t tested = 0;  ///< samples since the last look at cancel
  };

  Vec3d to_camera(std::uint32_t vertex) const {
    const float* p = &mesh_.vertices[std::size_t{3} * vertex];
    const auto& m = camera_.view;
    const Vec3d v{p[0], p[1], p[2]};
    return {m[0] * v.x + m[1] * v.y + m[2] * v.z + m[3], m[4] * v.x + m[5] * v.y + m[6] * v.z + m[7],
            m[8] * v.x + m[9] * v.y + m[10] * v.z + m[11]};
  }
  std::array<Vec3d, 3> corners(std::size_t triangle) const {
    const std::uint32_t* index = &mesh_.indices[3 * triangle];
    return {to_camera(index[0]), to_camera(index[1]), to_camera(index[2])};
  }
  const MipChain* texture_of(std::size_t triangle) const {
    if (mesh_.triangle_image.empty()) return nullptr;
    const std::uint32_t image = mesh_.triangle_image[triangle];
    return image == kNoTriangleImage ? nullptr : &textures_[image];
  }
  /// Place of a sample, pixels from the middle of the picture.
  double sample_x(std::uint32_t column) const { return (column + 0.5) / samples_ - 0.5 * camera_.width; }
  double sample_y(std::uint32_t row) const { return (row + 0.5) / samples_ - 0.5 * camera_.height; }

  void find_boxes() {
    const std::size_t triangles = mesh_.indices.size / 3, vertices = mesh_.vertices.size / 3;
    ctx_.begin_phase("Projecting triangles", triangles);
    boxes_.resize(triangles);
    parallel_for(ctx_, triangles, 65536, [&](std::size_t begin, std::size_t end) {
      for (std::size_t t = begin; t < end; ++t) {
        for (int i = 0; i < 3; ++i)
          require(mesh_.indices[3 * t + i] < vertices, "an index is beyond the vertices");
        if (!mesh_.triangle_image.empty()) {
          const std::uint32_t image = mesh_.triangle_image[t];
          require(image == kNoTriangleImage || image < textures_.size(), "an image is beyond the textures");
        }
        boxes_[t] = pixel_box(corners(t), camera_);
      }
    });
  }

  void draw(Band& band) {
    const std::size_t count = std::size_t{band.end - band.begin} * samples_ * camera_.width * samples_;
    band.depth.resize(count);
    band.triangle.resize(count);
    std::fill(band.depth.begin(), band.depth.end(), std::numeric_limits<float>::infinity());
    std::fill(band.triangle.begin(), band.triangle.end(), kNoTriangle);
    for (std::size_t t = 0; t < boxes_.size(); ++t) {
      if (t % 65536 == 0) ctx_.checkpoint();
      const PixelBox& box = boxes_[t];
      if (box.x0 > box.x1 || box.y0 >= band.end || box.y1 < band.begin) continue;
      draw_triangle(t, box, band);
    }
  }

  void draw_triangle(std::size_t t, const PixelBox& box, Band& band) {
    const RasterTriangle triangle(corners(t), camera_);
    if (!triangle.visible()) return;
    const MipChain* texture = texture_of(t);
    const bool has_holes = texture != nullptr && texture->has_holes();
    const std::uint32_t first_row = std::max(box.y0, band.begin) * samples_;
    const std::uint32_t last_row = std::min(box.y1 + 1, band.end) * samples_;
    RasterPlace place{};
    for (std::uint32_t row = first_row; row < last_row; ++row) {
      if ((band.tested += (box.x1 - box.x0 + 1) * samples_) > kSamplesPerLook) {
        ctx_.checkpoint();
        band.tested = 0;
      }
      const double y = sample_y(row);
      const std::size_t start = std::size_t{row - band.begin * samples_} * camera_.width * samples_;
      for (std::uint32_t column = box.x0 * samples_; column < (box.x1 + 1) * samples_; ++column) {
        const double x = sample_x(column);
        if (!triangle.covers(x, y, place)) continue;
        const auto depth = static_cast<float>(place.depth);
        if (!(depth < band.depth[start + column])) continue;
        if (has_holes && texel(*texture, t, triangle, x, y, place).a < 0.5f) continue;
        band.depth[start + column] = depth;
        band.triangle[start + column] = static_cast<std::uint32_t>(t);
      }
    }
  }

  LinearColor texel(const MipChain& texture, std::size_t t, const RasterTriangle& triangle, double x,
                    double y, const RasterPlace& place) const {
    std::array<double, 2> uv{}, right{}, down{};
    const auto slopes = triangle.slopes(x, y, place);
    for (int i = 0; i < 3; ++i) {
      const float* corner = &mesh_.uvs[std::size_t{2} * mesh_.indices[3 * t + i]];
      for (int k = 0; k < 2; ++k) {
        uv[k] += place.weight[i] * corner[k];
        right[k] += slopes[0][i] * corner[k];
        down[k] += slopes[1][i] * corner[k];
      }
    }
    const auto longest = [&](int k) { return std::max(std::abs(right[k]), std::abs(down[k])) / samples_; };
    return texture.read(uv[0], uv[1], longest(0), longest(1));
  }

  LinearColor surface_color(std::size_t t, const RasterTriangle& triangle, double x, double y,
                            const RasterPlace& place) const {
    if (const MipChain* texture = texture_of(t)) return texel(*texture, t, triangle, x, y, place);
    if (mesh_.colors.empty()) return kGrey;
    std::array<float, 3> mixed{};
    for (int i = 0; i < 3; ++i) {
      const float* color = &mesh_.colors[std::size_t{3} * mesh_.indices[3 * t + i]];
      if (!(color[0] >= 0 && color[1] >= 0 && color[2] >= 0)) return kGrey;
      for (int k = 0; k < 3; ++k) mixed[k] += static_cast<float>(place.weight[i]) * std::min(color[k], 1.0f);
    }
    return {linear_of_srgb(mixed[0]), linear_of_srgb(mixed[1]), linear_of_srgb(mixed[2]), 1};
  }

  Vec3d normal_at(std::size_t t, const RasterTriangle& triangle, const RasterPlace& place) const {
    if (light_.is_smooth && !mesh_.normals.empty()) {
      Vec3d sum{0, 0, 0};
      for (int i = 0; i < 3; ++i) {
        const float* n = &mesh_.normals[std::size_t{3} * mesh_.indices[3 * t + i]];
        sum = sum + Vec3d{n[0], n[1], n[2]} * place.weight[i];
      }
      const auto& m = camera_.view;
      const Vec3d turned{m[0] * sum.x + m[1] * sum.y + m[2] * sum.z,
                         m[4] * sum.x + m[5] * sum.y + m[6] * sum.z,
                         m[8] * sum.x + m[9] * sum.y + m[10] * sum.z};
      if (is_finite(turned) && dot(turned, turned) > 0) return turned;
    }
    return triangle.normal();
  }

  /// Share of the light that a place sends back.
  float lit(std::size_t t, const RasterTriangle& triangle, const RasterPlace& place) const {
    const Vec3d normal = normal_at(t, triangle, place);
    const double length = std::sqrt(dot(normal, normal));
    const double facing = length > 0 ? std::abs(dot(normal, toward_)) / length : 0;
    return static_cast<float>(light_.ambient + (1 - light_.ambient) * std::min(facing, 1.0));
  }

  void resolve(const Band& band, MeshPicture& out) const {
    std::uint32_t held = kNoTriangle;
    RasterTriangle triangle;
    for (std::uint32_t y = band.begin; y < band.end; ++y) {
      ctx_.checkpoint();
      for (std::uint32_t x = 0; x < camera_.width; ++x) {
        const std::size_t pixel = std::size_t{y} * camera_.width + x;
        std::array<float, 4> sum{};
        float nearest = std::numeric_limits<float>::infinity();
        std::uint32_t seen = kNoTriangle;
        for (unsigned k = 0; k < samples_ * samples_; ++k) {
          const std::uint32_t column = x * samples_ + k % samples_, row = y * samples_ + k / samples_;
          const std::size_t at = std::size_t{row - band.begin * samples_} * camera_.width * samples_ + column;
          const std::uint32_t t = band.triangle[at];
          if (t == kNoTriangle) {
            for (int c = 0; c < 3; ++c) sum[c] += background_[c] * background_[3];
            sum[3] += background_[3];
            continue;
          }
          if (t != held) triangle = RasterTriangle(corners(held = t), camera_);
          add_sample(t, triangle, sample_x(column), sample_y(row), sum);
          if (band.depth[at] < nearest) {
            nearest = band.depth[at];
            seen = t;
          }
        }
        out.depth[pixel] = nearest;
        out.triangles[pixel] = seen;
        for (int c = 0; c < 3; ++c) out.rgba[4 * pixel + c] = srgb_byte(sum[3] > 0 ? sum[c] / sum[3] : 0);
        const float opacity = 255 * sum[3] / static_cast<float>(samples_ * samples_);
        out.rgba[4 * pixel + 3] = static_cast<std::uint8_t>(std::lround(opacity));
      }
    }
  }

  void add_sample(std::uint32_t t, const RasterTriangle& triangle, double x, double y,
                  std::array<float, 4>& sum) const {
    RasterPlace place{};
    triangle.covers(x, y, place);
    const LinearColor color = surface_color(t, triangle, x, y, place);
    const float light = lit(t, triangle, place);
    sum[0] += light * color.r;
    sum[1] += light * color.g;
    sum[2] += light * color.b;
    sum[3] += 1;
  }

  const PaintedMesh& mesh_;
  const RasterCamera& camera_;
  const RasterLight& light_;
  const unsigned samples_;
  OpContext& ctx_;
  std::vector<MipChain> textures_;
  BulkVector<PixelBox> boxes_;
  Vec3d toward_;
  std::array<float, 4> background_{};
};

}  // namespace

PixelBox pixel_box(const std::array<Vec3d, 3>& corners, const RasterCamera& camera) {
  double x0 = HUGE_VAL, y0 = HUGE_VAL, x1 = -HUGE_VAL, y1 = -HUGE_VAL;
  const auto add = [&](const Vec3d& p) {
    const double share = camera.perspective ? camera.scale / p.z : camera.scale;
    x0 = std::min(x0, p.x * share);
    x1 = std::max(x1, p.x * share);
    y0 = std::min(y0, p.y * share);
    y1 = std::max(y1, p.y * share);
  };
  for (int i = 0; i < 3; ++i) {
    const Vec3d &p = corners[i], &q = corners[(i + 1) % 3];
    if (!is_finite(p)) return {};
    if (!camera.perspective || p.z >= camera.near_m) add(p);
    if (camera.perspective && (p.z < camera.near_m) != (q.z < camera.near_m)) {
      const double share = (camera.near_m - p.z) / (q.z - p.z);
      add({p.x + share * (q.x - p.x), p.y + share * (q.y - p.y), camera.near_m});
    }
  }
  // A pixel more on each side, for what rounding moves.
  const auto bound = [](double value, std::uint32_t size, double margin) {
    return std::clamp(std::floor(value + 0.5 * size + margin), -1.0, static_cast<double>(size));
  };
  const double left = bound(x0, camera.width, -1), right = bound(x1, camera.width, 1);
  const double top = bound(y0, camera.height, -1), bottom = bound(y1, camera.height, 1);
  const bool outside = !(x0 <= x1) || right < 0 || bottom < 0 || left >= camera.width || top >= camera.height;
  if (outside) return {};
  const auto last = [](double value, std::uint32_t size) {
    return static_cast<std::uint32_t>(std::min(value, size - 1.0));
  };
  return {static_cast<std::uint32_t>(std::max(left, 0.0)), static_cast<std::uint32_t>(std::max(top, 0.0)),
          last(right, camera.width), last(bottom, camera.height)};
}

MeshPicture rasterize_mesh(const PaintedMesh& mesh, const RasterCamera& camera, const RasterLight& light,
                           unsigned samples, OpContext& ctx) {
  check_camera(camera, light, samples);
  check_mesh(mesh);
  return Painter(mesh, camera, light, samples, ctx).run();
}

}  // namespace pc
