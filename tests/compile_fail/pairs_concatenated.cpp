// SPDX-License-Identifier: MIT
#include <posgeo/call/annotated_rows.hpp>

#include <vector>

using namespace posgeo;

#ifdef POSGEO_SHOULD_FAIL
using rows = annotated_rows<float, row_pairs<float>>;
#else
using rows = annotated_rows<float, row_column<float>>;
#endif

rows twice(const std::vector<rows>& parts) { return rows::concatenated(parts, row_numbers::restarted); }
