#include "faulty_vfs.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    faulty_vfs_hook hook;
    faulty_vfs_log log;
    void *context;
    sqlite3_vfs *base;
} Way;

// In memory, a file of this VFS is followed by the file of the usual VFS.
typedef struct {
    sqlite3_file file;
    Way *way;
    // SQLite keeps the string as long as the file is open.
    const char *path;
} File;

static sqlite3_file *base(sqlite3_file *file) { return (sqlite3_file *)((File *)file + 1); }

#define ASK(way, call)                                                  \
    do {                                                                \
        int code = (way)->hook((way)->context, call);                   \
        if (code != SQLITE_OK) return code;                             \
    } while (0)
#define ASK_FILE(call) ASK(((File *)file)->way, call)
#define METHODS (base(file)->pMethods)

static int log_call(
    Way *way, int code, const char *call, const char *path, const void *bytes, sqlite3_int64 count,
    sqlite3_int64 offset) {
    if (code == SQLITE_OK && way->log && path) way->log(way->context, call, path, bytes, count, offset);
    return code;
}

static int log_file(
    sqlite3_file *file, int code, const char *call, const void *bytes, sqlite3_int64 count, sqlite3_int64 offset) {
    return log_call(((File *)file)->way, code, call, ((File *)file)->path, bytes, count, offset);
}

// MARK: Files

static int file_close(sqlite3_file *file) { return METHODS ? METHODS->xClose(base(file)) : SQLITE_OK; }

static int file_read(sqlite3_file *file, void *bytes, int count, sqlite3_int64 offset) {
    ASK_FILE("read");
    return METHODS->xRead(base(file), bytes, count, offset);
}

static int file_write(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 offset) {
    ASK_FILE("write");
    return log_file(file, METHODS->xWrite(base(file), bytes, count, offset), "write", bytes, count, offset);
}

static int file_truncate(sqlite3_file *file, sqlite3_int64 size) {
    ASK_FILE("truncate");
    return log_file(file, METHODS->xTruncate(base(file), size), "truncate", NULL, 0, size);
}

static int file_sync(sqlite3_file *file, int flags) {
    Way *way = ((File *)file)->way;
    int code = way->hook(way->context, "sync");
    if (code != SQLITE_OK) {
        log_file(file, SQLITE_OK, "failedSync", NULL, 0, 0);
        return code;
    }
    return log_file(file, METHODS->xSync(base(file), flags), "sync", NULL, 0, 0);
}

static int file_size(sqlite3_file *file, sqlite3_int64 *size) {
    ASK_FILE("size");
    return METHODS->xFileSize(base(file), size);
}

static int file_lock(sqlite3_file *file, int level) {
    ASK_FILE("lock");
    return METHODS->xLock(base(file), level);
}

static int file_unlock(sqlite3_file *file, int level) { return METHODS->xUnlock(base(file), level); }

static int file_check_lock(sqlite3_file *file, int *result) {
    ASK_FILE("checkLock");
    return METHODS->xCheckReservedLock(base(file), result);
}

static int file_control(sqlite3_file *file, int what, void *argument) {
    return METHODS->xFileControl(base(file), what, argument);
}

static int file_sector_size(sqlite3_file *file) { return METHODS->xSectorSize(base(file)); }
static int file_characteristics(sqlite3_file *file) { return METHODS->xDeviceCharacteristics(base(file)); }

static int shm_map(sqlite3_file *file, int page, int size, int extend, void volatile **memory) {
    ASK_FILE("shmMap");
    return METHODS->xShmMap(base(file), page, size, extend, memory);
}

static int shm_lock(sqlite3_file *file, int offset, int count, int flags) {
    if (flags & SQLITE_SHM_LOCK) ASK_FILE("shmLock");
    return METHODS->xShmLock(base(file), offset, count, flags);
}

static void shm_barrier(sqlite3_file *file) { METHODS->xShmBarrier(base(file)); }
static int shm_unmap(sqlite3_file *file, int removes) { return METHODS->xShmUnmap(base(file), removes); }

static const sqlite3_io_methods methods = {
    .iVersion = 2,
    .xClose = file_close,
    .xRead = file_read,
    .xWrite = file_write,
    .xTruncate = file_truncate,
    .xSync = file_sync,
    .xFileSize = file_size,
    .xLock = file_lock,
    .xUnlock = file_unlock,
    .xCheckReservedLock = file_check_lock,
    .xFileControl = file_control,
    .xSectorSize = file_sector_size,
    .xDeviceCharacteristics = file_characteristics,
    .xShmMap = shm_map,
    .xShmLock = shm_lock,
    .xShmBarrier = shm_barrier,
    .xShmUnmap = shm_unmap,
};

// MARK: The way

static int way_open(sqlite3_vfs *vfs, const char *path, sqlite3_file *file, int flags, int *opened) {
    Way *way = vfs->pAppData;
    file->pMethods = NULL;
    ASK(way, "open");
    ((File *)file)->way = way;
    ((File *)file)->path = path;
    int exists = 1;
    if (path && flags & SQLITE_OPEN_CREATE) way->base->xAccess(way->base, path, SQLITE_ACCESS_EXISTS, &exists);
    memset(base(file), 0, way->base->szOsFile);
    int code = way->base->xOpen(way->base, path, base(file), flags, opened);
    if (code == SQLITE_OK) file->pMethods = &methods;
    return exists ? code : log_call(way, code, "create", path, NULL, 0, 0);
}

static int way_delete(sqlite3_vfs *vfs, const char *path, int syncs) {
    Way *way = vfs->pAppData;
    ASK(way, "delete");
    return log_call(way, way->base->xDelete(way->base, path, syncs), "delete", path, NULL, 0, 0);
}

static int way_access(sqlite3_vfs *vfs, const char *path, int flags, int *result) {
    Way *way = vfs->pAppData;
    ASK(way, "access");
    return way->base->xAccess(way->base, path, flags, result);
}

static int way_full_path(sqlite3_vfs *vfs, const char *path, int size, char *full) {
    Way *way = vfs->pAppData;
    ASK(way, "path");
    return way->base->xFullPathname(way->base, path, size, full);
}

static int way_random(sqlite3_vfs *vfs, int count, char *bytes) {
    Way *way = vfs->pAppData;
    return way->base->xRandomness(way->base, count, bytes);
}

static int way_sleep(sqlite3_vfs *vfs, int microseconds) {
    Way *way = vfs->pAppData;
    return way->base->xSleep(way->base, microseconds);
}

static int way_time(sqlite3_vfs *vfs, double *time) {
    Way *way = vfs->pAppData;
    return way->base->xCurrentTime(way->base, time);
}

static int way_last_error(sqlite3_vfs *vfs, int size, char *text) {
    Way *way = vfs->pAppData;
    return way->base->xGetLastError(way->base, size, text);
}

static int way_time_integer(sqlite3_vfs *vfs, sqlite3_int64 *time) {
    Way *way = vfs->pAppData;
    return way->base->xCurrentTimeInt64(way->base, time);
}

int faulty_vfs_register(const char *name, faulty_vfs_hook hook, faulty_vfs_log log, void *context) {
    Way *way = calloc(1, sizeof(Way));
    sqlite3_vfs *vfs = calloc(1, sizeof(sqlite3_vfs));
    char *copy = strdup(name);
    sqlite3_vfs *usual = sqlite3_vfs_find(NULL);
    if (!way || !vfs || !copy || !usual) return SQLITE_NOMEM;
    way->hook = hook;
    way->log = log;
    way->context = context;
    way->base = usual;
    vfs->iVersion = 2;
    vfs->szOsFile = (int)sizeof(File) + usual->szOsFile;
    vfs->mxPathname = usual->mxPathname;
    vfs->zName = copy;
    vfs->pAppData = way;
    vfs->xOpen = way_open;
    vfs->xDelete = way_delete;
    vfs->xAccess = way_access;
    vfs->xFullPathname = way_full_path;
    vfs->xRandomness = way_random;
    vfs->xSleep = way_sleep;
    vfs->xCurrentTime = way_time;
    vfs->xGetLastError = way_last_error;
    vfs->xCurrentTimeInt64 = way_time_integer;
    return sqlite3_vfs_register(vfs, 0);
}

void faulty_vfs_unregister(const char *name) {
    sqlite3_vfs *vfs = sqlite3_vfs_find(name);
    if (!vfs) return;
    sqlite3_vfs_unregister(vfs);
    free(vfs->pAppData);
    free((void *)vfs->zName);
    free(vfs);
}
