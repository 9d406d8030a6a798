#include <sqlite3.h>

// sqlite3_db_config takes variable arguments, which Swift cannot call. Sets one of its switches.
static inline int csqlite_set_switch(sqlite3 *connection, int name, int isOn) {
    return sqlite3_db_config(connection, name, isOn, (int *)0);
}

// Where a statement is in a list of values. SQLite asks for its own part to be the first.
typedef struct csqlite_list_cursor {
    sqlite3_vtab_cursor base;
    const void *list;
    sqlite3_int64 position;
} csqlite_list_cursor;
