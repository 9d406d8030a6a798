internal import RowStore

/// A range of attribute values: `2...5`, `2..<5`, `2...`, `...5` or `..<5`.
public protocol AttributeRange<Bound> {
    /// The type of the attribute.
    associatedtype Bound: AttributeStorable

    /// The ends of the range.
    var attributeBounds: AttributeBounds<Bound> { get }
}

/// The ends of an ``AttributeRange``.
public struct AttributeBounds<Bound: AttributeStorable> {
    /// Nil if the range has no lower or no upper bound.
    let lower, upper: Bound?
    let includesUpper: Bool
}

extension ClosedRange: AttributeRange where Bound: AttributeStorable {
    public var attributeBounds: AttributeBounds<Bound> {
        AttributeBounds(lower: lowerBound, upper: upperBound, includesUpper: true)
    }
}

extension Range: AttributeRange where Bound: AttributeStorable {
    public var attributeBounds: AttributeBounds<Bound> {
        AttributeBounds(lower: lowerBound, upper: upperBound, includesUpper: false)
    }
}

extension PartialRangeFrom: AttributeRange where Bound: AttributeStorable {
    public var attributeBounds: AttributeBounds<Bound> {
        AttributeBounds(lower: lowerBound, upper: nil, includesUpper: false)
    }
}

extension PartialRangeThrough: AttributeRange where Bound: AttributeStorable {
    public var attributeBounds: AttributeBounds<Bound> {
        AttributeBounds(lower: nil, upper: upperBound, includesUpper: true)
    }
}

extension PartialRangeUpTo: AttributeRange where Bound: AttributeStorable {
    public var attributeBounds: AttributeBounds<Bound> {
        AttributeBounds(lower: nil, upper: upperBound, includesUpper: false)
    }
}

/// How strings are compared.
///
/// ```swift
/// let named: FetchPredicate<ContactEntity> = .contains(
///     \.name, "guan", [.caseInsensitive, .diacriticInsensitive])
/// ```
public struct StringMatching: OptionSet, Sendable, Hashable {
    public let rawValue: Int

    /// The options with the given bits.
    ///
    /// ```swift
    /// let matching = StringMatching(rawValue: 3)
    /// // [.caseInsensitive, .diacriticInsensitive]
    /// ```
    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// Ignores case: `[c]` in a format.
    public static let caseInsensitive = StringMatching(StringOptions.caseInsensitive)
    /// Ignores diacritical marks: `[d]` in a format.
    public static let diacriticInsensitive = StringMatching(StringOptions.diacriticInsensitive)
    /// Compares in dictionary order, the same on every machine: by letters, then by marks, then by case. `[l]` in a format.
    ///
    /// Canonically equivalent strings are equal: marks may be composed or decomposed.
    public static let localized = StringMatching(StringOptions.localized)
    /// Compares character by character, as Swift does: `[u]` in a format.
    public static let characters = StringMatching(StringOptions.characters)

    private init(_ options: StringOptions) {
        self.init(rawValue: options.rawValue)
    }

    var options: StringOptions { StringOptions(rawValue: rawValue) }
}

/// A string, or an optional string: the Swift types of a string attribute.
nonisolated public protocol StringAttribute: AttributeStorable {}

extension String: StringAttribute {}

extension Optional: StringAttribute where Wrapped == String {}
