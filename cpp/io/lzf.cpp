#include "io/lzf.h"

#include <cstring>

#include "core/error.h"

namespace pc::io {

namespace {

constexpr std::uint64_t kPollBytes = std::uint64_t{4} << 20;

struct Run {
  std::size_t length = 0;    ///< bytes that it decodes to
  std::size_t distance = 0;  ///< 0 = literal
  std::size_t data = 0;      ///< position of a literal's bytes
};

/// Reads the runs of a stream one by one, with bounds checks.
class RunReader {
 public:
  RunReader(Span<const std::byte> in, const std::string& what, OpContext& ctx)
      : in_(in), what_(what), ctx_(ctx) {}

  /// False at the end of the stream. `produced` is the number of bytes decoded so far.
  bool next(std::uint64_t produced, Run& run) {
    if (produced >= poll_) {
      ctx_.checkpoint();
      poll_ = produced + kPollBytes;
    }
    if (at_ == in_.size) return false;
    const std::size_t start = at_;
    const unsigned control = byte();
    if (control < 32) {
      run = {control + 1, 0, at_};
      if (run.length > in_.size - at_) fail(start, "the data end inside a run");
      at_ += run.length;
      return true;
    }
    std::size_t length = (control >> 5) + 2;
    if (control >> 5 == 7) length += more(start);
    run = {length, ((control & 31U) << 8 | more(start)) + 1, 0};
    if (run.distance > produced) fail(start, "a run reaches back before the first byte");
    return true;
  }

  [[noreturn]] void fail(std::size_t at, const char* problem) const {
    throw Error(ErrorCode::kInvalidFile,
                what_ + ": damaged LZF data at compressed byte " + std::to_string(at) + ": " + problem);
  }
  std::size_t at() const { return at_; }

 private:
  unsigned byte() { return std::to_integer<unsigned>(in_.data[at_++]); }
  unsigned more(std::size_t start) {
    if (at_ == in_.size) fail(start, "the data end inside a run");
    return byte();
  }

  Span<const std::byte> in_;
  const std::string& what_;
  OpContext& ctx_;
  std::size_t at_ = 0;
  std::uint64_t poll_ = 0;
};

/// Copies `length` bytes from `distance` bytes back; overlapping runs repeat their first `distance` bytes.
void copy_back(std::byte* to, std::size_t distance, std::size_t length) {
  const std::byte* from = to - distance;
  if (distance >= length) {
    std::memcpy(to, from, length);
    return;
  }
  for (std::size_t i = 0; i < length; ++i) to[i] = from[i];
}

}  // namespace

std::uint64_t lzf_decoded_size(Span<const std::byte> in, const std::string& what, OpContext& ctx) {
  RunReader reader(in, what, ctx);
  std::uint64_t produced = 0;
  Run run;
  while (reader.next(produced, run)) produced += run.length;
  return produced;
}

void lzf_decode(Span<const std::byte> in, Span<std::byte> out, const std::string& what, OpContext& ctx) {
  RunReader reader(in, what, ctx);
  std::size_t produced = 0;
  Run run;
  while (reader.next(produced, run)) {
    if (run.length > out.size - produced) reader.fail(reader.at(), "more data than declared");
    std::byte* const to = out.data + produced;
    if (run.distance == 0) {
      std::memcpy(to, in.data + run.data, run.length);
    } else {
      copy_back(to, run.distance, run.length);
    }
    produced += run.length;
  }
  if (produced != out.size) reader.fail(reader.at(), "less data than declared");
}

}  // namespace pc::io
