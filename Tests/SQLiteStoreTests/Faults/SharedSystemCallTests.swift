import Foundation
import RowStore
import SQLiteStore
import StoreTestModel
import TestSupport
import Testing

/// A process that shares a store, killed by the system at the calls of its save for the store's files, while others have it open.
///
/// Every call is tried with `COREDATASOURCE_THOROUGH`, and about twenty of them, at equal distances, without.
@Suite(.serialized, .enabled(if: TracedProgram.isAvailable, "\(TracedProgram.comment)"))
struct SharedSystemCallTests {
    /// The process takes leases, commits, copies the log and closes. Only calls that ask for nothing but a state are left out.
    private let program = TracedProgram(
        arguments: ["save", "mark"], calls: "!close,newfstatat,pread64,fchown,readlink,getdents64", mark: "mark")

    @Test func aMemberThatIsKilledInItsSaveLeavesAllOfItOrNothingAndKeepsNobodyWaiting() async throws {
        let place = try SharedPlace()
        guard let (all, child) = try await program.list(place.folder) else { return }
        try #require(child.output == "saved\nclosed\n", "\(child.output)\(child.errors)")
        try await place.expectOthersContinue(child, "not killed")
        let calls = Array(all.drop { !$0.line.contains("/mark\"") }.dropFirst())
        let names = Set(calls.map(\.name))
        #expect(names.isSuperset(of: ["pwrite64", "fdatasync", "fcntl", "flock"]), "\(names)")
        let tried = calls.some(20)
        var kills = 0
        for call in tried {
            let place = try SharedPlace()
            guard let child = try await program.run(place.folder, "signal=KILL", at: call) else { return }
            try #require([0, SIGKILL].contains(child.status), "\(call): \(child.output)\(child.errors)")
            try await place.expectOthersContinue(child, "killed at \(call), \(call.line)")
            if child.status == SIGKILL { kills += 1 }
        }
        // With others beside it, it may try for a lock once more or once less, so that the last calls are not always reached.
        #expect(kills > tried.count * 3 / 4)
    }
}

/// A store that this process shares with itself: one member writes, and one follows.
private final class SharedPlace {
    let folder: TemporaryFolder
    private let options: SQLiteStore.Options
    private let writer: SQLiteStore
    private let follower: SQLiteStore
    private let start: Int64
    private let received: ReceivedKeys
    private let entities = [TestModel.item, 1]

    init() throws {
        folder = try TemporaryFolder()
        var options = SQLiteStore.Options.test(folder)
        options.isShared = true
        self.options = options
        writer = try SQLiteStore.open(options)
        follower = try SQLiteStore.open(options)
        try writer.write([SharedPlace.save(1)])
        start = try writer.position()
        let (received, follower) = (ReceivedKeys(after: start), follower)
        self.received = received
        follower.listen { received.readFeed(follower) }
    }

    deinit {
        follower.close()
        writer.close()
    }

    private static func save(_ key: Int64) -> ChangeSet {
        .of(insert: [StoredRow(key: key, row: TestModel.row(code: "\(key)"))])
    }

    /// Expects the save of the process, all of it or nothing, wherever one looks, and that nothing of the process is in the way.
    func expectOthersContinue(_ child: Subprocess, _ moment: String) async throws {
        let isThere = try writer.row(100) != nil
        #expect(try (writer.row(101, entity: 1) != nil) == isThere, "\(moment)")
        #expect(isThere || !child.output.contains("saved"), "\(moment)")
        let position = start + (isThere ? 1 : 0)
        #expect(try writer.position() == position, "\(moment)")
        // It may have been killed before it notified the other members.
        let saved: [Int64] = isThere ? [100, 101] : []
        #expect(await received.keys(upTo: position) == saved, "\(moment)")

        let taken = try writer.takeLeases(entities, for: "Next")
        #expect(taken.ticket == nil, "\(moment)")
        var next = SharedPlace.save(200)
        next.leases = taken.table.leases.map { LeaseEpoch(entity: $0.entity, epoch: $0.epoch) }
        try writer.write([next])
        let late = try SQLiteStore.open(options)
        try late.write([SharedPlace.save(300)])
        #expect(await received.keys(upTo: position + 2) == saved + [200, 300], "\(moment)")
        #expect(try late.keys() == (isThere ? [1, 100, 200, 300] : [1, 200, 300]), "\(moment)")
        for store in [late, follower, writer] { store.close() }
        try checkIntegrity(folder)
    }
}

/// The keys of the rows that a follower has heard of.
private final class ReceivedKeys: Sendable {
    private let state: Guarded<(position: Int64, keys: [Int64])>
    private let looks = AsyncStream<Void>.makeStream()

    init(after position: Int64) { state = Guarded((position, [])) }

    /// Takes in what is new.
    func readFeed(_ store: SQLiteStore) {
        state.withLock { state in
            do throws(DataSourceError) {
                var isMore = true
                while isMore {
                    let page = try store.readFeed(after: state.position)
                    state.keys += page.events.flatMap { event -> [Int64] in
                        guard case .changes(let changes) = event else { return [-1] }
                        return changes.entities.flatMap { $0.inserted.map(\.key) }
                    }
                    (state.position, isMore) = (page.position, page.isMore)
                }
            } catch {
                if error.code != .storeClosed { Issue.record(error) }
            }
        }
        looks.continuation.yield()
    }

    /// Waits until the follower has reached that position.
    func keys(upTo position: Int64) async -> [Int64] {
        if state.withLock({ $0.position }) < position {
            for await _ in looks.stream where state.withLock({ $0.position }) >= position { break }
        }
        return state.withLock { $0.keys }
    }
}
