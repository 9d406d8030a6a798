#include "Store.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    int64_t key, number;
    char title[];
} mail_thread;

typedef struct {
    int64_t key;
    double date;
    int32_t size, is_read, uid_length, subject_length, preview_length;
    mail_thread *thread;
    char texts[];
} mail_message;

struct raw_mail {
    mail_thread **threads;
    mail_message **messages;
    size_t thread_count, message_count;
};

static void insert(
    raw_store *store, const char *sql, size_t count, void (*bind)(sqlite3_stmt *, size_t, size_t), size_t threads) {
    sqlite3_stmt *statement = NULL;
    raw_prepare(store, &statement, sql);
    for (size_t number = 0; number < count; number++) {
        bind(statement, number, threads);
        raw_step(store, statement);
    }
    sqlite3_finalize(statement);
}

static void bind_text(sqlite3_stmt *statement, int parameter, const char *format, size_t number) {
    char text[128];
    int length = snprintf(text, sizeof text, format, number);
    sqlite3_bind_text(statement, parameter, text, length, SQLITE_TRANSIENT);
}

static void bind_thread(sqlite3_stmt *statement, size_t number, size_t threads) {
    (void)threads;
    sqlite3_bind_int64(statement, 1, (int64_t)number + 1);
    sqlite3_bind_int64(statement, 2, (int64_t)number);
    bind_text(statement, 3, "Thread about matter number %08zu", number);
}

static void bind_message(sqlite3_stmt *statement, size_t number, size_t threads) {
    sqlite3_bind_int64(statement, 1, (int64_t)(threads + number) + 1);
    sqlite3_bind_double(statement, 2, (double)(number * 7919 % 1000003));
    bind_text(statement, 3, "What was said in the message with number %08zu", number);
    sqlite3_bind_int64(statement, 4, (int64_t)(number % 5000));
    bind_text(statement, 5, "Re: matter number %08zu", number);
    bind_text(statement, 6, "uid-%08zu", number);
    sqlite3_bind_int64(statement, 7, (int64_t)(number % threads) + 1);
}

void raw_mail_insert(raw_store *store, size_t threads, size_t messages) {
    raw_run(store, "BEGIN IMMEDIATE");
    insert(store, "INSERT INTO MailThread (_key, number, title) VALUES (?1, ?2, ?3)", threads, bind_thread, threads);
    insert(store, "INSERT INTO MailMessage (_key, date, isRead, preview, size, subject, uid, thread) "
                  "VALUES (?1, ?2, 0, ?3, ?4, ?5, ?6, ?7)", messages, bind_message, threads);
    raw_run(store, "COMMIT");
}

// Reading

static mail_thread *read_thread(sqlite3_stmt *statement) {
    const char *title = (const char *)sqlite3_column_text(statement, 2);
    int32_t length = sqlite3_column_bytes(statement, 2);
    mail_thread *thread = malloc(sizeof *thread + (size_t)length + 1);
    thread->key = sqlite3_column_int64(statement, 0);
    thread->number = sqlite3_column_int64(statement, 1);
    memcpy(thread->title, title, (size_t)length + 1);
    return thread;
}

static mail_message *read_message(sqlite3_stmt *statement) {
    const char *texts[3];
    int32_t lengths[3];
    int32_t total = 3;
    for (int index = 0; index < 3; index++) {
        texts[index] = (const char *)sqlite3_column_text(statement, 4 + index);
        lengths[index] = sqlite3_column_bytes(statement, 4 + index);
        total += lengths[index];
    }
    mail_message *message = malloc(sizeof *message + (size_t)total);
    message->key = sqlite3_column_int64(statement, 0);
    message->date = sqlite3_column_double(statement, 1);
    message->size = sqlite3_column_int(statement, 2);
    message->is_read = sqlite3_column_int(statement, 3);
    message->uid_length = lengths[0];
    message->subject_length = lengths[1];
    message->preview_length = lengths[2];
    message->thread = NULL;
    char *end = message->texts;
    for (int index = 0; index < 3; index++) {
        memcpy(end, texts[index], (size_t)lengths[index] + 1);
        end += lengths[index] + 1;
    }
    return message;
}

#define MESSAGE "SELECT _key, date, size, isRead, uid, subject, preview, thread FROM MailMessage"
#define THREAD "SELECT _key, number, title FROM MailThread"

static void *append(void *items, size_t count, size_t *capacity) {
    if (count < *capacity) return items;
    *capacity = *capacity ? *capacity * 2 : 1024;
    return realloc(items, *capacity * sizeof(void *));
}

static void fetch_threads(raw_store *store, raw_mail *mail) {
    sqlite3_stmt *statement = NULL;
    raw_prepare(store, &statement, THREAD " ORDER BY _key");
    size_t capacity = 0;
    int code;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        mail->threads = append(mail->threads, mail->thread_count, &capacity);
        mail->threads[mail->thread_count++] = read_thread(statement);
    }
    raw_check(store, code, SQLITE_DONE);
    sqlite3_finalize(statement);
}

static mail_thread *find_thread(const raw_mail *mail, int64_t key) {
    size_t low = 0, high = mail->thread_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (mail->threads[middle]->key < key) low = middle + 1;
        else high = middle;
    }
    return low < mail->thread_count && mail->threads[low]->key == key ? mail->threads[low] : NULL;
}

raw_mail *raw_mail_fetch(raw_store *store) {
    raw_mail *mail = calloc(1, sizeof *mail);
    fetch_threads(store, mail);
    sqlite3_stmt *statement = NULL;
    raw_prepare(store, &statement, MESSAGE " ORDER BY _key");
    size_t capacity = 0;
    int code;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        mail->messages = append(mail->messages, mail->message_count, &capacity);
        mail_message *message = read_message(statement);
        message->thread = find_thread(mail, sqlite3_column_int64(statement, 7));
        mail->messages[mail->message_count++] = message;
    }
    raw_check(store, code, SQLITE_DONE);
    sqlite3_finalize(statement);
    return mail;
}

int64_t raw_mail_sum(const raw_mail *mail) {
    int64_t sum = 0;
    for (size_t index = 0; index < mail->message_count; index++) {
        sum += mail->messages[index]->size + (int64_t)strlen(mail->messages[index]->thread->title);
    }
    return sum;
}

int64_t raw_mail_newest(raw_store *store) {
    raw_mail mail = {0};
    fetch_threads(store, &mail);
    sqlite3_stmt *count = NULL, *newest = NULL;
    raw_prepare(store, &count, "SELECT count(*) FROM MailMessage WHERE thread = ?1");
    raw_prepare(store, &newest, "SELECT max(date) FROM MailMessage WHERE thread = ?1");
    int64_t sum = 0;
    for (size_t index = 0; index < mail.thread_count; index++) {
        sqlite3_bind_int64(count, 1, mail.threads[index]->key);
        raw_check(store, sqlite3_step(count), SQLITE_ROW);
        sum += sqlite3_column_int64(count, 0);
        sqlite3_reset(count);
        sqlite3_bind_int64(newest, 1, mail.threads[index]->key);
        raw_check(store, sqlite3_step(newest), SQLITE_ROW);
        sum += (int64_t)sqlite3_column_double(newest, 0);
        sqlite3_reset(newest);
        free(mail.threads[index]);
    }
    free(mail.threads);
    sqlite3_finalize(count);
    sqlite3_finalize(newest);
    return sum;
}

void raw_mail_free(raw_mail *mail) {
    for (size_t index = 0; index < mail->message_count; index++) free(mail->messages[index]);
    for (size_t index = 0; index < mail->thread_count; index++) free(mail->threads[index]);
    free(mail->messages);
    free(mail->threads);
    free(mail);
}

void raw_mail_list(raw_store *store) {
    sqlite3_stmt *statement = NULL;
    raw_prepare(store, &statement,
        "SELECT m._key, m.date, m.size, m.isRead, m.uid, m.subject, m.preview, m.thread FROM MailMessage AS m "
        "LEFT JOIN MailThread AS t ON t._key = m.thread ORDER BY t.title, m._key");
    raw_mail mail = {0};
    size_t capacity = 0;
    int code;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        mail.messages = append(mail.messages, mail.message_count, &capacity);
        mail.messages[mail.message_count++] = read_message(statement);
    }
    raw_check(store, code, SQLITE_DONE);
    sqlite3_finalize(statement);
    for (size_t index = 0; index < mail.message_count; index++) free(mail.messages[index]);
    free(mail.messages);
}

// Deleting

void raw_mail_delete(raw_store *store, size_t threads) {
    sqlite3_stmt *messages = NULL, *thread = NULL;
    raw_run(store, "BEGIN IMMEDIATE");
    raw_prepare(store, &messages, "DELETE FROM MailMessage WHERE thread = ?1");
    raw_prepare(store, &thread, "DELETE FROM MailThread WHERE _key = ?1");
    for (size_t number = 0; number < threads; number++) {
        sqlite3_bind_int64(messages, 1, (int64_t)number + 1);
        raw_step(store, messages);
        sqlite3_bind_int64(thread, 1, (int64_t)number + 1);
        raw_step(store, thread);
    }
    sqlite3_finalize(messages);
    sqlite3_finalize(thread);
    raw_run(store, "COMMIT");
}
