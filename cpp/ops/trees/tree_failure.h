#pragma once
#include <exception>
#include <new>
#include <string>

#include "core/error.h"

namespace pc {

/// Runs the work on one of many trees; the reason of its failure, a sentence part for the user, or nothing. Only a cancel
/// ends the whole list.
template <class Work>
std::string reason_of_failure(Work&& work) {
  try {
    work();
    return {};
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kCanceled) throw;
    return error.what();
  } catch (const std::bad_alloc&) {
    return "its points do not fit in the free memory";
  } catch (const std::exception& error) {
    return std::string("it could not be measured (") + error.what() + ")";
  } catch (...) {
    return "it could not be measured";
  }
}

}  // namespace pc
