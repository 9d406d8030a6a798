internal import RowStore

/// The existing pair rows of the links that a merge makes or removes, as of the beginning of the merge.
///
/// These rows are read together. Otherwise each link would be looked up separately.
struct ExistingLinks {
    /// A link by the keys of its ends. If another program has given objects of two entities the same key, two links can have the
    /// same keys.
    struct Keys: Hashable {
        let source: Int64
        let destination: Int64

        init(_ source: Int64, _ destination: Int64) {
            self.source = source
            self.destination = destination
        }
    }

    /// By layout: the links whose rows were read, and that the merge has not changed yet.
    private var known: [Int: Set<Keys>] = [:]
    /// By layout: the rows that exist.
    private var rows: [Int: [Keys: ManagedObject]] = [:]

    /// If there are fewer links, each link is looked up separately.
    private static let leastLinks = 8
    /// The largest number of links that are read at once.
    private static let linksPerRead = 500
    /// The largest number of pairs of a source and a destination in a read. A store may look up every pair.
    private static let pairsPerRead = 1 << 14

    /// Reads the rows of links.
    ///
    /// - Parameters:
    ///   - wanted: The links that the merge makes or removes, by their layouts.
    ///   - context: A context without edits of links.
    init(_ wanted: [Int: [Keys]], in context: PrivateContext) throws {
        for (layout, wanted) in wanted.sorted(by: { $0.key < $1.key }) where wanted.count >= ExistingLinks.leastLinks {
            let pairs = context.stack.layout.entities[layout].pairColumns(isReversed: false)
            let editor = context.linkContext(pairs)
            // If all rows are registered, a look-up reads nothing from the store.
            if editor.bindings[layout].hasAllRows { continue }
            for part in ExistingLinks.parts(wanted) {
                let query = RowQuery(
                    entity: layout,
                    predicate: .and([
                        ExistingLinks.isAny(of: Set(part.map(\.source)), pairs.own.key),
                        ExistingLinks.isAny(of: Set(part.map(\.destination)), pairs.other.key),
                    ]))
                let found = try editor.reading { () throws(DataSourceError) in
                    try editor.unsortedObjects(FetchPlan(query))
                }
                for object in found {
                    let keys = Keys(object.row.integer(pairs.own.key), object.row.integer(pairs.other.key))
                    rows[layout, default: [:]][keys] = object
                }
            }
            known[layout] = Set(wanted)
        }
    }

    /// The row with the keys of a link. The outer optional is nil if the link must be looked up. The inner optional is nil if no
    /// row has the keys.
    func row(_ keys: Keys, _ layout: Int) -> ManagedObject?? {
        known[layout]?.contains(keys) == true ? .some(rows[layout]?[keys]) : nil
    }

    /// Records that the merge makes or removes a link.
    mutating func recordChange(of keys: Keys, _ layout: Int) { known[layout]?.remove(keys) }

    private static func isAny(of keys: Set<Int64>, _ column: Int) -> RowPredicate {
        .isMember(.column(column), ValueList(keys.sorted().map { .integer($0) }, .natural))
    }

    /// Divides links into parts with few pairs of a source and a destination: the links of one object come together.
    private static func parts(_ wanted: [Keys]) -> [[Keys]] {
        let bySource = Set(wanted.map(\.source)).count <= Set(wanted.map(\.destination)).count
        let sorted = wanted.sorted {
            bySource
                ? ($0.source, $0.destination) < ($1.source, $1.destination)
                : ($0.destination, $0.source) < ($1.destination, $1.source)
        }
        var (parts, part): ([[Keys]], [Keys]) = ([], [])
        var (sources, destinations): (Set<Int64>, Set<Int64>) = ([], [])
        for link in sorted {
            sources.insert(link.source)
            destinations.insert(link.destination)
            if part.count == linksPerRead || sources.count * destinations.count > pairsPerRead {
                parts.append(part)
                (part, sources, destinations) = ([], [link.source], [link.destination])
            }
            part.append(link)
        }
        return part.isEmpty ? parts : parts + [part]
    }
}
