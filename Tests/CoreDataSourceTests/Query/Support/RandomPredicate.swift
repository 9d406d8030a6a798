import CoreDataSource
import Foundation
import ManagedModel
import QueryLanguage
import RowStore
import TestSupport

/// Random trees of everything that a format can say.
struct RandomPredicate {
    var random: SeededRandom

    mutating func node(depth: Int = 4) -> PredicateTree.Node {
        switch depth > 0 ? Int.random(in: 0..<11, using: &random) : 0 {
        case 1:
            .formatText(
                value(depth - 1), pick([.contains, .beginsWith, .endsWith, .like, .matches]), with: value(depth - 1),
                options: options())
        case 2: .isIn(value(depth - 1), value(depth - 1), options())
        case 3: .between(value(depth - 1), value(depth - 1), value(depth - 1), options())
        case 4: .quantified(pick([.any, .all, .none]), node(depth: depth - 1))
        case 5: .not(node(depth: depth - 1))
        case 6, 7: .and(nodes(depth - 1))
        case 8, 9: .or(nodes(depth - 1))
        case 10: .constant(Bool.random(using: &random))
        default:
            .compare(
                value(depth - 1), pick([.equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual]),
                value(depth - 1), options())
        }
    }

    private mutating func nodes(_ depth: Int) -> [PredicateTree.Node] {
        (0..<Int.random(in: 2...4, using: &random)).map { _ in node(depth: depth) }
    }

    private mutating func value(_ depth: Int) -> FetchExpression {
        switch depth > 0 ? Int.random(in: 0..<12, using: &random) : Int.random(in: 0..<4, using: &random) {
        case 0, 1: .keyPath((0..<Int.random(in: 1...3, using: &random)).map { _ in key() })
        case 2: .constant(constant())
        case 3: pick([.object, .variable(word()), .variable("in"), .constant(.null)])
        case 4: .list((0..<Int.random(in: 0...4, using: &random)).map { _ in value(depth - 1) })
        case 5:
            .arithmetic(
                value(depth - 1), pick(ArithmeticOperator.allCases), value(depth - 1))
        case 6: .negated(value(depth - 1))
        case 7: .conditional(node(depth: depth - 1), value(depth - 1), value(depth - 1))
        case 8: .coalesce(value(depth - 1), value(depth - 1))
        case 9: .cast(value(depth - 1), AttributeType.allCases.randomElement(using: &random) ?? .string)
        case 10: subquery(depth)
        default: function(depth)
        }
    }

    private mutating func subquery(_ depth: Int) -> FetchExpression {
        let objects = FetchExpression.keyPath([key(), key()])
        let name = word()
        let path = FetchExpression.path(.variable(name), [key()])
        let test = PredicateTree.Node.compare(path, pick([.equal, .less]), value(depth - 1), [])
        let subquery = FetchExpression.subquery(
            objects, variable: name, Bool.random(using: &random) ? test : node(depth: depth - 1))
        return .path(subquery, pick([["@count"], ["@sum", key()], ["@max", key()], [key(), "@min"]]))
    }

    private mutating func function(_ depth: Int) -> FetchExpression {
        let function = FetchFunction.allCases.randomElement(using: &random) ?? .now
        return .function(function, function == .now ? [] : [value(depth - 1)])
    }

    private mutating func constant() -> FetchValue {
        let bits = random.next()
        let number = Double(bitPattern: bits)
        return pick([
            .null, .boolean(bits & 1 == 0), .integer(Int64(bitPattern: bits)), .integer(pick([0, -1, .min, .max])),
            .double(number.isNaN ? 0.1 : number), .double(pick([.nan, .infinity, -.infinity, -0.0, 1e300, 5])),
            .decimal(Decimal(Int64(bitPattern: bits)) / pick([1, 1000, 1_000_000_000_000])),
            .date(Date(timeIntervalSinceReferenceDate: pick([number.isNaN ? 0 : number, 0, -1.25, .infinity]))),
            .text(text()), .data(Data((0..<bits % 9).map { UInt8(truncatingIfNeeded: bits >> $0) })),
            .uuid(UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, UInt8(truncatingIfNeeded: bits)))),
            .url(URL(string: "https://example.org/\(bits)?q=%22a%22#b") ?? URL(filePath: "/")),
            .objectID(entityName: text(), key: Int64(bitPattern: bits)), .stored(StoredValue(.text(text()))),
            .stored(StoredValue(.integer(Int64(bitPattern: bits)))),
            .stored(StoredValue(.real(pick([1, 2.5, .infinity])))),
            .stored(StoredValue(.blob([1, 2, 0xFF]))),
        ])
    }

    private mutating func options() -> StringOptions {
        StringOptions(rawValue: Bool.random(using: &random) ? 0 : Int.random(in: 0..<32, using: &random))
    }

    private mutating func key() -> String {
        Bool.random(using: &random) ? word() : text()
    }

    private mutating func word() -> String {
        pick(["name", "Age", "_x1", "in", "AND", "self", "été", "名前", "size", "first", "cast"])
    }

    private mutating func text() -> String {
        let scalars: [Character] = [
            "a", "'", "\"", "\\", "\0", "\n", "\t", "%", "@", "#", "$", "é", "\u{301}", "😀", " ", ".", "\u{7F}",
        ]
        return String((0..<Int.random(in: 0...6, using: &random)).map { _ in pick(scalars) })
    }

    private mutating func pick<Value>(_ values: [Value]) -> Value {
        values[Int.random(in: 0..<values.count, using: &random)]
    }
}
