// SPDX-License-Identifier: MIT
#include <posgeo/content/deberta.hpp>

using namespace posgeo::content;

// The set without a term is an attention without the policy.
#ifdef POSGEO_SHOULD_FAIL
const deberta_terms terms{};
#else
const deberta_terms terms = deberta_terms::both(p2c_index::released_code);
#endif
