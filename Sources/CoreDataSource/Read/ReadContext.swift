/// What ``PersistentContainer/read(_:)`` reads with: one state of all rows, which no later save changes.
///
/// **Isolation**: the call that gets it.
public final class ReadContext: ManagedObjectContext {}
