internal import CoreDataSource
internal import Foundation
internal import RawSQLite

extension Bench {
    /// W15: a million contacts added in saves of 10,000 each, NORMAL; what counts is the peak of memory. Three rounds.
    func addingInBatches() async throws -> Outcome {
        let size = 10_000
        let total = options.million
        let results = try await compare(rounds: min(3, options.rounds)) {
            let url = newFile()
            let ours = try await ContactStore(url, .normal)
            let making = Latencies()
            var sample = try await ours.measure {
                for start in stride(from: 0, to: total, by: size) {
                    let begin = raw_now()
                    let values = (start..<start + size).map { ContactValue($0) }
                    making.add(raw_now() - begin)
                    try await ours.source.add(values)
                }
            }
            sample.nanoseconds -= making.all.reduce(0, +)
            try await ours.container.close()
            remove(url)
            return sample
        } raw: {
            let url = newFile()
            let store = raw_create(url.path, schema, 0)
            let list = ContactList(0..<total)
            let raw = list.raw
            let sample = measureRaw {
                for start in stride(from: 0, to: total, by: size) { raw_insert(store, raw, start, start + size) }
            }
            raw_close(store)
            remove(url)
            return sample
        }
        return Outcome("W15", n: total, aim: "200 MB", ours: results.ours, raw: results.raw)
    }

    /// W15-unread, W15-full, W15-edited, W15-list: the bytes that malloc has given out for each contact that main holds, that was
    /// read, that a private context holds with one edit, and that is only a row of a list; raw: its struct with the texts.
    ///
    /// Each looks through the whole table first, so that the page cache of its connection is full before the count begins.
    func countingBytes() async throws -> [Outcome] {
        let list = ContactList(0..<options.n)
        let url = newFile()
        let filled = try await ContactStore(url, .normal)
        try await filled.source.add(list.values)
        try await filled.container.close()
        let ours = try await ContactStore(url, .normal)
        let (unread, full) = try await bytesOnMain(ours)
        let edited = try await bytesEdited(ours)
        try await ours.container.close()
        let listing = try await ContactStore(url, .normal)
        let listed = try await bytesInList(listing)
        try await listing.container.close()
        let raw = bytesRaw(url.path)
        remove(url)
        let found = [
            ("W15-unread", unread, "256 B"), ("W15-full", full, "256 B"), ("W15-edited", edited, "420 B"),
            ("W15-list", listed, ""),
        ]
        return found.map { id, bytes, aim in
            var outcome = Outcome(id, n: options.n, aim: aim, ours: [], raw: [])
            outcome.bytes = (bytes, raw)
            return outcome
        }
    }

    @MainActor
    private func bytesOnMain(_ ours: ContactStore) throws -> (unread: Int, full: Int) {
        _ = try ours.source.main.first(ContactEntity.self, where: \.note == "nothing")
        let before = raw_allocated()
        let contacts = try ours.source.fetch(ContactEntity.self)
        let unread = raw_allocated() - before
        let length = contacts.reduce(0) { $0 + $1.name.utf8.count + ($1.note?.utf8.count ?? 0) }
        try expect(length == 80 * contacts.count, "the names and notes are of \(length) bytes")
        let full = raw_allocated() - before
        return (unread / contacts.count, full / contacts.count)
    }

    /// Of a list whose rows nobody has used.
    @MainActor
    private func bytesInList(_ ours: ContactStore) throws -> Int {
        _ = try ours.source.main.first(ContactEntity.self, where: \.note == "nothing")
        let before = raw_allocated()
        let list = try ours.source.list(ObjectRequest(ContactEntity.self, order: [SortDescriptor(\.name)]))
        return try withExtendedLifetime(list) {
            try expect(list.count == options.n, "the list has \(list.count) rows")
            return (raw_allocated() - before) / list.count
        }
    }

    private func bytesEdited(_ ours: ContactStore) async throws -> Int {
        try await ours.source.perform { context in
            _ = try context.first(ContactEntity.self, where: \.note == "nothing")
            let before = raw_allocated()
            let contacts = try context.fetch(ContactEntity.self)
            for contact in contacts { contact.age += 1 }
            let bytes = (raw_allocated() - before) / contacts.count
            context.rollback()
            return bytes
        }
    }

    private func bytesRaw(_ path: String) -> Int {
        let reader = raw_open_reader(path)
        defer { raw_close(reader) }
        _ = raw_value(reader, ContactValue.checksumSQL)
        let before = raw_allocated()
        var count = 0
        let rows = raw_fetch_all(reader, &count)
        defer { raw_rows_free(rows, count) }
        return (raw_allocated() - before) / max(1, count)
    }
}
