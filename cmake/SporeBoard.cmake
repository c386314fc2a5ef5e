# SPDX-License-Identifier: Apache-2.0
# spore_board_page(<out>): a C file with src/board/page.html in it, written again when the page changes.
function(spore_board_page out)
    set(page ${PROJECT_SOURCE_DIR}/src/board/page.html)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${page})
    file(READ ${page} bytes HEX)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
    string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)" "\\1\n" bytes "${bytes}")
    string(CONCAT text "/* Made of src/board/page.html. */\n#include <stddef.h>\nextern const unsigned char sp__board_page[];\nextern const size_t sp__board_page_bytes;\n"
        "const unsigned char sp__board_page[] = {\n${bytes}};\nconst size_t sp__board_page_bytes = sizeof sp__board_page;\n")
    file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/board_page.c CONTENT "${text}" @ONLY)
    set(${out} ${PROJECT_BINARY_DIR}/board_page.c PARENT_SCOPE)
endfunction()
