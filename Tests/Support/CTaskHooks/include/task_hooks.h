#ifndef TASK_HOOKS_H
#define TASK_HOOKS_H

#include <stdint.h>

// Called with each job, instead of the global executor.
typedef void (*task_hook)(void *job);

// Redirects the jobs of Swift's tasks: jobs of the global executor go to the hook, and jobs of the main actor go to another
// serial executor, given by the two words of an UnownedSerialExecutor.
void task_hooks_install(task_hook global, uintptr_t main_identity, uintptr_t main_implementation);

// Ends the redirection.
void task_hooks_remove(void);

#endif
