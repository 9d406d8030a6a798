import CoreDataSource
import Foundation
import ManagedModel
import QueryLanguage
import RowStore
import TestSupport

/// Random predicates over the samples. All of them mean something.
struct PredicateSource {
    var random: SeededRandom

    private mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &random) }
    private mutating func pick<Element>(_ elements: [Element]) -> Element { elements[below(elements.count)] }

    private mutating func path(_ names: [String]) -> FetchExpression {
        .keyPath(pick(names).split(separator: ".").map(String.init))
    }

    private mutating func options() -> StringOptions { StringOptions(rawValue: below(2) == 0 ? 0 : below(32)) }
    private mutating func relation() -> ComparisonOperator {
        pick([.equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual])
    }

    private mutating func constant(_ names: [String]) -> FetchExpression {
        if below(8) == 0 { return .constant(.null) }
        return .constant(pick(QuerySamples.values[pick(names)] ?? [.null]))
    }

    private mutating func number(_ depth: Int) -> FetchExpression {
        switch below(depth > 0 ? 18 : 4) {
        case 0, 1: return path(QuerySamples.numbers)
        case 2: return constant(QuerySamples.numbers)
        case 3: return .constant(pick([.double(.nan), .double(1.5), .integer(3), .double(-0x1p63), .decimal(0.5)]))
        case 4, 5:
            return .arithmetic(
                number(depth - 1), pick([.add, .subtract, .multiply, .divide, .remainder, .power]), number(depth - 1))
        case 6: return .function(pick([.abs, .floor, .ceiling, .trunc, .sqrt]), [number(depth - 1)])
        case 7:
            return .function(
                pick([.sum, .min, .max, .average, .count, .median, .mode, .stddev]),
                (0..<below(5)).map { _ in number(depth - 1) })
        case 8: return .conditional(node(depth - 1), number(depth - 1), number(depth - 1))
        case 9: return .coalesce(number(depth - 1), number(depth - 1))
        case 10: return .function(.length, [below(3) == 0 ? path(["blob"]) : text(depth - 1)])
        case 11: return .negated(number(depth - 1))
        case 12: return .arithmetic(path(["day"]), .subtract, constant(["day"]))
        case 13...15: return integer(depth)
        case 16: return .function(pick([.ln, .log, .exp]), [number(depth - 1)])
        default:
            let inner = pick([path(["day"]), number(depth - 1), text(depth - 1)])
            return .cast(inner, pick([.integer16, .integer32, .integer64, .float, .double, .decimal]))
        }
    }

    /// What has bits.
    private mutating func integer(_ depth: Int) -> FetchExpression {
        switch below(depth > 0 ? 8 : 4) {
        case 0, 1: return path(["short", "long", "flag", "name.length", "blob.length"])
        case 2: return constant(["short", "long", "flag"])
        case 3: return .constant(.integer(pick([-1, 0, 1, 5, 62, 63, 64, 65, -64, .min, .max])))
        case 4: return .function(.onesComplement, [integer(depth - 1)])
        case 5: return .cast(number(depth - 1), .integer64)
        default:
            let operators = ArithmeticOperator.allCases.filter(\.isBitwise)
            return .arithmetic(integer(depth - 1), pick(operators), integer(depth - 1))
        }
    }

    private mutating func text(_ depth: Int) -> FetchExpression {
        switch below(depth > 0 ? 9 : 4) {
        case 0...2: return path(QuerySamples.strings)
        case 3: return constant(QuerySamples.strings)
        case 4: return .function(pick([.uppercase, .lowercase, .canonical]), [text(depth - 1)])
        case 5: return .coalesce(text(depth - 1), text(depth - 1))
        case 6: return .conditional(node(depth - 1), text(depth - 1), text(depth - 1))
        case 7: return .cast(path(["day", "uuid", "flag", "site", "short"]), .string)
        default: return .cast(number(depth - 1), .string)
        }
    }

    private mutating func comparison() -> PredicateTree.Node {
        switch below(5) {
        case 0: return .compare(number(2), relation(), number(2), [])
        case 1: return .compare(text(2), relation(), text(2), options())
        case 2:
            let name = pick(["short", "long", "ratio", "half", "price"])
            return .compare(path([name]), relation(), constant(QuerySamples.numbers), [])
        default:
            let name = pick(QuerySamples.names)
            let isEquality = name == "thing" || name == "parent"
            let relation = isEquality ? pick([.equal, .notEqual]) : relation()
            return below(2) == 0
                ? .compare(path([name]), relation, constant([name]), [])
                : .compare(constant([name]), relation, path([name]), [])
        }
    }

    mutating func node(_ depth: Int) -> PredicateTree.Node {
        switch below(depth > 0 ? 18 : 13) {
        case 0...3: return comparison()
        case 4: return .text(text(1), pick([.contains, .beginsWith, .endsWith, .like]), text(1), options())
        case 5:
            let patterns = [
                "a.*", "[a-z]+\\d*", "(?i)ss", "", ".", "\\w+", "(?s).*\\x00.*", "\\X", "^a$", "[^a]*",
            ]
            return .text(text(2), .matches, .constant(.text(pick(patterns))), options())
        case 6:
            let patterns = ["*", "?", "??", "*a*", "?*", "\\*", "*\u{301}", "e*", "a?b", "*\0", "", "*a?*b"]
            return .text(text(2), .like, .constant(.text(pick(patterns))), options())
        case 7:
            let name = pick(QuerySamples.names)
            let count = below(10) == 0 ? 40 : below(5)
            return .isIn(path([name]), .list((0..<count).map { _ in constant([name]) }), options())
        case 8:
            let items = (0..<below(5)).map { _ in number(1) }
            return .isIn(number(1), .list(items), [])
        case 9:
            let items = (0..<below(5)).map { _ in text(1) }
            return .isIn(text(1), below(4) == 0 ? text(1) : .list(items), options())
        case 10: return .between(number(1), number(1), number(1), [])
        case 11:
            let day = FetchExpression.arithmetic(path(["day"]), pick([.add, .subtract]), number(1))
            return .compare(day, relation(), below(2) == 0 ? path(["day"]) : constant(["day"]), [])
        case 12:
            let ids = (0..<below(4)).map { _ in
                FetchExpression.constant(.objectID(entityName: "Sample", key: Int64(below(40))))
            }
            return .isIn(.object, .list(ids), [])
        case 13: return .between(text(1), text(1), text(1), options())
        case 14, 15: return .not(node(depth - 1))
        default:
            let parts = (0..<below(4)).map { _ in node(depth - 1) }
            return below(2) == 0 ? .and(parts) : .or(parts)
        }
    }

    mutating func sort() -> [SortKey] {
        (0..<below(4)).map { _ in
            let names = QuerySamples.names.filter { $0 != "thing" && $0 != "parent" }
            let column = QuerySamples.sample.column(named: pick(names)) ?? 0
            let orders: [StringOrder] = [
                .bytes, .folded(StringSorting(rawValue: below(8))), PredicateSource.reversed,
            ]
            let isText =
                QuerySamples.sample.columns[column].storage == .text
                && QuerySamples.sample.columns[column].attribute?.type != .decimal
            return SortKey(column: column, isAscending: below(2) == 0, order: isText ? pick(orders) : .bytes)
        }
    }

    private static let reversed = StringOrder.collation(
        StringCollation { lhs, rhs in
            let (lhs, rhs) = (String(lhs.reversed()), String(rhs.reversed()))
            return lhs < rhs ? -1 : lhs > rhs ? 1 : 0
        })
}
