#include <sqlite3.h>

// Sets a switch of sqlite3_db_config, which takes variable arguments, so that Swift cannot call it.
static inline int csqlite_set_switch(sqlite3 *connection, int name, int isOn) {
    return sqlite3_db_config(connection, name, isOn, (int *)0);
}

#ifdef __linux__
#include <sys/vfs.h>

// The type of a folder's file system, with the numbers of linux/magic.h; 0 if the type is unknown.
static inline unsigned int csqlite_file_system(const char *path) {
    struct statfs system;
    return statfs(path, &system) == 0 ? (unsigned int)system.f_type : 0;
}
#endif

// A statement's position in a list of values. SQLite requires that its own struct comes first.
typedef struct csqlite_list_cursor {
    sqlite3_vtab_cursor base;
    const void *list;
    sqlite3_int64 position;
} csqlite_list_cursor;
