#pragma once
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "core/random.h"

/// Builds LAS files byte by byte, independently of the writer under test.
namespace pc::las_test {

using Bytes = std::vector<std::uint8_t>;

template <class T>
void put(Bytes& bytes, std::size_t at, T value) {
  if (bytes.size() < at + sizeof value) bytes.resize(at + sizeof value);
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

inline void append(Bytes& to, const Bytes& more) { to.insert(to.end(), more.begin(), more.end()); }

/// Record lengths of formats 0 to 10 (ASPRS LAS 1.4 R15, tables 7 to 17).
constexpr std::uint16_t kRecordBytes[11] = {20, 28, 26, 34, 57, 63, 30, 36, 38, 59, 67};

struct Record {
  std::string user;
  std::uint16_t id;
  Bytes payload;
};

/// A descriptor of the Extra Bytes record.
struct Extra {
  std::uint8_t type = 1, options = 0;
  std::string name, description;
  std::uint64_t no_data[3] = {0, 0, 0};
  double scale[3] = {0, 0, 0}, offset[3] = {0, 0, 0};
};

inline Record extra_record(const std::vector<Extra>& extras) {
  Bytes payload;
  for (const Extra& extra : extras) {
    Bytes one(192);
    one[2] = extra.type;
    one[3] = extra.options;
    std::memcpy(one.data() + 4, extra.name.data(), std::min<std::size_t>(32, extra.name.size()));
    std::memcpy(one.data() + 40, extra.no_data, 24);
    std::memcpy(one.data() + 112, extra.scale, 24);
    std::memcpy(one.data() + 136, extra.offset, 24);
    std::memcpy(one.data() + 160, extra.description.data(),
                std::min<std::size_t>(32, extra.description.size()));
    append(payload, one);
  }
  return {"LASF_Spec", 4, payload};
}

inline Record geotiff_record(const std::vector<std::uint16_t>& shorts) {
  Bytes payload(shorts.size() * 2);
  std::memcpy(payload.data(), shorts.data(), payload.size());
  return {"LASF_Projection", 34735, payload};
}

inline Record wkt_record(const std::string& text) {
  Bytes payload(text.begin(), text.end());
  payload.push_back(0);
  return {"LASF_Projection", 2112, payload};
}

struct LasFile {
  int minor = 4;
  int format = 6;
  std::uint16_t extra_bytes = 0;
  std::uint16_t global_encoding = 0;
  double scale[3] = {0.001, 0.001, 0.001}, offset[3] = {0, 0, 0};
  std::uint16_t time_offset = 0;
  std::vector<Record> vlrs, evlrs;
  Bytes points;
  std::uint64_t count = 0;

  std::size_t record_bytes() const { return kRecordBytes[format] + std::size_t{extra_bytes}; }

  /// `n` records of random bytes.
  void random_points(std::uint64_t n, std::uint64_t seed) {
    count = n;
    points.resize(n * record_bytes());
    for (std::size_t i = 0; i < points.size(); ++i)
      points[i] = static_cast<std::uint8_t>(random_u64(seed, i));
  }

  Bytes build() const {
    const std::size_t header_bytes = minor >= 5 ? 393 : minor == 4 ? 375 : minor == 3 ? 235 : 227;
    Bytes file(header_bytes);
    std::memcpy(file.data(), "LASF", 4);
    put(file, 6, global_encoding);
    file[24] = 1;
    file[25] = static_cast<std::uint8_t>(minor);
    std::memcpy(file.data() + 26, "TEST SYSTEM", 11);
    std::memcpy(file.data() + 58, "test software", 13);
    put(file, 90, std::uint16_t{59});
    put(file, 92, std::uint16_t{2024});
    put(file, 94, static_cast<std::uint16_t>(header_bytes));
    put(file, 100, static_cast<std::uint32_t>(vlrs.size()));
    file[104] = static_cast<std::uint8_t>(format);
    put(file, 105, static_cast<std::uint16_t>(record_bytes()));
    if (format < 6) put(file, 107, static_cast<std::uint32_t>(count));
    for (int i = 0; i < 3; ++i) put(file, 131 + 8 * i, scale[i]);
    for (int i = 0; i < 3; ++i) put(file, 155 + 8 * i, offset[i]);
    if (minor >= 4) put(file, 247, count);
    if (minor >= 5) put(file, 391, time_offset);
    for (const Record& record : vlrs) {
      Bytes head(54);
      std::memcpy(head.data() + 2, record.user.data(), record.user.size());
      put(head, 18, record.id);
      put(head, 20, static_cast<std::uint16_t>(record.payload.size()));
      append(file, head);
      append(file, record.payload);
    }
    put(file, 96, static_cast<std::uint32_t>(file.size()));
    append(file, points);
    if (minor >= 4 && !evlrs.empty()) {
      put(file, 235, static_cast<std::uint64_t>(file.size()));
      put(file, 243, static_cast<std::uint32_t>(evlrs.size()));
      for (const Record& record : evlrs) {
        Bytes head(60);
        std::memcpy(head.data() + 2, record.user.data(), record.user.size());
        put(head, 18, record.id);
        put(head, 20, static_cast<std::uint64_t>(record.payload.size()));
        append(file, head);
        append(file, record.payload);
      }
    }
    return file;
  }
};

/// A file in the temporary folder that goes away with the object.
class TempFile {
 public:
  explicit TempFile(const std::string& name) {
    static int serial = 0;
    path_ = (std::filesystem::temp_directory_path() /
             ("pc_las_" + std::to_string(reinterpret_cast<std::uintptr_t>(&serial) >> 12) + "_" +
              std::to_string(++serial) + "_" + name))
                .string();
  }
  TempFile(const std::string& name, const Bytes& bytes) : TempFile(name) { write(bytes); }
  TempFile(const TempFile&) = delete;
  TempFile& operator=(const TempFile&) = delete;
  ~TempFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  void write(const Bytes& bytes) const {
    std::filesystem::remove(path_);  // rewriting in place makes some file systems flush
    std::ofstream out(path_, std::ios::binary | std::ios::trunc);
    out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

inline Bytes read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return Bytes(std::istreambuf_iterator<char>(in), {});
}

/// Folder of the shared test data: APP_TEST_DATA, else ../shared/data from the repository root, where tests
/// start;
/// "" when absent.
inline std::string data_folder() {
  const char* named = std::getenv("APP_TEST_DATA");
  const std::filesystem::path folder = named != nullptr ? named : "../shared/data";
  return std::filesystem::is_directory(folder) ? folder.string() : "";
}

}  // namespace pc::las_test
