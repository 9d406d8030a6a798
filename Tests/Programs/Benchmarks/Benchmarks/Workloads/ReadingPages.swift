internal import CoreDataSource
internal import Foundation
internal import RawSQLite

extension Bench {
    /// W6-pages and W6-pages-bytes: a million contacts read off main in pages of 1,000 values, and how much the memory of the process grows
    /// meanwhile; raw: a statement for each page, a struct a row.
    func readingPages(_ million: URL) async throws -> [Outcome] {
        var growth = (ours: 0, raw: 0)
        let size = 1000
        let ours = try await ContactStore(million, .normal)
        let results = try await compare(rounds: min(3, options.rounds)) {
            let before = memory()
            let sample = try await ours.measure {
                var count = 0
                for try await page in ours.container.pages(as: ContactLine.self, size: size) { count += page.count }
                try expect(count == options.million, "the pages have \(count) contacts")
            }
            growth.ours = max(growth.ours, raw_peak() - before)
            return sample
        } raw: {
            let before = memory()
            let sample = try measureRaw { try readPagesRaw(million, size) }
            growth.raw = max(growth.raw, raw_peak() - before)
            return sample
        }
        try await ours.container.close()
        var bytes = Outcome("W6-pages-bytes", n: options.million, aim: "16 MB", ours: [], raw: [])
        bytes.bytes = growth
        return [Outcome("W6-pages", n: options.million, aim: "", ours: results.ours, raw: results.raw), bytes]
    }

    private func readPagesRaw(_ url: URL, _ size: Int) throws {
        let reader = raw_open_reader(url.path)
        defer { raw_close(reader) }
        var (last, total): (Int64, Int) = (0, 0)
        while true {
            var count = 0
            let rows = raw_fetch(reader, "WHERE _key > \(last) ORDER BY _key LIMIT \(size)", 1, &count)
            if count > 0, let row = rows?[count - 1] { last = row.pointee.key }
            raw_rows_free(rows, count)
            if count == 0 { break }
            total += count
        }
        try expect(total == options.million, "raw read \(total) contacts")
    }
}

/// What an app keeps of a contact that it sends on.
private struct ContactLine: ManagedObjectConvertible {
    let uid: String
    let name: String
    let note: String?
    let age: Int32

    init(_ contact: ContactEntity) {
        (uid, name, note, age) = (contact.uid, contact.name, contact.note, contact.age)
    }
}
