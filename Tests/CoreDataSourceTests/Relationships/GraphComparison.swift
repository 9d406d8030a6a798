import CoreDataSource
import RowStore
import Testing

extension PersistentContainer {
    /// Whether main, a read and a batch show that graph from both sides of each relationship, and no link leads to a row that is
    /// gone but those that No Action left. Records what is different.
    @MainActor func isEqual(to expected: GraphReference, _ label: Testing.Comment) async throws -> Bool {
        let wanted = expected.compacted
        let source = try dataSource(GraphDataSource.self)
        let found = [
            "main": (try GraphReference(main), try GraphReference.inverses(main)),
            "a read": try await read { (try GraphReference($0), try GraphReference.inverses($0)) },
            "a batch": try await source.perform { (try GraphReference($0), try GraphReference.inverses($0)) },
        ]
        var isEqual = true
        for (place, graphs) in found {
            var graph = graphs.0.compacted
            graph.dangling = wanted.dangling
            let differences = graph.differences(from: wanted)
            #expect(differences.isEmpty, "\(label), in \(place)")
            #expect(graphs.1 == wanted.inverses, "\(label), in \(place)")
            isEqual = isEqual && differences.isEmpty && graphs.1 == wanted.inverses
        }
        let lost = try lostLinks()
        #expect(lost == wanted.dangling.sorted(), label)
        return isEqual && lost == wanted.dangling.sorted()
    }

    /// The links that lead to rows that are gone, as "Cat 3.keeper", and rows of links whose ends are gone, in order.
    func lostLinks() throws -> [String] {
        let layout = stack.layout
        var keys: [Int: Set<Int64>] = [:]
        var rows: [Int: [StoredRow]] = [:]
        for entity in layout.entities where !entity.isAbstract {
            rows[entity.index] = try stack.root.rows.rows(RowQuery(entity: entity.index), entity).rows
            keys[entity.index] = Set(rows[entity.index]?.map(\.key) ?? [])
        }
        func isLost(_ row: StoredRow, _ column: Int, _ family: [Int]) -> Bool {
            !row.row.isNull(column) && !family.contains { keys[$0]?.contains(row.row.integer(column)) == true }
        }
        func key(_ row: StoredRow, _ entity: EntityLayout) -> String {
            guard let column = entity.columns.firstIndex(where: { $0.attribute?.name == "key" }) else { return "?" }
            return row.row.text(column)
        }
        var lost: [String] = []
        for entity in layout.entities where !entity.isAbstract {
            for relationship in entity.relationships {
                switch relationship.storage {
                case .column(let column):
                    for row in rows[entity.index] ?? []
                    where isLost(row, column.key, relationship.destinationFamily) {
                        lost.append("\(entity.name) \(key(row, entity)).\(relationship.name)")
                    }
                case .pairs(let pairs):
                    for row in rows[pairs.layout] ?? []
                    where isLost(row, pairs.other.key, relationship.destinationFamily) {
                        lost.append("a link of \(entity.name).\(relationship.name)")
                    }
                case .inverseColumn, .none: break
                }
            }
        }
        return lost.sorted()
    }
}
