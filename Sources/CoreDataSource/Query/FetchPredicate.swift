public import Foundation
package import QueryLanguage
internal import RowStore

/// A predicate for the objects of one class, for fetches, lists and updates.
///
/// Make a predicate with operators on key paths, with Foundation's `#Predicate`, or from a format string:
///
/// ```swift
/// let grown: FetchPredicate<ContactEntity> = \.age >= 18 && 0.5...1 ~= \.score
/// let named: FetchPredicate<ContactEntity> = .contains(\.name, "yu") || \.age > 60
/// let macro = FetchPredicate<ContactEntity>(#Predicate { $0.name != $0.uid })
/// let format = try FetchPredicate<ContactEntity>(format: "age >= %d", 18)
/// ```
///
/// A comparison with nil is false; only `==` and `!=` treat nil as a value. Strings are compared byte by byte unless an option
/// says otherwise. Numbers of all kinds are compared by their exact values. In a comparison with a decimal, a real has the
/// value of its shortest decimal representation. A calculation without a result is nil, for example a division by zero or an
/// integer beyond 64 bits.
///
/// - Compare a Boolean (`\.isFavorite == true`) or negate it (`!\.isFavorite`), because a key path alone is not a predicate.
/// - Compare two attributes with `#Predicate { $0.name == $0.uid }` or `FetchPredicate(format: "name == uid")`.
/// - Give a predicate that is "too complex to type-check" a type: `let predicate: FetchPredicate<ContactEntity> = ...`.
/// - A predicate can have at most 1,000 levels; a fetch with a deeper predicate throws `invalidPredicate`.
public struct FetchPredicate<Object: ManagedObject>: Sendable, Hashable {
    package let tree: PredicateTree

    package init(_ tree: PredicateTree) {
        self.tree = tree
    }

    /// The predicate that every object matches.
    public static var all: Self { Self(PredicateTree(.constant(true))) }

    /// Matches if both predicates match.
    public static func && (lhs: Self, rhs: Self) -> Self { Self(lhs.tree && rhs.tree) }

    /// Matches if at least one of the predicates matches.
    public static func || (lhs: Self, rhs: Self) -> Self { Self(lhs.tree || rhs.tree) }

    /// Matches every object that the predicate does not match, including objects with nil values.
    public static prefix func ! (predicate: Self) -> Self { Self(!predicate.tree) }

    /// The reason why the predicate must be evaluated on objects; nil if rows are enough.
    ///
    /// If a predicate must be evaluated on objects, a fetch evaluates it only on the objects that match all predicates joined
    /// to it by `&&`. If a predicate about related objects must be evaluated on objects, the fetch throws `unsupportedQuery`.
    /// If a part of a predicate must be evaluated on objects and follows a relationship, a list throws the same error.
    public var needsObjects: String? { tree.needsObjects }

    /// Makes a predicate from Foundation's `Predicate`.
    ///
    /// ```swift
    /// let grown = FetchPredicate<ContactEntity>(#Predicate { $0.age >= 18 })
    /// ```
    ///
    /// The store evaluates comparisons, ranges, arithmetic, optionals, strings, the `count` of strings and data, and closures
    /// over captured lists. Foundation evaluates everything else on objects, for example the first character of a string, a
    /// property that is not an attribute, or the type of an object. Join such a predicate with `&&`: it is then evaluated only
    /// on objects that match the rest.
    ///
    /// To compare an attribute with a case of your enum, capture the case, because the macro does not accept `.open`:
    /// `let open = TaskState.open`, then `#Predicate { $0.state == open }`. The enum must be `Codable`. Only equality works.
    ///
    /// Arithmetic that would trap in Foundation always gives nil: for example, a result beyond the range of the attribute's
    /// type, or an integer division by zero. Nil has no order and equals only nil. A forced unwrap of nil gives nil in the
    /// store. On an object, the unwrap makes the fetch throw `predicateFailed`, like an index beyond the end of a list, an
    /// `as!` to another type, and a closure over a range of more than 100,000 numbers.
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
    /// - Strings: `CONTAINS`, `BEGINSWITH`, `ENDSWITH`, `LIKE` (`?` is one character, `*` any number of them), `MATCHES` (a
    ///   regular expression for the whole string). Options in brackets: `[c]` ignores case, `[d]` ignores diacritics, `[n]`
    ///   compares bytes, `[l]` compares in dictionary order, `[u]` compares by character like Swift.
    /// - Combinations: `AND` `&&`, `OR` `||`, `NOT` `!`, `ANY` `SOME`, `ALL`, `NONE`, `TRUEPREDICATE`, `FALSEPREDICATE`.
    /// - Relationships: `thread.title`; `ANY messages.isRead == NO`; `messages.@count`; `messages.@max.date`, also `@sum`,
    ///   `@avg`, `@min`, `@median`, `@mode`, `@stddev`; `%@ IN messages`; `SUBQUERY(messages, $m, $m.size > size).@count`,
    ///   where a key without the variable belongs to the outer object.
    /// - Values: `'string'`, `"string"`, numbers, `YES`, `NO`, `NIL`, `SELF`, lists in braces, key paths, `+ - * / % **`, and
    ///   for integers `& | ^ ~ << >>`. Precedence is as in C, except that comparisons come after all of these operators.
    /// - Functions: `CAST(value, "type")` with a type of the model or a class such as `"NSNumber"`, `COALESCE(value, value)`,
    ///   `TERNARY(condition, value, value)`, `now()`. For strings: `uppercase`, `lowercase`, `canonical` (without case and
    ///   diacritics), `length`, also `name.length`. For numbers: `abs`, `floor`, `ceiling`, `trunc`, `sqrt`, `ln`, `log` (base
    ///   10), `exp`. For lists: `sum`, `min`, `max`, `average`, `count`, `median`, `mode` (the least, if there are several),
    ///   `stddev` (of a population). Operators: `add:to:(a, b)`, `from:subtract:`, `multiply:by:`, `divide:by:`, `modulus:by:`,
    ///   `raise:toPower:`, `bitwiseAnd:with:`, `bitwiseOr:with:`, `bitwiseXor:with:`, `leftshift:by:`, `rightshift:by:`,
    ///   `onesComplement:(a)`.
    /// - Bit operations use 64-bit integers in two's complement. `>>` keeps the sign, and `<<` drops the bits that it shifts
    ///   out. A shift by fewer than 0 or more than 63 bits gives nil.
    /// - `%@` stands for a value or a list, `%K` for a key path, `%d` and `%f` for numbers, and `$NAME` for a value that
    ///   ``substituting(_:)`` inserts. Inside quotes, these are plain characters.
    /// - Keywords can be written in any case. Write a `#` before a key that is a keyword.
    ///
    /// - Parameters:
    ///   - format: The predicate as a string, with the syntax above.
    ///   - arguments: Strings, numbers, flags, dates, data, UUIDs, URLs, ids of objects, other predicates; arrays and sets of
    ///     values; nil. An argument is always a value, never a piece of the format.
    /// - Throws: `unreadablePredicate`, with the line and the column in the format. `unknownAttribute` if the entity has no
    ///   property with a name in the format; the message has the names of its properties. If the class does not know the
    ///   names of its properties, the fetch throws `unknownAttribute` instead; see ``ManagedObject/propertyNames``.
    public init(format: String, _ arguments: (any Sendable)?...) throws {
        try self.init(format: format, arguments: arguments)
    }

    /// Makes a predicate from a format string and an array of arguments; see ``init(format:_:)``.
    ///
    /// ```swift
    /// let predicate = try FetchPredicate<ContactEntity>(
    ///     format: "age >= %@ AND name == %@", arguments: [18, "Guan Yu"])
    /// ```
    ///
    /// - Throws: The errors of ``init(format:_:)``.
    public init(format: String, arguments: [(any Sendable)?]) throws {
        tree = try PredicateTree(format: format, arguments: arguments)
        try tree.checkNames(of: Object.self)
    }

    /// The predicate as a format string. An equal predicate can be made from the string.
    ///
    /// A predicate without a format is shown in angle brackets, for example one that only Foundation can evaluate.
    public var predicateFormat: String { tree.predicateFormat }

    /// Returns the predicate with its variables replaced with values.
    ///
    /// ```swift
    /// let template = try FetchPredicate<ContactEntity>(format: "age > $AGE")
    /// let predicate = try template.substituting(["AGE": 18])
    /// ```
    ///
    /// - Parameter values: The value of each variable, by the variable's name without the `$`. Variables without a value are
    ///   not replaced, and names without a variable are ignored.
    /// - Throws: `unreadablePredicate` if a value has a type that no attribute can have.
    public func substituting(_ values: [String: (any Sendable)?]) throws -> Self {
        Self(try tree.substituting(values))
    }

    /// The names of the variables that have no values yet.
    public var variables: Set<String> { tree.variables }
}

extension FetchPredicate: PredicateTreeConvertible {}

extension FetchPredicate: CustomStringConvertible {
    /// The same string as ``predicateFormat``.
    public var description: String { predicateFormat }
}

extension FetchPredicate: Codable {
    /// Makes a predicate from the format that ``encode(to:)`` wrote. **Complexity**: linear in the length of the format.
    ///
    /// - Throws: `unreadablePredicate`, and errors of the decoder.
    public init(from decoder: any Decoder) throws {
        tree = try PredicateTree(from: decoder)
    }

    /// Encodes the predicate as a format string.
    ///
    /// - Throws: `unsupportedQuery` if the predicate is nested too deeply or has no format; errors of the encoder.
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

    /// Makes a predicate for the attribute at the end of a key path.
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

/// Matches if the attribute differs from the value. An attribute without a value differs from every value except nil.
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

/// Predicates for strings. An attribute without a value does not match.
extension FetchPredicate {
    /// Matches if the attribute contains a string. The store cannot use an index for this predicate.
    ///
    /// ```swift
    /// let named: FetchPredicate<ContactEntity> = .contains(\.name, "guan")
    /// ```
    public static func contains(
        _ keyPath: KeyPath<Object, some StringAttribute>, _ part: String, _ matching: StringMatching = []
    ) -> Self {
        text(of: keyPath, .contains, part, matching: matching)
    }

    /// Matches if the attribute begins with a string. Without options, the store can use an index for this predicate.
    ///
    /// ```swift
    /// let guans: FetchPredicate<ContactEntity> = .beginsWith(\.name, "Guan")
    /// ```
    public static func beginsWith(
        _ keyPath: KeyPath<Object, some StringAttribute>, _ start: String, _ matching: StringMatching = []
    ) -> Self {
        text(of: keyPath, .beginsWith, start, matching: matching)
    }

    /// Matches if the attribute ends with a string, for example `.endsWith(\.name, "Fei")`.
    public static func endsWith(
        _ keyPath: KeyPath<Object, some StringAttribute>, _ end: String, _ matching: StringMatching = []
    ) -> Self {
        text(of: keyPath, .endsWith, end, matching: matching)
    }

    /// Matches if the whole attribute fits a pattern, where `?` is one character and `*` any number: `.like(\.name, "G*")`.
    public static func like(
        _ keyPath: KeyPath<Object, some StringAttribute>, _ pattern: String, _ matching: StringMatching = []
    ) -> Self {
        text(of: keyPath, .like, pattern, matching: matching)
    }

    /// Matches if the whole attribute fits a regular expression, for example `.matches(\.phone, "[0-9]+")`.
    public static func matches(
        _ keyPath: KeyPath<Object, some StringAttribute>, _ expression: String, _ matching: StringMatching = []
    ) -> Self {
        text(of: keyPath, .matches, expression, matching: matching)
    }

    /// Matches if the attribute equals a string. The options say how the strings are compared.
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
    /// let brothers = ObjectRequest(
    ///     ContactEntity.self, where: .isIn(\.uid, ["1", "2"]))
    /// ```
    public static func isIn<Value: AttributeStorable>(
        _ keyPath: KeyPath<Object, Value>, _ values: some Sequence<Value>
    ) -> Self {
        list(keyPath, values)
    }

    /// Matches if the optional attribute is one of the values, for example `.isIn(\.phone, ["110", "120"])`.
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

    /// Matches if the range contains the optional attribute, for example `.isIn(\.birthday, ..<Date.now)`.
    public static func isIn<Value: AttributeStorable>(
        _ keyPath: KeyPath<Object, Value?>, _ range: some AttributeRange<Value>
    ) -> Self { bounded(keyPath, range.attributeBounds) }

    /// Matches if the range contains the attribute: `.isIn(\.age, 18..<30)`. For ranges of integers, which are also sequences.
    public static func isIn<Value: AttributeStorable>(
        _ keyPath: KeyPath<Object, Value>, _ range: some AttributeRange<Value> & Sequence<Value>
    ) -> Self {
        bounded(keyPath, range.attributeBounds)
    }

    /// Matches if the range contains the optional attribute. For ranges of integers, which are also sequences.
    public static func isIn<Value: AttributeStorable>(
        _ keyPath: KeyPath<Object, Value?>, _ range: some AttributeRange<Value> & Sequence<Value>
    ) -> Self { bounded(keyPath, range.attributeBounds) }

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
