#if PostgreSQL
/// A store in a database on a server.
package struct ServerLocation: Sendable, Hashable {
    /// May hold a password, so that nothing shows it.
    package let connection: String
    package let name: String
}

extension ServerLocation: CustomStringConvertible, CustomReflectable {
    package var description: String { "PostgreSQL store \(name)" }
    package var customMirror: Mirror { Mirror(self, children: ["name": name]) }
}

extension StoreLocation {
    /// A store in a PostgreSQL database, for any number of processes on any number of machines. It needs the package trait
    /// `PostgreSQL`.
    ///
    /// ```swift
    /// let container = try await PersistentContainer(
    ///     model: .contacts, store: .postgreSQL("postgresql://app@db.example.com/app", name: "contacts"))
    /// ```
    ///
    /// Each process adds, syncs, deletes, reads and follows the others; <doc:SharingAStore> says how. The first process to
    /// open the store makes its tables, in a schema of their own. It is never reset by default: with another model or
    /// database key, opening throws `modelChanged`. Only ``ResetPolicy/discard`` and ``ResetPolicy/backup(keep:)`` start
    /// over, once nobody else has the store open.
    ///
    /// - Parameters:
    ///   - connection: A URI (`postgresql://user@host:5432/database`) or keywords (`host=... dbname=...`), as libpq reads
    ///     them. Settings that it leaves out come from the environment (`PGHOST`, `PGPASSWORD`), the service file and the
    ///     password file. The server has to be PostgreSQL 13 or newer and the database has to have the encoding UTF-8.
    ///   - name: The store's name in the database, which can have several.
    public static func postgreSQL(_ connection: String, name: String) -> StoreLocation {
        var location = StoreLocation(url: nil)
        location.server = ServerLocation(connection: connection, name: name)
        return location
    }
}
#endif
