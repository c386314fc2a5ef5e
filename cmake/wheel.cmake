# SPDX-License-Identifier: Apache-2.0
# Toolchain of scripts/make-wheel: this machine's compiler, or the cross compiler of SPORE_WHEEL_ARCH, against the glibc of an older Debian and static
# libraries, so that the module runs on other people's machines. SPORE_WHEEL_ROOT holds both: sysroot/ and prefix/.
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES SPORE_WHEEL_ROOT SPORE_WHEEL_ARCH)
set(triplet ${SPORE_WHEEL_ARCH}-linux-gnu)
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${SPORE_WHEEL_ARCH})
set(CMAKE_C_COMPILER ${triplet}-gcc)
set(CMAKE_LIBRARY_ARCHITECTURE ${triplet})
set(CMAKE_SYSROOT ${SPORE_WHEEL_ROOT}/sysroot)
set(CMAKE_FIND_ROOT_PATH ${SPORE_WHEEL_ROOT}/prefix)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
foreach(kind LIBRARY INCLUDE PACKAGE)
    set(CMAKE_FIND_ROOT_PATH_MODE_${kind} ONLY)
endforeach()
set(ENV{PKG_CONFIG_LIBDIR} ${SPORE_WHEEL_ROOT}/prefix/lib/pkgconfig)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

set(CMAKE_C_FLAGS_INIT "-isystem ${SPORE_WHEEL_ROOT}/prefix/include")
# The compiler would look into this machine's folders before those of the sysroot.
set(searched "-L${SPORE_WHEEL_ROOT}/prefix/lib -L${CMAKE_SYSROOT}/lib/${triplet} -L${CMAKE_SYSROOT}/usr/lib/${triplet}")
if(NOT CMAKE_HOST_SYSTEM_PROCESSOR STREQUAL SPORE_WHEEL_ARCH)
    # Debian's cross compilers look into /usr/<triplet> first, sysroot or not.
    execute_process(COMMAND ${CMAKE_C_COMPILER} -print-file-name=include OUTPUT_VARIABLE own OUTPUT_STRIP_TRAILING_WHITESPACE)
    string(APPEND CMAKE_C_FLAGS_INIT " -nostdinc -isystem ${own} -isystem ${CMAKE_SYSROOT}/usr/include/${triplet} -isystem ${CMAKE_SYSROOT}/usr/include")
endif()
set(CMAKE_EXE_LINKER_FLAGS_INIT "${searched}")
# Debian's archives are compiled for programs: names that stay inside may be reached as they reach them.
set(CMAKE_SHARED_LINKER_FLAGS_INIT "${searched} -Wl,--exclude-libs,ALL")
set(CMAKE_MODULE_LINKER_FLAGS_INIT "${searched} -Wl,--exclude-libs,ALL")
