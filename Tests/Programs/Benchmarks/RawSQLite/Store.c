#define _GNU_SOURCE
#include "Store.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void raw_check(raw_store *store, int code, int expected) {
    if (code == expected) return;
    fprintf(stderr, "raw SQLite: %s\n", sqlite3_errmsg(store->handle));
    exit(1);
}

void raw_run(raw_store *store, const char *sql) {
    raw_check(store, sqlite3_exec(store->handle, sql, NULL, NULL, NULL), SQLITE_OK);
}

sqlite3_stmt *raw_prepare(raw_store *store, sqlite3_stmt **statement, const char *sql) {
    if (*statement == NULL) {
        int code = sqlite3_prepare_v3(store->handle, sql, -1, SQLITE_PREPARE_PERSISTENT, statement, NULL);
        raw_check(store, code, SQLITE_OK);
    }
    return *statement;
}

void raw_step(raw_store *store, sqlite3_stmt *statement) {
    raw_check(store, sqlite3_step(statement), SQLITE_DONE);
    sqlite3_reset(statement);
}

static raw_store *open_store(const char *path, int flags) {
    raw_store *store = calloc(1, sizeof *store);
    int code = sqlite3_open_v2(
        path, &store->handle, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_EXRESCODE, NULL);
    raw_check(store, code, SQLITE_OK);
    sqlite3_busy_timeout(store->handle, 2000);
    sqlite3_db_config(store->handle, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(store->handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    return store;
}

// The log is copied at the length at which the library's writer copies it.
static void settle_writer(raw_store *store, int is_full) {
    raw_run(store, "PRAGMA mmap_size = 0; PRAGMA cell_size_check = 1; PRAGMA temp_store = 2;"
                   "PRAGMA cache_size = -16000; PRAGMA journal_size_limit = 4194304; PRAGMA journal_mode = WAL");
    raw_run(store, is_full ? "PRAGMA synchronous = 2" : "PRAGMA synchronous = 1");
    sqlite3_wal_autocheckpoint(store->handle, 16000);
}

raw_store *raw_create(const char *path, const char *schema, int is_full) {
    raw_store *store = open_store(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    settle_writer(store, 1);
    raw_run(store, "BEGIN IMMEDIATE");
    raw_run(store, schema);
    raw_run(store, "INSERT INTO _metadata (name, value) VALUES ('modelHash', '0123456789abcdef')");
    raw_run(store, "COMMIT");
    settle_writer(store, is_full);
    return store;
}

raw_store *raw_open(const char *path, int is_full) {
    raw_store *store = open_store(path, SQLITE_OPEN_READWRITE);
    settle_writer(store, is_full);
    return store;
}

raw_store *raw_open_reader(const char *path) {
    raw_store *store = open_store(path, SQLITE_OPEN_READONLY);
    raw_run(store, "PRAGMA mmap_size = 0; PRAGMA cell_size_check = 1; PRAGMA temp_store = 2;"
                   "PRAGMA query_only = 1; PRAGMA cache_size = -4000");
    return store;
}

void raw_close(raw_store *store) {
    sqlite3_finalize(store->begin);
    sqlite3_finalize(store->commit);
    sqlite3_finalize(store->insert);
    sqlite3_finalize(store->upsert);
    sqlite3_finalize(store->find);
    raw_check(store, sqlite3_close(store->handle), SQLITE_OK);
    free(store);
}

void raw_remove(const char *path, const char *directory) {
    const char *endings[] = {"", "-wal", "-shm"};
    char name[4096];
    for (int index = 0; index < 3; index++) {
        snprintf(name, sizeof name, "%s%s", path, endings[index]);
        unlink(name);
    }
    int descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) return;
    fsync(descriptor);
    close(descriptor);
}

char *raw_schema(const char *path) {
    raw_store *store = open_store(path, SQLITE_OPEN_READONLY);
    sqlite3_stmt *statement = NULL;
    raw_prepare(store, &statement,
        "SELECT group_concat(sql, ';') || ';' FROM (SELECT sql FROM sqlite_master WHERE sql NOT NULL ORDER BY type DESC)");
    raw_check(store, sqlite3_step(statement), SQLITE_ROW);
    char *schema = strdup((const char *)sqlite3_column_text(statement, 0));
    sqlite3_finalize(statement);
    raw_close(store);
    return schema;
}

int64_t raw_value(raw_store *store, const char *sql) {
    sqlite3_stmt *statement = NULL;
    raw_prepare(store, &statement, sql);
    raw_check(store, sqlite3_step(statement), SQLITE_ROW);
    int64_t value = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return value;
}

int raw_read_metadata(raw_store *store) {
    sqlite3_stmt *statement = NULL;
    raw_prepare(store, &statement, "SELECT value FROM _metadata WHERE name = 'modelHash'");
    int is_found = sqlite3_step(statement) == SQLITE_ROW && sqlite3_column_bytes(statement, 0) > 0;
    sqlite3_finalize(statement);
    return is_found;
}

const char *raw_version(void) { return sqlite3_libversion(); }
