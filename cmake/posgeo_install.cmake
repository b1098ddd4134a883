# SPDX-License-Identifier: MIT
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(package_dir ${CMAKE_INSTALL_DATADIR}/cmake/posgeo)
install(TARGETS posgeo EXPORT posgeo-targets FILE_SET HEADERS)
install(EXPORT posgeo-targets NAMESPACE posgeo:: DESTINATION ${package_dir} FILE posgeoTargets.cmake)
if(TARGET posgeo_json)
  install(TARGETS posgeo_json EXPORT posgeo-json-targets FILE_SET HEADERS)
  install(EXPORT posgeo-json-targets NAMESPACE posgeo:: DESTINATION ${package_dir} FILE posgeoJsonTargets.cmake)
endif()
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/posgeoConfig.cmake.in posgeoConfig.cmake
                              INSTALL_DESTINATION ${package_dir})
# Header-only, so any pointer size will do; before 1.0 a minor version may break.
write_basic_package_version_file(posgeoConfigVersion.cmake COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/posgeoConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/posgeoConfigVersion.cmake
        DESTINATION ${package_dir})
