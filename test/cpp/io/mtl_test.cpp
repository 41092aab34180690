#include "io/mtl.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "io/record_support.h"

namespace {

using namespace pc;
using namespace pc::record_test;

io::MtlFile read(const std::string& text) {
  const ScratchFile file(text, ".mtl");
  return with_context(1, [&](OpContext& ctx) { return io::read_mtl(file.path(), ctx); });
}

TEST(Mtl, ReadsNamesColoursAndTexturesWithBlanks) {
  const io::MtlFile file = read(
      "# c\nnewmtl\ta b \t\r\n\tKd 0.25 0.5 1\r\nmap_Kd fuze uv.jpg\nnewmtl grey\nKd 0.5\n"
      "map_Kd -o 1 2 -s 1 1 1 -mm 0 1 -clamp on dir\\my bark.png\nnewmtl spectral\nKd spectral a.rfl\n"
      "newmtl quoted\nmap_Kd \"a b.png\"\nnewmtl odd\nmap_Kd -new 3 x.png\nKd 2 0 0\nnewmtl 7\nmap_Kd -o 1 "
      "7.png\n"
      "newmtl none\nmap_Kd\n");
  ASSERT_EQ(file.materials.size(), 7u);
  EXPECT_EQ(file.materials[0].name, "a b");
  EXPECT_EQ(file.materials[0].color, (std::array<double, 3>{0.25, 0.5, 1}));
  EXPECT_EQ(file.materials[0].texture, "fuze uv.jpg");
  EXPECT_EQ(file.materials[0].last_token, "uv.jpg");
  EXPECT_EQ(file.materials[1].color, (std::array<double, 3>{0.5, 0.5, 0.5}));
  EXPECT_EQ(file.materials[1].texture, "dir\\my bark.png");
  EXPECT_FALSE(file.materials[2].color);
  EXPECT_EQ(file.materials[3].texture, "a b.png");
  EXPECT_EQ(file.materials[4].texture, "-new 3 x.png");
  EXPECT_EQ(file.materials[4].last_token, "x.png");
  EXPECT_EQ(file.materials[4].color, (std::array<double, 3>{1, 0, 0}));
  EXPECT_EQ(file.materials[5].texture, "7.png");
  EXPECT_EQ(file.materials[6].texture, "");
  EXPECT_EQ(file.warnings,
            (std::vector<std::string>{"line 9: the colour \"spectral a.rfl\" is not three numbers",
                                      "line 14: the colour \"2 0 0\" is limited to 0..1",
                                      "line 18: map_Kd names no file"}));
}

TEST(Mtl, RefusesBinaryAndTooMany) {
  EXPECT_EQ(error_of([&] { read(std::string("newmtl a\0", 9)); }).code(), ErrorCode::kInvalidFile);
  std::string text;
  for (std::size_t i = 0; i <= kMaxMeshMaterials; ++i) text += "newmtl " + std::to_string(i) + "\n";
  EXPECT_EQ(error_of([&] { read(text); }).code(), ErrorCode::kUnsupported);
  EXPECT_EQ(error_of([&] { read("newmtl " + std::string(257, 'm')); }).code(), ErrorCode::kUnsupported);
  EXPECT_EQ(read("Kd 1 1 1\n").warnings.size(), 1u);
}

}  // namespace
