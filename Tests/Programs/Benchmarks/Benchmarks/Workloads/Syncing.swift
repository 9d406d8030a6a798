internal import CoreDataSource
internal import Foundation
internal import RawSQLite

extension Bench {
    /// W2 and W2-same: a list that was synced before is synced again, with 1% changed or none, while its objects are
    /// registered; raw: an upsert for each contact, which writes only where a column differs.
    ///
    /// Ours would also delete what the list lacks; raw does not look for it.
    func syncing(isSame: Bool) async throws -> Outcome {
        let list = ContactList(0..<options.n)
        let changed = isSame ? ContactList(0..<options.n) : list.withOnePercentChanged()
        let expected = isSame ? 0 : (options.n + 99) / 100
        let (first, second, sum) = (list.values, changed.values, changed.checksum)
        let (rawFirst, rawSecond) = (list.raw, changed.raw)
        let results = try await compare {
            let url = newFile()
            let ours = try await ContactStore(url, .full, registeredObjectByteLimit: max(64 << 20, options.n * 1024))
            _ = try await ours.source.sync(first, entity: ContactEntity.self)
            let sample = try await ours.measure {
                let report = try await ours.source.sync(second, entity: ContactEntity.self)
                try expect(
                    report.updated == expected && report.unchanged == first.count - expected && report.inserted == 0
                        && report.deleted == 0, "a sync reported \(report)")
            }
            try expect(sample.rowsWritten == expected, "\(sample.rowsWritten) rows were written")
            try verify(url, count: second.count, checksum: sum)
            try await ours.container.close()
            remove(url)
            return sample
        } raw: {
            let url = newFile()
            let store = raw_create(url.path, schema, 1)
            raw_insert(store, rawFirst, 0, first.count)
            let sample = measureRaw { raw_upsert(store, rawSecond) }
            try expect(raw_rows_written(store) == expected, "raw wrote \(raw_rows_written(store)) rows")
            try verify(url, count: second.count, checksum: sum)
            raw_close(store)
            remove(url)
            return sample
        }
        return Outcome(
            isSame ? "W2-same" : "W2", n: second.count, aim: isSame ? "0.4" : "0.45", ours: results.ours,
            raw: results.raw)
    }
}
