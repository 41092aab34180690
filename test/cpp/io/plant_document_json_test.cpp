#include "io/plant_document_json.h"

#include <gtest/gtest.h>

#include <string>

#include "core/error.h"

namespace pc::io {
namespace {

PlantTables tables(const std::string& text) {
  JobControl control;
  OpContext ctx(control);
  BulkVector<char> bytes(text.size());
  std::copy(text.begin(), text.end(), bytes.begin());
  return plant_tables(std::move(bytes), ctx);
}
std::string shoots_of(const std::string& plant) {
  const auto found = tables("<any_root><plant_instance ID=\"0\">" + plant + "</plant_instance></any_root>");
  return {reinterpret_cast<const char*>(found.shoots.view().data), found.shoots.size()};
}
std::string problem(const std::string& text) {
  try {
    tables(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidFile);
    return error.what();
  }
  return "";
}

TEST(PlantTables, ValuesStayTextAndPetiolesStandBesideTheirInternode) {
  EXPECT_EQ(
      shoots_of(R"(
    <shoot ID="0">
      <shoot_type_label> main </shoot_type_label>
      <parent_shoot_ID>-1</parent_shoot_ID><parent_node_index>0</parent_node_index>
      <parent_petiole_index> 0 </parent_petiole_index>
      <base_rotation>0 90 0</base_rotation>
      <phytomer>
        <internode>
          <internode_length> 0.0250 </internode_length>
          <mine>a "b" &lt;</mine>
          <petiole><petiole_length>0.1</petiole_length>
            <leaf><leaf_scale>0.1</leaf_scale></leaf><leaf><leaf_scale>0.2</leaf_scale></leaf>
            <floral_bud><bud_state>2</bud_state><peduncle><length>0.03</length></peduncle>
              <inflorescence><flower_offset>0</flower_offset><flower><flower_pitch>5</flower_pitch></flower></inflorescence>
            </floral_bud>
          </petiole>
        </internode>
      </phytomer>
    </shoot>)"),
      R"([{"shoot_id":0,"shoot_type_label":"main","parent_shoot_id":-1,"parent_node_index":0,)"
      R"("parent_petiole_index":0,"base_rotation":"0 90 0","phytomers":[{"internode":)"
      R"({"internode_length":"0.0250","mine":"a \"b\" <"},"petioles":[{"petiole_length":"0.1",)"
      R"("leaves":[{"leaf_scale":"0.1"},{"leaf_scale":"0.2"}],"floral_buds":[{"bud_state":"2",)"
      R"("peduncle":{"length":"0.03"},"inflorescence":{"flower_offset":"0","flowers":[{"flower_pitch":"5"}]}}]}]}]}])");
}

TEST(PlantTables, EmptyPartsAndRepeatedUnknownElements) {
  EXPECT_EQ(shoots_of(""), "[]");
  EXPECT_EQ(shoots_of("<shoot/>"), R"([{"shoot_id":0,"phytomers":[]}])");
  EXPECT_EQ(shoots_of("<shoot ID=\"3\"><phytomer><internode><petiole/></internode></phytomer></shoot>"),
            R"([{"shoot_id":3,"phytomers":[{"internode":{},"petioles":[{"leaves":[],"floral_buds":[]}]}]}])");
  EXPECT_EQ(shoots_of("<shoot><x>1</x><x>2</x><y><z>3</z></y></shoot>"),
            R"([{"shoot_id":0,"x":["1","2"],"y":{"z":"3"},"phytomers":[]}])");
}

TEST(PlantTables, AgeAndPosition) {
  const auto found = tables(
      "<r><plant_instance><base_position> 1 2 "
      "3\n</base_position><plant_age>30</plant_age></plant_instance></r>");
  EXPECT_EQ(found.base_position, "1 2 3");
  EXPECT_EQ(found.plant_age, "30");
}

TEST(PlantTables, OtherDocumentsAreRefused) {
  EXPECT_NE(problem("<r/>").find("no plant_instance"), std::string::npos);
  EXPECT_NE(problem(""), "");
  EXPECT_NE(problem("<!DOCTYPE r [<!ENTITY a \"aa\">]><r>&a;</r>"), "");
  EXPECT_NE(problem("<r><plant_instance><shoot ID=\"x\"/></plant_instance></r>").find("whole number"),
            std::string::npos);
}

}  // namespace
}  // namespace pc::io
