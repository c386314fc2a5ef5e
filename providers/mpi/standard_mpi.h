/* SPDX-License-Identifier: Apache-2.0 */
/* standard_mpi.h - what mpi_transport.c needs of the binary interface that MPI 5.0 defines for all implementations (its chapter 20): handles
 * are addresses of nothing, with these numbers. Their library is libmpi_abi.so. */
#ifndef SPORE_STANDARD_MPI_H
#define SPORE_STANDARD_MPI_H

typedef struct MPI_ABI_Comm *MPI_Comm;
typedef struct MPI_ABI_Group *MPI_Group;
typedef struct MPI_ABI_Request *MPI_Request;
typedef struct MPI_ABI_Datatype *MPI_Datatype;
typedef struct MPI_ABI_Errhandler *MPI_Errhandler;
typedef struct MPI_Status MPI_Status; /* never looked into */

#define MPI_SUCCESS 0
#define MPI_THREAD_SERIALIZED 2048
#define MPI_MAX_ERROR_STRING 512
#define MPI_MAX_LIBRARY_VERSION_STRING 8192
#define MPI_COMM_WORLD ((MPI_Comm)0x101)
#define MPI_ERRORS_RETURN ((MPI_Errhandler)0x143)
#define MPI_BYTE ((MPI_Datatype)0x247)
#define MPI_STATUS_IGNORE ((MPI_Status *)0)

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided);
int MPI_Initialized(int *flag);
int MPI_Query_thread(int *provided);
int MPI_Finalize(void);
int MPI_Finalized(int *flag);
int MPI_Abort(MPI_Comm comm, int code);
int MPI_Error_string(int code, char *text, int *length);
int MPI_Get_library_version(char *text, int *length);
int MPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler handler);
int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *out);
int MPI_Comm_rank(MPI_Comm comm, int *rank);
int MPI_Comm_size(MPI_Comm comm, int *size);
int MPI_Comm_group(MPI_Comm comm, MPI_Group *out);
int MPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *out);
int MPI_Comm_free(MPI_Comm *comm);
int MPI_Group_incl(MPI_Group group, int n, const int *ranks, MPI_Group *out);
int MPI_Group_free(MPI_Group *group);
int MPI_Isend(const void *data, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request);
int MPI_Irecv(void *data, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request *request);
int MPI_Ibcast(void *data, int n, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request *request);
int MPI_Iallgather(const void *in, int n, MPI_Datatype type, void *out, int n_out, MPI_Datatype type_out, MPI_Comm comm,
                   MPI_Request *request);
int MPI_Ialltoall(const void *in, int n, MPI_Datatype type, void *out, int n_out, MPI_Datatype type_out, MPI_Comm comm,
                  MPI_Request *request);
int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status);

#endif
