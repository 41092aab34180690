#pragma once
#include <stdexcept>
#include <string>

namespace pc {

/// Every way an op can fail. The names are the wire codes; backend/http/errors.ts maps them to HTTP statuses.
enum class ErrorCode {
  kInvalidArgument,
  kInvalidFile,
  kNotFound,
  kCanceled,
  kOutOfMemory,
  kNoSpace,
  kIo,
  kUnsupported,
  kInternal
};

constexpr const char* to_string(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
      return "invalid_argument";
    case ErrorCode::kInvalidFile:
      return "invalid_file";
    case ErrorCode::kNotFound:
      return "not_found";
    case ErrorCode::kCanceled:
      return "canceled";
    case ErrorCode::kOutOfMemory:
      return "out_of_memory";
    case ErrorCode::kNoSpace:
      return "no_space";
    case ErrorCode::kIo:
      return "io";
    case ErrorCode::kUnsupported:
      return "unsupported";
    case ErrorCode::kInternal:
      return "internal";
  }
  return "internal";
}

/// The only exception type of the native core. The message is shown to users: it gives the value, the rule and a
/// remedy.
class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& what) : std::runtime_error(what), code_(code) {}
  ErrorCode code() const { return code_; }

 private:
  ErrorCode code_;
};

inline void require(bool ok, const char* what) {
  if (!ok) throw Error(ErrorCode::kInvalidArgument, what);
}

}  // namespace pc
