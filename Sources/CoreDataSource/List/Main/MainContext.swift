internal import RowStore

/// The context for the user interface: its objects belong to the main actor and follow every save.
///
/// ```swift
/// let contact = try container.main.first(
///     ContactEntity.self, where: \.uid, equals: "1")
/// try await contacts.add(Contact(uid: "1", name: "Guan Yunchang"))
/// print(contact?.name ?? "none")  // Guan Yunchang
/// ```
///
/// The context cannot write: edit objects in the private context of the data source that owns them. A fetch reads the
/// store at once, and includes saves that are not committed yet. When the context merges a save, the fetched objects
/// show the new values.
///
/// **Isolation**: the main actor.
public final class MainContext: ManagedObjectContext {
    private let prepare: @MainActor @Sendable (_ registersObjects: Bool) -> Void
    /// Merges all saves into the registered objects.
    private let merge: @MainActor @Sendable () -> Void
    private let tables: MainTables
    weak let tier: MainTier?

    @MainActor
    init(
        _ stack: PersistentStack, of tier: MainTier, merge: @escaping @MainActor @Sendable () -> Void,
        prepare: @escaping @MainActor @Sendable (_ registersObjects: Bool) -> Void
    ) {
        self.tier = tier
        self.prepare = prepare
        self.merge = merge
        tables = MainTables()
        super.init(stack, stack.root.rows)
        defersValues = true
        tables.all = bindings.map(\.objects)
    }

    deinit {
        // The last reference to a container may be released on any thread, while the main actor follows a relationship
        // of a registered object. Therefore empty the tables on the main actor.
        let tables = tables
        Task { @MainActor in tables.empty() }
    }

    override var reportsReadFailures: Bool { owner == nil }

    override func willRead(registersObjects: Bool) {
        let prepare = prepare
        MainActor.assumeIsolated { prepare(registersObjects) }
    }

    /// Forgets cached links if the rows that were read may be newer than the links.
    override func didRead() {
        if case .pinned = source { return }
        if !isFollowingRelationship && stack.root.hasUnmergedSaves { related.removeAll() }
    }

    /// Merges all saves, because links are read as of the newest save, but the linked objects may be older.
    override func didFollowRelationship() {
        let merge = merge
        MainActor.assumeIsolated { merge() }
    }
}

/// The registered objects of the main context. The tables and their objects retain each other, so they are released only
/// after the tables were emptied.
@MainActor
private final class MainTables {
    var all: [ObjectTable] = []

    func empty() {
        for table in all { table.removeAll() }
    }
}

extension MainContext: CustomStringConvertible {
    /// The model, and the number of saves that are not in the store yet: `MainContext of Contacts (pending saves: 0)`.
    public var description: String {
        "MainContext of \(stack.layout.model.name) (pending saves: \(stack.root.pendingSaveCount))"
    }
}
