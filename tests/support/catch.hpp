// SPDX-License-Identifier: MIT
#pragma once

// Catch2 2.13 and 3 alike.
#if __has_include(<catch2/catch_test_macros.hpp>)
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#else
#include <catch2/catch.hpp>
#endif

namespace posgeo::test {
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;
}  // namespace posgeo::test
