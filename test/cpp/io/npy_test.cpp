#include "io/archive/npy.h"

#include <gtest/gtest.h>

#include <string>

#include "core/deflate.h"
#include "io/record_support.h"

namespace {

using namespace pc;
using namespace pc::record_test;

std::string npy(std::string header, const std::string& values,
                const std::string& version = std::string("\1\0", 2)) {
  header += '\n';
  std::string file = "\x93NUMPY" + version;
  file += static_cast<char>(header.size() & 0xff);
  file += static_cast<char>(header.size() >> 8);
  return file + header + values;
}

AnyColumn read(const std::string& file, std::optional<std::uint64_t> rows = std::nullopt) {
  const ScratchFile scratch("before" + file);
  const std::uint32_t sum = crc32(0, {reinterpret_cast<const std::byte*>(file.data()), file.size()});
  return with_context(1, [&](OpContext& ctx) {
    return io::read_npy({scratch.path(), 6, file.size(), sum}, rows, ctx);
  });
}

Error refusal(const std::string& file, std::optional<std::uint64_t> rows = std::nullopt) {
  const Error error = error_of([&] { read(file, rows); });
  EXPECT_EQ(error.code(), ErrorCode::kInvalidFile);
  return error;
}

const std::string kThree = "{'descr': '<u2', 'fortran_order': False, 'shape': (3,), }";

TEST(Npy, ReadsWhatNumPyWrites) {
  const AnyColumn column = read(npy(kThree, std::string("\1\0\2\0\xff\xff", 6)), 3);
  ASSERT_EQ(column.dtype(), DType::kU16);
  EXPECT_EQ(column.as<std::uint16_t>()[0], 1);
  EXPECT_EQ(column.as<std::uint16_t>()[2], 65535);
  const AnyColumn single = read(npy("{'descr': '<i4', 'fortran_order': False, 'shape': (), }", "abcd"));
  EXPECT_EQ(single.size(), 1U);
  const AnyColumn points =
      read(npy("{'shape': (1, 3), 'fortran_order': False, 'descr': '<f8'}", std::string(24, 'a')));
  EXPECT_EQ(points.dtype(), DType::kVec3d);
  EXPECT_EQ(read(npy("{'descr': '|b1', 'fortran_order': False, 'shape': (0,), }", "")).size(), 0U);
}

TEST(Npy, RefusesEverythingElse) {
  const std::string values(6, 'a');
  EXPECT_MESSAGE(refusal(npy(kThree, values), 4), "3 rows, not 4");
  EXPECT_MESSAGE(refusal(npy(kThree, values + "x")), "behind");
  EXPECT_MESSAGE(refusal(npy(kThree, "abcd")), "too short");
  EXPECT_MESSAGE(refusal(npy(kThree, values, std::string("\2\0", 2))), "version 1");
  EXPECT_MESSAGE(refusal(npy("{'descr': '|O', 'fortran_order': False, 'shape': (3,), }", values)), "type");
  EXPECT_MESSAGE(refusal(npy("{'descr': '<u2', 'fortran_order': True, 'shape': (3,), }", values)), "Fortran");
  EXPECT_MESSAGE(refusal(npy("{'descr': '<u2', 'fortran_order': False, 'shape': (3), 'x': 1}", values)),
                 "unknown");
  EXPECT_MESSAGE(refusal(npy("{'descr': '<u2', 'fortran_order': False}", values)), "missing");
  EXPECT_MESSAGE(refusal(npy("{'descr': '<u2', 'descr': '<u2'}", values)), "twice");
  EXPECT_MESSAGE(refusal(npy("{'descr': '<u2', 'fortran_order': False, 'shape': (-3,), }", values)), "shape");
  EXPECT_MESSAGE(refusal(npy("{'descr': '<u2", values)), "does not end");
  EXPECT_MESSAGE(refusal(npy("", values)), "lacks");
  EXPECT_MESSAGE(
      refusal(npy("{'descr': '<u2', 'fortran_order': False, 'shape': (18446744073709551615,), }", values)),
      "too short");
  const std::string file = npy(kThree, values);
  for (std::size_t size = 0; size < file.size(); ++size) refusal(file.substr(0, size));
}

TEST(Npy, RefusesAnotherChecksum) {
  const std::string file = npy(kThree, std::string(6, 'a'));
  const ScratchFile scratch(file);
  const Error error = error_of([&] {
    with_context(1, [&](OpContext& ctx) {
      return io::read_npy({scratch.path(), 0, file.size(), 1}, 3, ctx);
    });
  });
  EXPECT_MESSAGE(error, "CRC-32");
}

}  // namespace
