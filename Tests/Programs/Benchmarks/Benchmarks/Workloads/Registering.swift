internal import CoreDataSource
internal import Foundation
internal import RawSQLite

extension Bench {
    /// W13-register: the longest time for which main has no turn, while a list of three times as many contacts is registered
    /// off main, sorted by name; raw: the same main while plain C reads these contacts in that order on another thread.
    func registering() async throws -> Outcome {
        let list = ContactList(0..<3 * options.n)
        let url = newFile()
        let ours = try await ContactStore(url, .normal)
        try await ours.source.add(list.values)
        var samples: (ours: [Sample], raw: [Sample]) = ([], [])
        for round in 0...options.rounds {
            let sample = try await stallOfRegistering(ours, list.values.count)
            let raw = try await stallOfReading(url, list.values.count)
            // The first round warms up.
            if round > 0 {
                samples.ours.append(sample)
                samples.raw.append(raw)
            }
        }
        try await ours.container.close()
        remove(url)
        return Outcome("W13-register", n: list.values.count, aim: "8 ms", ours: samples.ours, raw: samples.raw)
    }

    @MainActor
    private func stallOfRegistering(_ ours: ContactStore, _ count: Int) async throws -> Sample {
        let delegate = CountingDelegate()
        let turns = try await turns {
            try await ours.source.registerOffMain(
                delegate, dataKey: "all", ObjectRequest(ContactEntity.self, order: [SortDescriptor(\.name)]))
        }
        let bound = ours.source.numberOfItems(inSection: 0, dataKey: "all")
        try expect(bound == count, "\(bound) rows are bound")
        ours.source.unregister(dataKey: "all")
        return Sample(nanoseconds: turns.max() ?? 0, latencies: turns)
    }

    private func stallOfReading(_ url: URL, _ count: Int) async throws -> Sample {
        let found = Latencies()
        let turns = try await turns {
            let reader = raw_open_reader(url.path)
            var read = 0
            let rows = raw_fetch(reader, "ORDER BY name", 1, &read)
            found.add(UInt64(read))
            raw_rows_free(rows, read)
            raw_close(reader)
        }
        try expect(found.all == [UInt64(count)], "raw read \(found.all) contacts")
        return Sample(nanoseconds: turns.max() ?? 0, latencies: turns)
    }
}
