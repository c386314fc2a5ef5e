# SPDX-License-Identifier: Apache-2.0
# Cross-building for arm64 on Debian: cmake -DCMAKE_TOOLCHAIN_FILE=cmake/arm64.cmake -DARM64_ROOT=folder ...
# ARM64_ROOT holds the libraries of that machine: their arm64 packages, unpacked there with dpkg -x. docs/guides/c.md has the commands.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)

list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES ARM64_ROOT)
set(CMAKE_FIND_ROOT_PATH ${ARM64_ROOT} /usr/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
foreach(kind LIBRARY INCLUDE PACKAGE)
    set(CMAKE_FIND_ROOT_PATH_MODE_${kind} ONLY)
endforeach()
set(ENV{PKG_CONFIG_LIBDIR} ${ARM64_ROOT}/usr/lib/aarch64-linux-gnu/pkgconfig)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${ARM64_ROOT})

# Libraries that are named as the linker knows them (the image codecs), and those that libraries need in turn.
set(CMAKE_C_FLAGS_INIT "-isystem ${ARM64_ROOT}/usr/include -isystem ${ARM64_ROOT}/usr/include/aarch64-linux-gnu")
set(libraries ${ARM64_ROOT}/usr/lib/aarch64-linux-gnu ${ARM64_ROOT}/lib/aarch64-linux-gnu)
list(TRANSFORM libraries PREPEND "-L" OUTPUT_VARIABLE searched)
list(TRANSFORM libraries PREPEND "-Wl,-rpath-link," OUTPUT_VARIABLE needed)
list(JOIN searched " " searched)
list(JOIN needed " " needed)
set(CMAKE_EXE_LINKER_FLAGS_INIT "${searched} ${needed}")
set(CMAKE_SHARED_LINKER_FLAGS_INIT "${searched} ${needed}")
