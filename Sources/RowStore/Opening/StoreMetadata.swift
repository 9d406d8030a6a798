internal import Foundation
package import ManagedModel
package import ModelMigration

/// What a store keeps about itself beside its rows: the model and keys that it was made for, and the first free key.
///
/// ``StartupPlan/metadata`` makes it. Store it with the rows, as a `Codable` value, and pass it to ``StoreOptions/plan(for:)``
/// when the store is opened again.
public struct StoreMetadata: Sendable, Equatable {
    package var identity: StoreIdentity
    /// A number that no other store has.
    package var storeID: String
    /// The first key that no row ever had, or a greater one.
    public var firstFreeKey: Int64
    /// The model that the store was made for, as ``ManagedObjectModel/storedText``; nil in a store of an older release.
    package var modelText: String?
    /// The format of the tables: always ``ManagedObjectModel/storeFormat`` when written.
    package private(set) var format = ManagedObjectModel.storeFormat

    package init(identity: StoreIdentity, storeID: String, firstFreeKey: Int64, modelText: String? = nil) {
        self.identity = identity
        self.storeID = storeID
        self.firstFreeKey = firstFreeKey
        self.modelText = modelText
    }

    /// The metadata in what was found; nil if there is none, or if it cannot be read.
    package static func metadata(in found: FoundStore) -> StoreMetadata? {
        guard case .metadata(let rows) = found else { return nil }
        return try? StoreMetadata(rows: rows)
    }

    /// The metadata of a store without rows.
    package init(new identity: StoreIdentity, firstFreeKey: Int64 = 1, modelText: String? = nil) {
        self.init(
            identity: identity, storeID: UUID().uuidString, firstFreeKey: firstFreeKey, modelText: modelText)
    }

    package static let modelName = "model"
    private static let entityPrefix = "entity "
    private static let keyPrefix = "key "

    /// The rows of the table.
    package var rows: [String: RowValue] {
        var rows: [String: RowValue] = [
            "format": .integer(format), "modelHash": .text(identity.modelHash),
            "databaseKey": .text(identity.databaseKey ?? ""), "storeID": .text(storeID),
            "firstFreeKey": .integer(firstFreeKey),
        ]
        if let modelText { rows[StoreMetadata.modelName] = .text(modelText) }
        for (name, hash) in identity.entityHashes { rows[StoreMetadata.entityPrefix + name] = .text(hash) }
        for (name, key) in identity.entityKeys { rows[StoreMetadata.keyPrefix + name] = .text(key) }
        return rows
    }

    /// Reads ``rows`` back.
    ///
    /// - Throws: `newerFormat`, or `storeCorrupt` if anything is missing: metadata that cannot be read is no reason for a
    ///   reset.
    package init(rows: [String: RowValue]) throws(DataSourceError) {
        if case .integer(let format) = rows["format"], format > ManagedObjectModel.storeFormat {
            throw DataSourceError(
                .newerFormat, "A newer release of the app wrote this store (format \(format)). Update the app.")
        }
        guard case .integer(let format) = rows["format"], format > 0, case .text(let modelHash) = rows["modelHash"],
            case .text(let databaseKey) = rows["databaseKey"], case .text(let storeID) = rows["storeID"],
            case .integer(let firstFreeKey) = rows["firstFreeKey"], firstFreeKey > 0
        else {
            throw DataSourceError(
                .storeCorrupt,
                "The store's description of itself is incomplete. Restore it from a copy, or delete it and start over.")
        }
        self.init(
            identity: StoreIdentity(
                modelHash: modelHash, entityHashes: StoreMetadata.texts(in: rows, after: StoreMetadata.entityPrefix),
                databaseKey: databaseKey, entityKeys: StoreMetadata.texts(in: rows, after: StoreMetadata.keyPrefix)),
            storeID: storeID, firstFreeKey: firstFreeKey)
        self.format = format
        if case .text(let text) = rows[StoreMetadata.modelName] { modelText = text }
    }

    private static func texts(in rows: [String: RowValue], after prefix: String) -> [String: String] {
        var texts: [String: String] = [:]
        for (name, value) in rows {
            if case .text(let text) = value, let name = name.remainder(afterPrefix: prefix) { texts[name] = text }
        }
        return texts
    }
}

extension StoreMetadata: Codable {
    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    /// Reads what ``encode(to:)`` wrote.
    ///
    /// - Throws: `newerFormat`, or `storeCorrupt` if anything is missing; what the decoder throws.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Name.self)
        var rows: [String: RowValue] = [:]
        for name in container.allKeys {
            if let number = try? container.decode(Int64.self, forKey: name) {
                rows[name.stringValue] = .integer(number)
            } else {
                rows[name.stringValue] = .text(try container.decode(String.self, forKey: name))
            }
        }
        try self.init(rows: rows)
    }

    /// Writes a flat dictionary of strings and integers.
    ///
    /// - Throws: What the encoder throws.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Name.self)
        for (name, value) in rows {
            switch value {
            case .integer(let number): try container.encode(number, forKey: Name(stringValue: name))
            case .text(let text): try container.encode(text, forKey: Name(stringValue: name))
            case .null, .real, .blob: continue
            }
        }
    }
}

extension StoreMetadata {
    /// The model that the store was made for.
    ///
    /// - Throws: `notMigratable` if the store has none; `storeCorrupt` if it is damaged, which is no reason for a reset.
    package func model() throws(DataSourceError) -> ManagedObjectModel {
        guard let modelText else {
            throw DataSourceError(
                notMigratable: "The store has no copy of its model, because an older release made it.")
        }
        guard let model = ManagedObjectModel(storedText: modelText), model.hash.description == identity.modelHash
        else {
            throw DataSourceError(
                .storeCorrupt,
                "The copy of the model in the store is damaged. Restore the store from a copy, or delete it and start over."
            )
        }
        return model
    }
}

/// The model and the database keys that a store was made for. A store that was made for others is reset.
package struct StoreIdentity: Sendable, Hashable {
    /// The hash of the whole model.
    package var modelHash: String
    /// The hash of each entity by its name, to find out which of them changed.
    package var entityHashes: [String: String]
    /// The app's own label for the contents. It is stored in clear text, because it is not a secret. Nil if the app gives none;
    /// then that of the store stays.
    package var databaseKey: String?
    /// The label of the data source that owns an entity, by the entity's name. An empty label is the same as none.
    package var entityKeys: [String: String]
    /// What the entities were called before. It belongs to the model, and not to what the store keeps about itself.
    private let entityNames: EntityNames
    /// The present names of the entities of the store that was found, by their names in it; nil if its model is this one, or cannot be
    /// read. Then the names are what they were.
    private(set) var newNames: [String: String]?

    /// - Parameter entityNames: What the model says about the names that its entities had before.
    package init(
        modelHash: String, entityHashes: [String: String], databaseKey: String?, entityKeys: [String: String] = [:],
        entityNames: EntityNames = EntityNames()
    ) {
        self.entityNames = entityNames
        self.modelHash = modelHash
        self.entityHashes = entityHashes
        self.databaseKey = databaseKey
        self.entityKeys = entityKeys.filter { !$0.value.isEmpty }
    }

    /// The identity with the keys of a store that was found, where the app gives none. Keys follow entities that got another
    /// name, as rows do in a migration.
    package func completed(by found: StoreMetadata?) -> StoreIdentity {
        guard let found else { return self }
        var identity = self
        identity.databaseKey = databaseKey ?? found.identity.databaseKey
        if found.identity.modelHash != modelHash {
            let names = entityHashes.keys.sorted()
            // What cannot be read has no names but those of now. Whoever needs the model itself throws.
            do throws(DataSourceError) {
                identity.newNames = entityNames.matches(from: try found.model(), to: names)
            } catch {}
        }
        for (oldName, key) in found.identity.entityKeys {
            guard let name = identity.newName(of: oldName) else { continue }
            if entityHashes[name] != nil && entityKeys[name] == nil { identity.entityKeys[name] = key }
        }
        return identity
    }

    /// The present name of an entity of the store that was found; nil if it is gone, also if another one has its name now.
    package func newName(of oldName: String) -> String? { newNames.map { $0[oldName] } ?? oldName }

    /// The entities of this store whose rows may not stay under their names, because what has the name now, or what got another name, has
    /// another key.
    package func entitiesOfOtherKeys(in wanted: StoreIdentity) -> [String] {
        entityHashes.keys.filter { name in
            [name, wanted.newName(of: name)].contains { now in
                now.map { wanted.entityHashes[$0] != nil && wanted.entityKeys[$0] != entityKeys[name] } ?? false
            }
        }
    }
}
