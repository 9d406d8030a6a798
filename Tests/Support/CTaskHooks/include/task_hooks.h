#ifndef TASK_HOOKS_H
#define TASK_HOOKS_H

#include <stdint.h>

// Called with each job that would go to the global executor, in its place.
typedef void (*task_hook)(void *job);

// Sends the jobs of Swift's tasks elsewhere: those of the global executor to the hook, and those of the main actor to another
// serial executor, which is given by the two words of an UnownedSerialExecutor.
void task_hooks_install(task_hook global, uintptr_t main_identity, uintptr_t main_implementation);

// Sends them where they went before.
void task_hooks_remove(void);

#endif
