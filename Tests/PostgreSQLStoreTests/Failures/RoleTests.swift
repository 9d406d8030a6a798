#if PostgreSQL
import PostgreSQLStore
import RowStore
import StoreTestModel
import TestSupport
import Testing

/// Several roles have stores in one database. No role's code runs with the rights of another one.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, Comment(rawValue: PostgreSQLServer.comment)))
struct RoleTests {
    /// A role that may make schemas.
    private func makeRole(_ place: FailurePlace, _ name: String) throws -> String {
        let role = "\(name)_\(place.database)"
        try place.server.session().run(
            "CREATE ROLE \(role) LOGIN; GRANT CREATE ON DATABASE \(place.database) TO \(role)")
        return role
    }

    private func options(_ place: FailurePlace, _ role: String) -> PostgreSQLStore.Options {
        place.options(isDirect: true, user: role)
    }

    private func failure(_ options: PostgreSQLStore.Options) -> DataSourceError? {
        do throws(DataSourceError) { try PostgreSQLStore.open(options).close() } catch { return error }
        return nil
    }

    @Test func eachRoleHasItsOwnStores() throws {
        let place = try FailurePlace()
        let roles = try ["first", "second"].map { try makeRole(place, $0) }
        for _ in 0..<2 {
            for (number, role) in roles.enumerated() {
                let store = try PostgreSQLStore.open(options(place, role))
                #expect(store.startup.reason == (try store.count() == 0 ? .firstLaunch : .current))
                try store.write([FailurePlace.save(try Int64(number * 10 + store.count()))])
                #expect(try store.keys().allSatisfy { $0 / 10 == number })
                store.close()
            }
        }
        #expect(try place.run("SELECT schema FROM coredatasource.stores") == [["store 1"]])
        #expect(try place.run("SELECT schema FROM \"coredatasource \(roles[1])\".stores") == [["store 2"]])
        // A superuser that sees all registries makes sure that no role's code runs with its rights.
        #expect(failure(place.options(isDirect: true))?.code == .permissionDenied)
    }

    @Test(arguments: [
        """
        CREATE TABLE coredatasource.stores (name text PRIMARY KEY, generation bigint NOT NULL, schema text NOT NULL);
        CREATE TRIGGER t BEFORE INSERT ON coredatasource.stores FOR EACH ROW EXECUTE FUNCTION coredatasource.steal()
        """,
        "CREATE VIEW coredatasource.stores AS SELECT coredatasource.look() AS name, 1::bigint AS generation, 'x' AS schema",
    ])
    func aRegistryThatSomebodyMadeFirstRunsNoCode(stores: String) throws {
        let place = try FailurePlace()
        let (evil, app) = (try makeRole(place, "evil"), try makeRole(place, "app"))
        try place.run(
            """
            SET ROLE \(evil); CREATE SCHEMA coredatasource; CREATE TABLE coredatasource.loot (role text);
            CREATE TABLE coredatasource.backups (schema text PRIMARY KEY, name text NOT NULL, generation bigint NOT NULL);
            CREATE FUNCTION coredatasource.look() RETURNS text LANGUAGE plpgsql AS
            'BEGIN INSERT INTO coredatasource.loot VALUES (current_user); RETURN ''store''; END';
            CREATE FUNCTION coredatasource.steal() RETURNS trigger LANGUAGE plpgsql AS
            'BEGIN PERFORM coredatasource.look(); RETURN NEW; END';
            \(stores); GRANT USAGE ON SCHEMA coredatasource TO PUBLIC; GRANT ALL ON ALL TABLES IN SCHEMA coredatasource TO PUBLIC
            """)
        let refusal = failure(options(place, app))
        #expect(refusal?.code == .permissionDenied && refusal?.message.contains(evil) == true)
        #expect(code { _ = try PostgreSQLStore.forecast(options(place, app)) } == .permissionDenied)
        // With a registry of its own, it does not use that one.
        try place.run("SET ROLE \(evil); REVOKE USAGE ON SCHEMA coredatasource FROM PUBLIC")
        for _ in 0..<2 { try PostgreSQLStore.open(options(place, app)).close() }
        try place.run("SET ROLE \(evil); GRANT USAGE ON SCHEMA coredatasource TO PUBLIC")
        try PostgreSQLStore.open(options(place, app)).close()
        #expect(try place.run("SELECT * FROM coredatasource.loot") == [])
    }

    @Test(arguments: [
        "CREATE TRIGGER t BEFORE INSERT ON coredatasource.stores FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()",
        "ALTER TABLE coredatasource.stores ENABLE ROW LEVEL SECURITY",
        "ALTER TABLE coredatasource.stores ALTER name SET DEFAULT 'a'",
        "CREATE RULE r AS ON INSERT TO coredatasource.stores DO ALSO SELECT 1",
        "ALTER TABLE coredatasource.backups ADD other integer",
    ])
    func aRegistryThatIsNotAsTheLibraryMadeItIsNamed(change: String) throws {
        let place = try FailurePlace()
        try place.open(isDirect: true).close()
        try place.run(change)
        #expect(failure(place.options(isDirect: true))?.code == .storeCorrupt)
    }

    @Test func aStoreWhoseSchemaBelongsToAnotherRoleIsRefused() throws {
        let place = try FailurePlace()
        let (evil, app) = (try makeRole(place, "evil"), try makeRole(place, "app"))
        try PostgreSQLStore.open(options(place, app)).close()
        try place.run("ALTER SCHEMA \"store 1\" OWNER TO \(evil)")
        let refusal = failure(options(place, app))
        #expect(refusal?.code == .permissionDenied && refusal?.message.contains(evil) == true)
    }

    /// Two roles that act as a group.
    private func makeGroup(_ place: FailurePlace) throws -> [String] {
        let roles = try ["first", "second"].map { try makeRole(place, $0) }
        let group = "group_\(place.database)"
        try place.server.session().run(
            """
            CREATE ROLE \(group) NOLOGIN; GRANT CREATE ON DATABASE \(place.database) TO \(group);
            GRANT \(group) TO \(roles[0]), \(roles[1]); GRANT pg_signal_backend TO \(group);
            ALTER ROLE \(roles[0]) SET role = '\(group)'; ALTER ROLE \(roles[1]) SET role = '\(group)'
            """)
        return roles
    }

    /// The tables belong to the group, whichever member has made them.
    @Test func theMembersOfAGroupShareItsStores() throws {
        let place = try FailurePlace()
        let stores = try makeGroup(place).map { try PostgreSQLStore.open(options(place, $0)) }
        for (key, store) in stores.enumerated() { try store.write([FailurePlace.save(Int64(key))]) }
        #expect(try stores.map { try $0.keys() } == [[0, 1], [0, 1]])
        for store in stores { store.close() }
    }

    /// Of its own role, or of another one of the group. No role needs to be a superuser for that. A process that is halted while it
    /// sends a save is not idle, so that the server does not end its session either.
    @Test(arguments: [0, 1])
    func transactionsOfAHaltedGroupMemberAreEnded(role: Int) async throws {
        let place = try FailurePlace()
        let roles = try makeGroup(place)
        let halted = try PostgreSQLStore.open(place.options(user: roles[0]))
        let other = try PostgreSQLStore.open(options(place, roles[role]))
        _ = try halted.takeLeases([TestModel.item], for: "s")
        let hold = place.proxy.holdInside("INSERT INTO \"store 1\".\"Item\"")
        let commit = runOnOwnThread { code { try halted.write([FailurePlace.save(1)]) } }
        hold.wait()
        let open = """
            SELECT DISTINCT pid::text FROM pg_locks WHERE relation = '"Item"'::regclass AND pid <> pg_backend_pid()
            """
        var end = ContinuousClock.now + .seconds(600)
        // The server may still be running the statements before the insert.
        var sessions = try place.run(open)
        while sessions.isEmpty, .now < end { sessions = try place.run(open) }
        #expect(sessions.count == 1)
        try place.run("UPDATE _members SET seen = seen - interval '1000 years' WHERE number = \(halted.member.number)")
        #expect(try other.takeLeases([TestModel.item], for: "s").ticket == nil)
        // Since it is not halted in truth, it tries again over another session.
        end = .now + .seconds(600)
        while try place.run(open) == sessions, .now < end {}
        #expect(try place.run(open) != sessions)
        hold.deliver()
        // It had no lease to lose.
        #expect(await commit.value == nil)
        halted.close()
        other.close()
    }
}
#endif
