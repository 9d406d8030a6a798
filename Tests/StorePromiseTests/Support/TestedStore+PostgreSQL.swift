import RowStore
import StoreTestModel
import TestSupport

#if PostgreSQL
import PostgreSQLStore
#endif

extension TestedStore {
    /// Those that need a server to run. It takes the trait PostgreSQL, and a server.
    static var onServers: [TestedStore] {
        #if PostgreSQL
        PostgreSQLServer.isInstalled ? [.postgreSQL] : []
        #else
        []
        #endif
    }

    #if PostgreSQL
    static let postgreSQL = TestedStore(
        testDescription: "PostgreSQL", isShared: true, codeOfNUL: .validationFailed, codeOfLongUnique: .valueTooLarge
    ) { layout, times in
        try PostgreSQLPlace(layout, times)
    }
    #endif
}

#if PostgreSQL
private final class PostgreSQLPlace: StoreTarget {
    private let server: PostgreSQLServer
    private let database: String
    private let options: PostgreSQLStore.Options

    init(_ layout: ModelLayout, _ times: LeaseTimes) throws {
        server = try .shared
        database = try server.makeDatabase()
        var options = PostgreSQLStore.Options(
            connection: server.connectionString(database: database), name: "store", layout: layout,
            identity: TestModel.identity(), synchronous: .normal, resetPolicy: .discard)
        options.leaseTimes = times
        self.options = options
    }

    deinit { try? server.dropDatabase(database) }

    func open(_ history: KeptHistory) throws -> any PersistentStore {
        var options = options
        options.history = history
        return try PostgreSQLStore.open(options)
    }

    func verify() {}
}
#endif
