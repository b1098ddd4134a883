// SPDX-License-Identifier: MIT
#pragma once

// The only macros users see. The build reads the version from here.
#define POSGEO_VERSION_MAJOR 0
#define POSGEO_VERSION_MINOR 4
#define POSGEO_VERSION_PATCH 0
