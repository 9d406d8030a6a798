import ErrorExpectations
import ManagedModel
import RowStore
import TestSupport
import Testing

/// Initial values of a class that the model does not have, in a migration of each store.
struct InitialValuePromises {
    private static let kinds = MigratedPlace.Kind.all
    private static let title = AttributeDescription(name: "title", type: .string, isOptional: true)
    private static let old = ManagedObjectModel.shop(.item([title]))

    private static func new(_ attributes: AttributeDescription..., unique: [[String]] = []) -> ManagedObjectModel {
        .shop(.item([title] + attributes, unique: unique))
    }

    /// The row of a new object, with these values by the names of the attributes.
    private static func row(_ entity: EntityLayout, _ values: [String: RowValue]) -> RowSnapshot {
        var row = RowSnapshot(columnCount: entity.columns.count)
        for (name, value) in values {
            if let column = entity.column(named: name) { row.setValue(value, column) }
        }
        return row
    }

    @Test(arguments: kinds) func everyKindOfValueIsStored(kind: MigratedPlace.Kind) throws {
        let model = Self.new(
            AttributeDescription(name: "count", type: .integer64), AttributeDescription(name: "size", type: .double),
            AttributeDescription(name: "name", type: .string), AttributeDescription(name: "tags", type: .transformable),
            AttributeDescription(name: "photo", type: .binary), AttributeDescription(name: "madeAt", type: .date),
            AttributeDescription(name: "note", type: .string, isOptional: true))
        let values: [String: RowValue] = [
            "count": .integer(-7), "size": .real(0.1), "name": .text("it's \"É\""), "tags": .blob(Array("[]".utf8)),
            "photo": .blob([]),
        ]
        try MigratedPlace.filled(kind, Self.old) { place, contents in
            let objects = Guarded(0)
            let (store, startup) = try place.open(
                model,
                initialRow: { entity in
                    let number = objects.increment()
                    let each: [String: RowValue] = ["madeAt": .real(Double(number)), "note": .text("\(number)")]
                    return Self.row(entity, values.merging(each) { $1 })
                })
            #expect(startup.migration?.rowsCarried == 3)
            let items = try store.contents(ModelLayout(model))["Item"] ?? [:]
            #expect(items.count == 3)
            for (key, item) in items {
                let wanted = values.merging(contents["Item"]?[key] ?? [:]) { $1 }
                let madeAt = item["madeAt"] ?? .null
                #expect(item == wanted.merging(["madeAt": madeAt, "note": .null]) { $1 })
            }
            // A date is the same in all objects, although it differs in new objects.
            let dates = Set(items.values.map { $0["madeAt"] })
            #expect(dates.count == 1 && !dates.contains(.some(.null)))
            store.close()
        }
    }

    @Test(arguments: kinds) func aNewPartGetsItsValueUnlessTheCompositeIsNil(kind: MigratedPlace.Kind) throws {
        func model(_ parts: AttributeDescription...) -> ManagedObjectModel {
            let place = AttributeDescription(name: "place", type: .composite, isOptional: true, compositeName: "Place")
            let parts = [AttributeDescription(name: "name", type: .string)] + parts
            return ManagedObjectModel(
                name: "Shop", entities: [.item([Self.title, place])],
                composites: [CompositeDescription(name: "Place", attributes: parts)])
        }
        let new = model(
            AttributeDescription(name: "tags", type: .transformable), AttributeDescription(name: "madeAt", type: .date),
            AttributeDescription(name: "code", type: .string),
            AttributeDescription(name: "note", type: .string, isOptional: true))
        try MigratedPlace.filled(kind, model()) { place, contents in
            let objects = Guarded(0)
            let (store, startup) = try place.open(
                new,
                initialRow: { entity in
                    let number = objects.increment()
                    return Self.row(
                        entity,
                        [
                            "place.tags": .blob(Array("[]".utf8)), "place.madeAt": .real(Double(number)),
                            "place.code": .text("\(number)"), "place.note": .text("note"),
                        ])
                })
            #expect(startup.migration?.rowsCarried == 3)
            let items = try store.contents(ModelLayout(new))["Item"] ?? [:]
            #expect(items.values.count { $0["place.name"] == .null } == 1 && items.count == 3)
            for (key, item) in items {
                let before = contents["Item"]?[key] ?? [:]
                let isNil = before["place.name"] == .null
                // A value that differs in each new object, and the value of an optional part, are no values of existing objects.
                let parts: [String: RowValue] = [
                    "place.tags": isNil ? .null : .blob(Array("[]".utf8)), "place.madeAt": isNil ? .null : .real(1),
                    "place.code": .null, "place.note": .null,
                ]
                #expect(item == before.merging(parts) { $1 })
            }
            store.close()
        }
    }

    @Test(arguments: kinds) func aValueThatDiffersIsRefused(kind: MigratedPlace.Kind) throws {
        let model = Self.new(AttributeDescription(name: "code", type: .string))
        try MigratedPlace.filled(kind, Self.old) { place, _ in
            let objects = Guarded(0)
            let error = expectError(.modelChanged) {
                try place.open(model, initialRow: { Self.row($0, ["code": .text("\(objects.increment())")]) })
            }
            #expect(
                error?.cause?.hasPrefix("Item.code: the attribute is new and required, but its initial value") == true)
        }
    }

    @Test(arguments: kinds) func oneValueOfSeveralObjectsIsNotUnique(kind: MigratedPlace.Kind) throws {
        let model = Self.new(AttributeDescription(name: "code", type: .string), unique: [["code"]])
        try MigratedPlace.filled(kind, Self.old) { place, _ in
            let error = expectError(.modelChanged) {
                try place.open(model, initialRow: { Self.row($0, ["code": .text("a")]) })
            }
            #expect(error?.cause?.contains("code") == true, "\(error?.cause ?? "")")
        }
    }

    @Test(arguments: kinds) func aClassIsAskedOnlyForAValueThatIsNeeded(kind: MigratedPlace.Kind) throws {
        // The title becomes required.
        let model = ManagedObjectModel.shop(
            .item([
                AttributeDescription(name: "title", type: .string, defaultValue: .string("a")),
                AttributeDescription(name: "code", type: .string, defaultValue: .string("a")),
                AttributeDescription(name: "note", type: .string, isOptional: true),
            ]))
        try MigratedPlace.filled(kind, Self.old) { place, _ in
            let isAsked = Guarded(false)
            let (store, startup) = try place.open(
                model,
                initialRow: { _ in
                    isAsked.withLock { $0 = true }
                    return nil
                })
            let wasAsked = isAsked.withLock { $0 }
            #expect(startup.migration?.rowsCarried == 3 && !wasAsked)
            store.close()
        }
    }
}

extension Guarded<Int> {
    /// Adds 1, and returns the sum.
    fileprivate func increment() -> Int {
        withLock { count in
            count += 1
            return count
        }
    }
}
