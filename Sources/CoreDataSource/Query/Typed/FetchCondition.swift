public import Foundation

/// A predicate on the objects of one class, which operators on key paths make.
///
/// ```swift
/// try contacts.fetch(ContactEntity.self, where: \.age >= 18 && \.name != "" && 0.5...1 ~= \.score)
/// try contacts.fetch(ContactEntity.self, where: .contains(\.name, "yu", [.caseInsensitive]) || \.phone == nil)
/// ```
///
/// No macro is needed, so that it costs next to nothing to compile and to make. Text is compared byte by byte, unless options
/// say otherwise. A comparison with nil is false, but for `==` and `!=`, for which nil is a value.
///
/// - A truth value is compared, `\.isFavorite == true`, or negated, `!\.isFavorite`: a key path alone is no condition.
/// - Two attributes are compared by `#Predicate { $0.name == $0.uid }` or by `FetchPredicate(format: "name == uid")`.
/// - A condition that is "too complex to type-check" needs a type: `let condition: FetchCondition<ContactEntity> = ...`.
public struct FetchCondition<Object: ManagedObject>: Sendable, Hashable {
    /// The same predicate, whatever class its objects have.
    public let predicate: FetchPredicate

    /// The condition that a predicate is, such as one that a format string says.
    public init(_ predicate: FetchPredicate) {
        self.predicate = predicate
    }

    /// The condition that a predicate of Foundation is.
    public init(_ predicate: Predicate<Object>) {
        self.predicate = FetchPredicate(predicate)
    }

    /// Every object matches.
    public static var all: Self { Self(FetchPredicate(.constant(true))) }

    public static func && (one: Self, other: Self) -> Self { Self(one.predicate && other.predicate) }

    public static func || (one: Self, other: Self) -> Self { Self(one.predicate || other.predicate) }

    public static prefix func ! (condition: Self) -> Self { Self(!condition.predicate) }
}

extension FetchCondition: CustomStringConvertible {
    /// The format of its predicate.
    public var description: String { predicate.description }
}

extension FetchPredicate {
    /// The same predicate, without the class of its objects.
    public init<Object: ManagedObject>(_ condition: FetchCondition<Object>) {
        self = condition.predicate
    }
}

// MARK: Comparing an attribute with a value

/// The attribute is not true.
public prefix func ! <Object: ManagedObject>(keyPath: KeyPath<Object, Bool>) -> FetchCondition<Object> {
    keyPath != true
}

/// The attribute has the value; nil has none.
public func == <Object: ManagedObject, Value: AttributeStorable>(
    keyPath: KeyPath<Object, Value>, value: Value
) -> FetchCondition<Object> {
    FetchCondition(.compare(keyPath, .equal, value))
}

/// The attribute has another value, or none.
public func != <Object: ManagedObject, Value: AttributeStorable>(
    keyPath: KeyPath<Object, Value>, value: Value
) -> FetchCondition<Object> {
    FetchCondition(.compare(keyPath, .notEqual, value))
}

public func < <Object: ManagedObject, Value: AttributeStorable>(
    keyPath: KeyPath<Object, Value>, value: Value
) -> FetchCondition<Object> {
    FetchCondition(.compare(keyPath, .less, value))
}

public func <= <Object: ManagedObject, Value: AttributeStorable>(
    keyPath: KeyPath<Object, Value>, value: Value
) -> FetchCondition<Object> {
    FetchCondition(.compare(keyPath, .lessOrEqual, value))
}

public func > <Object: ManagedObject, Value: AttributeStorable>(
    keyPath: KeyPath<Object, Value>, value: Value
) -> FetchCondition<Object> {
    FetchCondition(.compare(keyPath, .greater, value))
}

public func >= <Object: ManagedObject, Value: AttributeStorable>(
    keyPath: KeyPath<Object, Value>, value: Value
) -> FetchCondition<Object> {
    FetchCondition(.compare(keyPath, .greaterOrEqual, value))
}

/// The range holds the attribute.
public func ~= <Object: ManagedObject, Value: AttributeStorable & Comparable>(
    range: ClosedRange<Value>, keyPath: KeyPath<Object, Value>
) -> FetchCondition<Object> {
    .isIn(keyPath, range)
}

/// The range holds the attribute.
public func ~= <Object: ManagedObject, Value: AttributeStorable & Comparable>(
    range: Range<Value>, keyPath: KeyPath<Object, Value>
) -> FetchCondition<Object> {
    .isIn(keyPath, range)
}

/// The range holds the attribute.
public func ~= <Object: ManagedObject, Value: AttributeStorable & Comparable>(
    range: ClosedRange<Value>, keyPath: KeyPath<Object, Value?>
) -> FetchCondition<Object> {
    .isIn(keyPath, range)
}

/// The range holds the attribute.
public func ~= <Object: ManagedObject, Value: AttributeStorable & Comparable>(
    range: Range<Value>, keyPath: KeyPath<Object, Value?>
) -> FetchCondition<Object> {
    .isIn(keyPath, range)
}
