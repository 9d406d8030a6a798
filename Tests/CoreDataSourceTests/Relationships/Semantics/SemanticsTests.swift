import CoreDataSource
import ErrorExpectations
import ManagedModel
import TestSupport
import Testing

/// One fact of Core Data's about relationships, and what shows that it is true here, or what is true instead.
///
/// The numbers are those of the lines of `coredata-semantics.md`, the collection of facts that the design refers to.
struct SemanticsCase: CustomTestStringConvertible, Sendable {
    typealias Check = @MainActor @Sendable (PersistentContainer, GraphDataSource) async throws -> Void

    let line: Int
    let claim: String
    /// What is different in the model.
    let model: @Sendable (inout ManagedObjectModel) -> Void
    let check: Check

    init(
        _ line: Int, _ claim: String, model: @escaping @Sendable (inout ManagedObjectModel) -> Void = { _ in },
        check: @escaping Check
    ) {
        (self.line, self.claim, self.model, self.check) = (line, claim, model, check)
    }

    var testDescription: String { "line \(line): \(claim)" }

    static let all = deleteRules + inverses + faulting + storage
}

/// Each fact is true of both stores.
@MainActor @Suite struct SemanticsTests {
    @Test(arguments: SemanticsCase.all) func relationshipsBehaveAsInCoreData(_ fact: SemanticsCase) async throws {
        var model = ManagedObjectModel.graph
        fact.model(&model)
        let directory = try TemporaryDirectory()
        for location in [StoreLocation.sqlite(directory.store), .inMemory] {
            let container = try await PersistentContainer(model: model, store: location)
            try await fact.check(container, try container.dataSource(GraphDataSource.self))
            try await container.close()
        }
    }

    @Test func eachFactIsThereOnce() {
        #expect(Set(SemanticsCase.all.map(\.claim)).count == SemanticsCase.all.count)
    }
}

extension ManagedObjectModel {
    /// Changes one relationship.
    mutating func change(
        _ entity: String, _ relationship: String, _ body: (inout RelationshipDescription) -> Void
    ) {
        guard let place = entities.firstIndex(where: { $0.name == entity }),
            let index = entities[place].relationships.firstIndex(where: { $0.name == relationship })
        else {
            Issue.record("no relationship \(entity).\(relationship)")
            return
        }
        body(&entities[place].relationships[index])
    }
}

extension GraphDataSource {
    /// The edits are refused for that relationship, and nothing of them is left.
    func expectRefusal(
        _ code: DataSourceError.Code, _ entity: String, _ relationship: String,
        _ edits: @escaping @Sendable (PrivateContext) throws -> Void
    ) async throws {
        let before = try await perform { try GraphReference($0) }
        let error = await expectError(code) { try await self.perform { try edits($0) } }
        #expect(error?.entityName == entity && error?.attributeName == relationship, "\(String(describing: error))")
        let after = try await perform { try GraphReference($0) }
        #expect(after == before)
    }
}
