import CoreDataSource
import Foundation
import ManagedModel
import QueryLanguage
import RowStore
import TestSupport

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

    static let texts: [String] =
        plainTexts + foldedTexts + numberTexts

    private static let plainTexts = [
        "", "a", "A", "ab", "aB", "%", "_", "a%b", "'", "\"", "\\", "*", "?", "[a]", "^", "$", "a.b", "x:y", "\0",
        "a\0", "a\0\0",
        "a\0b", "\r", "\n", "\r\n", "a\r\nb", "👩‍👩‍👧", "👩", "中文", "\u{1F1E6}\u{1F1E7}", "\u{1F1E7}", "\u{1F1E6}",
        "\u{200D}",
        "\u{378}", "\u{7FF}", "\u{800}", "\u{D7FF}", "\u{E000}", "\u{FEFF}a", "\u{FFFD}", "\u{FFFF}", "\u{10FFFF}",
        "https://a.example/?q=%25",
    ]

    /// Texts of which some are equal without case or marks, or as Swift compares them.
    private static let foldedTexts = [
        "e\u{301}", "\u{e9}", "É", "\u{301}", "e" + String(repeating: "\u{301}", count: 40), "ß", "ẞ", "SS", "ss", "ſ",
        "İ", "i",
        "ı", "I", "i\u{307}", "K", "\u{212A}", "k", "Å", "\u{212B}", "a\u{30A}", "Ω", "ω", "\u{2126}", "ς", "σ", "ﬁ",
        "fi", "FI",
        "ŉ", "ʼn", "ǆ", "ǅ", "Ǆ", "\u{390}", "\u{1FD3}", "\u{1FB3}\u{301}", "\u{1FB4}", "α\u{345}\u{301}",
        "a\u{301}\u{323}",
        "a\u{323}\u{301}", "\u{1EA1}\u{301}", "\u{E1}\u{323}", "각", "ᄀ", "가", "\u{1100}\u{1161}",
        "\u{1100}\u{1161}\u{11A8}",
    ]

    private static let numberTexts = [
        "file9", "file10", "file 010", "file0", "file00", "file00000000000000000000000000000010", "12", "-3.5",
        "9999999999999999999999", "1e5", "0x10", " 12", "12 ", "+5", "-0", "nan", "inf", ".5", "5.", "1,5", "٣",
    ]

    private static let doubles: [Double] = [
        -.infinity, -0x1p63, -1.5, -.leastNonzeroMagnitude, -0.0, 0, .leastNonzeroMagnitude, 1e-300, 0.1, 0.1.nextUp, 1,
        1.0.nextUp, 9_007_199_254_740_992, 9_007_199_254_740_994, 0x1p62, 0x1p63, 12_345_678_901_234_567_168, 1e22,
        1e300,
        .greatestFiniteMagnitude, .infinity,
    ]

    private static let floats: [Float] = [0, 0.5, 0.1, -7, .leastNonzeroMagnitude, .greatestFiniteMagnitude, .infinity]

    private static let decimals = [
        "0", "-10.5", "9", "10", "0.1", "-0.1", "1", "0.00000001", "1e-127", "9007199254740993", "9223372036854775807",
        "9223372036854775808", "-9223372036854775808.5", "12345678901234567890.123456789", "1e22", "1e100", "1e127",
        "-1e127",
        "99999999999999999999999999999999999999", "340282366920938463463374607431768211455",
        "0.1000000000000000055511151231257827",
    ]

    private static let dates: [Date] =
        [
            .distantPast, .distantFuture,
        ] + [-.infinity, -0.125, 0, 1, 1e300].map { Date(timeIntervalSinceReferenceDate: $0) }

    static let values: [String: [FetchValue]] = [
        "short": [.integer(-32768), .integer(0), .integer(1), .integer(7), .integer(32767)],
        "long": [
            .integer(.min), .integer(-1), .integer(0), .integer(1), .integer(9_007_199_254_740_993), .integer(.max),
            .integer(.max - 1),
        ],
        "ratio": doubles.map { .double($0) },
        "half": floats.map { .double(Double($0)) },
        "price": decimals.map { .decimal(Decimal(string: $0) ?? 0) },
        "name": texts.map { .text($0) },
        "other": texts.map { .text($0) },
        "place.city": texts.map { .text($0) },
        "flag": [.boolean(true), .boolean(false)],
        "day": dates.map { .date($0) },
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
        case .text(let value), .digits(let value): .text(value)
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
        case .digits, .stored: break
        }
    }
}

final class PartEntity: SampleEntity {
    override class var entityName: String { "Part" }
}
