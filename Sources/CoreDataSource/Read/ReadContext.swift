/// The context of ``PersistentContainer/read(_:)``: one state of all rows, which no later save changes.
///
/// **Isolation**: the call that gets it.
public final class ReadContext: ManagedObjectContext {
    deinit {
        // The homes of objects refer to tables of objects, so nothing else would free them.
        for binding in bindings { binding.objects.removeAll() }
    }
}
