/// Whether a store keeps a history of its saves, and how much of it: the value of `Configuration.history`.
///
/// ```swift
/// configuration.history = .kept(for: .seconds(7 * 86_400), upTo: 64 << 20)
/// ```
///
/// A store remembers whether it keeps a history. If it does, all containers and processes that open the store record their
/// saves.
public struct KeptHistory: Sendable, Hashable {
    package enum Choice: Sendable, Hashable {
        case unchanged, none
        case kept(Limits)
    }

    /// How long the records of a history are kept, and how many bytes they may have.
    package struct Limits: Sendable, Hashable {
        package var seconds: Int64
        package var bytes: Int64

        package init(seconds: Int64, bytes: Int64) {
            self.seconds = seconds
            self.bytes = bytes
        }

        /// The maximum size of a save whose values are recorded, in bytes of its rows. The record of a larger save has no
        /// values, so that one large save does not drop all records before it.
        package var largestSave: Int64 { min(bytes / 2, 512 << 20) }

        /// The largest value of ``seconds``, about 2,000 years. With this limit, sums of times in milliseconds do not overflow.
        static let mostSeconds: Int64 = 1 << 36
        /// The smallest value of ``bytes``.
        package static let leastBytes = 64 << 10
    }

    package let choice: Choice

    /// The store keeps its history if it has one. A new store keeps none. This is the default.
    public static let unchanged = KeptHistory(choice: .unchanged)

    /// The store keeps no history. If the store has a history, its records are dropped.
    public static let none = KeptHistory(choice: .none)

    /// The store keeps its saves for some time, and up to a number of bytes.
    ///
    /// ```swift
    /// let history = KeptHistory.kept(for: .seconds(86_400), upTo: 16 << 20)
    /// ```
    ///
    /// Records that are older than `time` are dropped as soon as all registered consumers have read them. If all records
    /// together have more than `bytes`, the oldest records are dropped even if no consumer has read them. Both limits are
    /// checked when something is saved, and a save drops only a few records. So the history may exceed its limits for a while.
    ///
    /// - Parameters:
    ///   - time: How long a record is kept; at least a second, and at most about 2,000 years.
    ///   - bytes: The maximum size of all records together, in bytes; at least 64 KiB.
    public static func kept(for time: Duration, upTo bytes: Int) -> KeptHistory {
        KeptHistory(
            choice: .kept(
                Limits(
                    seconds: min(max(1, time.components.seconds), Limits.mostSeconds),
                    bytes: Int64(max(Limits.leastBytes, bytes)))))
    }
}

/// The records that a reader of the kept history gets. Each property that is set leaves out the records that do not match the
/// property. Records of the kind ``HistoryKind/reset`` are always included.
///
/// ```swift
/// var filter = HistoryFilter()
/// filter.kinds = [.local]
/// filter.entityNames = ["ContactEntity"]
/// ```
public struct HistoryFilter: Sendable, Hashable {
    /// The authors; nil for all. An empty string stands for saves without an author.
    public var authors: Set<String>?
    /// The class names of the data sources; nil for all. An empty string stands for records without a data source.
    public var dataSourceNames: Set<String>?
    /// The kinds; nil for all.
    public var kinds: Set<HistoryKind>?
    /// The names of entities; nil for all. A record is included if it changes objects of at least one of these entities or of
    /// their sub-entities. The name of a relationship, such as `ContactEntity.groups`, includes the records that change links
    /// of this many-to-many relationship. For an entity that was renamed, use the new name. Records from before the renaming
    /// are found, too, even if the entity was renamed several times. Records of migrations, and records of writes by other
    /// programs, are always included, because the changed entities are not known.
    public var entityNames: Set<String>?
    /// The maximum number of records that a store looks at for a page. Each store also has its own maximum.
    package var pageLimit = Int.max
    /// Whether records are returned with their values.
    package var includesValues = true

    /// Makes a filter. Without arguments, the filter includes all records.
    ///
    /// ```swift
    /// let filter = HistoryFilter(authors: ["importer"])
    /// ```
    public init(
        authors: Set<String>? = nil, dataSourceNames: Set<String>? = nil, kinds: Set<HistoryKind>? = nil,
        entityNames: Set<String>? = nil
    ) {
        self.authors = authors
        self.dataSourceNames = dataSourceNames
        self.kinds = kinds
        self.entityNames = entityNames
    }

    package func includes(_ record: StoredRecord) -> Bool {
        // After a reset, all that a reader knows is out of date. So each reader must get this record.
        if record.kind == .reset { return true }
        if let authors, !authors.contains(record.author ?? "") { return false }
        if let dataSourceNames, !dataSourceNames.contains(record.dataSourceName ?? "") { return false }
        if let kinds, !kinds.contains(record.kind) { return false }
        guard let entityNames else { return true }
        if record.entityNames.isEmpty { return !record.isPassedStep }
        return !entityNames.isDisjoint(with: record.entityNames)
    }
}
