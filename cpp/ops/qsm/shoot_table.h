#pragma once
#include "core/op_context.h"
#include "core/qsm_rows.h"

namespace pc {

/// The model of a table of cylinders: its cylinders in order of the table, and their shoots.
///
/// rows      one per cylinder, base to tip
/// Shoots    A row without shoot_id gets one from the branching: in an order with parents first, the first child of its
///           parent's rank continues the parent's shoot, every other opens a new one; such ids count from 0. A shoot has
///           the rank of its first row and leaves from the parent of that row; its parent is the one that the row states,
///           else the shoot of that cylinder. A shoot that would be its own parent has none, and leaves from none.
/// Order     Shoots by their first row; a function of the rows alone.
/// Cost      O(n log n) time; 130 bytes per row.
/// Cancel    Within 250 ms for ten million rows.
/// Errors    kInvalidArgument: see cylinder_links; a shoot_id in some rows that equals one made for others; a parent shoot
///           that does not exist; shoots that form a loop. The message names the cylinder or shoot.
Qsm with_shoots(QsmRows&& rows, OpContext& ctx);

}  // namespace pc
