#if PostgreSQL
import Dispatch
import PostgreSQLStore
import RowStore
import StoreTestModel
import Synchronization
import TestSupport

/// A database of one test, with a proxy between the store and the server.
final class FailurePlace: Sendable {
    let server: PostgreSQLServer
    let database: String
    let proxy: TCPProxy

    /// - Parameter server: One that the test may stop; nil for the one of all tests.
    init(_ server: PostgreSQLServer? = nil, encoding: String = "UTF8") throws {
        self.server = try server ?? .shared
        database = try self.server.makeDatabase(encoding: encoding)
        proxy = try TCPProxy(to: self.server.port)
    }

    deinit { try? server.dropDatabase(database) }

    /// - Parameter isDirect: Whether the proxy is left out.
    func options(
        isDirect: Bool = false, user: String = PostgreSQLServer.user, password: String? = nil
    ) -> PostgreSQLStore.Options {
        let port = isDirect ? server.port : proxy.port
        let connection = server.connectionString(database: database, user: user, password: password, port: port)
        var options = PostgreSQLStore.Options(
            connection: connection, name: "store", layout: TestModel.layout, identity: TestModel.identity(),
            synchronous: .full)
        // A busy machine can need more than the 30 seconds after which an app gets outcomeUnknown.
        options.outcomeTimeout = .seconds(600)
        return options
    }

    func open(isDirect: Bool = false) throws -> PostgreSQLStore { try .open(options(isDirect: isDirect)) }

    /// Runs SQL as another program does, in the schema of the store's first generation.
    @discardableResult
    func run(_ sql: String) throws -> [[String?]] {
        let session = try server.session(database: database)
        try session.run("SET search_path = 'store 1'")
        return try session.run(sql)
    }

    /// The keys that are there, as the server says.
    func keys() throws -> [Int64] {
        try run("SELECT _key FROM \"Item\" ORDER BY 1").compactMap { $0[0].flatMap { Int64($0) } }
    }

    static func save(_ key: Int64, number: Int64 = 0) -> ChangeSet {
        .of(insert: [StoredRow(key: key, row: TestModel.row(code: "\(key)"))], number: number)
    }
}

/// Runs the body on a thread of its own: it waits for what the test does meanwhile. It begins at once, even if tests that wait have
/// all threads of tasks.
func runOnOwnThread<R: Sendable>(_ body: @escaping @Sendable () -> R) -> Task<R, Never> {
    let results = AsyncStream<R>.makeStream()
    DispatchQueue.global().async {
        results.continuation.yield(body())
        results.continuation.finish()
    }
    return Task {
        for await result in results.stream { return result }
        fatalError("The task was cancelled.")
    }
}
#endif
