internal import CoreDataSource
internal import Foundation
internal import RawSQLite

extension Bench {
    /// W1: a list into an empty store, through the hook, in one save; raw: one transaction of inserts.
    func adding() async throws -> Outcome {
        let list = ContactList(0..<options.n)
        let (values, raw, sum) = (list.values, list.raw, list.checksum)
        let results = try await compare {
            let url = newFile()
            let ours = try await Ours(url, .full)
            let sample = try await ours.measure { try await ours.source.add(values) }
            try expect(sample.rowsWritten == values.count, "\(sample.rowsWritten) rows were written")
            try verify(url, count: values.count, checksum: sum)
            try await ours.container.close()
            remove(url)
            return sample
        } raw: {
            let url = newFile()
            let store = raw_create(url.path, schema, 1)
            let sample = measureRaw { raw_insert(store, raw, 0, values.count) }
            try verify(url, count: values.count, checksum: sum)
            raw_close(store)
            remove(url)
            return sample
        }
        return Outcome("W1", n: values.count, aim: "2", ours: results.ours, raw: results.raw)
    }
}
