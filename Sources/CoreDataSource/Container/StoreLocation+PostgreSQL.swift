#if PostgreSQL
/// A store in a database on a server.
package struct ServerLocation: Sendable, Hashable {
    /// It may contain a password, so it is never shown.
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
    /// Each process adds, syncs, deletes, reads and follows the others, as <doc:SharingAStore> explains. The first process to
    /// open the store makes its tables, in a schema of their own. By default it is never reset: with another model or database
    /// key, opening throws `modelChanged`. Only ``ResetPolicy/discard`` and ``ResetPolicy/backup(keep:)`` start over, once no
    /// other process has the store open.
    ///
    /// - Parameters:
    ///   - connection: A URI (`postgresql://user@host:5432/database`) or keywords (`host=... dbname=...`), as libpq reads them.
    ///     Settings that it leaves out come from the environment (`PGHOST`, `PGPASSWORD`), the service file and the password
    ///     file. The server must be PostgreSQL 13 or newer, and the database must have the encoding UTF-8.
    ///   - name: The store's name. A database can have several stores.
    public static func postgreSQL(_ connection: String, name: String) -> StoreLocation {
        var location = StoreLocation(url: nil)
        location.server = ServerLocation(connection: connection, name: name)
        return location
    }
}
#endif
