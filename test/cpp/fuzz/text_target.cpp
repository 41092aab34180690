#include <algorithm>
#include <exception>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/platform.h"
#include "fuzz/fuzz_target.h"
#include "io/ascii_table.h"

namespace pc::fuzz {

namespace {

std::vector<std::uint8_t> bytes(const std::string& text) { return {text.begin(), text.end()}; }

std::vector<std::vector<std::uint8_t>> text_seeds() {
  std::string wide = "0,0,0";
  for (int i = 3; i < 600; ++i) wide += "," + std::to_string(i);
  return {bytes("x y z i\n1.5 -2 3e2 7\n4 5 6 8\n"),
          bytes("\xef\xbb\xbf\"X\";\"Y\";\"Z\"\r\n1,5;2,25;-3;\"4\"\r\n;;;\r\n"),
          bytes("#x\ty\tz\r1\t2\t3\r4\tnan\t6\r"),
          bytes("3\n1.0D+02 2 3 -1035 97 59 38\n// c\n\n1e400 4.9e-324 18446744073709551616 9007199254740993 "
                "0x1 1e+ .\n"),
          bytes("\"a,\"\"b\",1,2,3\n1,2,3,\"open\n"),
          bytes(wide + "\n0,0,0\n0,0,0\n" + wide + "\n1,2,3,4,,,,,\n")};
}

/// The layouts of real callers, and a wide one whose declared columns the rows lack.
std::vector<io::TextReadParams> layouts() {
  const auto layout = [](io::TextDelimiter delimiter, std::uint32_t columns, std::uint64_t skip) {
    io::TextReadParams params{delimiter, false, skip, columns, 0, 1, 2, {}, {}, 0};
    for (std::uint32_t i = 3; i < columns; ++i) {
      params.columns.push_back({i, "c" + std::to_string(i), static_cast<io::TextColumnType>(i % 3)});
    }
    return params;
  };
  auto comma_decimals = layout(io::TextDelimiter::kSemicolon, 4, 1);
  comma_decimals.decimal_comma = true;
  auto preview = layout(io::TextDelimiter::kWhitespace, 4, 1);
  preview.max_rows = 2;
  preview.frame = {0.3048, {1e7, -1e7, 0}};
  return {layout(io::TextDelimiter::kWhitespace, 7, 1),
          comma_decimals,
          preview,
          layout(io::TextDelimiter::kTab, 3, 0),
          layout(io::TextDelimiter::kComma, 4, 0),
          layout(io::TextDelimiter::kComma, 600, 0)};
}

void read_text_file(const std::string& path, OpContext& ctx) {
  std::exception_ptr refusal;
  bool accepted = false;
  const auto attempt = [&](auto&& body) {
    try {
      body();
      accepted = true;
    } catch (const Error& error) {
      if (error.code() == ErrorCode::kCanceled) throw;
      refusal = std::current_exception();
    }
  };
  io::sample_text(path, 100, ctx);  // what it refuses, read_text refuses too
  // Chunk borders everywhere; more chunks than this would cost more in bookkeeping than the reader's limit allows.
  const std::size_t chunk_bytes = std::max<std::size_t>(61, platform::File::open_read(path).size() / 64);
  for (const io::TextReadParams& params : layouts()) {
    attempt([&] { io::read_text(path, params, ctx); });
    attempt([&] { io::read_text(path, params, chunk_bytes, ctx); });
  }
  if (!accepted) std::rethrow_exception(refusal);
}

}  // namespace

FuzzTarget text_target() { return {"text", text_seeds, read_text_file}; }

}  // namespace pc::fuzz
