# SPDX-License-Identifier: Apache-2.0
# cmake -DFROM=dir -DTO=dir -DPYTHON=file -P link_package.cmake: make TO mirror FROM by links. Runs at every build, so
# new files appear and removed ones vanish; what is right already is not touched, for somebody may be using it. The
# interpreter to use with the package is recorded beside it, where the `spore` command looks.
cmake_minimum_required(VERSION 3.25)
file(MAKE_DIRECTORY ${TO})
file(GLOB wanted RELATIVE ${FROM} ${FROM}/*)
list(REMOVE_ITEM wanted __pycache__)
file(GLOB present RELATIVE ${TO} ${TO}/*)
foreach(name IN LISTS present)
    if(IS_SYMLINK ${TO}/${name} AND NOT name IN_LIST wanted)
        file(REMOVE ${TO}/${name})
    endif()
endforeach()
foreach(name IN LISTS wanted)
    set(target "")
    if(IS_SYMLINK ${TO}/${name})
        file(READ_SYMLINK ${TO}/${name} target)
    endif()
    if(NOT target STREQUAL ${FROM}/${name})
        file(CREATE_LINK ${FROM}/${name} ${TO}/${name} SYMBOLIC)
    endif()
endforeach()
file(CONFIGURE OUTPUT ${TO}/../interpreter CONTENT "${PYTHON}\n")
