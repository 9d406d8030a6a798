import CoreDataSource
import Foundation
import RowStore
import SQLiteStore
import StoreTestModel
import TestSupport

/// A process that shares a store with others.
///
/// For each line `go COUNT SEED` it makes so many saves from each of three tasks, says `copied COUNT`, how often it has copied
/// the log of a file so far, and `done`; for `check` it says `same` once all that it shows is what the file has, or what is not;
/// for `quit` it closes the store. Of each save of its own record it says
/// `saved NUMBER TEXT`, of each attempt at it that was refused `refused TEXT`, of one that failed `failed ERROR`.
@MainActor
struct SharingChild {
    private let place: SharedPlace
    private let number: Int

    init(_ arguments: [String]) throws {
        guard arguments.count == 2, let place = SharedPlace(arguments[0]), let number = Int(arguments[1]) else {
            throw Suite.InvalidArguments(arguments: arguments)
        }
        self.place = place
        self.number = number
    }

    /// The key of the blue record that one process alone writes.
    nonisolated static func ownKey(_ number: some CustomStringConvertible) -> String { "own/\(number)" }

    func run() async throws {
        let container = try await open()
        let recordSources = try container.recordSources
        let lists = recordSources.map { FollowedList($0) }
        let file = try place.reader()
        say("open")
        let lines = AsyncStream<String>.makeStream()
        Thread {
            while let line = readLine() { lines.continuation.yield(line) }
            lines.continuation.finish()
        }.start()
        var revision: Int64 = 0
        let main = MainWatch()
        for await line in lines.stream {
            let words = line.split(separator: " ")
            switch words.first {
            case "go":
                let (count, seed) = (Int(words[1]) ?? 0, UInt64(words[2]) ?? 0)
                revision = await save(count, seed, recordSources, revision)
                if let store = container.stack.root.store as? SQLiteStore {
                    say("copied \(store.counters.checkpointCount)")
                }
                say("waited \(main.longestWait)")
                say("done")
            case "check": say(try await difference(recordSources, lists, file))
            default:
                try await container.close()
                return say("closed")
            }
        }
    }

    /// Opens the store, as often as it takes: the others may keep the file longer than an opening waits for it.
    private func open() async throws -> PersistentContainer {
        while true {
            do {
                return try place.open()
            } catch let error as DataSourceError where error.code == .storeBusy {
                try await Task.sleep(for: .milliseconds(20))
            }
        }
    }

    private func save(
        _ count: Int, _ seed: UInt64, _ recordSources: [any RecordSource], _ revision: Int64
    ) async -> Int64 {
        let base = SeededRandom(seed: seed &+ UInt64(number))
        await withTaskGroup(of: Void.self) { group in
            for (table, recordSource) in recordSources.enumerated() {
                let random = base.branch(UInt64(table))
                group.addTask { await Self.save(count, table, recordSource, random) }
            }
            let (number, blue) = (number, recordSources[2])
            group.addTask {
                for step in 1...Int64(max(1, count / 4)) {
                    await Self.saveOwn(number, revision + step, blue)
                }
            }
        }
        return revision + Int64(max(1, count / 4))
    }

    /// Each attempt has a text of its own, which the feed has once or not at all.
    private nonisolated static func saveOwn(_ number: Int, _ revision: Int64, _ blue: any RecordSource) async {
        var own = RecordData(key: ownKey(number), task: Int32(number), revision: revision)
        var attempts = 0
        await attempt {
            attempts += 1
            let text = "\(number)/\(revision)/\(attempts)"
            own.text = text
            do {
                try await blue.put([own])
                say("saved \(revision) \(text)")
            } catch {
                // It may be there after all.
                if (error as? DataSourceError)?.code != .outcomeUnknown { say("refused \(text)") }
                throw error
            }
        }
    }

    private nonisolated static func save(
        _ count: Int, _ table: Int, _ recordSource: any RecordSource, _ random: SeededRandom
    ) async {
        var random = random
        for _ in 0..<count {
            let all = Array(0..<RecordFile.recordCount)
            let some = all.shuffled(using: &random).prefix(1 + random.next(below: 4)).map { record in
                RecordData(
                    key: RecordFile.key(table, record), task: 1000, revision: Int64(random.next() >> 30),
                    text: random.next(below: 3) == 0 ? nil : "text \(random.next() >> 40)")
            }
            let kind = random.next(below: 10)
            await attempt {
                switch kind {
                case 0..<2: try await recordSource.put(some, waitFor: .main)
                case 2..<6: try await recordSource.put(some, waitFor: .store)
                case 6..<9: try await recordSource.remove(some)
                default: try await recordSource.replaceTask(1000, with: some)
                }
            }
        }
    }

    private nonisolated static func attempt(_ body: () async throws -> Void) async {
        // On a machine with much else to do, another process may keep the file longer than a save waits for it. A server may be
        // away for as long as it takes to start another one; the watchdog of the suite says if it never comes back.
        var attempts = 0
        while true {
            do {
                return try await body()
            } catch let error as DataSourceError where isRetryable(error) && attempts < 200 {
                if error.code != .storeUnavailable { attempts += 1 }
                try? await Task.sleep(for: .milliseconds(error.code == .storeBusy ? 0 : 20))
            } catch {
                return say(ChildProcess.line(for: error))
            }
        }
    }

    private nonisolated static func isRetryable(_ error: DataSourceError) -> Bool {
        // A process is halted for 8 seconds, and a batch waits for 10, of which others take their turns.
        [.storeBusy, .storeUnavailable, .outcomeUnknown, .leaseLost, .saveRolledBack, .leaseUnavailable].contains(
            error.code)
    }

    /// What does not show what the file has, thirty seconds of this process after everybody has stopped.
    private func difference(
        _ recordSources: [any RecordSource], _ lists: [FollowedList], _ file: any RecordReader
    ) async throws -> String {
        var different = ""
        let end = RunningClock.shared.now + .seconds(30)
        repeat {
            let all = try recordSources.indices.map { Set(try file.records($0)) }
            different = ""
            // Lists first: what else is asked looks into the file.
            for table in recordSources.indices where Set(lists[table].shown) != all[table] {
                different += "the list of \(RecordFile.tables[table]) "
            }
            if different.isEmpty {
                for table in recordSources.indices {
                    if Set(try recordSources[table].mainRecords()) != all[table] {
                        different += "main \(RecordFile.tables[table]) "
                    }
                    if Set(try await recordSources[table].contextRecords()) != all[table] {
                        different += "context \(RecordFile.tables[table]) "
                    }
                }
            }
            if different.isEmpty { return "same" }
            try await Task.sleep(for: .milliseconds(20))
        } while RunningClock.shared.now < end
        return "not as the file: \(different)"
    }
}

extension StressStore {
    static func sharedOptions(_ url: URL) -> SQLiteStore.Options {
        var options = SQLiteStore.Options(
            url: url, layout: ModelLayout(.stress), identity: TestModel.identity(of: .stress), synchronous: .normal,
            resetPolicy: .fail)
        options.isShared = true
        // So that the log is copied often.
        options.logLimit = 40
        return options
    }

    /// Opens a store that others may have open.
    static func openShared(_ url: URL) throws -> PersistentContainer {
        let store = try SQLiteStore.open(sharedOptions(url))
        return PersistentContainer(ModelLayout(.stress), store, startup: store.startup)
    }
}
