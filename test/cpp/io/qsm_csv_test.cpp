#include "io/qsm_csv.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>

#include "core/error.h"

namespace {

using namespace pc;

const std::string kHeader =
    "ID,parentID,branchID,branchOrder,segmentID,parentSegmentID,startX,startY,startZ,endX,endY,endZ,axisX,"
    "axisY,"
    "axisZ,radius,length,surfaceCoverage,meanAbsDeviation\n";
const std::string kRow = "0,-1,,0,,,1,2,3,1,2,4,0,0,1,0.25,1,0.5,0.001\n";

QsmRows read(const std::string& text) {
  const auto path = std::filesystem::temp_directory_path() /
                    ("qsm_csv_" + std::to_string(::testing::UnitTest::GetInstance()->random_seed()) + "_" +
                     ::testing::UnitTest::GetInstance()->current_test_info()->name() + ".csv");
  std::ofstream(path, std::ios::binary) << text;
  JobControl control;
  OpContext ctx(control);
  try {
    QsmRows rows = io::read_qsm_csv(path.string(), ctx);
    std::filesystem::remove(path);
    return rows;
  } catch (...) {
    std::filesystem::remove(path);
    throw;
  }
}

/// The message after the path of the file.
std::string refusal(const std::string& text) {
  try {
    read(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidFile);
    const std::string message = error.what();
    return message.substr(message.find(".csv: ") + 6);
  }
  return "accepted";
}

TEST(QsmCsv, ReadsEveryColumnOfTheExport) {
  const QsmRows rows = read(kHeader + kRow + "7,0,2,1,5,4,1,2,4,2,2,4,1,0,0,0.1,1,,\n");
  ASSERT_EQ(rows.cylinders.size(), 2U);
  const QsmCylinder &a = rows.cylinders[0], &b = rows.cylinders[1];
  EXPECT_EQ(a.cyl_id, 0);
  EXPECT_EQ(a.parent_id, -1);
  EXPECT_EQ(a.shoot_id, -1);
  EXPECT_EQ(a.start.x, 1);
  EXPECT_EQ(a.end.z, 4);
  EXPECT_EQ(a.radius, 0.25);
  EXPECT_EQ(a.surf_cov, 0.5);
  EXPECT_EQ(a.mad, 0.001);
  EXPECT_TRUE(std::isnan(a.radius_se));
  EXPECT_EQ(b.shoot_id, 5);
  EXPECT_EQ(b.rank, 1);
  EXPECT_TRUE(std::isnan(b.surf_cov));
  EXPECT_EQ(rows.parent_shoot[0], QsmRows::kNotStated);
  EXPECT_EQ(rows.parent_shoot[1], 4);
}

TEST(QsmCsv, KnowsEveryAliasAndSeparator) {
  const char* headers[] = {
      "id,parent,order,x1,y1,z1,x2,y2,z2,rad,branch,surfcov,mad",
      "cylinderID;PARENT_ID;rank;start_x;start_y;start_z;end_x;end_y;end_z;radius_m;segment;"
      "surface coverage;mean-deviation",
      "Cyl ID\tparentid\tbranch_order\tstartX (m)\tstartY (m)\tstartZ (m)\tendX (m)\tendY (m)\t"
      "endZ (m)\tRadius\tbranch\tsurfcov\tmad"};
  for (const std::string header : headers) {
    const char separator = header.find('\t') != std::string::npos  ? '\t'
                           : header.find(';') != std::string::npos ? ';'
                                                                   : ',';
    std::string row = "3.0,-1,0,1,2,3,4,5,6,1e-1,9,0.5,nan";
    for (char& c : row)
      if (c == ',') c = separator;
    const QsmRows rows =
        read("\xef\xbb\xbf" + header + "\r\n\r\n" + row + "\r" + std::string(3, separator) + "\n\n");
    ASSERT_EQ(rows.cylinders.size(), 1U) << header;
    EXPECT_EQ(rows.cylinders[0].cyl_id, 3);
    EXPECT_EQ(rows.cylinders[0].end.y, 5);
    EXPECT_EQ(rows.cylinders[0].radius, 0.1);
    EXPECT_EQ(rows.cylinders[0].shoot_id, 9);
    EXPECT_TRUE(std::isnan(rows.cylinders[0].mad));
  }
}

TEST(QsmCsv, ReadsTheTableOfTreeQsm) {
  const QsmRows rows = read(
      "radius,length,start_1,start_2,start_3,axis_1,axis_2,axis_3,parent,extension,branch,SurfCov,mad,"
      "BranchOrder\n"
      "0.1,2,1,1,1,0,0,2,0,2,1,0.9,0.01,0\n0.05,1,1,1,3,1,0,0,1,0,2,0.8,0.01,1\n");
  ASSERT_EQ(rows.cylinders.size(), 2U);
  EXPECT_EQ(rows.cylinders[0].cyl_id, 1);
  EXPECT_EQ(rows.cylinders[0].parent_id, -1);
  EXPECT_EQ(rows.cylinders[0].end.z, 3);
  EXPECT_EQ(rows.cylinders[1].parent_id, 1);
  EXPECT_EQ(rows.cylinders[1].end.x, 2);
  EXPECT_EQ(rows.cylinders[1].shoot_id, 2);
}

std::string with(const std::string& what, const std::string& instead) {
  std::string row = kRow;
  return row.replace(row.find(what), what.size(), instead);
}

TEST(QsmCsv, RefusesWithRowAndColumn) {
  EXPECT_EQ(refusal(""), "the file is empty");
  EXPECT_EQ(refusal("\n \n"), "the file is empty");
  EXPECT_EQ(refusal(kHeader), "no row follows the header");
  EXPECT_EQ(refusal("ID,radius\n1,2\n").substr(0, 45), "the header has no column parentID, branchOrde");
  EXPECT_EQ(refusal(kHeader + with("0.25", "thick")), "row 2, column radius: \"thick\" is not a number");
  EXPECT_EQ(refusal(kHeader + with("0.25", "=1+1")), "row 2, column radius: \"=1+1\" is not a number");
  EXPECT_EQ(refusal(kHeader + with("0.25", "")), "row 2, column radius: the cell is empty");
  EXPECT_EQ(refusal(kHeader + with("0.25", "0")), "row 2, column radius: a radius must be above 0");
  EXPECT_EQ(refusal(kHeader + with("0.25", "nan")),
            "row 2, column radius: \"nan\" is not a finite number of metres up to 1e9");
  EXPECT_EQ(refusal(kHeader + "\n" + with("0,-1", "0.5,-1")),
            "row 3, column ID: \"0.5\" is not a whole number from 0 to 9007199254740991");
  EXPECT_EQ(refusal(kHeader + with("0,-1", "9007199254740993,-1")).substr(0, 18), "row 2, column ID: ");
  EXPECT_EQ(refusal(kHeader + with("0.5,", "1.5,")),
            "row 2, column surfaceCoverage: \"1.5\" is outside of 0..1");
  EXPECT_EQ(refusal(kHeader + with("0.25", "0,25")).substr(0, 47),
            "row 2 has 20 cells, the header 19; numbers must");
  EXPECT_EQ(refusal("\xff\xfeI"), "the text is UTF-16; save the table as CSV in UTF-8");
  EXPECT_EQ(refusal(kHeader + "\"1,2\n" + kRow), "row 2: a cell begins with a quote and has no second one");
  std::string semicolons = kHeader + with("0.25", "0,25");
  for (std::size_t i = 0; i < semicolons.size(); ++i)
    if (semicolons[i] == ',' && semicolons.compare(i - 1, 3, "0,2") != 0) semicolons[i] = ';';
  EXPECT_EQ(refusal(semicolons), "row 2, column radius: \"0,25\" has a decimal comma; write a decimal point");
}

TEST(QsmCsv, QuotedCellsMayHoldSeparatorsAndQuotes) {
  const QsmRows rows = read("note," + kHeader + "\"a \"\"b\"\", c\nd\"," + kRow);
  EXPECT_EQ(rows.cylinders.size(), 1U);
  EXPECT_EQ(rows.cylinders[0].radius, 0.25);
}

}  // namespace
