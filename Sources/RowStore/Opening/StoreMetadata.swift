internal import Foundation
package import ManagedModel
package import ModelMigration

/// The description of a store, which the store keeps beside its rows. The description has the model, the database key and the
/// keys of the data sources that the store was made for. It also has a lower bound for the row keys of new rows.
///
/// ``StartupPlan/metadata`` has the value to store. Store it with the rows, as a `Codable` value, and pass it to
/// ``StoreOptions/plan(for:)`` when the store is opened again.
public struct StoreMetadata: Sendable, Equatable {
    package var identity: StoreIdentity
    /// The unique ID of the store.
    package var storeID: String
    /// A key greater than every key that a row has ever had.
    public var firstFreeKey: Int64
    /// The model that the store was made for, as ``ManagedObjectModel/storedText``; nil in a custom store, and in a
    /// store that an older release made.
    package var modelText: String?
    /// The format of the tables. New metadata always has the format ``ManagedObjectModel/storeFormat``.
    package private(set) var format = ManagedObjectModel.storeFormat
    /// Whether the store keeps a history. The stored number of the format includes this flag, so a release that cannot record
    /// saves does not open the store.
    package var keepsHistory = false

    /// The number that ``storedFormat`` adds to ``format`` if the store keeps a history.
    package static let historyFormat: Int64 = 1000
    /// The number that the store keeps for both the format and ``keepsHistory``.
    package var storedFormat: Int64 { format + (keepsHistory ? StoreMetadata.historyFormat : 0) }

    package init(identity: StoreIdentity, storeID: String, firstFreeKey: Int64, modelText: String? = nil) {
        self.identity = identity
        self.storeID = storeID
        self.firstFreeKey = firstFreeKey
        self.modelText = modelText
    }

    /// Returns the metadata that was found; nil if there is none, or if it cannot be read.
    package static func metadata(in found: FoundStore) -> StoreMetadata? {
        guard case .metadata(let rows) = found else { return nil }
        return try? StoreMetadata(rows: rows)
    }

    /// Makes the metadata for a new, empty store.
    package init(new identity: StoreIdentity, firstFreeKey: Int64 = 1, modelText: String? = nil) {
        self.init(
            identity: identity, storeID: UUID().uuidString, firstFreeKey: firstFreeKey, modelText: modelText)
    }

    package static let modelRowName = "model"
    private static let entityPrefix = "entity "
    private static let keyPrefix = "key "

    /// The rows of the metadata table.
    package var rows: [String: RowValue] {
        var rows: [String: RowValue] = [
            "format": .integer(storedFormat), "modelHash": .text(identity.modelHash),
            "databaseKey": .text(identity.databaseKey ?? ""), "storeID": .text(storeID),
            "firstFreeKey": .integer(firstFreeKey),
        ]
        if let modelText { rows[StoreMetadata.modelRowName] = .text(modelText) }
        for (name, hash) in identity.entityHashes { rows[StoreMetadata.entityPrefix + name] = .text(hash) }
        for (name, key) in identity.entityKeys { rows[StoreMetadata.keyPrefix + name] = .text(key) }
        return rows
    }

    /// Decodes the metadata from ``rows``.
    ///
    /// - Throws: `newerFormat`; `storeCorrupt` if a row is missing or invalid. Unreadable metadata never leads to a
    ///   reset.
    package init(rows: [String: RowValue]) throws(DataSourceError) {
        var (format, keepsHistory): (Int64?, Bool) = (nil, false)
        if case .integer(let stored) = rows["format"] {
            keepsHistory = stored / StoreMetadata.historyFormat == 1
            format = keepsHistory ? stored - StoreMetadata.historyFormat : stored
        }
        if let format, format > ManagedObjectModel.storeFormat {
            throw DataSourceError(
                .newerFormat, "A newer release of this library wrote the store (format \(format)). Update the app.")
        }
        guard let format, format > 0, case .text(let modelHash) = rows["modelHash"],
            case .text(let databaseKey) = rows["databaseKey"], case .text(let storeID) = rows["storeID"],
            case .integer(let firstFreeKey) = rows["firstFreeKey"], firstFreeKey > 0
        else {
            throw DataSourceError(
                .storeCorrupt,
                "The store's description of itself is incomplete. Restore the store from a copy, or delete the store and start over."
            )
        }
        self.init(
            identity: StoreIdentity(
                modelHash: modelHash, entityHashes: StoreMetadata.texts(in: rows, after: StoreMetadata.entityPrefix),
                databaseKey: databaseKey, entityKeys: StoreMetadata.texts(in: rows, after: StoreMetadata.keyPrefix)),
            storeID: storeID, firstFreeKey: firstFreeKey)
        self.format = format
        self.keepsHistory = keepsHistory
        if case .text(let text) = rows[StoreMetadata.modelRowName] { modelText = text }
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

    /// Decodes metadata that ``encode(to:)`` has written.
    ///
    /// ```swift
    /// let found = try JSONDecoder().decode(StoreMetadata.self, from: data)
    /// ```
    ///
    /// - Throws: `newerFormat`; `storeCorrupt` if a value is missing or invalid; the errors of the decoder.
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

    /// Encodes the metadata as a flat dictionary of strings and integers.
    ///
    /// ```swift
    /// let data = try JSONEncoder().encode(plan.metadata)
    /// ```
    ///
    /// - Throws: The errors of the encoder.
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
    /// Returns the model that the store was made for.
    ///
    /// - Throws: `notMigratable` if the store has no copy of the model; `storeCorrupt` if the copy is damaged. A damaged copy
    ///   never leads to a reset.
    package func model() throws(DataSourceError) -> ManagedObjectModel {
        guard let modelText else {
            throw DataSourceError(
                notMigratable: "The store has no copy of its model: older releases stored no copy.")
        }
        guard let model = ManagedObjectModel(storedText: modelText), model.hash.description == identity.modelHash
        else {
            throw DataSourceError(
                .storeCorrupt,
                "The copy of the model in the store is damaged. Restore the store from a copy, or delete the store and start over."
            )
        }
        return model
    }
}

/// The model and the keys that a store was made for. If one of them changes, the reset policy decides what happens to
/// the rows.
package struct StoreIdentity: Sendable, Hashable {
    /// The hash of the whole model.
    package var modelHash: String
    /// The hash of each entity, by the entity's name. Shows which entities have changed.
    package var entityHashes: [String: String]
    /// The app's label for the contents of the store, stored in clear text because it is not a secret. If the app gives no
    /// label, the value is nil, and the label in the store is kept.
    package var databaseKey: String?
    /// The key of the data source that owns an entity, by the entity's name. An empty key counts as no key.
    package var entityKeys: [String: String]
    /// The earlier names of the entities, from the model. The store does not keep these names.
    private let entityNames: EntityNames
    /// The new names of the found store's entities, by their old names. Nil if all names count as unchanged, because
    /// the model is unchanged or the found model cannot be read.
    private(set) var newNames: [String: String]?

    /// - Parameter entityNames: The earlier names of the entities, from the model.
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

    /// Returns this identity, completed with the found store's keys where the app gives no key. If an entity was renamed, the
    /// store's key for the old name becomes the key for the new name.
    package func completed(by found: StoreMetadata?) -> StoreIdentity {
        guard let found else { return self }
        var identity = self
        identity.databaseKey = databaseKey ?? found.identity.databaseKey
        if found.identity.modelHash != modelHash {
            let names = entityHashes.keys.sorted()
            // If the model cannot be read, treat the names as unchanged. Code that needs the model throws the error later.
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

    /// Returns the new name of an entity in the found store. Returns nil if the entity was removed, even if another entity now
    /// has its name.
    package func newName(of oldName: String) -> String? { newNames.map { $0[oldName] } ?? oldName }

    /// Returns the entities of this store whose rows must be dropped because the key of their data source changed. The key of
    /// an old entity is compared with two keys of `wanted`: the key of the entity with the old name, and the key of the entity
    /// with the new name.
    package func entitiesOfOtherKeys(in wanted: StoreIdentity) -> [String] {
        entityHashes.keys.filter { name in
            [name, wanted.newName(of: name)].contains { now in
                now.map { wanted.entityHashes[$0] != nil && wanted.entityKeys[$0] != entityKeys[name] } ?? false
            }
        }
    }
}
