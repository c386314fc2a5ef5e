# SPDX-License-Identifier: Apache-2.0
# The Python module _core.abi3.so (limited API, engine inside) and, in the build folder, a package directory
# py/spore that PYTHONPATH can name: links to every entry of python/spore, and the module.

find_package(Python 3.11 REQUIRED COMPONENTS Interpreter Development.Module)

file(GLOB core_sources CONFIGURE_DEPENDS python/core/*.c)
if(core_sources)
    set(core_map ${PROJECT_SOURCE_DIR}/cmake/core.map)
    # A MODULE of our own rather than python_add_library: the stable ABI one needs a newer CMake than we ask for.
    add_library(spore_core MODULE ${core_sources} $<TARGET_OBJECTS:spore_objects>)
    set_target_properties(spore_core PROPERTIES PREFIX "" OUTPUT_NAME _core SUFFIX .abi3.so LINK_DEPENDS ${core_map}
                                                LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/py/spore)
    target_include_directories(spore_core SYSTEM PRIVATE ${Python_INCLUDE_DIRS})
    target_include_directories(spore_core PRIVATE include src python)
    target_compile_definitions(spore_core PRIVATE Py_LIMITED_API=0x030B0000 SPORE_VERSION="${PROJECT_VERSION}")
    # A type made with the limited API holds its functions as void *, which ISO C forbids and POSIX allows.
    set_target_properties(spore_core PROPERTIES SPORE_NOT_PEDANTIC ON)
    target_link_libraries(spore_core PRIVATE spore_engine_flags ${engine_libraries})
    if(SPORE_WHEEL) # the command, and what it serves with
        target_sources(spore_core PRIVATE $<TARGET_OBJECTS:spore_command> $<TARGET_OBJECTS:spore_serve_objects>)
        target_link_libraries(spore_core PRIVATE ${serve_packages})
    endif()
    if(SPORE_WHEEL_ROOT) # scripts/make-wheel: libraries are archives, which need each other in no order
        target_sources(spore_core PRIVATE ${PROJECT_SOURCE_DIR}/cmake/old_glibc.c)
        set_source_files_properties(${PROJECT_SOURCE_DIR}/cmake/old_glibc.c PROPERTIES COMPILE_OPTIONS "-fno-builtin;-Wno-pedantic")
        foreach(name exp exp2 log log2 pow)
            target_link_options(spore_core PRIVATE LINKER:--wrap=${name})
        endforeach()
        target_link_options(spore_core PRIVATE LINKER:--gc-sections)
        set(CMAKE_C_STANDARD_LIBRARIES "-Wl,--start-group -levent_openssl -levent_core -lnghttp2 -lssl -lcrypto -lsqlite3 -ljansson -lspng -ljpeg -lwebp -lz -Wl,--end-group -lpthread -ldl -lm")
    endif()
    target_link_options(spore_core PRIVATE LINKER:-Bsymbolic-functions LINKER:--version-script=${core_map})
endif()

if(SPORE_WHEEL)
    install(TARGETS spore_core LIBRARY DESTINATION spore COMPONENT wheel)
    install(DIRECTORY ${PROJECT_SOURCE_DIR}/data/mnist DESTINATION spore COMPONENT wheel) # for the demo
    install(PROGRAMS ${PROJECT_SOURCE_DIR}/python/command.py RENAME spore DESTINATION ${SKBUILD_SCRIPTS_DIR} COMPONENT wheel)
else()
    add_custom_target(spore_package ALL
        COMMAND ${CMAKE_COMMAND} -DFROM=${PROJECT_SOURCE_DIR}/python/spore -DTO=${PROJECT_BINARY_DIR}/py/spore
                                 -DPYTHON=${Python_EXECUTABLE} -P ${PROJECT_SOURCE_DIR}/cmake/link_package.cmake
        COMMENT "Linking py/spore" VERBATIM)
endif()
