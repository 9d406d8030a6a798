internal import RowStore

/// A range of attribute values, for example `2...5`, `2..<5`, `2...`, `...5` or `..<5`.
public protocol AttributeRange<Bound> {
    /// The type of the attribute.
    associatedtype Bound: AttributeStorable

    /// The bounds of the range.
    var attributeBounds: AttributeBounds<Bound> { get }
}

/// The bounds of an ``AttributeRange``.
public struct AttributeBounds<Bound: AttributeStorable> {
    /// The bounds; nil on a side where the range has no bound.
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

/// Options for the comparison of strings.
///
/// ```swift
/// let named: FetchPredicate<ContactEntity> = .contains(
///     \.name, "guan", [.caseInsensitive, .diacriticInsensitive])
/// ```
///
/// If a comparison ignores case or diacritics, the store can use an index only for an attribute that is derived with
/// `canonical:`; see <doc:DerivedAttributes>.
public struct StringMatching: OptionSet, Sendable, Hashable {
    public let rawValue: Int

    /// Makes the options with the given bits.
    ///
    /// ```swift
    /// let matching = StringMatching(rawValue: 3)
    /// // [.caseInsensitive, .diacriticInsensitive]
    /// ```
    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// Ignores case. Written `[c]` in a format.
    public static let caseInsensitive = StringMatching(StringOptions.caseInsensitive)
    /// Ignores diacritical marks. Written `[d]` in a format.
    public static let diacriticInsensitive = StringMatching(StringOptions.diacriticInsensitive)
    /// Compares in dictionary order: first by letters, then by diacritical marks, then by case. Written `[l]` in a format.
    ///
    /// The order is the same on every machine. Canonically equivalent strings are equal, so marks can be composed or
    /// decomposed.
    public static let localized = StringMatching(StringOptions.localized)
    /// Compares character by character, like Swift. Written `[u]` in a format.
    public static let characters = StringMatching(StringOptions.characters)

    private init(_ options: StringOptions) {
        self.init(rawValue: options.rawValue)
    }

    var options: StringOptions { StringOptions(rawValue: rawValue) }
}

/// A Swift type of a string attribute: `String` or `String?`.
nonisolated public protocol StringAttribute: AttributeStorable {}

extension String: StringAttribute {}

extension Optional: StringAttribute where Wrapped == String {}
