internal import CoreDataSource
internal import Foundation
internal import RawSQLite

extension Bench {
    /// W28-fresh: loads of a scope whose objects are fresh, on the main actor; in place of raw: reads of its freshness, each of which
    /// reads a row.
    func loadingFresh() async throws -> Outcome {
        let (url, count) = (newFile(), options.saves)
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
        return Outcome("W28-fresh", n: count, aim: "", ours: results.ours, raw: results.raw)
    }

    @MainActor
    private func loadFresh(
        _ count: Int, _ scope: SyncScope<ContactEntity>, _ ours: ContactStore
    ) async throws -> Sample {
        let start = raw_now()
        for _ in 0..<count {
            try await ours.source.load(scope, maxAge: .seconds(3600)) { _ in
                throw WrongResult("a fresh list was requested")
            }
        }
        return Sample(nanoseconds: raw_now() - start)
    }

    /// W28-askers: 1,000 tasks load one stale scope of 1,000 objects, with one request; in place of raw: one task loads it.
    func loadingTogether() async throws -> Outcome {
        let values = ContactList(0..<1000).values
        let results = try await interleaved {
            try await loadTogether(1000, values)
        } raw: {
            try await loadTogether(1, values)
        }
        return Outcome("W28-askers", n: 1000, aim: "", ours: results.ours, raw: results.raw)
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
