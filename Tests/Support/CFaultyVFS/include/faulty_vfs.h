#ifndef FAULTY_VFS_H
#define FAULTY_VFS_H

// Asked before each call that SQLite makes for a file. 0 lets the call happen; any other SQLite result code is returned
// in its place.
typedef int (*faulty_vfs_hook)(void *context, const char *call);

// Told after each call that changed a file and succeeded: "create", "write", "truncate" (the offset is the new size), "sync"
// and "delete"; and "failedSync" when the hook let a sync fail.
typedef void (*faulty_vfs_log)(
    void *context, const char *call, const char *path, const void *bytes, long long count, long long offset);

// Registers a way to the files that asks the hook, does what SQLite's usual one does, and writes to the log, if there is one.
int faulty_vfs_register(const char *name, faulty_vfs_hook hook, faulty_vfs_log log, void *context);

// Takes it back, once nothing uses it any more.
void faulty_vfs_unregister(const char *name);

#endif
