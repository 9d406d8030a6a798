internal import CoreDataSource
internal import Foundation
internal import RawSQLite

extension Bench {
    /// W6: all contacts fetched on main, into a context that has registered none of them; raw: a struct for each, in one
    /// block of memory with the texts. If `isRead`, three texts and two numbers of each are read as well.
    func fetching(isRead: Bool) async throws -> Outcome {
        let list = ContactList(0..<options.n)
        let (url, rawURL) = (newFile(), newFile())
        let filled = try await ContactStore(url, .full)
        try await filled.source.add(list.values)
        try await filled.container.close()
        let store = raw_create(rawURL.path, schema, 1)
        raw_insert(store, list.raw, 0, list.values.count)
        raw_close(store)
        let expected = list.values.reduce(0) { $0 + 92 + Int64($1.age) + Int64($1.score) }
        let results = try await compare {
            let ours = try await ContactStore(url, .full)
            let sample = try await fetch(ours, isRead, expected)
            try await ours.container.close()
            return sample
        } raw: {
            try fetchRaw(rawURL.path, isRead, expected)
        }
        remove(url)
        remove(rawURL)
        return Outcome(
            isRead ? "W6-read" : "W6-unread", n: list.values.count, aim: isRead ? "1.15" : "1.0", ours: results.ours,
            raw: results.raw)
    }

    /// What was fetched is given back after the clock has stopped, on both sides.
    @MainActor
    private func fetch(_ ours: ContactStore, _ isRead: Bool, _ expected: Int64) throws -> Sample {
        // Opens the connection that reads.
        _ = try ours.source.main.first(ContactEntity.self, where: \.uid == "nobody")
        var contacts: [ContactEntity] = []
        var sum: Int64 = 0
        let sample = try ours.measureOnMain {
            contacts = try ours.source.fetch(ContactEntity.self)
            if isRead { sum = total(contacts) }
        }
        if !isRead { sum = total(contacts) }
        try expect(contacts.count == options.n && sum == expected, "\(contacts.count) contacts with a sum of \(sum)")
        return sample
    }

    private func fetchRaw(_ path: String, _ isRead: Bool, _ expected: Int64) throws -> Sample {
        let reader = raw_open_reader(path)
        _ = raw_find(reader, "nobody", 6)
        var rows: UnsafeMutablePointer<UnsafeMutablePointer<raw_row>?>?
        var count = 0
        var sum: Int64 = 0
        let sample = measureRaw {
            rows = raw_fetch_all(reader, &count)
            if isRead { sum = raw_sum(rows, count) }
        }
        if !isRead { sum = raw_sum(rows, count) }
        raw_rows_free(rows, count)
        raw_close(reader)
        try expect(count == options.n && sum == expected, "raw read \(count) contacts with a sum of \(sum)")
        return sample
    }
}

/// Reads three texts and two numbers of each contact.
@MainActor
private func total(_ contacts: [ContactEntity]) -> Int64 {
    var sum: Int64 = 0
    for contact in contacts {
        sum += Int64(contact.uid.utf8.count + contact.name.utf8.count + (contact.note?.utf8.count ?? 0))
        sum += Int64(contact.age) + Int64(contact.score)
    }
    return sum
}
