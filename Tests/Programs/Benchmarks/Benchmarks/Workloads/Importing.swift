internal import CoreDataSource
internal import Foundation
internal import RawSQLite

extension Bench {
    /// W13: the longest time for which main has no turn, while so many contacts are imported in one save and a list of a
    /// tenth as many rows is bound, which a tenth of the new ones enter; raw: the same main while plain C imports them on
    /// another thread and nobody shows any.
    ///
    /// - Parameters:
    ///   - changeLimit: How many rows that enter the list are reported one by one.
    ///   - isAllBound: Whether the list has as many rows before the import as are imported.
    func importing(_ id: String, changeLimit: Int = .max, isAllBound: Bool = false) async throws -> Outcome {
        let count = options.n
        var samples: (ours: [Sample], raw: [Sample]) = ([], [])
        for round in 0...options.rounds {
            let ours = try await stallOfOurs(count, changeLimit, isAllBound)
            let raw = try await stallOfRaw(count)
            // The first round warms up.
            if round > 0 {
                samples.ours.append(ours)
                samples.raw.append(raw)
            }
        }
        return Outcome(id, n: count, aim: "5 ms", ours: samples.ours, raw: samples.raw)
    }

    private func stallOfOurs(_ count: Int, _ changeLimit: Int, _ isAllBound: Bool) async throws -> Sample {
        let url = newFile()
        let ours = try await ContactStore(url, .normal)
        var bound = ContactList(0..<count).values
        if isAllBound { for index in bound.indices { bound[index].score = 0.5 } }
        try await ours.source.add(bound)
        let values = ContactList(count..<2 * count).values
        let boundCount = isAllBound ? count : count / 10
        let sample = try await longestStall(ours, bound: boundCount, entering: count / 10, changeLimit) {
            try await ours.source.add(values, waitFor: .main)
        }
        try await ours.container.close()
        remove(url)
        return sample
    }

    private func stallOfRaw(_ count: Int) async throws -> Sample {
        let url = newFile()
        let schema = schema
        let turns = try await turns {
            let list = ContactList(0..<count)
            let store = raw_create(url.path, schema, 0)
            raw_insert(store, list.raw, 0, count)
            raw_close(store)
        }
        try verify(url, count: count, checksum: ContactList(0..<count).checksum)
        remove(url)
        return Sample(nanoseconds: turns.max() ?? 0, latencies: turns)
    }

    @MainActor
    private func longestStall(
        _ ours: ContactStore, bound: Int, entering: Int, _ changeLimit: Int,
        _ work: @escaping @Sendable () async throws -> Void
    ) async throws -> Sample {
        let delegate = CountingDelegate(changeLimit: changeLimit)
        try ours.source.register(
            delegate, dataKey: "list",
            ObjectRequest(
                ContactEntity.self, where: \ContactEntity.score < 100, order: [FetchOrder(SortDescriptor(\.name))]))
        let before = ours.source.numberOfItems(inSection: 0, dataKey: "list")
        try expect(before == bound, "\(before) rows are bound")
        let turns = try await self.turns { try await work() }
        let shown = ours.source.numberOfItems(inSection: 0, dataKey: "list")
        let reported = changeLimit < entering ? 0 : entering
        try expect(
            shown == bound + entering && delegate.changes == reported && delegate.reports == 1,
            "\(shown) rows are shown at the end, and \(delegate.changes) were reported")
        return Sample(nanoseconds: turns.max() ?? 0, latencies: turns)
    }

    /// The times from one turn of main to its next, as long as the work goes on elsewhere.
    @MainActor
    func turns(_ work: @escaping @Sendable () async throws -> Void) async throws -> [UInt64] {
        let isDone = Latencies()
        let working = Task.detached {
            defer { isDone.add(1) }
            try await work()
        }
        var turns: [UInt64] = []
        var last = raw_now()
        while isDone.all.isEmpty {
            await Task.yield()
            let now = raw_now()
            turns.append(now - last)
            last = now
        }
        try await working.value
        return turns
    }
}
