internal import CoreDataSource
internal import Foundation
internal import RawSQLite

extension Bench {
    /// W28-fresh: 1,000 loads of a scope whose objects are fresh, on the main actor; in place of raw: reads of its freshness, each of
    /// which reads a row. The aim is for the median of single loads.
    func loadingFresh() async throws -> Outcome {
        let (url, count) = (newFile(), 1000)
        let ours = try await ContactStore(url, .normal)
        let scope = SyncScope("contacts", ContactEntity.self)
        let values = ContactList(0..<1000).values
        try await ours.source.load(scope, maxAge: .seconds(3600)) { _ in .list(values, entityTag: "1") }
        let results = try await interleaved {
            try await loadFresh(count, scope, ours)
        } raw: {
            try measureRaw { for _ in 0..<count { _ = try ours.source.freshness(of: scope) } }
        }
        try await ours.container.close()
        remove(url)
        return Outcome("W28-fresh", n: count, aim: "p50 2 us", ours: results.ours, raw: results.raw)
    }

    @MainActor
    private func loadFresh(
        _ count: Int, _ scope: SyncScope<ContactEntity>, _ ours: ContactStore
    ) async throws -> Sample {
        var latencies: [UInt64] = []
        latencies.reserveCapacity(count)
        let start = raw_now()
        var last = start
        for _ in 0..<count {
            try await ours.source.load(scope, maxAge: .seconds(3600)) { _ in
                throw WrongResult("a fresh list was requested")
            }
            let now = raw_now()
            latencies.append(now - last)
            last = now
        }
        return Sample(nanoseconds: last - start, latencies: latencies)
    }

    /// W28-askers: 1,000 tasks load one stale scope of 1,000 objects; in place of raw: one task loads it. The aim is for the number of
    /// requests: more than one ends the run.
    func loadingTogether() async throws -> Outcome {
        let values = ContactList(0..<1000).values
        let results = try await interleaved {
            try await loadTogether(1000, values)
        } raw: {
            try await loadTogether(1, values)
        }
        return Outcome("W28-askers", n: 1000, aim: "1 request", ours: results.ours, raw: results.raw)
    }

    private func loadTogether(_ tasks: Int, _ values: [ContactValue]) async throws -> Sample {
        let url = newFile()
        let ours = try await ContactStore(url, .normal)
        let scope = SyncScope("contacts", ContactEntity.self)
        let requests = Latencies()
        let sample = try await ours.measure {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<tasks {
                    group.addTask {
                        try await ours.source.load(scope, maxAge: .seconds(3600)) { _ in
                            requests.add(1)
                            return .list(values, entityTag: "1")
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
        try expect(requests.all.count == 1, "\(requests.all.count) requests were made")
        try await ours.container.close()
        remove(url)
        return sample
    }
}
