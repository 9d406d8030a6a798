import CoreDataSource
import Dispatch
import ErrorExpectations
import Foundation
import RowStore
import SQLiteStore
import Testing

/// Who may write in a store that others write too.
@MainActor
struct LeaseTests {
    @Test(arguments: SharedPlace.Kind.all)
    func aLeaseIsKeptAndHandedOver(kind: SharedPlace.Kind) async throws {
        try await kind.withTwo { one, other in
            #expect(try one.leases.isEmpty)
            let contacts = try one.dataSource(ContactDataSource.self)
            try await contacts.add(contactList(0..<1))
            var lease = try #require(try one.leases.first)
            #expect(lease.dataSourceName == "ContactDataSource")
            #expect(lease.entities.contains("ContactEntity"))
            #expect(lease.isHeldHere)
            #expect(lease.holder.hasPrefix("process \(getpid()) ("))
            #expect(try other.leases.first?.isHeldHere == false)
            try await other.dataSource(ContactDataSource.self).add(contactList(0..<1))
            lease = try #require(try other.leases.first)
            #expect(lease.isHeldHere)
            #expect(try one.leases.first?.isHeldHere == false)
        }
    }

    /// A batch of several data sources takes all leases with one call. The second container gets them by a ticket.
    @Test(arguments: SharedPlace.Kind.all)
    func eachLeaseNamesTheOwnerOfItsEntity(kind: SharedPlace.Kind) async throws {
        try await kind.withTwo { one, other in
            for container in [one, other] {
                let contacts = try container.dataSource(ContactDataSource.self)
                let groups = try container.dataSource(GroupDataSource.self)
                try await container.perform(in: groups, contacts) { groups, contacts in
                    try groups.findOrInsert(GroupEntity.self, where: \.gid, equals: "g").name += "."
                    try contacts.findOrInsert(ContactEntity.self, where: \.uid, equals: "c").name += "."
                }
                for name in ["Contact", "Group"] {
                    let lease = try #require(try one.leases.first { $0.entities.contains("\(name)Entity") })
                    #expect(lease.dataSourceName == "\(name)DataSource")
                    #expect(lease.isHeldHere == (container === one))
                }
            }
        }
    }

    @Test(arguments: SharedPlace.Kind.all)
    func closingFreesTheLeasesOfSeveralDataSources(kind: SharedPlace.Kind) async throws {
        let place = try SharedPlace(kind)
        let (one, other) = (try place.open(), try place.open())
        let contacts = try one.dataSource(ContactDataSource.self)
        let groups = try one.dataSource(GroupDataSource.self)
        try await one.perform(in: groups, contacts) { groups, _ in
            let group = try groups.insert(GroupEntity.self)
            (group.gid, group.name) = ("g", "group")
        }
        #expect(try !other.leases.isEmpty)
        try await one.close()
        #expect(try other.leases.isEmpty)
        try await other.close()
    }

    @Test(arguments: SharedPlace.Kind.all)
    func aContainerThatIsAloneAsksOnce(kind: SharedPlace.Kind) async throws {
        try await kind.withTwo { one, _ in
            let contacts = try one.dataSource(ContactDataSource.self)
            try await contacts.add(contactList(0..<1))
            let version = try #require(try one.stack.root.store.sharing?.leases().version)
            for step in 1..<20 { try await contacts.add(contactList(step..<step + 1)) }
            #expect(try one.stack.root.store.sharing?.leases().version == version)
        }
    }

    @Test(arguments: SharedPlace.Kind.all)
    func differentDataSourcesAreWrittenSideBySide(kind: SharedPlace.Kind) async throws {
        try await kind.withTwo(times: .short) { one, other in
            let contacts = try one.dataSource(ContactDataSource.self)
            let groups = try other.dataSource(GroupDataSource.self)
            try await contacts.perform { context in
                _ = try context.insert(ContactEntity.self)
                _ = try waitHere { try await groups.add([GroupData(gid: "g", name: "group")]) }
                context.rollback()
            }
            #expect(try other.leases.count == 2)
        }
    }

    @Test(arguments: SharedPlace.Kind.all)
    func theErrorAfterALongWaitNamesTheHolder(kind: SharedPlace.Kind) async throws {
        try await kind.withTwo(times: .short) { one, other in
            let mine = try one.dataSource(ContactDataSource.self)
            let theirs = try other.dataSource(ContactDataSource.self)
            let code = try await mine.perform { _ in
                let error = try waitHere { () async throws -> DataSourceError? in
                    do {
                        try await theirs.add(contactList(0..<1))
                        return nil
                    } catch {
                        return error as? DataSourceError
                    }
                }
                #expect(error?.message.contains("process \(getpid()) (") ?? false)
                return error?.code
            }
            #expect(code == .leaseUnavailable)
            // Nothing of it is left, and nobody waits any more.
            #expect(try one.leases.allSatisfy { $0.waiting.isEmpty })
            #expect(try await theirs.add(contactList(0..<1)) == SaveReport(inserted: 1))
        }
    }

    /// While the server is down, the last known holder may have ended, so the error does not name it.
    @Test func aWaitWhoseChecksFailThrowsTheErrorOfTheStore() async throws {
        let directory = try TemporaryDirectory()
        var options = SQLiteStore.Options.contacts(directory.store, isShared: true)
        options.leaseTimes = .short
        let store = FaultyStore(over: try SQLiteStore.open(options))
        let waiting = PersistentContainer(
            ModelLayout(.contacts), store, startup: StoreStartup(reason: .firstLaunch))
        let holder = try PersistentContainer.shared(directory.store)
        let theirs = try waiting.dataSource(ContactDataSource.self)
        store.failLeaseChecks(with: DataSourceError(.storeUnavailable, "The server is away."))
        let code = try await holder.dataSource(ContactDataSource.self).perform { _ in
            try waitHere { () async throws -> DataSourceError.Code? in
                do {
                    try await theirs.add(contactList(0..<1))
                    return nil
                } catch {
                    return (error as? DataSourceError)?.code
                }
            }
        }
        #expect(code == .storeUnavailable)
        store.failLeaseChecks(with: nil)
        try await waiting.close()
        try await holder.close()
    }

    /// The process that waits knows who makes it wait; the one that holds the lease learns it here.
    @Test(arguments: SharedPlace.Kind.all)
    func aBatchThatOthersWaitForIsReportedOnce(kind: SharedPlace.Kind) async throws {
        let place = try SharedPlace(kind)
        let one = try place.open(times: .impatient)
        let other = try place.open()
        let mine = try one.dataSource(ContactDataSource.self)
        let theirs = try other.dataSource(ContactDataSource.self)
        let failures = one.failures
        let waiting = try await mine.perform { _ in
            let waiting = Task.detached { try await theirs.add(contactList(0..<1)) }
            let first = try waitHere { await nextLongBatch(failures) }
            #expect(first?.dataSourceName == "ContactDataSource")
            #expect(first?.error.code == .batchHoldsLease)
            #expect(first?.description.contains("A batch of ContactDataSource has run for ") ?? false)
            return waiting
        }
        #expect(try await waiting.value == SaveReport(inserted: 1))
        try await one.close()
        try await other.close()
        #expect(await nextLongBatch(failures)?.description == nil)
    }

    /// The holder of a lease does not answer for so long that another one takes it.
    @Test(arguments: SharedPlace.Kind.all)
    func savesUnderALostLeaseAreRefused(kind: SharedPlace.Kind) async throws {
        try await kind.withTwo(times: .stopped, .impatient) { one, other in
            let mine = try one.dataSource(ContactDataSource.self)
            let theirs = try other.dataSource(ContactDataSource.self)
            try await mine.add(contactList(0..<3))
            await expectError(.leaseLost) {
                try await mine.perform { context in
                    for contact in try context.fetch(ContactEntity.self) { contact.name = "mine" }
                    _ = try waitHere { try await theirs.add(contactList(0..<3) { "theirs \($0)" }) }
                }
            }
            let names = try mine.fetch(ContactEntity.self, order: [.ascending(\.uid)]).map(\.name)
            #expect(names == ["theirs 0", "theirs 1", "theirs 2"])
            #expect(try await mine.add(contactList(0..<3) { "theirs \($0)" }) == SaveReport())
        }
    }

    /// What it read first was true under the lease, and what it reads later is another one's: together they make no sense.
    @Test(arguments: SharedPlace.Kind.all)
    func aBatchThatLostItsLeaseThrowsLeaseLost(kind: SharedPlace.Kind) async throws {
        try await kind.withTwo(times: .stopped, .impatient) { one, other in
            let mine = try one.dataSource(ContactDataSource.self)
            let theirs = try other.dataSource(ContactDataSource.self)
            func add(whileOthersAdd isStopped: Bool) async throws {
                try await mine.perform { context in
                    #expect(
                        try context.count(ContactEntity.self, where: \.uid == contactList(0..<1)[0].uid)
                            == (isStopped ? 0 : 1))
                    if isStopped { _ = try waitHere { try await theirs.add(contactList(0..<1)) } }
                    try context.insert(ContactEntity.self).uid = contactList(0..<1)[0].uid
                }
            }
            let error = await expectError(.leaseLost) { try await add(whileOthersAdd: true) }
            #expect(error?.entityName == "ContactEntity")
            // With its lease, the reason is what is wrong.
            await expectError(.uniquenessViolated) { try await add(whileOthersAdd: false) }
            // What a hook throws itself is passed on.
            await expectThrows(Poison.self) {
                try await mine.perform { _ in
                    _ = try waitHere { try await theirs.add(contactList(1..<2)) }
                    throw Poison()
                }
            }
            #expect(try theirs.count(ContactEntity.self) == 2)
        }
    }

    @Test(arguments: SharedPlace.Kind.all)
    func aHookThatReachesFurtherIsRefused(kind: SharedPlace.Kind) async throws {
        try await kind.withTwo { container, other in
            // The contacts are another process's, and lose their group.
            let reaching = try container.dataSource(ReachingDataSource.self)
            try await reaching.add(["a"])
            let contacts = try other.dataSource(ContactDataSource.self)
            try await contacts.perform { context in
                let contact = try context.insert(ContactEntity.self)
                contact.uid = "member"
                contact.group = try context.first(GroupEntity.self, where: \.gid, equals: "a")
            }
            let error = await expectError(.entityNotOwned) { try await reaching.add(["delete"]) }
            #expect(error?.message.contains("perform") ?? false)
            #expect(try contacts.main.first(ContactEntity.self, where: \.uid == "member")?.group != nil)
            // With the leases of all that follows it is allowed.
            try await reaching.perform { try $0.delete(GroupEntity.self, where: nil) }
            #expect(try contacts.main.first(ContactEntity.self, where: \.uid == "member")?.group == nil)
        }
    }

    /// Another process may be making such rows at this moment: it has the right to, and `add` does not take it.
    @Test(arguments: SharedPlace.Kind.all)
    func aHookThatReachesFurtherIsRefusedBeforeThereAreSuchRows(kind: SharedPlace.Kind) async throws {
        try await kind.withTwo { one, other in
            let reaching = try one.dataSource(ReachingDataSource.self)
            try await reaching.add(["a"])
            let error = await expectError(.entityNotOwned) { try await reaching.add(["delete"]) }
            #expect(error?.message.contains("perform(in:)") ?? false)
            #expect(try reaching.count(GroupEntity.self) == 1)
            try await reaching.perform { try $0.delete(GroupEntity.self, where: nil) }
            #expect(try reaching.count(GroupEntity.self) == 0)
        }
    }

    @Test(arguments: SharedPlace.Kind.all)
    func manyWritersTakeTurns(kind: SharedPlace.Kind) async throws {
        try await kind.withTwo { one, other in
            let sources = try [one, other].map { try $0.dataSource(ContactDataSource.self) }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (number, source) in sources.enumerated() {
                    for task in 0..<2 {
                        group.addTask {
                            for step in 0..<10 {
                                try await source.perform { context in
                                    let counter = try context.findOrInsert(
                                        ContactEntity.self, where: \.uid, equals: "counter")
                                    counter.name = "\((Int(counter.name) ?? 0) + 1)"
                                    let own = try context.insert(ContactEntity.self)
                                    (own.uid, own.name) = ("\(number) \(task) \(step)", "own")
                                }
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
            for source in sources {
                #expect(try source.main.first(ContactEntity.self, where: \.uid == "counter")?.name == "40")
                #expect(try source.count(ContactEntity.self) == 41)
            }
        }
    }
}

/// The next report of a batch that others wait for; nil once the container is closed.
private nonisolated func nextLongBatch(_ failures: AsyncStream<StoreFailure>) async -> StoreFailure? {
    for await failure in failures where failure.kind == .batchHoldsLease { return failure }
    return nil
}

/// Deletes in a hook that only adds.
private final class ReachingDataSource: DataSource<String> {
    override class var entities: [ManagedObject.Type] { [GroupEntity.self] }

    override func onAdd(_ gid: String, in context: PrivateContext) throws -> ManagedObject? {
        if gid == "delete" {
            try context.delete(GroupEntity.self, where: nil)
            return nil
        }
        let group = try context.findOrInsert(GroupEntity.self, where: \.gid, equals: gid)
        group.name = gid
        return group
    }
}
