internal import Foundation
internal import ManagedModel

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
