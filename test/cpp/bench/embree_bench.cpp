#include "embree_scene.h"

#if defined(PC_EMBREE)
#include <embree3/rtcore.h>

#include <cmath>
#include <limits>
#include <string>
#include <tuple>

#include "core/parallel.h"
#include "spatial/triangle_distance.h"

/// Embree 3 on the same input: its robust mode, rays in coherent packets of 16, closest points by its point queries.
namespace pc::bench {

namespace {

struct Query {
  const BenchMesh* mesh;
  double squared;
};

Vec3d corner(const BenchMesh& mesh, std::uint32_t triangle, std::size_t k) {
  return mesh.vertices[mesh.indices[std::size_t{triangle} * 3 + k]];
}

bool visit(RTCPointQueryFunctionArguments* arguments) {
  auto& query = *static_cast<Query*>(arguments->userPtr);
  const Vec3d p{arguments->query->x, arguments->query->y, arguments->query->z};
  const std::uint32_t id = arguments->primID;
  const double squared = closest_on_triangle(corner(*query.mesh, id, 0), corner(*query.mesh, id, 1),
                                             corner(*query.mesh, id, 2), p)
                             .squared;
  if (squared >= query.squared) return false;
  query.squared = squared;
  arguments->query->radius = static_cast<float>(std::sqrt(squared));
  return true;
}

RTCScene build(RTCDevice device, const BenchMesh& mesh, const std::vector<float>& vertices) {
  RTCScene scene = rtcNewScene(device);
  RTCGeometry geometry = rtcNewGeometry(device, RTC_GEOMETRY_TYPE_TRIANGLE);
  rtcSetSharedGeometryBuffer(geometry, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT3, vertices.data(), 0, 12,
                             mesh.vertices.size());
  rtcSetSharedGeometryBuffer(geometry, RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT3, mesh.indices.data(), 0, 12,
                             mesh.indices.size() / 3);
  rtcSetGeometryPointQueryFunction(geometry, visit);
  rtcCommitGeometry(geometry);
  rtcAttachGeometry(scene, geometry);
  rtcReleaseGeometry(geometry);
  rtcSetSceneFlags(scene, RTC_SCENE_FLAG_ROBUST);
  rtcCommitScene(scene);
  return scene;
}

std::vector<float> single_precision(const BenchMesh& mesh) {
  std::vector<float> vertices;
  for (const Vec3d& v : mesh.vertices)
    for (const double value : {v.x, v.y, v.z}) vertices.push_back(static_cast<float>(value));
  vertices.push_back(0);  // Embree reads 16 bytes at the last vertex
  return vertices;
}

float trace_single(RTCScene scene, const Ray& ray) {
  RTCRayHit single{};
  single.ray.org_x = static_cast<float>(ray.origin.x);
  single.ray.org_y = static_cast<float>(ray.origin.y);
  single.ray.org_z = static_cast<float>(ray.origin.z);
  single.ray.dir_x = static_cast<float>(ray.direction.x);
  single.ray.dir_y = static_cast<float>(ray.direction.y);
  single.ray.dir_z = static_cast<float>(ray.direction.z);
  single.ray.tfar = static_cast<float>(ray.t_max);
  single.ray.mask = ~0U;
  single.hit.geomID = single.hit.instID[0] = RTC_INVALID_GEOMETRY_ID;
  RTCIntersectContext context;
  rtcInitIntersectContext(&context);
  rtcIntersect1(scene, &context, &single);
  return single.ray.tfar;
}

void trace_packet(RTCScene scene, const Ray* rays, bool coherent, float* reached) {
  alignas(64) int valid[16];
  RTCRayHit16 packet;
  for (int k = 0; k < 16; ++k) {
    const Ray& ray = rays[k];
    valid[k] = -1;
    packet.ray.org_x[k] = static_cast<float>(ray.origin.x);
    packet.ray.org_y[k] = static_cast<float>(ray.origin.y);
    packet.ray.org_z[k] = static_cast<float>(ray.origin.z);
    packet.ray.dir_x[k] = static_cast<float>(ray.direction.x);
    packet.ray.dir_y[k] = static_cast<float>(ray.direction.y);
    packet.ray.dir_z[k] = static_cast<float>(ray.direction.z);
    packet.ray.tnear[k] = packet.ray.time[k] = 0;
    packet.ray.tfar[k] = static_cast<float>(ray.t_max);
    packet.ray.mask[k] = ~0U;
    packet.ray.flags[k] = 0;
    packet.hit.geomID[k] = packet.hit.instID[0][k] = RTC_INVALID_GEOMETRY_ID;
  }
  RTCIntersectContext context;
  rtcInitIntersectContext(&context);
  context.flags = coherent ? RTC_INTERSECT_CONTEXT_FLAG_COHERENT : RTC_INTERSECT_CONTEXT_FLAG_INCOHERENT;
  rtcIntersect16(valid, scene, &context, &packet);
  for (int k = 0; k < 16; ++k) reached[k] = packet.ray.tfar[k];
}

class Scene : public EmbreeScene {
 public:
  Scene(const BenchMesh& mesh, const std::string& isa)
      : vertices_(single_precision(mesh)),
        device_(rtcNewDevice(("threads=1" + (isa.empty() ? isa : ",isa=" + isa)).c_str())),
        scene_(build(device_, mesh, vertices_)) {}
  ~Scene() override {
    rtcReleaseScene(scene_);
    rtcReleaseDevice(device_);
  }
  Scene(const Scene&) = delete;
  Scene& operator=(const Scene&) = delete;

  void single(const Ray* rays, std::size_t count, float* reached) const override {
    for (std::size_t i = 0; i < count; ++i) reached[i] = trace_single(scene_, rays[i]);
  }
  void packets(const Ray* rays, std::size_t count, bool coherent, float* reached) const override {
    for (std::size_t i = 0; i < count; i += 16) trace_packet(scene_, rays + i, coherent, reached + i);
  }

 private:
  std::vector<float> vertices_;
  RTCDevice device_;
  RTCScene scene_;
};

}  // namespace

std::unique_ptr<EmbreeScene> embree_scene(const BenchMesh& mesh, const std::string& isa) {
  return std::make_unique<Scene>(mesh, isa);
}

bool embree_times(const BenchMesh& mesh, const std::vector<Vec3d>& points, const std::vector<Ray>& rays,
                  OpContext& ctx, MeshTimes& times) {
  RTCDevice device = rtcNewDevice(("threads=" + std::to_string(ctx.threads())).c_str());
  const std::vector<float> vertices = single_precision(mesh);
  RTCScene scene = nullptr;
  std::tie(times.build_s, times.build_cpu_s) = timed([&] { scene = build(device, mesh, vertices); });
  std::vector<double> distances(points.size());
  times.closest_cpu_s =
      timed([&] {
        parallel_for(ctx, points.size(), 4096, [&](std::size_t begin, std::size_t end) {
          for (std::size_t i = begin; i < end; ++i) {
            RTCPointQueryContext context;
            rtcInitPointQueryContext(&context);
            RTCPointQuery at{static_cast<float>(points[i].x), static_cast<float>(points[i].y),
                             static_cast<float>(points[i].z), 0, std::numeric_limits<float>::infinity()};
            Query query{&mesh, HUGE_VAL};
            rtcPointQuery(scene, &at, &context, nullptr, &query);
            distances[i] = query.squared;
          }
        });
      }).second;
  std::vector<float> reached(rays.size());
  times.ray_cpu_s = timed([&] {
                      parallel_for(ctx, rays.size() / 16, 256, [&](std::size_t begin, std::size_t end) {
                        for (std::size_t i = begin; i < end; ++i)
                          trace_packet(scene, &rays[16 * i], true, &reached[16 * i]);
                      });
                    }).second;
  rtcReleaseScene(scene);
  rtcReleaseDevice(device);
  return true;
}

}  // namespace pc::bench

#else

namespace pc::bench {
std::unique_ptr<EmbreeScene> embree_scene(const BenchMesh&, const std::string&) { return nullptr; }
bool embree_times(const BenchMesh&, const std::vector<Vec3d>&, const std::vector<Ray>&, OpContext&,
                  MeshTimes&) {
  return false;
}
}  // namespace pc::bench

#endif
