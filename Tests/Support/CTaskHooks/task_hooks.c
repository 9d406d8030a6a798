#include "task_hooks.h"

#include <stddef.h>

#define SWIFT_CALL __attribute__((swiftcall))

typedef struct {
    uintptr_t identity;
    uintptr_t implementation;
} Executor;

// The hooks of the runtime, which exist for tools like this.
extern SWIFT_CALL void (*swift_task_enqueueGlobal_hook)(void *job, void *original);
extern SWIFT_CALL Executor (*swift_task_getMainExecutor_hook)(void *original);

static task_hook global_hook;
static Executor main_executor;

static SWIFT_CALL void take_global(void *job, void *original) {
    (void)original;
    global_hook(job);
}

static SWIFT_CALL Executor get_main(void *original) {
    (void)original;
    return main_executor;
}

void task_hooks_install(task_hook global, uintptr_t main_identity, uintptr_t main_implementation) {
    global_hook = global;
    main_executor.identity = main_identity;
    main_executor.implementation = main_implementation;
    swift_task_enqueueGlobal_hook = take_global;
    swift_task_getMainExecutor_hook = get_main;
}

void task_hooks_remove(void) {
    swift_task_enqueueGlobal_hook = NULL;
    swift_task_getMainExecutor_hook = NULL;
}
