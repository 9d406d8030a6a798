// The contact workloads on a PostgreSQL server, in plain libpq calls: what an app would write by hand if it did without the
// library. The tables are those of a store that the library has made. Each transaction also notes what it has changed in the
// feed, as the library's do: others have to follow it.
#ifndef RAW_POSTGRESQL_H
#define RAW_POSTGRESQL_H

#include "RawSQLite.h"

typedef struct raw_server raw_server;

// Connects. Every function that can fail ends the process with the server's message.
raw_server *raw_server_open(const char *connection, const char *schema, int is_durable);
void raw_server_close(raw_server *server);

// From now on rows are sent as arrays to unnest, instead of by COPY.
void raw_server_use_arrays(raw_server *server);

// Inserts those elements of the list in one transaction; keys are positions plus 1.
void raw_server_insert(raw_server *server, const raw_list *list, size_t first, size_t end);
// Inserts one element in a transaction of its own, all of it sent at once.
void raw_server_insert_one(raw_server *server, const raw_list *list, size_t index);
// Makes the stored contacts equal to those of the list: rows into a temporary table, one UPDATE of what differs, one INSERT of
// what is missing. Returns how many rows it wrote.
int64_t raw_server_sync(raw_server *server, const raw_list *list);
// The first column of the first row. %s in the SQL stands for the table.
int64_t raw_server_value(raw_server *server, const char *sql);

#endif
