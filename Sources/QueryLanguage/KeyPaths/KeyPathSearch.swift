internal import ManagedModel
internal import RowStore

/// Identifies a key path by its meaning: by the type of its value, and by two hashes of 64 bits.
struct KeyPathIdentity: Hashable, Sendable {
    private let value: ObjectIdentifier
    private let hash: Int
    private let otherHash: Int

    init(_ keyPath: AnyKeyPath) {
        value = ObjectIdentifier(type(of: keyPath).valueType)
        hash = keyPath.hashValue
        var hasher = Hasher()
        hasher.combine(1)
        keyPath.hash(into: &hasher)
        otherHash = hasher.finalize()
    }
}

/// Builds key paths from properties of the model, until one has the identity of the wanted key path.
struct KeyPathSearch {
    enum Resolution: Sendable {
        case names([String])
        /// The key path leads to a property that is not in the model.
        case unknown(followsRelationship: Bool)
        /// The key path leads to a part of a composite that is not optional, and `?` comes before the composite, as in
        /// `\.group?.place.latitude`. Such a key path cannot be built property by property. The key path to the composite,
        /// `\.group?.place`, has an optional value, and the key path to the part begins at a value that is not optional.
        case partAfterOptional(PartAfterOptional, followsRelationship: Bool)
        /// There were too many key paths to build.
        case undecided
    }

    /// The names along a key path to a part of a composite. The composite is not optional, but `?` comes before it.
    struct PartAfterOptional: Sendable {
        /// The names along the key path to the composite.
        let composite: [String]
        /// The names along the rest of the key path.
        let part: [String]
    }

    private let identity: KeyPathIdentity
    private let text: KeyPathText
    /// The number of built key paths.
    private(set) var built = 0
    private var followsRelationship = false
    private var partAfterOptional: PartAfterOptional?

    /// The largest number of key paths to build. Building them takes a tenth of a second.
    private static let maxBuiltPaths = 4000
    /// The largest number of relationships along a built key path if the description of a key path does not show its
    /// properties.
    private static let maxRelationships = 8

    init(_ keyPath: AnyKeyPath) {
        identity = KeyPathIdentity(keyPath)
        text = KeyPathText(keyPath)
    }

    mutating func resolve(from type: any QueriedObject.Type) -> Resolution {
        if let names = find(PathPrefix(type: type), text) { return .names(names) }
        if built >= KeyPathSearch.maxBuiltPaths { return .undecided }
        if let partAfterOptional {
            return .partAfterOptional(partAfterOptional, followsRelationship: followsRelationship)
        }
        if KeyPathText.tellsProperties { return .unknown(followsRelationship: followsRelationship) }
        for count in 0...KeyPathSearch.maxRelationships {
            if let names = searchAll(PathPrefix(type: type), relationships: count) { return .names(names) }
            if built >= KeyPathSearch.maxBuiltPaths { return .undecided }
        }
        return .unknown(followsRelationship: true)
    }

    /// A built key path, which the next property extends.
    private struct PathPrefix {
        let type: Any.Type
        var keyPath: AnyKeyPath?
        var names: [String] = []
    }

    /// Builds the key paths that fit the rest of the description. Returns the names along the wanted key path.
    private mutating func find(_ start: PathPrefix, _ rest: KeyPathText) -> [String]? {
        for (step, left) in rest.steps(from: start.type) {
            if step.isRelationship, !left.isEmpty { followsRelationship = true }
            guard left.isEmpty || step.leadsOn, let next = build(step, from: start) else { continue }
            if left.isEmpty, next.keyPath.map(KeyPathIdentity.init) == identity { return next.names }
            if !left.isEmpty, let names = find(next, left) { return names }
            if built >= KeyPathSearch.maxBuiltPaths { return nil }
        }
        if let composite = optionalComposite(start.type), let names = rest.parts(of: composite) {
            partAfterOptional = PartAfterOptional(composite: start.names, part: names)
        }
        return nil
    }

    /// Builds all key paths along at most `relationships` relationships.
    private mutating func searchAll(_ start: PathPrefix, relationships: Int) -> [String]? {
        for step in KeyPathStep.steps(from: start.type) {
            guard relationships == 0 || step.leadsOn, let next = build(step, from: start) else { continue }
            if next.keyPath.map(KeyPathIdentity.init) == identity { return next.names }
            guard step.leadsOn, !step.isRelationship || relationships > 0 else { continue }
            if let names = searchAll(next, relationships: relationships - (step.isRelationship ? 1 : 0)) {
                return names
            }
            if built >= KeyPathSearch.maxBuiltPaths { return nil }
        }
        return nil
    }

    private mutating func build(_ step: KeyPathStep, from start: PathPrefix) -> PathPrefix? {
        built += start.keyPath == nil ? 0 : 1
        let keyPath = start.keyPath == nil ? step.keyPath : start.keyPath?.appending(path: step.keyPath)
        return keyPath.map { PathPrefix(type: step.value, keyPath: $0, names: start.names + step.names) }
    }
}

/// A property that extends a key path.
///
/// Guarded by: nothing, because the value never changes.
private struct KeyPathStep: @unchecked Sendable {
    let keyPath: AnyKeyPath
    /// The added names; empty for a step that unwraps an optional value.
    let names: [String]
    let text: KeyPathText
    /// The type of the property.
    let value: Any.Type
    /// Whether further properties can follow.
    let leadsOn: Bool
    /// Whether the property is a relationship.
    let isRelationship: Bool

    private init(_ keyPath: AnyKeyPath, _ names: [String]) {
        self.keyPath = keyPath
        self.names = names
        text = KeyPathText(keyPath)
        value = type(of: keyPath).valueType
        let leadsToObjects =
            value is any QueriedObject.Type || optionalObject(value) != nil || value is any RelatedCollection.Type
        isRelationship = leadsToObjects && !names.isEmpty
        leadsOn = leadsToObjects || value is any QueriedComposite.Type || optionalComposite(value) != nil
    }

    private init(_ keyPath: AnyKeyPath, _ name: String) {
        self.init(keyPath, name.parts(separatedBy: ".", omittingEmpty: true))
    }

    private static let known = Guarded<[ObjectIdentifier: [KeyPathStep]]>([:])

    /// The steps from a class, a composite, an optional of these, or a collection of objects.
    static func steps(from type: Any.Type) -> [KeyPathStep] {
        if let known = known.withLock({ $0[ObjectIdentifier(type)] }) { return known }
        let steps = make(type)
        known.withLock { $0[ObjectIdentifier(type)] = steps }
        return steps
    }

    private static func make(_ type: Any.Type) -> [KeyPathStep] {
        if let type = type as? any QueriedObject.Type {
            return (Array(AttributeNames.of(type)) + Array(type.relationshipKeyPaths)).map { KeyPathStep($0, $1) }
        }
        if let object = optionalObject(type), let optional = type as? any AnyOptional.Type {
            return object.optionalKeyPaths.map { KeyPathStep($0, $1) } + [KeyPathStep(optional.unwrapping, [])]
        }
        if let composite = type as? any QueriedComposite.Type { return parts(of: composite, from: type) }
        if let composite = optionalComposite(type), let optional = type as? any AnyOptional.Type {
            return parts(of: composite, from: type) + [KeyPathStep(optional.unwrapping, [])]
        }
        if let objects = type as? any RelatedCollection.Type {
            return objects.aggregates.map { KeyPathStep($0.keyPath, $0.names) }
        }
        return []
    }

    /// The steps to the parts of a composite.
    ///
    /// - Parameter root: The type of the composite, or its optional.
    private static func parts(of composite: any QueriedComposite.Type, from root: Any.Type) -> [KeyPathStep] {
        composite.partKeyPaths.filter { type(of: $0.key).rootType == root }.map { KeyPathStep($0, $1) }
    }
}

/// The description of the properties along a key path, without the root type.
///
/// The form of descriptions is not documented, so descriptions only decide which key paths to build and compare.
private struct KeyPathText: Sendable {
    /// The description with addresses. Nil after a property with other addresses was found. Each module has its own copies of
    /// the accessors, so a key path from another module can contain other addresses.
    private var whole: ArraySlice<UInt8>?
    /// The description without the addresses of functions.
    private var types: ArraySlice<UInt8>

    var isEmpty: Bool { types.isEmpty }

    init(_ keyPath: AnyKeyPath) {
        let root = Array("\\\(type(of: keyPath).rootType)".utf8)
        var text = Array(keyPath.debugDescription.utf8)[...]
        if text.starts(with: root) { text = text.dropFirst(root.count) }
        // Drop the question marks at the end. They only say that the value becomes optional.
        while text.last == UInt8(ascii: "?") { text.removeLast() }
        whole = text
        types = KeyPathText.withoutAddresses(text)
    }

    private static func withoutAddresses(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var kept: [UInt8] = []
        var isAddress = false
        for byte in text {
            if isAddress, Character(UnicodeScalar(byte)).isHexDigit { continue }
            isAddress = byte == UInt8(ascii: "x") && kept.last == UInt8(ascii: "0")
            kept.append(byte)
        }
        return kept[...]
    }

    /// The properties that the description can begin with, each with the rest of the description.
    func steps(from type: Any.Type) -> [(step: KeyPathStep, left: KeyPathText)] {
        let steps = KeyPathStep.steps(from: type)
        let exact = steps.compactMap { step in removing(step.text, isExact: true).map { (step, $0) } }
        return exact.isEmpty
            ? steps.compactMap { step in removing(step.text, isExact: false).map { (step, $0) } } : exact
    }

    /// The names of the parts along the whole description, if it leads to a part of a composite; nil for other descriptions.
    ///
    /// - Parameter type: The type of the composite, or its optional.
    func parts(of type: Any.Type) -> [String]? {
        for (step, left) in steps(from: type) {
            if left.isEmpty { return step.names }
            guard step.leadsOn, let names = left.parts(of: step.value) else { continue }
            return step.names + names
        }
        return nil
    }

    private func removing(_ start: KeyPathText, isExact: Bool) -> KeyPathText? {
        guard types.starts(with: start.types) else { return nil }
        var left = self
        left.types = types.dropFirst(start.types.count)
        left.whole = nil
        guard isExact else { return left }
        guard let whole, let start = start.whole, whole.starts(with: start) else { return nil }
        left.whole = whole.dropFirst(start.count)
        return left
    }

    /// Whether the description of a key path consists of the descriptions of its properties. This is tested with a sample.
    static let tellsProperties: Bool = {
        let parts = [KeyPathText(\Sample.next), KeyPathText(\Sample?.?.next), KeyPathText(\Sample?.?.number)]
        return KeyPathText(\Sample.next?.next?.number).types.elementsEqual(parts.map(\.types).joined())
    }()

    private final class Sample {
        var next: Sample? { nil }
        var number: Int { 0 }
    }
}

/// The destination's class, if the type is the type of a to-one relationship; nil for other types.
func optionalObject(_ type: Any.Type) -> (any QueriedObject.Type)? {
    (type as? any AnyOptional.Type)?.wrapped as? any QueriedObject.Type
}

/// The composite, if the type is an optional composite; nil for other types.
private func optionalComposite(_ type: Any.Type) -> (any QueriedComposite.Type)? {
    (type as? any AnyOptional.Type)?.wrapped as? any QueriedComposite.Type
}

/// A struct whose properties are the parts of a composite attribute. `@StoredComposite` and the structs of a generated model
/// conform.
///
/// A predicate, an order or an aggregate can use a part: `\.address.city`, or `\.address?.city` if the attribute is optional.
nonisolated public protocol QueriedComposite {
    /// The name in the model of the part that each key path leads to. The key paths begin at the struct, as in
    /// `\Address.city`, or at an optional struct, as in `\Address?.?.city`.
    static var partKeyPaths: [AnyKeyPath: String] { get }
}

/// The type of a to-many relationship.
package protocol RelatedCollection {
    static var object: any QueriedObject.Type { get }
    static var counting: AnyKeyPath { get }
    static var emptiness: AnyKeyPath { get }
    /// The key paths to values that are calculated from the objects.
    static var aggregates: [(keyPath: AnyKeyPath, names: [String])] { get }
}

extension Array: RelatedCollection where Element: QueriedObject {
    package static var aggregates: [(keyPath: AnyKeyPath, names: [String])] { [(counting, ["@count"])] }
    package static var object: any QueriedObject.Type { Element.self }
    package static var counting: AnyKeyPath { \Self.count }
    package static var emptiness: AnyKeyPath { \Self.isEmpty }
}
