#if PostgreSQL
import PostgreSQLStore
import RowStore
import StoreTestModel
import TestSupport
import Testing

/// A store that cannot be opened or used says why, by name.
@Suite(.serialized, .enabled(if: PostgreSQLServer.isInstalled, Comment(rawValue: PostgreSQLServer.comment)))
struct RefusedOpeningTests {
    /// What opening throws.
    private func failure(_ options: PostgreSQLStore.Options) throws -> DataSourceError {
        do {
            try PostgreSQLStore.open(options).close()
        } catch {
            return error
        }
        throw Opened()
    }

    private struct Opened: Error {}

    /// A role that is asked for its password, which is `right`.
    private func makeRole(_ place: FailurePlace, _ name: String) throws -> String {
        let role = "\(name)_\(place.database)"
        try place.server.session().run("CREATE ROLE \(role) LOGIN PASSWORD 'right-word' IN ROLE with_password")
        return role
    }

    @Test func aWrongPasswordIsNamedAndNotShown() throws {
        let place = try FailurePlace()
        let role = try makeRole(place, "locked")
        for password in ["wrong-word", nil] {
            let error = try failure(place.options(user: role, password: password))
            #expect(error.code == .permissionDenied)
            #expect(!"\(error) \(error.cause ?? "")".contains("wrong-word"))
        }
        try place.server.session().run("GRANT CREATE ON DATABASE \(place.database) TO \(role)")
        try PostgreSQLStore.open(place.options(user: role, password: "right-word")).close()
    }

    /// A server says why in the language that it was set up for.
    @Test func aRefusalInAnotherLanguageIsTheSame() throws {
        let place = try FailurePlace()
        place.proxy.localizeErrors()
        let role = try makeRole(place, "foreign")
        var error = try failure(place.options(user: role, password: "wrong-word"))
        #expect(error.code == .permissionDenied && error.cause?.contains("es geht nicht") == true)
        error = try failure(place.options(user: "nobody_of_that_name", password: "x"))
        #expect(error.code == .permissionDenied)
        var options = place.options()
        options.connection = place.server.connectionString(database: "nowhere", port: place.proxy.port)
        error = try failure(options)
        #expect(error.code == .notADatabase)
    }

    @Test func aUserWhoMayNotMakeAStoreIsRefused() throws {
        let place = try FailurePlace()
        let role = try makeRole(place, "weak")
        #expect(try failure(place.options(user: role, password: "right-word")).code == .permissionDenied)
        #expect(
            try place.server.session(database: place.database).run("SELECT to_regclass('coredatasource.stores')") == [
                [nil]
            ])
    }

    /// Neither is for certain what it often is: a standby, and a server with too many clients.
    @Test func aLimitOfTheRoleIsNotTakenForOneOfTheServer() throws {
        let place = try FailurePlace()
        let role = try makeRole(place, "limited")
        let session = try place.server.session()
        try session.run("GRANT CREATE ON DATABASE \(place.database) TO \(role)")
        try session.run("ALTER ROLE \(role) SET default_transaction_read_only = on")
        var error = try failure(place.options(user: role, password: "right-word"))
        #expect(error.code == .storeReadOnly)
        #expect(error.message.contains("default_transaction_read_only is on"), "\(error.message)")
        try session.run("ALTER ROLE \(role) RESET default_transaction_read_only")
        try session.run("ALTER ROLE \(role) CONNECTION LIMIT 0")
        error = try failure(place.options(user: role, password: "right-word"))
        #expect(error.code == .storeUnavailable)
        #expect(error.message.contains("CONNECTION LIMIT of the role"), "\(error.message)")
        #expect(error.cause?.contains(role) == true, "\(error.cause ?? "")")
    }

    @Test func aServerWithoutEncryptionIsNotCalledUnreachable() throws {
        let place = try FailurePlace()
        var options = place.options(isDirect: true)
        options.connection =
            "host=127.0.0.1 port=\(place.server.port) user=\(PostgreSQLServer.user) dbname=\(place.database) "
            + "sslmode=require gssencmode=disable"
        let error = try failure(options)
        #expect(error.code == .storeUnavailable)
        #expect(error.message.hasPrefix("The server accepts no encrypted connections"), "\(error)")
    }

    /// A conflict on a standby, a limit for temporary files and a statement that is nested too deeply have codes that other
    /// faults have as well.
    @Test(arguments: [
        ("40001", DataSourceError.Code.storeBusy, "the server is a standby"),
        ("53400", .storeUnreadable, "temp_file_limit"), ("54001", .valueTooLarge, "max_stack_depth"),
    ])
    func aRefusedStatementSaysWhatItCanBe(state: String, code: DataSourceError.Code, words: String) throws {
        let place = try FailurePlace()
        let store = try place.open(isDirect: true)
        try place.run(
            """
            CREATE FUNCTION public.refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
            RAISE EXCEPTION 'refused' USING ERRCODE = '\(state)'; END $$;
            CREATE TRIGGER refuse BEFORE INSERT ON "Item" FOR EACH ROW EXECUTE FUNCTION public.refuse()
            """)
        do throws(DataSourceError) {
            try store.write([FailurePlace.save(1)])
            Issue.record("The row was written.")
        } catch {
            #expect(error.code == code && error.message.contains(words), "\(error)")
            #expect(error.cause?.hasPrefix("PostgreSQL \(state): ") == true, "\(error.cause ?? "")")
        }
        try place.run("DROP FUNCTION public.refuse() CASCADE")
        // The session was not given up.
        try store.write([FailurePlace.save(2)])
        #expect(try place.keys() == [2])
        store.close()
    }

    @Test func aUserWhoMayNotUseAStoreIsRefused() throws {
        let place = try FailurePlace()
        try place.open().close()
        let role = try makeRole(place, "stranger")
        #expect(try failure(place.options(user: role, password: "right-word")).code == .permissionDenied)
    }

    @Test func aRightThatIsTakenAwayIsMissed() throws {
        let place = try FailurePlace()
        let role = try makeRole(place, "demoted")
        try place.server.session().run("GRANT CREATE ON DATABASE \(place.database) TO \(role)")
        let store = try PostgreSQLStore.open(place.options(user: role, password: "right-word"))
        try place.run("ALTER TABLE \"Item\" OWNER TO \(PostgreSQLServer.user)")
        #expect(code { try store.write([FailurePlace.save(1)]) } == .permissionDenied)
        #expect(code { _ = try store.count() } == .permissionDenied)
        store.close()
    }

    @Test(arguments: ["SQL_ASCII", "LATIN1"])
    func aDatabaseOfAnotherEncodingIsRefused(encoding: String) throws {
        let place = try FailurePlace(encoding: encoding)
        let error = try failure(place.options())
        #expect(error.code == .storeUnreadable)
        #expect(error.message.contains(encoding))
    }

    @Test(arguments: ["12.22", "9.6.24"])
    func aServerThatIsTooOldIsRefused(version: String) throws {
        let place = try FailurePlace()
        place.proxy.reportVersion(version)
        let error = try failure(place.options())
        #expect(error.code == .storeUnreadable)
        #expect(error.message.contains("13 or newer"))
    }

    @Test func aNewerServerIsTaken() throws {
        let place = try FailurePlace()
        place.proxy.reportVersion("99.1")
        try place.open().close()
    }

    @Test func aDatabaseThatIsMissingIsNamed() throws {
        let place = try FailurePlace()
        var options = place.options()
        options.connection = place.server.connectionString(database: "nowhere")
        #expect(try failure(options).code == .notADatabase)
    }

    @Test(arguments: ["postgresql://[", "postgresql://host:port/x", "host=127.0.0.1 nothing=1", "host 127.0.0.1 = x"])
    func aConnectionStringThatIsNoneIsRefused(connection: String) throws {
        let place = try FailurePlace()
        var options = place.options()
        options.connection = connection
        #expect(try failure(options).code == .invalidRequest)
    }

    /// libpq takes a part of a password with an @ or a / for the host, the port or the database.
    @Test(arguments: [
        "p@Secret1/word@127.0.0.1", "p@Secret1:1/word@127.0.0.1", "1/Secret1@127.0.0.1", "p@1:Secret1@127.0.0.1",
    ])
    func noPartOfAPasswordIsShown(rest: String) throws {
        let place = try FailurePlace()
        var options = place.options()
        options.connection = "postgresql://app:\(rest):\(place.server.port)/postgres"
        let error = try failure(options)
        #expect(error.code == .invalidRequest)
        #expect(!"\(error) \(error.message) \(error.cause ?? "")".contains("Secret1"))
    }

    @Test func aServerThatIsNotThereIsUnavailable() throws {
        let place = try FailurePlace()
        place.proxy.goOffline()
        #expect(try failure(place.options()).code == .storeUnavailable)
    }

    // MARK: Tables that somebody has changed by hand

    private static let changes = [
        "ALTER TABLE \"Item\" DROP COLUMN code CASCADE", "DROP TABLE \"Item\"", "DROP TABLE _feed",
        "DROP TABLE _changes", "DROP TABLE _saves", "DROP TABLE _writers", "DROP TABLE _leases", "DELETE FROM _feed",
        "ALTER TABLE \"Item\" RENAME COLUMN code TO other", "ALTER TABLE \"Item\" ALTER code TYPE bytea USING NULL",
        "ALTER TABLE \"Item\" ADD must text NOT NULL DEFAULT ''; ALTER TABLE \"Item\" ALTER must DROP DEFAULT",
        "DROP SCHEMA \"store 1\" CASCADE",
    ]

    @Test(arguments: changes)
    func tablesThatWereChangedByHandAreNamed(change: String) throws {
        let place = try FailurePlace()
        let store = try place.open()
        try store.write([FailurePlace.save(1)])
        try place.run(change)
        let row = StoredRow(key: 2, row: TestModel.row(code: "b"))
        var codes: [DataSourceError.Code?] = []
        for _ in 0..<2 {
            do throws(DataSourceError) {
                codes.append(try store.commit([.of(insert: [row])]).refused[0]?.code)
            } catch {
                codes.append(error.code)
            }
        }
        #expect(codes == [.storeCorrupt, .storeCorrupt])
        store.close()
    }

    @Test(arguments: changes)
    func tablesThatWereChangedByHandAreNamedByTheNextStartOrTheFirstUse(change: String) throws {
        let place = try FailurePlace()
        try place.open().close()
        try place.run(change)
        #expect(
            code {
                let store = try place.open()
                defer { store.close() }
                _ = try store.rows(RowQuery(entity: TestModel.item))
                _ = try store.readFeed(after: 0)
                _ = try store.leases()
                try store.write([FailurePlace.save(1)])
            } == .storeCorrupt)
    }

    @Test func aRegistryThatWasEmptiedMakesANewStoreBesideTheOld() throws {
        let place = try FailurePlace()
        let store = try place.open()
        try store.write([FailurePlace.save(1)])
        store.close()
        try place.run("DELETE FROM coredatasource.stores")
        let next = try place.open()
        #expect(next.startup.reason == .firstLaunch)
        #expect(try next.count() == 0)
        next.close()
        #expect(try place.keys() == [1])
    }
}
#endif
