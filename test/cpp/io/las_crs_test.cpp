#include "io/las_crs.h"

#include <gtest/gtest.h>

#include <cmath>

#include "io/las_builder.h"

namespace pc::io {
namespace {

using namespace las_test;

constexpr double kSurveyFoot = 1200.0 / 3937.0;

LasCrs geotiff(const std::vector<std::uint16_t>& shorts, const Bytes& doubles = {}, const Bytes& ascii = {}) {
  const Bytes directory = geotiff_record(shorts).payload;
  return parse_geotiff_crs({directory.data(), directory.size()}, {doubles.data(), doubles.size()},
                           {ascii.data(), ascii.size()});
}

TEST(LasWkt, ProjectedTakesItsOwnCodeAndUnit) {
  const LasCrs crs = parse_wkt_crs(
      R"(PROJCS["NAD83 / UTM zone 10N",GEOGCS["NAD83",DATUM["D",AUTHORITY["EPSG","6269"]],UNIT["degree",0.01745,AUTHORITY["EPSG","9122"]],AUTHORITY["EPSG","4269"]],PROJECTION["Transverse_Mercator"],UNIT["metre",1,AUTHORITY["EPSG","9001"]],AUTHORITY["EPSG","26910"]])");
  EXPECT_EQ(crs.epsg, 26910);
  EXPECT_FALSE(crs.is_geographic);
  EXPECT_EQ(crs.unit_m, 1.0);
  EXPECT_EQ(crs.unit_name, "metre");
  EXPECT_FALSE(crs.vertical_epsg.has_value());
}

TEST(LasWkt, ACrsWithoutItsOwnCodeHasNone) {
  // Every code here belongs to a part of the CRS, none to the CRS itself.
  const LasCrs crs = parse_wkt_crs(
      R"(PROJCS["local",GEOGCS["NAD83",DATUM["D",AUTHORITY["EPSG","6269"]],AUTHORITY["EPSG","4269"]],UNIT["metre",1,AUTHORITY["EPSG","9001"]]])");
  EXPECT_FALSE(crs.epsg.has_value());
  EXPECT_EQ(crs.unit_m, 1.0);
}

TEST(LasWkt, LastValidCodeWins) {
  EXPECT_EQ(
      parse_wkt_crs(
          R"(PROJCS["a",AUTHORITY["EPSG","0"],AUTHORITY["EPSG","32617"],AUTHORITY["EPSG","99999"],AUTHORITY["ESRI","2229"]])")
          .epsg,
      32617);
  EXPECT_FALSE(parse_wkt_crs(R"(PROJCS["a",AUTHORITY["EPSG","0"]])").epsg.has_value());
  EXPECT_FALSE(parse_wkt_crs(R"(PROJCS["a",AUTHORITY["EPSG","32617x"]])").epsg.has_value());
}

TEST(LasWkt, CompoundSplitsIntoItsParts) {
  const LasCrs crs = parse_wkt_crs(
      R"(COMPD_CS["both",PROJCS["h",UNIT["US survey foot",0.304800609601219],AUTHORITY["EPSG","2229"]],VERT_CS["v",UNIT["foot",0.3048],AUTHORITY["EPSG","6360"]],AUTHORITY["EPSG","8000"]])");
  EXPECT_EQ(crs.epsg, 2229);
  EXPECT_EQ(crs.vertical_epsg, 6360);
  EXPECT_EQ(crs.unit_m, kSurveyFoot);
  EXPECT_EQ(crs.unit_name, "US survey foot");
  EXPECT_EQ(crs.vertical_unit_m, 0.3048);
  EXPECT_EQ(crs.vertical_unit_name, "foot");
}

TEST(LasWkt, Version2) {
  const LasCrs crs = parse_wkt_crs(
      R"(COMPOUNDCRS["x",BOUNDCRS[SOURCECRS[PROJCRS["h",BASEGEOGCRS["b",ID["EPSG",4258]],CS[Cartesian,2],AXIS["e",east,LENGTHUNIT["metre",1.0]],ID["EPSG",25832]]],TARGETCRS[GEOGCRS["t",ID["EPSG",4326]]]],VERTCRS["v",CS[vertical,1],LENGTHUNIT["metre",1],ID["EPSG",7837]]])");
  EXPECT_EQ(crs.epsg, 25832);
  EXPECT_EQ(crs.vertical_epsg, 7837);
  EXPECT_EQ(crs.unit_m, 1.0);
  const LasCrs geographic = parse_wkt_crs(R"(GEOGCRS["WGS 84",ANGLEUNIT["degree",0.0174],ID["EPSG",4326]])");
  EXPECT_EQ(geographic.epsg, 4326);
  EXPECT_TRUE(geographic.is_geographic);
  EXPECT_FALSE(geographic.unit_m.has_value());
  EXPECT_EQ(geographic.unit_name, "degree");
}

TEST(LasWkt, AFootThatClaimsToBeAMetreIsCorrectedLoudly) {
  const LasCrs crs = parse_wkt_crs(R"(PROJCS["a",UNIT["metre",1],VERTCS["v",UNIT["US survey foot",1.0]]])");
  EXPECT_EQ(crs.unit_m, 1.0);
  EXPECT_EQ(crs.vertical_unit_m, kSurveyFoot);
  EXPECT_EQ(crs.warnings.size(), 1U);
}

TEST(LasWkt, GarbageGivesWarningsOnly) {
  std::string deep;
  for (int i = 0; i < 100000; ++i) deep += "A[";
  for (const std::string& text :
       {std::string("hello"), std::string("PROJCS[\"a"), std::string("]]]"), std::string("LOCAL_CS[\"x\"]"),
        deep, std::string("PROJCS[\"a\",UNIT[\"m\",\"NaN\"]]"), std::string("{}")}) {
    const LasCrs crs = parse_wkt_crs(text);
    EXPECT_FALSE(crs.epsg.has_value());
    EXPECT_FALSE(crs.unit_m.has_value());
    EXPECT_EQ(crs.warnings.size(), 1U) << text.substr(0, 40);
  }
}

TEST(LasGeotiff, ProjectedGeographicAndUserDefined) {
  const LasCrs utm = geotiff({1, 1, 0, 3, 1024, 0, 1, 1, 3072, 0, 1, 32617, 3076, 0, 1, 9001});
  EXPECT_EQ(utm.epsg, 32617);
  EXPECT_EQ(utm.unit_m, 1.0);
  const LasCrs wgs = geotiff({1, 1, 0, 2, 1024, 0, 1, 2, 2048, 0, 1, 4326});
  EXPECT_EQ(wgs.epsg, 4326);
  EXPECT_TRUE(wgs.is_geographic);
  EXPECT_FALSE(wgs.unit_m.has_value());
  // A user-defined projection over a known base: the base is not the CRS of the coordinates.
  const LasCrs user = geotiff({1, 1, 0, 3, 1024, 0, 1, 1, 2048, 0, 1, 4269, 3072, 0, 1, 32767});
  EXPECT_FALSE(user.epsg.has_value());
  EXPECT_FALSE(user.is_geographic);
  const LasCrs no_model = geotiff({1, 1, 0, 2, 2048, 0, 1, 4269, 3072, 0, 1, 32767});
  EXPECT_FALSE(no_model.epsg.has_value());
  EXPECT_FALSE(no_model.is_geographic);
}

TEST(LasGeotiff, Units) {
  EXPECT_EQ(geotiff({1, 1, 0, 2, 1024, 0, 1, 1, 3076, 0, 1, 9002}).unit_m, 0.3048);
  EXPECT_EQ(geotiff({1, 1, 0, 1, 4099, 0, 1, 9003}).vertical_unit_m, kSurveyFoot);
  EXPECT_EQ(geotiff({1, 1, 0, 1, 4096, 0, 1, 6360}).vertical_unit_m, kSurveyFoot);
  EXPECT_EQ(geotiff({1, 1, 0, 1, 4096, 0, 1, 8228}).vertical_unit_m, 0.3048);
  EXPECT_EQ(geotiff({1, 1, 0, 2, 4096, 0, 1, 6360, 4099, 0, 1, 9001}).vertical_unit_m, 1.0);
  EXPECT_FALSE(geotiff({1, 1, 0, 1, 4096, 0, 1, 5703}).vertical_unit_m.has_value());
  EXPECT_EQ(geotiff({1, 1, 0, 1, 3072, 0, 1, 2229}).unit_m,
            kSurveyFoot);                                             // California 5: the code settles it
  EXPECT_EQ(geotiff({1, 1, 0, 1, 3072, 0, 1, 2269}).unit_m, 0.3048);  // Oregon North: international feet
  EXPECT_EQ(geotiff({1, 1, 0, 1, 3072, 0, 1, 3424}).unit_m, kSurveyFoot);  // New Jersey
  EXPECT_EQ(geotiff({1, 1, 0, 1, 3072, 0, 1, 6494}).unit_m, 0.3048);       // Michigan on NAD83(2011)
  EXPECT_FALSE(geotiff({1, 1, 0, 1, 3072, 0, 1, 6495}).unit_m.has_value());
  EXPECT_EQ(geotiff({1, 1, 0, 1, 3072, 0, 1, 2136}).unit_name, "Gold Coast foot");
  EXPECT_EQ(geotiff({1, 1, 0, 1, 4096, 0, 1, 5614}).vertical_unit_m, 0.3048);
  EXPECT_FALSE(geotiff({1, 1, 0, 1, 3072, 0, 1, 31467}).unit_m.has_value());
  Bytes doubles;
  put(doubles, 0, 0.9144);
  EXPECT_EQ(geotiff({1, 1, 0, 2, 3076, 0, 1, 32767, 3077, 34736, 1, 0}, doubles).unit_m, 0.9144);
  const LasCrs bad =
      geotiff({1, 1, 0, 2, 3076, 0, 1, 32767, 3077, 34736, 1, 1}, doubles);  // index past the end
  EXPECT_FALSE(bad.unit_m.has_value());
  EXPECT_EQ(bad.warnings.size(), 1U);
}

TEST(LasGeotiff, BrokenDirectories) {
  EXPECT_EQ(geotiff({1, 1, 0}).warnings.size(), 1U);
  const LasCrs less = geotiff({1, 1, 0, 500, 3072, 0, 1, 32617});
  EXPECT_EQ(less.epsg, 32617);
  EXPECT_EQ(less.warnings.size(), 1U);
  const std::string text = "zone|";
  const LasCrs citation = geotiff({1, 1, 0, 1, 1026, 34737, 60000, 0}, {}, Bytes(text.begin(), text.end()));
  EXPECT_EQ(citation.citation, "zone");
  EXPECT_EQ(geotiff({1, 1, 0, 1, 1026, 34737, 5, 60000}, {}, Bytes(text.begin(), text.end())).citation, "");
}

TEST(LasCrsMerge, FirstWinsAndConflictsAreReported) {
  LasCrs a, b;
  a.epsg = 32617;
  b.epsg = 32618;
  b.unit_m = 1.0;
  b.unit_name = "metre";
  b.wkt = "text";
  const LasCrs merged = merge_crs(a, b);
  EXPECT_EQ(merged.epsg, 32617);
  EXPECT_EQ(merged.unit_m, 1.0);
  EXPECT_EQ(merged.wkt, "text");
  EXPECT_EQ(merged.warnings.size(), 1U);
}

TEST(LasCrsMerge, WrittenKeysReadBack) {
  for (const bool geographic : {false, true}) {
    const Bytes keys = geotiff_directory(geographic ? 4326 : 32633, geographic);
    const LasCrs crs = parse_geotiff_crs({keys.data(), keys.size()}, {}, {});
    EXPECT_EQ(crs.epsg, geographic ? 4326 : 32633);
    EXPECT_EQ(crs.is_geographic, geographic);
  }
}

}  // namespace
}  // namespace pc::io
