#include <sqlite3.h>

// sqlite3_db_config takes variable arguments, which Swift cannot call. Sets one of its switches.
static inline int csqlite_set_switch(sqlite3 *connection, int name, int isOn) {
    return sqlite3_db_config(connection, name, isOn, (int *)0);
}

#ifdef __linux__
#include <sys/vfs.h>

// The kind of file system that a folder is on, as linux/magic.h numbers them; 0 if unknown.
static inline unsigned int csqlite_file_system(const char *path) {
    struct statfs system;
    return statfs(path, &system) == 0 ? (unsigned int)system.f_type : 0;
}
#endif

// Where a statement is in a list of values. SQLite asks for its own part to be the first.
typedef struct csqlite_list_cursor {
    sqlite3_vtab_cursor base;
    const void *list;
    sqlite3_int64 position;
} csqlite_list_cursor;
