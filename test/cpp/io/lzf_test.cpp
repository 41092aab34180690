#include "io/lzf.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "io/lzf_encode.h"
#include "io/record_support.h"

namespace {

using namespace pc;
using namespace pc::record_test;

std::uint64_t decoded_size(const std::string& in) {
  return with_context(1, [&](OpContext& ctx) {
    return io::lzf_decoded_size({reinterpret_cast<const std::byte*>(in.data()), in.size()}, "here", ctx);
  });
}

/// Input and output live in blocks of their exact size, so that the sanitizer sees every byte outside.
std::string decode(const std::string& in, std::size_t size) {
  const std::vector<char> from(in.begin(), in.end());
  std::vector<char> out(size);
  with_context(1, [&](OpContext& ctx) {
    io::lzf_decode({reinterpret_cast<const std::byte*>(from.data()), from.size()},
                   {reinterpret_cast<std::byte*>(out.data()), out.size()}, "here", ctx);
  });
  return {out.begin(), out.end()};
}

TEST(Lzf, DecodesRunsByTheBook) {
  using namespace std::string_literals;
  const struct {
    std::string in, out;
  } cases[] = {
      {"", ""},
      {"\x02"
       "abc"s,
       "abc"},
      {"\x02"
       "abc\x20\x02"s,
       "abcabc"},                                       // length 1 + 2, distance 3
      {"\0a\x60\0"s, "aaaaaa"},                         // overlapping: distance 1, length 3 + 2
      {"\0a\xe0\xff\0"s, "a" + std::string(264, 'a')},  // longest copy
      {"\x01"
       "ab\xe0\0\x01"s,
       "ab"
       "ababababa"},  // length 7 + 0 + 2, distance 2
  };
  for (const auto& c : cases) {
    EXPECT_EQ(decoded_size(c.in), c.out.size());
    EXPECT_EQ(decode(c.in, c.out.size()), c.out);
  }
}

TEST(Lzf, RoundTripsRandomAndRepetitiveData) {
  std::mt19937 random(3);
  for (int round = 0; round < 60; ++round) {
    const unsigned letters = round % 3 == 0 ? 256 : round % 3 == 1 ? 2 : 1;
    std::string data(random() % 3000, '\0');
    for (char& c : data) c = static_cast<char>(random() % letters);
    const std::string packed = lzf_encode(data);
    ASSERT_EQ(decoded_size(packed), data.size());
    ASSERT_EQ(decode(packed, data.size()), data);
  }
}

TEST(Lzf, RefusesWhatIsCutOrReachesOut) {
  using namespace std::string_literals;
  for (const std::string& bad : {"\x02"
                                 "ab"s,
                                 "\x20\0"s, "\0a\x20\x01"s, "\0a\x20"s, "\0a\xe0"s, "\0a\xe0\x01"s}) {
    EXPECT_MESSAGE(error_of([&] { decoded_size(bad); }), "here: damaged LZF data at compressed byte ");
    EXPECT_EQ(error_of([&] { decode(bad, 1000); }).code(), ErrorCode::kInvalidFile);
  }
  EXPECT_MESSAGE(error_of([&] {
                   decode(
                       "\x02"
                       "abc"s,
                       2);
                 }),
                 "more data than declared");
  EXPECT_MESSAGE(error_of([&] {
                   decode(
                       "\x02"
                       "abc"s,
                       4);
                 }),
                 "less data than declared");
  std::mt19937 random(5);
  for (int round = 0; round < 20000; ++round) {
    std::string noise(random() % 40, '\0');
    for (char& c : noise) c = static_cast<char>(random());
    try {
      const std::uint64_t size = decoded_size(noise);
      ASSERT_EQ(decode(noise, size).size(), size);
    } catch (const Error& error) {
      ASSERT_EQ(error.code(), ErrorCode::kInvalidFile);
    }
  }
}

}  // namespace
