import ErrorExpectations
import Foundation
import RowStore
import StoreTestModel
import Testing

/// What opening a custom store does to its rows.
struct StoreOptionsTests {
    private func options(
        _ identity: StoreIdentity = TestModel.identity(), _ policy: ResetPolicy = .standard, isReadOnly: Bool = false
    ) -> StoreOptions {
        StoreOptions(layout: TestModel.layout, identity: identity, resetPolicy: policy, isReadOnly: isReadOnly)
    }

    /// As a store keeps it between two openings.
    private func stored(_ identity: StoreIdentity = TestModel.identity(), firstFreeKey: Int64 = 9) throws
        -> StoreMetadata
    {
        var metadata = try options(identity).plan(for: nil).metadata
        metadata.firstFreeKey = firstFreeKey
        return try JSONDecoder().decode(StoreMetadata.self, from: JSONEncoder().encode(metadata))
    }

    private var keyed: StoreIdentity {
        var identity = TestModel.identity()
        identity.entityKeys = ["Item": "2"]
        return identity
    }

    @Test func aNewStoreIsTheFirstLaunch() throws {
        let plan = try options().plan(for: nil)
        #expect(plan.startup(rowsDropped: 0) == StoreStartup(reason: .firstLaunch))
        #expect(!plan.keepsRows)
        #expect(plan.metadata.firstFreeKey == 1)
    }

    @Test func metadataComesBackAsItWasStored() throws {
        for identity in [TestModel.identity(), TestModel.identity(key: ""), keyed] {
            let metadata = try stored(identity)
            let plan = try options(identity).plan(for: metadata)
            #expect(plan.metadata == metadata)
            #expect(plan.keepsRows && plan.droppedEntities.isEmpty)
            #expect(plan.startup(rowsDropped: 0) == StoreStartup(reason: .current))
        }
    }

    @Test func metadataThatIsIncompleteOrNewerIsAnError() {
        func read(_ text: String) -> DataSourceError.Code? {
            code { _ = try JSONDecoder().decode(StoreMetadata.self, from: Data(text.utf8)) }
        }
        #expect(read("{}") == .storeCorrupt)
        #expect(read("{\"format\": 99}") == .newerFormat)
    }

    @Test(arguments: [ResetPolicy.standard, .discard, .changedEntities, .migrate, .migrate(otherwise: .standard)])
    func aChangedKeyDropsAllRowsAndKeepsTheBoundForKeys(policy: ResetPolicy) throws {
        let plan = try options(TestModel.identity(key: "2"), policy).plan(for: stored())
        #expect(!plan.keepsRows)
        #expect(plan.startup(rowsDropped: 3) == StoreStartup(reason: .databaseKeyChanged, rowsDropped: 3))
        #expect(plan.metadata.firstFreeKey == 9)
        #expect(try options(TestModel.identity(key: "2"), .fail).plan(for: plan.metadata).reason == .current)
    }

    @Test(arguments: [ResetPolicy.standard, .discard, .changedEntities, .migrate])
    func aChangedKeyOfADataSourceDropsItsRowsOnly(policy: ResetPolicy) throws {
        let plan = try options(keyed, policy).plan(for: stored())
        #expect(plan.keepsRows)
        #expect(plan.droppedEntities == ["Item"])
        #expect(plan.startup(rowsDropped: 3).entitiesReset == ["Item"])
        #expect(plan.metadata.firstFreeKey == 9)
        #expect(try options(keyed, .fail).plan(for: plan.metadata).reason == .current)
    }

    @Test func aChangedModelDropsAllRowsIfThePolicyAllowsIt() throws {
        let next = TestModel.identity("next")
        let policies = [(ResetPolicy.discard, false), (.changedEntities, true), (.migrate(otherwise: .discard), true)]
        for (policy, hasFallback) in policies {
            let plan = try options(next, policy).plan(for: stored())
            #expect(!plan.keepsRows)
            #expect(plan.reason == .modelChanged(entities: ["Item"]))
            #expect((plan.startup(rowsDropped: 1).fallback != nil) == hasFallback)
        }
    }

    /// No backup can be made, so the rows stay.
    @Test(arguments: [ResetPolicy.standard, .fail, .migrate, .migrate(otherwise: .fail)])
    func aChangedModelIsAnErrorIfThePolicyKeepsTheRows(policy: ResetPolicy) throws {
        let metadata = try stored()
        #expect(code { _ = try options(TestModel.identity("next"), policy).plan(for: metadata) } == .modelChanged)
    }

    @Test func theErrorSaysWhyTheRowsAreNotKeptAsThePolicyWants() throws {
        let metadata = try stored()
        for (policy, words) in [
            (ResetPolicy.standard, " store cannot make backups. "),
            (.migrate, " store can neither carry its rows over nor make backups. "),
        ] {
            let error = expectError(.modelChanged) {
                try options(TestModel.identity("next"), policy).plan(for: metadata)
            }
            #expect(error?.message.contains(words) == true, "\(error as Any)")
            #expect(error?.cause == "the model changed: Item")
        }
    }

    @Test func backupsCannotBeAskedFor() throws {
        for metadata in try [nil, stored()] {
            for policy in [ResetPolicy.backup(keep: 1), .migrate(otherwise: .backup(keep: 1))] {
                #expect(code { _ = try options(policy: policy).plan(for: metadata) } == .invalidRequest)
            }
        }
    }

    private func options(policy: ResetPolicy) -> StoreOptions { options(TestModel.identity(), policy) }

    @Test func aReadOnlyStoreHasToBeTheRightOne() throws {
        let metadata = try stored()
        #expect(try options(isReadOnly: true).plan(for: metadata).reason == .current)
        #expect(code { _ = try options(isReadOnly: true).plan(for: nil) } == .storeNotFound)
        for identity in [TestModel.identity(key: "2"), TestModel.identity("next"), keyed] {
            let options = options(identity, .discard, isReadOnly: true)
            #expect(code { _ = try options.plan(for: metadata) } == .modelChanged)
        }
    }
}
