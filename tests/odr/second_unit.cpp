// SPDX-License-Identifier: MIT
#include "odr/everything.hpp"

namespace posgeo::test {

unit_report second_unit() { return run_everything(); }

}  // namespace posgeo::test
