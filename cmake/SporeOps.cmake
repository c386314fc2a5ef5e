# SPDX-License-Identifier: Apache-2.0
# spore/ops_attrs.h and spore/ops_typed.h (in the build folder's include/), and the bodies of the latter, from the operators' entries. They are read behind
# the preprocessor of the compiler in use; nothing is run but Python, so this works for other machines as well. Files that stay the same are not
# written, and nothing is compiled for them.
find_package(Python 3.11 REQUIRED COMPONENTS Interpreter)
set(typed_functions ${PROJECT_BINARY_DIR}/typed_functions.c)
set(op_headers ${PROJECT_BINARY_DIR}/include/spore/ops_attrs.h ${PROJECT_BINARY_DIR}/include/spore/ops_typed.h)
file(GLOB op_entries CONFIGURE_DEPENDS src/ops/*.[ch] src/ops/ops.def src/ir/*.h src/parallel/*.[ch] src/eager/*.[ch])
add_custom_command(OUTPUT ${op_headers} ${typed_functions} ${PROJECT_BINARY_DIR}/typed_calls.h
    COMMAND ${Python_EXECUTABLE} ${PROJECT_SOURCE_DIR}/scripts/make-op-headers ${PROJECT_BINARY_DIR} ${CMAKE_C_COMPILER}
    DEPENDS scripts/make-op-headers include/spore/ops.h ${op_entries} COMMENT "Attributes and functions of operators" VERBATIM)
# Everything of ours links spore_flags: none is compiled before the headers are there.
add_custom_target(op_headers DEPENDS ${op_headers} ${typed_functions})
add_dependencies(spore_flags op_headers)
target_include_directories(spore_flags INTERFACE ${PROJECT_BINARY_DIR}/include)
# Sections: the Python module for other people's machines drops functions that nothing in it calls.
set_source_files_properties(${typed_functions} PROPERTIES COMPILE_OPTIONS -ffunction-sections)
