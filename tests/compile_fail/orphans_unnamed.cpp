// SPDX-License-Identifier: MIT
#include <posgeo/call/annotated_rows.hpp>

using namespace posgeo;
using trace = annotated_rows<float, row_column<event>>;

trace first_row(const trace& whole) {
#ifdef POSGEO_SHOULD_FAIL
  return whole.chunk(0, 1, row_numbers::kept);
#else
  return whole.chunk(0, 1, row_numbers::kept, orphans::refused);
#endif
}
