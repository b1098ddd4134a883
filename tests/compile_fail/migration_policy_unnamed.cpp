// SPDX-License-Identifier: MIT
#include <posgeo/contract/table_migration.hpp>

using namespace posgeo;
using settings = contract::migration_settings<float>;

const contract::new_rows::normal drawn{.standard_deviation = 0.02, .seed = 3};
const contract::new_moments::zeros zeros;
constexpr auto fewer = contract::shrinking::refused;

#ifdef POSGEO_SHOULD_FAIL
const settings no_rows{.max_position_embeddings = 9, .moments = zeros, .fewer = fewer};
const settings no_moments{.max_position_embeddings = 9, .rows = drawn, .fewer = fewer};
#else
const settings all{.max_position_embeddings = 9, .rows = drawn, .moments = zeros, .fewer = fewer};
#endif
