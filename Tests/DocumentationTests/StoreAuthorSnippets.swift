import CoreDataSourceStores
import ErrorExpectations
import FrameworkNames
import Testing

/// The snippets about stores of one's own that only read.
@MainActor
struct StoreAuthorSnippets {
    @Test func aStoreMayListItsRowsForEachQuery() async throws {
        let service = ContactService(names: ["Guan Yu", "Zhang Fei", "Guan Ping"])
        let container = try await PersistentContainer(
            model: .contacts,
            store: .custom("contacts.example.com") { options in
                (ServiceStore(layout: options.layout, service: service), StoreStartup(reason: .current))
            })
        let contacts = try container.dataSource(ContactDataSource.self)
        let found = try contacts.fetch(
            ContactEntity.self, where: .beginsWith(\.name, "Guan"), order: [.ascending(\.name)])
        #expect(found.map(\.name) == ["Guan Ping", "Guan Yu"])
        #expect(try container.main.first(ContactEntity.self, where: \.uid, equals: "1")?.name == "Zhang Fei")
        #expect(try container.main.count(ContactEntity.self) == 3)
        await expectError(.storeReadOnly) {
            try await contacts.add(Contact(uid: "9", name: "Zhao Yun"))
        }
        try await container.close()
    }
}

/// Stands for the client of a web service.
struct ContactService: Sendable {
    let names: [String]

    func rows(_ layout: EntityLayout) throws(DataSourceError) -> [StoredRow] {
        guard layout.name == "ContactEntity" else { return [] }
        var rows: [StoredRow] = []
        for (index, name) in names.enumerated() {
            let values = layout.columns.map { column -> RowValue in
                switch column.name {
                case "name": .text(name)
                case "uid": .text("\(index)")
                default: column.attribute?.isOptional ?? true ? .null : column.storage == .real ? .real(0) : .integer(0)
                }
            }
            rows.append(StoredRow(key: Int64(index + 1), row: try layout.row(values)))
        }
        return rows
    }
}

struct ServiceStore: PersistentStore {
    let layout: ModelLayout
    let service: ContactService

    var isReadOnly: Bool { true }
    var firstFreeKey: Int64 { 1 << 40 }

    func commit(_ group: [ChangeSet]) throws(DataSourceError) -> CommitOutcome { throw readOnly }

    func reset(didEmpty: () -> Void) throws(DataSourceError) -> StoreStartup { throw readOnly }

    func close() {}

    func read<R>(_ isolation: ReadIsolation, _ body: (any StoreReader) throws(DataSourceError) -> R)
        throws(DataSourceError) -> R
    {
        try body(ServiceReader(layout: layout, service: service))
    }

    private var readOnly: DataSourceError { DataSourceError(.storeReadOnly, "The service takes no changes.") }
}

struct ServiceReader: StoreReader {
    let layout: ModelLayout
    let service: ContactService

    func forEachRow(_ query: RowQuery, _ body: (StoredRow) -> Void) throws(DataSourceError) {
        let rows = try query.rows(in: layout) { (entity) throws(DataSourceError) in
            try service.rows(layout.entities[entity])
        }
        for row in rows { body(row) }
    }

    func row(entity: Int, constraint: Int, values: [RowValue]) throws(DataSourceError) -> StoredRow? {
        var found: StoredRow?
        try forEachRow(RowQuery(layout.entities[entity], constraint: constraint, values: values)) { found = $0 }
        return found
    }
}
