public import Foundation
package import QueryLanguage
internal import RowStore

/// A predicate for the objects of one class. Fetches, lists and updates use it.
///
/// Make one with operators on key paths, with Foundation's `#Predicate`, or from a format string:
///
/// ```swift
/// let grown: FetchPredicate<ContactEntity> = \.age >= 18 && 0.5...1 ~= \.score
/// let named: FetchPredicate<ContactEntity> = .contains(\.name, "yu") || \.age > 60
/// let macro = FetchPredicate<ContactEntity>(#Predicate { $0.name != $0.uid })
/// let format = try FetchPredicate<ContactEntity>(format: "age >= %d", 18)
/// ```
///
/// A comparison with nil is false, except for `==` and `!=`, which treat nil as a value; `!` is plain negation. Strings are
/// compared byte by byte unless an option folds them. Numbers of all kinds are compared by their exact values. In a comparison
/// with a decimal, a real has the value of its shortest decimal representation. A calculation without a result, such as a
/// division by zero or an integer beyond 64 bits, is nil.
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

    /// A predicate that every object matches.
    public static var all: Self { Self(PredicateTree(.constant(true))) }

    /// Matches if both predicates match.
    public static func && (lhs: Self, rhs: Self) -> Self { Self(lhs.tree && rhs.tree) }

    /// Matches if at least one of the predicates matches.
    public static func || (lhs: Self, rhs: Self) -> Self { Self(lhs.tree || rhs.tree) }

    /// Matches if the predicate does not match. The negation is plain, also for nil values.
    public static prefix func ! (predicate: Self) -> Self { Self(!predicate.tree) }

    /// The reason why the predicate must be evaluated on objects; nil if rows are enough.
    ///
    /// A fetch evaluates such a part of an AND on the objects that match the other parts. Calls that work on rows only throw
    /// `unsupportedQuery` for such a predicate.
    public var needsObjects: String? { tree.needsObjects }

    /// Makes a predicate from a predicate of Foundation.
    ///
    /// ```swift
    /// let grown = FetchPredicate<ContactEntity>(#Predicate { $0.age >= 18 })
    /// ```
    ///
    /// The store evaluates comparisons, ranges, arithmetic, optionals, strings, the `count` of strings and data, and closures
    /// over captured lists. Foundation evaluates other parts, such as the first character of a string, a property that is not
    /// an attribute or the type of an object. Join such a part by `&&`: Foundation then evaluates it only on the objects that
    /// match the other parts.
    ///
    /// An enum of the app can be compared for equality with a captured value, and must be `Codable` for that: `let open =
    /// TaskState.open` before `#Predicate { $0.state == open }`. The macro does not accept `.open`.
    ///
    /// Arithmetic that would trap in Foundation gives nil, in the store and on objects. Examples are a result beyond the range
    /// of the attribute's type and a division of integers by zero. Nil has no order and equals only nil.
    /// A forced unwrap of nil also gives nil in the store. On an object, a forced unwrap of nil makes the fetch throw
    /// `predicateFailed`. An index beyond the end of a list, an `as!` to another type, and a closure over a range of more than
    /// a hundred thousand numbers also make the fetch throw `predicateFailed`.
    public init(_ predicate: Predicate<Object>) {
        tree = PredicateTree(predicate)
    }

    /// Makes a predicate from a format string.
    ///
    /// ```swift
    /// try FetchPredicate<ContactEntity>(format: "age BETWEEN {%d, %d}", 18, 30)
    /// ```
    ///
    /// - Comparisons: `==` `=`, `!=` `<>`, `<`, `<=` `=<`, `>`, `>=` `=>`, `BETWEEN {a, b}`, `IN`. A variable after `BETWEEN`
    ///   stands for a list of two values.
    /// - Strings: `CONTAINS`, `BEGINSWITH`, `ENDSWITH`, `LIKE` (`?` one character, `*` any number), `MATCHES` (a regular
    ///   expression for the whole string); options in brackets: `[c]` without case, `[d]` without marks, `[n]` byte by byte,
    ///   `[l]` as in a dictionary, `[u]` character by character as Swift compares.
    /// - Combinations: `AND` `&&`, `OR` `||`, `NOT` `!`, `ANY` `SOME`, `ALL`, `NONE`, `TRUEPREDICATE`, `FALSEPREDICATE`.
    /// - Relationships: `thread.title`, `ANY messages.isRead == NO`, `messages.@count` and `@sum`, `@avg`, `@min`, `@max`,
    ///   `@median`, `@mode`, `@stddev` as in `messages.@max.date`; `SUBQUERY(messages, $m, $m.size > size).@count`, where
    ///   keys without the variable belong to the outer object; `%@ IN messages`.
    /// - Values: `'string'`, `"string"`, numbers, `YES`, `NO`, `NIL`, `SELF`, lists in braces, key paths, `+ - * / % **`, and
    ///   of integers `& | ^ ~ << >>`, with the precedence of C, but above comparisons; `CAST(value, "type")` with a type of a
    ///   model or a class as `"NSNumber"`, `TERNARY(condition, value, value)`, `COALESCE(value, value)`, `now()`; of strings
    ///   `uppercase`, `lowercase`, `canonical` (without case and marks), `length`, also as `name.length`; of numbers `abs`,
    ///   `floor`, `ceiling`, `trunc`, `sqrt`, `ln`, `log` (to the base 10), `exp`; of lists `sum`, `min`, `max`, `average`,
    ///   `count`, `median`, `mode` (the least of several), `stddev` (of the whole list, divided by its count). The operators
    ///   are functions too: `add:to:(a, b)`, `from:subtract:`, `multiply:by:`, `divide:by:`, `modulus:by:`, `raise:toPower:`,
    ///   `bitwiseAnd:with:`, `bitwiseOr:with:`, `bitwiseXor:with:`, `leftshift:by:`, `rightshift:by:`, `onesComplement:(a)`.
    /// - Bit operations use 64-bit integers in two's complement. `>>` keeps the sign; `<<` drops the bits that it shifts out.
    ///   The result of a shift by fewer than 0 or more than 63 bits is nil.
    /// - `%@` stands for a value or a list of values, `%K` for a key path, `%d` and `%f` for numbers, `$NAME` for a value that
    ///   ``substituting(_:)`` inserts. In quotes they are plain characters.
    /// - Keywords can be written in any case. Write a `#` before a key that is a keyword.
    ///
    /// - Parameters:
    ///   - format: The predicate as a string, with the syntax above.
    ///   - arguments: Strings, numbers, flags, dates, data, UUIDs, URLs, ids of objects, other predicates; arrays and sets of
    ///     values; nil. They are always values, never part of the format.
    /// - Throws: `unreadablePredicate`, with the line and the column in the format.
    public init(format: String, _ arguments: (any Sendable)?...) throws {
        tree = try PredicateTree(format: format, arguments: arguments)
    }

    /// Makes a predicate from a format string, with its arguments in an array; see ``init(format:_:)``.
    ///
    /// ```swift
    /// let predicate = try FetchPredicate<ContactEntity>(
    ///     format: "age >= %@ AND name == %@", arguments: [18, "Guan Yu"])
    /// ```
    ///
    /// - Throws: `unreadablePredicate`, with the line and the column in the format.
    public init(format: String, arguments: [(any Sendable)?]) throws {
        tree = try PredicateTree(format: format, arguments: arguments)
    }

    /// The predicate as a format string. Reading it gives an equal predicate.
    ///
    /// A part without a format is shown in angle brackets. An example is a part that only Foundation can evaluate.
    public var predicateFormat: String { tree.predicateFormat }

    /// Replaces variables of the predicate by values.
    ///
    /// ```swift
    /// let template = try FetchPredicate<ContactEntity>(format: "age > $AGE")
    /// let predicate = try template.substituting(["AGE": 18])
    /// ```
    ///
    /// - Parameter values: The values by the names of the variables, without the `$`. Variables without a value stay; names
    ///   without a variable are ignored.
    /// - Throws: `unreadablePredicate` if no attribute can have a value of the type.
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
    /// Reads the format that ``encode(to:)`` wrote. **Complexity**: linear in the length of the format.
    ///
    /// - Throws: `unreadablePredicate`, and errors of the decoder.
    public init(from decoder: any Decoder) throws {
        tree = try PredicateTree(from: decoder)
    }

    /// Writes the predicate as its format.
    ///
    /// - Throws: `unsupportedQuery` if a part of the predicate has no format, or if the predicate is nested too deeply; errors
    ///   of the encoder.
    public func encode(to encoder: any Encoder) throws {
        try tree.encode(to: encoder)
    }
}

extension FetchPredicate {
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

/// Matches if the attribute is false.
///
/// ```swift
/// try await contacts.delete(ContactEntity.self, where: !\.isFavorite)
/// ```
public prefix func ! <Object: ManagedObject>(keyPath: KeyPath<Object, Bool>) -> FetchPredicate<Object> {
    keyPath != true
}

/// Matches if the attribute has the value. Nil matches an attribute without a value.
///
/// ```swift
/// let request = ObjectRequest(ContactEntity.self, where: \.phone == "110")
/// ```
public func == <Object: ManagedObject, Value: AttributeStorable>(
    keyPath: KeyPath<Object, Value>, value: Value
) -> FetchPredicate<Object> {
    .compare(keyPath, .equal, value)
}

/// Matches if the attribute has another value, or no value.
public func != <Object: ManagedObject, Value: AttributeStorable>(
    keyPath: KeyPath<Object, Value>, value: Value
) -> FetchPredicate<Object> {
    .compare(keyPath, .notEqual, value)
}

/// Matches if the attribute is less than the value. An attribute without a value does not match.
public func < <Object: ManagedObject, Value: AttributeStorable>(
    keyPath: KeyPath<Object, Value>, value: Value
) -> FetchPredicate<Object> {
    .compare(keyPath, .less, value)
}

/// Matches if the attribute is less than or equal to the value. An attribute without a value does not match.
public func <= <Object: ManagedObject, Value: AttributeStorable>(
    keyPath: KeyPath<Object, Value>, value: Value
) -> FetchPredicate<Object> {
    .compare(keyPath, .lessOrEqual, value)
}

/// Matches if the attribute is greater than the value. An attribute without a value does not match.
public func > <Object: ManagedObject, Value: AttributeStorable>(
    keyPath: KeyPath<Object, Value>, value: Value
) -> FetchPredicate<Object> {
    .compare(keyPath, .greater, value)
}

/// Matches if the attribute is greater than or equal to the value. An attribute without a value does not match.
public func >= <Object: ManagedObject, Value: AttributeStorable>(
    keyPath: KeyPath<Object, Value>, value: Value
) -> FetchPredicate<Object> {
    .compare(keyPath, .greaterOrEqual, value)
}

/// Matches if the range contains the attribute.
public func ~= <Object: ManagedObject, Value: AttributeStorable & Comparable>(
    range: ClosedRange<Value>, keyPath: KeyPath<Object, Value>
) -> FetchPredicate<Object> {
    .isIn(keyPath, range)
}

/// Matches if the range contains the attribute.
public func ~= <Object: ManagedObject, Value: AttributeStorable & Comparable>(
    range: Range<Value>, keyPath: KeyPath<Object, Value>
) -> FetchPredicate<Object> {
    .isIn(keyPath, range)
}

/// Matches if the range contains the attribute. An attribute without a value does not match.
public func ~= <Object: ManagedObject, Value: AttributeStorable & Comparable>(
    range: ClosedRange<Value>, keyPath: KeyPath<Object, Value?>
) -> FetchPredicate<Object> {
    .isIn(keyPath, range)
}

/// Matches if the range contains the attribute. An attribute without a value does not match.
public func ~= <Object: ManagedObject, Value: AttributeStorable & Comparable>(
    range: Range<Value>, keyPath: KeyPath<Object, Value?>
) -> FetchPredicate<Object> {
    .isIn(keyPath, range)
}

/// Predicates for strings. An attribute without a value matches none of them.
extension FetchPredicate {
    /// Matches if the attribute contains a string. The store cannot use an index.
    ///
    /// ```swift
    /// let named: FetchPredicate<ContactEntity> = .contains(\.name, "guan")
    /// ```
    public static func contains(
        _ keyPath: KeyPath<Object, some StringAttribute>, _ part: String, _ matching: StringMatching = []
    ) -> Self {
        text(of: keyPath, .contains, part, matching: matching)
    }

    /// Matches if the attribute begins with a string. Without options, the store can use an index.
    ///
    /// ```swift
    /// let guans: FetchPredicate<ContactEntity> = .beginsWith(\.name, "Guan")
    /// ```
    public static func beginsWith(
        _ keyPath: KeyPath<Object, some StringAttribute>, _ start: String, _ matching: StringMatching = []
    ) -> Self {
        text(of: keyPath, .beginsWith, start, matching: matching)
    }

    /// Matches if the attribute ends with a string: `.endsWith(\.name, "Fei")`.
    public static func endsWith(
        _ keyPath: KeyPath<Object, some StringAttribute>, _ end: String, _ matching: StringMatching = []
    ) -> Self {
        text(of: keyPath, .endsWith, end, matching: matching)
    }

    /// Matches if the whole attribute matches a pattern with `?` for a character and `*` for any number: `.like(\.name, "G*")`.
    public static func like(
        _ keyPath: KeyPath<Object, some StringAttribute>, _ pattern: String, _ matching: StringMatching = []
    ) -> Self {
        text(of: keyPath, .like, pattern, matching: matching)
    }

    /// Matches if the whole attribute matches a regular expression: `.matches(\.phone, "[0-9]+")`.
    public static func matches(
        _ keyPath: KeyPath<Object, some StringAttribute>, _ expression: String, _ matching: StringMatching = []
    ) -> Self {
        text(of: keyPath, .matches, expression, matching: matching)
    }

    /// Matches if the attribute equals a string, compared with the options.
    ///
    /// ```swift
    /// let named: FetchPredicate<ContactEntity> = .equal(
    ///     \.name, "guan yu", [.caseInsensitive])
    /// ```
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

/// Predicates for attributes in a list or a range. An attribute without a value is in no range.
extension FetchPredicate {
    /// Matches if the attribute is one of the values. **Complexity**: linear in the number of values.
    ///
    /// ```swift
    /// let oath = ObjectRequest(ContactEntity.self, where: .isIn(\.uid, ["1", "2"]))
    /// ```
    public static func isIn<Value: AttributeStorable>(
        _ keyPath: KeyPath<Object, Value>, _ values: some Sequence<Value>
    ) -> Self {
        list(keyPath, values)
    }

    /// Matches if the optional attribute is one of the values: `.isIn(\.phone, ["110", "120"])`.
    public static func isIn<Value: AttributeStorable>(
        _ keyPath: KeyPath<Object, Value?>, _ values: some Sequence<Value>
    ) -> Self {
        list(keyPath, values)
    }

    /// Matches if the range contains the attribute.
    ///
    /// ```swift
    /// let young = ObjectRequest(ContactEntity.self, where: .isIn(\.age, ..<18))
    /// ```
    public static func isIn<Value: AttributeStorable>(
        _ keyPath: KeyPath<Object, Value>, _ range: some AttributeRange<Value>
    ) -> Self {
        bounded(keyPath, range.attributeBounds)
    }

    /// Matches if the range contains the optional attribute: `.isIn(\.birthday, ..<Date.now)`.
    public static func isIn<Value: AttributeStorable>(
        _ keyPath: KeyPath<Object, Value?>, _ range: some AttributeRange<Value>
    ) -> Self {
        bounded(keyPath, range.attributeBounds)
    }

    /// Matches if the range contains the attribute: `.isIn(\.age, 18..<30)`. For ranges of integers, which are also sequences.
    public static func isIn<Value: AttributeStorable>(
        _ keyPath: KeyPath<Object, Value>, _ range: some AttributeRange<Value> & Sequence<Value>
    ) -> Self {
        bounded(keyPath, range.attributeBounds)
    }

    /// Matches if the range contains the optional attribute. For ranges of integers, which are also sequences.
    public static func isIn<Value: AttributeStorable>(
        _ keyPath: KeyPath<Object, Value?>, _ range: some AttributeRange<Value> & Sequence<Value>
    ) -> Self {
        bounded(keyPath, range.attributeBounds)
    }

    private static func list<Value: AttributeStorable>(_ keyPath: AnyKeyPath, _ values: some Sequence<Value>) -> Self {
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
