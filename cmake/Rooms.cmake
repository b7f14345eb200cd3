# flowcon_precompile(TARGET KIND): cmake/pch/KIND.h is compiled once, for the first target that asks for it.
function(flowcon_precompile name kind)
  if(NOT FLOWCON_PCH)
    return()
  endif()
  get_property(first GLOBAL PROPERTY flowcon_pch_${kind})
  if(first)
    target_precompile_headers(${name} REUSE_FROM ${first})
  else()
    target_precompile_headers(${name} PRIVATE ${CMAKE_SOURCE_DIR}/cmake/pch/${kind}.h)
    set_property(GLOBAL PROPERTY flowcon_pch_${kind} ${name})
  endif()
endfunction()

# A room is one static library. Headers are included by their path from the top: "ctrl/model.h". PCH: what is
# precompiled for it.
function(flowcon_room name)
  cmake_parse_arguments(ARG "" "PCH" "SOURCES;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_include_directories(${name} PUBLIC ${CMAKE_SOURCE_DIR})
  target_link_libraries(${name} PUBLIC ${ARG_LINK})
  if(ARG_PCH)
    flowcon_precompile(${name} ${ARG_PCH})
  endif()
endfunction()

# Purity by build: the pure rooms are compiled with a folder in front of the system's headers, in
# which every header of the outside world is an #error. A forbidden include does not compile.
# (Standard headers that touch the world, such as <fstream>, are found by scripts/check.)
function(flowcon_make_pure name)
  set(fence ${CMAKE_BINARY_DIR}/pure-fence)
  file(GLOB asio RELATIVE ${Boost_INCLUDE_DIRS} ${Boost_INCLUDE_DIRS}/boost/asio/*.hpp
       ${Boost_INCLUDE_DIRS}/boost/beast/*.hpp ${Boost_INCLUDE_DIRS}/boost/process/*.hpp)
  foreach(header ${asio} boost/asio.hpp boost/beast.hpp boost/process.hpp libcgroup.h sqlite3.h
          systemd/sd-bus.h systemd/sd-daemon.h systemd/sd-journal.h)
    file(WRITE ${fence}/${header}.tmp "#error \"${header} may not be included in a pure room\"\n")
    file(COPY_FILE ${fence}/${header}.tmp ${fence}/${header} ONLY_IF_DIFFERENT)
    file(REMOVE ${fence}/${header}.tmp)
  endforeach()
  target_include_directories(${name} BEFORE PRIVATE ${fence})
endfunction()
