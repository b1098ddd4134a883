# SPDX-License-Identifier: MIT
# The component json: manifests as JSON texts.
posgeo_require_nlohmann_json()
posgeo_require_xxhash()

add_library(posgeo_json INTERFACE)
add_library(posgeo::json ALIAS posgeo_json)
set_target_properties(posgeo_json PROPERTIES EXPORT_NAME json)
file(GLOB posgeo_json_headers CONFIGURE_DEPENDS include/posgeo/json/*.hpp)
target_sources(posgeo_json INTERFACE FILE_SET HEADERS BASE_DIRS include FILES ${posgeo_json_headers})
target_link_libraries(posgeo_json INTERFACE posgeo::posgeo nlohmann_json::nlohmann_json posgeo::xxhash)
