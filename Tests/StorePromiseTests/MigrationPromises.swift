import Dispatch
import ErrorExpectations
import Foundation
import ManagedModel
import RowStore
import StoreTestModel
import TestSupport
import Testing

/// Rows that stay when the model or a key changes, in each store that other programs can have open.
struct MigrationPromises {
    private static let kinds = MigratedPlace.Kind.all
    private static let shared = kinds.filter { $0 != .file }

    private static let policies: [ResetPolicy] = [
        .migrate(otherwise: .fail), .migrate(otherwise: .fail), .migrate(otherwise: .changedEntities),
        .migrate(otherwise: .discard), .migrateWithoutLoss(otherwise: .changedEntities),
        .migrateWithoutLoss(otherwise: .fail),
        .changedEntities, .changedEntities, .backup(keep: 1), .discard, .fail,
    ]

    /// What opening a store does; nil for the startup if it is refused.
    private struct Outcome: Equatable {
        var contents: StoreContents?
        var startup: StoreStartup?
        var code: DataSourceError.Code?
    }

    /// Opens a store with a policy that may refuse it. Where a backup is depends on the store.
    private func result(
        of place: MigratedPlace, _ model: ManagedObjectModel, _ policy: ResetPolicy, _ keys: [String: String]
    ) throws -> Outcome {
        do {
            var (store, startup) = try place.open(model, policy, keys: keys)
            defer { store.close() }
            startup.backup = nil
            return Outcome(contents: try store.contents(ModelLayout(model)), startup: startup)
        } catch let error as DataSourceError {
            return Outcome(code: error.code)
        }
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
                for _ in 0..<Int.random(in: 1...8, using: &random) { draft.edit(using: &random, of: [old]) }
                let model = draft.model
                let policy = Self.policies.randomElement(using: &random) ?? .changedEntities
                let keyed = draft.entities.filter { _ in Int.random(in: 0..<6, using: &random) == 0 }.map(\.name)
                let keys = Dictionary(uniqueKeysWithValues: keyed.map { ($0, "\(round % 2)") })
                let results = try places.map { try result(of: $0, model, policy, keys) }
                #expect(results[0] == results[1], "seed \(seed &+ number), round \(round), \(policy)")
                // The store is still for the old model, or nothing is left to compare.
                if results[0].code != nil {
                    draft = old
                    continue
                }
                if results[0].startup?.isReset == true, results[0].startup?.entitiesReset == nil { break }
                draft.publish()
            }
        }
    }

    @Test(arguments: kinds) func valuesAreWidenedDefaultedAndDerived(kind: MigratedPlace.Kind) throws {
        let old = ManagedObjectModel.shop(
            EntityDescription.item([
                AttributeDescription(name: "count", type: .integer64, isOptional: true),
                AttributeDescription(name: "price", type: .integer16, isOptional: true),
                AttributeDescription(name: "size", type: .integer32, isOptional: true),
                AttributeDescription(name: "title", type: .string, isOptional: true),
            ]))
        let new = ManagedObjectModel.shop(
            EntityDescription.item([
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
        try MigratedPlace.filled(kind, old) { place, _ in
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
            // The second time, there is nothing to do.
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
        let old = ManagedObjectModel.shop(EntityDescription.item(attributes, links: [link]))
        var renamed = link
        (renamed.name, renamed.renamingIdentifier) = ("pieces", "parts")
        let new = ManagedObjectModel.shop(EntityDescription.item(attributes, links: [renamed]))
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

    @Test(arguments: kinds) func valuesThatDoNotFitTheNewTypeTriggerTheFallback(kind: MigratedPlace.Kind) throws {
        let count = AttributeDescription(name: "count", type: .integer64, isOptional: true)
        let old = ManagedObjectModel.shop(EntityDescription.item([count]))
        let place = try MigratedPlace(kind)
        let first = try place.open(old).store
        try first.write(values: [1, (1 << 53) + 1, (1 << 53) + 1, Int64.max].map { .integer($0) })
        first.close()
        var real = count
        real.type = .double
        let inexact = ManagedObjectModel.shop(EntityDescription.item([real]))
        let inexactError = expectError(.modelChanged) { try place.open(inexact) }
        #expect(
            inexactError?.cause?.contains(
                "Item.count: Double cannot hold the value 9007199254740993 of the object with the key 2, "
                    + "one of 3.") == true, "\(String(describing: inexactError?.cause))")
        let unique = ManagedObjectModel.shop(EntityDescription.item([count], unique: [["count"]]))
        let error = expectError(.modelChanged) { try place.open(unique) }
        #expect(error?.cause?.contains("the same ") == true)
        let second = try place.open(old)
        #expect(second.startup.reason == .current)
        #expect(try second.store.count(RowQuery(entity: 0)) == 4)
        second.store.close()
        let (store, startup) = try place.open(unique, .migrate(otherwise: .discard))
        #expect(startup.isReset && startup.rowsDropped == 4 && startup.migration == nil)
        #expect(startup.fallback?.contains("the same ") == true)
        #expect(try store.count(RowQuery(entity: 0)) == 0)
        store.close()
    }

    /// Two strings that differ by case only become the same one, which is known when they are derived.
    @Test(arguments: kinds) func derivedValuesMustBeUniqueToo(kind: MigratedPlace.Kind) throws {
        let name = AttributeDescription(name: "name", type: .string, isOptional: true)
        let old = ManagedObjectModel.shop(EntityDescription.item([name]))
        let place = try MigratedPlace(kind)
        let first = try place.open(old).store
        try first.write(values: [.text("a"), .text("A")])
        first.close()
        let search = AttributeDescription(
            name: "search", type: .string, isOptional: true, derivationExpression: "lowercase:(name)")
        let error = expectError(.modelChanged) {
            try place.open(ManagedObjectModel.shop(EntityDescription.item([name, search], unique: [["search"]])))
        }
        #expect(error?.cause?.contains("the same ") == true)
        let (store, startup) = try place.open(ManagedObjectModel.shop(EntityDescription.item([name, search])))
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
            ManagedObjectModel.shop(
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
        try MigratedPlace.filled(kind, old) { place, before in
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
            let error = expectError(.modelChanged) {
                try place.open(model(top, [], unique: [["search"]]))
            }
            #expect(error?.cause?.contains("the same ") == true)
        }
    }

    @Test(arguments: shared) func whileAnotherMemberIsThereNothingIsMigrated(kind: MigratedPlace.Kind) throws {
        let count = AttributeDescription(name: "count", type: .integer64, isOptional: true)
        let old = ManagedObjectModel.shop(EntityDescription.item([count]))
        try MigratedPlace.filled(kind, old) { place, contents in
            let other = try place.open(old).store
            let new = ManagedObjectModel.shop(
                EntityDescription.item([count, AttributeDescription(name: "x", type: .string, isOptional: true)]))
            for policy in [ResetPolicy.migrate, .changedEntities, .discard] {
                let error = expectError(.storeInUse) { try place.open(new, policy) }
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

    /// As when all processes of a service are started again with a new model: one migrates, and the others wait for it.
    @Test(arguments: shared) func ofSeveralThatOpenAtOnceOneMigrates(kind: MigratedPlace.Kind) throws {
        let count = AttributeDescription(name: "count", type: .integer64, isOptional: true)
        let old = ManagedObjectModel.shop(.box, .item([count]))
        let new = ManagedObjectModel.shop(
            .box, .item([count, AttributeDescription(name: "x", type: .string, isOptional: true)]))
        try MigratedPlace.filled(kind, old) { place, before in
            let results = Guarded<[Result<StoreStartup, any Error>]>([])
            let ended = DispatchSemaphore(value: 0)
            for _ in 0..<6 {
                Thread.detachNewThread {
                    let opened = Result { try place.open(new) }
                    results.withLock { $0.append(opened.map(\.1)) }
                    // All of them have it open at once.
                    while results.withLock({ $0.count }) < 6 { Thread.sleep(forTimeInterval: 0.001) }
                    do {
                        let (store, _) = try opened.get()
                        #expect(try store.contents(ModelLayout(new))["Box"] == before["Box"])
                        store.close()
                    } catch {
                        Issue.record(error)
                    }
                    ended.signal()
                }
            }
            for _ in 0..<6 { ended.wait() }
            let startups = try results.withLock { $0 }.map { try $0.get() }
            #expect(startups.count { $0.migration?.rowsCarried == 6 } == 1)
            #expect(startups.count { $0.reason == .current } == 5)
        }
    }

    // MARK: A part

    private func expectBoxes(_ contents: StoreContents, _ before: StoreContents) {
        let boxes = (before["Box"] ?? [:]).mapValues { box in box.merging(["first": RowValue.null]) { $1 } }
        #expect(boxes.count == 3)
        #expect(contents["Box"] == boxes)
        #expect(contents["_Box_items"] == [:])
        #expect(contents["Item"] == [:])
    }

    /// A store that an earlier release made with the names as the file of the model had them.
    @Test(arguments: kinds) func namesInAnotherFormOfUnicodeKeepTheirRows(kind: MigratedPlace.Kind) throws {
        func model(_ names: (entity: String, attribute: String, relationship: String)) -> ManagedObjectModel {
            ManagedObjectModel(
                name: "Names",
                entities: [
                    EntityDescription(
                        name: names.entity,
                        attributes: [AttributeDescription(name: names.attribute, type: .string, isOptional: true)],
                        relationships: [
                            RelationshipDescription(
                                name: names.relationship, destinationName: names.entity, isToMany: true,
                                isOptional: true)
                        ])
                ])
        }
        let old = model(("Cafe\u{301}", "e\u{301}", "u\u{308}"))
        let new = model(("Caf\u{e9}", "\u{e9}", "\u{fc}"))
        #expect(old.hash != new.hash)
        try MigratedPlace.filled(kind, old) { place, before in
            let (store, startup) = try place.open(new)
            #expect(startup.migration?.rowsCarried == 3)
            #expect(try store.contents(ModelLayout(new)) == before)
            store.close()
            let again = try place.open(new)
            #expect(again.startup.reason == .current)
            again.store.close()
        }
    }

    @Test(arguments: kinds) func rowsOfEntitiesThatDidNotChangeStay(kind: MigratedPlace.Kind) throws {
        let count = AttributeDescription(name: "count", type: .integer64, isOptional: true)
        try MigratedPlace.filled(kind, ManagedObjectModel.shop(EntityDescription.box, EntityDescription.item([count])))
        { place, before in
            var text = count
            text.type = .string
            let new = ManagedObjectModel.shop(EntityDescription.box, EntityDescription.item([text]))
            let (store, startup) = try place.open(new, .changedEntities)
            #expect(startup.entitiesReset == ["Item"] && startup.rowsDropped == 3 && startup.fallback == nil)
            expectBoxes(try store.contents(ModelLayout(new)), before)
            store.close()
        }
    }

    @Test(arguments: kinds, [ResetPolicy.discard, .migrate(otherwise: .discard)])
    func theKeyOfADataSourceDropsItsRowsOnly(
        kind: MigratedPlace.Kind, policy: ResetPolicy
    ) throws {
        let count = AttributeDescription(name: "count", type: .integer64, isOptional: true)
        let model = ManagedObjectModel.shop(EntityDescription.box, EntityDescription.item([count]))
        try MigratedPlace.filled(kind, model) { place, before in
            let (store, startup) = try place.open(model, policy, keys: ["Item": "2"])
            #expect(startup.entitiesReset == ["Item"] && startup.rowsDropped == 3)
            expectBoxes(try store.contents(ModelLayout(model)), before)
            store.close()
        }
    }
}
