import CSQLite
import Foundation
import RowStore
import SQLiteStore
import StoreTestModel
import Testing

/// What SQLite gets to see of queries: statements of a few kinds, and values as parameters only.
@Suite(.serialized)
struct StatementTests {
    /// What connections to a file were asked.
    private final class Log: Sendable {
        static let shared = Guarded<[String: (statements: [String], actions: Set<Int32>, functions: Set<String>)]>([:])
    }

    /// The parts of statements that SQLite asks about, by connection.
    private typealias Authorizer =
        @convention(c) (
            UnsafeMutableRawPointer?, Int32, UnsafePointer<CChar>?, UnsafePointer<CChar>?, UnsafePointer<CChar>?,
            UnsafePointer<CChar>?
        ) -> Int32

    private static let listen: @convention(c) () -> Void = {
        let entry:
            @convention(c) (OpaquePointer?, UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?, OpaquePointer?) ->
                Int32 = {
                    connection, _, _ in
                    let context = connection.map { UnsafeMutableRawPointer($0) }
                    sqlite3_trace_v2(
                        connection, UInt32(SQLITE_TRACE_STMT),
                        { _, context, statement, _ in
                            guard let statement, let sql = sqlite3_sql(OpaquePointer(statement)) else { return 0 }
                            StatementTests.note(context) { $0.statements.append(String(cString: sql)) }
                            return 0
                        }, context)
                    let authorizer: Authorizer = { context, action, _, second, _, _ in
                        let name = second.map { String(cString: $0) }
                        StatementTests.note(context) { log in
                            log.actions.insert(action)
                            if action == SQLITE_FUNCTION, let name { log.functions.insert(name) }
                        }
                        return SQLITE_OK
                    }
                    return sqlite3_set_authorizer(connection, authorizer, context)
                }
        sqlite3_auto_extension(unsafeBitCast(entry, to: (@convention(c) () -> Void).self))
    }

    private static func note(
        _ connection: UnsafeMutableRawPointer?,
        _ body: (inout (statements: [String], actions: Set<Int32>, functions: Set<String>)) -> Void
    ) {
        guard let connection, let name = sqlite3_db_filename(OpaquePointer(connection), "main") else { return }
        let path = String(cString: name)
        Log.shared.withLock { log in
            var entry = log[path] ?? ([], [], [])
            body(&entry)
            log[path] = entry
        }
    }

    @Test func onlySelectsAreRunAndNoValueIsInThem() throws {
        StatementTests.listen()
        defer { sqlite3_reset_auto_extension() }
        let folder = try TemporaryFolder()
        let store = try SQLiteStore.open(.test(folder))
        let secret = "s3cret"
        try store.write([
            .of(
                insert: (1...20).map { StoredRow(key: $0, row: TestModel.row(.integer($0), .real(0.5), .text(secret))) }
            )
        ])
        // When it first meets the table of listed values, SQLite asks about its own tables too.
        let list = (0..<100).map { RowValue.integer($0) }
        _ = try store.count(RowQuery(entity: TestModel.item, predicate: .isIn(column: TestModel.integer, list)))
        Log.shared.withLock { $0 = [:] }
        for query in try queries(secret) {
            _ = try store.rows(query)
            _ = try store.count(query)
        }
        let found = try #require(log(of: folder))
        #expect(found.statements.count > 20)
        for sql in found.statements {
            #expect(sql.hasPrefix("SELECT ") || sql.hasPrefix("PRAGMA "), "\(sql)")
            #expect(!sql.contains(secret) && !sql.contains("987654") && !sql.contains("'"), "\(sql)")
        }
        let allowed = [SQLITE_SELECT, SQLITE_READ, SQLITE_FUNCTION, SQLITE_PRAGMA]
        #expect(found.actions.subtracting(allowed).isEmpty, "\(found.actions)")
        #expect(found.functions.subtracting(["count", "row_test", "text_sort_key"]).isEmpty)
        #expect(found.functions.count == 3, "\(found.functions)")
        store.close()
    }

    /// SQLite asks the authorizer when it translates a statement, and never when it runs one again.
    @Test func queriesOfOneShapeAreTranslatedOnce() throws {
        StatementTests.listen()
        defer { sqlite3_reset_auto_extension() }
        let folder = try TemporaryFolder()
        let store = try SQLiteStore.open(.test(folder))
        func query(_ value: Int64, _ text: String) -> RowQuery {
            RowQuery(
                entity: TestModel.item,
                predicate: .and([
                    .compare(column: TestModel.integer, .less, .integer(value)),
                    .compare(column: TestModel.text, .equal, .text(text)),
                ]), limit: Int(value))
        }
        _ = try store.rows(query(1, "a"))
        Log.shared.withLock { $0 = [:] }
        for value in 2..<100 { _ = try store.rows(query(Int64(value), "text \(value)")) }
        let again = try #require(log(of: folder))
        #expect(again.statements.count == 98 && Set(again.statements).count == 1)
        #expect(again.actions.isEmpty, "\(again.actions)")
        _ = try store.count(query(2, "a"))
        #expect(log(of: folder)?.actions.contains(SQLITE_SELECT) == true)
        store.close()
    }

    /// What the connections to a store were asked since the log was emptied.
    private func log(
        of folder: TemporaryFolder
    ) -> (statements: [String], actions: Set<Int32>, functions: Set<String>)? {
        let file = "\(folder.url.lastPathComponent)/\(folder.store.lastPathComponent)"
        return Log.shared.withLock { log in log.first { $0.key.hasSuffix(file) }?.value }
    }

    /// As many rows as there are, if they have the same values afterwards or are deleted.
    @Test func manyRowsAreWrittenByOneStatement() throws {
        StatementTests.listen()
        defer { sqlite3_reset_auto_extension() }
        let folder = try TemporaryFolder()
        let store = try SQLiteStore.open(.test(folder))
        let old = (1...100).map { StoredRow(key: $0, row: TestModel.row(.integer($0), .real(0.5), .text("old"))) }
        try store.write([.of(insert: old)])
        var columns = ColumnSet()
        columns.insert(TestModel.real)
        columns.insert(TestModel.text)
        var changes = EntityChanges(entity: TestModel.item)
        changes.updated = old.map { stored in
            let row = TestModel.row(.integer(stored.key), .null, .text("s3cret\0"))
            return UpdatedRow(key: stored.key, row: row, previous: stored.row, columns: columns)
        }
        changes.sharedColumns = columns
        Log.shared.withLock { $0 = [:] }
        try store.write([ChangeSet(entities: [changes]), .of(delete: Array(old.dropLast(20)))])
        let list = "WHERE \"_key\" IN (SELECT value FROM listed_values(?1))"
        #expect(
            log(of: folder)?.statements == [
                "BEGIN IMMEDIATE", "UPDATE \"Item\" SET \"real\" = ?2, \"text\" = ?3 \(list)",
                "DELETE FROM \"Item\" \(list)", "COMMIT",
            ])
        let rows = try store.rows(RowQuery(entity: TestModel.item))
        #expect(rows.map(\.key) == Array(81...100))
        #expect(
            rows.allSatisfy {
                $0.row.isNull(TestModel.real) && $0.row.text(TestModel.text) == "s3cret\0"
                    && $0.row.integer(TestModel.integer) == $0.key
            })
        store.close()
    }

    private func queries(_ secret: String) throws -> [RowQuery] {
        let folded: StringOptions = [.caseInsensitive]
        let predicates: [RowPredicate] = [
            .compare(column: TestModel.text, .equal, .text(secret)),
            .compare(column: TestModel.integer, .less, .integer(987_654)),
            .isIn(column: TestModel.text, [.text(secret), .null]),
            .isIn(column: TestModel.integer, (0..<2000).map { .integer(987_654 + $0) }),
            .compareKey(.greater, 987_654),
            .text(.column(TestModel.text), try StringMatcher(.contains, secret, folded)),
            .compareExpressions(.column(TestModel.text), .equal, .constant(.text(secret)), .folded(folded)),
            .compareExpressions(
                .arithmetic(.column(TestModel.integer), .add, .constant(.integer(987_654)), .integer), .less,
                .constant(.real(987_654.5)), .natural),
            .isMember(.column(TestModel.text), ValueList([.text(secret)], .folded(folded))),
            .isMember(.key, ValueList([.integer(987_654)], .natural)),
            .follows(
                RowCursor(key: 987_654, values: [.text(secret)]), [SortKey(column: TestModel.text, isAscending: false)]),
        ]
        let sorted = [SortKey(column: TestModel.text, order: .folded([.numeric])), SortKey(column: TestModel.real)]
        return predicates.flatMap { predicate in
            [predicate, .not(predicate)].map {
                RowQuery(entity: TestModel.item, predicate: $0, sort: sorted, limit: 987_654, offset: 1)
            }
        }
    }

    // MARK: Extremes

    @Test(arguments: StoreKind.allCases)
    func deepAndWidePredicatesAreAnswered(kind: StoreKind) throws {
        try withStore(kind) { store in
            let text = String(repeating: "a", count: 1 << 16) + "äb"
            let rows = (1...3).map {
                StoredRow(key: $0, row: TestModel.row(.integer($0), .null, .text(text + "\($0)")))
            }
            try store.write([.of(insert: rows)])
            var deep = RowPredicate.text(
                .column(TestModel.text), try StringMatcher(.endsWith, "B2", [.caseInsensitive, .diacriticInsensitive]))
            for _ in 0..<999 { deep = .not(deep) }
            #expect(try store.keys(RowQuery(entity: TestModel.item, predicate: deep)) == [1, 3])
            let long = RowPredicate.text(
                .column(TestModel.text),
                try StringMatcher(.contains, String(repeating: "A", count: 1 << 14) + "ÄB3", [.caseInsensitive]))
            #expect(try store.keys(RowQuery(entity: TestModel.item, predicate: long)) == [3])
            let many = RowPredicate.or(
                (0..<1100).map {
                    .compareExpressions(
                        .column(TestModel.integer), .equal, .constant(.real(Double($0) + 0.5)), .natural)
                } + [.compare(column: TestModel.integer, .equal, .integer(1))])
            #expect(try store.keys(RowQuery(entity: TestModel.item, predicate: many)) == [1])
        }
    }
}
