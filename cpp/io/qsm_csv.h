#pragma once
#include <string>

#include "core/op_context.h"
#include "core/qsm_rows.h"

namespace pc::io {

/// Reads a table of cylinders, one per row, from a text file.
///
/// Columns    found by name, of which only letters and digits count, in any case; the first name that the file has wins,
///            other columns are ignored: id (cylinderid, cylid), parentid (parent), branchorder (order, rank), startx
///            (startxm, x1) and y, z, endx (endxm, x2) and y, z, radius (radiusm, rad); optional: segmentid (segment),
///            else branchid (branch) = shoot, parentsegmentid (parentsegment), surfacecoverage (surfcov),
///            meanabsdeviation (meandeviation, mad).
/// TreeQSM    A table without id whose columns are start1..3, axis1..3, length, parent, branchorder and radius: cylinders
///            are numbered by row from 1, parent 0 is none, the end is start + length * axis.
/// Cells      separated by comma, semicolon or tab, whichever is most frequent in the header; may be quoted. Decimal
///            point; whole numbers may be written 3.0. Empty optional cells, and nan in the last two columns, are unknown.
///            Blank rows are skipped; a byte order mark is too.
/// Order      File order, which is base to tip.
/// Cost       O(file) time on one thread; the text and 130 bytes a row.
/// Cancel     Within 50 ms.
/// Errors     kNotFound; kInvalidFile for a file without rows or without a required column, and for a cell that is no
///            number, no whole number, empty, or out of range (radius and coordinates beyond 1e9 m, radius not above 0,
///            coverage outside 0..1): the message names row and column. Rows count from 1, header and blank rows too.
/// Source     Columns: the exports of QSM programs; Raumonen et al. 2013, Remote Sensing 5(2), 491-520 (TreeQSM).
QsmRows read_qsm_csv(const std::string& path, OpContext& ctx);

/// Memory of read_qsm_csv and of the model made of its rows, bytes.
std::uint64_t qsm_csv_bytes(std::uint64_t file_bytes);

}  // namespace pc::io
