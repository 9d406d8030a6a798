import CoreDataSource
import ErrorExpectations
import Foundation
import Testing

@MainActor
struct ValidationTests {
    private func failure(_ edit: @escaping @Sendable (Bounded) -> Void) async throws -> DataSourceError? {
        let container = try await PersistentContainer(model: .allTypes, store: .inMemory)
        let source = try container.dataSource(PlainDataSource<Bounded, EveryType>.self)
        do {
            try await source.perform { edit(try $0.insert(Bounded.self)) }
            #expect(try container.main.count(Bounded.self) == 1)
            return nil
        } catch let error as DataSourceError {
            #expect(try container.main.count(Bounded.self) == 0)
            return error
        }
    }

    @Test func aRowWithinTheRulesIsSaved() async throws {
        #expect(
            try await failure {
                $0.code = "AB12"
                $0.count = 100
                $0.day = Date(timeIntervalSinceReferenceDate: 86_400)
                $0.ratio = 1
            } == nil)
    }

    @Test(arguments: [
        ("count", -1 as Int16), ("count", 101),
    ])
    func aNumberOutsideItsRangeIsRefused(attribute: String, value: Int16) async throws {
        let error = try await failure { $0.count = value }
        #expect(error?.code == .validationFailed)
        #expect(error?.attributeName == attribute)
    }

    /// In a list of thousands of values one wants to know which.
    @Test func theObjectAndTheBoundAreNamed() async throws {
        let container = try await PersistentContainer(model: .allTypes, store: .inMemory)
        let source = try container.dataSource(PlainDataSource<Bounded, EveryType>.self)
        let new = await expectError(.validationFailed) {
            try await source.perform { context in
                for count: Int16 in [1, 101, 3, -2] { try context.insert(Bounded.self).count = count }
            }
        }
        #expect(new?.failures.map(\.objectIndex) == [1, 3])
        #expect(new?.failures.first?.message.contains("100, the maximum") == true)
        #expect(new?.failures.last?.message.hasSuffix("The object is new object 4 of Bounded in this save.") == true)
        let id = try await source.perform { try $0.insert(Bounded.self).objectID }
        let stored = await expectError(.validationFailed) {
            try await source.perform { context in try context.object(Bounded.self, id: id)?.count = 200 }
        }
        #expect(stored?.objectIndex == nil)
        #expect(stored?.message.hasSuffix("The object is \(id).") == true)
    }

    @Test func lengthsAndPatternsAreChecked() async throws {
        #expect(try await failure { $0.code = "A" }?.message.contains("1 instead of at least 2") == true)
        #expect(try await failure { $0.code = "ABCDEFGHI" }?.message.contains("9 instead of at most 8") == true)
        #expect(try await failure { $0.code = "AB12x" }?.message.contains("pattern") == true)
    }

    /// The first alternative matches a part of the text, and a later one all of it.
    @Test(arguments: [("AB", true), ("ABC", true), ("ABCD", false), ("ABC\n", false)])
    func aPatternMatchesTheWholeString(code: String, isAllowed: Bool) async throws {
        var model = ManagedObjectModel.allTypes
        let entity = try #require(model.entities.firstIndex { $0.name == "Bounded" })
        let attribute = try #require(model.entities[entity].attributes.firstIndex { $0.name == "code" })
        model.entities[entity].attributes[attribute].pattern = "AB|ABC"
        let container = try await PersistentContainer(model: model, store: .inMemory)
        let source = try container.dataSource(PlainDataSource<Bounded, EveryType>.self)
        _ = try? await source.perform { try $0.insert(Bounded.self).code = code }
        #expect(try container.main.count(Bounded.self) == (isAllowed ? 1 : 0))
    }

    /// It would check nothing.
    @Test func aPatternThatIsNoRegularExpressionIsRefusedWithTheModel() async throws {
        var model = ManagedObjectModel.allTypes
        let entity = try #require(model.entities.firstIndex { $0.name == "Bounded" })
        let attribute = try #require(model.entities[entity].attributes.firstIndex { $0.name == "code" })
        model.entities[entity].attributes[attribute].pattern = "[A-Z"
        let error = await expectError(.unreadableModel) {
            try await PersistentContainer(model: model, store: .inMemory)
        }
        #expect(error?.message.contains("[A-Z of Bounded.code") == true)
    }

    @Test func decimalsAndDatesAreChecked() async throws {
        #expect(try await failure { $0.amount = 99.96 }?.attributeName == "amount")
        #expect(try await failure { $0.day = Date(timeIntervalSinceReferenceDate: -1) }?.attributeName == "day")
    }

    @Test func notANumberIsRefusedBeforeTheSave() async throws {
        #expect(try await failure { $0.ratio = .nan }?.attributeName == "ratio")
    }

    /// A class that is written by hand can set a column to a wider type than its own.
    @Test func anIntegerOutsideTheRangeOfItsTypeIsRefused() async throws {
        let column = try #require(
            ManagedObjectModel.allTypes.entity(named: "Bounded").map(ManagedObjectModel.allTypes.columns)?
                .firstIndex { $0.name == "count" })
        let error = try await failure { $0.setAttribute(Int64(65_536 + 5), at: column) }
        #expect(error?.message.contains("Integer 16") == true)
    }

    @Test func aDecimalThatIsNoNumberIsRefused() async throws {
        #expect(try await failure { $0.amount = .nan }?.attributeName == "amount")
    }

    @Test func aRequiredValueMustBeSet() async throws {
        let container = try await PersistentContainer(model: .allTypes, store: .inMemory)
        let source = try container.dataSource(PlainDataSource<Bounded, EveryType>.self)
        let error = await expectError(.validationFailed) {
            try await source.perform { _ = try $0.insert(EveryType.self) }
        }
        #expect(
            Set(error?.failures.compactMap(\.attributeName) ?? []) == ["binaryRequired", "uriRequired", "uuidRequired"])
    }

    @Test func aMessageNeverHoldsTheValue() async throws {
        let error = try await failure { $0.code = "secret value that is far too long" }
        #expect(error.map { "\($0)".contains("secret") } == false)
    }
}
