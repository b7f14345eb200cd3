# flowcon_embed(OUTPUT namespace NAME=FILE...): a C++ file in which each FILE is a string_view NAME.
# It is made again when a file changes.
function(flowcon_embed output namespace)
  set(text "// Made by cmake/Embed.cmake.\n#include <string_view>\n\nnamespace ${namespace} {\n")
  foreach(entry ${ARGN})
    string(REGEX MATCH "^([^=]+)=(.+)$" matched "${entry}")
    set(name ${CMAKE_MATCH_1})
    set(file ${CMAKE_MATCH_2})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    file(READ ${file} bytes HEX)
    string(REGEX REPLACE "(................................)" "\\1\n" bytes "${bytes}")
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${bytes}")
    string(APPEND text "static constexpr char ${name}_bytes[] = {\n${bytes}};\n"
                       "extern const std::string_view ${name};\n"
                       "const std::string_view ${name}{${name}_bytes, sizeof ${name}_bytes};\n")
  endforeach()
  string(APPEND text "}  // namespace ${namespace}\n")
  file(CONFIGURE OUTPUT ${output} CONTENT "${text}" @ONLY)
endfunction()
