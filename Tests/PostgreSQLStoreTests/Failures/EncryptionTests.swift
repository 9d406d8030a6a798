#if PostgreSQL
import Foundation
import PostgreSQLStore
import RowStore
import StoreTestModel
import TestSupport
import Testing

/// Connections that are encrypted, to a server that proves who it is.
@Suite(.serialized, .enabled(if: PostgreSQLServer.isInstalled, Comment(rawValue: PostgreSQLServer.comment)))
struct EncryptionTests {
    /// A server with a certificate for `localhost`, a database, and the file of the certificate.
    private func makePlace(_ directory: TemporaryDirectory) throws -> (place: FailurePlace, certificate: String) {
        let place = try FailurePlace(PostgreSQLServer())
        let session = try place.server.session()
        // The server's own user makes it, in the folder of the server.
        try session.run(
            """
            COPY (SELECT) TO PROGRAM 'openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost \
            -addext subjectAltName=DNS:localhost -keyout server.key -out server.crt 2>&1'
            """)
        let certificate = try #require(try session.run("SELECT pg_read_file('server.crt')")[0][0])
        let file = directory.url.appending(path: "root.crt")
        try Data(certificate.utf8).write(to: file)
        try session.run("ALTER SYSTEM SET ssl = on")
        try session.run("SELECT pg_reload_conf()")
        // New sessions take it over when the server has come to it.
        while try place.server.session().run("SHOW ssl") != [["on"]] {}
        return (place, file.path)
    }

    private func options(_ place: FailurePlace, host: String, certificate: String) -> PostgreSQLStore.Options {
        var options = place.options(isDirect: true)
        options.connection =
            "host=\(host) hostaddr=127.0.0.1 port=\(place.server.port) user=\(PostgreSQLServer.user) dbname=\(place.database) "
            + "sslmode=verify-full sslrootcert='\(certificate)'"
        return options
    }

    @Test func everyConnectionOfAStoreIsEncrypted() throws {
        let directory = try TemporaryDirectory()
        let (place, certificate) = try makePlace(directory)
        let store = try PostgreSQLStore.open(options(place, host: "localhost", certificate: certificate))
        try store.write([FailurePlace.save(1)])
        #expect(try store.keys() == [1])
        _ = try (store.readFeed(after: 0), store.leases(), store.takeLeases([TestModel.item], for: "s"))
        let connections = """
            SELECT DISTINCT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) \
            WHERE datname = '\(place.database)' AND pid <> pg_backend_pid()
            """
        #expect(try place.run(connections) == [["t"]])
        store.close()
    }

    /// A server that only says that it is the right one.
    @Test func aServerWithAnotherCertificateIsRefused() throws {
        let (directory, other) = (try TemporaryDirectory(), try TemporaryDirectory())
        let (place, certificate) = try makePlace(directory)
        let (_, foreign) = try makePlace(other)
        for (host, certificate) in [("db.example.com", certificate), ("localhost", foreign)] {
            do throws(DataSourceError) {
                try PostgreSQLStore.open(options(place, host: host, certificate: certificate)).close()
                Issue.record("\(host) was opened")
            } catch {
                #expect(error.code == .storeUnavailable)
                #expect(error.message.contains("certificate"))
            }
        }
    }
}
#endif
