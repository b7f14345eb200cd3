# Libraries, all from Debian's packages. docs/dependencies.md says why each is there.
find_package(Threads REQUIRED)
find_package(Boost 1.81 REQUIRED COMPONENTS json)
find_package(ZLIB REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(libcgroup REQUIRED IMPORTED_TARGET libcgroup)
pkg_check_modules(libsystemd REQUIRED IMPORTED_TARGET libsystemd)
pkg_check_modules(re2 REQUIRED IMPORTED_TARGET re2)
pkg_check_modules(sqlite3 REQUIRED IMPORTED_TARGET sqlite3)
pkg_check_modules(libcrypto REQUIRED IMPORTED_TARGET libcrypto>=3.0)
pkg_check_modules(ncursesw REQUIRED ncursesw)
find_path(CLI11_INCLUDE CLI/CLI.hpp REQUIRED)
find_path(DLIB_INCLUDE dlib/random_forest.h REQUIRED)

# Boost.System is header-only; Asio without its deprecated names.
add_library(flowcon_boost INTERFACE)
target_link_libraries(flowcon_boost INTERFACE Boost::headers Boost::json)
target_compile_definitions(flowcon_boost INTERFACE BOOST_ASIO_NO_DEPRECATED)
add_library(flowcon_asio INTERFACE)
target_link_libraries(flowcon_asio INTERFACE flowcon_boost Threads::Threads)

# Without the definitions that its pkg-config file has for everything that links it.
add_library(flowcon_ncurses INTERFACE)
target_include_directories(flowcon_ncurses SYSTEM INTERFACE ${ncursesw_INCLUDE_DIRS})
target_link_libraries(flowcon_ncurses INTERFACE ${ncursesw_LINK_LIBRARIES})
