public import Foundation
package import QueryLanguage
internal import RowStore

/// A condition for the objects of one class that a fetch, a list or an update uses.
///
/// Make one with operators on key paths, with Foundation's `#Predicate`, or from a format string:
///
/// ```swift
/// try contacts.fetch(ContactEntity.self, where: \.age >= 18 && \.name != "" && 0.5...1 ~= \.score)
/// try contacts.fetch(ContactEntity.self, where: .contains(\.name, "yu", [.caseInsensitive]) || \.phone == nil)
/// try contacts.fetch(ContactEntity.self, where: FetchPredicate(#Predicate { $0.age >= 18 && $0.name != $0.uid }))
/// try contacts.fetch(ContactEntity.self, where: FetchPredicate(format: "age >= %d", 18))
/// ```
///
/// A comparison with nil is false, except for `==` and `!=`, which treat nil as a value; `!` is plain negation. Strings are
/// compared byte by byte unless an option folds them. Numbers of all kinds are compared by their exact values; when a real is
/// compared with a decimal, it counts as the shortest decimal number that represents it. A calculation without a result, such
/// as a division by zero or an integer beyond 64 bits, is nil.
///
/// - A Boolean must be compared, `\.isFavorite == true`, or negated, `!\.isFavorite`: a key path alone is not a predicate.
/// - Two attributes are compared with `#Predicate { $0.name == $0.uid }` or `FetchPredicate(format: "name == uid")`.
/// - A predicate that is "too complex to type-check" needs a type: `let predicate: FetchPredicate<ContactEntity> = ...`.
/// - A predicate can have at most 1,000 levels; a fetch with a deeper one throws `invalidPredicate`.
public struct FetchPredicate<Object: ManagedObject>: Sendable, Hashable {
    package let tree: PredicateTree

    package init(_ tree: PredicateTree) {
        self.tree = tree
    }

    /// Every object matches.
    public static var all: Self { Self(PredicateTree(.constant(true))) }

    /// Both match.
    public static func && (one: Self, other: Self) -> Self { Self(one.tree && other.tree) }

    /// At least one of them matches.
    public static func || (one: Self, other: Self) -> Self { Self(one.tree || other.tree) }

    /// The other predicate does not match. It is a plain negation, also where a value is nil.
    public static prefix func ! (predicate: Self) -> Self { Self(!predicate.tree) }

    /// Why the predicate needs the objects; nil if their rows are enough.
    ///
    /// A fetch then evaluates it on the objects that pass the rest of an AND. Calls that work on rows only cannot use such a
    /// predicate.
    public var needsObjects: String? { tree.needsObjects }

    // MARK: From Foundation

    /// The same condition as a predicate of Foundation.
    ///
    /// ```swift
    /// let grown = FetchPredicate(#Predicate<ContactEntity> { $0.age >= 18 && $0.name.starts(with: "G") })
    /// ```
    ///
    /// The store evaluates comparisons, ranges, arithmetic, optionals, strings, the `count` of strings and data, and closures
    /// over captured lists. Foundation evaluates other parts, if they are joined by `&&`, on the objects that pass the rest:
    /// the first character of a string, a property that is not an attribute, the type of an object.
    ///
    /// An enum of the app can be compared for equality with a captured value, and must be `Codable` for that: `let open =
    /// TaskState.open` before `#Predicate { $0.state == open }`. The macro does not accept `.open`.
    ///
    /// Arithmetic that would trap in Foundation gives nil, in the store and on objects: a result beyond the range of the
    /// attribute's type, and a division of integers by zero. Nil has no order and equals only nil.
    ///
    /// A forced unwrap of nil also gives nil in the store. On an object, it makes the fetch throw `predicateFailed`. So do an
    /// index beyond the end of a list, an `as!` to another type, and a closure over more than a hundred thousand numbers of a
    /// range.
    public init(_ predicate: Predicate<Object>) {
        tree = PredicateTree(predicate)
    }

    // MARK: From and to formats

    /// Makes a predicate from a format string.
    ///
    /// ```swift
    /// try FetchPredicate<ContactEntity>(format: "name CONTAINS[cd] %@ AND age BETWEEN {%d, %d}", "guan", 18, 30)
    /// ```
    ///
    /// - Comparisons: `==` `=`, `!=` `<>`, `<`, `<=` `=<`, `>`, `>=` `=>`, `BETWEEN {a, b}`, `IN`. A variable after `BETWEEN` stands for
    ///   a list of two values.
    /// - Strings: `CONTAINS`, `BEGINSWITH`, `ENDSWITH`, `LIKE` (`?` one character, `*` any number), `MATCHES` (a regular
    ///   expression for the whole string); options in brackets: `[c]` without case, `[d]` without marks, `[n]` byte by byte,
    ///   `[l]` as in a dictionary, `[u]` character by character as Swift compares.
    /// - Conditions: `AND` `&&`, `OR` `||`, `NOT` `!`, `ANY` `SOME`, `ALL`, `NONE`, `TRUEPREDICATE`, `FALSEPREDICATE`.
    /// - Relationships: `thread.title`, `ANY messages.isRead == NO`, `messages.@count` and `@sum`, `@avg`, `@min`, `@max`,
    ///   `@median`, `@mode`, `@stddev` as in `messages.@max.date`; `SUBQUERY(messages, $m, $m.size > size).@count`, where
    ///   keys without the variable belong to the outer object; `%@ IN messages`.
    /// - Values: `'string'`, `"string"`, numbers, `YES`, `NO`, `NIL`, `SELF`, lists in braces, key paths, `+ - * / % **`, and
    ///   of integers `& | ^ ~ << >>`, which bind as in C, but more than comparisons;
    ///   `CAST(value, "type")` with a type of a model or a class as `"NSNumber"`, `TERNARY(condition, value, value)`,
    ///   `COALESCE(value, value)`, `now()`; of strings `uppercase`, `lowercase`, `canonical` (without case and marks),
    ///   `length`, also as `name.length`; of numbers `abs`, `floor`, `ceiling`, `trunc`, `sqrt`, `ln`, `log` (to the base 10),
    ///   `exp`; of lists `sum`, `min`, `max`, `average`, `count`, `median`, `mode` (of several the least), `stddev` (of the whole
    ///   list, divided by its count). The operators are functions too: `add:to:(a, b)`, `from:subtract:`, `multiply:by:`,
    ///   `divide:by:`, `modulus:by:`, `raise:toPower:`, `bitwiseAnd:with:`, `bitwiseOr:with:`, `bitwiseXor:with:`,
    ///   `leftshift:by:`, `rightshift:by:`, `onesComplement:(a)`.
    /// - Bits are those of 64-bit integers in two's complement. `>>` keeps the sign; bits that `<<` shifts out are lost. A shift by
    ///   fewer than 0 or more than 63 bits has no result, which is nil.
    /// - `%@` stands for a value or a list of them, `%K` for a key path, `%d` and `%f` for numbers, `$NAME` for what
    ///   ``substituting(_:)`` puts there. In quotes they are plain text.
    ///
    /// Keywords can be written in any case. Write a `#` before a key that is a keyword.
    ///
    /// - Parameters:
    ///   - format: The predicate as a string, with the syntax above.
    ///   - arguments: Strings, numbers, flags, dates, data, UUIDs, URLs, ids of objects, other predicates; arrays and sets of
    ///     values; nil. They are always values, never part of the format.
    /// - Throws: `unreadablePredicate`, with the line and the column.
    public init(format: String, _ arguments: (any Sendable)?...) throws {
        tree = try PredicateTree(format: format, arguments: arguments)
    }

    /// Makes a predicate from a format string, with its arguments in an array.
    ///
    /// - Throws: `unreadablePredicate`, with the line and the column.
    public init(format: String, arguments: [(any Sendable)?]) throws {
        tree = try PredicateTree(format: format, arguments: arguments)
    }

    /// The predicate as a format string. Reading it gives an equal predicate.
    ///
    /// A part that has no format, such as one that only Foundation can evaluate, is shown in angle brackets.
    public var predicateFormat: String { tree.predicateFormat }

    /// The predicate with its variables replaced by values.
    ///
    /// ```swift
    /// let template = try FetchPredicate<ContactEntity>(format: "name BEGINSWITH $START AND age > $AGE")
    /// let predicate = try template.substituting(["START": "G", "AGE": 18])
    /// ```
    ///
    /// - Parameter values: The values by the names of the variables, without the `$`. Variables that are not named stay; other
    ///   names are ignored.
    /// - Throws: `unreadablePredicate` if no attribute can have a value of that type.
    public func substituting(_ values: [String: (any Sendable)?]) throws -> Self {
        Self(try tree.substituting(values))
    }

    /// The names of the variables that have no values yet.
    public var variables: Set<String> { tree.variables }
}

extension FetchPredicate: PredicateTreeConvertible {}

extension FetchPredicate: CustomStringConvertible {
    /// ``predicateFormat``.
    public var description: String { predicateFormat }
}

extension FetchPredicate: Codable {
    /// Reads the format that ``encode(to:)`` wrote. The cost depends only on its length.
    ///
    /// - Throws: `unreadablePredicate`, and what the decoder throws.
    public init(from decoder: any Decoder) throws {
        tree = try PredicateTree(from: decoder)
    }

    /// Writes the predicate as its format.
    ///
    /// - Throws: `unsupportedQuery` if a part of the predicate has no format, or if it is nested too deeply; what the encoder
    ///   throws.
    public func encode(to encoder: any Encoder) throws {
        try tree.encode(to: encoder)
    }
}

extension FetchPredicate {
    /// An attribute compared with a value.
    static func compare<Value: AttributeStorable>(
        _ keyPath: KeyPath<Object, Value>, _ comparison: ComparisonOperator, _ value: Value
    ) -> Self {
        named(keyPath) { .compare($0, comparison, .constant(FetchValue(value)), []) }
    }

    /// A predicate about the attribute that a key path leads to.
    static func named(_ keyPath: AnyKeyPath, _ node: (FetchExpression) -> PredicateTree.Node) -> Self {
        Self(.named(keyPath, Object.self, node))
    }
}

/// The attribute is not true.
public prefix func ! <Object: ManagedObject>(keyPath: KeyPath<Object, Bool>) -> FetchPredicate<Object> {
    keyPath != true
}

/// The attribute has the value; nil means that it has no value.
public func == <Object: ManagedObject, Value: AttributeStorable>(
    keyPath: KeyPath<Object, Value>, value: Value
) -> FetchPredicate<Object> {
    .compare(keyPath, .equal, value)
}

/// The attribute has another value, or none.
public func != <Object: ManagedObject, Value: AttributeStorable>(
    keyPath: KeyPath<Object, Value>, value: Value
) -> FetchPredicate<Object> {
    .compare(keyPath, .notEqual, value)
}

/// The attribute is less than the value; false if it has no value.
public func < <Object: ManagedObject, Value: AttributeStorable>(
    keyPath: KeyPath<Object, Value>, value: Value
) -> FetchPredicate<Object> {
    .compare(keyPath, .less, value)
}

/// The attribute is less than or equal to the value; false if it has no value.
public func <= <Object: ManagedObject, Value: AttributeStorable>(
    keyPath: KeyPath<Object, Value>, value: Value
) -> FetchPredicate<Object> {
    .compare(keyPath, .lessOrEqual, value)
}

/// The attribute is greater than the value; false if it has no value.
public func > <Object: ManagedObject, Value: AttributeStorable>(
    keyPath: KeyPath<Object, Value>, value: Value
) -> FetchPredicate<Object> {
    .compare(keyPath, .greater, value)
}

/// The attribute is greater than or equal to the value; false if it has no value.
public func >= <Object: ManagedObject, Value: AttributeStorable>(
    keyPath: KeyPath<Object, Value>, value: Value
) -> FetchPredicate<Object> {
    .compare(keyPath, .greaterOrEqual, value)
}

/// The range contains the attribute.
public func ~= <Object: ManagedObject, Value: AttributeStorable & Comparable>(
    range: ClosedRange<Value>, keyPath: KeyPath<Object, Value>
) -> FetchPredicate<Object> {
    .isIn(keyPath, range)
}

/// The range contains the attribute.
public func ~= <Object: ManagedObject, Value: AttributeStorable & Comparable>(
    range: Range<Value>, keyPath: KeyPath<Object, Value>
) -> FetchPredicate<Object> {
    .isIn(keyPath, range)
}

/// The range contains the attribute.
public func ~= <Object: ManagedObject, Value: AttributeStorable & Comparable>(
    range: ClosedRange<Value>, keyPath: KeyPath<Object, Value?>
) -> FetchPredicate<Object> {
    .isIn(keyPath, range)
}

/// The range contains the attribute.
public func ~= <Object: ManagedObject, Value: AttributeStorable & Comparable>(
    range: Range<Value>, keyPath: KeyPath<Object, Value?>
) -> FetchPredicate<Object> {
    .isIn(keyPath, range)
}

/// Tests of strings. Each is false if the attribute is nil.
extension FetchPredicate {
    /// The string contains the other one.
    public static func contains(
        _ keyPath: KeyPath<Object, some StringAttribute>, _ part: String, _ matching: StringMatching = []
    ) -> Self {
        text(of: keyPath, .contains, part, matching: matching)
    }

    /// The string begins with the other one. Without options, an index can find it.
    public static func beginsWith(
        _ keyPath: KeyPath<Object, some StringAttribute>, _ start: String, _ matching: StringMatching = []
    ) -> Self {
        text(of: keyPath, .beginsWith, start, matching: matching)
    }

    /// The string ends with the other one.
    public static func endsWith(
        _ keyPath: KeyPath<Object, some StringAttribute>, _ end: String, _ matching: StringMatching = []
    ) -> Self {
        text(of: keyPath, .endsWith, end, matching: matching)
    }

    /// The whole string matches a pattern in which `?` is any one character and `*` any number of characters.
    public static func like(
        _ keyPath: KeyPath<Object, some StringAttribute>, _ pattern: String, _ matching: StringMatching = []
    ) -> Self {
        text(of: keyPath, .like, pattern, matching: matching)
    }

    /// The whole string matches a regular expression.
    public static func matches(
        _ keyPath: KeyPath<Object, some StringAttribute>, _ expression: String, _ matching: StringMatching = []
    ) -> Self {
        text(of: keyPath, .matches, expression, matching: matching)
    }

    /// The string equals the other one, compared with those options.
    public static func equal(
        _ keyPath: KeyPath<Object, some StringAttribute>, _ text: String, _ matching: StringMatching
    ) -> Self {
        named(keyPath) { .compare($0, .equal, .constant(.text(text)), matching.options) }
    }

    private static func text(
        of keyPath: AnyKeyPath, _ operation: StringOperator, _ other: String, matching: StringMatching
    ) -> Self {
        named(keyPath) { .text($0, operation, .constant(.text(other)), matching.options) }
    }
}

/// Tests whether a list or a range contains the attribute.
extension FetchPredicate {
    /// The attribute is one of the values.
    public static func isIn<Value: AttributeStorable>(
        _ keyPath: KeyPath<Object, Value>, _ values: some Sequence<Value>
    ) -> Self {
        list(keyPath, values)
    }

    /// The optional attribute is one of the values.
    public static func isIn<Value: AttributeStorable>(
        _ keyPath: KeyPath<Object, Value?>, _ values: some Sequence<Value>
    ) -> Self {
        list(keyPath, values)
    }

    /// The range contains the attribute.
    public static func isIn<Value: AttributeStorable>(
        _ keyPath: KeyPath<Object, Value>, _ range: some AttributeRange<Value>
    ) -> Self {
        bounded(keyPath, range.attributeBounds)
    }

    /// The range contains the optional attribute.
    public static func isIn<Value: AttributeStorable>(
        _ keyPath: KeyPath<Object, Value?>, _ range: some AttributeRange<Value>
    ) -> Self {
        bounded(keyPath, range.attributeBounds)
    }

    /// The range of integers, which is also a sequence, contains the attribute.
    public static func isIn<Value: AttributeStorable>(
        _ keyPath: KeyPath<Object, Value>, _ range: some AttributeRange<Value> & Sequence<Value>
    ) -> Self {
        bounded(keyPath, range.attributeBounds)
    }

    /// The range of integers, which is also a sequence, contains the optional attribute.
    public static func isIn<Value: AttributeStorable>(
        _ keyPath: KeyPath<Object, Value?>, _ range: some AttributeRange<Value> & Sequence<Value>
    ) -> Self {
        bounded(keyPath, range.attributeBounds)
    }

    private static func list<Value: AttributeStorable>(
        _ keyPath: AnyKeyPath, _ values: some Sequence<Value>
    ) -> Self {
        named(keyPath) { .isIn($0, .list(values.map { .constant(FetchValue($0)) }), []) }
    }

    private static func bounded<Value: AttributeStorable>(
        _ keyPath: AnyKeyPath, _ bounds: AttributeBounds<Value>
    ) -> Self {
        let lower = bounds.lower.map { FetchExpression.constant(FetchValue($0)) }
        let upper = bounds.upper.map { FetchExpression.constant(FetchValue($0)) }
        return named(keyPath) { attribute in
            if let lower, let upper, bounds.includesUpper { return .between(attribute, lower, upper, []) }
            let isReached = lower.map { PredicateTree.Node.compare(attribute, .greaterOrEqual, $0, []) }
            let isLeft = upper.map {
                PredicateTree.Node.compare(attribute, bounds.includesUpper ? .lessOrEqual : .less, $0, [])
            }
            return .all([isReached, isLeft].compactMap { $0 })
        }
    }
}
