internal import CoreDataSource
internal import Foundation
internal import RawSQLite

/// A delegate that does what a table's would, but for the drawing: it takes the object and its name.
@MainActor
final class CountingDelegate: DataSourceDelegate {
    private(set) var changes = 0
    private(set) var reports = 0
    private var lengths = 0
    var onReport: @MainActor () -> Void = {}
    private let changeLimit: Int

    init(changeLimit: Int = .max) { self.changeLimit = changeLimit }

    func changeLimit(dataKey: String) -> Int { changeLimit }

    func didChangeObject(
        _ object: ManagedObject, at indexPath: IndexPath?, for type: ListChangeType, newIndexPath: IndexPath?,
        dataKey: String
    ) {
        changes += 1
        if let contact = object as? ContactEntity { lengths += contact.name.utf8.count }
    }

    func didChangeContent(dataKey: String) {
        reports += 1
        onReport()
    }
}

extension Bench {
    /// W11-main: main's time for a save of one contact while that many are in a list sorted by name, an insert, an edit, a
    /// move and a delete by turns; raw: the list read again.
    func followingOnMain(_ id: String, rows: Int, lists: Int = 1, aim: String) async throws -> Outcome {
        let (ours, url) = try await filled(rows)
        return try await followingOnMain(ours, url, Outcome(id, n: rows, aim: aim, ours: [], raw: []), lists: lists)
    }

    /// W11-main-million: the same in a store with a million contacts.
    func followingMillion(_ million: URL) async throws -> Outcome {
        let ours = try await ContactStore(million, .normal)
        let outcome = Outcome("W11-main-million", n: options.million, aim: "300 us", ours: [], raw: [])
        return try await followingOnMain(ours, million, outcome, lists: 1)
    }

    private func followingOnMain(
        _ ours: ContactStore, _ url: URL, _ outcome: Outcome, lists: Int
    ) async throws -> Outcome {
        var latencies = try await mergeTimes(ours, lists: lists, saves: 400)
        // The first saves warm up.
        latencies.removeFirst(40)
        return try await finish(outcome.id, outcome.n, outcome.aim, ours, url, latencies)
    }

    /// W11-e2e: from the call of `add` on a background task to the end of the delegate's report, NORMAL; raw: the list read
    /// again.
    func followingEndToEnd(_ id: String, rows: Int, aim: String) async throws -> Outcome {
        let (ours, url) = try await filled(rows)
        let delegate = try await register(ours, lists: 1)[0]
        let latencies = try await reportTimes(ours, delegate, rows)
        return try await finish(id, rows, aim, ours, url, latencies)
    }

    /// W11-1000: from a save of 1,000 edits to the end of the report; raw: the list read again.
    func followingBulk(_ id: String, rows: Int, aim: String) async throws -> Outcome {
        let (ours, url) = try await filled(rows)
        let delegate = try await register(ours, lists: 1)[0]
        var latencies: [UInt64] = []
        for round in 0..<10 {
            let changed = (0..<1000).map { number in
                var value = ContactValue(number * (rows / 1000))
                value.name = number % 10 == 0 ? "Moved \(number * 7919 % 1000) \(round)" : value.name
                value.age = Int32(round)
                return value
            }
            latencies.append(try await bulkTime(ours, changed))
        }
        latencies.removeFirst(2)
        let reports = await delegate.reports
        try expect(reports == 10, "\(reports) reports of 10 saves")
        return try await finish(id, rows, aim, ours, url, latencies)
    }

    // MARK: Ours

    private func filled(_ rows: Int) async throws -> (ours: ContactStore, url: URL) {
        let url = newFile()
        let ours = try await ContactStore(url, .normal)
        try await ours.source.add(ContactList(0..<rows).values)
        return (ours, url)
    }

    @MainActor
    private func register(_ ours: ContactStore, lists: Int) throws -> [CountingDelegate] {
        try (0..<lists).map { index in
            let delegate = CountingDelegate()
            try ours.source.register(
                delegate, dataKey: "list \(index)", ObjectRequest(ContactEntity.self, order: [SortDescriptor(\.name)]))
            return delegate
        }
    }

    @MainActor
    private func mergeTimes(_ ours: ContactStore, lists: Int, saves: Int) throws -> [UInt64] {
        let delegates = try register(ours, lists: lists)
        let main = ours.container.mainTier
        var times: [UInt64] = []
        for save in 0..<saves {
            // Saved on this thread, so that main has no turn in which to merge it.
            try ours.source.performAndWait { context in try change(save, in: context) }
            times.append(time { main.merge() })
        }
        // They are still there: lists go with their delegates.
        for delegate in delegates {
            try expect(delegate.reports == saves, "\(delegate.reports) reports of \(saves) saves")
        }
        try withExtendedLifetime(delegates) { try expectList(ours) }
        return times
    }

    /// An insert, an edit, a move or a delete.
    private func change(_ save: Int, in context: PrivateContext) throws {
        let uid = ContactValue(save * 17).uid
        switch save % 4 {
        case 0:
            let contact = try context.insert(ContactEntity.self)
            contact.uid = "new \(save)"
            contact.name = "Contact name \(save * 7919 % 9_999_999)"
        case 1: try context.first(ContactEntity.self, where: \.uid, equals: uid)?.age += 1
        case 2:
            try context.first(ContactEntity.self, where: \.uid, equals: uid)?.name = "Contact name \(save * 104_729)"
        default:
            if let contact = try context.first(ContactEntity.self, where: \.uid, equals: "new \(save - 3)") {
                context.delete(contact)
            }
        }
    }

    /// Stops unless the list is what a fetch finds.
    @MainActor
    private func expectList(_ ours: ContactStore) throws {
        let fetched = try ours.source.fetch(ContactEntity.self, order: [SortDescriptor(\.name)]).map(\.objectID)
        let listed = ours.source.allObjects(dataKey: "list 0").map(\.objectID)
        try expect(fetched == listed, "a list of \(listed.count) rows differs from a fetch of \(fetched.count)")
    }

    @MainActor
    private func reportTimes(_ ours: ContactStore, _ delegate: CountingDelegate, _ rows: Int) async throws -> [UInt64] {
        var times: [UInt64] = []
        for save in 0..<400 {
            var value = ContactValue(save * 17 % rows)
            value.name = "Contact name \(save * 104_729)"
            times.append(try await reportTime(ours, delegate, value))
        }
        times.removeFirst(40)
        try withExtendedLifetime(delegate) { try expectList(ours) }
        return times
    }

    @MainActor
    private func reportTime(
        _ ours: ContactStore, _ delegate: CountingDelegate, _ value: ContactValue
    ) async throws -> UInt64 {
        let reported = AsyncStream<UInt64>.makeStream()
        delegate.onReport = {
            reported.continuation.yield(raw_now())
            reported.continuation.finish()
        }
        let adding = Task.detached {
            let start = raw_now()
            try await ours.source.add(value)
            return start
        }
        var end: UInt64 = 0
        for await now in reported.stream { end = now }
        return end - (try await adding.value)
    }

    @MainActor
    private func bulkTime(_ ours: ContactStore, _ values: [ContactValue]) async throws -> UInt64 {
        try ours.source.performAndWait { context in
            for value in values { _ = try ours.source.onAdd(value, in: context) }
        }
        let start = raw_now()
        ours.container.mainTier.merge()
        await ours.container.mainTier.waitForLists()
        return raw_now() - start
    }

    // MARK: Raw

    private func finish(
        _ id: String, _ rows: Int, _ aim: String, _ ours: ContactStore, _ url: URL, _ latencies: [UInt64]
    ) async throws -> Outcome {
        try await ours.container.close()
        let sample = Sample(nanoseconds: latencies.median, latencies: latencies)
        let raw = readingTimes(url)
        remove(url)
        return Outcome(id, n: rows, aim: aim, ours: [sample], raw: raw)
    }

    private func readingTimes(_ url: URL) -> [Sample] {
        let reader = raw_open_reader(url.path)
        defer { raw_close(reader) }
        return (0...options.rounds).map { _ in
            var count = 0
            var rows: UnsafeMutablePointer<UnsafeMutablePointer<raw_row>?>?
            let sample = measureRaw { rows = raw_fetch_all(reader, &count) }
            raw_rows_free(rows, count)
            return sample
        }
    }
}
