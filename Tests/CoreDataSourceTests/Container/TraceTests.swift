import CoreDataSource
import RowStore
import Testing

/// The statements that a container reports.
@MainActor
struct TraceTests {
    private typealias Traces = Shared<[StatementTrace]>

    private func withTrace(
        _ kind: StoreKind = .sqlite, values: Bool = false,
        _ body: @MainActor (PersistentContainer, ContactDataSource, Traces) async throws -> Void
    ) async throws {
        let traces = Traces([])
        let configuration = PersistentContainer.Configuration(
            trace: { trace in traces.update { $0.append(trace) } }, tracesValues: values)
        try await withContainer(kind, configuration: configuration) { container, _ in
            try await body(container, container.dataSource(ContactDataSource.self), traces)
        }
    }

    private func writes(_ traces: Traces) -> [StatementTrace] {
        traces.value.filter { $0.isWriting && $0.sql.hasPrefix("INSERT") && $0.sql.contains("ContactEntity") }
    }

    private func reads(_ traces: Traces) -> [StatementTrace] {
        traces.value.filter { $0.sql.hasPrefix("SELECT") && $0.sql.contains("ContactEntity") }
    }

    @Test func aWriteIsReportedWithTheRowsThatItChanged() async throws {
        try await withTrace { _, contacts, traces in
            try await contacts.add(contactList(0..<3))
            #expect(writes(traces).reduce(0) { $0 + $1.rowCount } == 3)
            try await contacts.delete(ContactEntity.self, where: nil)
            let deleted = traces.value.filter { $0.sql.hasPrefix("DELETE") }
            #expect(deleted.reduce(0) { $0 + $1.rowCount } == 3 && deleted.allSatisfy(\.isWriting))
            // What begins and ends a transaction changes no row.
            let others = traces.value.filter { $0.sql.hasPrefix("BEGIN") || $0.sql.hasPrefix("COMMIT") }
            #expect(!others.isEmpty && others.allSatisfy { $0.rowCount == 0 })
        }
    }

    @Test func aReadIsReportedWithTheRowsThatItGave() async throws {
        try await withTrace { container, contacts, traces in
            try await contacts.add(contactList(0..<3))
            traces.value = []
            let found = try container.main.fetch(ContactEntity.self, where: \.name != "name 1")
            let read = try #require(reads(traces).last)
            #expect(found.count == 2 && read.rowCount == 2 && !read.isWriting)
        }
    }

    /// SQLite's own clock counts milliseconds, so that these would come to 0.
    @Test func durationsAreMeasured() async throws {
        try await withTrace { _, contacts, traces in
            let start = ContinuousClock.now
            try await contacts.add(contactList(0..<100))
            let elapsed = ContinuousClock.now - start
            let durations = traces.value.map(\.duration)
            #expect(durations.allSatisfy { $0 > .zero } && durations.reduce(.zero, +) < elapsed)
        }
    }

    @Test func valuesAreHiddenUnlessTheyAreAskedFor() async throws {
        for values in [false, true] {
            try await withTrace(values: values) { container, contacts, traces in
                try await contacts.add(ContactData(uid: "7", name: "Guan Yu"))
                _ = try container.main.fetch(ContactEntity.self, where: \.name == "Zhang Fei")
                #expect(writes(traces).contains { $0.sql.contains("'Guan Yu'") } == values)
                #expect(reads(traces).contains { $0.sql.contains("'Zhang Fei'") } == values)
                let shown = traces.value.contains { $0.sql.contains("Guan Yu") || $0.sql.contains("Zhang Fei") }
                #expect(shown == values)
            }
        }
    }

    @Test func statementsAreReportedOnTheThreadThatRunsThem() async throws {
        let threads = Shared<[(sql: String, isMain: Bool)]>([])
        let configuration = PersistentContainer.Configuration(trace: { trace in
            threads.update { $0.append((trace.sql, MainQueue.isCurrent)) }
        })
        try await withContainer(configuration: configuration) { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add(contactList(0..<1))
            _ = try container.main.fetch(ContactEntity.self, where: \.name == "main")
            _ = try await container.read { try $0.fetch(ContactEntity.self, where: \.name != "main").count }
            let seen = threads.value
            #expect(seen.contains { $0.isMain && $0.sql.hasPrefix("SELECT") })
            #expect(seen.contains { !$0.isMain && $0.sql.hasPrefix("SELECT") })
            #expect(seen.contains { $0.sql.hasPrefix("INSERT") })
            #expect(!seen.contains { $0.isMain && $0.sql.hasPrefix("INSERT") })
        }
    }

    @Test func statementsAreReportedAfterAReset() async throws {
        try await withTrace { container, contacts, traces in
            try await container.reset()
            traces.value = []
            try await contacts.add(contactList(0..<2))
            _ = try container.main.fetch(ContactEntity.self)
            #expect(writes(traces).reduce(0) { $0 + $1.rowCount } == 2 && !reads(traces).isEmpty)
        }
    }

    @Test func aStoreInMemoryRunsNoStatements() async throws {
        try await withTrace(.inMemory) { _, contacts, traces in
            try await contacts.add(contactList(0..<3))
            #expect(traces.value == [])
        }
    }

    @Test func aTraceIsOneLineOfALog() async throws {
        try await withTrace { _, contacts, traces in
            try await contacts.add(contactList(0..<1))
            let line = try #require(writes(traces).first).description
            #expect(line.contains(#/^\d+\.\d{3} ms, 1 row: INSERT /#))
        }
    }
}
