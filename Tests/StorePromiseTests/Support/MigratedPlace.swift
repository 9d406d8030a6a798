import Foundation
import ManagedModel
import ModelMigration
import RowStore
import SQLiteStore
import StoreFaults
import StoreTestModel
import TestSupport
import Testing

#if PostgreSQL
import PostgreSQLStore
#endif

/// A place whose store is opened with one model after the other.
final class MigratedPlace: Sendable {
    enum Kind: String, Sendable, CaseIterable {
        case file, sharedFile, server

        /// Those that there can be here.
        static var all: [Kind] {
            #if PostgreSQL
            PostgreSQLServer.isInstalled ? allCases : [.file, .sharedFile]
            #else
            [.file, .sharedFile]
            #endif
        }
    }

    let kind: Kind
    private let directory: URL
    /// The database on the server; empty for a file.
    let database: String

    init(_ kind: Kind) throws {
        self.kind = kind
        directory = FileManager.default.temporaryDirectory.appending(component: "migrated-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        #if PostgreSQL
        database = kind == .server ? try PostgreSQLServer.shared.makeDatabase() : ""
        #else
        database = ""
        #endif
    }

    deinit {
        try? FileManager.default.removeItem(at: directory)
        #if PostgreSQL
        if kind == .server { try? PostgreSQLServer.shared.dropDatabase(database) }
        #endif
    }

    /// - Parameter keys: Those of data sources, by entity.
    func open(
        _ model: ManagedObjectModel, _ policy: ResetPolicy = .migrate(otherwise: .fail), key: String = "",
        keys: [String: String] = [:], history: KeptHistory = .unchanged,
        progress: (@Sendable (MigrationProgress) -> Void)? = nil,
        initialRow: @escaping @Sendable (EntityLayout) -> RowSnapshot? = { _ in nil }
    ) throws -> (store: any PersistentStore, startup: StoreStartup) {
        let layout = ModelLayout(model, initialRow: initialRow)
        let identity = StoreIdentity(
            modelHash: model.hash.description, entityHashes: model.entityHashes.mapValues(\.description),
            databaseKey: key, entityKeys: keys, entityNames: EntityNames(of: model))
        #if PostgreSQL
        if kind == .server {
            var options = try serverOptions(layout, identity)
            options.resetPolicy = policy
            options.migrationProgress = progress
            options.history = history
            let store = try PostgreSQLStore.open(options)
            return (store, store.startup)
        }
        #endif
        var options = SQLiteStore.Options(
            url: directory.appending(component: "test.store"), layout: layout, identity: identity,
            synchronous: .normal, resetPolicy: policy,
            migrationProgress: progress)
        (options.isShared, options.history) = (kind == .sharedFile, history)
        let store = try SQLiteStore.open(options)
        return (store, store.startup)
    }

    #if PostgreSQL
    private func serverOptions(_ layout: ModelLayout, _ identity: StoreIdentity) throws -> PostgreSQLStore.Options {
        PostgreSQLStore.Options(
            connection: try PostgreSQLServer.shared.connectionString(database: database), name: "store", layout: layout,
            identity: identity, synchronous: .normal)
    }

    /// Opens a store by its name, as another process does.
    static func open(_ name: String, in database: String, _ model: ManagedObjectModel) throws -> any PersistentStore {
        let identity = StoreIdentity(
            modelHash: model.hash.description, entityHashes: model.entityHashes.mapValues(\.description),
            databaseKey: "", entityKeys: [:], entityNames: EntityNames(of: model))
        return try PostgreSQLStore.open(
            PostgreSQLStore.Options(
                connection: PostgreSQLServer.shared.connectionString(database: database), name: name,
                layout: ModelLayout(model), identity: identity, synchronous: .normal))
    }

    /// Another program's session with the database.
    func session() throws -> PostgreSQLSession { try PostgreSQLServer.shared.session(database: database) }
    #endif
}

// MARK: Models

extension MigratedPlace {
    /// Fills a new store, and passes on what is in it.
    static func filled(
        _ kind: Kind, _ model: ManagedObjectModel, _ body: (MigratedPlace, StoreContents) throws -> Void
    ) throws {
        let place = try MigratedPlace(kind)
        let store = try place.open(model).store
        try store.fill(ModelLayout(model))
        let contents = try store.contents(ModelLayout(model))
        store.close()
        try body(place, contents)
    }
}

extension ManagedObjectModel {
    static func shop(_ entities: EntityDescription...) -> ManagedObjectModel {
        ManagedObjectModel(name: "Shop", entities: entities)
    }
}

extension EntityDescription {
    static func item(
        _ attributes: [AttributeDescription], unique: [[String]] = [], links: [RelationshipDescription] = []
    ) -> EntityDescription {
        EntityDescription(name: "Item", attributes: attributes, relationships: links, uniquenessConstraints: unique)
    }

    /// One with links of each kind to items and to its own.
    static let box = EntityDescription(
        name: "Box", attributes: [AttributeDescription(name: "size", type: .integer64, isOptional: true)],
        relationships: [
            RelationshipDescription(name: "items", destinationName: "Item", isToMany: true, isOptional: true),
            RelationshipDescription(name: "first", destinationName: "Item", isOptional: true),
            RelationshipDescription(name: "next", destinationName: "Box", isOptional: true),
        ])
}

// MARK: Rows

/// The rows of a store: by entity, then by key, the values by attribute. Links have no keys that matter.
typealias StoreContents = [String: [Int64: [String: RowValue]]]

extension PersistentStore {
    /// Puts three rows into each entity, and three links into each relationship that has rows for them.
    func fill(_ layout: ModelLayout) throws {
        var set = ChangeSet(entities: [])
        set.number = 1
        var nextKey: Int64 = 100_000
        for entity in layout.entities where !entity.isAbstract {
            var changes = EntityChanges(entity: entity.index)
            for number in 0..<3 {
                guard let row = row(entity, layout, number) else { continue }
                nextKey += 1
                let key = entity.links == nil ? Int64(entity.index * 10 + number + 1) : nextKey
                changes.inserted.append(StoredRow(key: key, row: row))
            }
            if !changes.inserted.isEmpty { set.entities.append(changes) }
        }
        _ = try commit([set])
    }

    /// Writes objects of the first entity with that value in its only attribute.
    func write(values: [RowValue]) throws {
        let rows = values.enumerated().map { number, value in
            var row = RowSnapshot(columnCount: 1)
            row.setValue(value, 0)
            return StoredRow(key: Int64(number) + 1, row: row)
        }
        try write([.of(0, insert: rows)])
    }

    private func row(_ entity: EntityLayout, _ layout: ModelLayout, _ number: Int) -> RowSnapshot? {
        var row = RowSnapshot(columnCount: entity.columns.count)
        func lead(_ key: Int, _ entity: Int?, _ position: Int?, to family: [Int]) {
            guard !family.isEmpty else { return }
            let other = family[number % family.count]
            row.setInteger(Int64(other * 10 + number + 1), key)
            if let entity { row.setInteger(Int64(other), entity) }
            if let position { row.setInteger(Int64(1_000 - number), position) }
        }
        if let links = entity.links {
            let sources = layout.entity(named: links.entity)?.concreteFamily ?? []
            let destination = layout.model.relationship(links)?.destinationName ?? ""
            let destinations = layout.entity(named: destination)?.concreteFamily ?? []
            guard !sources.isEmpty, !destinations.isEmpty else { return nil }
            let columns = entity.pairColumns(isReversed: false)
            lead(columns.own.key, columns.own.entity, columns.own.position, to: sources)
            lead(columns.other.key, columns.other.entity, columns.other.position, to: destinations)
            return row
        }
        let columns = layout.model.entity(named: entity.name).map { layout.model.columns(of: $0) } ?? []
        for (index, column) in columns.enumerated() where column.isStored {
            switch column.role {
            case .attribute(let attribute):
                if number > 0 || !attribute.isOptional { row.setValue(value(attribute, entity, number), index) }
            case .destinationKey(let relationship):
                let holdsEntity =
                    index + 1 < columns.count && columns[index + 1].role == .destinationEntity(relationship)
                lead(
                    index, holdsEntity ? index + 1 : nil, entity.column(named: "\(relationship.name).position"),
                    to: layout.entity(named: relationship.destinationName)?.concreteFamily ?? [])
            case .destinationEntity, .position: continue
            }
        }
        return row
    }

    private func value(_ attribute: AttributeDescription, _ entity: EntityLayout, _ number: Int) -> RowValue {
        let key = Int64(entity.index * 10 + number + 1)
        return switch ColumnStorage(attribute.type) {
        case .integer: .integer(attribute.type == .boolean ? key % 2 : key * 7)
        case .real: .real(Double(key) + 0.5)
        case .text: .text(attribute.type == .decimal ? "\(key).25" : "\(attribute.name) \(key) É'")
        case .blob: .blob(Array("\(attribute.name) \(key)".utf8))
        }
    }

    func contents(_ layout: ModelLayout) throws -> StoreContents {
        var contents: StoreContents = [:]
        for entity in layout.entities where !entity.isAbstract {
            var rows: [Int64: [String: RowValue]] = [:]
            var links: Int64 = 0
            let found = try self.rows(RowQuery(entity: entity.index)).map { row in
                (
                    row.key,
                    Dictionary(
                        uniqueKeysWithValues: entity.storedColumns.map { column in
                            (entity.columns[column].name, row.row.value(column, entity.columns[column].storage))
                        })
                )
            }
            // Links are numbered by their ends.
            let sorted = entity.links == nil ? found : found.sorted { place(of: $0.1) < place(of: $1.1) }
            for (key, values) in sorted {
                links += 1
                rows[entity.links == nil ? key : links] = values
            }
            contents[entity.name] = rows
        }
        return contents
    }
}

/// A string by which links are sorted.
private func place(of link: [String: RowValue]) -> String {
    link.sorted { $0.key < $1.key }.map { "\($0.value)" }.joined(separator: " ")
}
