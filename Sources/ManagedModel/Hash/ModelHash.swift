internal import CXXHash

/// A 128-bit XXH3 hash. Equal bytes have the same hash on every machine.
public struct ModelHash: Sendable, Hashable, CustomStringConvertible {
    /// The upper 64 bits.
    public var high: UInt64
    /// The lower 64 bits.
    public var low: UInt64

    /// Makes a hash from its two halves.
    ///
    /// ```swift
    /// let hash = ModelHash(high: 1, low: 2)
    /// ```
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Makes the hash of the string's UTF-8 bytes.
    ///
    /// ```swift
    /// #expect(ModelHash(hashing: model.canonicalForm) == model.hash)
    /// ```
    ///
    /// **Complexity**: linear in the length of the string.
    public init(hashing text: String) {
        var text = text
        self = text.withUTF8 { bytes in
            let hash = XXH3_128bits(bytes.baseAddress, bytes.count)
            return ModelHash(high: hash.high64, low: hash.low64)
        }
    }

    /// Parses a ``description``. The result is nil if the string is not exactly 32 lower-case hexadecimal digits.
    ///
    /// ```swift
    /// #expect(ModelHash(model.hash.description) == model.hash)
    /// ```
    public init?(_ description: String) {
        guard description.utf8.count == 32,
            description.utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }),
            let high = UInt64(description.prefix(16), radix: 16), let low = UInt64(description.suffix(16), radix: 16)
        else { return nil }
        self.init(high: high, low: low)
    }

    /// The hash as 32 lower-case hexadecimal digits.
    public var description: String {
        [high, low].map { word in
            let digits = String(word, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }
}

extension ManagedObjectModel {
    /// The version of the table layout of stores. Every hash includes the version, so a higher version resets every store with
    /// an older layout.
    public static let schemaFormat = 1

    /// A string that describes the persisted shape of the model, in a fixed order. ``hash`` is the hash of this string.
    ///
    /// The string includes entities, inheritance, abstractness, stored attributes with type and optionality, the leaves
    /// of composites, derivations, relationships with destination, inverse, arity, order and counts, uniqueness
    /// constraints, version hash modifiers, and ``schemaFormat``. The string does not include delete rules, indexes,
    /// class names, default values, validation rules, renaming identifiers, transient properties, fetched properties,
    /// fetch requests, configurations, user info, or the order of elements in the model file.
    ///
    /// - Complexity: linear in the properties of the model, times the depth of inheritance. ``hash`` and ``entityHashes`` have
    ///   the same complexity, so store their values if you need them often.
    public var canonicalForm: String {
        var forms = CanonicalForms(self)
        return entities.sorted { [$0.name].precedes([$1.name]) }
            .reduce(into: "model schema \(Self.schemaFormat)\n") { $0 += forms.canonicalForm(of: $1) }
    }

    /// Returns a string that describes the persisted shape of one entity. The string contains the parent's hash, so a change of
    /// the parent changes the string of each child. A change of a child does not change the parent's string.
    ///
    /// ```swift
    /// let form = model.canonicalForm(of: contact)
    /// ```
    ///
    /// - Complexity: linear in the properties of the model, times the depth of inheritance.
    public func canonicalForm(of entity: EntityDescription) -> String {
        var forms = CanonicalForms(self)
        return forms.canonicalForm(of: entity)
    }

    /// The hash of ``canonicalForm``. Models with equal hashes have equal persisted shapes. A model has the same hash on every
    /// machine.
    public var hash: ModelHash {
        ModelHash(hashing: canonicalForm)
    }

    /// The hash of each entity's canonical form, by entity name.
    public var entityHashes: [String: ModelHash] {
        var forms = CanonicalForms(self)
        return forms.lookup.entities.mapValues { ModelHash(hashing: forms.canonicalForm(of: $0)) }
    }
}

/// Builds the canonical forms of entities. The hash of each parent is calculated once.
private struct CanonicalForms {
    let lookup: ModelLookup
    private var hashes: [String: ModelHash] = [:]

    init(_ model: ManagedObjectModel) {
        lookup = ModelLookup(model)
    }

    mutating func canonicalForm(of entity: EntityDescription) -> String {
        var parentHash: ModelHash?
        let lineage = lookup.lineage(of: entity)
        // Only an invalid model has a lineage without a root. The hashes along such a lineage depend on the first entity, so
        // they are not cached.
        let isComplete = lineage.last?.parentName == nil
        for ancestor in lineage.dropFirst().reversed() {
            if isComplete, let hash = hashes[ancestor.name] {
                parentHash = hash
                continue
            }
            let form = EntityShape(of: ancestor, in: lookup).canonicalForm(parentHash: parentHash)
            parentHash = ModelHash(hashing: form)
            if isComplete { hashes[ancestor.name] = parentHash }
        }
        return EntityShape(of: entity, in: lookup).canonicalForm(parentHash: parentHash)
    }
}
