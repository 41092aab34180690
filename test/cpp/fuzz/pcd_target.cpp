#include <exception>
#include <string>
#include <vector>

#include "core/error.h"
#include "fuzz/fuzz_target.h"
#include "io/pcd.h"

namespace pc::fuzz {

namespace {

std::vector<std::uint8_t> bytes(const std::string& text) { return {text.begin(), text.end()}; }

std::string header(const std::string& fields, int points, const std::string& data) {
  return "# .PCD v0.7\nVERSION 0.7\n" + fields + "WIDTH " + std::to_string(points) +
         "\nHEIGHT 1\nVIEWPOINT 1 2 3 1 0 0 0\nPOINTS " + std::to_string(points) + "\nDATA " + data + "\n";
}

std::string le32(std::uint32_t value) {
  std::string out;
  for (int i = 0; i < 4; ++i) out += static_cast<char>(value >> (8 * i));
  return out;
}

std::vector<std::vector<std::uint8_t>> pcd_seeds() {
  const std::string colored = "FIELDS x y z rgb _ h\nSIZE 4 4 4 4 1 2\nTYPE F F F F U U\nCOUNT 1 1 1 1 2 3\n";
  const std::string plain = "FIELDS x y z\nSIZE 4 4 4\nTYPE F F F\nCOUNT 1 1 1\n";
  std::string records;
  for (int i = 0; i < 3 * 24; ++i) records += static_cast<char>(i * 41);
  // Ten points of twelve bytes: a literal of 32 bytes, then copies that repeat it.
  const std::string literal = std::string(1, '\x1f') + records.substr(0, 32);
  const std::string packed = literal + "\xe0" + std::string(1, '\x4f') + "\x1f";  // 32 + (7 + 79 + 2)
  return {bytes(header(colored, 2, "ascii") + "1 2 3 4.2e6 0 0 1 2 3\nnan 2 3 0 0 0 1 2 3\n"),
          bytes(header(colored, 3, "binary") + records),
          bytes(header(plain, 10, "binary_compressed") + le32(static_cast<std::uint32_t>(packed.size())) +
                le32(120) + packed),
          bytes("VERSION .5\nCOLUMNS X Y Z\nSIZE 8 2 1\nTYPE F I U\nWIDTH 2\nHEIGHT 1\nDATA ascii\r\n1 2 "
                "3\r\n4 5 6\r\n"),
          bytes(header(plain, 0, "binary_compressed"))};
}

void read_pcd_file(const std::string& path, OpContext& ctx) {
  std::exception_ptr refusal;
  const auto attempt = [&](auto&& body) {
    try {
      body();
    } catch (const Error& error) {
      if (error.code() == ErrorCode::kCanceled) throw;
      refusal = std::current_exception();
    }
  };
  attempt([&] { io::read_pcd_sample(path, io::read_pcd_header(path), 20, ctx); });
  attempt([&] { io::read_pcd(path, {{0.3048, {1e7, -1e7, 0}}, 0, io::kAllRows}, ctx); });
  attempt([&] { io::read_pcd(path, {{}, 1, 2}, ctx); });
  if (refusal) std::rethrow_exception(refusal);
}

}  // namespace

FuzzTarget pcd_target() { return {"pcd", pcd_seeds, read_pcd_file}; }

}  // namespace pc::fuzz
