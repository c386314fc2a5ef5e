# SPDX-License-Identifier: Apache-2.0
# spore_page(<folder> <out>): a C file with src/<folder>/page.html in it, as sp__<folder>_page, written again when the page changes.
function(spore_page folder out)
    set(page ${PROJECT_SOURCE_DIR}/src/${folder}/page.html)
    set(name sp__${folder}_page)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${page})
    file(READ ${page} bytes HEX)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
    string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)" "\\1\n" bytes "${bytes}")
    string(CONCAT text "/* Made of src/${folder}/page.html. */\n#include <stddef.h>\nextern const unsigned char ${name}[];\nextern const size_t ${name}_bytes;\n"
        "const unsigned char ${name}[] = {\n${bytes}};\nconst size_t ${name}_bytes = sizeof ${name};\n")
    file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/${folder}_page.c CONTENT "${text}" @ONLY)
    set(${out} ${PROJECT_BINARY_DIR}/${folder}_page.c PARENT_SCOPE)
endfunction()
