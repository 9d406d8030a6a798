import CoreDataSource
import Foundation
import ManagedModel
import RowStore

/// An entity with an attribute of every type, and few but nasty values for each.
enum QuerySamples {
    static let model = model(withParts: false)

    /// - Parameter withParts: Whether there is a sub-entity, `Part`.
    private static func model(withParts: Bool) -> ManagedObjectModel {
        let types: [(String, AttributeType)] = [
            ("short", .integer16), ("long", .integer64), ("ratio", .double), ("half", .float), ("price", .decimal),
            ("name", .string), ("other", .string), ("flag", .boolean), ("day", .date), ("blob", .binary),
            ("uuid", .uuid), ("site", .uri), ("thing", .transformable),
        ]
        let attributes = types.map { AttributeDescription(name: $0.0, type: $0.1, isOptional: true) }
        let place = AttributeDescription(name: "place", type: .composite, isOptional: true, compositeName: "Place")
        let sample = EntityDescription(
            name: "Sample", attributes: attributes + [place],
            relationships: [
                RelationshipDescription(name: "parent", destinationName: "Sample", isOptional: true),
                RelationshipDescription(
                    name: "children", destinationName: "Sample", isToMany: true, isOptional: true),
            ])
        let part = EntityDescription(name: "Part", parentName: "Sample")
        return ManagedObjectModel(
            name: "Samples", entities: withParts ? [sample, part] : [sample],
            composites: [
                CompositeDescription(
                    name: "Place",
                    attributes: [AttributeDescription(name: "city", type: .string, isOptional: true)])
            ])
    }

    static let layout = ModelLayout(model)
    static let layoutWithParts = ModelLayout(model(withParts: true))
    static let sample = layout.entities[0]

    static let texts: [String] = [
        "", "a", "A", "ab", "aB", "e\u{301}", "\u{e9}", "É", "ß", "SS", "ss", "İ", "i", "ı", "I", "i\u{307}", "%", "_",
        "a%b",
        "'", "\"", "\\", "a\0b", "a\0", "👩‍👩‍👧", "👩", "file9", "file10", "file 010", "Ω", "ω", "\u{2126}", "a\r\nb", "*",
        "?",
        "12", "-3.5", "\u{10FFFF}", "\u{D7FF}", "ẞ", "ς", "σ", "中文", "각", "ᄀ",
    ]

    static let values: [String: [FetchValue]] = [
        "short": [.integer(-32768), .integer(0), .integer(1), .integer(7), .integer(32767)],
        "long": [
            .integer(.min), .integer(-1), .integer(0), .integer(1), .integer(9_007_199_254_740_993), .integer(.max),
            .integer(.max - 1),
        ],
        "ratio": [
            .double(-.infinity), .double(-1.5), .double(0), .double(1), .double(0.1), .double(9_007_199_254_740_992),
            .double(1e300), .double(0x1p63), .double(.infinity), .double(.leastNonzeroMagnitude),
        ],
        "half": [.double(0.5), .double(Double(Float(0.1))), .double(-7)],
        "price": ["0", "-10.5", "9", "10", "0.1", "12345678901234567890.123456789", "1", "9007199254740993"].map {
            .decimal(Decimal(string: $0) ?? 0)
        },
        "name": texts.map { .text($0) },
        "other": texts.map { .text($0) },
        "place.city": texts.map { .text($0) },
        "flag": [.boolean(true), .boolean(false)],
        "day": [.date(Date(timeIntervalSinceReferenceDate: 0)), .date(Date(timeIntervalSinceReferenceDate: -0.125))],
        "blob": [[], [0], [0, 1], [255], Array("a".utf8)].map { .data(Data($0)) },
        "uuid": (0..<3).compactMap { UUID(uuidString: "00000000-0000-0000-0000-00000000000\($0)").map { .uuid($0) } },
        "site": ["https://a.example/?q=%25", "x:y", "about:blank"].compactMap { URL(string: $0).map { .url($0) } },
        "thing": [.data(Data("{}".utf8)), .data(Data("[1]".utf8))],
        "parent": (0..<4).map { .objectID(entityName: "Sample", key: $0) },
    ]

    static let numbers = ["short", "long", "ratio", "half", "price", "flag"]
    static let strings = ["name", "other", "place.city"]
    static let names = values.keys.sorted()

    static func row(_ random: inout SeededRandom) -> RowSnapshot {
        var row = RowSnapshot(columnCount: sample.columns.count)
        for name in names where Int.random(in: 0..<5, using: &random) > 0 {
            guard let column = sample.column(named: name), let value = values[name]?.randomElement(using: &random)
            else { continue }
            row.setValue(stored(value), column)
        }
        return row
    }

    static func stored(_ value: FetchValue) -> RowValue {
        switch value {
        case .null: .null
        case .boolean(let value): value.storedValue.value
        case .integer(let value), .objectID(_, let value): .integer(value)
        case .double(let value): .real(value)
        case .decimal(let value): value.storedValue.value
        case .text(let value): .text(value)
        case .date(let value): value.storedValue.value
        case .data(let value): value.storedValue.value
        case .uuid(let value): value.storedValue.value
        case .url(let value): value.storedValue.value
        case .stored(let value): value.value
        }
    }
}

/// A sample as an object.
class SampleEntity: ManagedObject {
    override class var entityName: String { "Sample" }

    override class var attributeKeyPaths: [AnyKeyPath: String] {
        [
            \SampleEntity.name: "name", \SampleEntity.long: "long", \SampleEntity.short: "short",
            \SampleEntity.price: "price",
        ]
    }

    var name: String? {
        get { attribute(at: column("name")) }
        set { setAttribute(newValue, at: column("name")) }
    }

    var long: Int64? {
        get { attribute(at: column("long")) }
        set { setAttribute(newValue, at: column("long")) }
    }

    var short: Int16? { attribute(at: column("short")) }
    var price: Decimal? { attribute(at: column("price")) }

    private func column(_ name: String) -> Int { QuerySamples.sample.column(named: name) ?? 0 }

    func set(_ value: FetchValue, _ column: Int) {
        switch value {
        case .null: setNil(at: column)
        case .boolean(let value): setAttribute(value, at: column)
        case .integer(let value), .objectID(_, let value): setAttribute(value, at: column)
        case .double(let value): setAttribute(value, at: column)
        case .decimal(let value): setAttribute(value, at: column)
        case .text(let value): setAttribute(value, at: column)
        case .date(let value): setAttribute(value, at: column)
        case .data(let value): setAttribute(value, at: column)
        case .uuid(let value): setAttribute(value, at: column)
        case .url(let value): setAttribute(value, at: column)
        case .stored: break
        }
    }
}

final class PartEntity: SampleEntity {
    override class var entityName: String { "Part" }
}

final class SampleDataSource: DataSource {
    override class var entities: [ManagedObject.Type] { [SampleEntity.self] }
}

final class SampleAndPartDataSource: DataSource {
    override class var entities: [ManagedObject.Type] { [SampleEntity.self, PartEntity.self] }
}

/// Random predicates over the samples. All of them mean something.
struct PredicateSource {
    var random: SeededRandom

    private mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &random) }
    private mutating func pick<Element>(_ elements: [Element]) -> Element { elements[below(elements.count)] }

    private mutating func path(_ names: [String]) -> FetchExpression {
        .keyPath(pick(names).split(separator: ".").map(String.init))
    }

    private mutating func options() -> TextOptions { TextOptions(rawValue: below(2) == 0 ? 0 : below(32)) }
    private mutating func relation() -> ComparisonOperator {
        pick([.equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual])
    }

    private mutating func constant(_ names: [String]) -> FetchExpression {
        if below(8) == 0 { return .constant(.null) }
        return .constant(pick(QuerySamples.values[pick(names)] ?? [.null]))
    }

    private mutating func number(_ depth: Int) -> FetchExpression {
        switch below(depth > 0 ? 10 : 4) {
        case 0, 1: return path(QuerySamples.numbers)
        case 2: return constant(QuerySamples.numbers)
        case 3: return .constant(pick([.double(.nan), .double(1.5), .integer(3), .double(-0x1p63), .decimal(0.5)]))
        case 4, 5:
            return .arithmetic(
                number(depth - 1), pick([.add, .subtract, .multiply, .divide, .remainder, .power]), number(depth - 1))
        case 6: return .function(pick([.abs, .floor, .ceiling, .trunc, .sqrt]), [number(depth - 1)])
        case 7:
            return .function(
                pick([.sum, .min, .max, .average, .count]), (0..<below(4)).map { _ in number(depth - 1) })
        case 8: return .conditional(node(depth - 1), number(depth - 1), number(depth - 1))
        default:
            return below(2) == 0
                ? .coalesce(number(depth - 1), number(depth - 1))
                : .cast(below(2) == 0 ? number(depth - 1) : text(depth - 1), pick([.integer64, .double, .decimal]))
        }
    }

    private mutating func text(_ depth: Int) -> FetchExpression {
        switch below(depth > 0 ? 7 : 4) {
        case 0...2: return path(QuerySamples.strings)
        case 3: return constant(QuerySamples.strings)
        case 4: return .function(pick([.uppercase, .lowercase, .canonical]), [text(depth - 1)])
        case 5: return .coalesce(text(depth - 1), text(depth - 1))
        default: return .cast(number(depth - 1), .string)
        }
    }

    private mutating func comparison() -> FetchPredicate.Node {
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

    mutating func node(_ depth: Int) -> FetchPredicate.Node {
        switch below(depth > 0 ? 14 : 9) {
        case 0...3: return comparison()
        case 4: return .text(text(1), pick([.contains, .beginsWith, .endsWith, .like]), text(1), options())
        case 5:
            let patterns = ["a.*", "[a-z]+\\d*", "(?i)ss", "", ".", "\\w+"]
            return .text(path(QuerySamples.strings), .matches, .constant(.text(pick(patterns))), options())
        case 6:
            let name = pick(QuerySamples.names)
            let count = below(10) == 0 ? 40 : below(5)
            return .isIn(path([name]), .list((0..<count).map { _ in constant([name]) }), options())
        case 7: return .between(number(1), number(1), number(1), [])
        case 8:
            let ids = (0..<below(4)).map { _ in
                FetchExpression.constant(.objectID(entityName: "Sample", key: Int64(below(40))))
            }
            return .isIn(.object, .list(ids), [])
        case 9, 10: return .not(node(depth - 1))
        default:
            let parts = (0..<below(4)).map { _ in node(depth - 1) }
            return below(2) == 0 ? .and(parts) : .or(parts)
        }
    }

    mutating func sort() -> [SortKey] {
        (0..<below(4)).map { _ in
            let names = QuerySamples.names.filter { $0 != "thing" && $0 != "parent" }
            let column = QuerySamples.sample.column(named: pick(names)) ?? 0
            let orders: [TextOrder] = [
                .bytes, .folded(TextOrder.SortOptions(rawValue: below(8))), PredicateSource.reversed,
            ]
            let isText =
                QuerySamples.sample.columns[column].storage == .text
                && QuerySamples.sample.columns[column].attribute?.type != .decimal
            return SortKey(column: column, isAscending: below(2) == 0, order: isText ? pick(orders) : .bytes)
        }
    }

    private static let reversed = TextOrder.collation(
        TextCollation { one, other in
            let (one, other) = (String(one.reversed()), String(other.reversed()))
            return one < other ? -1 : one > other ? 1 : 0
        })
}
