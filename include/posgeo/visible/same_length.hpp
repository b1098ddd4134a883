// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/visible/window.hpp>

namespace posgeo::visible {

/// Transformer-XL's same_length: every query sees as many keys, those at distances 0 to mem_len - 1, once that many are
/// there. The released mask's other ends (a short memory, a short segment) are the same rule.
/// Units:  tokens.
/// Throws: errc::window_bounds for mem_len less than 1.
/// Source: Dai et al. 2019, release, MemTransformerLM._forward with same_length.
[[nodiscard]] inline window same_length(index_t mem_len) { return window::counting_own_key(mem_len); }

}  // namespace posgeo::visible
