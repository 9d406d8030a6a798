import CoreDataSource
import ErrorExpectations
import Testing

/// Hooks that a data source does not have.
@MainActor
struct HookTests {
    private func expectMissing(_ hook: String, _ body: () async throws -> Void) async {
        let error = await expectError(.hookNotOverridden) { try await body() }
        #expect(error?.message.contains("does not override \(hook).") == true)
    }

    @Test func aHookThatIsNotOverriddenThrowsAndNothingIsSaved() async throws {
        try await withContainer { container, _ in
            let silent = try container.dataSource(SilentDataSource.self)
            await expectMissing("onAdd(_:in:)") { try await silent.add(["a"]) }
            await expectMissing("onAdd(_:in:)") { try await silent.sync(["a"], entity: ContactEntity.self) }
            await expectMissing("onDelete(_:in:)") { try await silent.delete("a") }
            #expect(try silent.count(ContactEntity.self) == 0)
            // It goes on.
            try await silent.perform { try $0.insert(ContactEntity.self).uid = "b" }
            #expect(try silent.count(ContactEntity.self) == 1)
        }
    }

    @Test func aKeyedSourceMustSayWhatAValueMeans() async throws {
        try await withContainer { container, _ in
            let silent = try container.dataSource(SilentKeyedDataSource.self)
            await expectMissing("update(_:from:in:)") { try await silent.add(ContactData(uid: "a", name: "b")) }
            #expect(try silent.count(ContactEntity.self) == 0)
        }
    }
}

private final class SilentDataSource: DataSource<String> {
    override class var entities: [ManagedObject.Type] { [ContactEntity.self] }
}

private final class SilentKeyedDataSource: KeyedDataSource<ContactData, ContactEntity> {
    override class var key: ObjectKey<ContactData, ContactEntity> { ObjectKey(\.uid, \.uid) }
}
