// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/core/index.hpp>

#include <array>
#include <cstddef>

/// Five tokens, of which the second and fourth hold the same content and the last is the query, and projections.
namespace posgeo::test::lab {

inline constexpr std::size_t width = 4;
using row = std::array<double, width>;
inline constexpr std::array<row, 5> tokens{{{1.0, 0.2, 0.4, -0.1},
                                            {0.6, 0.8, -0.2, 0.3},
                                            {0.1, 0.7, 0.5, -0.4},
                                            {0.6, 0.8, -0.2, 0.3},
                                            {0.3, -0.1, 0.9, 0.7}}};
inline constexpr std::array<index_t, 5> base_positions{0, 1, 3, 4, 6};
using matrix = std::array<row, width>;
inline constexpr matrix query_weights{
    {{0.7, -0.2, 0.1, 0.3}, {0.1, 0.8, -0.4, 0.2}, {-0.3, 0.2, 0.9, 0.1}, {0.2, 0.1, 0.3, 0.7}}};
inline constexpr matrix key_weights{
    {{0.6, 0.1, -0.2, 0.4}, {-0.2, 0.7, 0.3, 0.1}, {0.2, -0.3, 0.8, 0.2}, {0.4, 0.2, 0.1, 0.6}}};

}  // namespace posgeo::test::lab
