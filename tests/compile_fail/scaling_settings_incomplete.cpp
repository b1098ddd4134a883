// SPDX-License-Identifier: MIT
#include <posgeo/frequency/dynamic_ntk.hpp>
#include <posgeo/frequency/linear_interpolated.hpp>
#include <posgeo/frequency/llama3.hpp>
#include <posgeo/frequency/longrope.hpp>
#include <posgeo/frequency/ntk_aware.hpp>
#include <posgeo/frequency/yarn.hpp>

using namespace posgeo::frequency;

#ifdef POSGEO_SHOULD_FAIL
const linear_interpolated_settings linear_factor{.base = 1e4, .rotary_dim = 8};
const ntk_aware_settings ntk_factor{.base = 1e4, .rotary_dim = 8};
const dynamic_ntk_settings dynamic_length{.base = 1e4, .rotary_dim = 8, .factor = 2.0, .original_max_position = 64};
const llama3_settings llama3_edge{.base = 1e4, .rotary_dim = 8, .factor = 8.0, .original_max_position = 64};
const longrope_settings longrope_length{.base = 1e4, .rotary_dim = 8, .original_max_position = 64, .max_position = 96};
const yarn_settings yarn_ramp_rule{.base = 1e4, .rotary_dim = 8, .factor = 4.0, .original_max_position = 64};
#else
const linear_interpolated_settings linear{.base = 1e4, .rotary_dim = 8, .factor = 2.0};
const ntk_aware_settings ntk{.base = 1e4, .rotary_dim = 8, .factor = 2.0};
const dynamic_ntk_settings dynamic{
    .base = 1e4, .rotary_dim = 8, .factor = 2.0, .original_max_position = 64, .sequence_length = 96};
const llama3_settings llama3_edges{.base = 1e4,
                                   .rotary_dim = 8,
                                   .factor = 8.0,
                                   .low_freq_factor = 1.0,
                                   .high_freq_factor = 4.0,
                                   .original_max_position = 64};
const longrope_settings longrope_lengths{
    .base = 1e4, .rotary_dim = 8, .original_max_position = 64, .max_position = 96, .sequence_length = 96};
const yarn_settings yarn{
    .base = 1e4, .rotary_dim = 8, .factor = 4.0, .original_max_position = 64, .ramp = yarn_ramp::pair_index};
#endif
