// What generated code uses of the library, and no more: values in a dictionary, by column.
// A test compiles this file, under the library's name, together with what was generated.
public import Foundation
@_exported public import ManagedModel

public protocol AttributeStorable: Sendable {
    static var zero: Self { get }
    static func read(_ stored: Any) -> Self?
}

extension AttributeStorable {
    public static func read(_ stored: Any) -> Self? { stored as? Self }
}

extension AttributeStorable where Self: RawRepresentable, RawValue: AttributeStorable {
    public static var zero: Self { preconditionFailure("No value of \(Self.self) has been set.") }

    public static func read(_ stored: Any) -> Self? {
        let raw = stored as? RawValue ?? (stored as? Int64).flatMap { Int($0) as? RawValue }
        return raw.flatMap(Self.init(rawValue:))
    }
}

public protocol CompositeValue: Sendable, Hashable {
    static var partKeyPaths: [AnyKeyPath: String] { get }
}

open class ManagedObject {
    private var values: [Int: Any] = [:]

    public init() {}

    open class var entityName: String { "" }
    open class var attributeKeyPaths: [AnyKeyPath: String] { [:] }
    open class var relationshipKeyPaths: [AnyKeyPath: String] { [:] }
    open class var optionalKeyPaths: [AnyKeyPath: String] { [:] }
    open class var propertyNames: Set<String>? { nil }

    public final func editTogether(_ body: () -> Void) { body() }

    public final var objectID: Int { 0 }
    public final var isInserted: Bool { false }
    public final var isUpdated: Bool { false }
    public final var isDeleted: Bool { false }
    public final var hasChanges: Bool { false }
    public final var description: String { "" }

    public final func attribute<Value: AttributeStorable>(at column: Int) -> Value {
        values[column].flatMap(Value.read) ?? .zero
    }

    public final func calculatedAttribute<Value: AttributeStorable>(at column: Int) -> Value { .zero }

    public final func setAttribute<Value: AttributeStorable>(_ value: Value, at column: Int) {
        values[column] = value
    }

    public final func transformable<Value: Codable & Sendable>(at column: Int) -> Value? {
        values[column] as? Value
    }

    public final func setTransformable<Value: Codable & Sendable>(_ value: Value?, at column: Int) {
        values[column] = value
    }

    private var links: [Int: [ManagedObject]] = [:]

    public final func relatedObject<Object: ManagedObject>(at index: Int) -> Object? {
        links[index]?.first as? Object
    }

    public final func setRelatedObject<Object: ManagedObject>(_ object: Object?, at index: Int) {
        links[index] = object.map { [$0] }
    }

    public final func relatedObjects<Object: ManagedObject>(at index: Int) -> RelatedObjects<Object> {
        RelatedObjects()
    }

    public final func relatedList<Object: ManagedObject>(at index: Int) -> [Object] {
        links[index]?.compactMap { $0 as? Object } ?? []
    }

    public final func setRelatedList<Object: ManagedObject>(_ objects: [Object], at index: Int) {
        links[index] = objects
    }
}

public struct RelatedObjects<Object: ManagedObject> {}

@available(*, unavailable)
extension ManagedObject: Sendable {}

public struct FetchPredicate<Object: ManagedObject>: Sendable {
    public var format: String
    public var values: [String: (any Sendable)?] = [:]

    public init(format: String, _ arguments: (any Sendable)?...) throws {
        self.format = format
    }

    public func substituting(_ values: [String: (any Sendable)?]) throws -> Self {
        var predicate = self
        predicate.values = values
        return predicate
    }
}

public struct ObjectRequest<Object: ManagedObject>: Sendable {
    public var includesSubentities = true

    public init(_ type: Object.Type, where predicate: FetchPredicate<Object>? = nil, limit: Int? = nil) {}
}

extension Int16: AttributeStorable {}
extension Int32: AttributeStorable {}
extension Int64: AttributeStorable {}
extension Int: AttributeStorable {}
extension Float: AttributeStorable {}
extension Double: AttributeStorable {}
extension Decimal: AttributeStorable {}
extension Bool: AttributeStorable { public static var zero: Bool { false } }
extension String: AttributeStorable { public static var zero: String { "" } }
extension Data: AttributeStorable { public static var zero: Data { Data() } }
extension Date: AttributeStorable { public static var zero: Date { Date(timeIntervalSinceReferenceDate: 0) } }
extension UUID: AttributeStorable {
    public static var zero: UUID { UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)) }
}
extension URL: AttributeStorable { public static var zero: URL { URL(string: "about:blank") ?? URL(filePath: "/") } }
extension Optional: AttributeStorable where Wrapped: AttributeStorable {
    public static var zero: Wrapped? { nil }
    public static func read(_ stored: Any) -> Wrapped?? { .some(Wrapped.read(stored)) }
}
