import Foundation
import JSONFolderStore
import ManagedModel
import RowStore
import SQLiteStore
import StoreFaults
import StoreTestModel
import TestSupport
import Testing

/// Where the stores of one test are, empty at first.
protocol StoreTarget {
    /// Opens the store, or makes it. One that is shared may be opened by several members.
    func open(_ history: KeptHistory) throws -> any PersistentStore

    /// Expects what is there to be sound. Nobody has it open.
    func verify() throws
}

extension StoreTarget {
    /// Opens the store, or makes it. It keeps a history if it has one.
    func open() throws -> any PersistentStore { try open(.unchanged) }
}

/// A kind of stores, all of which keep the same promises. A new one joins by a line in ``all``.
struct TestedStore: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// Whether rows stay when the store is closed.
    var isPersistent = true
    /// Whether several members may have it open.
    var isShared = false
    /// Why a string that holds a NUL is refused; nil if it is not.
    var codeOfNUL: DataSourceError.Code?
    /// The same for a unique string of 20,000 bytes.
    var codeOfLongUnique: DataSourceError.Code?
    let make: @Sendable (ModelLayout, LeaseTimes) throws -> any StoreTarget

    static let memory = TestedStore(testDescription: "memory", isPersistent: false) { layout, _ in
        MemoryPlace(layout: layout)
    }
    static let sqlite = TestedStore(testDescription: "SQLite") { layout, times in
        try SQLitePlace(layout, times, isShared: false)
    }
    static let sharedSQLite = TestedStore(testDescription: "shared SQLite", isShared: true) { layout, times in
        try SQLitePlace(layout, times, isShared: true)
    }
    /// One that an app could write.
    static let jsonFolder = TestedStore(testDescription: "JSON folder") { layout, _ in try JSONFolderPlace(layout) }

    static let all: [TestedStore] = [.memory, .sqlite, .sharedSQLite, .jsonFolder] + onServers
    static let persistent = all.filter(\.isPersistent)
    static let shared = all.filter(\.isShared)

    func makePlace(_ layout: ModelLayout = TestModel.layout, _ times: LeaseTimes = .patient) throws
        -> any StoreTarget
    {
        try make(layout, times)
    }

    /// Runs a test over a new store.
    func withStore(_ layout: ModelLayout = TestModel.layout, _ body: (any PersistentStore) throws -> Void) throws {
        let place = try makePlace(layout)
        let store = try place.open()
        try body(store)
        store.close()
        try place.verify()
    }

    /// The same for a test that waits.
    func withStore(_ body: (any PersistentStore) async throws -> Void) async throws {
        let place = try makePlace()
        let store = try place.open()
        try await body(store)
        store.close()
        try place.verify()
    }

    /// Runs a test over a new store that as many members have open.
    func withMembers(
        _ count: Int, _ times: LeaseTimes = .patient, _ body: ([Member]) async throws -> Void
    ) async throws {
        let place = try makePlace(TestModel.layout, times)
        let members = try (0..<count).map { _ in try Member(place.open()) }
        try await body(members)
        for member in members { member.store.close() }
        try place.verify()
    }
}

extension LeaseTimes {
    /// For tests in which nobody counts as stopped, however long a machine takes.
    static let patient = {
        var times = LeaseTimes()
        (times.patience, times.answer) = (.seconds(3600), .seconds(3600))
        return times
    }()
}

/// Somebody who has a shared store open.
struct Member: Sendable {
    let store: any PersistentStore
    let sharing: any StoreSharing

    init(_ store: any PersistentStore) throws {
        self.store = store
        sharing = try #require(store.sharing)
    }

    /// All that has happened since a position, read page by page.
    func readFeed(after position: Int64) throws -> (position: Int64, events: [FeedEvent]) {
        var (position, events): (Int64, [FeedEvent]) = (position, [])
        while true {
            let page = try sharing.readFeed(after: position)
            #expect(page.position > position || !page.isMore)
            position = page.position
            events += page.events
            if !page.isMore { return (position, events) }
        }
    }
}

private struct MemoryPlace: StoreTarget {
    let layout: ModelLayout

    func open(_ history: KeptHistory) -> any PersistentStore { InMemoryStore(layout, history: history) }
    func verify() {}
}

private struct SQLitePlace: StoreTarget {
    private let folder: TemporaryDirectory
    private let options: SQLiteStore.Options

    init(_ layout: ModelLayout, _ times: LeaseTimes, isShared: Bool) throws {
        folder = try TemporaryDirectory()
        var options = SQLiteStore.Options(
            url: folder.url.appending(component: "test.store"), layout: layout, identity: TestModel.identity(),
            synchronous: .normal, resetPolicy: .discard)
        (options.isShared, options.leaseTimes) = (isShared, times)
        self.options = options
    }

    func open(_ history: KeptHistory) throws -> any PersistentStore {
        var options = options
        options.history = history
        return try SQLiteStore.open(options)
    }

    func verify() { #expect(integrity(of: options.url) == "ok") }
}

private struct JSONFolderPlace: StoreTarget {
    private let folder: TemporaryDirectory
    private let layout: ModelLayout
    private var url: URL { folder.url.appending(component: "test") }

    init(_ layout: ModelLayout) throws {
        folder = try TemporaryDirectory()
        self.layout = layout
    }

    func open(_ history: KeptHistory) throws -> any PersistentStore {
        let options = StoreOptions(
            layout: layout, identity: TestModel.identity(), synchronous: .normal, history: history)
        return try JSONFolderStore(url, options)
    }

    /// Every file can be read.
    func verify() throws { try open().close() }
}
