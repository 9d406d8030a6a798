import CoreDataSource
import Foundation
import RowStore
import SQLiteStore
import StoreTestModel
import TestSupport

#if PostgreSQL
import PostgreSQLStore
#endif

/// Where a store of the stress model is that several processes share; as a string, an argument of a child process.
enum SharedPlace: LosslessStringConvertible, Sendable {
    case file(URL)
    #if PostgreSQL
    /// - Parameter port: Where the server is without a proxy, for whoever looks at the rows.
    case server(connection: String, port: Int, database: String)
    #endif

    init?(_ description: String) {
        #if PostgreSQL
        let words = description.split(separator: " ").map(String.init)
        if words.count == 4, words[0] == "server", let port = Int(words[2]) {
            self = .server(connection: words[1], port: port, database: words[3])
            return
        }
        #endif
        self = .file(URL(filePath: description))
    }

    var description: String {
        switch self {
        case .file(let url): url.path
        #if PostgreSQL
        case .server(let connection, let port, let database): "server \(connection) \(port) \(database)"
        #endif
        }
    }

    /// Opens the store, as a member among others.
    func open() throws -> PersistentContainer {
        switch self {
        case .file(let url): return try StressStore.openShared(url)
        #if PostgreSQL
        case .server:
            let store = try openStore()
            return PersistentContainer(
                ModelLayout(.stress), store, startup: store.startup,
                configuration: .init(mainPatience: SharedPlace.mainPatience))
        #endif
        }
    }

    /// On a machine with much else to do, main may wait longer for a server than an app would.
    private static let mainPatience = Duration.seconds(3600)

    /// The rows as another program has them.
    func reader() throws -> any RecordReader {
        switch self {
        case .file(let url): return try RecordFile(url)
        #if PostgreSQL
        case .server(_, let port, let database): return try RecordDatabase(port: port, database: database)
        #endif
        }
    }

    #if PostgreSQL
    func openStore(history: KeptHistory = .unchanged) throws -> PostgreSQLStore {
        guard case .server(let connection, _, _) = self else { throw Suite.InvalidArguments(arguments: [description]) }
        var options = PostgreSQLStore.Options(
            connection: connection, name: "stress", layout: ModelLayout(.stress),
            identity: TestModel.identity(of: .stress), resetPolicy: .fail)
        options.mainPatience = SharedPlace.mainPatience
        options.history = history
        return try PostgreSQLStore.open(options)
    }
    #endif
}

/// Who looks at the rows of a store of the stress model without this library.
protocol RecordReader {
    /// All records of a table.
    func records(_ table: Int) throws -> [RecordData]
}

extension RecordFile: RecordReader {}

#if PostgreSQL
/// The tables of the first generation of a store on a server.
struct RecordDatabase: RecordReader {
    private let port: Int
    private let database: String

    init(port: Int, database: String) throws {
        (self.port, self.database) = (port, database)
    }

    func records(_ table: Int) throws -> [RecordData] {
        // A connection for each look: the server may have been killed since the last one.
        let session = try PostgreSQLSession(port: port, database: database)
        let rows = try session.run(
            "SELECT key, task, revision, text FROM \"stress 1\".\"\(RecordFile.tables[table])\"")
        return rows.map { row in
            RecordData(
                key: row[0] ?? "", task: row[1].flatMap { Int32($0) } ?? 0, revision: row[2].flatMap { Int64($0) } ?? 0,
                text: row[3])
        }
    }
}
#endif
