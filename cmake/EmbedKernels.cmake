# SPDX-License-Identifier: Apache-2.0
# Writes OUT, a C file with the text of the kernels FILES (providers/opencl/kernels/*.cl) as arrays, and the list ocl_sources of them.
set(text "#include \"opencl.h\"\n")
set(list "")
foreach(file IN LISTS FILES)
    get_filename_component(name ${file} NAME_WE)
    file(READ ${file} bytes HEX)
    string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
    string(APPEND text "static const char text_${name}[] = {${bytes}0};\n")
    string(APPEND list "    {\"${name}\", text_${name}},\n")
endforeach()
file(WRITE ${OUT} "${text}const ocl_source ocl_sources[] = {\n${list}    {NULL, NULL},\n};\n")
