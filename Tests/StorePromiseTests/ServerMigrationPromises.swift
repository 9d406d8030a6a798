#if PostgreSQL
import ErrorExpectations
import ManagedModel
import RowStore
import StoreTestModel
import TestSupport
import Testing

/// What else is in the database of a store that is migrated, and what the migration does to it.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, "\(PostgreSQLServer.comment)"))
struct ServerMigrationPromises {
    /// Its rows would be copied while they change.
    @Test func aProgramThatIsWritingHoldsAMigrationUp() throws {
        let count = AttributeDescription(name: "count", type: .integer64, isOptional: true)
        let new = ManagedObjectModel.shop(
            EntityDescription.item([count, AttributeDescription(name: "x", type: .string, isOptional: true)]))
        try MigratedPlace.filled(.server, ManagedObjectModel.shop(EntityDescription.item([count]))) { place, _ in
            let session = try place.session()
            _ = try session.run("BEGIN; INSERT INTO \"store 1\".\"Item\" VALUES (50, 50)")
            expectError(.storeBusy) { try place.open(new) }
            _ = try session.run("COMMIT")
            let (store, startup) = try place.open(new)
            #expect(startup.migration?.rowsCarried == 4)
            #expect(try session.run("SELECT nspname FROM pg_namespace WHERE nspname LIKE 'store %'") == [["store 2"]])
            store.close()
        }
    }

    /// As when a process is killed in the middle of it.
    @Test func aMigrationThatIsCutOffLeavesTheOldStoreWhole() throws {
        let count = AttributeDescription(name: "count", type: .integer64, isOptional: true)
        let old = ManagedObjectModel.shop(EntityDescription.box, EntityDescription.item([count]))
        let text = AttributeDescription(name: "x", type: .string, isOptional: true)
        let new = ManagedObjectModel.shop(EntityDescription.box, EntityDescription.item([count, text]))
        try MigratedPlace.filled(.server, old) { place, contents in
            let database = place.database
            for entity in ["Box", "Item"] {
                expectError(.storeUnavailable) {
                    try place.open(new) { progress in
                        guard progress.entityName == entity else { return }
                        let session = try? PostgreSQLServer.shared.session(database: database)
                        _ = try? session?.run(
                            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() "
                                + "AND pid <> pg_backend_pid()")
                    }
                }
                let (store, startup) = try place.open(old)
                #expect(startup.reason == .current)
                #expect(try store.contents(ModelLayout(old)) == contents)
                store.close()
            }
            let (store, startup) = try place.open(new)
            #expect(startup.migration?.rowsCarried == 6)
            store.close()
        }
    }

    /// A view over the tables would be gone, without a word.
    @Test func aMigrationDoesNotDestroyWhatOthersHaveAdded() throws {
        let count = AttributeDescription(name: "count", type: .integer64, isOptional: true)
        let new = ManagedObjectModel.shop(
            EntityDescription.item([count, AttributeDescription(name: "x", type: .string, isOptional: true)]))
        try MigratedPlace.filled(.server, ManagedObjectModel.shop(EntityDescription.item([count]))) { place, _ in
            let session = try place.session()
            for (make, drop) in [
                ("CREATE VIEW public.report AS SELECT count FROM \"store 1\".\"Item\"", "DROP VIEW public.report"),
                ("CREATE TABLE \"store 1\".notes (text text)", "DROP TABLE \"store 1\".notes"),
            ] {
                _ = try session.run(make)
                for policy in [ResetPolicy.migrate, .migrate(otherwise: .discard)] {
                    let error = expectError(.modelChanged) { try place.open(new, policy) }
                    #expect(error?.message.contains("Another program has added") == true)
                }
                _ = try session.run(drop)
            }
            let (store, startup) = try place.open(new)
            #expect(startup.migration?.rowsCarried == 3)
            store.close()
        }
    }

    /// What is an error with the same model is no reason for a reset with another model or key.
    @Test(arguments: [
        "ALTER TABLE \"store 1\".\"Item\" RENAME COLUMN count TO mine", "DROP TABLE \"store 1\".\"Box\" CASCADE",
        "UPDATE \"store 1\"._metadata SET text = 'model' WHERE name = 'model'",
    ])
    func aDamagedServerStoreIsNotDiscarded(damage: String) throws {
        let count = AttributeDescription(name: "count", type: .integer64, isOptional: true)
        let old = ManagedObjectModel.shop(EntityDescription.box, EntityDescription.item([count]))
        let text = AttributeDescription(name: "x", type: .string, isOptional: true)
        let new = ManagedObjectModel.shop(EntityDescription.box, EntityDescription.item([count, text]))
        try MigratedPlace.filled(.server, old) { place, _ in
            let session = try place.session()
            _ = try session.run(damage)
            var starts: [(ManagedObjectModel, ResetPolicy, [String: String])] = [
                (new, .migrate, [:]), (new, .migrate(otherwise: .backup(keep: 1)), [:]), (new, .changedEntities, [:]),
            ]
            // The copy of the model is not read for the same model.
            if !damage.hasPrefix("UPDATE") { starts.append((old, .discard, ["Item": "2"])) }
            for (model, policy, keys) in starts {
                expectError(.storeCorrupt, "\(policy)") {
                    try place.open(model, policy, keys: keys).store.close()
                }
            }
            #expect(try session.run("SELECT count(*) FROM \"store 1\".\"Item\"") == [["3"]])
        }
    }

    /// What it would write to the old tables would be lost.
    @Test func nobodyWritesBesideAMigration() throws {
        let count = AttributeDescription(name: "count", type: .integer64, isOptional: true)
        let text = AttributeDescription(name: "x", type: .string, isOptional: true)
        try MigratedPlace.filled(.server, ManagedObjectModel.shop(EntityDescription.item([count]))) { place, _ in
            let database = place.database
            let written = Guarded<[Bool]>([])
            let (store, startup) = try place.open(ManagedObjectModel.shop(EntityDescription.item([count, text]))) { _ in
                let result = Result {
                    try PostgreSQLServer.shared.session(database: database).run(
                        "SET lock_timeout = '100ms'; INSERT INTO \"store 1\".\"Item\" VALUES (60, 60)")
                }
                written.withLock { $0.append((try? result.get()) != nil) }
            }
            #expect(startup.migration?.rowsCarried == 3)
            #expect(written.withLock { !$0.isEmpty && !$0.contains(true) })
            store.close()
        }
    }

    /// The store has the number that it had, and keys follow entities that are renamed.
    @Test func aMigratedStoreIsTheSameAndKeysFollowItsEntities() throws {
        let count = AttributeDescription(name: "count", type: .integer64, isOptional: true)
        let old = ManagedObjectModel.shop(EntityDescription.item([count]))
        let renamed = EntityDescription(name: "Thing", attributes: [count], renamingIdentifier: "Item")
        for (keys, isKept) in [([:], true), (["Thing": "1"], true), (["Thing": "2"], false)] {
            let place = try MigratedPlace(.server)
            let first = try place.open(old, keys: ["Item": "1"]).store
            try first.fill(ModelLayout(old))
            let session = try place.session()
            func number(_ generation: Int) throws -> [[String?]] {
                try session.run("SELECT text FROM \"store \(generation)\"._metadata WHERE name = 'storeID'")
            }
            let before = try number(1)
            first.close()
            let (store, startup) = try place.open(
                ManagedObjectModel.shop(renamed), .migrate(otherwise: .discard), keys: keys)
            #expect(startup.migration?.rowsCarried == (isKept ? 3 : 0) && startup.rowsDropped == (isKept ? 0 : 3))
            #expect(try number(2) == before && before.count == 1)
            store.close()
        }
    }

    /// The default never loses rows of other users.
    @Test func theStandardPolicyNeverResetsAServerStore() throws {
        let count = AttributeDescription(name: "count", type: .integer64, isOptional: true)
        let text = AttributeDescription(name: "x", type: .string, isOptional: true)
        let new = ManagedObjectModel.shop(EntityDescription.item([count, text]))
        try MigratedPlace.filled(.server, ManagedObjectModel.shop(EntityDescription.item([count]))) { place, _ in
            #expect(code { try place.open(new, .standard).store.close() } == .modelChanged)
            let (store, startup) = try place.open(new, .migrate(otherwise: .standard))
            #expect(startup.migration?.rowsCarried == 3)
            store.close()
            #expect(
                code {
                    let other = ManagedObjectModel.shop(
                        EntityDescription.item([AttributeDescription(name: "count", type: .date, isOptional: true)]))
                    try place.open(other, .migrate(otherwise: .standard)).store.close()
                } == .modelChanged)
        }
    }

    @Test func aKeyOfADataSourceDropsNoRowsOfAServerStoreByDefault() throws {
        let count = AttributeDescription(name: "count", type: .integer64, isOptional: true)
        let text = AttributeDescription(name: "x", type: .string, isOptional: true)
        let old = ManagedObjectModel.shop(EntityDescription.item([count]))
        let new = ManagedObjectModel.shop(EntityDescription.item([count, text]))
        try MigratedPlace.filled(.server, old) { place, _ in
            for policy in [ResetPolicy.standard, .migrate, .migrateWithoutLoss(otherwise: .standard)] {
                for model in [old, new] {
                    #expect(code { try place.open(model, policy, keys: ["Item": "2"]).store.close() } == .modelChanged)
                }
            }
            let (store, startup) = try place.open(old, .migrate(otherwise: .discard), keys: ["Item": "2"])
            #expect(startup.entitiesReset == ["Item"] && startup.rowsDropped == 3)
            store.close()
        }
    }

    @Test func rowsThatAKeyDropsAreInTheBackup() throws {
        let count = AttributeDescription(name: "count", type: .integer64, isOptional: true)
        let model = ManagedObjectModel.shop(EntityDescription.box, EntityDescription.item([count]))
        try MigratedPlace.filled(.server, model) { place, _ in
            let (store, startup) = try place.open(model, .backup(keep: 1), keys: ["Item": "2"])
            #expect(startup.entitiesReset == ["Item"] && startup.rowsDropped == 3)
            store.close()
            let session = try place.session()
            #expect(try session.run("SELECT count(*) FROM \"store 2\".\"Item\"") == [["0"]])
            #expect(try session.run("SELECT count(*) FROM \"store backup 1\".\"Item\"") == [["3"]])
        }
    }

    /// They are derived in parts, because all of them may be more than the memory holds.
    @Test func everyStringOfALargeTableIsDerived() throws {
        let name = AttributeDescription(name: "name", type: .string, isOptional: true)
        let loud = AttributeDescription(
            name: "loud", type: .string, isOptional: true, derivationExpression: "uppercase:(name)")
        let place = try MigratedPlace(.server)
        try place.open(ManagedObjectModel.shop(EntityDescription.item([name]))).store.close()
        let session = try place.session()
        _ = try session.run(
            "INSERT INTO \"store 1\".\"Item\" (_key, name) SELECT n, 'name ' || n FROM generate_series(1, 4500) AS n")
        let (store, startup) = try place.open(ManagedObjectModel.shop(EntityDescription.item([name, loud])))
        #expect(startup.migration?.rowsCarried == 4_500)
        #expect(
            try session.run("SELECT count(*) FROM \"store 2\".\"Item\" WHERE loud = 'NAME ' || _key") == [["4500"]])
        store.close()
    }

    @Test func linksOfSeveralRelationshipsHaveKeysOfTheirOwn() throws {
        func model(_ names: [(name: String, identifier: String?)]) -> ManagedObjectModel {
            ManagedObjectModel.shop(
                EntityDescription.item(
                    [],
                    links: names.map { name, identifier in
                        RelationshipDescription(
                            name: name, destinationName: "Item", isToMany: true, isOptional: true,
                            renamingIdentifier: identifier)
                    }))
        }
        try MigratedPlace.filled(.server, model([("a", nil), ("b", nil)])) { place, _ in
            let (store, startup) = try place.open(model([("c", "a"), ("d", "b")]))
            #expect(startup.migration?.rowsCarried == 3)
            let tables = ["Item", "_Item_c", "_Item_d"].map { "SELECT _key FROM \"store 2\".\"\($0)\"" }
            #expect(
                try place.session().run(
                    "SELECT count(*), count(DISTINCT _key) FROM (\(tables.joined(separator: " UNION ALL "))) AS rows")
                    == [["9", "9"]])
            store.close()
        }
    }

    /// Only the store that is migrated waits.
    @Test func otherStoresOfTheDatabaseOpenMeanwhile() throws {
        let count = AttributeDescription(name: "count", type: .integer64, isOptional: true)
        let old = ManagedObjectModel.shop(EntityDescription.item([count]))
        let new = ManagedObjectModel.shop(
            EntityDescription.item([count, AttributeDescription(name: "x", type: .string, isOptional: true)]))
        try MigratedPlace.filled(.server, old) { place, _ in
            let database = place.database
            let opened = Guarded<[String: DataSourceError.Code?]>([:])
            let (store, _) = try place.open(new) { progress in
                guard progress.entityName != nil else { return }
                for name in ["other", "store"] {
                    let code = code { try MigratedPlace.open(name, in: database, old).close() }
                    opened.withLock { $0[name] = code }
                }
            }
            #expect(opened.withLock { $0 } == ["other": nil, "store": .storeBusy])
            store.close()
        }
    }

    /// What was set aside before is not the migration's to drop.
    @Test func backupsStayWhenAServerMigrates() throws {
        let count = AttributeDescription(name: "count", type: .integer64, isOptional: true)
        let text = AttributeDescription(name: "x", type: .string, isOptional: true)
        try MigratedPlace.filled(.server, ManagedObjectModel.shop(EntityDescription.item([count]))) { place, _ in
            try place.open(ManagedObjectModel.shop(EntityDescription.item([text])), .backup(keep: 1)).store.close()
            try place.open(ManagedObjectModel.shop(EntityDescription.item([text, count]))).store.close()
            #expect(
                try place.session().run(
                    "SELECT nspname FROM pg_namespace WHERE nspname LIKE 'store %' ORDER BY 1")
                    == [["store 3"], ["store backup 1"]])
        }
    }
}
#endif
