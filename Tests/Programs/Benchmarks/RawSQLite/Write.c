#include "Store.h"
#include <stdio.h>

#define COLUMNS "_key, uid, name, note, phone, age, isFavorite, score, birthday, syncFlag"

static void begin(raw_store *store) {
    raw_step(store, raw_prepare(store, &store->begin, "BEGIN IMMEDIATE"));
}

static void commit(raw_store *store) {
    raw_step(store, raw_prepare(store, &store->commit, "COMMIT"));
}

static void bind_text(sqlite3_stmt *statement, int parameter, const char *text, int32_t length) {
    if (length < 0) sqlite3_bind_null(statement, parameter);
    else sqlite3_bind_text(statement, parameter, text, length, SQLITE_STATIC);
}

static void bind(sqlite3_stmt *statement, int64_t key, const raw_contact *contact) {
    sqlite3_bind_int64(statement, 1, key);
    bind_text(statement, 2, contact->uid, contact->uid_length);
    bind_text(statement, 3, contact->name, contact->name_length);
    bind_text(statement, 4, contact->note, contact->note_length);
    bind_text(statement, 5, contact->phone, contact->phone_length);
    sqlite3_bind_int64(statement, 6, contact->age);
    sqlite3_bind_int64(statement, 7, contact->is_favorite);
    sqlite3_bind_double(statement, 8, contact->score);
    sqlite3_bind_double(statement, 9, contact->birthday);
}

void raw_insert(raw_store *store, const raw_list *list, size_t first, size_t end) {
    sqlite3_stmt *statement = raw_prepare(store, &store->insert,
        "INSERT INTO ContactEntity (" COLUMNS ") VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, 0)");
    begin(store);
    for (size_t index = first; index < end; index++) {
        bind(statement, (int64_t)index + 1, &list->contacts[index]);
        raw_step(store, statement);
    }
    commit(store);
}

void raw_insert_linked(raw_store *store, const raw_list *list, size_t groups) {
    sqlite3_stmt *group = NULL, *contact = NULL;
    raw_prepare(store, &group,
        "INSERT INTO GroupEntity (_key, gid, memberCount, name, syncFlag) VALUES (?1, ?2, 0, '', 0)");
    raw_prepare(store, &contact,
        "INSERT INTO ContactEntity (" COLUMNS ", \"group\") VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, 0, ?10)");
    begin(store);
    for (size_t index = 0; index < groups; index++) {
        char name[32];
        int length = snprintf(name, sizeof name, "group-%zu", index);
        sqlite3_bind_int64(group, 1, (int64_t)(list->count + index) + 1);
        sqlite3_bind_text(group, 2, name, length, SQLITE_STATIC);
        raw_step(store, group);
    }
    for (size_t index = 0; index < list->count; index++) {
        bind(contact, (int64_t)index + 1, &list->contacts[index]);
        sqlite3_bind_int64(contact, 10, (int64_t)(list->count + index % groups) + 1);
        raw_step(store, contact);
    }
    commit(store);
    sqlite3_finalize(group);
    sqlite3_finalize(contact);
}

void raw_upsert(raw_store *store, const raw_list *list) {
    sqlite3_stmt *statement = raw_prepare(store, &store->upsert,
        "INSERT INTO ContactEntity (" COLUMNS ") VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, 0) "
        "ON CONFLICT (uid) DO UPDATE SET name = excluded.name, note = excluded.note, phone = excluded.phone, "
        "age = excluded.age, isFavorite = excluded.isFavorite, score = excluded.score, birthday = excluded.birthday "
        "WHERE name IS NOT excluded.name OR note IS NOT excluded.note OR phone IS NOT excluded.phone "
        "OR age IS NOT excluded.age OR isFavorite IS NOT excluded.isFavorite OR score IS NOT excluded.score "
        "OR birthday IS NOT excluded.birthday");
    int64_t before = sqlite3_total_changes(store->handle);
    begin(store);
    for (size_t index = 0; index < list->count; index++) {
        bind(statement, (int64_t)index + 1, &list->contacts[index]);
        raw_step(store, statement);
    }
    commit(store);
    store->rows_written = sqlite3_total_changes(store->handle) - before;
}

int64_t raw_rows_written(const raw_store *store) { return store->rows_written; }
