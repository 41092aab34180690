#include <exception>
#include <filesystem>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/platform.h"
#include "fuzz/fuzz_target.h"
#include "io/e57.h"
#include "io/e57_builder.h"

namespace pc::fuzz {

namespace {

using namespace e57_test;

Scan spherical_scan() {
  Scan scan;
  scan.fields = {
      Field::single("sphericalRange", {1, 2, 0, 0}),
      Field::real("sphericalAzimuth", {0, 1, 2, 0}),
      Field::integer("sphericalElevation", -1000, 1000, {-5, 0, 999, 0}, "scale=\"0.001\" offset=\"0.5\""),
      Field::integer("sphericalInvalidState", 0, 2, {0, 0, 1, 2}),
      Field::integer("rowIndex", 0, 300, {0, 1, 2, 300}),
      Field::integer("columnIndex", 0, 1, {0, 1, 0, 1}),
      Field::integer("intensity", -66, 66, {-66, 0, 5, 66})};
  scan.xml =
      "<pose type=\"Structure\"><rotation type=\"Structure\"><w type=\"Float\">1</w><x type=\"Float\"/><y "
      "type=\"Float\"/><z type=\"Float\"/></rotation><translation type=\"Structure\"><x "
      "type=\"Float\">5</x></translation></pose><indexBounds type=\"Structure\"><rowMinimum "
      "type=\"Integer\">0</rowMinimum><rowMaximum type=\"Integer\">300</rowMaximum></indexBounds>";
  return scan;
}

Scan colored_scan(std::size_t points) {
  std::vector<float> xyz;
  std::vector<std::int64_t> color, wide;
  for (std::size_t i = 0; i < points; ++i) {
    xyz.push_back(static_cast<float>(i) / 4);
    color.push_back(static_cast<std::int64_t>(i * 37 % 65536));
    wide.push_back(static_cast<std::int64_t>(i) * -0x123456789ab);
  }
  Scan scan;
  scan.fields = {Field::single("cartesianX", xyz), Field::single("cartesianY", xyz),
                 Field::single("cartesianZ", xyz)};
  for (const char* name : {"colorRed", "colorGreen", "colorBlue"}) {
    scan.fields.push_back(Field::integer(name, 0, 65535, color));
  }
  scan.fields.push_back(Field::real("timeStamp", std::vector<double>(points, 0.5)));
  scan.fields.push_back(Field::integer("returnIndex", 0, 3, std::vector<std::int64_t>(points, 2)));
  scan.fields.push_back(Field::integer("x:wide", -(std::int64_t{1} << 62), 0, wide));
  scan.packet_bytes = 300;
  scan.extra_packets = true;
  return scan;
}

/// A block of such records holds fewer points than a sample has rows.
Scan wide_scan() {
  Scan scan;
  for (const char* name : {"cartesianX", "cartesianY", "cartesianZ"}) {
    scan.fields.push_back(Field::real(name, std::vector<double>(1000, 1.5)));
  }
  for (int f = 0; f < 110; ++f) {
    scan.fields.push_back(Field::real("x:f" + std::to_string(f), std::vector<double>(1000, f)));
  }
  return scan;
}

std::vector<std::vector<std::uint8_t>> e57_seeds() {
  E57File empty, one, two, large, wide;
  one.scans = {spherical_scan()};
  two.scans = {colored_scan(30), spherical_scan()};
  two.root_xml = "<images2D type=\"Vector\"><vectorChild type=\"Structure\"/></images2D>";
  large.scans = {colored_scan(1000)};
  wide.scans = {wide_scan()};
  return {empty.build(), one.build(), two.build(), large.build(), wide.build()};
}

/// Passes the file twice: unchanged, where a checksum catches nearly every change, and with corrected checksums.
void read_e57_file(const std::string& path, OpContext& ctx) {
  std::exception_ptr refusal;
  const auto attempt = [&](auto&& body) {
    try {
      body();
    } catch (const Error& error) {
      if (error.code() == ErrorCode::kCanceled) throw;
      refusal = std::current_exception();
    }
  };
  attempt([&] { io::read_e57(path, {}, ctx); });
  const std::string sealed_path = path + ".sealed";
  {
    const auto file = platform::File::open_read(path);
    Bytes bytes(static_cast<std::size_t>(file.size()));
    file.read_at(0, bytes.data(), bytes.size());
    E57File::seal(bytes);
    auto sealed = platform::File::create(sealed_path);
    sealed.write_at(0, bytes.data(), bytes.size());
    sealed.close_checked();
  }
  attempt([&] { io::read_e57(sealed_path, {{0.3048, {1e7, -1e7, 0}}, std::nullopt}, ctx); });
  attempt([&] {
    const io::E57Header header = io::read_e57_header(sealed_path);
    for (std::size_t s = 0; s < header.scans.size(); ++s) {
      io::file_bounds(header.scans[s]);
      io::read_e57_sample(sealed_path, header, s, io::kE57MaxSampleRows, ctx);
    }
  });
  attempt([&] {
    if (io::read_e57_header(sealed_path).scans.size() > 1) io::read_e57(sealed_path, {{}, 1}, ctx);
  });
  std::filesystem::remove(sealed_path);
  if (refusal) std::rethrow_exception(refusal);
}

}  // namespace

FuzzTarget e57_target() { return {"e57", e57_seeds, read_e57_file}; }

}  // namespace pc::fuzz
