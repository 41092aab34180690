#include <gtest/gtest.h>

#include <vector>

#include "core/random.h"
#include "io/laz/range_decoder.h"
#include "io/laz/range_encoder.h"

/// The range encoder against the decoder, which shares no arithmetic with it.
namespace {

using pc::io::laz::BitModel;
using pc::io::laz::RangeDecoder;
using pc::io::laz::RangeEncoder;
using pc::io::laz::SymbolModel;

/// A code value just above 1/2 after one just below: the carry passes through every byte between, all of them 255.
TEST(LazRange, CarriesThroughAnyNumberOfBytes) {
  for (std::size_t n = 2; n < 40; ++n) {
    std::vector<std::uint8_t> target(64, 0);
    target[0] = 0x80;
    RangeDecoder at_half;
    at_half.start(target.data(), target.size());
    std::vector<std::uint32_t> values;
    for (std::size_t i = 0; i < n; ++i) values.push_back(at_half.bits(8));
    if (values.back() < 255) ++values.back();
    RangeEncoder encoder;
    encoder.start();
    for (const std::uint32_t value : values) encoder.bits(8, value);
    const auto bytes = encoder.finish();
    RangeDecoder decoder;
    decoder.start(bytes.data, bytes.size);
    for (const std::uint32_t value : values) ASSERT_EQ(decoder.bits(8), value) << n;
    EXPECT_EQ(decoder.missing(), 0u);
  }
}

/// Streams of different lengths, flushed together: more parts than a stream holds, and fewer streams than lanes at last.
TEST(LazRange, StreamsInTurnsAreIndependent) {
  constexpr std::size_t kStreams = 7;
  const auto pick = [](std::uint64_t seed, std::uint64_t i, std::uint64_t n) {
    return static_cast<std::uint32_t>(pc::random_u64(seed, i) % n);
  };
  std::vector<RangeEncoder> encoders(kStreams);
  std::vector<std::uint64_t> counts;
  for (std::size_t s = 0; s < kStreams; ++s) {
    encoders[s].start();
    counts.push_back(s * s * 900);
  }
  const auto code = [&](auto& coder, std::size_t s, auto& symbols, BitModel& bit, std::uint64_t from,
                        std::uint64_t to) {
    for (std::uint64_t i = from; i < to; ++i) {
      const std::uint32_t skewed = pick(s, i, 3) == 0 ? pick(s + 100, i, 200) : 199;
      ASSERT_EQ(coder.symbol(symbols, 200, skewed), skewed);
      ASSERT_EQ(coder.bit(bit, pick(s + 200, i, 9) == 0 ? 1 : 0), pick(s + 200, i, 9) == 0 ? 1u : 0u);
      const unsigned width = 1 + pick(s + 300, i, 32);
      const std::uint32_t raw = pick(s + 400, i, std::uint64_t{1} << width);
      ASSERT_EQ(coder.bits(width, raw), raw);
    }
  };
  std::vector<SymbolModel<256>> symbols(kStreams);
  std::vector<BitModel> bits(kStreams);
  for (std::size_t s = 0; s < kStreams; ++s) bits[s].reset();
  for (std::uint64_t step = 0; step < 4; ++step) {
    std::vector<RangeEncoder*> all;
    for (std::size_t s = 0; s < kStreams; ++s) {
      code(encoders[s], s, symbols[s], bits[s], counts[s] * step / 4, counts[s] * (step + 1) / 4);
      all.push_back(&encoders[s]);
    }
    RangeEncoder::flush_all(all);
  }
  for (std::size_t s = 0; s < kStreams; ++s) {
    const auto bytes = encoders[s].finish();
    RangeDecoder decoder;
    decoder.start(bytes.data, bytes.size);
    SymbolModel<256> model;
    BitModel bit;
    bit.reset();
    code(decoder, s, model, bit, 0, counts[s]);
    EXPECT_EQ(decoder.missing(), 0u);
    EXPECT_LE(decoder.unread(), 4u);
  }
}

}  // namespace
