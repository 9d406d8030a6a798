import CoreDataSource
import RowStore

/// Replays the records of a kept history that has never dropped any.
struct HistoryReplay {
    /// So long and so large that no record of a suite is dropped.
    static let kept = KeptHistory.kept(for: .seconds(7 * 86_400), upTo: 1 << 30)

    private let container: PersistentContainer
    private let layout: ModelLayout

    init(_ container: PersistentContainer) {
        self.container = container
        layout = container.stack.layout
    }

    /// What differs between the replayed records and the store; nil if nothing does.
    func difference() async throws -> String? {
        var rows: [Int: [Int64: [RowValue]]] = [:]
        var last: Int64 = 0
        for try await record in container.history() {
            guard record.number == last + 1 else { return "the record after \(last) is \(record.number)" }
            last = record.number
            for changes in record.changeSet?.entities ?? [] {
                let layout = layout.entities[changes.entity]
                for row in changes.deleted { rows[changes.entity]?[row.key] = nil }
                for row in changes.updated { rows[changes.entity, default: [:]][row.key] = layout.values(of: row.row) }
                for row in changes.inserted { rows[changes.entity, default: [:]][row.key] = layout.values(of: row.row) }
            }
        }
        let stored = try container.stack.root.store.read(.snapshot) { (reader) throws(DataSourceError) in
            var stored: [Int: [Int64: [RowValue]]] = [:]
            for entity in layout.entities where !entity.isAbstract {
                try reader.forEachRow(RowQuery(entity: entity.index)) { row in
                    stored[entity.index, default: [:]][row.key] = entity.values(of: row.row)
                }
            }
            return stored
        }
        return stored == rows.filter { !$0.value.isEmpty } ? nil : "the \(last) records are not the store"
    }
}

extension PersistentContainer {
    var keepsHistory: Bool { stack.root.store.recordStore?.keepsHistory ?? false }
}
