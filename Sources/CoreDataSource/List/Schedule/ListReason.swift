package import RowStore

/// The reason for a change of a list: the saves, their data sources, the changes, and the cost of the update.
///
/// ```swift
/// if let reason = contacts.lastUpdateReason(dataKey: "list") { print(reason) }
/// // save 12 of ContactDataSource: 3 rows of ContactEntity (name, phone), 14.2 us
/// ```
public struct ListReason: Sendable {
    /// The kind of change.
    public var kind: Kind
    /// The numbers of the first and the last save; nil if no save made the change. Saves are counted from 1 after the container
    /// was opened.
    public var saves: ClosedRange<Int64>?
    /// The number of rows that changed, entered the list or left the list.
    public var rowCount = 0
    /// Whether the update read rows from the store. See <doc:Lists>.
    public var didReadStore = false
    /// Whether the list queries the store after each save of its entities.
    ///
    /// Such a list has a predicate that needs objects (``FetchPredicate/needsObjects``), or has a limit and follows
    /// relationships. The queries run off the main actor, and the list reports the differences. Several saves may make one
    /// report.
    public var requeriesStore = false
    /// The duration of the update in microseconds. The time was spent on the main actor unless ``ranOffMain`` is true.
    public var microseconds = 0.0
    /// Whether the update was computed off the main actor because the update was large.
    public var ranOffMain = false
    /// The relationships of ``ObjectRequest/prefetch``, in the order of the request. They are read together with the list's
    /// objects. Empty for ``ListUpdate/reason``, because snapshots have no objects.
    public internal(set) var prefetched: [String] = []
    /// The relationships of the list's objects that the main context has read for one object at a time, with the number
    /// of reads so far.
    ///
    /// Each read is a separate statement. The main context reads a relationship for many objects together if
    /// ``EntityDataSource/allObjects(dataKey:as:)`` or a fetch returned the objects together. Empty for
    /// ``ListUpdate/reason``, because that reason can be read on any thread.
    public internal(set) var readOneByOne: [String: Int] = [:]
    /// The error, if the kind is ``Kind/failure``.
    public var failure: DataSourceError?

    /// The other members whose saves made the change.
    private var members: Set<StoreMember> = []
    /// The changed columns, by entity.
    private var columns: [Int: ColumnSet] = [:]
    private var names: Names?

    package init(_ kind: Kind, requeriesStore: Bool = false) {
        self.kind = kind
        self.requeriesStore = requeriesStore
    }

    /// Finds the names of entities, attributes and owning data sources.
    struct Names: Sendable {
        let layout: ModelLayout
        let owner: @Sendable (Int) -> String?
    }
}

extension ListReason {
    /// The names of the entities whose objects changed, and of the many-to-many relationships whose links changed, such as
    /// `ContactEntity.groups`, in alphabetical order.
    public var entities: [String] {
        guard let names else { return [] }
        return columns.keys.map { names.layout.entities[$0].historyName }.sorted()
    }

    /// The names of the attributes that changed in existing objects, in alphabetical order.
    public var attributes: [String] {
        guard let names else { return [] }
        let changed = columns.filter { names.layout.entities[$0.key].links == nil }.map { entity, columns in
            names.layout.entities[entity].columns.enumerated().filter { columns.contains($0.offset) }.map(
                \.element.name)
        }
        return Set(changed.joined()).sorted()
    }

    /// The classes of the data sources that made the saves, in alphabetical order.
    public var sources: [String] {
        guard let names else { return [] }
        return Set(columns.keys.compactMap(names.owner)).sorted()
    }

    /// The processes of the other members that made the saves, for example `process 4711 (importer)`. Empty for saves of this
    /// container.
    public var processes: [String] { members.map(\.description).sorted() }

    mutating func record(_ net: NetChanges, _ names: Names) {
        members.formUnion(net.members)
        saves = net.saves.map { $0.lowerBound.rawValue...$0.upperBound.rawValue } ?? saves
        rowCount = net.rows.count
        columns.merge(net.columns) { $0.union($1) }
        self.names = names
    }

    /// Records saves whose effects are read from the store.
    mutating func record(_ changes: [ChangeSet], ofEntities family: Set<Int>, _ names: Names? = nil) {
        if let names { self.names = names }
        for save in changes {
            saves = (saves?.lowerBound ?? save.number)...save.number
            if let member = save.member { members.insert(member) }
            for changes in save.entities where family.contains(changes.entity) {
                let changed = changes.updated.reduce(into: ColumnSet()) { $0.formUnion($1.columns) }
                columns[changes.entity, default: ColumnSet()].formUnion(changed)
            }
        }
    }

    mutating func addTime(since start: ContinuousClock.Instant) {
        microseconds += start.duration(to: .now) / .microseconds(1)
    }

    /// Joins this reason with the reason of a later report.
    func followed(by later: ListReason) -> ListReason {
        if later.kind == .freshness { return self }
        var both = later
        if kind == .initial || kind == .reset || kind == .dayChange && later.kind != .reset && later.kind != .failure {
            both.kind = kind
        }
        both.saves = saves.map { $0.lowerBound...(later.saves?.upperBound ?? $0.upperBound) } ?? later.saves
        both.rowCount += rowCount
        both.microseconds += microseconds
        both.didReadStore = didReadStore || later.didReadStore
        both.ranOffMain = ranOffMain || later.ranOffMain
        both.columns.merge(columns) { $0.union($1) }
        both.members.formUnion(members)
        return both
    }
}

extension ListReason: CustomStringConvertible {
    /// The reason as one line for a log: `save 12 of ContactDataSource: 3 rows of ContactEntity (name, phone), 14.2 us`.
    ///
    /// For a save of another process, the line names the process: `save 13 of ContactDataSource in process 4711 (importer):
    /// ...`.
    public var description: String {
        var text = kind.description
        if let saves {
            text += saves.count == 1 ? " \(saves.lowerBound)" : " \(saves.lowerBound) to \(saves.upperBound)"
        }
        if !sources.isEmpty { text += " of \(sources.joined(separator: ", "))" }
        if !members.isEmpty { text += " in \(processes.joined(separator: ", "))" }
        text += rowCount == 1 ? ": 1 row" : ": \(rowCount) rows"
        if !entities.isEmpty { text += " of \(entities.joined(separator: ", "))" }
        if !attributes.isEmpty { text += " (\(attributes.joined(separator: ", ")))" }
        text += ", \((microseconds * 10).rounded() / 10) us"
        if ranOffMain { text += " off the main actor" }
        if didReadStore { text += ", read from the store" }
        if requeriesStore { text += ", queries the store after each save" }
        if !prefetched.isEmpty { text += ", prefetched: \(prefetched.joined(separator: ", "))" }
        if !readOneByOne.isEmpty {
            let names = readOneByOne.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value) times" }
            text += ", read one by one: \(names.joined(separator: ", "))"
        }
        return failure.map { "\(text): \($0.message)" } ?? text
    }
}

extension ListReason {
    /// The kind of change. New kinds may be added in any release, so keep a default branch.
    public struct Kind: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        public let rawValue: String

        /// Makes the kind with a raw value, for example from a log.
        ///
        /// ```swift
        /// let kind = ListReason.Kind(rawValue: "save")
        /// ```
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        public var description: String { rawValue }

        /// The list was filled for the first time.
        public static let initial = Kind(rawValue: "initial")
        /// Objects were saved.
        public static let save = Kind(rawValue: "save")
        /// The store was reset. No earlier row is in the list any more.
        public static let reset = Kind(rawValue: "reset")
        /// Saves were rolled back because they could not be written or were discarded.
        public static let rolledBack = Kind(rawValue: "rolledBack")
        /// Another program wrote to the store, so all rows were read again.
        public static let outsideWrites = Kind(rawValue: "outsideWrites")
        /// The main context skipped saves because too many were waiting, so all rows were read again.
        public static let backlog = Kind(rawValue: "backlog")
        /// A bulk change of very many objects was saved, so all rows were read again.
        public static let bulkChange = Kind(rawValue: "bulkChange")
        /// A new day has begun, and the sections of the list are days, weeks or months. No row has changed, but titles such as
        /// "today" may have changed.
        public static let dayChange = Kind(rawValue: "dayChange")
        /// The rows could not be read. The list keeps its old rows. The rows are read again after the next save.
        public static let failure = Kind(rawValue: "failure")
        /// The freshness of the list's scope has changed: ``ObjectRequest/freshnessOf``. No row has changed.
        public static let freshness = Kind(rawValue: "freshness")
        /// The container was closed. The list keeps its rows, and does not change again.
        public static let closed = Kind(rawValue: "closed")
    }
}
