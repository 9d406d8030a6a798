internal import ManagedModel

/// Says in words what differs between two models.
struct DiffCommand: Command {
    let old: ModelArgument
    let new: ModelArgument

    init(_ words: ArraySlice<String>) throws {
        let paths = try CommandLineWords(words, flags: [], values: []).plain("OLD", "NEW")
        old = ModelArgument(path: paths[0])
        new = ModelArgument(path: paths[1])
    }

    func run(_ warnings: inout [String]) throws -> Report {
        let old = try old.read(&warnings)
        let new = try new.read(&warnings)
        let difference = ModelDifference(from: old, to: new)
        let plan = MigrationPlan(from: old, to: new)
        let json = JSON.object([
            ("differs", .flag(!difference.isEmpty)), ("old", DiffCommand.json(old)), ("new", DiffCommand.json(new)),
            ("changes", difference.json), ("migration", plan.json),
        ])
        guard !difference.isEmpty else {
            return Report(["The models have the same persisted shape: no store is reset."], json)
        }
        return Report(difference.changes.map(\.description) + plan.lines, json, status: .differs)
    }

    private static func json(_ model: ManagedObjectModel) -> JSON {
        .object([
            ("model", .string(model.name)), ("version", .string(model.version)),
            ("hash", .string(model.hash.description)),
        ])
    }
}

extension ModelDifference {
    var json: JSON {
        .list(
            changes.map { change in
                .object([
                    ("entity", .string(change.entityName)), ("property", .string(change.propertyName)),
                    ("change", .string(change.words)),
                ])
            })
    }
}

extension MigrationPlan {
    /// Whether an app that opens a store with the policy to migrate keeps its rows.
    fileprivate var lines: [String] {
        if !isPossible { return ["cannot be migrated:"] + obstacles.map { "  \($0)" } }
        if conditions.isEmpty { return ["can be migrated"] }
        return ["can be migrated, but not a store in which this is so:"] + complaints.map { "  \($0)" }
    }

    private var complaints: [String] {
        var seen: Set<String> = []
        return conditions.map(\.complaint).filter { seen.insert($0).inserted }
    }

    fileprivate var json: JSON {
        .object([
            ("possible", .flag(isPossible)), ("obstacles", .strings(obstacles)), ("conditions", .strings(complaints)),
        ])
    }
}
