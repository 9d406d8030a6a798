#ifdef RAW_POSTGRESQL
#include "RawPostgreSQL.h"
#include <arpa/inet.h>
#include <endian.h>
#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct raw_server {
    PGconn *handle;
    char table[200], feed[200], changes[200];
    // What is about to be sent by COPY.
    char *buffer;
    size_t length, capacity;
    int is_prepared, uses_arrays;
};

static const char columns[] = "\"_key\", \"uid\", \"name\", \"note\", \"phone\", \"age\", \"isFavorite\", \"score\", \"birthday\"";

static void fail(raw_server *server, const char *what) {
    fprintf(stderr, "raw PostgreSQL: %s: %s\n", what, PQerrorMessage(server->handle));
    exit(1);
}

static PGresult *run(raw_server *server, const char *sql) {
    PGresult *result = PQexec(server->handle, sql);
    ExecStatusType status = PQresultStatus(result);
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK && status != PGRES_COPY_IN) fail(server, sql);
    return result;
}

static void done(raw_server *server, const char *sql) { PQclear(run(server, sql)); }

raw_server *raw_server_open(const char *connection, const char *schema, int is_durable) {
    raw_server *server = calloc(1, sizeof *server);
    server->handle = PQconnectdb(connection);
    if (PQstatus(server->handle) != CONNECTION_OK) fail(server, "connecting");
    snprintf(server->table, sizeof server->table, "\"%s\".\"ContactEntity\"", schema);
    snprintf(server->feed, sizeof server->feed, "\"%s\".\"_feed\"", schema);
    snprintf(server->changes, sizeof server->changes, "\"%s\".\"_changes\"", schema);
    done(server, "SET coredatasource.member = 'on'");
    done(server, is_durable ? "SET synchronous_commit = on" : "SET synchronous_commit = off");
    return server;
}

void raw_server_close(raw_server *server) {
    PQfinish(server->handle);
    free(server->buffer);
    free(server);
}

static void add(raw_server *server, const void *bytes, size_t count) {
    if (server->length + count > server->capacity) {
        server->capacity = (server->capacity + count) * 2;
        server->buffer = realloc(server->buffer, server->capacity);
    }
    memcpy(server->buffer + server->length, bytes, count);
    server->length += count;
}

static void add_length(raw_server *server, int32_t length) {
    uint32_t swapped = htonl((uint32_t)length);
    add(server, &swapped, sizeof swapped);
}

static void add_text(raw_server *server, const char *text, int32_t length) {
    add_length(server, length);
    if (length > 0) add(server, text, (size_t)length);
}

static void add_word(raw_server *server, uint64_t word) {
    uint64_t swapped = htobe64(word);
    add_length(server, 8);
    add(server, &swapped, sizeof swapped);
}

static void add_real(raw_server *server, double value) {
    uint64_t word;
    memcpy(&word, &value, sizeof word);
    add_word(server, word);
}

static void add_row(raw_server *server, const raw_contact *contact, int64_t key) {
    uint16_t fields = htons(9);
    add(server, &fields, sizeof fields);
    add_word(server, (uint64_t)key);
    add_text(server, contact->uid, contact->uid_length);
    add_text(server, contact->name, contact->name_length);
    add_text(server, contact->note, contact->note_length);
    add_text(server, contact->phone, contact->phone_length);
    add_word(server, (uint64_t)contact->age);
    add_word(server, (uint64_t)contact->is_favorite);
    add_real(server, contact->score);
    add_real(server, contact->birthday);
}

static void send_buffer(raw_server *server) {
    if (PQputCopyData(server->handle, server->buffer, (int)server->length) != 1) fail(server, "copying");
    server->length = 0;
}

static void copy(raw_server *server, const char *table, const raw_list *list, size_t first, size_t end) {
    char sql[600];
    snprintf(sql, sizeof sql, "COPY %s (%s) FROM STDIN (FORMAT binary)", table, columns);
    done(server, sql);
    const raw_contact *contacts = raw_list_contacts(list);
    server->length = 0;
    add(server, "PGCOPY\n\377\r\n\0\0\0\0\0\0\0\0\0", 19);
    for (size_t index = first; index < end; index++) {
        add_row(server, &contacts[index], (int64_t)index + 1);
        if (server->length > 1 << 16) send_buffer(server);
    }
    uint16_t trailer = 0xFFFF;
    add(server, &trailer, sizeof trailer);
    send_buffer(server);
    if (PQputCopyEnd(server->handle, NULL) != 1) fail(server, "copying");
    PGresult *result = PQgetResult(server->handle);
    if (PQresultStatus(result) != PGRES_COMMAND_OK) fail(server, "copying");
    PQclear(result);
    while ((result = PQgetResult(server->handle))) PQclear(result);
}

static void add_field(raw_server *server, const raw_contact *contact, int64_t key, int column) {
    switch (column) {
    case 0: return add_word(server, (uint64_t)key);
    case 1: return add_text(server, contact->uid, contact->uid_length);
    case 2: return add_text(server, contact->name, contact->name_length);
    case 3: return add_text(server, contact->note, contact->note_length);
    case 4: return add_text(server, contact->phone, contact->phone_length);
    case 5: return add_word(server, (uint64_t)contact->age);
    case 6: return add_word(server, (uint64_t)contact->is_favorite);
    case 7: return add_real(server, contact->score);
    default: return add_real(server, contact->birthday);
    }
}

// An array for each column, 10,000 rows at a time.
static void insert_arrays(raw_server *server, const char *table, const raw_list *list, size_t first, size_t end) {
    static const int32_t types[9] = {20, 25, 25, 25, 25, 20, 20, 701, 701};
    static const int formats[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
    char sql[900];
    snprintf(
        sql, sizeof sql,
        "INSERT INTO %s (%s) SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[], "
        "$6::bigint[], $7::bigint[], $8::float8[], $9::float8[])",
        table, columns);
    const raw_contact *contacts = raw_list_contacts(list);
    for (size_t start = first; start < end; start += 10000) {
        size_t stop = end - start > 10000 ? start + 10000 : end;
        size_t offsets[10] = {0};
        server->length = 0;
        for (int column = 0; column < 9; column++) {
            // One dimension, with nulls, the type, the count and the lower bound.
            int32_t header[5] = {1, 1, types[column], (int32_t)(stop - start), 1};
            for (int word = 0; word < 5; word++) add_length(server, header[word]);
            for (size_t index = start; index < stop; index++) add_field(server, &contacts[index], (int64_t)index + 1, column);
            offsets[column + 1] = server->length;
        }
        const char *values[9];
        int lengths[9];
        for (int column = 0; column < 9; column++) {
            values[column] = server->buffer + offsets[column];
            lengths[column] = (int)(offsets[column + 1] - offsets[column]);
        }
        PGresult *result = PQexecParams(server->handle, sql, 9, NULL, values, lengths, formats, 0);
        if (PQresultStatus(result) != PGRES_COMMAND_OK) fail(server, "inserting arrays");
        PQclear(result);
    }
    server->length = 0;
}

static void load(raw_server *server, const char *table, const raw_list *list, size_t first, size_t end) {
    if (server->uses_arrays) insert_arrays(server, table, list, first, end);
    else copy(server, table, list, first, end);
}

void raw_server_use_arrays(raw_server *server) { server->uses_arrays = 1; }

// Notes a save of many rows, and commits.
static void commit_many(raw_server *server) {
    char sql[900];
    snprintf(
        sql, sizeof sql,
        "SELECT 1 FROM %s FOR UPDATE; "
        "INSERT INTO %s SELECT coalesce(max(position), 0) + 1, 0, clock_timestamp(), 0, 'ContactEntity', NULL FROM %s; "
        "SELECT pg_notify('raw', ''); COMMIT",
        server->feed, server->changes, server->changes);
    done(server, sql);
}

void raw_server_insert(raw_server *server, const raw_list *list, size_t first, size_t end) {
    done(server, "BEGIN");
    load(server, server->table, list, first, end);
    commit_many(server);
}

static void prepare(raw_server *server) {
    char sql[900];
    snprintf(
        sql, sizeof sql, "INSERT INTO %s (%s) VALUES ($1::bigint, $2, $3, $4, $5, $6::bigint, $7::bigint, $8::float8, $9::float8)",
        server->table, columns);
    PQclear(PQprepare(server->handle, "insert", sql, 0, NULL));
    snprintf(sql, sizeof sql, "SELECT 1 FROM %s FOR UPDATE", server->feed);
    PQclear(PQprepare(server->handle, "feed", sql, 0, NULL));
    // As many bytes as the library notes for a row.
    snprintf(
        sql, sizeof sql,
        "INSERT INTO %s SELECT coalesce(max(position), 0) + 1, 0, clock_timestamp(), 248, NULL, $1::bytea FROM %s",
        server->changes, server->changes);
    PQclear(PQprepare(server->handle, "note", sql, 0, NULL));
    PQclear(PQprepare(server->handle, "notify", "SELECT pg_notify('raw', '')", 0, NULL));
    PQclear(PQprepare(server->handle, "begin", "BEGIN", 0, NULL));
    PQclear(PQprepare(server->handle, "commit", "COMMIT", 0, NULL));
    server->is_prepared = 1;
}

void raw_server_insert_one(raw_server *server, const raw_list *list, size_t index) {
    if (!server->is_prepared) prepare(server);
    const raw_contact *contact = &raw_list_contacts(list)[index];
    uint64_t words[5] = {htobe64(index + 1), htobe64((uint64_t)contact->age), htobe64((uint64_t)contact->is_favorite)};
    memcpy(&words[3], &contact->score, 8);
    memcpy(&words[4], &contact->birthday, 8);
    words[3] = htobe64(words[3]);
    words[4] = htobe64(words[4]);
    static const char changes[248];
    const char *values[9] = {
        (char *)&words[0], contact->uid, contact->name, contact->note, contact->phone_length < 0 ? NULL : contact->phone,
        (char *)&words[1], (char *)&words[2], (char *)&words[3], (char *)&words[4],
    };
    int lengths[9] = {8, contact->uid_length, contact->name_length, contact->note_length, contact->phone_length, 8, 8, 8, 8};
    int formats[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
    const char *note[1] = {changes};
    int note_length[1] = {sizeof changes};
    PQenterPipelineMode(server->handle);
    PQsendQueryPrepared(server->handle, "begin", 0, NULL, NULL, NULL, 1);
    PQsendQueryPrepared(server->handle, "insert", 9, values, lengths, formats, 1);
    PQsendQueryPrepared(server->handle, "feed", 0, NULL, NULL, NULL, 1);
    PQsendQueryPrepared(server->handle, "note", 1, note, note_length, formats, 1);
    PQsendQueryPrepared(server->handle, "notify", 0, NULL, NULL, NULL, 1);
    PQsendQueryPrepared(server->handle, "commit", 0, NULL, NULL, NULL, 1);
    if (PQpipelineSync(server->handle) != 1) fail(server, "sending");
    for (int answers = 0; answers < 6; answers++) {
        PGresult *result;
        while ((result = PQgetResult(server->handle))) {
            ExecStatusType status = PQresultStatus(result);
            if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) fail(server, "inserting");
            PQclear(result);
        }
    }
    PQclear(PQgetResult(server->handle));
    PQexitPipelineMode(server->handle);
}

int64_t raw_server_sync(raw_server *server, const raw_list *list) {
    char sql[2000];
    done(server, "BEGIN");
    snprintf(
        sql, sizeof sql, "CREATE TEMPORARY TABLE listed ON COMMIT DROP AS SELECT %s FROM %s LIMIT 0", columns,
        server->table);
    done(server, sql);
    load(server, "listed", list, 0, raw_list_count(list));
    snprintf(
        sql, sizeof sql,
        "UPDATE %s t SET name = l.name, note = l.note, phone = l.phone, age = l.age, \"isFavorite\" = l.\"isFavorite\", "
        "score = l.score, birthday = l.birthday FROM listed l WHERE t.uid = l.uid AND (t.name, t.note, t.phone, t.age, "
        "t.\"isFavorite\", t.score, t.birthday) IS DISTINCT FROM (l.name, l.note, l.phone, l.age, l.\"isFavorite\", "
        "l.score, l.birthday)",
        server->table);
    PGresult *updated = run(server, sql);
    int64_t written = atoll(PQcmdTuples(updated));
    PQclear(updated);
    snprintf(
        sql, sizeof sql,
        "INSERT INTO %s (%s) SELECT %s FROM listed l WHERE NOT EXISTS (SELECT 1 FROM %s t WHERE t.uid = l.uid)",
        server->table, columns, columns, server->table);
    PGresult *inserted = run(server, sql);
    written += atoll(PQcmdTuples(inserted));
    PQclear(inserted);
    commit_many(server);
    return written;
}

int64_t raw_server_value(raw_server *server, const char *sql) {
    char text[2000];
    snprintf(text, sizeof text, sql, server->table);
    PGresult *result = run(server, text);
    int64_t value = PQntuples(result) > 0 ? atoll(PQgetvalue(result, 0, 0)) : 0;
    PQclear(result);
    return value;
}
#else
// The trait PostgreSQL is off: there is nothing to compare with.
typedef int raw_server_is_not_built;
#endif
