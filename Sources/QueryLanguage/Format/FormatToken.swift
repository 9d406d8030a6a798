internal import Foundation

/// A token of a format string, with its position.
struct FormatToken {
    enum Kind: Equatable {
        case word(String)
        /// `#word`: a key, whatever the word would mean otherwise.
        case key(String)
        case keyword(FormatKeyword)
        case symbol(FormatSymbol)
        case text(String)
        /// The digits of a whole number, without a sign.
        case integer(UInt64)
        case double(Double)
        /// A whole number that is too large for an integer.
        case decimal(Decimal)
        /// `$NAME`.
        case variable(String)
        case argument(FormatArgument)
        case end
    }

    var kind: Kind
    /// In bytes of UTF-8, from the start of the format.
    var range: Range<Int>
}

/// A placeholder for an argument of the format.
enum FormatArgument: Equatable {
    /// `%@`.
    case value
    /// `%K`.
    case keyPath
    /// `%d` and its like.
    case integer
    /// `%f` and its like.
    case double
}

/// The words that are not keys, unless a `#` stands before them. They are read in any case.
enum FormatKeyword: String, CaseIterable {
    case and = "AND"
    case or = "OR"
    case not = "NOT"
    case any = "ANY"
    case some = "SOME"
    case all = "ALL"
    case none = "NONE"
    case isIn = "IN"
    case between = "BETWEEN"
    case contains = "CONTAINS"
    case beginsWith = "BEGINSWITH"
    case endsWith = "ENDSWITH"
    case like = "LIKE"
    case matches = "MATCHES"
    case object = "SELF"
    case null = "NULL"
    case `nil` = "NIL"
    case `true` = "TRUE"
    case yes = "YES"
    case `false` = "FALSE"
    case no = "NO"
    case truePredicate = "TRUEPREDICATE"
    case falsePredicate = "FALSEPREDICATE"
    case subquery = "SUBQUERY"
    case anyKey = "ANYKEY"

    /// The keyword that the word is, if it is one.
    init?(word: String) {
        guard word.utf8.count <= 14, let keyword = Self.byName[word.uppercased()] else { return nil }
        self = keyword
    }

    private static let byName = Dictionary(uniqueKeysWithValues: allCases.map { ($0.rawValue, $0) })
}

enum FormatSymbol: String {
    case equal = "=="
    case notEqual = "!="
    case less = "<"
    case lessOrEqual = "<="
    case greater = ">"
    case greaterOrEqual = ">="
    case and = "&&"
    case or = "||"
    case not = "!"
    case plus = "+"
    case minus = "-"
    case times = "*"
    case power = "**"
    case over = "/"
    case remainder = "%"
    case bitwiseAnd = "&"
    case bitwiseOr = "|"
    case bitwiseXor = "^"
    case onesComplement = "~"
    case shiftLeft = "<<"
    case shiftRight = ">>"
    case leftParenthesis = "("
    case rightParenthesis = ")"
    case leftBrace = "{"
    case rightBrace = "}"
    case leftBracket = "["
    case rightBracket = "]"
    case comma = ","
    case dot = "."
    case colon = ":"
}
