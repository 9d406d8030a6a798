internal import CoreDataSource
internal import Foundation
internal import RawSQLite

/// Saves and readers of a kept history.
extension Bench {
    private static let history = KeptHistory.kept(for: .seconds(86_400), upTo: 4 << 30)

    /// W26-add: W1 in a store that keeps a history; in place of raw: the same in a store that keeps none.
    func recordingAdd() async throws -> Outcome {
        let list = ContactList(0..<options.n)
        let (values, sum) = (list.values, list.checksum)
        return try await recording("W26-add", n: values.count) { history in
            try await withStore(.full, history) { ours in
                let sample = try await ours.measure { try await ours.source.add(values) }
                try verify(ours.url, count: values.count, checksum: sum)
                return sample
            }
        }
    }

    /// W26-sync: W2 in a store that keeps a history; in place of raw: the same in a store that keeps none.
    func recordingSync() async throws -> Outcome {
        let list = ContactList(0..<options.n)
        let changed = list.withOnePercentChanged()
        let (first, second, sum) = (list.values, changed.values, changed.checksum)
        return try await recording("W26-sync", n: second.count) { history in
            try await withStore(.full, history) { ours in
                _ = try await ours.source.sync(first, entity: ContactEntity.self)
                let sample = try await ours.measure {
                    _ = try await ours.source.sync(second, entity: ContactEntity.self)
                }
                try verify(ours.url, count: second.count, checksum: sum)
                return sample
            }
        }
    }

    /// W26-one: W3 with `await add`, NORMAL, in a store that keeps a history; in place of raw: the same in a store that keeps none.
    func recordingOne() async throws -> Outcome {
        let list = ContactList(0..<options.saves)
        let (values, sum) = (list.values, list.checksum)
        return try await recording("W26-one", n: values.count) { history in
            try await withStore(.normal, history) { ours in
                let sample = try await ours.measure { for value in values { try await ours.source.add(value) } }
                try verify(ours.url, count: values.count, checksum: sum)
                return sample
            }
        }
    }

    private func recording(
        _ id: String, n: Int, _ work: (KeptHistory) async throws -> Sample
    ) async throws -> Outcome {
        let results = try await interleaved {
            try await work(Bench.history)
        } raw: {
            try await work(.none)
        }
        return Outcome(id, n: n, aim: "1.3", ours: results.ours, raw: results.raw)
    }

    private func withStore(
        _ synchronous: SynchronousLevel, _ history: KeptHistory, _ work: (ContactStore) async throws -> Sample
    ) async throws -> Sample {
        let url = newFile()
        let ours = try await ContactStore(
            url, synchronous, registeredObjectByteLimit: max(64 << 20, options.n * 1024), history: history)
        let sample = try await work(ours)
        if history != .none {
            try expect(try await ours.container.historyPosition().description != "after record 0", "no record")
        }
        try await ours.container.close()
        remove(url)
        return sample
    }

    /// W27-read: a history is read; raw: its rows are read, and not decoded. W27-trim: saves of one object while each save
    /// drops old records; in place of raw: saves when there is nothing to drop. The aim is for the longest of these saves: none of them
    /// waits for more than 20 ms. There is no aim for reading.
    func readingAndTrimming() async throws -> [Outcome] {
        let url = newFile()
        let count = options.million
        let reading = try await withHistory(url, Bench.history) { ours in
            try await save(0..<count, ours, waitFor: .main)
            try await ours.container.flush()
            return try await compare(rounds: 1) {
                try await ours.measure {
                    var read = 0
                    for try await record in ours.container.history() where record.hasValues { read += 1 }
                    try expect(read == count, "\(read) of \(count) records were read")
                }
            } raw: {
                let reader = raw_open_reader(url.path)
                defer { raw_close(reader) }
                return measureRaw { _ = raw_value(reader, "SELECT sum(length(changes)) FROM _history") }
            }
        }
        let saves = count..<count + options.saves
        let untrimmed = try await withHistory(url, Bench.history) { try await save(saves, $0, waitFor: .store) }
        let trimmed = try await withHistory(url, .kept(for: .seconds(86_400), upTo: 64 << 10)) { ours in
            let sample = try await save(saves, ours, waitFor: .store)
            let left = raw_open_reader(url.path)
            defer { raw_close(left) }
            let rows = raw_value(left, "SELECT count(*) FROM _history")
            try expect(rows < max(2 * options.saves, count - 32 * options.saves), "\(rows) records are left")
            return sample
        }
        remove(url)
        return [
            Outcome("W27-read", n: count, aim: "", ours: reading.ours, raw: reading.raw),
            Outcome("W27-trim", n: saves.count, aim: "max 20 ms", ours: [trimmed], raw: [untrimmed]),
        ]
    }

    private func withHistory<Result>(
        _ url: URL, _ history: KeptHistory, _ work: (ContactStore) async throws -> Result
    ) async throws -> Result {
        let ours = try await ContactStore(url, .normal, history: history)
        let result = try await work(ours)
        try await ours.container.close()
        return result
    }

    /// Saves one of 1,000 contacts with a new age for each number.
    @discardableResult
    private func save(_ numbers: Range<Int>, _ ours: ContactStore, waitFor level: SaveLevel) async throws -> Sample {
        let latencies = Latencies()
        var sample = try await ours.measure {
            for number in numbers {
                var value = ContactValue(number % 1000)
                value.age = Int32(number)
                let start = raw_now()
                try await ours.source.add(value, waitFor: level)
                latencies.add(raw_now() - start)
            }
        }
        sample.latencies = latencies.all
        return sample
    }
}
