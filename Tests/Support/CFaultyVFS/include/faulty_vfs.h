#ifndef FAULTY_VFS_H
#define FAULTY_VFS_H

// Called before each call of SQLite for a file. If it returns 0, the call is made; otherwise the call returns the result code.
typedef int (*faulty_vfs_hook)(void *context, const char *call);

// Called after each successful call that changed a file: "create", "write", "truncate" (the offset is the new size), "sync" and
// "delete". Called with "failedSync" after the hook has refused a sync.
typedef void (*faulty_vfs_log)(
    void *context, const char *call, const char *path, const void *bytes, long long count, long long offset);

// Registers a VFS that calls the hook, then the usual VFS, then the log if there is one.
int faulty_vfs_register(const char *name, faulty_vfs_hook hook, faulty_vfs_log log, void *context);

// Unregisters the VFS. Nothing may use it any more.
void faulty_vfs_unregister(const char *name);

#endif
