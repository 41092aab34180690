#include "core/gather.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "core/column.h"
#include "core/random.h"

namespace pc {
namespace {

template <class Index>
void expect_rows_in_order(DType dtype) {
  const std::size_t size = dtype_size(dtype), source = 300, count = 1000;
  std::vector<std::byte> from(source * size), to((count + 1) * size, std::byte{0xaa});
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::byte>(random_u64(1, i));
  std::vector<Index> rows(count);
  for (std::size_t i = 0; i < count; ++i) rows[i] = static_cast<Index>(random_u64(2, i) % source);
  gather_rows(size, from.data(), rows.data(), count, to.data());
  for (std::size_t i = 0; i < count; ++i)
    ASSERT_EQ(std::memcmp(&to[i * size], &from[rows[i] * size], size), 0) << dtype_name(dtype) << " " << i;
  for (std::size_t i = count * size; i < to.size(); ++i) EXPECT_EQ(to[i], std::byte{0xaa});  // nothing beyond
}

TEST(Gather, CopiesTheRowsOfEveryType) {
  for (const DType dtype :
       {DType::kU8, DType::kI8, DType::kU16, DType::kI16, DType::kU32, DType::kI32, DType::kU64, DType::kI64,
        DType::kF32, DType::kF64, DType::kVec3d, DType::kRgb16}) {
    expect_rows_in_order<std::uint32_t>(dtype);
    expect_rows_in_order<std::uint64_t>(dtype);
  }
}

TEST(Gather, RefusesAnElementSizeThatNoTypeHas) {
  for (const std::size_t size : {0U, 3U, 12U, 16U, 25U}) {
    const std::uint32_t row = 0;
    std::byte out[32];
    EXPECT_THROW(gather_rows(size, out, &row, 1, out), Error) << size;
  }
}

}  // namespace
}  // namespace pc
