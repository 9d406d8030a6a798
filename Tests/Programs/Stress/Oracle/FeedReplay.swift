import RowStore

/// The rows of a store as its feed reports them.
struct FeedReplay {
    private let layout: ModelLayout
    private var position: Int64
    private var rows: [Int: [Int64: RowSnapshot]] = [:]
    /// How often each text was written to a record that one process alone writes.
    private var attempts: [String: Int] = [:]
    /// How many positions there were.
    private(set) var commits: Int64 = 0

    init(_ layout: ModelLayout, after position: Int64) {
        self.layout = layout
        self.position = position
    }

    /// Replays what there is.
    ///
    /// - Parameter report: Called with what contradicts what was replayed before.
    mutating func catchUp(_ store: some StoreSharing, _ report: (String) -> Void) throws {
        while true {
            let page = try store.readFeed(after: position)
            for event in page.events {
                guard case .changes(let changes) = event else {
                    report("the feed does not say what happened after \(position)")
                    continue
                }
                for entity in changes.entities { apply(entity, report) }
            }
            commits += page.position - position
            position = page.position
            if page.foundOutsideWrites { report("a write from outside was found") }
            if !page.isMore { return }
        }
    }

    private mutating func apply(_ changes: EntityChanges, _ report: (String) -> Void) {
        let entity = layout.entities[changes.entity]
        var known = rows[changes.entity] ?? [:]
        func expect(_ key: Int64, _ before: RowSnapshot?) {
            let values = known[key].map { self.values($0, entity) }
            if values != before.map({ self.values($0, entity) }) {
                report("a change of \(entity.name) \(key) does not begin where the one before it ended")
            }
        }
        for row in changes.deleted {
            expect(row.key, row.row)
            known[row.key] = nil
        }
        for row in changes.updated {
            expect(row.key, row.previous)
            known[row.key] = row.row
            countAttempt(row.row, entity)
        }
        for row in changes.inserted {
            expect(row.key, nil)
            known[row.key] = row.row
            countAttempt(row.row, entity)
        }
        rows[changes.entity] = known
    }

    private mutating func countAttempt(_ row: RowSnapshot, _ entity: EntityLayout) {
        let columns = ["key", "text"].compactMap(entity.column(named:))
        guard columns.count == 2, row.text(columns[0]).hasPrefix(SharingChild.ownKey("")) else { return }
        attempts[row.text(columns[1]), default: 0] += 1
    }

    /// - Parameter report: Called with each attempt that is not there exactly once, or is there although it was refused.
    func check(_ reported: (saved: [String], refused: [String]), _ report: (String) -> Void) {
        for text in reported.saved where attempts[text] != 1 {
            report("the feed has the acknowledged save \(text) \(attempts[text] ?? 0) times")
        }
        for text in reported.refused where attempts[text] != nil { report("the feed has the refused save \(text)") }
    }

    private func values(_ row: RowSnapshot, _ entity: EntityLayout) -> [RowValue] {
        entity.columns.indices.map { row.value($0, entity.columns[$0].storage) }
    }

    /// The records of one table.
    func records(_ table: String) -> Set<RecordData> {
        guard let entity = layout.entity(named: table) else { return [] }
        let columns = ["key", "task", "revision", "text"].compactMap(entity.column(named:))
        return Set(
            (rows[entity.index] ?? [:]).values.map { row in
                RecordData(
                    key: row.text(columns[0]), task: Int32(row.integer(columns[1])), revision: row.integer(columns[2]),
                    text: row.isNull(columns[3]) ? nil : row.text(columns[3]))
            })
    }
}
