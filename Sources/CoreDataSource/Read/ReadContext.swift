/// The context of ``PersistentContainer/read(_:)``: one state of all rows, which no later save changes.
///
/// **Isolation**: the call that gets it.
public final class ReadContext: ManagedObjectContext {}
