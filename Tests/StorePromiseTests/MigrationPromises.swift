import ManagedModel
import RowStore
import StoreTestModel
import TestSupport
import Testing

/// Rows that stay when the model or a key changes, in each store that other programs can have open.
struct MigrationPromises {
    private static let kinds = MigratedPlace.Kind.all
    private static let shared = kinds.filter { $0 != .file }

    private func withPlace(
        _ kind: MigratedPlace.Kind, _ model: ManagedObjectModel, _ body: (MigratedPlace, StoreContents) throws -> Void
    ) throws {
        let place = try MigratedPlace(kind)
        let store = try place.open(model).store
        try store.fill(ModelLayout(model))
        let contents = try store.contents(ModelLayout(model))
        store.close()
        try body(place, contents)
    }

    private static func model(_ entities: EntityDescription...) -> ManagedObjectModel {
        ManagedObjectModel(name: "Shop", entities: entities)
    }

    private static func item(
        _ attributes: [AttributeDescription], unique: [[String]] = [], links: [RelationshipDescription] = []
    ) -> EntityDescription {
        EntityDescription(name: "Item", attributes: attributes, relationships: links, uniquenessConstraints: unique)
    }

    // MARK: What stays

    /// The statements are the same for all stores, and every one of them must take them in the same way.
    @Test(arguments: shared) func everyStoreMigratesAsAFileDoes(kind: MigratedPlace.Kind) throws {
        let seed = testSeed()
        print("seed of the migrations: \(seed)")
        for number in UInt64(0)..<(kind == .server ? 12 : 6) {
            var random = SeededRandom(seed: seed &+ number)
            var draft = ModelDraft(using: &random)
            let places = try [MigratedPlace(.file), MigratedPlace(kind)]
            for place in places {
                let store = try place.open(draft.model).store
                try store.fill(ModelLayout(draft.model))
                store.close()
            }
            for round in 0..<3 {
                let old = draft
                for _ in 0..<Int.random(in: 1...8, using: &random) { draft.edit(using: &random, of: old) }
                let layout = ModelLayout(draft.model)
                let results = try places.map { place in
                    let (store, startup) = try place.open(draft.model)
                    defer { store.close() }
                    return (try store.contents(layout), startup)
                }
                #expect(results[0].0 == results[1].0, "seed \(seed &+ number), round \(round)")
                #expect(results[0].1 == results[1].1, "seed \(seed &+ number), round \(round)")
            }
        }
    }

    @Test(arguments: kinds) func valuesAreWidenedDefaultedAndDerived(kind: MigratedPlace.Kind) throws {
        let old = Self.model(
            Self.item([
                AttributeDescription(name: "count", type: .integer64, isOptional: true),
                AttributeDescription(name: "price", type: .integer16, isOptional: true),
                AttributeDescription(name: "size", type: .integer32, isOptional: true),
                AttributeDescription(name: "title", type: .string, isOptional: true),
            ]))
        let new = Self.model(
            Self.item([
                AttributeDescription(name: "count", type: .double, isOptional: true),
                AttributeDescription(name: "price", type: .decimal, defaultValue: .integer(9)),
                AttributeDescription(name: "size", type: .integer64, defaultValue: .integer(-1)),
                AttributeDescription(name: "name", type: .string, isOptional: true, renamingIdentifier: "title"),
                AttributeDescription(name: "kind", type: .string, defaultValue: .string("it's \"new\"")),
                AttributeDescription(
                    name: "search", type: .string, isOptional: true, derivationExpression: "canonical:(name)"),
                AttributeDescription(
                    name: "loud", type: .string, isOptional: true, derivationExpression: "uppercase:(name)"),
            ]))
        try withPlace(kind, old) { place, _ in
            let reports = Guarded<[MigrationProgress]>([])
            let (store, startup) = try place.open(new, progress: { report in reports.withLock { $0.append(report) } })
            let items = try store.contents(ModelLayout(new))["Item"]
            #expect(
                items?[1] == [
                    "count": .null, "price": .text("9"), "size": .integer(-1), "name": .null,
                    "kind": .text("it's \"new\""), "search": .null, "loud": .null,
                ])
            #expect(
                items?[3] == [
                    "count": .real(21), "price": .text("21"), "size": .integer(21), "name": .text("title 3 É'"),
                    "kind": .text("it's \"new\""), "search": .text("title 3 e'"), "loud": .text("TITLE 3 É'"),
                ])
            #expect(startup.migration?.rowsCarried == 3 && startup.rowsDropped == 0 && !startup.isReset)
            #expect(reports.withLock { $0.last } == MigrationProgress(completedRowCount: 3, totalRowCount: 3))
            store.close()
            // Once more, nothing is to be done.
            let again = try place.open(new)
            #expect(again.startup.reason == .current)
            #expect(try again.store.contents(ModelLayout(new))["Item"] == items)
            again.store.close()
        }
    }

    @Test(arguments: kinds) func newKeysFollowThoseOfCarriedRows(kind: MigratedPlace.Kind) throws {
        let attributes = [AttributeDescription(name: "count", type: .integer64, isOptional: true)]
        let link = RelationshipDescription(
            name: "parts", destinationName: "Item", isToMany: true, isOrdered: true, isOptional: true)
        let old = Self.model(Self.item(attributes, links: [link]))
        var renamed = link
        (renamed.name, renamed.renamingIdentifier) = ("pieces", "parts")
        let new = Self.model(Self.item(attributes, links: [renamed]))
        let place = try MigratedPlace(kind)
        let first = try place.open(old).store
        let keys = try first.sharing?.reserveKeys(1_000) ?? 1..<1_001
        try first.fill(ModelLayout(old))
        first.close()
        let (store, startup) = try place.open(new)
        #expect(startup.migration?.rowsCarried == 3)
        let links = try store.contents(ModelLayout(new))["_Item_pieces"]?.count
        #expect(links == 3)
        if let sharing = store.sharing {
            #expect(try sharing.reserveKeys(1).lowerBound >= keys.upperBound + 3)
        } else {
            #expect(store.firstFreeKey > 100_003)
        }
        store.close()
    }

    // MARK: What does not

    @Test(arguments: kinds) func rowsThatDoNotFitKeepTheStoreOrResetItAsThePolicySays(kind: MigratedPlace.Kind) throws {
        let count = AttributeDescription(name: "count", type: .integer64, isOptional: true)
        let old = Self.model(Self.item([count]))
        let place = try MigratedPlace(kind)
        let first = try place.open(old).store
        let rows = [1, (1 << 53) + 1, (1 << 53) + 1, Int64.max].enumerated().map { number, value in
            var row = RowSnapshot(columnCount: 1)
            row.setInteger(value, 0)
            return StoredRow(key: Int64(number) + 1, row: row)
        }
        try first.write([.of(0, insert: rows)])
        first.close()
        var real = count
        real.type = .double
        let inexact = Self.model(Self.item([real]))
        var error = #expect(throws: DataSourceError.self) { try place.open(inexact) }
        #expect(error?.code == .modelChanged)
        #expect(
            error?.cause?.contains(
                "Item.count: Double cannot hold the value 9007199254740993 of the object with the key 2, "
                    + "one of 3.") == true, "\(String(describing: error?.cause))")
        let unique = Self.model(Self.item([count], unique: [["count"]]))
        error = #expect(throws: DataSourceError.self) { try place.open(unique) }
        #expect(error?.code == .modelChanged && error?.cause?.contains("the same ") == true)
        let second = try place.open(old)
        #expect(second.startup.reason == .current)
        #expect(try second.store.count(RowQuery(entity: 0)) == 4)
        second.store.close()
        let (store, startup) = try place.open(unique, .migrate)
        #expect(startup.isReset && startup.rowsDropped == 4 && startup.migration == nil)
        #expect(startup.fallback?.contains("the same ") == true)
        #expect(try store.count(RowQuery(entity: 0)) == 0)
        store.close()
    }

    /// Two strings that differ by case only become the same one, which is known when they are derived.
    @Test(arguments: kinds) func derivedValuesMustBeUniqueToo(kind: MigratedPlace.Kind) throws {
        let name = AttributeDescription(name: "name", type: .string, isOptional: true)
        let old = Self.model(Self.item([name]))
        let place = try MigratedPlace(kind)
        let first = try place.open(old).store
        let rows = ["a", "A"].enumerated().map { number, text in
            var row = RowSnapshot(columnCount: 1)
            row.setText(text, 0)
            return StoredRow(key: Int64(number) + 1, row: row)
        }
        try first.write([.of(0, insert: rows)])
        first.close()
        let search = AttributeDescription(
            name: "search", type: .string, isOptional: true, derivationExpression: "lowercase:(name)")
        let error = #expect(throws: DataSourceError.self) {
            try place.open(Self.model(Self.item([name, search], unique: [["search"]])))
        }
        #expect(error?.code == .modelChanged && error?.cause?.contains("the same ") == true)
        let (store, startup) = try place.open(Self.model(Self.item([name, search])))
        #expect(startup.migration?.rowsCarried == 2)
        store.close()
    }

    /// Constraints and derived strings beside default values, in entities of which some lack the column.
    @Test(arguments: kinds) func defaultsDoNotDisturbWhatIsCheckedAndDerived(kind: MigratedPlace.Kind) throws {
        func attribute(_ name: String, _ type: AttributeType, _ value: AttributeValue? = nil) -> AttributeDescription {
            AttributeDescription(name: name, type: type, isOptional: value == nil, defaultValue: value)
        }
        func model(_ top: [AttributeDescription], _ code: [AttributeDescription], unique: [[String]] = [])
            -> ManagedObjectModel
        {
            Self.model(
                EntityDescription(name: "Top", attributes: top, uniquenessConstraints: unique),
                EntityDescription(name: "Left", parentName: "Top"),
                EntityDescription(name: "Right", parentName: "Top", attributes: code))
        }
        let old = model([attribute("note", .string)], [attribute("code", .integer64)])
        let search = AttributeDescription(
            name: "search", type: .string, isOptional: true, derivationExpression: "uppercase:(title)")
        let top = [
            attribute("count", .integer64, .integer(7)), attribute("code", .integer64),
            attribute("title", .string, .string("é")), search, attribute("note", .string, .string("none")),
            attribute("price", .double, .double(0.5)),
        ]
        let new = model(top, [], unique: [["code"]])
        try withPlace(kind, old) { place, before in
            let (store, startup) = try place.open(new)
            #expect(startup.migration?.rowsCarried == 9)
            let after = try store.contents(ModelLayout(new))
            for entity in ["Top", "Left", "Right"] {
                for (key, row) in after[entity] ?? [:] {
                    let note = before[entity]?[key]?["note"] ?? .null
                    #expect(
                        row == [
                            "count": .integer(7), "code": before[entity]?[key]?["code"] ?? .null, "title": .text("é"),
                            "search": .text("É"), "note": note == .null ? .text("none") : note, "price": .real(0.5),
                        ], "\(entity) \(key)")
                }
            }
            store.close()
            // All of them have the same derived string, also across the tables of the family.
            let error = #expect(throws: DataSourceError.self) {
                try place.open(model(top, [], unique: [["search"]]))
            }
            #expect(error?.code == .modelChanged && error?.cause?.contains("the same ") == true)
        }
    }

    @Test(arguments: shared) func whileAnotherMemberIsThereNothingIsMigrated(kind: MigratedPlace.Kind) throws {
        let count = AttributeDescription(name: "count", type: .integer64, isOptional: true)
        let old = Self.model(Self.item([count]))
        try withPlace(kind, old) { place, contents in
            let other = try place.open(old).store
            let new = Self.model(Self.item([count, AttributeDescription(name: "x", type: .string, isOptional: true)]))
            for policy in [ResetPolicy.migrate, .changedEntities, .discard] {
                let error = #expect(throws: DataSourceError.self) { try place.open(new, policy) }
                #expect(error?.code == .storeInUse)
                let member = try #require(other.sharing?.member)
                #expect(error?.message.contains("\(member)") == true, "\(String(describing: error))")
            }
            #expect(try other.contents(ModelLayout(old)) == contents)
            other.close()
            let (store, startup) = try place.open(new)
            #expect(startup.migration?.rowsCarried == 3)
            store.close()
        }
    }

    // MARK: A part

    private static let links = RelationshipDescription(
        name: "items", destinationName: "Item", isToMany: true, isOptional: true)
    private static let box = EntityDescription(
        name: "Box", attributes: [AttributeDescription(name: "size", type: .integer64, isOptional: true)],
        relationships: [
            links, RelationshipDescription(name: "first", destinationName: "Item", isOptional: true),
            RelationshipDescription(name: "next", destinationName: "Box", isOptional: true),
        ])

    private func expectBoxes(_ contents: StoreContents, _ before: StoreContents) {
        let boxes = (before["Box"] ?? [:]).mapValues { box in box.merging(["first": RowValue.null]) { $1 } }
        #expect(boxes.count == 3)
        #expect(contents["Box"] == boxes)
        #expect(contents["_Box_items"] == [:])
        #expect(contents["Item"] == [:])
    }

    @Test(arguments: kinds) func rowsOfEntitiesThatDidNotChangeStay(kind: MigratedPlace.Kind) throws {
        let count = AttributeDescription(name: "count", type: .integer64, isOptional: true)
        try withPlace(kind, Self.model(Self.box, Self.item([count]))) { place, before in
            var text = count
            text.type = .string
            let new = Self.model(Self.box, Self.item([text]))
            let (store, startup) = try place.open(new, .changedEntities)
            #expect(startup.entitiesReset == ["Item"] && startup.rowsDropped == 3 && startup.fallback == nil)
            expectBoxes(try store.contents(ModelLayout(new)), before)
            store.close()
        }
    }

    @Test(arguments: kinds, [ResetPolicy.discard, .migrate]) func theKeyOfADataSourceDropsItsRowsOnly(
        kind: MigratedPlace.Kind, policy: ResetPolicy
    ) throws {
        let count = AttributeDescription(name: "count", type: .integer64, isOptional: true)
        let model = Self.model(Self.box, Self.item([count]))
        try withPlace(kind, model) { place, before in
            let (store, startup) = try place.open(model, policy, keys: ["Item": "2"])
            #expect(startup.entitiesReset == ["Item"] && startup.rowsDropped == 3)
            expectBoxes(try store.contents(ModelLayout(model)), before)
            store.close()
        }
    }

    #if PostgreSQL
    /// Its rows would be copied while they change.
    @Test(.enabled(if: PostgreSQLServer.isInstalled, "\(PostgreSQLServer.comment)"))
    func aProgramThatIsWritingHoldsAMigrationUp() throws {
        let count = AttributeDescription(name: "count", type: .integer64, isOptional: true)
        let new = Self.model(Self.item([count, AttributeDescription(name: "x", type: .string, isOptional: true)]))
        try withPlace(.server, Self.model(Self.item([count]))) { place, _ in
            let session = try place.session()
            _ = try session.run("BEGIN; INSERT INTO \"store 1\".\"Item\" VALUES (50, 50)")
            let error = #expect(throws: DataSourceError.self) { try place.open(new) }
            #expect(error?.code == .storeBusy)
            _ = try session.run("COMMIT")
            let (store, startup) = try place.open(new)
            #expect(startup.migration?.rowsCarried == 4)
            #expect(try session.run("SELECT nspname FROM pg_namespace WHERE nspname LIKE 'store %'") == [["store 2"]])
            store.close()
        }
    }

    /// As when a process is killed in the middle of it.
    @Test(.enabled(if: PostgreSQLServer.isInstalled, "\(PostgreSQLServer.comment)"))
    func aMigrationThatIsCutOffLeavesTheOldStoreWhole() throws {
        let count = AttributeDescription(name: "count", type: .integer64, isOptional: true)
        let old = Self.model(Self.box, Self.item([count]))
        let text = AttributeDescription(name: "x", type: .string, isOptional: true)
        let new = Self.model(Self.box, Self.item([count, text]))
        try withPlace(.server, old) { place, contents in
            let database = place.database
            for entity in ["Box", "Item"] {
                let error = #expect(throws: DataSourceError.self) {
                    try place.open(new) { progress in
                        guard progress.entityName == entity else { return }
                        let session = try? PostgreSQLServer.shared.session(database: database)
                        _ = try? session?.run(
                            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() "
                                + "AND pid <> pg_backend_pid()")
                    }
                }
                #expect(error?.code == .storeUnavailable)
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
    @Test(.enabled(if: PostgreSQLServer.isInstalled, "\(PostgreSQLServer.comment)"))
    func whatOthersHaveAddedIsNotDestroyed() throws {
        let count = AttributeDescription(name: "count", type: .integer64, isOptional: true)
        let new = Self.model(Self.item([count, AttributeDescription(name: "x", type: .string, isOptional: true)]))
        try withPlace(.server, Self.model(Self.item([count]))) { place, _ in
            let session = try place.session()
            for (make, drop) in [
                ("CREATE VIEW public.report AS SELECT count FROM \"store 1\".\"Item\"", "DROP VIEW public.report"),
                ("CREATE TABLE \"store 1\".notes (text text)", "DROP TABLE \"store 1\".notes"),
            ] {
                _ = try session.run(make)
                for policy in [ResetPolicy.migrate, .migrate(otherwise: .discard)] {
                    let error = #expect(throws: DataSourceError.self) { try place.open(new, policy) }
                    #expect(
                        error?.code == .modelChanged && error?.message.contains("Another program has added") == true)
                }
                _ = try session.run(drop)
            }
            let (store, startup) = try place.open(new)
            #expect(startup.migration?.rowsCarried == 3)
            store.close()
        }
    }

    /// Only the store that is migrated waits.
    @Test(.enabled(if: PostgreSQLServer.isInstalled, "\(PostgreSQLServer.comment)"))
    func otherStoresOfTheDatabaseOpenMeanwhile() throws {
        let count = AttributeDescription(name: "count", type: .integer64, isOptional: true)
        let old = Self.model(Self.item([count]))
        let new = Self.model(Self.item([count, AttributeDescription(name: "x", type: .string, isOptional: true)]))
        try withPlace(.server, old) { place, _ in
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
    @Test(.enabled(if: PostgreSQLServer.isInstalled, "\(PostgreSQLServer.comment)"))
    func backupsStayWhenAServerMigrates() throws {
        let count = AttributeDescription(name: "count", type: .integer64, isOptional: true)
        let text = AttributeDescription(name: "x", type: .string, isOptional: true)
        try withPlace(.server, Self.model(Self.item([count]))) { place, _ in
            try place.open(Self.model(Self.item([text])), .backup(keep: 1)).store.close()
            try place.open(Self.model(Self.item([text, count]))).store.close()
            #expect(
                try place.session().run(
                    "SELECT nspname FROM pg_namespace WHERE nspname LIKE 'store %' ORDER BY 1")
                    == [["store 3"], ["store backup 1"]])
        }
    }
    #endif
}
