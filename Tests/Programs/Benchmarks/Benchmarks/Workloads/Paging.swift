internal import CoreDataSource
internal import Foundation
internal import RawSQLite

/// A page of 50 contacts by name, and the same in SQL.
struct Page: Sendable {
    let id: String
    /// The tail of the statement; `{name}` and `{key}` stand for those of the contact before the page.
    let sql: String
    var predicate: FetchPredicate<ContactEntity>?
    var start = Start.first
    var aim = ""
    /// How often it is fetched to be measured.
    var times = 1000

    enum Start: Sendable {
        case first
        /// In the middle of all, by an offset.
        case offset
        /// In the middle of all, by the contact before it.
        case cursor
    }

    static let all = [
        Page(id: "W7", sql: "ORDER BY name, _key LIMIT 50", aim: "1.25"),
        Page(
            id: "W7-filtered", sql: "WHERE score < 100 ORDER BY name, _key LIMIT 50",
            predicate: \ContactEntity.score < 100, times: 200),
        Page(id: "W7-offset", sql: "ORDER BY name, _key LIMIT 50 OFFSET {offset}", start: .offset, times: 50),
        Page(
            id: "W7-after", sql: "WHERE (name, _key) > ('{name}', {key}) ORDER BY name, _key LIMIT 50",
            start: .cursor, aim: "1.3"),
    ]
}

extension Bench {
    /// W7: one page, fetched again and again on main, where nobody keeps it; raw: one prepared statement, a struct a row.
    func paging(_ page: Page) async throws -> Outcome {
        let list = ContactList(0..<options.n)
        let url = newFile()
        let ours = try await ContactStore(url, .normal, registeredObjectByteLimit: 0)
        try await ours.source.add(list.values)
        let reader = raw_open_reader(url.path)
        defer { raw_close(reader) }
        let (request, sql) = try await request(page, options.n / 2, ours)
        var found: [String] = []
        var rawFound: [String] = []
        let results = try await compare {
            let (sample, uids) = try await fetch(request, page.times, ours)
            found = uids
            return sample
        } raw: {
            var count = 0
            var rows: UnsafeMutablePointer<UnsafeMutablePointer<raw_row>?>?
            let sample = measureRaw { rows = raw_fetch(reader, sql, Int32(page.times), &count) }
            rawFound = (0..<count).map { rows?[$0].map { String(cString: $0.pointee.contact.uid) } ?? "" }
            raw_rows_free(rows, count)
            return sample
        }
        try expect(found.count == 50 && found == rawFound, "the page is \(found) and in raw \(rawFound)")
        try await ours.container.close()
        remove(url)
        return Outcome(page.id, n: page.times, aim: page.aim, ours: results.ours, raw: results.raw)
    }

    @MainActor
    private func request(
        _ page: Page, _ middle: Int, _ ours: ContactStore
    ) throws -> (request: ObjectRequest<ContactEntity>, sql: String) {
        var request = ObjectRequest(
            ContactEntity.self, where: page.predicate, order: [FetchOrder(SortDescriptor(\.name))], limit: 50,
            offset: page.start == .offset ? middle : 0)
        if page.start != .cursor { return (request, page.sql.replacing("{offset}", with: String(middle))) }
        var before = request
        before.limit = 1
        before.offset = middle
        guard let contact = try ours.source.fetch(before).first else { throw WrongResult("no contact in the middle") }
        request.after = FetchCursor(contact)
        let sql = page.sql.replacing("{name}", with: contact.name)
        return (request, sql.replacing("{key}", with: String(contact.objectID.key)))
    }

    @MainActor
    private func fetch(
        _ request: ObjectRequest<ContactEntity>, _ times: Int, _ ours: ContactStore
    ) throws -> (Sample, [String]) {
        var page: [ContactEntity] = []
        let sample = try ours.measureOnMain {
            for _ in 0..<times { page = try ours.source.fetch(request) }
        }
        return (sample, page.map(\.uid))
    }
}
