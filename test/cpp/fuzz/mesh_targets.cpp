#include <string>
#include <vector>

#include "fuzz/fuzz_target.h"
#include "io/mtl.h"
#include "io/obj.h"
#include "io/ply_mesh.h"
#include "io/stl.h"
#include "ops/mesh/mesh_packing.h"
#include "ops/mesh/polygon_triangulation.h"

namespace pc::fuzz {

namespace {

std::vector<std::uint8_t> bytes(const std::string& text) { return {text.begin(), text.end()}; }

std::vector<std::vector<std::uint8_t>> obj_seeds() {
  std::string comb = "v 0 0 0\nv 7 0 0\n";
  for (int i = 7; i >= 0; --i) comb += "v " + std::to_string(i) + (i % 2 ? " 5 0\n" : " 1 0.5\n");
  return {
      bytes("mtllib a b.mtl\nv 0 0 0\nv 1 0 0 1 .5 0\nv 1 1 0\nv 0 1 0\nvt 0 1\nvn 0 0 1\nusemtl m\nf 1/1/1 "
            "2//1 "
            "3/1 4\nusemtl n\nf -1 -2 -3\n"),
      bytes("v 1e5 -2.5 +3\r\nv nan 0 0\r\nv 1 2\r\nf 1 \\\r\n 2 3\r\nl 1 2\r\nf 1 2\r\nf 9 0 -9\r\n"),
      bytes(comb + "f 1 2 3 4 5 6 7 8 9 10\nf 10 9 1 2 3\nf 1 3 5 2 4\n"),
      bytes("v 0 0 0\rv 255 0 1 200 100 0\rv 0 1 0\rf 1 2 3\r"),
  };
}

void use(const PolygonMesh& mesh, OpContext& ctx) {
  const Triangulation triangles = triangulate(mesh, ctx);
  const PackedMesh packed = expand_triangles(mesh, triangles, ctx);
  const std::vector<float> colors(3 * mesh.material_names.size(), 0.5f);
  paint_triangles(packed.triangle_material.view(), colors, packed.colors.view(), ctx);
  group_triangles(packed.triangle_material.view(), mesh.material_names.size(), ctx);
}

void read_obj_file(const std::string& path, OpContext& ctx) {
  use(io::read_obj(path, {1e6, 0, 0}, ctx), ctx);
  use(io::read_obj(path, {0, 0, 0}, 64, ctx), ctx);
}

std::vector<std::vector<std::uint8_t>> mtl_seeds() {
  return {
      bytes(
          "newmtl a b\nKd 0.5 1 0\nmap_Kd -o 1 2 -s 1 -clamp on my file.png\nnewmtl c\r\nKd 2\r\nmap_Kd\r\n"),
      bytes("\xef\xbb\xbf# c\nKd 1 1 1\nnewmtl\nmap_Kd \"a.png\"\nmap_Kd -mm 1\n")};
}

void read_mtl_file(const std::string& path, OpContext& ctx) { io::read_mtl(path, ctx); }

std::vector<std::vector<std::uint8_t>> ply_mesh_seeds() {
  const std::string vertices = "element vertex 4\nproperty float x\nproperty float y\nproperty float z\n";
  const std::string faces = "element face 2\nproperty list uchar int vertex_indices\n";
  std::string binary = "ply\nformat binary_little_endian 1.0\n" + vertices + faces + "end_header\n";
  for (int i = 0; i < 48; ++i) binary += static_cast<char>(i % 4 == 3 ? 63 : i * 5);
  for (const char count : {'\3', '\4'}) {
    binary += count;
    for (char i = 0; i < count; ++i) binary += std::string{i, '\0', '\0', '\0'};
  }
  return {bytes("ply\nformat ascii 1.0\n" + vertices + faces +
                "end_header\n0 0 0\n1 0 0\n1 1 0\nnan 1 0\n3 0 1 2\n4 0 1 2 3\n"),
          bytes("ply\nformat ascii 1.0\n" + faces + "property uchar c\n" + vertices +
                "property uchar red\nproperty uchar green\nproperty uchar blue\nend_header\n3 0 1 2 7\n2 0 1 "
                "7\n0 0 0 "
                "1 2 3\n1 0 0 4 5 6\n1 1 0 7 8 9\n0 1 0 1 1 1\n"),
          bytes(binary)};
}

void read_ply_mesh_file(const std::string& path, OpContext& ctx) {
  const PolygonMesh mesh = io::read_ply_mesh(path, {0, 0, 0}, ctx);
  share_vertices(mesh, triangulate(mesh, ctx), ctx);
}

std::vector<std::vector<std::uint8_t>> stl_seeds() {
  const std::string facet =
      "facet normal 0 0 1\n outer loop\n  vertex 0 0 0\n  vertex 1e0 0 -0\n  vertex 0 1 nan\n "
      "endloop\nendfacet\n";
  const auto binary = [](std::string header, char count) {
    header.resize(80);
    header += std::string{count, '\0', '\0', '\0'};
    for (int i = 0; i < 50 * 3; ++i) header += static_cast<char>(i % 4 == 3 ? 63 : i * 7);
    return header;
  };
  return {
      bytes("solid a b\r\n" + facet + facet + "endsolid a b\nSOLID c\n" + facet),
      bytes("solid x facet vertex 1 2 3 vertex 4 5 6 vertex 7 8 9 endfacet\nfacet vertex 1 2 3 vertex 4 5 6 "
            "vertex 7 8 9 endfacet facet vertex 1 1 1 endsolid"),
      bytes(binary("made by a program", '\3')), bytes(binary("solid in binary", '\3')),
      bytes(binary("solid", '\2'))};
}

void read_stl_file(const std::string& path, OpContext& ctx) {
  use(io::read_stl(path, {1e6, 0, 0}, ctx), ctx);
}

}  // namespace

FuzzTarget obj_target() { return {"obj", obj_seeds, read_obj_file}; }
FuzzTarget mtl_target() { return {"mtl", mtl_seeds, read_mtl_file}; }
FuzzTarget stl_target() { return {"stl", stl_seeds, read_stl_file}; }
FuzzTarget ply_mesh_target() { return {"ply_mesh", ply_mesh_seeds, read_ply_mesh_file}; }

}  // namespace pc::fuzz
