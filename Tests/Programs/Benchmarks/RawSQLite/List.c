#include "Store.h"
#include <stdlib.h>
#include <string.h>

raw_list *raw_list_make(size_t capacity) {
    raw_list *list = calloc(1, sizeof *list);
    list->contacts = calloc(capacity ? capacity : 1, sizeof *list->contacts);
    list->capacity = capacity;
    return list;
}

static int32_t copy_text(const char *text, const char **copy) {
    if (text == NULL) return -1;
    *copy = strdup(text);
    return (int32_t)strlen(text);
}

void raw_list_add(
    raw_list *list, const char *uid, const char *name, const char *note, const char *phone, int32_t age,
    int32_t is_favorite, double score, double birthday) {
    if (list->count == list->capacity) abort();
    raw_contact *contact = &list->contacts[list->count++];
    contact->uid_length = copy_text(uid, &contact->uid);
    contact->name_length = copy_text(name, &contact->name);
    contact->note_length = copy_text(note, &contact->note);
    contact->phone_length = copy_text(phone, &contact->phone);
    contact->age = age;
    contact->is_favorite = is_favorite;
    contact->score = score;
    contact->birthday = birthday;
}

void raw_list_free(raw_list *list) {
    for (size_t index = 0; index < list->count; index++) {
        raw_contact *contact = &list->contacts[index];
        free((void *)contact->uid);
        free((void *)contact->name);
        free((void *)contact->note);
        free((void *)contact->phone);
    }
    free(list->contacts);
    free(list);
}

const raw_contact *raw_list_contacts(const raw_list *list) { return list->contacts; }

size_t raw_list_count(const raw_list *list) { return list->count; }
