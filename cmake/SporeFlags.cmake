# SPDX-License-Identifier: Apache-2.0
# Compiler flags of everything we compile, as the target spore_flags; instruction sets per file; spore_add_test.

set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_C_FLAGS_RELEASE "-O3 -g1")

if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
    set(SPORE_X86 ON)
    set(SPORE_ISA "all" CACHE STRING "Instructions of x86-64: all, portable, avx2 or avx512") # cmake/SporeParts.cmake
    if(SPORE_ISA STREQUAL "portable")
        set(SPORE_X86 OFF)
    endif()
else()
    set(SPORE_X86 OFF)
endif()

add_library(spore_flags INTERFACE)
# No -ffast-math, no contraction: a result must not depend on what the compiler chose to fuse or reorder.
target_compile_options(spore_flags INTERFACE -fwrapv -fno-math-errno -ffp-contract=off -fno-semantic-interposition
    -Wall -Wextra $<$<NOT:$<BOOL:$<TARGET_PROPERTY:SPORE_NOT_PEDANTIC>>>:-Wpedantic> -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition -Wundef
    -Wpointer-arith -Wformat=2 -Wvla $<$<BOOL:${SPORE_WERROR}>:-Werror>)
target_compile_definitions(spore_flags INTERFACE SP_HAVE_X86=$<BOOL:${SPORE_X86}>)
target_link_options(spore_flags INTERFACE LINKER:--as-needed)

# What is ours inside may use POSIX and glibc; what a user could write (tools, examples) asks for it itself. Defined empty,
# so that a file's own plain #define of it agrees.
add_library(spore_internal INTERFACE)
# Files of more than 2 GB, and folders whose entries have long numbers, where `long` has 32 bits.
target_compile_definitions(spore_internal INTERFACE _GNU_SOURCE= _FILE_OFFSET_BITS=64)
target_link_libraries(spore_internal INTERFACE spore_flags)

# The engine's own code. Callers' threads have stacks of 64 KB and less: no frame may be large (base/scratch.h is for what is), and one that
# grows touches every page. Sanitizers make frames of their own size.
set(SPORE_FRAME_BYTES 8192)
add_library(spore_engine_flags INTERFACE)
target_compile_options(spore_engine_flags INTERFACE -fstack-clash-protection)
if(NOT SPORE_SANITIZE)
    target_compile_options(spore_engine_flags INTERFACE -Wframe-larger-than=${SPORE_FRAME_BYTES})
endif()
target_link_libraries(spore_engine_flags INTERFACE spore_internal)

set(SPORE_LINK_SHARED LINKER:-z,nodelete LINKER:-Bsymbolic-functions LINKER:--as-needed)
if(SPORE_SANITIZE)
    string(REPLACE ";" "," sanitizers "${SPORE_SANITIZE}")
    # Last -O wins; -O1 keeps stack traces readable and the tests bearable.
    set(SPORE_SANITIZE_FLAGS -fsanitize=${sanitizers} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    set(CMAKE_C_FLAGS_RELEASE "-O1 -g")
    # Warnings that follow the flow of values find paths that only a sanitizer's checks make; the plain build has them as errors.
    target_compile_options(spore_flags INTERFACE ${SPORE_SANITIZE_FLAGS} -Wno-error)
    add_link_options(${SPORE_SANITIZE_FLAGS})
else()
    list(APPEND SPORE_LINK_SHARED LINKER:--no-undefined)
endif()
# Counted by line, see scripts/coverage. Threads share the counters.
if(SPORE_COVERAGE)
    target_compile_options(spore_flags INTERFACE --coverage -fprofile-update=atomic -Wno-error)
    add_link_options(--coverage)
    set(CMAKE_C_FLAGS_RELEASE "-O1 -g1")
endif()

# spore_instruction_sets(source...): the file's name says which instructions it may use.
function(spore_instruction_sets)
    set(avx512 -mavx512f -mavx512bw -mavx512dq -mavx512vl -mfma -mprefer-vector-width=512)
    # Frames that look for use after return are not aligned for these vectors (gcc PR 110027, mended in 13.3).
    if("address" IN_LIST SPORE_SANITIZE AND CMAKE_C_COMPILER_ID STREQUAL "GNU" AND CMAKE_C_COMPILER_VERSION VERSION_LESS 13.3)
        list(APPEND avx512 --param=asan-use-after-return=0)
    endif()
    foreach(source IN LISTS ARGN)
        if(source MATCHES "_avx2\\.c$")
            set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS "-mavx2;-mfma;-mf16c")
        elseif(source MATCHES "_avx512\\.c$")
            set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS "${avx512}")
        elseif(source MATCHES "_vnni\\.c$")
            set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS "${avx512};-mavx512vnni;-mavx512bf16")
        elseif(source MATCHES "_amx\\.c$")
            set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS
                                        "${avx512};-mavx512vnni;-mavx512bf16;-mamx-tile;-mamx-bf16;-mamx-int8")
        endif()
    endforeach()
endfunction()

# spore_add_test(name LABELS ... COMMAND ... WORKING_DIRECTORY ...): a ctest with our time limit and sanitizer options.
function(spore_add_test name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "WORKING_DIRECTORY;LABEL;TIMEOUT" "COMMAND")
    if(NOT arg_WORKING_DIRECTORY)
        set(arg_WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    endif()
    if(NOT arg_TIMEOUT)
        set(arg_TIMEOUT 600) # two minutes on a machine of its own; this is for what hangs
    endif()
    if(SPORE_SANITIZE)
        math(EXPR arg_TIMEOUT "${arg_TIMEOUT} * 5")
    endif()
    # die_after_fork: the engine works in a forked child, with threads of its own; the sanitizer would rather forbid that.
    add_test(NAME ${name} COMMAND ${arg_COMMAND} WORKING_DIRECTORY ${arg_WORKING_DIRECTORY})
    set_tests_properties(${name} PROPERTIES TIMEOUT ${arg_TIMEOUT} LABELS "${arg_LABEL}" ENVIRONMENT
        "SPORE_BUILD=${PROJECT_BINARY_DIR};ASAN_OPTIONS=detect_leaks=1:detect_stack_use_after_return=1:strict_string_checks=1;UBSAN_OPTIONS=print_stacktrace=1;TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1:die_after_fork=0")
endfunction()
