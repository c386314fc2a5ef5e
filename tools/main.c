/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - where the command `spore` begins. In a wheel it is inside the Python module instead: python/core/py_command.c. */
#include "tools.h"

int main(int argc, char **argv) { return tool_main(argc, argv, NULL); }
