internal import RowStore

/// A predicate or a value that was read from a format.
struct FormatPart: FormatHeight {
    enum Content {
        case predicate(PredicateTree.Node)
        case expression(FetchExpression)
    }

    var content: Content
    var height: Int
    /// The position in the format, in bytes.
    var range: Range<Int>
}

struct FormatPredicatePart: FormatHeight {
    var node: PredicateTree.Node
    var height: Int
}

struct FormatExpressionPart: FormatHeight {
    var value: FetchExpression
    var height: Int
}

/// A part that knows the number of levels of its tree.
protocol FormatHeight {
    var height: Int { get }
}

/// The precedence of operators, lowest first, as in C, except that bit operators have a higher precedence than
/// comparisons.
enum FormatPrecedence: Int, Comparable {
    case disjunction, conjunction, comparison, bitwiseOr, bitwiseXor, bitwiseAnd, shift, sum, product, power, prefix

    /// The lowest precedence of operators on values.
    static let value = FormatPrecedence.bitwiseOr

    static func < (lhs: Self, rhs: Self) -> Bool { lhs.rawValue < rhs.rawValue }

    var next: FormatPrecedence { FormatPrecedence(rawValue: rawValue + 1) ?? .prefix }
}

/// An operator between two parts.
enum FormatInfix: Equatable {
    case or, and
    case comparison(ComparisonOperator)
    case text(StringOperator)
    case isIn, between
    case arithmetic(ArithmeticOperator)

    init?(_ token: FormatToken.Kind) {
        switch token {
        case .keyword(let keyword): self.init(keyword)
        case .symbol(let symbol): self.init(symbol)
        default: return nil
        }
    }

    private init?(_ keyword: FormatKeyword) {
        switch keyword {
        case .or: self = .or
        case .and: self = .and
        case .isIn: self = .isIn
        case .between: self = .between
        case .contains: self = .text(.contains)
        case .beginsWith: self = .text(.beginsWith)
        case .endsWith: self = .text(.endsWith)
        case .like: self = .text(.like)
        case .matches: self = .text(.matches)
        default: return nil
        }
    }

    private init?(_ symbol: FormatSymbol) {
        switch symbol {
        case .or: self = .or
        case .and: self = .and
        case .equal: self = .comparison(.equal)
        case .notEqual: self = .comparison(.notEqual)
        case .less: self = .comparison(.less)
        case .lessOrEqual: self = .comparison(.lessOrEqual)
        case .greater: self = .comparison(.greater)
        case .greaterOrEqual: self = .comparison(.greaterOrEqual)
        case .plus: self = .arithmetic(.add)
        case .minus: self = .arithmetic(.subtract)
        case .times: self = .arithmetic(.multiply)
        case .over: self = .arithmetic(.divide)
        case .remainder: self = .arithmetic(.remainder)
        case .power: self = .arithmetic(.power)
        case .bitwiseAnd: self = .arithmetic(.bitwiseAnd)
        case .bitwiseOr: self = .arithmetic(.bitwiseOr)
        case .bitwiseXor: self = .arithmetic(.bitwiseXor)
        case .shiftLeft: self = .arithmetic(.shiftLeft)
        case .shiftRight: self = .arithmetic(.shiftRight)
        default: return nil
        }
    }

    var power: FormatPrecedence {
        switch self {
        case .or: .disjunction
        case .and: .conjunction
        case .comparison, .text, .isIn, .between: .comparison
        case .arithmetic(let operation): operation.formatPower
        }
    }
}

extension ArithmeticOperator {
    fileprivate var formatPower: FormatPrecedence {
        switch self {
        case .bitwiseOr: .bitwiseOr
        case .bitwiseXor: .bitwiseXor
        case .bitwiseAnd: .bitwiseAnd
        case .shiftLeft, .shiftRight: .shift
        case .add, .subtract: .sum
        case .multiply, .divide, .remainder: .product
        case .power: .power
        }
    }
}
