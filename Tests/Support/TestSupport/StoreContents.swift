package import Foundation

/// Every row, value and link of a store, in an exact form that does not depend on the store's format.
package struct StoreContents: Codable, Equatable, Sendable {
    /// The hashes of the model that the store was made for, and of its entities.
    package var modelHash: String
    package var entityHashes: [String: String]
    package var databaseKey: String
    /// The keys of single data sources, by entity.
    package var entityKeys: [String: String]
    /// By entity, key and attribute. A missing value is nil; ``text(_:)`` and the functions beside it make the other values.
    package var rows: [String: [String: [String: String]]]
    /// The links by `Entity.relationship`, sorted. A relationship and its inverse have one entry: `Person 3 > Town 1`. `@2`
    /// after an end is its position among the objects of the other end.
    package var links: [String: [String]]

    package init(
        modelHash: String, entityHashes: [String: String], databaseKey: String, entityKeys: [String: String],
        rows: [String: [String: [String: String]]] = [:], links: [String: [String]] = [:]
    ) {
        self.modelHash = modelHash
        self.entityHashes = entityHashes
        self.databaseKey = databaseKey
        self.entityKeys = entityKeys
        self.rows = rows
        self.links = links
    }

    package init(contentsOf file: URL) throws {
        self = try JSONDecoder().decode(StoreContents.self, from: Data(contentsOf: file))
    }

    package func write(to file: URL) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        try (encoder.encode(self) + Data("\n".utf8)).write(to: file)
    }
}

/// One string for each value: two values are equal, bit by bit, if their strings are equal.
extension StoreContents {
    package static func integer(_ value: Int64) -> String { "integer \(value)" }
    /// The shortest number that reads back as the same value.
    package static func real(_ value: Double) -> String { "real \(value)" }
    package static func bytes(_ value: some Sequence<UInt8>) -> String {
        "bytes " + value.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
    /// In ASCII, so that different scalars differ here even if the strings are equal in Swift.
    package static func text(_ value: String) -> String {
        "text "
            + value.unicodeScalars.map { scalar in
                scalar.isASCII && scalar.value >= 0x20 && scalar != "\\" ? "\(scalar)" : scalar.escaped
            }.joined()
    }
}

extension Unicode.Scalar {
    fileprivate var escaped: String { "\\u{\(String(value, radix: 16))}" }
}
