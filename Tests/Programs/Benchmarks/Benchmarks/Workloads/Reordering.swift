internal import CoreDataSource
internal import Foundation
internal import RawSQLite

extension Bench {
    /// W21: main's processor time for a save that renames a thread of 100 messages, in a list of 10,000 that is ordered by the
    /// titles of their threads; raw: the list read again.
    func reordering() async throws -> Outcome {
        let (messages, threads) = (10_000, 100)
        let url = try await newMail(threads: threads, messages: messages)
        let ours = try await openMail(url)
        var latencies = try await renameTimes(ours, threads)
        // The first saves warm up.
        latencies.removeFirst(min(10, latencies.count))
        try expect(!latencies.isEmpty, "main changed its thread in each save")
        try await ours.container.close()
        let reader = raw_open_reader(url.path)
        defer { raw_close(reader) }
        let raw = (0...options.rounds).map { _ in measureRaw { raw_mail_list(reader) } }
        remove(url)
        let sample = Sample(nanoseconds: latencies.median, latencies: latencies)
        return Outcome("W21", n: messages, aim: "1 ms", ours: [sample], raw: raw)
    }

    @MainActor
    private func renameTimes(_ ours: OpenStore<MailSource>, _ threads: Int) async throws -> [UInt64] {
        let delegate = RowCountingDelegate()
        let request = ObjectRequest(MailMessage.self, order: [.ascending(\.thread?.title)])
        try ours.source.register(delegate, dataKey: "list", request)
        let main = ours.container.mainTier
        await main.waitForLists()
        var times: [UInt64] = []
        for save in 0..<60 {
            let (thread, start) = (raw_thread(), raw_thread_time())
            let source = ours.source
            try await Task.detached {
                try await source.perform { context in
                    let number = Int64(save * 37 % threads)
                    try context.first(MailThread.self, where: \.number, equals: number)?.title =
                        "Thread about matter number \(save * 7919 % 100) again"
                }
            }.value
            main.merge()
            await main.waitForLists()
            // Another thread may serve the main queue now, and has a time of its own.
            if raw_thread() == thread { times.append(raw_thread_time() - start) }
        }
        try expect(delegate.reports == 60, "\(delegate.reports) reports of 60 saves")
        let fetched = try ours.source.main.ids(request)
        let listed = ours.source.allObjects(dataKey: "list").map(\.objectID)
        try expect(fetched == listed, "the list of \(listed.count) rows is not in the order of a fetch")
        return withExtendedLifetime(delegate) { times }
    }
}

/// Counts reports, and looks at each row.
@MainActor
private final class RowCountingDelegate: DataSourceDelegate {
    private(set) var reports = 0
    private var changes = 0

    func didChangeObject(
        _ object: ManagedObject, at indexPath: IndexPath?, for type: ListChangeType, newIndexPath: IndexPath?,
        dataKey: String
    ) {
        changes += 1
    }

    func didChangeContent(dataKey: String) { reports += 1 }
}
