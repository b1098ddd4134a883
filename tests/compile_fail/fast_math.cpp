// SPDX-License-Identifier: MIT
#include <posgeo/core/index.hpp>
