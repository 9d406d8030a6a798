import ErrorExpectations
import Foundation
import ManagedModel
import ModelMigration
import RowStore
import SQLiteStore
import StoreTestModel
import Testing

/// Numbers become those of a wider type, or stay where they are and are named.
struct WideningTests {
    private static let exactDoubleLimit: Int64 = 1 << 53

    /// The edges of each type's range. Those of Integer 64 are split by whether a Double holds them.
    private static let integers: [AttributeType: [Int64]] = [
        .integer16: [-32_768, -1, 0, 1, 32_767],
        .integer32: [-2_147_483_648, -32_769, 0, 32_768, 16_777_217, 2_147_483_647],
        .integer64: [
            .min, -exactDoubleLimit, -1, 0, 1, exactDoubleLimit - 1, exactDoubleLimit, exactDoubleLimit + 2, 1 << 62,
        ],
    ]
    private static let inexact: [Int64] = [
        .max, .max - 1, .min + 1, exactDoubleLimit + 1, -exactDoubleLimit - 1, (1 << 60) + 1,
    ]
    private static let floats: [Float] = [
        0.1, -0.0, 0, .pi, .greatestFiniteMagnitude, -.greatestFiniteMagnitude, .leastNormalMagnitude,
        .leastNonzeroMagnitude, -.leastNonzeroMagnitude, .infinity, 16_777_216,
    ]

    struct Pair: Sendable, CustomTestStringConvertible {
        let old: AttributeType
        let new: AttributeType
        var testDescription: String { "\(old.rawValue) -> \(new.rawValue)" }

        static let all = numberTypes.flatMap { old in
            numberTypes.filter { $0 != old }.map { Pair(old: old, new: $0) }
        }
        static let wider = all.filter { isWider($0) }
        static let others = all.filter { !isWider($0) }

        private static let numberTypes: [AttributeType] = [
            .integer16, .integer32, .integer64, .decimal, .double, .float, .boolean, .date,
        ]

        private static func isWider(_ pair: Pair) -> Bool {
            switch pair.old {
            case .integer16: [.integer32, .integer64, .decimal, .double, .float].contains(pair.new)
            case .integer32: [.integer64, .decimal, .double].contains(pair.new)
            case .integer64: [.decimal, .double].contains(pair.new)
            case .float: pair.new == .double
            default: false
            }
        }
    }

    private static func model(
        _ type: AttributeType, isOptional: Bool = true, default value: AttributeValue? = nil,
        unique constraints: [[String]] = []
    ) -> ManagedObjectModel {
        ManagedObjectModel(
            name: "",
            entities: [
                EntityDescription(
                    name: "Account",
                    attributes: [
                        AttributeDescription(name: "balance", type: type, isOptional: isOptional, defaultValue: value),
                        AttributeDescription(name: "code", type: .string, isOptional: true),
                    ], uniquenessConstraints: constraints)
            ])
    }

    private func store(_ model: ManagedObjectModel, _ values: [RowValue]) throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore.open(.of(model, folder))
        let rows = values.enumerated().map { number, value in
            var row = RowSnapshot(columnCount: 2)
            row.setValue(value, 0)
            return StoredRow(key: Int64(number) + 1, row: row)
        }
        try store.write([.of(0, insert: rows)])
        store.close()
        return folder
    }

    /// The balances in the order of their keys, as an app with the model reads them.
    private func balances(_ folder: TemporaryFolder, _ model: ManagedObjectModel) throws -> [RowValue] {
        let store = try SQLiteStore.open(.of(model, folder, .fail))
        defer { store.close() }
        let storage = ModelLayout(model).entities[0].columns[0].storage
        return try store.rows(RowQuery(entity: 0, sort: [])).sorted { $0.key < $1.key }.map { $0.row.value(0, storage) }
    }

    private static func values(_ type: AttributeType) -> [RowValue] {
        [.null] + (integers[type] ?? []).map { .integer($0) } + (type == .float ? floats.map { .real(Double($0)) } : [])
    }

    // MARK: Exact values

    @Test(arguments: Pair.wider) func everyExactNumberKeepsItsValueInAWiderType(_ pair: Pair) throws {
        let values = WideningTests.values(pair.old)
        let folder = try store(WideningTests.model(pair.old), values)
        let before = try balances(folder, WideningTests.model(pair.old))
        let new = WideningTests.model(pair.new)
        let startup = try migrate(folder, new).startup
        #expect(startup.fallback == nil && startup.rowsDropped == 0)
        #expect(startup.migration?.rowsCarried == values.count)
        #expect(startup.migration?.changes == ["Account.balance: \(pair.testDescription)"])
        let after = try balances(folder, new)
        #expect(after.count == values.count)
        for (old, new) in zip(before, after) {
            switch (old, new) {
            case (.null, .null): break
            case (.integer(let old), .integer(let new)): #expect(old == new)
            case (.integer(let old), .real(let new)): #expect(Int64(exactly: new) == old)
            case (.integer(let old), .text(let new)): #expect(new == Decimal(old).description)
            case (.real(let old), .real(let new)): #expect(old.bitPattern == new.bitPattern)
            default: Issue.record("\(old) became \(new)")
            }
        }
    }

    @Test func everyInteger64IsExactAsADecimal() throws {
        let folder = try store(WideningTests.model(.integer64), WideningTests.inexact.map { .integer($0) })
        let new = WideningTests.model(.decimal)
        #expect(try migrate(folder, new).startup.fallback == nil)
        #expect(try balances(folder, new) == WideningTests.inexact.map { .text(String($0)) })
    }

    /// The table stays where both types are stored in the same way.
    @Test func rowsAreNotCopiedWhereNothingIsConverted() throws {
        for (old, new) in [(AttributeType.integer16, AttributeType.integer64), (.float, .double)] {
            let folder = try store(WideningTests.model(old), [.null])
            let page = try RawDatabase(folder.store).run("SELECT rootpage FROM sqlite_schema WHERE name = 'Account'")
            let raw = try migrate(folder, WideningTests.model(new)).raw
            #expect(try raw.run("SELECT rootpage FROM sqlite_schema WHERE name = 'Account'") == page)
        }
    }

    @Test func aMissingValueGetsTheDefaultOfTheWiderType() throws {
        for (type, value) in [
            (AttributeType.decimal, RowValue.text("7")), (.double, .real(7)), (.integer64, .integer(7)),
        ] {
            let folder = try store(WideningTests.model(.integer32), [.integer(3), .null])
            let new = WideningTests.model(type, isOptional: false, default: .integer(7))
            #expect(try migrate(folder, new).startup.fallback == nil)
            #expect(try balances(folder, new)[1] == value)
        }
    }

    @Test func aLeafOfACompositeIsWidenedToo() throws {
        func model(_ type: AttributeType) -> ManagedObjectModel {
            var model = WideningTests.model(.integer64)
            model.composites = [
                CompositeDescription(name: "Money", attributes: [AttributeDescription(name: "amount", type: type)])
            ]
            model.edit("Account") {
                $0.attributes[0] = AttributeDescription(name: "balance", type: .composite, compositeName: "Money")
            }
            return model
        }
        let folder = try store(model(.integer32), [.integer(12)])
        #expect(try migrate(folder, model(.decimal)).raw.run("SELECT quote([balance.amount]) FROM Account") == ["'12'"])
    }

    // MARK: Values that are in the way

    @Test(arguments: inexact) func anInexactNumberIsNamedAndNothingIsChanged(_ number: Int64) throws {
        let folder = try store(WideningTests.model(.integer64), [.integer(1), .integer(number), .null])
        let before = folder.contents()
        let new = WideningTests.model(.double)
        let sentence =
            "Account.balance: Double cannot hold the value \(number) of the object with the key 2. Keep the type "
            + "Integer 64, or use Decimal."
        let error = expectError(.modelChanged) {
            try SQLiteStore.open(.of(new, folder, .migrate(otherwise: .fail)))
        }
        #expect(error?.cause?.contains(sentence) == true)
        #expect(folder.contents() == before)
        #expect(try SQLiteStore.migrationForecast(.of(new, folder)) == .impossible(sentence))
        #expect(try migrate(folder, new).startup.fallback == sentence)
    }

    @Test func theFirstOfSeveralNumbersIsNamedAndTheRestAreCounted() throws {
        let folder = try store(
            WideningTests.model(.integer64), WideningTests.inexact.map { .integer($0) } + [.integer(2)])
        #expect(
            try migrate(folder, WideningTests.model(.double)).startup.fallback?.hasPrefix(
                "Account.balance: Double cannot hold the value \(Int64.max) of the object with the key 1, one of 6.")
                == true)
    }

    @Test(arguments: Pair.others) func aTypeThatIsNotWiderFallsBack(_ pair: Pair) throws {
        let folder = try store(WideningTests.model(pair.old), [.null])
        #expect(
            try migrate(folder, WideningTests.model(pair.new)).startup.fallback?.hasPrefix(
                "Account.balance: \(pair.testDescription) cannot be carried over.") == true)
    }

    /// Another program can store anything anywhere.
    @Test func aValueThatIsNoNumberPreventsAMigrationAndIsNotRepeated() throws {
        for (old, new) in [(AttributeType.integer16, AttributeType.decimal), (.integer64, .double)] {
            let folder = try store(WideningTests.model(old), [.integer(1)])
            try RawDatabase(folder.store).run("INSERT INTO Account (_key, balance) VALUES (9, 'secret'), (10, 1.5)")
            let fallback = try migrate(folder, WideningTests.model(new)).startup.fallback
            #expect(
                fallback?.contains(
                    "cannot hold a value that is not a whole number of the object with the key 9, one of 2.") == true)
            #expect(fallback?.contains("secret") == false)
        }
        let folder = try store(WideningTests.model(.integer16), [.integer(1)])
        try RawDatabase(folder.store).run("INSERT INTO Account (_key, balance) VALUES (9, \(Int64.max))")
        #expect(
            try migrate(folder, WideningTests.model(.float)).startup.fallback?.contains("the value \(Int64.max)")
                == true)
    }

    // MARK: Constraints

    @Test(arguments: [AttributeType.decimal, .double]) func uniqueValuesStayUnique(_ type: AttributeType) throws {
        let unique = [["balance"], ["balance", "code"]]
        let old = WideningTests.model(.integer64, unique: unique)
        let new = WideningTests.model(type, unique: unique)
        #expect(MigrationPlan(from: old, to: new).conditions.allSatisfy { $0.kind.isAboutNumbers })
        let folder = try store(old, (0..<50).map { .integer($0) })
        let raw = try migrate(folder, new).raw
        #expect(try raw.run("SELECT count(DISTINCT balance) FROM Account") == ["50"])
        expectThrows(RawDatabase.Failure.self) {
            try raw.run("INSERT INTO Account (balance) SELECT balance FROM Account LIMIT 1")
        }
    }

    @Test func aNewConstraintIsCheckedAmongTheWidenedNumbers() throws {
        let new = WideningTests.model(.decimal, unique: [["balance"]])
        let folder = try store(WideningTests.model(.integer64), [.integer(4), .integer(4)])
        #expect(
            try migrate(folder, new).startup.fallback?.hasPrefix("Account: objects have the same balance") == true)
        let fitting = try store(WideningTests.model(.integer64), [.integer(4), .integer(5), .null, .null])
        #expect(try migrate(fitting, new).startup.fallback == nil)
    }
}

extension MigrationCondition.Kind {
    fileprivate var isAboutNumbers: Bool {
        if case .isExact = self { true } else { false }
    }
}
