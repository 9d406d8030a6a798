#include "Store.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SELECT \
    "SELECT _key, uid, name, note, phone, age, isFavorite, score, birthday, syncFlag, initial, \"group\" FROM ContactEntity"

static char *copy_text(
    sqlite3_stmt *statement, int column, const char **text, int32_t length, char *end) {
    if (length < 0) {
        *text = NULL;
        return end;
    }
    *text = end;
    memcpy(end, sqlite3_column_text(statement, column), (size_t)length);
    end[length] = 0;
    return end + length + 1;
}

static int32_t length(sqlite3_stmt *statement, int column) {
    if (sqlite3_column_type(statement, column) == SQLITE_NULL) return -1;
    sqlite3_column_text(statement, column);
    return sqlite3_column_bytes(statement, column);
}

static raw_row *read_row(sqlite3_stmt *statement) {
    raw_contact contact = {0};
    contact.uid_length = length(statement, 1);
    contact.name_length = length(statement, 2);
    contact.note_length = length(statement, 3);
    contact.phone_length = length(statement, 4);
    size_t texts = (size_t)(contact.uid_length + contact.name_length + contact.note_length + contact.phone_length) + 4;
    raw_row *row = malloc(sizeof *row + texts);
    row->key = sqlite3_column_int64(statement, 0);
    contact.age = sqlite3_column_int(statement, 5);
    contact.is_favorite = sqlite3_column_int(statement, 6);
    contact.score = sqlite3_column_double(statement, 7);
    contact.birthday = sqlite3_column_double(statement, 8);
    char *end = row->texts;
    end = copy_text(statement, 1, &contact.uid, contact.uid_length, end);
    end = copy_text(statement, 2, &contact.name, contact.name_length, end);
    end = copy_text(statement, 3, &contact.note, contact.note_length, end);
    copy_text(statement, 4, &contact.phone, contact.phone_length, end);
    row->contact = contact;
    return row;
}

int32_t raw_find(raw_store *store, const char *uid, int32_t uid_length) {
    sqlite3_stmt *statement = raw_prepare(store, &store->find, SELECT " WHERE uid = ?1");
    sqlite3_bind_text(statement, 1, uid, uid_length, SQLITE_STATIC);
    int32_t age = -1;
    int code = sqlite3_step(statement);
    if (code == SQLITE_ROW) {
        raw_row *row = read_row(statement);
        age = row->contact.age;
        free(row);
    } else {
        raw_check(store, code, SQLITE_DONE);
    }
    sqlite3_reset(statement);
    return age;
}

raw_row **raw_fetch(raw_store *store, const char *tail, int times, size_t *count) {
    char sql[512];
    snprintf(sql, sizeof sql, SELECT " %s", tail);
    sqlite3_stmt *statement = NULL;
    raw_prepare(store, &statement, sql);
    size_t capacity = 0;
    raw_row **rows = NULL;
    *count = 0;
    while (times-- > 0) {
        for (size_t index = 0; index < *count; index++) free(rows[index]);
        *count = 0;
        int code;
        while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
            if (*count == capacity) {
                capacity = capacity ? capacity * 2 : 1024;
                rows = realloc(rows, capacity * sizeof *rows);
            }
            rows[(*count)++] = read_row(statement);
        }
        raw_check(store, code, SQLITE_DONE);
        sqlite3_reset(statement);
    }
    sqlite3_finalize(statement);
    return rows;
}

raw_row **raw_fetch_all(raw_store *store, size_t *count) {
    return raw_fetch(store, "ORDER BY _key", 1, count);
}

void raw_rows_free(raw_row **rows, size_t count) {
    for (size_t index = 0; index < count; index++) free(rows[index]);
    free(rows);
}

int64_t raw_sum(raw_row **rows, size_t count) {
    int64_t sum = 0;
    for (size_t index = 0; index < count; index++) {
        const raw_contact *contact = &rows[index]->contact;
        sum += (int64_t)(strlen(contact->uid) + strlen(contact->name) + strlen(contact->note));
        sum += contact->age + (int64_t)contact->score;
    }
    return sum;
}
