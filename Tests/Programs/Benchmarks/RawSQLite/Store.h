#ifndef RAW_STORE_H
#define RAW_STORE_H

#include "RawSQLite.h"
#include <sqlite3.h>

struct raw_store {
    sqlite3 *handle;
    sqlite3_stmt *begin, *commit, *insert, *upsert, *find;
    int64_t rows_written;
};

struct raw_list {
    raw_contact *contacts;
    size_t count, capacity;
};

// Ends the process with SQLite's message unless the code is the expected one.
void raw_check(raw_store *store, int code, int expected);
// Prepares a statement unless it was.
sqlite3_stmt *raw_prepare(raw_store *store, sqlite3_stmt **statement, const char *sql);
void raw_step(raw_store *store, sqlite3_stmt *statement);

#endif
