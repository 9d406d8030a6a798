// The contact workloads in plain SQLite C calls: what an app would write by hand if it did without the library.
//
// Everything that costs time on either side is equal: schema and indexes (copied out of a store that the library made),
// pragmas, synchronous level, prepared statements used again and again, texts bound without copying.
#ifndef RAW_SQLITE_H
#define RAW_SQLITE_H

#include <stdint.h>
#include <stddef.h>

// A contact as the app has it. A text of length -1 is null.
typedef struct {
    const char *uid, *name, *note, *phone;
    int32_t uid_length, name_length, note_length, phone_length;
    int32_t age;
    int32_t is_favorite;
    double score, birthday;
} raw_contact;

// A contact as it is read: one block of memory with the texts behind the struct.
typedef struct {
    int64_t key;
    raw_contact contact;
    char texts[];
} raw_row;

// A list of contacts with texts of its own.
typedef struct raw_list raw_list;
raw_list *raw_list_make(size_t capacity);
void raw_list_add(
    raw_list *list, const char *uid, const char *name, const char *note, const char *phone, int32_t age,
    int32_t is_favorite, double score, double birthday);
void raw_list_free(raw_list *list);
const raw_contact *raw_list_contacts(const raw_list *list);
size_t raw_list_count(const raw_list *list);

// A connection and its statements. Every function that can fail ends the process with SQLite's message: a benchmark
// that goes on after an error measures nothing.
typedef struct raw_store raw_store;

// The CREATE statements of a store, each ended by a semicolon; free() it.
char *raw_schema(const char *path);
// Makes a store with that schema and one row of metadata.
raw_store *raw_create(const char *path, const char *schema, int is_full);
raw_store *raw_open(const char *path, int is_full);
// Opens for reading, with the pragmas of the library's readers.
raw_store *raw_open_reader(const char *path);
void raw_close(raw_store *store);
// Removes a store's files and syncs the directory.
void raw_remove(const char *path, const char *directory);

// Inserts elements first ..< end of the list in one transaction; keys are positions plus 1.
void raw_insert(raw_store *store, const raw_list *list, size_t first, size_t end);
// Makes the stored contacts equal to those of the list: inserts, or updates where any column differs.
void raw_upsert(raw_store *store, const raw_list *list);
// How many rows the last raw_upsert wrote.
int64_t raw_rows_written(const raw_store *store);
// Looks for the contact of that uid and copies it out; returns its age, or -1.
int32_t raw_find(raw_store *store, const char *uid, int32_t length);
// Reads contacts that many times with one statement, SELECT ... FROM ContactEntity and then the tail; gives the last rows.
raw_row **raw_fetch(raw_store *store, const char *tail, int times, size_t *count);
// Reads all contacts in the order of keys.
raw_row **raw_fetch_all(raw_store *store, size_t *count);
void raw_rows_free(raw_row **rows, size_t count);
// Reads three texts and two numbers of each row.
int64_t raw_sum(raw_row **rows, size_t count);
// Inserts so many groups, and the contacts of the list, each with the next of the groups, in one transaction.
void raw_insert_linked(raw_store *store, const raw_list *list, size_t groups);

// Threads and their messages, the next message each time in the next thread.
void raw_mail_insert(raw_store *store, size_t threads, size_t messages);
// All messages, each with its thread.
typedef struct raw_mail raw_mail;
raw_mail *raw_mail_fetch(raw_store *store);
// Reads the size of each message and the title of its thread.
int64_t raw_mail_sum(const raw_mail *mail);
void raw_mail_free(raw_mail *mail);
// Counts the messages of each thread and reads the newest; gives the sum of the counts and dates.
int64_t raw_mail_newest(raw_store *store);
// Reads all messages in the order of their threads' titles.
void raw_mail_list(raw_store *store);
// Deletes the first threads with their messages, in one transaction.
void raw_mail_delete(raw_store *store, size_t threads);

// Runs a statement that returns no rows, such as BEGIN.
void raw_run(raw_store *store, const char *sql);
// The first integer of a query's first row.
int64_t raw_value(raw_store *store, const char *sql);
// The version of the SQLite that both sides use.
const char *raw_version(void);
// Reads the metadata row that says which model a store was made for.
int raw_read_metadata(raw_store *store);

// The monotonic clock, in nanoseconds.
uint64_t raw_now(void);
// The thread's number, which no other thread of the process has as long as it lives.
int raw_thread(void);
// The processor time of this thread, in nanoseconds.
uint64_t raw_thread_time(void);
// Bytes that malloc has given out, in all arenas.
size_t raw_allocated(void);
// Gives free memory back to the system, and resets the process's peak.
void raw_reset_peak(void);
// The most memory that the process had since then, in bytes.
size_t raw_peak(void);
// The memory of this process that is in RAM now, after malloc has given back what it can.
size_t raw_resident(void);
// How often the threads of this process have waited so far, for the disk, a lock, a timer or an event.
uint64_t raw_waits(void);

#endif
