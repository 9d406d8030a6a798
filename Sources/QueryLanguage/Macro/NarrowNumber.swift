internal import Foundation
internal import RowStore

/// An integer of fewer than 64 bits, which the store calculates in 64 bits.
///
/// If a result does not fit the type, Foundation would trap. Here the result is nil, as for a result beyond 64 bits.
struct NarrowNumber {
    private let width: ClosedRange<Int64>
    /// The expression that calculates the number in 64 bits.
    private var value: FetchExpression
    /// The range of possible values.
    private var range: ClosedRange<Int64>
    /// The predicates that must be true: the operands fit the type, and for a remainder, the quotient also fits.
    private var checks: [PredicateTree.Node] = []
    /// The bounds of the value. The result is nil if the value is outside these bounds.
    private var limits: [(operation: ComparisonOperator, bound: Int64)] = []

    /// The range of `Int16` or `Int32`; nil for another type.
    static func width(of type: Any.Type) -> ClosedRange<Int64>? {
        if type == Int16.self { return Int64(Int16.min)...Int64(Int16.max) }
        return type == Int32.self ? Int64(Int32.min)...Int64(Int32.max) : nil
    }

    init(_ part: LoweredPart, _ width: ClosedRange<Int64>) throws(NotQueryable) {
        if case .narrow(let number) = part {
            self = number
            return
        }
        self.width = width
        value = try part.expression()
        range = width
        if case .constant(.integer(let number)) = value { range = number...number }
    }

    private init(_ value: FetchExpression, in range: ClosedRange<Int64>, of numbers: NarrowNumber...) {
        width = numbers[0].width
        self.value = value
        self.range = range.clamped(to: width)
        checks = numbers.flatMap { $0.checks + $0.limitNodes(besides: []) }
        if range.upperBound > width.upperBound { limits.append((.lessOrEqual, width.upperBound)) }
        if range.lowerBound < width.lowerBound { limits.append((.greaterOrEqual, width.lowerBound)) }
    }

    // MARK: Calculating

    func negated() -> NarrowNumber {
        NarrowNumber(.negated(value), in: -range.upperBound ... -range.lowerBound, of: self)
    }

    func combined(_ operation: ArithmeticOperator, _ other: NarrowNumber) throws(NotQueryable) -> NarrowNumber {
        var result = NarrowNumber(
            .arithmetic(value, operation, other.value), in: try range(operation, other), of: self, other)
        if operation == .remainder, other.range.contains(-1), range.contains(width.lowerBound) {
            // Swift traps if the quotient does not fit the type, as for the lowest number divided by -1.
            result.checks.append(
                .compare(
                    .arithmetic(value, .divide, other.value), .lessOrEqual, .constant(.integer(width.upperBound)), []))
        }
        return result
    }

    /// The range of the result. The result of any operation on two 32-bit numbers fits in 64 bits.
    private func range(
        _ operation: ArithmeticOperator, _ other: NarrowNumber
    ) throws(NotQueryable) -> ClosedRange<Int64> {
        let (low, high) = (range.lowerBound, range.upperBound)
        switch operation {
        case .add: return low + other.range.lowerBound...high + other.range.upperBound
        case .subtract: return low - other.range.upperBound...high - other.range.lowerBound
        case .multiply:
            let corners = [low, high].flatMap { [$0 * other.range.lowerBound, $0 * other.range.upperBound] }
            return corners.reduce(corners[0]) { min($0, $1) }...corners.reduce(corners[0]) { max($0, $1) }
        case .divide where other.range.lowerBound <= 0:
            let most = max(abs(low), abs(high))
            return -most...most
        case .divide, .remainder: return min(low, 0)...max(high, 0)
        case .power: throw NotQueryable(construct: "a power")
        case .bitwiseAnd, .bitwiseOr, .bitwiseXor, .shiftLeft, .shiftRight:
            throw NotQueryable(construct: "an operation on bits")
        }
    }

    // MARK: Conversions

    var expression: FetchExpression {
        let nodes = checks + limitNodes(besides: [])
        return nodes.isEmpty ? value : .conditional(.all(nodes), value, .constant(.null))
    }

    private func limitNodes(besides implied: [ComparisonOperator]) -> [PredicateTree.Node] {
        limits.filter { !implied.contains($0.operation) }
            .map { .compare(value, $0.operation, .constant(.integer($0.bound)), []) }
    }

    /// Compares the number with a constant of its type.
    fileprivate func compared(_ operation: ComparisonOperator, _ number: Int64) -> PredicateTree.Node {
        let implied: [ComparisonOperator] =
            switch operation {
            case .equal, .notEqual: [.lessOrEqual, .greaterOrEqual]
            case .less, .lessOrEqual: [.lessOrEqual]
            case .greater, .greaterOrEqual: [.greaterOrEqual]
            }
        let node = PredicateTree.Node.compare(value, operation, .constant(.integer(number)), [])
        return .all([node] + checks + limitNodes(besides: implied))
    }
}

extension LoweredPart {
    /// Compares a calculated narrow number with a constant; nil for other parts.
    func comparedAsNarrowNumber(
        _ operation: ComparisonOperator, _ other: LoweredPart
    ) throws(NotQueryable) -> PredicateTree.Node? {
        switch (self, other) {
        case (.narrow(let number), let other):
            guard operation != .notEqual, case .integer(let constant) = try other.constant() else { return nil }
            return number.compared(operation, constant)
        case (_, .narrow(let number)):
            guard operation != .notEqual, case .integer(let constant) = try constant() else { return nil }
            return number.compared(operation.mirrored, constant)
        default: return nil
        }
    }
}

/// The plain Swift types of attributes, and the values that replace nil if the attribute is not optional.
enum PlainType {
    /// Whether the type is a plain type, or an optional plain type.
    static func includes(_ type: Any.Type) -> Bool {
        zeros[ObjectIdentifier(type)] != nil || optionals.contains(ObjectIdentifier(type))
    }

    /// Whether two values of the type are equal if their stored values are equal. This is so for a plain type, a type with
    /// raw values, and the id of an object.
    static func isEquatable(_ type: Any.Type) -> Bool {
        includes(type) || hasRawValue(type) || wrapped(type) is any ObjectReference.Type
    }

    /// Whether the type, or its wrapped type, is stored as its raw value, as an enum is. The order of the raw values
    /// and the order of the type can differ.
    private static func hasRawValue(_ type: Any.Type) -> Bool {
        guard let raw = (wrapped(type) as? any (RawRepresentable & StoredValueConvertible).Type)?.rawType else {
            return false
        }
        return zeros[ObjectIdentifier(raw)] != nil
    }

    /// The wrapped type of an optional; other types unchanged.
    private static func wrapped(_ type: Any.Type) -> Any.Type { (type as? any AnyOptional.Type)?.wrapped ?? type }

    /// Whether the type is `String` or `String?`.
    static func isText(_ type: Any.Type) -> Bool { type == String.self || type == String?.self }

    /// The value that replaces a stored nil; nil for an optional type.
    static func zero(of type: Any.Type) -> FetchValue? { zeros[ObjectIdentifier(type)] }

    /// The name of an attribute, for the message that the attribute's type cannot be compared.
    static func attributeName(_ name: String, _ type: Any.Type) -> String {
        if type is any StoredValueConvertible.Type { return "the attribute \(name) of the type \(type)" }
        if wrapped(type) is any QueriedComposite.Type { return "the composite attribute \(name)" }
        // The type of a transformable attribute is Codable. A type that is not Codable is a composite.
        return type is any Codable.Type ? "the transformable attribute \(name)" : "the composite attribute \(name)"
    }

    private static let zeros: [ObjectIdentifier: FetchValue] = [
        ObjectIdentifier(String.self): .text(""),
        ObjectIdentifier(Int16.self): .integer(0),
        ObjectIdentifier(Int32.self): .integer(0),
        ObjectIdentifier(Int64.self): .integer(0),
        ObjectIdentifier(Int.self): .integer(0),
        ObjectIdentifier(Double.self): .double(0),
        ObjectIdentifier(Float.self): .double(0),
        ObjectIdentifier(Bool.self): .boolean(false),
        ObjectIdentifier(Decimal.self): .decimal(0),
        ObjectIdentifier(Date.self): .date(Date(timeIntervalSinceReferenceDate: 0)),
        ObjectIdentifier(Data.self): .data(Data()),
        ObjectIdentifier(UUID.self): .uuid(UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))),
    ].merging(URL(string: "about:blank").map { [ObjectIdentifier(URL.self): .url($0)] } ?? [:]) { $1 }

    private static let optionals: Set<ObjectIdentifier> = [
        ObjectIdentifier(String?.self), ObjectIdentifier(Int16?.self), ObjectIdentifier(Int32?.self),
        ObjectIdentifier(Int64?.self), ObjectIdentifier(Int?.self), ObjectIdentifier(Double?.self),
        ObjectIdentifier(Float?.self),
        ObjectIdentifier(Bool?.self), ObjectIdentifier(Decimal?.self), ObjectIdentifier(Date?.self),
        ObjectIdentifier(Data?.self), ObjectIdentifier(UUID?.self), ObjectIdentifier(URL?.self),
    ]
}

extension RawRepresentable {
    fileprivate static var rawType: Any.Type { RawValue.self }
}
