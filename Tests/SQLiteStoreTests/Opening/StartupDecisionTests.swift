import ErrorExpectations
import RowStore
import SQLiteStore
import StoreTestModel
import Testing

struct StartupDecisionTests {
    private static let metadata = StoreMetadata(
        identity: TestModel.identity(), storeID: "store", firstFreeKey: 9)

    @Test func noTablesMeanANewStore() throws {
        #expect(try StartupDecision(.nothing, TestModel.identity(), .fail) == .create)
    }

    @Test func equalIdentitiesGoOn() throws {
        let decision = try StartupDecision(
            .metadata(StartupDecisionTests.metadata.rows), TestModel.identity(), .fail)
        #expect(decision == .proceed(StartupDecisionTests.metadata))
    }

    @Test func theEntitiesThatDifferAreNamed() throws {
        var wanted = TestModel.identity("other")
        wanted.entityHashes = ["Item": "hash", "New": "1"]
        let decision = try StartupDecision(.metadata(StartupDecisionTests.metadata.rows), wanted, .discard)
        #expect(decision == .reset(.modelChanged(entities: ["New", "SubItem"])))
    }

    @Test func unreadableMetadataIsNeverReset() {
        for policy in [ResetPolicy.discard, .fail] {
            let identity = TestModel.identity("other", key: "other")
            #expect(code { _ = try StartupDecision(.foreignTables, identity, policy) } == .foreignDatabase)
            #expect(code { _ = try StartupDecision(.metadata([:]), identity, policy) } == .storeCorrupt)
            for name in ["format", "modelHash", "databaseKey", "storeID", "firstFreeKey"] {
                for value in [nil, RowValue.null, .real(1), .blob([]), .integer(-1)] {
                    var rows = StartupDecisionTests.metadata.rows
                    rows[name] = value
                    #expect(code { _ = try StartupDecision(.metadata(rows), identity, policy) } == .storeCorrupt)
                }
            }
            var rows = StartupDecisionTests.metadata.rows
            rows["format"] = .integer(3)
            #expect(code { _ = try StartupDecision(.metadata(rows), identity, policy) } == .newerFormat)
        }
    }

    @Test func theFailPolicyThrowsModelChanged() {
        let rows = StartupDecisionTests.metadata.rows
        for identity in [TestModel.identity("other"), TestModel.identity(key: "2")] {
            #expect(code { _ = try StartupDecision(.metadata(rows), identity, .fail) } == .modelChanged)
        }
    }

    private func refusal(
        _ wanted: StoreIdentity, _ policy: ResetPolicy, obstacle: String? = nil
    ) throws -> DataSourceError {
        try requireThrows(DataSourceError.self) {
            _ = try StartupDecision(
                .metadata(StartupDecisionTests.metadata.rows), wanted, policy, obstacle: obstacle)
        }
    }

    @Test func theRefusalNamesWhatDiffersAndNoPolicyThatIsInUse() throws {
        var keyed = TestModel.identity("other")
        keyed.entityKeys = ["Item": "7"]
        let refused = try refusal(keyed, .migrate(otherwise: .fail))
        #expect(refused.message.contains("another model and another key of a data source"))
        #expect(!refused.message.contains(".migrate") && !refused.message.contains("database key"))
        #expect(try refusal(TestModel.identity(key: "2"), .fail).message.contains("for another database key."))
        #expect(try refusal(keyed, .fail).message.contains(".migrate(otherwise:)"))
    }

    @Test func theObstacleComesFirstAndNamesAreFew() throws {
        var wanted = TestModel.identity("other")
        for number in 100..<190 { wanted.entityHashes["Entity\(number)"] = "1" }
        let refused = try refusal(wanted, .fail, obstacle: "Item.code: the type changed.")
        #expect(refused.message.contains("its rows cannot be carried over, for the reason in `cause`"))
        #expect(!refused.message.contains(".migrate"))
        let cause = try #require(refused.cause)
        #expect(cause.hasPrefix("Item.code: the type changed.; the model changed: Entity100, "))
        #expect(cause.hasSuffix(" others") && cause.utf8.count < 200, "\(cause)")
    }

    @Test func theFailPolicyNamesMigrationOnlyWhereItHelps() {
        let rows = StartupDecisionTests.metadata.rows
        for (identity, helps) in [(TestModel.identity("other"), true), (TestModel.identity(key: "2"), false)] {
            let error = expectThrows(DataSourceError.self) {
                _ = try StartupDecision(.metadata(rows), identity, .fail)
            }
            #expect(error?.message.contains(".migrate") == helps)
        }
    }

    @Test func onlyTheEntitiesThatDifferAreReset() throws {
        var wanted = TestModel.identity("other")
        wanted.entityHashes = ["Item": "hash", "SubItem": "another"]
        let metadata = StartupDecisionTests.metadata
        #expect(
            try StartupDecision(.metadata(metadata.rows), wanted, .changedEntities)
                == .resetEntities(["SubItem"], .modelChanged(entities: ["SubItem"]), metadata))
    }

    /// A fallback is said, and is never anything but the whole.
    @Test func aResetOfChangedEntitiesIsCompleteIfNoneCanStay() throws {
        let rows = StartupDecisionTests.metadata.rows
        var wanted = TestModel.identity("other")
        wanted.entityHashes = ["Item": "1", "SubItem": "2", "New": "3"]
        #expect(
            try StartupDecision(.metadata(rows), wanted, .changedEntities)
                == .reset(.modelChanged(entities: ["Item", "New", "SubItem"]), fallback: "Every entity changed."))
        wanted.entityHashes = TestModel.identity().entityHashes
        guard
            case .reset(.modelChanged(entities: []), .some) = try StartupDecision(
                .metadata(rows), wanted, .changedEntities)
        else {
            Issue.record("A model whose entities do not differ must be reset as a whole.")
            return
        }
        #expect(
            try StartupDecision(.metadata(rows), TestModel.identity(key: "2"), .changedEntities)
                == .reset(.databaseKeyChanged))
    }

    @Test(arguments: [ResetPolicy.discard, .backup(keep: 1), .changedEntities])
    func theKeyOfADataSourceIsAboutItsEntities(policy: ResetPolicy) throws {
        let metadata = StartupDecisionTests.metadata
        var wanted = TestModel.identity()
        wanted.entityKeys = ["SubItem": "7"]
        #expect(
            try StartupDecision(.metadata(metadata.rows), wanted, policy)
                == .resetEntities(["SubItem"], .sourceKeysChanged(entities: ["SubItem"]), metadata))
        var stored = metadata
        stored.identity.entityKeys = ["SubItem": "7"]
        #expect(try StartupDecision(.metadata(stored.rows), wanted, policy) == .proceed(stored))
    }

    @Test func aPolicyWithoutRoomForABackupDiscards() {
        #expect(ResetPolicy.backup(keep: 0) == .discard)
        #expect(ResetPolicy.backup(keep: 2) != .backup(keep: 3))
    }
}
