/// A range of the values of an attribute, made by `2...5`, `2..<5`, `2...`, `...5` or `..<5`.
public protocol AttributeRange<Bound> {
    /// The type of the attribute.
    associatedtype Bound: AttributeStorable

    /// The ends of the range.
    var attributeBounds: AttributeBounds<Bound> { get }
}

/// The ends of an ``AttributeRange``.
public struct AttributeBounds<Bound: AttributeStorable> {
    /// Nil if the range has no such end.
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
