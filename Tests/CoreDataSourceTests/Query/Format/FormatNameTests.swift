import CoreDataSource
import Foundation
import Testing

/// A format is checked against the properties that its class declares, when the predicate is made.
@Suite struct FormatNameTests {
    @Test(arguments: [
        ("nmae == 'x'", "nmae"), ("age > 1 AND (name == 'x' OR NOT nothing == 2)", "nothing"),
        ("group.nmae == 'x'", "nmae"), ("name == unquoted", "unquoted"),
        ("TERNARY(nothing == 1, 1, 2) == age", "nothing"),
    ])
    func aNameThatTheClassDoesNotDeclareIsRefused(_ format: String, _ name: String) throws {
        let error = try #require(
            expectError(.unknownAttribute) { try FetchPredicate<ContactEntity>(format: format) })
        #expect(error.message.contains("\"\(name)\""), "\(error.message)")
        #expect(error.attributeName == name)
    }

    @Test(arguments: [
        ("ANY messages.sizes > 1", "sizes"), ("owner.nothing == 1", "nothing"),
        ("messages.@max.size > nothing", "nothing"),
        ("SUBQUERY(messages, $m, $m.sizes > 1).@count > 0", "sizes"),
        ("SUBQUERY(messages, $m, $m.thread.tilte == title).@count > 0", "tilte"),
        ("SUBQUERY(messages, $m, SUBQUERY($m.thread.messages, $n, $n.sizes > 1).@count > 0).@count > 0", "sizes"),
    ])
    func namesBeyondRelationshipsAreChecked(_ format: String, _ name: String) throws {
        let error = try #require(expectError(.unknownAttribute) { try FetchPredicate<MailThread>(format: format) })
        #expect(error.message.contains("\"\(name)\""), "\(error.message)")
    }

    @Test func namesOfTheClassAreAccepted() throws {
        for format in [
            "name == 'x' AND group.name == 'y'", "name.length > 3", "SELF == nil", "$AGE < age",
            "group.members.@count > 1",
            "SUBQUERY(group.members, $m, $m.age > age).@count > 0", "%K == 1",
        ] {
            _ = try FetchPredicate<ContactEntity>(format: format, arguments: format.hasPrefix("%K") ? ["age"] : [])
        }
        _ = try FetchPredicate<MailThread>(format: "messages.@max.date > %@ AND ANY messages.size > 3", Date())
    }

    /// The class tells nothing, so the fetch checks the names with the model.
    @Test func aClassThatDeclaresNothingIsNotChecked() throws {
        _ = try FetchPredicate<ManagedObject>(format: "anything == 1")
    }

    @MainActor @Test func anOrderByAComputedPropertyNamesItsPlace() async throws {
        try await withContainer { container, _ in
            let line = UInt(#line) + 1
            let order = FetchOrder<ContactEntity>.descending(\.isDeleted)
            let error = try #require(
                expectError(.unknownAttribute) { try container.main.fetch(ContactEntity.self, order: [order]) })
            #expect(error.message.contains("FormatNameTests.swift, line \(line)"), "\(error.message)")
        }
    }
}
