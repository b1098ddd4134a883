// SPDX-License-Identifier: MIT
#include <posgeo/audit/card.hpp>

using namespace posgeo;
using namespace posgeo::audit;

constexpr auto kind = task_kind::retrieval;
#ifdef POSGEO_SHOULD_FAIL
const measured_quality no_task{.length = 1, .kind = kind, .placement = none, .metric = "m", .value = 0.5};
const measured_quality no_placement{.length = 1, .kind = kind, .task = "t", .metric = "m", .value = 0.5};
#else
const measured_quality whole{.length = 1, .kind = kind, .task = "t", .placement = none, .metric = "m", .value = 0.5};
#endif

const card_settings settings{.checkpoint_id = checkpoint_id("m"),
                             .first_position = 0,
                             .padding_side = padded_side::never,
                             .padding_positions = padded_count::none,
                             .packed_positions = packed_count::never_packed,
                             .cached_call_begins_at = cache_offset::no_cache,
                             .configured_length = none,
#ifndef POSGEO_SHOULD_FAIL
                             .trained_length = 64,
#endif
                             .evaluated = std::vector<measured_quality>{},
                             .resized = none,
                             .coverage = none,
                             .audit = none,
                             .not_claimed = std::vector<std::string>{}};
