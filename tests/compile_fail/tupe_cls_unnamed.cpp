// SPDX-License-Identifier: MIT
#include <posgeo/content/tupe.hpp>

#include <vector>

using namespace posgeo;

head_tables<float> rows() { return head_tables<float>::shared({std::vector<float>{1, 2, 3, 4}, 2, 2}); }

#ifdef POSGEO_SHOULD_FAIL
const content::tupe<float> policy{{.queries = rows(), .keys = rows()}};
#else
const content::tupe<float> policy{{.queries = rows(), .keys = rows()}, content::tupe_cls::untouched()};
#endif
