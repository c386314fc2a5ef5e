# SPDX-License-Identifier: Apache-2.0
# `make install`: headers, both libraries, files for pkg-config and CMake, the command, and the Python package in a private
# folder (lib/spore/python) that the command puts on PYTHONPATH. All of it may be moved together. What debuggers read is left out
# (of the shared files by `cmake --install --strip`), bytecode is made: the folder may not be writable for those who import from it.

install(DIRECTORY include/spore DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT spore FILES_MATCHING PATTERN "*.h")
install(FILES ${op_headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/spore COMPONENT spore)
install(TARGETS spore spore_static spore_lite EXPORT SporeTargets COMPONENT spore
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} NAMELINK_COMPONENT spore ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS spore_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT spore)
foreach(name msrun dataset-cache cache_admin converter_lite) # links
    install(FILES $<TARGET_FILE_DIR:spore_command>/${name} DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT spore)
endforeach()
# Completion, where bash, zsh and fish look for it under a prefix that they know.
install(FILES tools/completion/spore.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME spore COMPONENT spore)
install(FILES tools/completion/_spore DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions COMPONENT spore)
install(FILES tools/completion/spore.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT spore)

set(cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Spore)
install(EXPORT SporeTargets NAMESPACE Spore:: DESTINATION ${cmake_dir} COMPONENT spore)
configure_package_config_file(cmake/SporeConfig.cmake.in SporeConfig.cmake INSTALL_DESTINATION ${cmake_dir})
write_basic_package_version_file(SporeConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/SporeConfig.cmake ${PROJECT_BINARY_DIR}/SporeConfigVersion.cmake
        DESTINATION ${cmake_dir} COMPONENT spore)

# From lib/pkgconfig back to the prefix, however deep lib is (Debian: lib/x86_64-linux-gnu).
file(RELATIVE_PATH prefix_from_pc /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
string(REGEX REPLACE "/$" "" prefix_from_pc ${prefix_from_pc})
list(JOIN serve_requires " " serve_requires_private)
configure_file(cmake/spore.pc.in spore.pc @ONLY)
configure_file(cmake/spore-static.pc.in spore-static.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/spore.pc ${PROJECT_BINARY_DIR}/spore-static.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT spore)

if(TARGET spore_core)
    set(package_dir lib/spore/python)
    install(DIRECTORY python/spore DESTINATION ${package_dir} COMPONENT spore PATTERN "__pycache__" EXCLUDE)
    install(TARGETS spore_core LIBRARY DESTINATION ${package_dir}/spore COMPONENT spore)
    # The interpreter behind the virtual environment, for that one goes away with the build folder.
    execute_process(COMMAND ${Python_EXECUTABLE} -c "import sys; print(sys._base_executable)"
                    OUTPUT_VARIABLE base_interpreter OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
    file(CONFIGURE OUTPUT interpreter CONTENT "${base_interpreter}\n")
    install(FILES ${PROJECT_BINARY_DIR}/interpreter DESTINATION ${package_dir} COMPONENT spore)
    install(CODE "execute_process(COMMAND ${base_interpreter} -m compileall -q -s \"\$ENV{DESTDIR}\" -p / \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${package_dir}\")"
            COMPONENT spore)
endif()
install(CODE "if(CMAKE_INSTALL_DO_STRIP)
    execute_process(COMMAND ${CMAKE_STRIP} --strip-debug \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/libspore.a\")
endif()" COMPONENT spore)
