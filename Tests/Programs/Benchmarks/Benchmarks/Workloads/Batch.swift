internal import CoreDataSource
internal import Foundation
internal import RawSQLite

extension Bench {
    /// W16: one attribute of a part of all contacts set in one save, which main, lists and other contexts follow; raw: one
    /// UPDATE, which nobody follows.
    func updatingMany() async throws -> Outcome {
        let list = ContactList(0..<options.n)
        let (url, rawURL) = (newFile(), newFile())
        let ours = try await ContactStore(url, .full, registeredObjectByteLimit: 0)
        try await ours.source.add(list.values)
        let store = raw_create(rawURL.path, schema, 1)
        raw_insert(store, list.raw, 0, list.values.count)
        let isYoung = \ContactEntity.age < 30
        let young = list.values.count { $0.age < 30 }
        try expect(young > 0, "nobody is young")
        var score = 1000.0
        var rawScore = 1000.0
        let results = try await compare {
            score += 1
            let next = score
            let sample = try await ours.measure {
                _ = try await ours.source.update(ContactEntity.self, where: isYoung, set: [.set(\.score, next)])
            }
            try expect(sample.rowsWritten == young, "\(sample.rowsWritten) rows of \(young) were written")
            return sample
        } raw: {
            rawScore += 1
            let sql = "UPDATE \"ContactEntity\" SET \"score\" = \(rawScore) WHERE \"age\" < 30 RETURNING 1"
            let sample = measureRaw { _ = raw_value(store, sql) }
            let found = raw_value(store, "SELECT count(*) FROM \"ContactEntity\" WHERE \"score\" = \(rawScore)")
            try expect(found == young, "raw updated \(found) rows of \(young)")
            return sample
        }
        raw_close(store)
        try await ours.container.close()
        remove(url)
        remove(rawURL)
        return Outcome("W16", n: young, aim: "1.3", ours: results.ours, raw: results.raw)
    }

    /// W16-million, W16-bytes: one attribute of a million contacts set in one save, and by how much the memory in use grows
    /// meanwhile at most; raw: one UPDATE.
    func updatingMillion(_ million: URL) async throws -> [Outcome] {
        var growth = (ours: 0, raw: 0)
        var score = 1000.0
        let results = try await compare(rounds: min(3, options.rounds)) {
            let url = try copy(million)
            let ours = try await ContactStore(url, .normal, registeredObjectByteLimit: 0)
            let next = score + 1
            score = next
            let before = memory()
            let sample = try await ours.measure {
                _ = try await ours.source.update(ContactEntity.self, set: [.set(\.score, next)])
            }
            growth.ours = max(growth.ours, raw_peak() - before)
            try expect(sample.rowsWritten == options.million, "\(sample.rowsWritten) rows were written")
            try await ours.container.close()
            remove(url)
            return sample
        } raw: {
            let url = try copy(million)
            let store = raw_open(url.path, 0)
            score += 1
            let sql = "UPDATE \"ContactEntity\" SET \"score\" = \(score) RETURNING 1"
            let before = memory()
            let sample = measureRaw { _ = raw_value(store, sql) }
            growth.raw = max(growth.raw, raw_peak() - before)
            raw_close(store)
            remove(url)
            return sample
        }
        var bytes = Outcome("W16-bytes", n: options.million, aim: "32 MB", ours: [], raw: [])
        bytes.bytes = growth
        let time = Outcome("W16-million", n: options.million, aim: "", ours: results.ours, raw: results.raw)
        return [time, bytes]
    }

    /// How much memory is in use, from where its peak is counted again.
    func memory() -> Int {
        raw_reset_peak()
        return raw_peak()
    }
}
