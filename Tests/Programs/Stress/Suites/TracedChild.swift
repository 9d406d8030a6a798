import CoreDataSource
import Foundation
import SQLiteStore

/// What a process does while it is killed at a system call.
enum TracedWork: String, CaseIterable {
    /// Stores the second answer of a server.
    case load
    /// Reverts the last record of the history.
    case revert

    /// The name of a file beside the store, which the process looks for once the store is open. There need not be one: a trace shows that
    /// the work begins there.
    static let mark = "mark"
    static let scope = SyncScope<Red>("red")
    static let first = (0..<5).map { RecordData(key: "\($0)", revision: 1, text: "first") }
    static let second = (1..<6).map { RecordData(key: "\($0)", revision: 2, text: "second") }

    static func open(_ folder: URL) throws -> PersistentContainer {
        try StressStore.open(
            StressStore.url(in: folder), history: .kept(for: .seconds(86_400), upTo: 64 << 20), calls: .system)
    }

    /// Makes the store.
    @MainActor
    func fill(_ folder: URL) async throws {
        let container = try TracedWork.open(folder)
        let red = try container.dataSource(RedDataSource.self)
        try await red.load(TracedWork.scope, maxAge: .zero, timeLimit: .seconds(3600)) { _ in
            .list(TracedWork.first, entityTag: "1")
        }
        if self == .revert {
            try await red.perform { context in
                for record in try context.fetch(Red.self) { record.text = "edited" }
            }
        }
        try await container.close()
    }

    @MainActor
    func run(_ container: PersistentContainer) async throws {
        // A revert needs the owner of the rows.
        let red = try container.dataSource(RedDataSource.self)
        switch self {
        case .load:
            try await red.load(TracedWork.scope, maxAge: .zero, timeLimit: .seconds(3600), deleting: .all) { _ in
                .list(TracedWork.second, entityTag: "2")
            }
        case .revert:
            var last: HistoryRecord?
            for try await record in container.history() { last = record }
            if let last { try await container.revert(last) }
        }
    }

    /// What is wrong with a store after the process was killed; nil if nothing is.
    @MainActor
    func difference(_ container: PersistentContainer) async throws -> String? {
        let red = try container.dataSource(RedDataSource.self)
        let rows = Set(try red.mainRecords())
        var count = 0
        for try await _ in container.history() { count += 1 }
        let isDone = count == (self == .load ? 2 : 3)
        let tag = try red.freshness(of: TracedWork.scope).entityTag
        let edited = TracedWork.first.map { RecordData(key: $0.key, revision: $0.revision, text: "edited") }
        let (expected, expectedTag): ([RecordData], String?) =
            switch self {
            case .load: isDone ? (TracedWork.second, "2") : (TracedWork.first, "1")
            // A revert may change what the tag stands for.
            case .revert: isDone ? (TracedWork.first, nil) : (edited, "1")
            }
        if rows != Set(expected) { return "\(count) records, but the rows \(rows)" }
        if tag != expectedTag { return "\(count) records, but the tag \(tag ?? "nil")" }
        return try await HistoryReplay(container).difference()
    }
}

/// Opens a store, does its work, and closes the store.
@MainActor
struct TracedChild {
    private let folder: URL
    private let work: TracedWork

    init(_ arguments: [String]) throws {
        guard arguments.count == 2, let work = TracedWork(rawValue: arguments[0]) else {
            throw Suite.InvalidArguments(arguments: arguments)
        }
        (self.work, folder) = (work, URL(filePath: arguments[1]))
    }

    func run() async throws {
        let container = try TracedWork.open(folder)
        _ = access(folder.appending(component: TracedWork.mark).path, F_OK)
        try await work.run(container)
        say("done")
        try await container.close()
    }
}
