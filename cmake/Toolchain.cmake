# Compiler flags: every warning is an error; ccache and lld where they are installed; hardening in releases.
find_program(FLOWCON_CCACHE ccache)
if(FLOWCON_CCACHE)
  # Without the variable ccache leaves files with a precompiled header alone.
  set(CMAKE_CXX_COMPILER_LAUNCHER env CCACHE_SLOPPINESS=pch_defines,time_macros ${FLOWCON_CCACHE})
endif()

add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Wconversion
                    -Wno-sign-conversion -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # gcc 12 sees maybe-uninitialized and dangling values inside Boost and libstdc++ that are not there,
  # and a mismatch where it inlines only one of a coroutine frame's new and delete.
  add_compile_options(-Wno-maybe-uninitialized -Wno-restrict)
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:-Wno-mismatched-new-delete>")
endif()

if(FLOWCON_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
if(FLOWCON_SANITIZE)
  add_compile_options(-fsanitize=${FLOWCON_SANITIZE} -fno-omit-frame-pointer
                      -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${FLOWCON_SANITIZE})
elseif(NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
  add_compile_options(-fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
  add_link_options(-Wl,-z,relro,-z,now)
endif()
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
# RE2 asks it of those that use it; all alike can share what is precompiled.
add_compile_options(-pthread)
if(NOT FLOWCON_SANITIZE)
  add_link_options(-pie)
endif()
add_link_options(-Wl,--as-needed)
# Tests are many and large programs: lld links them in a fifth of the time.
find_program(FLOWCON_LLD ld.lld)
if(FLOWCON_LLD AND CMAKE_BUILD_TYPE STREQUAL "Debug")
  add_link_options(-fuse-ld=lld)
endif()
