import Foundation
import ManagedModel
import ModelMigration
import ModelReader
import RowStore
import SQLiteStore
import StoreTestModel
import TestSupport
import Testing

/// Stores that this and earlier releases wrote are opened as they are, with every row in them.
struct StoreFixtureTests {
    @Test func thereAreFixtures() {
        #expect(StoreFixture.all.count >= 11)
    }

    @Test(arguments: StoreFixture.all)
    func aStoreOfAnyFormatKeepsEveryRow(fixture: StoreFixture) throws {
        let model = try fixture.model()
        let contents = try fixture.contents().mirrored(model)
        #expect(model.hash.description == contents.modelHash, "\(fixture): the hash of an equal model is another one")
        #expect(model.entityHashes.mapValues(\.description) == contents.entityHashes, "\(fixture)")

        let folder = try TemporaryFolder()
        let url = try fixture.copyStore(to: folder.url)
        let options = fixture.options(url, model, keys: contents.entityKeys)
        let store = try SQLiteStore.open(options)
        #expect(store.startup.reason == .current, "\(fixture)")
        #expect(store.startup.rowsDropped == 0 && store.startup.migration == nil, "\(fixture)")
        let found = try StoreContents(store, model, contents)
        #expect(found.rows == contents.rows, "\(fixture)")
        #expect(found.links == contents.links, "\(fixture)")

        // It goes on: each entity takes another row, and no key is given again.
        let keys = contents.rows.values.flatMap(\.keys).compactMap { Int64($0) }
        #expect(store.firstFreeKey > keys.max() ?? 0, "\(fixture)")
        let key = store.firstFreeKey
        let layout = options.layout
        let added = layout.entities.filter { !$0.isAbstract && $0.links == nil }.map { entity in
            let row = RowSnapshot(columnCount: entity.columns.count)
            return ChangeSet.of(entity.index, insert: [StoredRow(key: key + Int64(entity.index), row: row)])
        }
        try store.write(added)
        store.close()
        let schemaVersion = try RawDatabase(url).run("PRAGMA schema_version")

        let next = try SQLiteStore.open(options)
        #expect(next.startup.reason == .current, "\(fixture)")
        let after = try StoreContents(next, model, contents)
        #expect(after.rows.mapValues(\.count) == contents.rows.mapValues { $0.count + 1 }, "\(fixture)")
        next.close()
        let raw = try RawDatabase(url)
        #expect(try raw.run("PRAGMA integrity_check") == ["ok"], "\(fixture)")
        #expect(try raw.format == 2 && raw.run("PRAGMA schema_version") == schemaVersion, "\(fixture)")
        let rawContents = try StoreContents(rawFile: url, model)
        #expect(rawContents.links == contents.links && rawContents.rows == after.rows, "\(fixture)")
    }

    /// The model that a store keeps of itself leads to the same hash too, so that it can be migrated from.
    @Test(arguments: StoreFixture.all)
    func theStoredModelHasTheSameHash(fixture: StoreFixture) throws {
        let folder = try TemporaryFolder()
        let raw = try RawDatabase(fixture.copyStore(to: folder.url))
        let text = try #require(try raw.run("SELECT value FROM _metadata WHERE name = 'model'").first)
        let model = try #require(ManagedObjectModel(storedText: text))
        #expect(model.hash.description == (try fixture.contents().modelHash), "\(fixture)")
    }
}

extension StoreFixture {
    func model() throws -> ManagedObjectModel {
        try ModelReader.read(data: Data(contentsOf: modelFile), name: name).model
    }

    /// As a container with the model opens its store; a reset is an error.
    func options(_ url: URL, _ model: ManagedObjectModel, keys: [String: String]) -> SQLiteStore.Options {
        SQLiteStore.Options(
            url: url, layout: ModelLayout(model), identity: TestModel.identity(of: model, keys: keys),
            resetPolicy: .fail)
    }
}

extension StoreContents {
    /// With both ends' links of each relationship that is its own inverse, as far as one of them has it. What an end says
    /// itself of the order counts first.
    fileprivate func mirrored(_ model: ManagedObjectModel) -> StoreContents {
        var result = self
        for entity in model.entities {
            for relationship in entity.relationships where relationship.isToMany {
                let name = RelationshipName(entity: entity.name, name: relationship.name)
                let key = "\(entity.name).\(relationship.name)"
                guard model.inverse(of: relationship) == name, let links = links[key] else { continue }
                var places: [[String]: (own: String?, other: String?)] = [:]
                for link in links {
                    let ends = link.components(separatedBy: " > ").map { $0.components(separatedBy: "@") }
                    places[ends.map { $0[0] }] = (ends[1].dropFirst().first, ends[0].dropFirst().first)
                }
                let pairs = Set(places.keys).union(places.keys.map { $0.reversed() })
                result.links[key] = pairs.map { pair in
                    let (one, other) = (places[pair], places[pair.reversed()])
                    let own = one?.own ?? other?.other
                    let back = other?.own ?? one?.other
                    return pair[0] + (back.map { "@\($0)" } ?? "") + " > " + pair[1] + (own.map { "@\($0)" } ?? "")
                }.sorted()
            }
        }
        return result
    }

    /// What the store itself reads.
    init(_ store: SQLiteStore, _ model: ManagedObjectModel, _ identity: StoreContents) throws {
        self = identity
        rows = [:]
        links = [:]
        let layout = ModelLayout(model)
        for entity in layout.entities where entity.links != nil { try readLinks(entity, store, model) }
        for entity in layout.entities where !entity.isAbstract && entity.links == nil {
            let columns = model.columns(of: model.entities[entity.index])
            rows[entity.name] = [:]
            for stored in try store.rows(RowQuery(entity: entity.index)) {
                var values: [String: String] = [:]
                for (index, column) in columns.enumerated() {
                    let value = stored.row.value(index, entity.columns[index].storage)
                    if column.attribute != nil {
                        values[column.name] = value.spelling
                    } else if case .destinationKey(let relationship) = column.role {
                        func other(_ name: String) -> RowValue {
                            entity.column(named: "\(column.name).\(name)").map { stored.row.value($0, .integer) }
                                ?? .null
                        }
                        let source = "\(entity.name) \(stored.key)"
                        addLink(
                            source, relationship, value, entity: other("entity"), position: other("position"), model)
                        addInverseLink(source, relationship, value, entity: other("entity"), model)
                    }
                }
                rows[entity.name]?["\(stored.key)"] = values
            }
        }
    }

    private mutating func readLinks(
        _ entity: EntityLayout, _ store: SQLiteStore, _ model: ManagedObjectModel
    ) throws {
        guard let name = entity.links, let relationship = model.relationship(name) else { return }
        let columns = entity.pairColumns(isReversed: false)
        links["\(name.entity).\(name.name)"] = try store.rows(RowQuery(entity: entity.index)).map { stored in
            func end(_ column: LinkColumns, _ entityName: String) -> String {
                let name = column.entity.map { model.entities[Int(stored.row.integer($0))].name } ?? entityName
                let position = column.position.flatMap { stored.row.isNull($0) ? nil : stored.row.integer($0) }
                return "\(name) \(stored.row.integer(column.key))" + (position.map { "@\($0)" } ?? "")
            }
            return end(columns.own, name.entity) + " > " + end(columns.other, relationship.destinationName)
        }.sorted()
    }
}
