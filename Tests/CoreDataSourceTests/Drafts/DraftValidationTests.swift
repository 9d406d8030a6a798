import CoreDataSource
import ErrorExpectations
import TestSupport
import Testing

/// Errors that are known before a save.
@MainActor @Suite struct DraftValidationTests {
    @Test func rulesOfAttributesAreCheckedAsOneTypes() async throws {
        let container = try await PersistentContainer(model: .allTypes, store: .inMemory)
        let source = try container.dataSource(PlainDataSource<Bounded, EveryType>.self)
        let draft = try source.draft(inserting: Bounded.self)
        draft.object.count = 101
        #expect(draft.errors(of: draft.object, \.count).map(\.code) == [.validationFailed])
        #expect(draft.errors(of: draft.object, \.code).isEmpty)
        expectError(.validationFailed) { try draft.validate() }
        draft.object.count = 100
        #expect(draft.errors(of: draft.object, \.count).isEmpty)
    }

    @Test func requiredLinksAndUniqueValuesAreChecked() async throws {
        try await withGraph { container, source in
            try await source.perform { _ = try $0.person("a") }
            let draft = try source.draft(inserting: Person.self)
            draft.object.key = "a"
            #expect(draft.errors(of: draft.object, \.key).map(\.code) == [.uniquenessViolated])
            draft.object.key = "b"
            #expect(draft.errors(of: draft.object).isEmpty)
            let passport = try draft.context.insert(Passport.self)
            #expect(Set(draft.errors(of: passport).map(\.attributeName)) == ["key", "holder"])
            let error = expectError(.validationFailed) { try draft.validate() }
            #expect(error?.failures.count == 2)
            passport.key = "p"
            passport.holder = draft.object
            #expect(draft.errors(of: passport, \.holder).isEmpty)
            try draft.validate()
            for key in ["1", "2", "3", "4"] {
                let cat = try draft.context.insert(Cat.self)
                cat.key = key
                draft.object.animals.insert(cat)
            }
            #expect(draft.errors(of: draft.object, \.animals).map(\.code) == [.validationFailed])
            try await source.perform { _ = try $0.person("b") }
            #expect(draft.errors(of: draft.object, \.key).map(\.code) == [.uniquenessViolated])
            #expect(try container.main.count(Passport.self) == 0)
        }
    }
}
