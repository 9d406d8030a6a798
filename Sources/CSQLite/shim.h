#include <sqlite3.h>

// sqlite3_db_config takes variable arguments, which Swift cannot call. Sets one of its switches.
static inline int csqlite_set_switch(sqlite3 *connection, int name, int isOn) {
    return sqlite3_db_config(connection, name, isOn, (int *)0);
}
