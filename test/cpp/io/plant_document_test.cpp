#include "io/plant_document.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "support/cancel.h"
#include "support/plants.h"

namespace pc {
namespace {

std::string written(const PlantStructure& plant) {
  JobControl control;
  OpContext ctx(control);
  const auto bytes = io::write_plant_document(plant, ctx);
  return {bytes.begin(), bytes.end()};
}

PlantStructure parsed(const std::string& text) {
  BulkVector<char> bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  JobControl control;
  OpContext ctx(control);
  return io::read_plant_document(std::move(bytes), ctx);
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string message_of(const std::string& text) {
  try {
    parsed(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidFile);
    return error.what();
  }
  return "accepted";
}

PlantStructure tree(double age) {
  PlantSpecies species = test::tree_species();
  PlantStructure plant = test::grown(species, age, 5);
  plant.leaf_inclination = LeafInclination{1.5, 3.25};
  return plant;
}

TEST(PlantDocument, ReadsBackEqualAndGrowsOnEqually) {
  for (const double age : {0.0, 96.0, 130.0, 480.0, 700.0}) {
    const PlantStructure plant = tree(age);
    const std::string text = written(plant);
    const PlantStructure again = parsed(text);
    EXPECT_TRUE(again == plant) << age;
    EXPECT_EQ(written(again), text);
    EXPECT_TRUE(test::advanced(again, test::tree_species(), 100) ==
                test::advanced(plant, test::tree_species(), 100));
  }
}

TEST(PlantDocument, HasTheElementsOfTheContract) {
  const std::string text = written(tree(100));
  std::size_t from = 0;
  for (const char* part : {"<plant_structure>",
                           "<plant_instance ID=\"0\">",
                           "<base_position>0 0 0<",
                           "<plant_age>100<",
                           "<leaf_inclination>1.5 3.25<",
                           "<shoot ID=\"0\">",
                           "<shoot_type_label>trunk<",
                           "<parent_shoot_ID>-1<",
                           "<parent_node_index>",
                           "<parent_petiole_index>",
                           "<base_rotation>0 0 0<",
                           "<phytomer>",
                           "<internode>",
                           "<internode_length>0.02<",
                           "<internode_radius>",
                           "<internode_pitch>",
                           "<internode_phyllotactic_angle>",
                           "<internode_length_max>",
                           "<internode_length_segments>1<",
                           "<curvature_perturbations>",
                           "<yaw_perturbations>",
                           "<petiole>",
                           "<petiole_length>",
                           "<petiole_radius>",
                           "<petiole_pitch>",
                           "<petiole_curvature>",
                           "<current_leaf_scale_factor>",
                           "<petiole_taper>",
                           "<petiole_length_segments>",
                           "<petiole_radial_subdivisions>",
                           "<leaflet_scale>",
                           "<leaflet_offset>",
                           "<floral_bud>",
                           "<bud_state>",
                           "<parent_index>",
                           "<bud_index>",
                           "<is_terminal>",
                           "<current_fruit_scale_factor>",
                           "<peduncle>",
                           "<length>",
                           "<radius>",
                           "<pitch>",
                           "<curvature>",
                           "<roll>",
                           "<inflorescence>",
                           "<flower_offset>"}) {
    from = text.find(part, from);
    ASSERT_NE(from, std::string::npos) << part;
  }
  for (const char* part :
       {"<leaf>", "<leaf_scale>", "<leaf_pitch>", "<leaf_yaw>", "<leaf_roll>", "<flower>", "<flower_pitch>",
        "<flower_yaw>", "<flower_roll>", "<flower_azimuth>", "<flower_base_scale>"})
    EXPECT_NE(text.find(part), std::string::npos) << part;
}

TEST(PlantDocument, KeepsUnknownElementsInEveryParent) {
  std::string text = written(tree(100));
  const std::string odd = "<x:odd a=\"1 &gt; 0\"><b/>t &amp; u<![CDATA[ < ]]></x:odd >";
  int parents = 0;
  for (const char* parent : {"plant_structure", "plant_instance", "shoot", "phytomer", "internode", "petiole",
                             "leaf", "floral_bud", "peduncle", "inflorescence", "flower"}) {
    const auto at = text.rfind(std::string("</") + parent + ">");
    text.insert(at, odd + "\n");
    const std::string tag = std::string("\n<") + parent;
    const auto plain = text.rfind(tag + ">", at), with_id = text.rfind(tag + " ", at);
    const auto start = text.find('>', plain == std::string::npos ? with_id : plain) + 1;
    text.insert(start, "\n<first/>");
    ++parents;
  }
  const PlantStructure plant = parsed(text);
  EXPECT_EQ(plant.foreign.size(), 2U * static_cast<std::size_t>(parents));
  const std::string again = written(plant);
  EXPECT_TRUE(parsed(again) == plant);
  EXPECT_EQ(written(parsed(again)), again);
  std::size_t found = 0;
  for (auto at = again.find(odd); at != std::string::npos; at = again.find(odd, at + 1)) ++found;
  EXPECT_EQ(found, static_cast<std::size_t>(parents));
}

TEST(PlantDocument, UnknownElementsOfFallenLeavesGoWithThem) {
  std::string text = written(tree(300));
  text.insert(text.rfind("</leaf>"), "<note/>");
  text.insert(text.rfind("</petiole>"), "<note/>");
  const PlantStructure plant = parsed(text);
  ASSERT_EQ(plant.foreign.size(), 2U);
  const PlantStructure winter = test::advanced(plant, test::tree_species(), 70);
  ASSERT_EQ(winter.foreign.size(), 1U);
  EXPECT_TRUE(parsed(written(winter)) == winter);
}

TEST(PlantDocument, CancelEndsReadingAndWritingInTime) {
  const PlantStructure plant = tree(1000);
  const std::string text = written(plant);
  test::expect_cancel_in_phase("Writing", [&](OpContext& ctx) { io::write_plant_document(plant, ctx); });
  test::expect_cancel_in_phase("Reading", [&](OpContext& ctx) {
    BulkVector<char> bytes(text.size());
    std::memcpy(bytes.data(), text.data(), text.size());
    io::read_plant_document(std::move(bytes), ctx);
  });
}

constexpr const char* kForeign = R"(<?xml version="1.0"?>
<other_root>
 <plant_instance ID="7">
  <base_position> 1 2	3 </base_position><plant_age> 12.5 </plant_age>
  <shoot ID="40"><shoot_type_label> main </shoot_type_label><parent_shoot_ID>-1</parent_shoot_ID>
   <parent_node_index>0</parent_node_index><parent_petiole_index>0</parent_petiole_index>
   <base_rotation>0 10 20</base_rotation>
   <phytomer><internode><internode_length>0.1</internode_length><internode_radius>1e-3</internode_radius>
    <internode_pitch>5</internode_pitch><internode_phyllotactic_angle>137.5</internode_phyllotactic_angle>
    <internode_length_max>.2</internode_length_max><internode_length_segments>2</internode_length_segments>
    <curvature_perturbations>1; -2.5</curvature_perturbations><yaw_perturbations></yaw_perturbations>
    <internode_vertices>1 2 3</internode_vertices></internode></phytomer></shoot>
  <shoot ID="9"><shoot_type_label>lat</shoot_type_label><parent_shoot_ID>40</parent_shoot_ID>
   <parent_node_index>0</parent_node_index><parent_petiole_index>-1</parent_petiole_index>
   <base_rotation>0 0 0</base_rotation></shoot>
 </plant_instance>
</other_root>)";

TEST(PlantDocument, ReadsOtherPrograms) {
  const PlantStructure plant = parsed(kForeign);
  EXPECT_EQ(plant.plant_id, "7");
  EXPECT_EQ(plant.base_position, (Vec3d{1, 2, 3}));
  EXPECT_EQ(plant.plant_age, 12.5);
  EXPECT_FALSE(plant.growth);
  ASSERT_EQ(plant.shoots.size(), 2U);
  EXPECT_EQ(plant.shoots[0].shoot_type_label, "main");
  EXPECT_EQ(plant.shoots[1].parent_shoot_id, 0);
  const PlantInternode& internode = plant.shoots[0].phytomers[0].internode;
  EXPECT_EQ(internode.curvature_perturbations, (std::vector<double>{1, -2.5}));
  EXPECT_EQ(internode.yaw_perturbations, (std::vector<double>{0, 0}));
  EXPECT_TRUE(plant.foreign.empty());
  EXPECT_TRUE(parsed(written(plant)) == plant);
}

TEST(PlantDocument, RefusesWithElementAndLine) {
  const struct {
    const char *from, *to, *message;
  } kCases[] = {
      {"<parent_shoot_ID>40<", "<parent_shoot_ID>41<",
       "line 13, element parent_shoot_ID: '41' is not the ID"},
      {"<parent_shoot_ID>40<", "<parent_shoot_ID>9<", "'9' is not the ID of an earlier shoot"},
      {"<parent_shoot_ID>-1<", "<parent_shoot_ID>9<", "line 5, element parent_shoot_ID: '9' is not the ID"},
      {"ID=\"9\"", "ID=\"40\"", "line 13, element shoot: has the ID of an earlier shoot"},
      {"<parent_petiole_index>-1<", "<parent_petiole_index>0<", "no petiole"},
      {"<internode_length>0.1<", "<internode_length>nan<",
       "line 8, element internode_length: 'nan' must be between 0 and 10000"},
      {"<internode_length>0.1<", "<internode_length>-1<", "must be between"},
      {"<internode_length>0.1<", "<internode_length>1e999<", "must be between"},
      {"<internode_length>0.1<", "<internode_length>0.1m<", "'0.1m' is not a number"},
      {"<internode_length>0.1<", "<internode_length><", "'' is not a number"},
      {"<internode_length_segments>2<", "<internode_length_segments>0<", "must be between 1 and 1000"},
      {"<internode_length_segments>2<", "<internode_length_segments>1.5<", "must be a whole number"},
      {"<internode_length_segments>2<", "<internode_length_segments>3<",
       "line 11, element curvature_perturbations: has 2 numbers for 3 segments"},
      {"<internode_pitch>5</internode_pitch>", "", "element internode: its internode_pitch is missing"},
      {"<internode_pitch>", "<internode_pitch>1</internode_pitch><internode_pitch>", "is given twice"},
      {"<plant_age> 12.5 </plant_age>", "", "its plant_age is missing"},
      {"<base_position> 1 2	3 <", "<base_position>1 2<", "must have three numbers"},
      {"<base_rotation>0 10 20<", "<base_rotation>0 10 20 30<", "has more than 3 numbers"},
      {"plant_instance ID", "plant ID", "end tag does not fit"},
      {"<other_root>", "<!DOCTYPE a><other_root>", "document type declaration"},
      {"</plant_instance>", "</plant_instance><plant_instance/>", "a document holds one plant"},
      {"<plant_age>", "<random_seed>1</random_seed><plant_age>", "must be given together"},
      {"<plant_age>", "<random_seed>-1</random_seed><plant_age>", "'-1' is not a whole number"},
  };
  for (const auto& test : kCases) {
    const std::string message = message_of(replaced(kForeign, test.from, test.to));
    EXPECT_NE(message.find(test.message), std::string::npos) << test.to << ": " << message;
  }
  EXPECT_NE(message_of("<a/>").find("plant_instance is missing"), std::string::npos);
}

}  // namespace
}  // namespace pc
