import CoreDataSource
import Foundation
import RowStore
import Synchronization
import TestSupport

/// The container that all tasks of a schedule use, as long as it is the one, and what each of them is doing.
final class ScheduleWorld: Sendable {
    struct Opened: Sendable {
        let container: PersistentContainer
        let recordSources: [any RecordSource]
    }

    let simulation: Simulation
    let disk: SimulatedDisk
    let findings: Findings
    private let opened = Mutex<Opened?>(nil)
    private let activities = Mutex<[String: String]>([:])
    private let saves = Mutex<[Int: Task<Void, any Error>]>([:])
    private let lists = Mutex<[Task<Void, Never>]>([])
    /// How many lists are followed.
    private let followers = Mutex(0)
    /// What the list of each data source shows, and how often that has changed.
    private let shown = Mutex<[Int: (version: Int, records: [RecordData])]>([:])
    private let seed: UInt64
    /// Whether saves over two data sources are made too. Private contexts work one after the other then.
    let hasPairs: Bool

    init(seed: UInt64, _ findings: Findings) {
        self.seed = seed
        self.findings = findings
        hasPairs = seed.isMultiple(of: 3)
        simulation = Simulation(seed: seed, keepsPrivateQueuesApart: hasPairs)
        disk = SimulatedDisk(ModelLayout(.stress), simulation)
    }

    // MARK: What is going on

    func note(_ part: String, _ activity: String?) {
        simulation.note("\(part) \(activity ?? "has ended")")
        activities.withLock { $0[part] = activity }
    }

    /// What each part was doing.
    var report: String {
        activities.withLock { $0.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: "; ") }
    }

    func recordViolation(_ sentence: String, _ count: Findings.Count? = nil) {
        findings.recordViolation("\(sentence), schedule seed \(seed)", count)
    }

    // MARK: The container

    var current: Opened? { opened.withLock { $0 } }

    /// The container, as soon as there is one.
    func currentContainer(for part: String) async -> Opened? {
        note(part, "waits for a container")
        for _ in 0..<50_000 {
            if let opened = current { return opened }
            await simulation.pause()
        }
        recordViolation("no container was opened again", .hangs)
        return nil
    }

    /// Opens the store, once whoever had it has closed it.
    func open() async {
        var store = disk.open()
        for _ in 0..<20_000 where store == nil {
            await simulation.pause()
            store = disk.open()
        }
        guard let store else {
            return recordViolation("the store was not closed with the last reference to it", .hangs)
        }
        // So small that callers are held, and main falls behind.
        let configuration = PersistentContainer.Configuration(
            registeredObjectByteLimit: 4_000, pendingByteLimit: 3_000, queuedValueLimit: 12, mainBacklogByteLimit: 6_000
        )
        let container = PersistentContainer(
            disk.layout, store, startup: StoreStartup(reason: .current), configuration: configuration,
            scheduling: simulation.scheduling)
        do {
            let recordSources = try await container.recordSources
            shown.withLock { $0 = [:] }
            for (number, recordSource) in recordSources.enumerated() { follow(recordSource, number) }
            opened.withLock { $0 = Opened(container: container, recordSources: recordSources) }
        } catch {
            recordViolation("\(error)")
        }
    }

    private func follow(_ recordSource: any RecordSource, _ number: Int) {
        followers.withLock { $0 += 1 }
        let task = Task.detached {
            await recordSource.follow { records in self.show(records, number) }
            self.followers.withLock { $0 -= 1 }
        }
        lists.withLock { $0.append(task) }
    }

    private func show(_ records: [RecordData], _ number: Int) {
        shown.withLock { $0[number] = ($0[number, default: (0, [])].version + 1, records) }
    }

    /// Whether the list of a data source comes to show those records.
    func isListed(_ records: Set<RecordData>, _ number: Int) async -> Bool {
        var seen = -1
        for _ in 0..<2_000 {
            let latest = shown.withLock { $0[number] }
            if let latest, latest.version != seen {
                if Set(latest.records) == records { return true }
                seen = latest.version
            }
            await simulation.pause()
        }
        return false
    }

    /// What is wrong when everybody has ended: lists that were not notified of it, a store that was not closed, or too early.
    var leftovers: String? {
        if disk.wasClosedWhileWriting { return "a store was closed during a commit" }
        let followers = followers.withLock { $0 }
        if followers > 0 { return "\(followers) lists have not ended" }
        return disk.isInUse ? "the store was not closed" : nil
    }

    /// Takes the container away from everybody.
    ///
    /// - Parameter cancelsLists: Whether nobody follows its lists any more; otherwise they end with the container.
    func take(cancelsLists: Bool = true) -> Opened? {
        let taken = opened.withLock { opened in
            defer { opened = nil }
            return opened
        }
        let lists = lists.withLock { lists in
            defer { lists = [] }
            return lists
        }
        if cancelsLists { for list in lists { list.cancel() } }
        return taken
    }

    // MARK: Reads

    /// The records of all data sources in one state, which is the same when it is looked at again.
    func read(_ opened: Opened) async throws -> [[RecordData]] {
        let recordSources = opened.recordSources
        let (first, second) = try await opened.container.read { context in
            let first = try recordSources.map { try $0.records(in: context) }
            Simulation.interleave()
            return (first, try recordSources.map { try $0.records(in: context) })
        }
        findings.count(.reads)
        if first.map({ Set($0) }) != second.map({ Set($0) }) { recordViolation("a read sees two states", .stale) }
        return first
    }

    // MARK: Saves

    /// Runs a save in a task that others may cancel.
    func cancellable(_ client: Int, _ body: @escaping @Sendable () async throws -> Void) async throws {
        let task = Task { try await body() }
        saves.withLock { $0[client] = task }
        defer { saves.withLock { $0[client] = nil } }
        try await task.value
    }

    func cancel(_ client: Int) { saves.withLock { $0[client] }?.cancel() }
}
