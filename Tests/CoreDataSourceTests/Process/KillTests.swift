import CoreDataSource
import Foundation
import Testing

/// A process that is killed in the middle of its work loses nothing that it was told is saved, and no save is half there.
///
/// `CRASH_ROUNDS` says how many processes are killed.
@Suite(.serialized)
struct KillTests {
    static let rounds = ProcessInfo.processInfo.environment["CRASH_ROUNDS"].flatMap { Int($0) } ?? 12

    @Test(arguments: 0..<rounds)
    @MainActor
    func whatWasAcknowledgedIsThereAndEachSaveIsWhole(round: Int) async throws {
        let directory = try TemporaryDirectory()
        let path = directory.url.path
        // Three rounds of one store, so that the last two also start on what a killed process left.
        for start in 0..<3 {
            let delay = 15 + round * 7 % 60 + start
            await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, delay = delay as Int] in
                try await saveUntilKilled(in: path, milliseconds: delay)
            }
            try await expectWholeSaves(in: path)
        }
    }
}

/// Saves batches of five from three data sources, and notes each one that was acknowledged, until the process dies.
@MainActor
private func saveUntilKilled(in path: String, milliseconds: Int) async throws {
    let directory = URL(filePath: path)
    let container = try await PersistentContainer(
        model: .chat, store: .sqlite(directory.appending(path: "store.sqlite")))
    let sources =
        [
            try container.dataSource(SenderDataSource.self), try container.dataSource(RoomDataSource.self),
            try container.dataSource(MessageDataSource.self),
        ] as [DataSource<any Sendable>]
    let acknowledgements = open(directory.appending(path: "acknowledged").path, O_WRONLY | O_APPEND | O_CREAT, 0o600)
    DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(milliseconds)) { kill(getpid(), SIGKILL) }
    let run = UUID().uuidString
    await withTaskGroup(of: Void.self) { group in
        for (index, source) in sources.enumerated() {
            group.addTask {
                for batch in 0... {
                    let id = "\(index)/\(run)/\(batch)"
                    let rows = (0..<5).map { ItemData(key: "\(id)/\($0)", number: Int64(batch), text: id) }
                    guard (try? await source.add(rows)) != nil else { return }
                    let line = id + "\n"
                    _ = line.withCString { write(acknowledgements, $0, strlen($0)) }
                }
            }
        }
    }
}

@MainActor
private func expectWholeSaves(in path: String) async throws {
    let directory = URL(filePath: path)
    let store = directory.appending(path: "store.sqlite")
    let container = try await PersistentContainer(model: .chat, store: .sqlite(store))
    let batches = Dictionary(grouping: try container.main.fetch(Item.self)) { $0.text }
    #expect(batches.values.allSatisfy { $0.count == 5 }, "a save is half there")
    let noted = (try? String(contentsOf: directory.appending(path: "acknowledged"), encoding: .utf8)) ?? ""
    for id in noted.split(separator: "\n") {
        #expect(batches[String(id)] != nil, "an acknowledged save is lost")
    }
    try await container.close()
    try expectIntact(store)
}
