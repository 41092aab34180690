#include <exception>
#include <string>
#include <vector>

#include "core/error.h"
#include "fuzz/fuzz_target.h"
#include "io/ptx.h"

namespace pc::fuzz {

namespace {

std::vector<std::vector<std::uint8_t>> ptx_seeds() {
  const std::string frame = "1 2 3\n1 0 0\n0 1 0\n0 0 1\n1 0 0 0\n0 1 0 0\n0 0 1 0\n1 2 3 1\n";
  const std::string plain = "2\n2\n" + frame + "1 2 3 0.5\n0 0 0 0.5\n4 5 6 1\n7 8 9 0\n";
  const std::string colored = "1\n2\n" + frame + "1.5e2 2 3 0.5 1 2 3\n0 0 0 0.5 0 0 0\n";
  std::string large = "50\n40\n" + frame;
  for (int i = 0; i < 2000; ++i) large += std::to_string(i * 0.37) + " 2.25 -3.5 -2048 0.5 1 0.25\n";
  std::string crlf;
  for (const char c : plain) crlf += c == '\n' ? "\r\n" : std::string(1, c);
  std::vector<std::vector<std::uint8_t>> files;
  for (const std::string& text : {plain, colored, crlf, plain + colored + plain, large + colored}) {
    files.emplace_back(text.begin(), text.end());
  }
  return files;
}

void read_ptx_file(const std::string& path, OpContext& ctx) {
  std::exception_ptr refusal;
  const auto attempt = [&](auto&& body) {
    try {
      body();
    } catch (const Error& error) {
      if (error.code() == ErrorCode::kCanceled) throw;
      refusal = std::current_exception();
    }
  };
  attempt([&] { io::read_ptx_head(path, 20, std::uint64_t{1} << 20, ctx); });
  attempt([&] { io::read_ptx(path, {{0.3048, {1e7, -1e7, 0}}, std::nullopt}, ctx); });
  attempt([&] { io::read_ptx(path, {{}, 0}, ctx); });
  if (refusal) std::rethrow_exception(refusal);
}

}  // namespace

FuzzTarget ptx_target() { return {"ptx", ptx_seeds, read_ptx_file}; }

}  // namespace pc::fuzz
