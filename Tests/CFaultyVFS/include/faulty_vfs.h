#ifndef FAULTY_VFS_H
#define FAULTY_VFS_H

// Asked before each call that SQLite makes for a file. 0 lets the call happen; any other SQLite result code is returned
// in its place.
typedef int (*faulty_vfs_hook)(void *context, const char *call);

// Registers a way to the files that asks the hook and then does what SQLite's usual one does.
int faulty_vfs_register(const char *name, faulty_vfs_hook hook, void *context);

// Takes it back, once nothing uses it any more.
void faulty_vfs_unregister(const char *name);

#endif
