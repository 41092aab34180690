#pragma once
#include <cstdint>
#include <optional>

#include "core/column.h"
#include "core/op_context.h"
#include "io/archive/zcol.h"

namespace pc::io {

/// The array in a member of NumPy's format, version 1: magic `\x93NUMPY`, bytes 1 and 0, u16 length of a header that is a
/// Python dictionary of `descr`, `fortran_order` and `shape`, then the values in C order.
///
/// rows     How many the array must have; nothing = any number. An array without axes is one row.
/// Order    Values exactly as stored.
/// Cost     One pass; memory: the column.
/// Cancel   Within 8 MiB.
/// Errors   kInvalidFile: another version, Fortran order, a type other than those of a column file (column_dtype: no
///          objects, so nothing is ever unpickled), a length or CRC-32 that differs.
/// Source   NEP 1, numpy.lib.format.
AnyColumn read_npy(const MemberRange& member, std::optional<std::uint64_t> rows, OpContext& ctx);

}  // namespace pc::io
