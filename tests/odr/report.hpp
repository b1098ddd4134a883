// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

namespace posgeo::test {

/// What a translation unit makes of the library: numbers that every unit must agree on, and the addresses of functions
/// and objects of which a program may have one only.
struct unit_report {
  std::vector<double> numbers;
  std::vector<const void*> addresses;
};

unit_report first_unit();
unit_report second_unit();

}  // namespace posgeo::test
