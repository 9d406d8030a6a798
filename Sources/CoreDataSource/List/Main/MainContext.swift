internal import RowStore

/// The context for the user interface: objects on the main actor, which follow every save.
///
/// ```swift
/// let contact = try container.main.first(ContactEntity.self, where: \.uid, equals: "1")
/// try await contacts.add(Contact(uid: "1", name: "Guan Yunchang"))
/// print(contact?.name ?? "none")  // Guan Yunchang
/// ```
///
/// It cannot write: objects are edited in the private context of the data source that owns them. A fetch reads the store at
/// once, and includes saves that are not committed yet. Fetched objects show newer values as soon as main has merged the save
/// that made them.
///
/// **Isolation**: the main actor.
public final class MainContext: ManagedObjectContext {
    /// Brings main up to the newest save.
    private let prepare: @MainActor @Sendable (_ registersObjects: Bool) -> Void
    /// Brings registered objects up to the newest save.
    private let merge: @MainActor @Sendable () -> Void
    private let tables: MainTables

    @MainActor
    init(
        _ stack: PersistentStack, merge: @escaping @MainActor @Sendable () -> Void,
        prepare: @escaping @MainActor @Sendable (_ registersObjects: Bool) -> Void
    ) {
        self.prepare = prepare
        self.merge = merge
        tables = MainTables()
        super.init(stack, stack.root.rows)
        defersValues = true
        tables.all = bindings.map(\.objects)
    }

    deinit {
        // The last reference to a container may go anywhere, while main follows a relationship of an object that it holds.
        let tables = tables
        Task { @MainActor in tables.empty() }
    }

    override var reportsReadFailures: Bool { owner == nil }

    override func willRead(registersObjects: Bool) {
        let prepare = prepare
        MainActor.assumeIsolated { prepare(registersObjects) }
    }

    /// The rows that were read may be newer than the cached links, which are then read again.
    override func didRead() {
        if !isFollowing && stack.root.hasUnmergedSaves { related.removeAll() }
    }

    /// Links are read as of the newest save, but the objects at their ends may be older.
    override func didFollow() {
        let merge = merge
        MainActor.assumeIsolated { merge() }
    }
}

/// The registered objects of main. The homes of objects refer to these tables, so nothing else would free them.
@MainActor
private final class MainTables {
    var all: [ObjectTable] = []

    func empty() {
        for table in all { table.removeAll() }
    }
}

extension MainContext: CustomStringConvertible {
    /// The model and how many saves are not in the store yet: `MainContext of Contacts (0 pending saves)`.
    public var description: String {
        "MainContext of \(stack.layout.model.name) (\(stack.root.pendingSaveCount) pending saves)"
    }
}
