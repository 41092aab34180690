#include <gtest/gtest.h>

#include <chrono>

#include "core/memory.h"
#include "io/las_checks.h"
#include "io/laz_builder.h"
#include "io/laz_v1_encode.h"
#include "support/cancel.h"

/// LAZ files made here: every point format, item version and kind of chunk table, against the same file as LAS.
namespace pc::io {
namespace {

using namespace las_test;

LasFile make(int format, std::uint64_t rows, std::uint16_t extra_bytes, bool random, std::uint64_t seed) {
  LasFile file;
  file.format = format;
  file.minor = 4;
  file.extra_bytes = extra_bytes;
  if (random) {
    file.random_points(rows, seed);
  } else {
    scan_points(file, rows, seed);
  }
  return file;
}

TEST(Laz, EveryFormatComesBackBitForBit) {
  for (int format = 0; format <= 10; ++format) {
    for (const bool random : {false, true}) {
      for (const std::uint16_t extra : {0, 5}) {
        const LasFile file = make(format, 3000, extra, random, static_cast<std::uint64_t>(format));
        const std::string what = "format " + std::to_string(format) + (random ? " random" : " scan");
        LazOptions options;
        options.chunk_rows = 700;
        const LasCloud laz = read(compress(file, options), {}, 2);
        expect_same(laz.table, read(file.build()).table, what);
        EXPECT_TRUE(laz.table.warnings.empty()) << what << joined(laz.table.warnings);
        EXPECT_TRUE(laz.header.compressed);
        EXPECT_EQ(laz.header.present_point_count, 3000U);
      }
    }
  }
}

TEST(Laz, LayeredVersionsAndScannerChannels) {
  for (int format = 6; format <= 10; ++format) {
    for (const int version : {2, 3, 4}) {
      LasFile file = make(format, 4000, 3, false, 77);
      for (std::size_t i = 0; i < file.points.size();
           i += file.record_bytes()) {  // all four channels, in runs
        const std::uint64_t dice = random_u64(5, i);
        std::uint8_t& flags = file.points[i + 15];
        const std::uint8_t last = i == 0 ? std::uint8_t{0x20} : file.points[i - file.record_bytes() + 15];
        flags = static_cast<std::uint8_t>((flags & 0xCFU) |
                                          (dice % 3 == 0 ? (dice >> 8 & 3) << 4 : last & 0x30U));
      }
      LazOptions options;
      options.layered_version = version;
      options.chunk_rows = 900;
      expect_same(read(compress(file, options)).table, read(file.build()).table,
                  "format " + std::to_string(format) + " version " + std::to_string(version));
    }
  }
}

/// Flags, user data and channel have one value for some tiles of a chunk, then another, one after the other.
TEST(Laz, LayersThatChangeLate) {
  for (const int version : {3, 4}) {
    for (const std::uint64_t order : {0u, 1u, 2u, 3u, 4u, 5u}) {
      LasFile file = make(6, 6000, 0, false, 78);
      const std::uint64_t from[3] = {900 + order * 700, 900 + (order * 2 + 1) % 6 * 700,
                                     900 + (order + 3) % 6 * 700};
      for (std::uint64_t row = 0; row < 6000; ++row) {
        std::uint8_t* point = file.points.data() + row * file.record_bytes();
        const auto dice = static_cast<std::uint8_t>(random_u64(6, row));
        point[15] = static_cast<std::uint8_t>((row < from[0] ? 0x41 : 0x41 ^ (dice & 0xCF)) ^
                                              (row < from[1] ? 0x10 : 0x10 ^ (dice & 0x30)));
        point[17] = row < from[2] ? 9 : dice;
      }
      LazOptions options;
      options.layered_version = version;
      options.chunk_rows = 5500;
      expect_same(read(compress(file, options), {}, 2).table, read(file.build()).table,
                  std::to_string(order));
    }
  }
}

TEST(Laz, PairsOfUnequalChunks) {
  for (const int format : {0, 1, 3, 5, 6, 7, 8, 10}) {
    LasFile file = make(format, 5000, 2, false, 78);
    const std::size_t stride = file.record_bytes();
    for (std::size_t i = stride; i < 2100 * stride;
         i += stride) {  // some layers of the first chunks are empty
      for (const std::size_t at : {std::size_t{16}, std::size_t{17}, stride - 1})
        file.points[i + at] = file.points[at];
    }
    LazOptions options;
    options.chunk_rows = 700;  // 700, 701, ... rows: the last pair is cut short
    options.variable = true;
    const Bytes compressed = compress(file, options);
    const LasCloud expected = read(file.build());
    for (const int threads : {1, 2, 4}) {
      expect_same(read(compressed, {}, threads).table, expected.table,
                  "format " + std::to_string(format) + ", threads " + std::to_string(threads));
    }
  }
}

TEST(Laz, EveryKindOfChunkTable) {
  for (const int format : {1, 7}) {
    const LasFile file = make(format, 5000, 2, false, 3);
    const LasCloud expected = read(file.build());
    for (const bool variable : {false, true}) {
      for (const ChunkTable table :
           {ChunkTable::kNormal, ChunkTable::kPositionAtEnd, ChunkTable::kZeroAndAtEnd, ChunkTable::kNone,
            ChunkTable::kPointsBeyond}) {
        LazOptions options;
        options.chunk_rows = 600;
        options.variable = variable;
        options.table = table;
        const bool lost = table == ChunkTable::kNone || table == ChunkTable::kPointsBeyond;
        const std::string what = std::to_string(format) + (variable ? " variable " : " fixed ") +
                                 std::to_string(static_cast<int>(table));
        const Bytes bytes = compress(file, options);
        if (lost && variable && format < 6) {
          std::string why;
          EXPECT_EQ(code_of([&] { read(bytes); }, &why), ErrorCode::kUnsupported) << what;
          EXPECT_NE(why.find("chunk table"), std::string::npos) << why;
          continue;
        }
        const LasCloud laz = read(bytes, {}, 3);
        expect_same(laz.table, expected.table, what);
        EXPECT_EQ(laz.table.warnings.size(), lost ? 1U : 0U) << what << joined(laz.table.warnings);
      }
    }
  }
}

TEST(Laz, PointwiseStreamsWithoutChunks) {
  for (int format = 0; format <= 5; ++format) {
    const LasFile file = make(format, 5000, 1, false, 9);
    LazOptions options;
    options.pointwise = true;
    const LasCloud laz = read(compress(file, options), {}, 2);
    expect_same(laz.table, read(file.build()).table, std::to_string(format));
    EXPECT_TRUE(laz.table.warnings.empty()) << joined(laz.table.warnings);
  }
}

TEST(Laz, ItemsOfVersion1) {
  for (int format = 0; format <= 3; ++format) {
    for (const bool random : {false, true}) {
      LasFile file = make(format, 6000, 3, random, 31);
      if (!random && format % 2 == 1) {  // pulses at a steady rate, echoes, pauses, a jump
        std::uint64_t time = 4696837146684686336;
        for (std::uint64_t row = 0; row < file.count; ++row) {
          const std::uint64_t dice = random_u64(6, row);
          time += dice % 50 == 0  ? dice >> 24
                  : dice % 4 == 0 ? 0
                                  : 1000 * (1 + (dice % 31 == 0 ? dice >> 50 : 0)) + (dice >> 60);
          std::memcpy(file.points.data() + row * file.record_bytes() + 20, &time, sizeof time);
        }
      }
      const LasCloud laz = read(compress_v1(file));
      expect_same(laz.table, read(file.build()).table,
                  std::to_string(format) + (random ? " random" : " scan"));
      EXPECT_TRUE(laz.table.warnings.empty()) << joined(laz.table.warnings);
    }
  }
}

TEST(Laz, ExtendedRecordsAfterThePoints) {
  LasFile file = make(7, 2000, 0, false, 1);
  file.evlrs = {{"someone", 3, Bytes(200, 7)}};
  const LasCloud laz = read(compress(file));
  expect_same(laz.table, read(file.build()).table, "evlr");
  EXPECT_EQ(laz.header.vlrs.back().user_id, "someone");
}

TEST(Laz, RowRangesAndWantedColumns) {
  for (const int format : {3, 8}) {
    LasFile file = make(format, 4000, 4, false, 21);
    LazOptions options;
    options.chunk_rows = 500;
    for (const bool pointwise : {false, true}) {
      if (pointwise && format >= 6) continue;
      options.pointwise = pointwise;
      const Bytes laz = compress(file, options), las = file.build();
      for (const auto& [first, count] : {std::pair<std::uint64_t, std::uint64_t>{0, 1},
                                         {499, 2},
                                         {1234, 777},
                                         {3999, 50},
                                         {4000, 1},
                                         {9000, 3},
                                         {0, 4000}}) {
        LasReadParams params;
        params.first_row = first;
        params.row_count = count;
        expect_same(read(laz, params, 2).table, read(las, params).table, std::to_string(first));
      }
      for (const LasDimension& dimension :
           read(las).header.dimensions) {  // each column alone: only its layer
        LasReadParams params;
        params.wanted = [&](const LasDimension& d) { return d.name == dimension.name; };
        expect_same(read(laz, params).table, read(las, params).table, dimension.name);
      }
      LasReadParams none;
      none.wanted = [](const LasDimension&) { return false; };
      expect_same(read(laz, none).table, read(las, none).table, "positions only");
    }
  }
}

TEST(Laz, LayersThatAreNotWantedAreNotLookedAt) {
  const LasFile file = make(7, 3000, 0, false, 4);
  Bytes laz = compress(file);
  std::uint32_t points_at, sizes[10];
  std::memcpy(&points_at, laz.data() + 96, 4);
  const std::size_t sizes_at = points_at + 8 + 36 + 4;
  std::memcpy(sizes, laz.data() + sizes_at, sizeof sizes);
  std::size_t at = sizes_at + sizeof sizes + sizes[0] + sizes[1];
  std::fill_n(laz.begin() + static_cast<std::ptrdiff_t>(at), sizes[2] + sizes[3] + sizes[4],
              std::uint8_t{0xA5});
  LasReadParams params;
  params.wanted = [](const LasDimension& d) { return d.name == "rgb" || d.name == "gps_time"; };
  expect_same(read(laz, params).table, read(file.build(), params).table,
              "class, flags and intensity are garbage");
}

TEST(Laz, ThreadCountDoesNotMatter) {
  const LasFile file = make(8, 9000, 2, false, 8);
  LazOptions options;
  options.chunk_rows = 250;
  const Bytes laz = compress(file, options);
  const LasCloud one = read(laz, {}, 1);
  for (const int threads : {2, 5})
    expect_same(read(laz, {}, threads).table, one.table, std::to_string(threads));
}

TEST(Laz, ZeroPointsIsAValidFile) {
  for (const int format : {0, 6}) {
    LasFile file;
    file.format = format;
    EXPECT_EQ(read(compress(file)).table.positions.size(), 0U);
  }
}

/// A file whose points repeat compresses far more than others do; its columns are made step by step.
TEST(Laz, FilesThatCompressAThousandfoldAreRead) {
  for (const int format : {0, 6}) {
    LasFile file;
    file.format = format;
    file.count = 1500000;
    file.points.assign(file.count * file.record_bytes(), 1);
    LazOptions options;
    options.chunk_rows = 400000;
    for (const bool pointwise : {false, true}) {
      if (pointwise && format >= 6) continue;
      options.pointwise = pointwise;
      const Bytes bytes = compress(file, options);
      EXPECT_LT(bytes.size(), 20000U);
      const LasCloud laz = read(bytes, {}, 2);
      ASSERT_EQ(laz.table.positions.size(), file.count);
      for (const Vec3d& p : laz.table.positions.view()) ASSERT_EQ(p.x, 0.001 * 0x01010101);
      for (const std::uint16_t i : column(laz.table, "intensity").values.as<std::uint16_t>())
        ASSERT_EQ(i, 0x0101);
    }
  }
}

TEST(Laz, CancelIsSeenInTime) {
  LasFile file = make(7, 300000, 0, false, 2);
  LazOptions options;
  options.chunk_rows = 300000;
  const TempFile on_disk("cancel.laz", compress(file, options));
  test::expect_cancel_after(std::chrono::milliseconds(5), [&](OpContext& ctx) {
    for (;;) read_las(on_disk.path(), {}, ctx);
  });
}

}  // namespace
}  // namespace pc::io
