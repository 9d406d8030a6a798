import CoreDataSource

/// A loop that applies what it is told to a table of names.
final class SavesReplay: Sendable {
    struct Entry: Sendable {
        var change: String
        var isOwn: Bool
    }

    private let loop: Task<([String: String], [String], [Entry]), Never>

    init(_ saves: CommittedSaves) {
        loop = Task {
            var (names, problems, order) = ([String: String](), [String](), [Entry]())
            for await event in saves {
                guard case .save(let save) = event, let changes = try? save.changes(of: ManagedObject.self) else {
                    problems.append("\(event)")
                    continue
                }
                for change in changes {
                    let id = "\(change.id)"
                    if names[id] != change.old.map(name) { problems.append("\(id) was \(names[id] ?? "not there")") }
                    names[id] = change.new.map(name)
                }
                let described = changes.map { "\($0.entityName) \($0.id) \($0.new.map { "\($0)" } ?? "deleted")" }
                order.append(Entry(change: described.joined(separator: "; "), isOwn: save.member == nil))
            }
            return (names, problems, order)
        }
    }

    func result() async -> (rows: [String: String], problems: [String]) {
        let result = await loop.value
        return (result.0, result.1)
    }

    var order: [Entry] { get async { await loop.value.2 } }
}

private func name(_ row: ListRow<ManagedObject>) -> String {
    row.map { ($0 as? ContactEntity)?.name ?? ($0 as? GroupEntity)?.name ?? "?" }
}
