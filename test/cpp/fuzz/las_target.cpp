#include "fuzz/fuzz_target.h"
#include "io/las.h"
#include "io/las_builder.h"

namespace pc::fuzz {

namespace {

using namespace las_test;

/// Every family of point formats, with the records a reader interprets: Extra Bytes of all kinds, WKT,
/// GeoTIFF, EVLRs.
std::vector<std::vector<std::uint8_t>> seeds() {
  std::vector<std::vector<std::uint8_t>> files;
  const auto add = [&](LasFile file, std::uint64_t points) {
    file.random_points(points, files.size());
    files.push_back(file.build());
  };
  LasFile old;
  old.minor = 2;
  old.format = 3;
  old.vlrs = {
      geotiff_record({1, 1, 0, 4, 1024, 0, 1, 1, 3072, 0, 1, 32617, 3076, 0, 1, 32767, 3077, 34736, 1, 0}),
      {"LASF_Projection", 34736, Bytes(8, 0x3F)},
      {"LASF_Projection", 34737, {'z', 'o', 'n', 'e', '|', 0}}};
  add(old, 3);
  LasFile extended;
  extended.format = 6;
  extended.global_encoding = 17;
  extended.vlrs = {wkt_record(
      R"(COMPD_CS["c",PROJCS["p",UNIT["metre",1],AUTHORITY["EPSG","32617"]],VERT_CS["v",UNIT["US survey foot",0.3048]]])")};
  extended.evlrs = {{"someone", 7, Bytes(40, 1)}};
  add(extended, 4);
  LasFile extra;
  extra.format = 7;
  extra.extra_bytes = 2 + 3 + 12 + 8 + 1;
  extra.vlrs = {extra_record({{4, 31, "scaled", "cm", {5, 0, 0}, {0.01, 0, 0}, {5, 0, 0}},
                              {0, 3, "blob", "", {}, {}, {}},
                              {29, 1, "array", "", {}, {}, {}},
                              {7, 1, "huge", "", {}, {}, {}}})};
  add(extra, 5);
  LasFile wave;
  wave.format = 10;
  wave.minor = 5;
  wave.global_encoding = 1 | 64;
  wave.time_offset = 1250;
  add(wave, 3);
  LasFile wkt2;
  wkt2.format = 8;
  wkt2.evlrs = {
      wkt_record(
          R"(BOUNDCRS[SOURCECRS[PROJCRS["h",AXIS["e",east,LENGTHUNIT["foot",0.3048]],ID["EPSG",25832]]],TARGETCRS[GEOGCRS["t",ID["EPSG",4326]]]])"),
      {"LASF_Spec", 4, extra_record({{10, 0, "moved", "", {}, {}, {}}}).payload}};
  wkt2.extra_bytes = 8;
  add(wkt2, 2);
  LasFile large;
  large.format = 1;
  large.minor = 3;
  add(large, 3000);
  return files;
}

void read(const std::string& path, OpContext& ctx) {
  const io::LasHeader header = io::read_las_header(path);
  io::LasReadParams part;
  part.first_row = 1;
  part.row_count = 2;
  if (!header.compressed) io::read_las(path, part, ctx);
  io::read_las(path, {}, ctx);
}

}  // namespace

FuzzTarget las_target() { return {"las", seeds, read}; }

}  // namespace pc::fuzz
