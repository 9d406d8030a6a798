/// The context of ``PersistentContainer/read(_:)``: one state of all rows, which no later save changes.
///
/// ```swift
/// let (count, names) = try await container.read { context in
///     (try context.count(ContactEntity.self), try context.values(FetchRequest<ContactEntity>(), \.name))
/// }
/// ```
///
/// **Isolation**: the call that gets it.
public final class ReadContext: ManagedObjectContext {
    /// - Parameter leavesValuesApart: False if all values are needed.
    init(_ stack: PersistentStack, _ source: RowSource, leavesValuesApart: Bool = true) {
        super.init(stack, source)
        self.leavesValuesApart = leavesValuesApart
    }

    deinit {
        // The homes of objects refer to tables of objects, so nothing else would free them.
        for binding in bindings { binding.objects.removeAll() }
    }
}
